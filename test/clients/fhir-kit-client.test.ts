// fhir-kit-client, unmodified: every interaction with a bearer token.
import { Client } from 'fhir-kit-client'
import { beforeAll, expect, test } from 'vitest'
import { type Service, startService } from '../support/service.ts'

// The library types resources as records of unknown members.
// biome-ignore lint/suspicious/noExplicitAny: see above
type Anything = any

let service: Service
let client: Client

beforeAll(async () => {
  service = await startService()
  client = new Client({ baseUrl: `${service.url}/api/fhir/R4`, bearerToken: service.token })
})

const patient = (family: string): Anything => ({ resourceType: 'Patient', name: [{ family, given: ['Ada'] }] })
const create = (family: string): Promise<Anything> => client.create({ resourceType: 'Patient', body: patient(family) })

test('it finds the token endpoint, and reads the capability statement', async () => {
  expect((await client.smartAuthMetadata()).tokenUrl?.href).toBe(`${service.url}/api/v1/connect/auth/token`)
  expect(await client.capabilityStatement()).toMatchObject({
    resourceType: 'CapabilityStatement',
    fhirVersion: '4.0.1',
  })
})

test('it creates, reads, updates, patches and deletes', async () => {
  const created = await create('Mbarga')
  const { id } = created
  expect(created).toMatchObject({ resourceType: 'Patient', meta: { versionId: '1' } })
  expect(await client.read({ resourceType: 'Patient', id })).toEqual(created)
  const updated: Anything = await client.update({ resourceType: 'Patient', id, body: { ...created, active: true } })
  expect([updated.active, updated.meta.versionId]).toEqual([true, '2'])
  const patched: Anything = await client.patch({
    resourceType: 'Patient',
    id,
    jsonPatch: [{ op: 'replace', path: '/active', value: false }],
  })
  expect([patched.active, patched.meta.versionId]).toEqual([false, '3'])
  expect(((await client.vread({ resourceType: 'Patient', id, version: '2' })) as Anything).active).toBe(true)
  expect(((await client.history({ resourceType: 'Patient', id })) as Anything).entry).toHaveLength(3)
  await client.delete({ resourceType: 'Patient', id })
  await expect(client.read({ resourceType: 'Patient', id })).rejects.toMatchObject({ response: { status: 410 } })
})

test('it searches, by GET and by POST, and pages', async () => {
  for (let at = 0; at < 5; at++) await create('Paging')
  const searchParams = { family: 'paging', _count: '2', _sort: '_lastUpdated' }
  const ids: string[] = []
  let bundle: Anything = await client.search({ resourceType: 'Patient', searchParams })
  for (let pages = 1; ; pages++) {
    ids.push(...(bundle.entry ?? []).map((entry: Anything) => entry.resource.id))
    const next = client.nextPage({ bundle })
    if (!next) {
      expect(pages).toBeGreaterThanOrEqual(3)
      break
    }
    bundle = await next
  }
  expect(new Set(ids).size).toBe(5)
  const posted: Anything = await client.search({
    resourceType: 'Patient',
    searchParams: { family: 'paging' },
    options: { postSearch: true } as Anything,
  })
  expect(posted.entry).toHaveLength(5)
})

test('it sends a transaction and a batch', async () => {
  const entry = (family: string): Anything => ({
    fullUrl: `urn:uuid:${crypto.randomUUID()}`,
    resource: patient(family),
    request: { method: 'POST', url: 'Patient' },
  })
  const transaction: Anything = await client.transaction({
    body: { resourceType: 'Bundle', type: 'transaction', entry: [entry('One'), entry('Two')] },
  })
  expect(transaction.entry.map((each: Anything) => each.response.status.slice(0, 3))).toEqual(['201', '201'])
  const batch: Anything = await client.batch({
    body: {
      resourceType: 'Bundle',
      type: 'batch',
      entry: [{ request: { method: 'GET', url: 'Patient/nobody' } }, entry('Three')],
    } as Anything,
  })
  expect(batch.entry.map((each: Anything) => each.response.status.slice(0, 3))).toEqual(['404', '201'])
})

test('without a token it gets an OperationOutcome', async () => {
  const stranger = new Client({ baseUrl: `${service.url}/api/fhir/R4` })
  await expect(stranger.search({ resourceType: 'Patient', searchParams: {} })).rejects.toMatchObject({
    response: { status: 401, data: { resourceType: 'OperationOutcome' } },
  })
})
