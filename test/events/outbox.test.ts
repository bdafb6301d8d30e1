// What an event must know of other resources is read as deep as it is grouped.
import { beforeAll, expect, test } from 'vitest'
import { creatorBy, fhirCaller } from '../support/fhir.ts'
import { type Service, startService } from '../support/service.ts'
import { client, subscriber } from '../support/webhooks.ts'

let service: Service
const call = fhirCaller(() => service)
const store = creatorBy(call)
const laboratory = [
  { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/observation-category', code: 'laboratory' }] },
]
const observation = (id: string, more: object) =>
  store({ resourceType: 'Observation', id, status: 'final', category: laboratory, code: { text: id }, ...more })
const critical = {
  interpretation: [
    { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/v3-ObservationInterpretation', code: 'HH' }] },
  ],
}
const members = (...ids: string[]) => ({ hasMember: ids.map(id => ({ reference: `Observation/${id}` })) })

beforeAll(async () => {
  service = await startService()
})

test('a critical result in a group within a group of a report asks for attention', async () => {
  const { receiver } = await subscriber(await client(service, 'hospital', { consentExempt: true }), [
    'lab_result.released',
  ])
  await observation('potassium', critical)
  await observation('electrolytes', members('potassium'))
  await observation('panel', members('electrolytes'))
  await store({
    resourceType: 'DiagnosticReport',
    id: 'report',
    status: 'final',
    category: [{ coding: [{ system: 'http://terminology.hl7.org/CodeSystem/v2-0074', code: 'LAB' }] }],
    code: { text: 'Panel' },
    result: [{ reference: 'Observation/panel' }],
  })
  const [told] = await receiver.until(1)
  expect(told!.event.data).toMatchObject({ lab_result_id: 'report', flagged: true })
})
