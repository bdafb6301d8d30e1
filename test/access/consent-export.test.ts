// An export holds what its client may see, and is handed out for as long as it may.
import { beforeAll, expect, test } from 'vitest'
import { ended, linesOf, type ManifestFile, manifestOf, namesIn, ordered } from '../support/bulk.ts'
import { consentOf } from '../support/consents.ts'
import { creatorBy, fhirCaller } from '../support/fhir.ts'
import { until } from '../support/process.ts'
import { type Service, startService } from '../support/service.ts'

let service: Service
const call = fhirCaller(() => service)
const store = creatorBy(call)

const mint = (clientId: string, organizationId: string) =>
  service.application.identity.tokens.mint({ clientId, organizationId, consentExempt: false }, ['system/*.cruds'])

beforeAll(async () => {
  service = await startService()
  await store({ resourceType: 'Practitioner', id: 'fouda' })
  for (const id of ['open', 'closed'])
    await store(
      { resourceType: 'Patient', id },
      {
        resourceType: 'Observation',
        id: `${id}-o`,
        status: 'final',
        code: { text: 'x' },
        subject: { reference: `Patient/${id}` },
        performer: [{ reference: 'Practitioner/fouda' }],
      },
    )
})

const consented = (organization: string, provision: object = {}) =>
  call('PUT', `Consent/${organization}-consent`, {
    body: consentOf(`${organization}-consent`, 'open', organization, provision),
  })

const fetched = async ({ url }: ManifestFile, token: string) =>
  call('GET', url, { token, headers: { accept: 'application/json' } })

test.each([
  ['$export', ['Consent/a-consent', 'Observation/open-o', 'Patient/open', 'Practitioner/fouda']],
  ['Patient/$export?_type=Patient,Observation', ['Observation/open-o', 'Patient/open']],
  ['$export?_type=Observation&_typeFilter=Observation%3Fpatient.birthdate:missing%3Dtrue', ['Observation/open-o']],
])('%s holds nothing of whom did not consent', async (order, names) => {
  await consented('a')
  const token = await mint('a-app', 'a')
  const { output } = await manifestOf(call, order, { token })
  expect(await namesIn(output, token)).toEqual(names)
})

test('deletions of what the client could not see are not told', async () => {
  await consented('a')
  const since = new Date().toISOString()
  for (const id of ['open', 'closed']) {
    await store({
      resourceType: 'Basic',
      id: `${id}-gone`,
      code: { text: 'x' },
      subject: { reference: `Patient/${id}` },
    })
    await call('DELETE', `Basic/${id}-gone`)
  }
  const token = await mint('a-app', 'a')
  const { deleted } = await manifestOf(call, `$export?_type=Basic&_since=${since}`, { token })
  const texts = await Promise.all(
    deleted.map(async file => (await fetch(file.url, { headers: { authorization: `Bearer ${token}` } })).text()),
  )
  expect(texts.join('')).toContain('Basic/open-gone')
  expect(texts.join('')).not.toContain('closed-gone')
})

test('files are handed out no more once a consent under them has ended, and a new export holds what is left', async () => {
  await consented('b')
  const token = await mint('b-app', 'b')
  const { output } = await manifestOf(call, '$export?_type=Patient', { token })
  expect((await fetched(output[0]!, token)).status).toBe(200)
  await consented('c')
  await call('DELETE', 'Consent/c-consent')
  expect((await fetched(output[0]!, token)).status).toBe(200)
  await call('DELETE', 'Consent/b-consent')
  const { status, body } = await fetched(output[0]!, token)
  expect([status, body.error_code]).toEqual([403, 'CONSENT_REVOKED'])
  expect((await manifestOf(call, '$export?_type=Patient', { token })).output).toEqual([])
})

test('nor once one has run out, or has become narrower', async () => {
  const token = await mint('d-app', 'd')
  await consented('d', { period: { end: new Date(Date.now() + 1500).toISOString() } })
  const first = await manifestOf(call, '$export?_type=Patient', { token })
  expect((await fetched(first.output[0]!, token)).status).toBe(200)
  await expect.poll(async () => (await fetched(first.output[0]!, token)).status).toBe(403)
  await consented('d')
  const second = await manifestOf(call, '$export?_type=Patient', { token })
  expect((await fetched(second.output[0]!, token)).status).toBe(200)
  await consented('d', { class: [{ system: 'http://hl7.org/fhir/resource-types', code: 'Observation' }] })
  expect((await fetched(second.output[0]!, token)).status).toBe(403)
})

test('a consent that is renewed for longer takes nothing away', async () => {
  const token = await mint('e-app', 'e')
  await consented('e', { period: { end: '2090-01-01' } })
  const { output } = await manifestOf(call, '$export?_type=Patient', { token })
  await consented('e', { period: { end: '2091-01-01' } })
  expect((await fetched(output[0]!, token)).status).toBe(200)
})

test('what is about another patient by the time that it is written is left out', async () => {
  service = await startService({ BULK_FILE_RESOURCES: '1' })
  const observation = (id: string, patient: string, text: string) => ({
    ...{ resourceType: 'Observation', id, status: 'final', code: { text: 'x' }, note: [{ text }] },
    subject: { reference: `Patient/${patient}` },
  })
  await store({ resourceType: 'Patient', id: 'open' }, { resourceType: 'Patient', id: 'closed' })
  await store(...['first', 'moved', 'changed'].map(id => observation(id, 'open', 'as listed')))
  await consented('f')
  const token = await mint('f-app', 'f')
  const { database } = service.application
  const waiting = `select from pg_stat_activity where query like 'insert into bulk_file%' and wait_event_type = 'Lock'
    and datname = current_database()`
  const address = await database.transaction(async on => {
    await on.query({ text: 'lock table bulk_file in exclusive mode', values: [] })
    const address = await ordered(call, '$export?_type=Observation', { token })
    await until(
      'the first resource is written, and the others are listed',
      async () => (await database.query({ text: waiting, values: [] })).length === 1,
    )
    for (const [id, patient] of [
      ['moved', 'closed'],
      ['changed', 'open'],
    ] as const)
      expect((await call('PUT', `Observation/${id}`, { body: observation(id, patient, 'changed') })).status).toBe(200)
    return address
  })
  const { status, body } = await ended(call, address, { token })
  expect(status).toBe(200)
  const written = (await linesOf(body.output, token)).map(({ id, note }) => [id, note[0].text])
  expect(written.sort()).toEqual([
    ['changed', 'changed'],
    ['first', 'as listed'],
  ])
})
