// What the event of a result says of it, its record says, too: a reader who trusts one of them misses nothing.
import { beforeAll, expect, test } from 'vitest'
import { clientOf, healthIdSystem } from '../api/connect/support.ts'
import { consentOf, terminology } from '../support/consents.ts'
import { creatorBy, fhirCaller } from '../support/fhir.ts'
import { type Service, startService } from '../support/service.ts'
import { client, subscriber } from '../support/webhooks.ts'

let service: Service
const store = creatorBy(fhirCaller(() => service))
const subject = { reference: 'Patient/amina' }
const healthId = 'CM-TQYE-6SRK-YQ6S'

const v3 = `${terminology}/v3-ObservationInterpretation`
const table0078 = `${terminology}/v2-0078`
const local = 'https://laboratory.example/flags'
const coded = (...codings: object[]) => ({ interpretation: [{ coding: codings }] })
const worded = (text: string) => ({ interpretation: [{ text }] })

const cases: readonly [string, object, boolean][] = [
  ['critically high', coded({ system: v3, code: 'HH' }), true],
  ['normal', coded({ system: v3, code: 'N' }), false],
  ['susceptible, of table 0078', coded({ system: table0078, code: 'S' }), false],
  ['weakly reactive', coded({ system: v3, code: 'WR' }), true],
  ['a local code', coded({ system: local, code: 'ALERT' }), true],
  ['a local code in words for normal', coded({ system: local, code: '0', display: 'Normal' }), false],
  ['a local code beside one of HL7', coded({ system: local, code: 'ALERT' }, { system: v3, code: 'N' }), false],
  ['a system without a code, with words', coded({ system: v3, display: 'Critically high' }), true],
  ['words', worded('très élevé'), true],
  ['words for normal', worded('Négatif'), false],
  ['words of a component', { component: [{ code: { text: 'part' }, valueString: 'x', ...worded('grave') }] }, true],
  ['two, one of them in words', { interpretation: [{ coding: [{ system: v3, code: 'N' }] }, { text: 'high' }] }, true],
  ['nothing', {}, false],
]

beforeAll(async () => {
  service = await startService()
})

test('events and records flag the same results', async () => {
  await store(
    { resourceType: 'Patient', id: 'amina', identifier: [{ system: healthIdSystem(service), value: healthId }] },
    consentOf('of-amina', 'amina', 'clinic'),
  )
  const hospital = await client(service, 'hospital', { consentExempt: true })
  const { receiver } = await subscriber(hospital, ['lab_result.released'])
  const category = [{ coding: [{ system: `${terminology}/observation-category`, code: 'laboratory' }] }]
  for (const [index, [name, more]] of cases.entries()) {
    const common = { status: 'final', code: { text: name }, subject, category }
    await store(
      { resourceType: 'Observation', id: `o${index}`, ...common, ...more },
      {
        resourceType: 'DiagnosticReport',
        id: `o${index}`,
        ...common,
        result: [{ reference: `Observation/o${index}` }],
      },
    )
  }
  const clinic = await clientOf(service, 'clinic', 'patient:diagnostics:read')
  const { body } = await clinic('GET', `/api/v1/connect/patient/${healthId}/records?type=lab_results&limit=100`)
  const recorded = new Map(body.data.lab_results.map((each: { id: string }) => [each.id, each]))
  const told = new Map((await receiver.until(cases.length)).map(({ event }) => [event.data.lab_result_id, event.data]))
  const seen = cases.map(([name], index) => [name, told.get(`o${index}`), recorded.get(`o${index}`)] as const)
  const flags = seen.map(([name, event, record]) => [name, event?.flagged, (record as { flagged?: boolean })?.flagged])
  expect(flags).toEqual(cases.map(([name, , flagged]) => [name, flagged, flagged]))
})
