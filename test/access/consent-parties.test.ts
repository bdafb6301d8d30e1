// Whose the rules of a Consent are decides what they come to: what one party permits takes nothing from another's refusal.
import { beforeAll, expect, test } from 'vitest'
import type { Principal } from '../../src/store/principal.ts'
import { consentOf, ofType } from '../support/consents.ts'
import { createTestDatabase } from '../support/database.ts'
import { clientOf, openRecords, type Records, recordOf, recordsAt } from './records.ts'

const former = 'https://former.example'
/** The same records, before and after an address was added. */
let [records, later]: Records[] = []
beforeAll(async () => {
  const connection = await createTestDatabase()
  records = await openRecords(recordsAt, connection)
  later = await openRecords({ ...recordsAt, addresses: [recordsAt.origin, former] }, connection)
})

/** Writes in the name of a client whatever it is. */
const by = (organization: string): Principal => ({ ...clientOf(organization), visibility: undefined })
const seesCondition = async (of: string): Promise<boolean> =>
  (await records!.seen(clientOf('clinic'), `Condition/${of}`)).length > 0
const permission = (id: string, of: string) => consentOf(id, of, 'clinic', ofType('Condition'))
const refusal = (id: string, of: string) => consentOf(id, of, 'clinic', { type: 'deny' })

test('rules are of the party that put them in force, whoever has created the Consent', async () => {
  await records!.put([...recordOf('ada'), refusal('refusal', 'ada')], by('hospital'))
  await records!.put([{ ...permission('permission', 'ada'), status: 'proposed' }], by('hospital'))
  await records!.put([permission('permission', 'ada')], by('practice'))
  expect(await seesCondition('ada')).toBe(false)
  await records!.put([permission('exception', 'ada')], by('hospital'))
  expect(await seesCondition('ada')).toBe(true)
})

test('a permission that came into force with an address that was added later opens what it names, though nobody has put it in force', async () => {
  const atFormer = (consent: object) =>
    JSON.parse(JSON.stringify(consent).replaceAll(/(?=Organization\/)/g, `${former}/api/fhir/R4/`)) as object
  await records!.put([...recordOf('ben'), atFormer(permission('named', 'ben'))], by('practice'))
  await later!.put([consentOf('another', 'ben', 'another')], by('hospital'))
  expect(await seesCondition('ben')).toBe(true)
})
