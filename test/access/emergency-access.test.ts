// An emergency opens a record: for whom, for how long, and what is kept of it.
import { beforeAll, expect, test } from 'vitest'
import { type Caller, system } from '../../src/access/caller.ts'
import { createEmergencyAccess } from '../../src/access/consent/emergency.ts'
import { hash64 } from '../../src/lib/hash.ts'
import { mergedWith } from '../../src/mpi/register/merged.ts'
import type { Access } from '../../src/store/access.ts'
import { consentOf } from '../support/consents.ts'
import { clientOf, linkTo, openRecords, type Records } from './records.ts'

let records: Records
const clock = { now: Date.UTC(2026, 0, 1) }
beforeAll(async () => {
  records = await openRecords()
})

const open = (caller: Caller, patient: string) =>
  createEmergencyAccess({ ...records, mergedWith, now: () => new Date(clock.now) }).open(caller, {
    ...{ patient, reason: 'Unconscious after an accident', requestId: 'request-1' },
  })
const hashOf = (id: string): bigint => hash64(`Patient/${id}`)
const reviews = async (patient: string): Promise<number> => {
  const store = records.storeFor(system)
  return (await store.search(store.parse(['Task'], [['patient', patient]], true))).matches.length
}

test('it opens the record of a patient, and of whoever is the same person', async () => {
  await records.put([
    { resourceType: 'Patient', id: 'ada', link: [linkTo('replaces', 'ada-before')] },
    { resourceType: 'Patient', id: 'ada-before', link: [linkTo('replaced-by', 'ada')] },
  ])
  expect(await open(clientOf('ambulance'), 'ada')).toEqual([hashOf('ada'), hashOf('ada-before')])
  expect(await reviews('ada')).toBe(1)
})

test('it is told and kept once in an hour for each client', async () => {
  await records.put([{ resourceType: 'Patient', id: 'ben' }])
  const told: Access[] = []
  const kept: Access[] = []
  const caller: Caller = {
    ...clientOf('ambulance'),
    witness: access => void told.push(access),
    note: accesses => {
      kept.push(...accesses)
      return { name: 'of-a-test', insertion: () => 'select', columns: [], rows: [], committed: () => {} }
    },
  }
  const access = {
    ...{ deed: 'emergency', type: 'Patient', id: 'ben', patients: ['ben'], resources: 0 },
    query: 'Unconscious after an accident',
  }
  await open(caller, 'ben')
  clock.now += 3_599_999
  await open(caller, 'ben')
  expect([told, kept]).toEqual([[access], [access]])
  clock.now += 1
  await open(caller, 'ben')
  expect([told.length, kept.length, await reviews('ben')]).toEqual([2, 2, 2])
  await open(clientOf('ambulance', 'another-app'), 'ben')
  expect(await reviews('ben')).toBe(3)
})

test('a patient who refuses that, too, is not overridden, whatever else he has consented to, and binds nobody else', async () => {
  const policy = [{ uri: 'https://profiles.ihe.net/ITI/PCF/Policy-deny' }]
  const patients = ['cyd', 'dan'].map(id => ({ resourceType: 'Patient', id }))
  await records.put([...patients, consentOf('of-cyd', 'cyd', 'another')])
  expect(await open(clientOf('ambulance'), 'cyd')).toEqual([hashOf('cyd')])
  await records.put([consentOf('closed', 'cyd', 'x', { type: 'deny' }, { policy })])
  await expect(open(clientOf('ambulance'), 'cyd')).rejects.toMatchObject({ code: 'CONSENT_REQUIRED' })
  expect(await open(clientOf('ambulance'), 'dan')).toEqual([hashOf('dan')])
})

test('there is nothing to open of who is not there, though a consent is left', async () => {
  await records.put([consentOf('left', 'nobody', 'another')])
  await expect(open(clientOf('ambulance'), 'nobody')).rejects.toMatchObject({ code: 'NOT_FOUND' })
})
