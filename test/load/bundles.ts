// Transaction bundles made up for load tests: one patient and many observations each, all under one tag.
import { uuidv7 } from '../../src/lib/ids.ts'

export const tagSystem = 'http://example.org/bundle'

/** A transaction of one patient and `size - 1` observations, tagged with the bundle's name. */
export function transactionBundle(name: string, size: number): object {
  const meta = { tag: [{ system: tagSystem, code: name }] }
  const patient = uuidv7()
  const entry = (id: string, resource: Record<string, unknown>) => ({
    fullUrl: `urn:uuid:${id}`,
    resource: { ...resource, id, meta },
    request: { method: 'POST', url: resource['resourceType'] },
  })
  const observations = Array.from({ length: size - 1 }, (_, index) =>
    entry(uuidv7(), {
      resourceType: 'Observation',
      status: 'final',
      code: { coding: [{ system: 'http://loinc.org', code: '8867-4' }] },
      subject: { reference: `urn:uuid:${patient}` },
      effectiveDateTime: `2024-01-01T00:${String(index % 60).padStart(2, '0')}:00Z`,
      valueQuantity: { value: 60 + (index % 40), unit: '/min', system: 'http://unitsofmeasure.org', code: '/min' },
    }),
  )
  return {
    resourceType: 'Bundle',
    type: 'transaction',
    entry: [entry(patient, { resourceType: 'Patient', name: [{ family: name }] }), ...observations],
  }
}
