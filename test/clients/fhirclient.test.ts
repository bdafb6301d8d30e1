// fhirclient (SMART on FHIR JS), unmodified: requests, pages and references with the token of a token response.
import fhirclient from 'fhirclient'
import { beforeAll, expect, test } from 'vitest'
import { fhirCaller } from '../support/fhir.ts'
import { type Answer, signIn } from '../support/identity.ts'
import { type Service, startService } from '../support/service.ts'

let service: Service
let patientId: string
let tokenResponse: Answer['body']
const call = fhirCaller(() => service)

beforeAll(async () => {
  service = await startService()
  tokenResponse = (await signIn(service, 'demo-client', 'demo-secret-for-local-use-only')).body
  patientId = (await call('POST', 'Patient', { body: { resourceType: 'Patient', name: [{ family: 'Ngo' }] } })).body.id
  for (let at = 0; at < 5; at++)
    await call('POST', 'Observation', {
      body: {
        resourceType: 'Observation',
        status: 'final',
        code: { text: `measurement ${at}` },
        subject: { reference: `Patient/${patientId}` },
      },
    })
})

// On a server the library wants an HTTP request and response to keep sessions by; a bare client needs neither.
function client() {
  const smart = (fhirclient as unknown as (...session: object[]) => typeof fhirclient)({ headers: {}, url: '/' }, {})
  return smart.client({ serverUrl: `${service.url}/api/fhir/R4`, tokenResponse })
}

test('it reads with the token', async () => {
  expect(await client().request(`Patient/${patientId}`)).toMatchObject({ resourceType: 'Patient', id: patientId })
})

test('it follows pages and flattens them', async () => {
  const found = await client().request(`Observation?patient=${patientId}&_count=2`, { pageLimit: 0, flat: true })
  expect(found).toHaveLength(5)
})

test('it resolves references', async () => {
  const found = await client().request(`Observation?patient=${patientId}&_count=1`, {
    resolveReferences: ['subject'],
  })
  expect(found.entry[0].resource.subject).toMatchObject({ resourceType: 'Patient', id: patientId })
})

test('it creates, updates, patches and deletes', async () => {
  const created = (await client().create({ resourceType: 'Patient', name: [{ family: 'New' }] } as never)) as {
    id: string
  }
  const updated = await client().update({ ...created, active: true } as never)
  expect(updated).toMatchObject({ id: created.id, active: true })
  const patched = await client().patch(`Patient/${created.id}`, [{ op: 'replace', path: '/active', value: false }])
  expect(patched).toMatchObject({ id: created.id, active: false })
  await client().delete(`Patient/${created.id}`)
  await expect(client().request(`Patient/${created.id}`)).rejects.toMatchObject({ status: 410 })
})
