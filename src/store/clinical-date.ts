// The date a resource is ordered by when it is found: what a clinician would call "when", one date parameter for each type.
import { typeModel } from '../definitions/r4.ts'

const named: Readonly<Record<string, string>> = {
  Account: 'period',
  AppointmentResponse: '',
  ChargeItem: 'entered-date',
  Claim: 'created',
  ClaimResponse: 'created',
  Communication: 'sent',
  CommunicationRequest: 'authored',
  Condition: 'recorded-date',
  CoverageEligibilityRequest: 'created',
  CoverageEligibilityResponse: 'created',
  DetectedIssue: 'identified',
  DeviceRequest: 'authored-on',
  ExplanationOfBenefit: 'created',
  Goal: 'start-date',
  ImagingStudy: 'started',
  MedicationAdministration: 'effective-time',
  MedicationDispense: 'whenhandedover',
  MedicationRequest: 'authoredon',
  MedicationStatement: 'effective',
  NutritionOrder: 'datetime',
  PaymentNotice: 'created',
  PaymentReconciliation: 'created',
  Provenance: 'recorded',
  QuestionnaireResponse: 'authored',
  ServiceRequest: 'authored',
  Specimen: 'collected',
  Task: 'authored-on',
}

/** The code of the type's ordering date parameter; `date` where nothing else is named. Types without it are ordered by when they came. */
export function clinicalDate(type: string): string {
  return named[type] ?? 'date'
}

/** True if the plain path `Type.a.b` can hold only one value, so that one column holds it whole. */
export function isSinglePath(path: string): boolean {
  const [root, ...steps] = path.replace(/\s+as\s+\w+/g, '').replace(/\.(?:as|ofType)\(\w+\)$/, '').replace(/^\((.*)\)$/, '$1').split('.')
  let type = root ?? ''
  for (const step of steps) {
    const element = typeModel(type)?.elements.get(step)
    if (!element || element.max !== 1) return false
    type = element.types[0] ?? ''
  }
  return steps.length > 0
}
