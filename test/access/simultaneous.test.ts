// Requests that come at the same moment share statements, and each shows its client what consent opens to it alone.
import { beforeAll, expect, test } from 'vitest'
import { consentOf } from '../support/consents.ts'
import { creatorBy, fhirCaller } from '../support/fhir.ts'
import { actorOf } from '../support/scenario.ts'
import { type Service, startService } from '../support/service.ts'

let service: Service
const call = fhirCaller(() => service)
const clinics = ['one', 'two', 'three']
const patients = ['p-one', 'p-two', 'p-three']

beforeAll(async () => {
  service = await startService()
  const store = creatorBy(call)
  await store(
    ...patients.map(id => ({ resourceType: 'Patient', id })),
    ...patients.map(id => ({
      resourceType: 'Observation',
      id: `of-${id}`,
      status: 'final',
      code: { text: `for ${id}` },
      subject: { reference: `Patient/${id}` },
    })),
    ...patients.map((id, index) => consentOf(`by-${id}`, id, clinics[index]!)),
  )
})

test('of many reads of several organisations each is opened or refused by its own consents', async () => {
  const tokens = await Promise.all(clinics.map(each => actorOf(() => service, each, 'system/*.rs').token()))
  const reads = Array.from({ length: 180 }, (_, index) => ({ clinic: index % 3, patient: Math.floor(index / 3) % 4 }))
  const answers = await Promise.all(
    reads.map(async ({ clinic, patient }) => {
      const id = patients[patient]
      const { status, body } = await call('GET', `Observation/of-${id ?? 'nobody'}`, { token: tokens[clinic]! })
      return [status, body.code?.text]
    }),
  )
  const expected = reads.map(({ clinic, patient }) => {
    const id = patients[patient]
    if (id === undefined) return [404, undefined]
    return clinic === patient ? [200, `for ${id}`] : [403, undefined]
  })
  expect(answers).toEqual(expected)
})

test('of many searches too', async () => {
  const tokens = await Promise.all(clinics.map(each => actorOf(() => service, each, 'system/*.rs').token()))
  for (let round = 0; round < 4; round++) {
    const answers = await Promise.all(
      Array.from({ length: 60 }, async (_, index) => {
        const { body } = await call('GET', `Observation?code:text=for&_id=of-${patients[(index + round) % 3]}`, {
          token: tokens[index % 3]!,
        })
        return (body.entry ?? []).map((entry: { resource: { id: string } }) => entry.resource.id)
      }),
    )
    expect(answers).toEqual(
      Array.from({ length: 60 }, (_, index) => (round % 3 === 0 ? [`of-${patients[index % 3]}`] : [])),
    )
  }
})
