// The caller of a request, and what it may do.
import { type Interaction, type Principal, serviceParty } from '../store/principal.ts'
import { byConsent } from './consent/visibility.ts'
import { grants } from './scopes.ts'

/** What is known of every caller, however it authenticated: enough to limit, to record and to keep replies. */
export interface Asker extends Principal {
  readonly kind: 'client' | 'patient' | 'user'
  /** The caller as one text: a client's id, `patient/<id>` or `user/<id>`. */
  readonly clientId: string
  /** Empty for patients. */
  readonly organizationId: string
  /** The scopes of the token, in the order granted. */
  readonly scopes: readonly string[]
  /** `jti` of the access token, or id of the patient's token or of the session; empty for a caller without a token. */
  readonly tokenId: string
  /** The purpose of use, a code of v3-ActReason; empty if the caller does not state one. */
  readonly purpose: string
  /** True if the scopes open the interaction on the resource type. */
  may(type: string, interaction: Interaction): boolean
  has(scope: string): boolean
}

/** A client, and what its token states. */
export interface Identified {
  readonly clientId: string
  readonly organizationId: string
  readonly scopes: readonly string[]
  /** True for the record-keeping system itself: what it reads is not filtered by consent. */
  readonly consentExempt: boolean
  readonly tokenId?: string
  readonly purpose?: string
  /** Author of what it writes, which it sees without consent; absent: the client itself. */
  readonly author?: string
}

/** The client behind a request, as its token or its credentials prove it. */
export interface Caller extends Asker, Required<Omit<Identified, 'author'>> {
  readonly kind: 'client'
}

/** A Bridge agent: a client of its facility's organisation, as which all agents of the organisation write. */
export interface AgentCaller extends Caller {
  readonly facilityId: string
}

/**
 * A patient with a telephone, who asks about their own record. No scope opens FHIR to a patient: each surface states
 * what it permits (`onBehalfOf`).
 */
export interface PatientCaller extends Asker {
  readonly kind: 'patient'
  /** Id of the Patient resource. */
  readonly patientId: string
  /** In canonical form. */
  readonly healthId: string
}

/** What users of the portal do there: an administrator does what all others do, and for every organisation. */
export const roles = ['administrator', 'developer', 'informaticist', 'privacy_officer'] as const

/** A role of a portal user. */
export type Role = (typeof roles)[number]

/** A user who has signed in to the portal. As with patients, no scope opens FHIR to a user. */
export interface UserCaller extends Asker {
  readonly kind: 'user'
  readonly userId: string
  readonly email: string
  /** At least one, each once. */
  readonly roles: readonly Role[]
}

/** What a facility records of care, and what that refers to. People are registered otherwise; consents come from patients. */
const recordedByFacilities = [
  ...[
    'Account',
    'AllergyIntolerance',
    'Appointment',
    'AppointmentResponse',
    'Binary',
    'CarePlan',
    'CareTeam',
    'ChargeItem',
  ],
  ...['ClinicalImpression', 'Communication', 'Composition', 'Condition', 'Coverage', 'DetectedIssue', 'Device'],
  ...['DeviceRequest', 'DiagnosticReport', 'DocumentReference', 'Encounter', 'EpisodeOfCare', 'FamilyMemberHistory'],
  ...['Flag', 'Goal', 'HealthcareService', 'ImagingStudy', 'Immunization', 'List', 'Location', 'Media', 'Medication'],
  ...['MedicationAdministration', 'MedicationDispense', 'MedicationRequest', 'MedicationStatement', 'NutritionOrder'],
  ...['Observation', 'Organization', 'Practitioner', 'PractitionerRole', 'Procedure', 'Provenance'],
  ...['QuestionnaireResponse', 'RelatedPerson', 'RiskAssessment', 'Schedule', 'ServiceRequest', 'Slot', 'Specimen'],
]

/** What agents may do: store what a facility records, find it again, and withdraw it. */
const agentScopes = [
  'bridge_agent:sync',
  'system/Patient.rs',
  ...recordedByFacilities.map(type => `system/${type}.cruds`),
]

/**
 * Builds the caller that an agent is. It sees what its organisation's agents wrote and what is about no patient, whatever patients have
 * consented to: what it finds it may replace, and that must not be what others wrote.
 */
export function agentCaller(agent: {
  readonly id: string
  readonly facilityId: string
  readonly organizationId: string
}): AgentCaller {
  const { id: clientId, facilityId, organizationId } = agent
  const author = `Organization/${organizationId}`
  const client = createCaller({ clientId, organizationId, scopes: agentScopes, consentExempt: false, author })
  return { ...client, visibility: byConsent({ clientId, author, organizationId: '', purpose: '' }), facilityId }
}

/** True if a client is a Bridge agent. */
export const isAgent = (caller: Asker): caller is AgentCaller => 'facilityId' in caller

/** Builds a caller. Equal scope lists share one table of permissions. */
export function createCaller(client: Identified): Caller {
  const { clientId, organizationId, scopes, consentExempt, tokenId = '', purpose = '', author = clientId } = client
  const permitted = grants(scopes)
  const owned = new Set(scopes)
  return {
    kind: 'client',
    clientId,
    organizationId,
    scopes,
    consentExempt,
    tokenId,
    purpose,
    author,
    party: { organizationId, ...(consentExempt ? { ends: 'all' } : {}) },
    visibility: consentExempt ? undefined : byConsent({ clientId, author, organizationId, purpose }),
    may: permitted,
    has: scope => owned.has(scope),
  }
}

const nothing = { scopes: [], purpose: '', may: () => false, has: () => false } as const

export function patientCaller(patientId: string, healthId: string, tokenId: string): PatientCaller {
  const clientId = `patient/${patientId}`
  return {
    ...nothing,
    kind: 'patient',
    clientId,
    organizationId: '',
    tokenId,
    author: clientId,
    party: { organizationId: '', ends: { patient: patientId } },
    patientId,
    healthId,
  }
}

/** True for a user who sees and does everything, for every organisation. */
export const isAdministrator = ({ roles: own }: Pick<UserCaller, 'roles'>): boolean => own.includes('administrator')

/** The organisation to which a user is bound; undefined for administrators, who see all. */
export const ownOrganization = (caller: UserCaller): string | undefined =>
  isAdministrator(caller) ? undefined : caller.organizationId

export function userCaller(
  user: {
    readonly id: string
    readonly email: string
    readonly organizationId: string
    readonly roles: readonly Role[]
  },
  sessionId: string,
): UserCaller {
  const { id, email, organizationId, roles } = user
  const clientId = `user/${id}`
  return {
    ...nothing,
    kind: 'user',
    clientId,
    organizationId,
    tokenId: sessionId,
    author: clientId,
    party: { organizationId },
    userId: id,
    email,
    roles,
  }
}

/**
 * The service acting for a caller: in the caller's name and transaction, with the same audit witness, and with only
 * these interactions on these types. Consent is not checked, so an operation states explicitly where it shows what it
 * reads.
 */
export function onBehalfOf<Of extends Asker>(caller: Of, opens: Readonly<Record<string, string>>): Of {
  const may = (type: string, interaction: Interaction) => opens[type]?.includes(interaction) ?? false
  return { ...caller, visibility: undefined, may }
}

/** The service itself: loader, demo data, background work. */
export const system: Caller = {
  ...createCaller({
    clientId: 'health-interop',
    organizationId: 'health-interop',
    scopes: ['system/*.cruds'],
    consentExempt: true,
  }),
  author: undefined,
  party: serviceParty,
}
