// What consents open follows what is stored: a Consent that is written, moved or deleted, and patients who are one person or no more.
import { beforeAll, expect, test } from 'vitest'
import { consentProjection, type MergedWith } from '../../src/access/consent/projection.ts'
import type { Queryable } from '../../src/db/statement.ts'
import { serviceParty } from '../../src/store/principal.ts'
import type { Projected } from '../../src/store/projection.ts'
import { consentOf, ofType } from '../support/consents.ts'
import { clientOf, linkTo, openRecords, type Records, recordOf } from './records.ts'

let records: Records
beforeAll(async () => {
  records = await openRecords()
})

const clinic = clientOf('clinic')
const nobodyElse: MergedWith = async (_on, ids) => new Map(ids.map(id => [id, [id]]))
const projection = (mergedWith = nobodyElse) =>
  consentProjection({ base: records.base, mergedWith, now: () => new Date() })
const service = { may: () => true, party: serviceParty }
const grantsOf = async (consent: string): Promise<number> =>
  (await records.database.query({ text: 'select from consent_grant where consent = $1', values: [consent] })).length

test('patients who are one person are opened by the consents of each, until they are no more', async () => {
  await records.put([...recordOf('old'), ...recordOf('kept'), consentOf('of-old', 'old', 'clinic')])
  const seen = () => records.seen(clinic, 'Condition/old', 'Condition/kept')
  expect(await seen()).toEqual(['Condition/old'])
  const [replaces, replaced] = [linkTo('replaces', 'old'), linkTo('replaced-by', 'kept')]
  await records.put([...recordOf('kept', { link: [replaces] }), ...recordOf('old', { link: [replaced] })])
  expect(await seen()).toEqual(['Condition/old', 'Condition/kept'])
  await records.put([consentOf('of-kept', 'kept', 'clinic', { type: 'deny', ...ofType('Condition') })])
  expect(await seen()).toEqual([])
  await records.put(recordOf('kept', { link: [linkTo('seealso', 'old'), linkTo('replaces', 'other')] }))
  expect(await seen()).toEqual(['Condition/old'])
})

test('a consent opens the record of whom it names now, and nobody’s once it is deleted', async () => {
  await records.put([...recordOf('first'), ...recordOf('second'), consentOf('moved', 'first', 'clinic')])
  const seen = () => records.seen(clinic, 'Condition/first', 'Condition/second')
  expect(await seen()).toEqual(['Condition/first'])
  await records.put([consentOf('moved', 'second', 'clinic')])
  expect(await seen()).toEqual(['Condition/second'])
  await records.remove('Consent/moved')
  expect(await seen()).toEqual([])
})

test('who is nobody else is followed with one question, and who was just created with none', async () => {
  const asked: string[] = []
  const on: Queryable = {
    run: statement => on.query(statement).then(() => {}),
    query: statement => {
      asked.push(statement.name!)
      return records.database.query(statement)
    },
  }
  const follow = (versionId: string, ...links: object[]) => {
    const resource = { resourceType: 'Patient', meta: { versionId }, link: links } as Projected['resource']
    return projection().apply(on, [{ type: 'Patient', id: 'once', resource }], service)
  }
  // Was merged long ago, which was undone before the last change.
  for (const link of [[linkTo('replaces', 'other')], [], [linkTo('seealso', 'other')]])
    await records.put([{ resourceType: 'Patient', id: 'once', ...(link.length > 0 && { link }) }])
  await follow('1')
  await follow('1', linkTo('seealso', 'other'))
  expect(asked).toEqual([])
  await follow('2', linkTo('seealso', 'other'))
  expect(asked).toEqual(['consent-concerned'])
  await follow('1', linkTo('seealso', 'other'), linkTo('replaces', 'another'))
  expect(asked.at(-1)).toBe('consent-grants')
})

test('who is found to be the same person while the record was waited for is opened, too', async () => {
  await records.put([...recordOf('early'), ...recordOf('late'), consentOf('of-late', 'late', 'clinic')])
  let asked = 0
  const merging: MergedWith = async (_on, ids) => new Map(ids.map(id => [id, asked++ > 0 ? [id, 'late'] : [id]]))
  const change: Projected = { type: 'Patient', id: 'early', resource: { link: [linkTo('replaces', 'late')] } }
  await records.database.transaction(on => projection(merging).apply(on, [change], service))
  expect(await records.seen(clinic, 'Condition/early', 'Condition/late')).toEqual(['Condition/early', 'Condition/late'])
})

test('whoever writes a consent waits until another of the same patient is stored, and of no other', async () => {
  await records.put([...recordOf('waiting'), ...recordOf('waited')])
  const write = (id: string, patient: string) =>
    records.database.transaction(async within => {
      await within.query({ text: `set local lock_timeout = '50ms'`, values: [] })
      const writer = { ...clientOf('clinic'), visibility: undefined, within }
      await records.put([consentOf(id, patient, 'clinic')], writer)
    })
  await records.database.transaction(async within => {
    await records.put([consentOf('holding', 'waited', 'clinic')], { ...clinic, visibility: undefined, within })
    await expect(write('held-up', 'waited')).rejects.toThrow()
    await write('passing', 'waiting')
  })
  expect([await grantsOf('held-up'), await grantsOf('holding'), await grantsOf('passing')]).toEqual([0, 1, 1])
})

test('what one party permits takes nothing from what another has refused, however particular it is', async () => {
  const refusal = consentOf('refusing', 'torn', 'clinic', { type: 'deny' })
  await records.put([...recordOf('torn'), consentOf('opening', 'torn', 'clinic')])
  expect(await records.seen(clinic, 'Condition/torn')).toEqual(['Condition/torn'])
  await records.put([refusal], { ...clientOf('other'), visibility: undefined })
  await records.put([consentOf('particular', 'torn', 'clinic', ofType('Condition'))])
  expect(await records.seen(clinic, 'Condition/torn')).toEqual([])
})
