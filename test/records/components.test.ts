// A record shows all that an Observation with components found, and no number beside the unit of another.
import { expect, test } from 'vitest'
import { clientOf, healthIdSystem } from '../api/connect/support.ts'
import { consentOf, terminology } from '../support/consents.ts'
import { creatorBy, fhirCaller } from '../support/fhir.ts'
import { startService } from '../support/service.ts'

const healthId = 'CM-TQYE-6SRK-YQ6S'
const loinc = (code: string) => ({ coding: [{ system: 'http://loinc.org', code, display: code }] })
const part = (code: string, value: number, unit: string) => ({ code: loinc(code), valueQuantity: { value, unit } })

test('a value beside components, and a blood pressure in two units', async () => {
  const service = await startService()
  const observation = (id: string, category: string, more: object) => ({
    ...{ resourceType: 'Observation', id, status: 'final', subject: { reference: 'Patient/amina' } },
    category: [{ coding: [{ system: `${terminology}/observation-category`, code: category }] }],
    ...more,
  })
  await creatorBy(fhirCaller(() => service))(
    { resourceType: 'Patient', id: 'amina', identifier: [{ system: healthIdSystem(service), value: healthId }] },
    consentOf('of-amina', 'amina', 'clinic'),
    observation('cells', 'laboratory', {
      ...part('6690-2', 7.4, '10*9/L'),
      component: [part('770-8', 62, '%')],
    }),
    observation('pressure', 'vital-signs', {
      code: loinc('85354-9'),
      component: [part('8480-6', 120, 'mmHg'), part('8462-4', 10.7, 'kPa')],
    }),
  )
  const clinic = await clientOf(service, 'clinic', 'patient:diagnostics:read')
  const { body } = await clinic('GET', `/api/v1/connect/patient/${healthId}/records`)
  expect(body.data.lab_results).toMatchObject([{ result_value: '7.4 10*9/L; 770-8: 62 %', unit: null }])
  const vitals = { systolic: null, diastolic: null, unit: null, notes: '8480-6: 120 mmHg\n8462-4: 10.7 kPa' }
  expect(body.data.vitals).toMatchObject([vitals])
})
