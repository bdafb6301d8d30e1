// Who recorded a change of a consent.
import { expect, test } from 'vitest'
import { provenanceOf } from '../../src/consents/provenance.ts'

const now = new Date('2026-05-01T10:00:00.000Z')
const subject = { patient: 'ada', healthId: 'CM-TQYE-6SRK-YQ6S' }
const system = (name: string) => `http://terminology.hl7.org/CodeSystem/${name}`
const recorded = (caller: object, proof?: string) =>
  provenanceOf({ caller } as never, subject as never, 'Consent/c/_history/2', now, proof)
const written = (code: string, reference: string) => ({
  resourceType: 'Provenance',
  target: [{ reference: 'Consent/c/_history/2' }, { reference: 'Patient/ada' }],
  recorded: '2026-05-01T10:00:00.000Z',
  activity: { coding: [{ system: system('v3-DataOperation'), code: 'UPDATE' }] },
  agent: [{ type: { coding: [{ system: system('provenance-participant-type'), code }] }, who: { reference } }],
})

test('a patient is the author of what the patient decides', () => {
  expect(recorded({ kind: 'patient', organizationId: '' })).toEqual(written('author', 'Patient/ada'))
})

test('an organisation enters what it was told, and says how', () => {
  const clinic = { kind: 'client', organizationId: 'clinic' }
  expect(recorded(clinic)).toEqual(written('enterer', 'Organization/clinic'))
  expect(recorded(clinic, 'signed form')).toEqual({
    ...written('enterer', 'Organization/clinic'),
    reason: [{ text: 'The patient agreed: signed form.' }],
  })
})
