import { beforeAll, expect, test } from 'vitest'
import { creatorBy, fhirCaller } from '../support/fhir.ts'
import { type Service, startService } from '../support/service.ts'

let service: Service
const call = fhirCaller(() => service)

const mint = (clientId: string, organizationId: string, consentExempt = false) =>
  service.application.identity.tokens.mint({ clientId, organizationId, consentExempt }, ['system/*.rs'])

beforeAll(async () => {
  service = await startService()
  await creatorBy(call)({ resourceType: 'Patient', id: 'ada' })
})

const clientsIn = async (token: string): Promise<Set<string>> => {
  const { body } = await call('GET', 'AuditEvent?_count=1000', { token })
  return new Set(
    (body.entry ?? []).map(
      (each: { resource: { agent: { who: { identifier?: { value: string } } }[] } }) =>
        each.resource.agent[0]!.who.identifier?.value,
    ),
  )
}

test('a client sees what its own organisation did, and the record-keeping system sees everybody', async () => {
  const [here, neighbour, elsewhere] = [
    await mint('here', 'h'),
    await mint('neighbour', 'h'),
    await mint('elsewhere', 'e'),
  ]
  for (const token of [here, neighbour, elsewhere]) await call('GET', 'Patient/ada', { token })
  expect(await clientsIn(here)).toEqual(new Set(['here', 'neighbour']))
  expect(await clientsIn(elsewhere)).toEqual(new Set(['elsewhere']))
  const all = await clientsIn(await mint('keeper', 'k', true))
  for (const client of ['here', 'neighbour', 'elsewhere', 'demo-client']) expect(all).toContain(client)
})

test('a row of another organisation is not there for a client', async () => {
  const token = await mint('reader', 'r')
  await call('GET', 'Patient/ada', { token })
  const { body } = await call('GET', 'AuditEvent?_count=1', { token })
  const { id } = body.entry[0].resource
  expect((await call('GET', `AuditEvent/${id}`, { token })).status).toBe(200)
  expect((await call('GET', `AuditEvent/${id}`, { token: await mint('thief', 't') })).status).toBe(404)
})
