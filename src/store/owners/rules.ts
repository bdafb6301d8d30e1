// Where a resource names its owner: the one table by resource type of what is no patient's record. Pure.

import { resourceTypes } from '../../definitions/r4.ts'
import { type JsonObject, objectsIn } from '../../lib/json.ts'
import type { Base } from '../base.ts'
import { idIn } from '../values.ts'

/** An owner that an element names. */
export interface Named {
  /** A facility is an Organization or a Location, whichever has the id. */
  readonly kind: 'organization' | 'facility'
  readonly id: string
  /** The element, such as `Location.managingOrganization`. */
  readonly element: string
}

/** Reads the owners that one element names. @param base of this data set, to which references may lead */
type Place = (resource: JsonObject, type: string, base: Base) => Named[]

/** The extension that names the facility of a unit of blood. */
const facilityExtension = 'https://health-interop.org/fhir/StructureDefinition/facility'
/** Ends the system of the number of a stock, whose value begins with the id of the facility: `clinic|ATC|J01CA04`. */
const stockNumber = '/fhir/NamingSystem/stock-item'

/** A reference to an Organization. */
const organization =
  (element: string): Place =>
  (resource, type, base) => {
    const id = idIn(resource[element], 'Organization', base)
    return id === undefined ? [] : [{ kind: 'organization', id, element: `${type}.${element}` }]
  }

const facilities = (references: readonly unknown[], element: string, base: Base): Named[] =>
  references.flatMap(each => {
    const id = idIn(each, 'Organization|Location', base)
    return id === undefined ? [] : [{ kind: 'facility', id, element }]
  })

const subject: Place = (resource, type, base) => facilities([resource['subject']], `${type}.subject`, base)

const extension: Place = (resource, type, base) =>
  facilities(
    objectsIn(resource['extension'])
      .filter(({ url }) => url === facilityExtension)
      .map(each => each['valueReference']),
    `${type}.extension`,
    base,
  )

const number: Place = (resource, type) =>
  objectsIn(resource['identifier'])
    .filter(({ system }) => typeof system === 'string' && system.endsWith(stockNumber))
    .map(({ value }) => ({ kind: 'facility', id: String(value).split('|')[0]!, element: `${type}.identifier` }))

interface Rule {
  /** Where the owner is named; if nothing is named there, the owner is the organisation of the author. */
  readonly places: readonly Place[]
  /** The rule holds only while the resource is about no patient: otherwise it is a patient's record. */
  readonly unlessPatient: boolean
}

const by = (...places: Place[]): Rule => ({ places, unlessPatient: false })
const author = by()
const unlessPatient = (...places: Place[]): Rule => ({ places, unlessPatient: true })

const all = (names: string, rule: Rule): Record<string, Rule> =>
  Object.fromEntries(names.split(' ').map(name => [name, rule]))

const rules: Readonly<Record<string, Rule>> = {
  // Places, people and devices of an organisation.
  ...all('Location Endpoint', by(organization('managingOrganization'))),
  ...all('PractitionerRole OrganizationAffiliation', by(organization('organization'))),
  HealthcareService: by(organization('providedBy')),
  InsurancePlan: by(organization('ownedBy')),
  DeviceDefinition: by(organization('owner')),
  Device: unlessPatient(organization('owner')),
  Group: unlessPatient(organization('managingEntity')),
  // What Connect counts as an organisation's: stock, units of blood, payments.
  Basic: unlessPatient(subject, number),
  BiologicallyDerivedProduct: by(extension),
  PaymentReconciliation: by(organization('requestor')),
  // No element names the owner of these.
  ...all('Organization Practitioner Slot CatalogEntry DeviceMetric TestReport ResearchStudy', author),
  ...all('Schedule Subscription PaymentNotice', unlessPatient()),
  ...all('Medication MedicationKnowledge ObservationDefinition SpecimenDefinition ChargeItemDefinition', author),
  ...all('Substance SubstanceNucleicAcid SubstancePolymer SubstanceProtein SubstanceReferenceInformation', author),
  ...all('SubstanceSourceMaterial SubstanceSpecification MedicinalProduct MedicinalProductAuthorization', author),
  ...all('MedicinalProductContraindication MedicinalProductIndication MedicinalProductIngredient', author),
  ...all('MedicinalProductInteraction MedicinalProductManufactured MedicinalProductPackaged', author),
  ...all('MedicinalProductPharmaceutical MedicinalProductUndesirableEffect', author),
  // Canonical resources: the publisher is a text that anybody can write.
  ...all('ActivityDefinition PlanDefinition EventDefinition Library Measure Questionnaire', author),
  ...all('ResearchDefinition ResearchElementDefinition Evidence EvidenceVariable EffectEvidenceSynthesis', author),
  ...all('RiskEvidenceSynthesis CodeSystem ValueSet ConceptMap NamingSystem TerminologyCapabilities', author),
  ...all('StructureDefinition StructureMap SearchParameter OperationDefinition CapabilityStatement', author),
  ...all('CompartmentDefinition ImplementationGuide GraphDefinition MessageDefinition ExampleScenario', author),
  ...all('TestScript', author),
  // Outside of compartments, but a patient's record if they name one.
  ...all('Binary Bundle Contract EnrollmentResponse GuidanceResponse Linkage MessageHeader', unlessPatient()),
  ...all('OperationOutcome Parameters VerificationResult', unlessPatient()),
}

/** Types that have owners, in the order of their names. */
export const ownedTypes: readonly string[] = resourceTypes.filter(type => Object.hasOwn(rules, type))

/** True if resources of the type have owners. */
export const isOwned = (type: string): boolean => Object.hasOwn(rules, type)

/** True if a resource of the type that is about a patient has no owner. */
export const isOwnedUnlessPatient = (type: string): boolean => rules[type]?.unlessPatient ?? false

/** True if elements of the type can name owners. */
export const namesOwners = (type: string): boolean => (rules[type]?.places.length ?? 0) > 0

/**
 * The owners that the resource names; none: it is owned by the organisation of its author, if its type has owners.
 * @param base of this data set, to which references may lead
 */
export const ownersNamed = (resource: JsonObject, type: string, base: Base): Named[] =>
  (rules[type]?.places ?? []).flatMap(place => place(resource, type, base))
