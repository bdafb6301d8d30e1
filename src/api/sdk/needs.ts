// The maps that the SDK translates by; a folder of maps without one of them is refused.
import type { Need } from '../../mapping/needs.ts'

export const sdkNeeds: readonly Need[] = [
  { map: 'patient-from-fhir', from: 'Patient', to: 'Demographics' },
  { map: 'prescription-from-fhir', from: 'MedicationRequest', to: 'Prescription' },
  { map: 'allergy-from-fhir', from: 'AllergyIntolerance', to: 'AllergyRecord' },
  { map: 'lab-result-from-fhir', from: 'Observation', to: 'LabResult' },
  { map: 'visit-from-fhir', from: 'Encounter', to: 'Visit' },
  { map: 'blood-group-from-fhir', from: 'Observation', to: 'BloodGroup' },
  { map: 'encounter-push-to-fhir', from: 'EncounterPush', to: 'Bundle' },
  { map: 'lab-push-to-fhir', from: 'LabResultPush', to: 'Bundle' },
]
