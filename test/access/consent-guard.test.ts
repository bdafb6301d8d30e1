// What one party has recorded of consents ends by that party, the patient, or an exempt client, whatever it says and whoever else tries.
import { beforeAll, describe, expect, test } from 'vitest'
import { createCaller, onBehalfOf, patientCaller, system } from '../../src/access/caller.ts'
import { guardRules, ownAmong } from '../../src/access/consent/guard.ts'
import { createDemoData } from '../../src/demo/data.ts'
import { demoResources } from '../../src/demo/resources.ts'
import { createBase } from '../../src/store/base.ts'
import type { Principal } from '../../src/store/principal.ts'
import { consentOf, ofType } from '../support/consents.ts'
import { clientOf, linkTo, openRecords, type Records } from './records.ts'

let records: Records
beforeAll(async () => {
  records = await openRecords()
})

/** Writes in the name of a client whatever it is: what the guard says is not said by others first. */
const by = (organization: string, client?: string): Principal => ({
  ...clientOf(organization, client),
  visibility: undefined,
})
const patient = (id: string) => onBehalfOf(patientCaller(id, 'CM-0000-0000-0000', ''), { Consent: 'cruds' })
const exempt = createCaller({
  clientId: 'keeper',
  organizationId: 'keeper',
  scopes: ['system/*.cruds'],
  consentExempt: true,
})
const refusal = (id: string, of: string) => consentOf(id, of, 'clinic', { type: 'deny' })
const isOwn = async (id: string, writer: Principal): Promise<boolean> =>
  (await ownAmong(records.database, [id], writer)).has(id)
const recorded = (consent: string) =>
  records.database.query({ text: 'select from consent_recorder where consent = $1', values: [consent] })

describe('a refusal that a hospital recorded', () => {
  test.each<[string, Principal]>([
    ['the client that recorded it', by('hospital')],
    ['another client of the hospital', by('hospital', 'hospital-lab')],
    ['the patient', patient('ada')],
    ['the patient, whom another record of the same person is about', patient('ada-before')],
    ['an exempt client', exempt],
    ['the service itself', system],
  ])('is ended by %s', async (_who, writer) => {
    const links = [
      { resourceType: 'Patient', id: 'ada', link: [linkTo('replaces', 'ada-before')] },
      { resourceType: 'Patient', id: 'ada-before', link: [linkTo('replaced-by', 'ada')] },
    ]
    await records.put(links)
    await records.put([refusal('ended', 'ada')], by('hospital'))
    await records.remove('Consent/ended', writer)
    expect(await recorded('ended')).toEqual([])
    await records.put([refusal('ended', 'ada')], by('hospital'))
    expect(await isOwn('ended', by('hospital'))).toBe(true)
  })

  test.each<[string, Principal]>([
    ['a client of another organisation', by('clinic')],
    ['another patient', patient('bruno')],
    ['somebody of no organisation', { author: 'user/cora', may: () => true, party: { organizationId: '' } }],
  ])('is not ended by %s, who hears who can', async (_who, writer) => {
    await records.put([refusal('stands', 'ada')], by('hospital'))
    const message = expect.stringContaining('contains a refusal that another party recorded')
    await expect(records.remove('Consent/stands', writer)).rejects.toMatchObject({
      code: 'CONFLICT',
      options: { issue: 'business-rule', details: [{ field: 'Consent/stands', code: 'business-rule', message }] },
    })
  })

  test('goes with everything else of a patient of the demo that is put back in place', async () => {
    const { database, projections, base } = records
    const demo = createDemoData({ database, projections, base, store: records.storeFor(system) })
    await demo.restore()
    const { id } = demoResources({ healthId: 'x', below: 'x' }, new Date()).find(
      ({ resourceType }) => resourceType === 'Patient',
    )!
    await records.put([refusal('of-the-demo', String(id))], by('hospital'))
    await demo.restore()
    expect(await records.seen(system, 'Consent/of-the-demo')).toEqual([])
  })
})

test('of a permission that another has recorded a client ends its own organisation’s part, and changes nothing', async () => {
  const both = consentOf('shared', 'ada', 'clinic')
  both.provision.actor.push(...consentOf('', '', 'pharmacy').provision.actor)
  await records.put([both], by('hospital'))
  const message = expect.stringContaining('contains rules that another party recorded')
  const refused = { code: 'CONFLICT', options: { details: [{ message }] } }
  const put = (consent: object) => records.put([consent], by('clinic'))
  await expect(records.remove('Consent/shared', by('clinic'))).rejects.toMatchObject(refused)
  await expect(put(consentOf('shared', 'ada', 'clinic', ofType('Condition')))).rejects.toMatchObject(refused)
  await put(consentOf('shared', 'ada', 'pharmacy'))
  expect([await isOwn('shared', by('hospital')), await isOwn('shared', by('clinic'))]).toEqual([true, false])
})

test('a Consent that says nothing yet is given rules by anybody, whose they are', async () => {
  const body = consentOf('proposed', 'ada', 'clinic')
  await records.put([{ ...body, status: 'proposed' }], by('hospital'))
  await records.put([body], by('clinic'))
  expect([await isOwn('proposed', by('hospital')), await isOwn('proposed', by('clinic'))]).toEqual([false, true])
})

test('that a record is closed in emergencies is recorded by whoever says so of another patient', async () => {
  const policy = [{ uri: 'https://profiles.ihe.net/ITI/PCF/Policy-deny' }]
  const closed = (of: string) => consentOf('closed', of, 'clinic', { period: { end: '2001-01-01' } }, { policy })
  await records.put([closed('ada')], by('hospital'))
  await expect(records.remove('Consent/closed', by('clinic'))).rejects.toThrow('contains a refusal')
  await records.put([{ ...closed('ada'), language: 'fr' }], exempt)
  expect(await isOwn('closed', by('hospital'))).toBe(true)
  await records.put([closed('bruno')], exempt)
  expect([await isOwn('closed', by('hospital')), await isOwn('closed', exempt)]).toEqual([false, true])
})

test('rules that came into force with an address that was added later are their last author’s, also once they are deleted', async () => {
  const path = '/api/fhir/R4'
  const consent = consentOf('named', 'ada', 'x')
  consent.patient.reference = `https://former.example${path}/Patient/ada`
  consent.provision.actor[0]!.reference.reference = `https://former.example${path}/Organization/pharmacy`
  for (const author of [by('hospital'), by('surgery')]) {
    await records.put([consent], author)
    await records.remove('Consent/named', author)
  }
  for (const status of ['active', 'inactive', 'active', 'inactive'])
    await records.put([{ ...consentOf('often', 'ada', 'clinic'), status }], by('clinic'))
  const base = createBase({ origin: records.base.origin, addresses: ['https://former.example'], path })
  const guard = (writer: Principal) =>
    guardRules(records.database, [{ type: 'Consent', id: 'named', resource: undefined }], writer, {
      ...{ base, now: () => new Date(), same: async (id: string) => [id] },
    })
  await expect(guard(by('clinic'))).rejects.toMatchObject({ code: 'CONFLICT' })
  await guard(by('surgery'))
})
