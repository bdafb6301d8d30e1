// The maps that agents' records are stored by; a folder of maps without one of them is refused.
import type { Need } from '../../mapping/needs.ts'

export const bridgeNeeds: readonly Need[] = [
  { map: 'blood-unit-to-fhir', from: 'BloodUnit', to: 'BiologicallyDerivedProduct' },
  { map: 'payment-to-fhir', from: 'PaymentRecord', to: 'PaymentReconciliation' },
]
