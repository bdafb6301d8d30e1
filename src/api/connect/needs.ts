// The maps that Connect translates by; a folder of maps without one of them is refused.
import type { Need } from '../../mapping/needs.ts'

export const connectNeeds: readonly Need[] = [
  { map: 'patient-to-fhir', from: 'Demographics', to: 'Patient' },
  { map: 'patient-from-fhir', from: 'Patient', to: 'Demographics' },
  { map: 'consent-to-fhir', from: 'ConsentRecord', to: 'Consent' },
  { map: 'consent-from-fhir', from: 'Consent', to: 'ConsentRecord' },
  { map: 'diagnosis-from-fhir', from: 'Condition', to: 'Diagnosis' },
  { map: 'prescription-from-fhir', from: 'MedicationRequest', to: 'Prescription' },
  { map: 'lab-result-from-fhir', from: 'Observation', to: 'LabResult' },
  { map: 'vital-sign-from-fhir', from: 'Observation', to: 'VitalSign' },
  { map: 'stock-to-fhir', from: 'StockItem', to: 'Basic' },
  { map: 'stock-from-fhir', from: 'Basic', to: 'StockItem' },
  { map: 'blood-unit-from-fhir', from: 'BiologicallyDerivedProduct', to: 'BloodUnit' },
  { map: 'payment-from-fhir', from: 'PaymentReconciliation', to: 'PaymentRecord' },
]
