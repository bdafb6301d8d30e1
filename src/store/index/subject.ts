// The subject of a resource: the patient, or the patients, whose consent decides which callers may see it.

import { hash64 } from '../../lib/hash.ts'
import type { JsonObject } from '../../lib/json.ts'
import { isObject } from '../../lib/json.ts'
import type { Base } from '../base.ts'
import { objects, referenceTarget } from '../values.ts'
import { selfHash } from './postings.ts'

/** Whose data it is, as the columns `subject` and `about` hold it. */
export interface Subject {
  /** Hash of the patient, or the mark for no patient or for several. */
  readonly subject: bigint
  /** With several patients: their hashes, none if they are not known. */
  readonly about: readonly bigint[]
}

/** It is about no patient, so that no consent is needed to see it. */
export const noPatient = 0n
/** All patients that it is about must consent; where they are unknown, only its author sees it. */
export const several = 1n

// Types that describe the setting of care: not patient data unless they name a patient. Data of any other type whose patient is
// unknown counts as patient data.
const worldly: ReadonlySet<string> = new Set([
  ...['Organization', 'OrganizationAffiliation', 'Practitioner', 'PractitionerRole', 'Location', 'HealthcareService'],
  ...['Endpoint', 'Schedule', 'Slot', 'InsurancePlan', 'CatalogEntry', 'ChargeItemDefinition', 'Group', 'Device'],
  ...['DeviceDefinition', 'DeviceMetric', 'Medication', 'MedicationKnowledge', 'BiologicallyDerivedProduct'],
  ...['Substance', 'SubstanceNucleicAcid', 'SubstancePolymer', 'SubstanceProtein', 'SubstanceReferenceInformation'],
  ...['SubstanceSourceMaterial', 'SubstanceSpecification', 'MedicinalProduct', 'MedicinalProductAuthorization'],
  ...['MedicinalProductContraindication', 'MedicinalProductIndication', 'MedicinalProductIngredient'],
  ...['MedicinalProductInteraction', 'MedicinalProductManufactured', 'MedicinalProductPackaged'],
  ...['MedicinalProductPharmaceutical', 'MedicinalProductUndesirableEffect', 'ObservationDefinition'],
  ...['SpecimenDefinition', 'ActivityDefinition', 'PlanDefinition', 'EventDefinition', 'Library', 'Measure'],
  ...['Questionnaire', 'ResearchStudy', 'ResearchDefinition', 'ResearchElementDefinition', 'Evidence'],
  ...['EvidenceVariable', 'EffectEvidenceSynthesis', 'RiskEvidenceSynthesis', 'CodeSystem', 'ValueSet', 'ConceptMap'],
  ...['NamingSystem', 'TerminologyCapabilities', 'StructureDefinition', 'StructureMap', 'SearchParameter'],
  ...['OperationDefinition', 'CapabilityStatement', 'CompartmentDefinition', 'ImplementationGuide', 'GraphDefinition'],
  ...['MessageDefinition', 'ExampleScenario', 'TestScript', 'TestReport'],
])

/** True if resources of the type may be about no patient. */
export const isWorldly = (type: string): boolean => worldly.has(type)

/**
 * Whose data the resource is.
 * @param patient hash of the one patient that the type's own parameter names, if it names one
 * @param base address of this server's FHIR endpoint
 */
export function subjectOf(resource: JsonObject, type: string, patient: bigint | undefined, base: Base): Subject {
  if (isReview(resource, type)) return { subject: several, about: [] }
  if (type === 'Patient') return { subject: selfHash('Patient', String(resource['id'])), about: [] }
  if (patient !== undefined) return { subject: patient, about: [] }
  const found: Found = { patients: new Set(), isStrange: namesUnknown(resource, type) }
  visit(resource, base, found, true)
  const [first, ...more] = found.patients
  if (first === undefined) return { subject: worldly.has(type) && !found.isStrange ? noPatient : several, about: [] }
  if (found.isStrange) return { subject: several, about: [] }
  return more.length === 0 ? { subject: first, about: [] } : { subject: several, about: [...found.patients] }
}

/** Codes of Tasks that the service opens for its own privacy officers and data stewards. */
export const reviewSystem = 'https://health-interop.org/fhir/CodeSystem/review'

/** True for such a Task: it names patients, reasons and likenesses that no consent is about. */
export function isReview({ code }: JsonObject, type: string): boolean {
  return type === 'Task' && isObject(code) && objects(code['coding']).some(({ system }) => system === reviewSystem)
}

/**
 * True if a device belongs to a patient, or people are members of a group, given by an identifier or a name instead of a reference.
 * Elsewhere in these types, organisations and devices are given that way.
 */
function namesUnknown({ patient, type: kind, member }: JsonObject, type: string): boolean {
  const isUnknown = (each: unknown): boolean => isObject(each) && typeof each['reference'] !== 'string'
  if (type === 'Device') return isUnknown(patient)
  return type === 'Group' && kind === 'person' && objects(member).some(({ entity }) => isUnknown(entity))
}

interface Found {
  readonly patients: Set<bigint>
  /** True if it names a patient who is not stored here, or not under an id. */
  isStrange: boolean
}

function visit(node: unknown, base: Base, found: Found, isRoot = false): void {
  if (Array.isArray(node)) for (const item of node) visit(item, base, found)
  else if (isObject(node)) {
    if (!isRoot && node['resourceType'] === 'Patient') found.isStrange = true
    const { reference, type, identifier } = node
    if (typeof reference === 'string') addTarget(reference, base, found)
    else if (type === 'Patient' && isObject(identifier)) found.isStrange = true
    for (const value of Object.values(node)) if (typeof value === 'object') visit(value, base, found)
  }
}

function addTarget(reference: string, base: Base, found: Found): void {
  const target = referenceTarget(reference, base)
  if (target?.startsWith('Patient/')) found.patients.add(hash64(target))
  else if (/(^|\/)Patient[/?]/.test(reference)) found.isStrange = true
}
