// What a clinician would call the "when" and the "what" of a resource: one date parameter and one code parameter for each type.
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

/** Elements of type instant that tell when it was where the clinical date is missing. */
const others: Readonly<Record<string, string>> = { Observation: 'issued' }

export const otherDate = (type: string): string | undefined => others[type]

const mainCodes: Readonly<Record<string, string>> = {
  Encounter: 'type',
  Immunization: 'vaccine-code',
  Coverage: 'type',
}

/**
 * Returns the code of the token parameter that identifies what a resource is, such as Observation.code; types without the parameter
 * have no such postings.
 */
export function mainCode(type: string): string {
  return mainCodes[type] ?? 'code'
}
