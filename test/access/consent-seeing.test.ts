// What a client sees by consent, as the statements ask that decide it: by codes, in searches, in an emergency, and part by part.
import { beforeAll, expect, test } from 'vitest'
import { openedParts, type Part } from '../../src/access/consent/opened.ts'
import { byConsent, seenBy } from '../../src/access/consent/visibility.ts'
import { hash64 } from '../../src/lib/hash.ts'
import { authorHash } from '../../src/store/author.ts'
import type { Principal } from '../../src/store/principal.ts'
import { createBinder } from '../../src/store/search/binder.ts'
import { typeNumber } from '../../src/store/type-number.ts'
import { consentOf, ofType } from '../support/consents.ts'
import { clientOf, openRecords, type Records, recordOf } from './records.ts'

let records: Records
beforeAll(async () => {
  records = await openRecords()
  await records.put([...recordOf('open'), ...recordOf('shut'), ...recordOf('coded')])
  await records.put([consentOf('whole', 'open', 'clinic'), consentOf('parts', 'coded', 'clinic', { code: [coded] })])
  await records.put([
    {
      resourceType: 'Immunization',
      id: 'vaccine',
      patient,
      vaccineCode: coded,
      status: 'completed',
      occurrenceString: 'x',
    },
    {
      resourceType: 'DocumentReference',
      id: 'letter',
      subject: patient,
      type: coded,
      status: 'current',
      content: [{ attachment: { title: 'x' } }],
    },
    { resourceType: 'Observation', id: 'result', subject: patient, code: coded, status: 'final' },
    { resourceType: 'Observation', id: 'other', subject: patient, code: { text: 'x' }, status: 'final' },
  ])
})

const patient = { reference: 'Patient/coded' }
const code = { system: 'http://loinc.org', code: '718-7' }
const coded = { coding: [code] }
const clinic = clientOf('clinic')
const viewer = { clientId: clinic.clientId, organizationId: 'clinic', purpose: '' }

async function found(by: Principal, type: string, query: string) {
  const store = records.storeFor(by)
  const { matches, closed } = await store.search(store.parse([type], new URLSearchParams(query), true))
  return { ids: matches.map(({ id }) => id).sort(), closed }
}

test('a consent for a code opens whatever says by it what it is, whichever element does', async () => {
  const names = ['Immunization/vaccine', 'DocumentReference/letter', 'Observation/result', 'Observation/other']
  expect(await records.seen(clinic, ...names)).toEqual(names.slice(0, 3))
})

test('whoever is told of many at once is told by codes, too', async () => {
  const condition = seenBy({ author: '$1::bigint', organization: '$2::bigint' }, 'told')
  const rows = await records.database.query<{ id: string }>({
    text: `select r.id from search told join resource r using (shard, key) where told.type = any($3) and ${condition} order by 1`,
    values: [
      String(authorHash(clinic.clientId)),
      String(hash64('Organization/clinic')),
      ['Observation', 'Condition'].map(typeNumber),
    ],
  })
  expect(rows.map(({ id }) => id)).toEqual(['open', 'result'])
})

test('of a former version, and of a deletion, a consent for a code opens what had the code', async () => {
  const result = (more: object) => ({
    resourceType: 'Observation',
    id: 'past',
    subject: patient,
    status: 'final',
    ...more,
  })
  await records.put([result({ code: { text: 'x' } }), result({ code: coded }), result({ code: { text: 'y' } })])
  const versions = async (by: Principal) => {
    const { versions: found } = await records.storeFor(by).history({ type: 'Observation', id: 'past', count: 10 })
    return found.map(({ version, method }) => [version, method])
  }
  const read = (version: number) =>
    records
      .storeFor(clinic)
      .readVersion('Observation', 'past', version)
      .then(
        () => 'seen',
        () => 'closed',
      )
  await expect(versions(clinic)).rejects.toThrow('has not consented')
  await records.put([result({ code: coded })])
  expect(await versions(clinic)).toEqual([
    [4, 'PUT'],
    [2, 'PUT'],
  ])
  expect(await Promise.all([1, 2, 3, 4].map(read))).toEqual(['closed', 'seen', 'closed', 'seen'])
  await records.remove('Observation/past')
  expect((await versions(clinic))[0]).toEqual([5, 'DELETE'])
  expect(await versions(clientOf('stranger'))).toEqual([])
})

test('of patients whom a search names those are told who have opened nothing', async () => {
  expect(await found(clinic, 'Condition', 'patient=open,shut')).toEqual({ ids: ['open'], closed: ['shut'] })
})

test('a search finds what an emergency has opened beside what consents have', async () => {
  const opened = [hash64('Patient/shut')]
  const ambulance = { ...clinic, visibility: byConsent({ ...viewer, opened }) }
  expect((await found(ambulance, 'Condition', 'patient=open,shut')).ids).toEqual(['open', 'shut'])
  expect((await found(ambulance, 'Condition', '')).ids).toEqual(['open', 'shut'])
  expect((await found(clinic, 'Condition', '')).ids).toEqual(['open'])
})

/** What a search for conditions is narrowed to. */
async function reachOf(clientId: string, organizationId: string) {
  const binder = createBinder()
  const text = byConsent({ ...viewer, clientId, organizationId }).reach([typeNumber('Condition')], binder)
  return records.database.query<{ patients: string; own: string }>({ text, values: binder.values })
}

test('a search is narrowed to the patients who have opened something, and to what the client wrote', async () => {
  await records.put(recordOf('own'), clientOf('author'))
  await records.put(['few-1', 'few-2'].map(id => consentOf(id, id, 'few')))
  const hashes = ['few-1', 'few-2'].map(id => hash64(`Patient/${id}`)).sort((a, b) => (a < b ? -1 : 1))
  expect(await reachOf('author-app', 'few')).toEqual([
    { patients: `{${hashes.join()}}`, own: expect.stringMatching(/^\{\d+\}$/) },
  ])
})

test('a search is narrowed for an organisation with two hundred permissions, and for none with more', async () => {
  const grant = (organization: string, count: number) =>
    records.database.run({
      text: `insert into consent_grant (patient, organization, starts_at, ends_at, consent)
        select n, $1, '-infinity', 'infinity', 'many' from generate_series(1, $2) as n`,
      values: [hash64(`Organization/${organization}`), count],
    })
  await grant('two-hundred', 200)
  await grant('more', 201)
  expect([await reachOf('x', 'two-hundred'), await reachOf('x', 'more')]).toMatchObject([[{ own: '{}' }], []])
})

test('parts of a record are open as consents say, and the first is told with the consent that opens it', async () => {
  const part = (type: string, of?: Part['code']): Part => ({ type, ...(of && { code: of }) })
  const other = { system: 'http://loinc.org', code: '1-8' }
  const parts = [part('Condition', other), part('Observation', other), part('Observation', code), part('Binary', code)]
  const opened = (id: string) =>
    openedParts(records.database, viewer, id, parts).then(({ parts: open, consent }) => [
      open.map(each => parts.indexOf(each)),
      consent,
    ])
  expect(await opened('open')).toEqual([[0, 1, 2, 3], 'whole'])
  expect(await opened('coded')).toEqual([[2], 'parts'])
  expect(await opened('shut')).toEqual([[], undefined])
  const except = { ...ofType('Observation'), provision: [{ type: 'deny', code: [coded] }] }
  await records.put([consentOf('but', 'excepted', 'clinic', except)])
  expect(await opened('excepted')).toEqual([[1], 'but'])
})

/** An appointment of these patients, as the service records it. */
const appointment = (id: string, ...patients: string[]) => ({
  resourceType: 'Appointment',
  id,
  status: 'booked',
  start: '2026-03-14T09:00:00Z',
  end: '2026-03-14T10:00:00Z',
  participant: patients.map(reference => ({ actor: { reference }, status: 'accepted' })),
})

test('a resource about several patients is open where all of them are, by consent or in an emergency, and never where one is unknown', async () => {
  await records.put([...recordOf('open-too'), consentOf('whole-too', 'open-too', 'clinic')])
  await records.put([
    appointment('both', 'Patient/open', 'Patient/open-too'),
    appointment('one', 'Patient/open', 'Patient/shut'),
    appointment('none', 'Patient/shut', 'Patient/coded'),
    appointment('strange', 'Patient/open', 'https://elsewhere.example/fhir/Patient/open'),
  ])
  const all = ['both', 'one', 'none', 'strange'].map(id => `Appointment/${id}`)
  const inEmergency = { ...clinic, visibility: byConsent({ ...viewer, opened: [hash64('Patient/shut')] }) }
  expect(await records.seen(clinic, ...all)).toEqual(['Appointment/both'])
  expect((await found(clinic, 'Appointment', '')).ids).toEqual(['both'])
  expect(await records.seen(inEmergency, ...all)).toEqual(['Appointment/both', 'Appointment/one'])
})
