// A row of the audit trail as an AuditEvent in the shape of IHE BALP (https://profiles.ihe.net/ITI/BALP/content.html).
import type { AuditEvent, AuditEventAgent, AuditEventEntity, Coding } from '@medplum/fhirtypes'
import type { ChainedRecord } from '../audit/record.ts'

export const terminology = 'http://terminology.hl7.org/CodeSystem'
export const dcm = 'http://dicom.nema.org/resources/ontology/DCM'
export const basicAudit = 'https://profiles.ihe.net/ITI/BALP/StructureDefinition/IHE.BasicAudit'

/** The id of a row: its chain and its place there. */
export const auditEventId = ({ chain, sequence }: ChainedRecord): string => `${chain}-${sequence}`

/** @param base of the FHIR endpoint, as the data set is named wherever it is served */
export function auditEventOf(record: ChainedRecord, base: string): AuditEvent {
  const recorded = record.recordedAt.toISOString()
  const profile = profileOf(record)
  const outcome = isEmergency(record) ? record.query : record.problem
  const purposes = purposesOf(record)
  return {
    resourceType: 'AuditEvent',
    id: auditEventId(record),
    meta: { versionId: '1', lastUpdated: recorded, ...(profile ? { profile: [profile] } : {}) },
    ...kindOf(record),
    action: record.action,
    recorded,
    outcome: String(record.outcome) as AuditEvent['outcome'],
    ...(outcome ? { outcomeDesc: outcome } : {}),
    ...(purposes.length > 0
      ? { purposeOfEvent: purposes.map(code => ({ coding: [coding(`${terminology}/v3-ActReason`, code)] })) }
      : {}),
    agent: agentsOf(record, base),
    source: {
      observer: server(base),
      type: [coding(`${terminology}/security-source-type`, '4', 'Application Server')],
    },
    entity: [transaction(record), ...objects(record), ...record.patients.map(patient)],
  }
}

const isEmergency = ({ interaction }: ChainedRecord): boolean => interaction === 'emergency'

/** The purpose of emergency access is emergency treatment. */
const purposesOf = ({ purpose }: ChainedRecord): string[] =>
  purpose === 'BTG' ? ['BTG', 'ETREAT'] : purpose === '' ? [] : [purpose]

function kindOf({ interaction }: ChainedRecord): Pick<AuditEvent, 'type' | 'subtype'> {
  const kind = dicomKinds[interaction]
  if (kind) return { type: coding(dcm, ...kind.type), subtype: [coding(dcm, ...kind.subtype)] }
  return {
    type: coding(`${terminology}/audit-event-type`, 'rest', 'Restful Operation'),
    subtype: [coding('http://hl7.org/fhir/restful-interaction', interaction, interaction)],
  }
}

type CodeAndDisplay = readonly [code: string, display: string]

const authentication: CodeAndDisplay = ['110114', 'User Authentication']

/** What is no interaction of FHIR, by the codes of DICOM. */
export const dicomKinds: Readonly<
  Partial<Record<ChainedRecord['interaction'], { readonly type: CodeAndDisplay; readonly subtype: CodeAndDisplay }>>
> = {
  emergency: { type: ['110113', 'Security Alert'], subtype: ['110127', 'Emergency Override Started'] },
  login: { type: authentication, subtype: ['110122', 'Login'] },
  logout: { type: authentication, subtype: ['110123', 'Logout'] },
}

const coding = (system: string, code: string, display?: string): Coding => ({
  system,
  code,
  ...(display ? { display } : {}),
})

/** The profiles of BALP are about what succeeded, and those of patients about a single one. */
function profileOf({ interaction, outcome, patients }: ChainedRecord): string | undefined {
  const name = profileNames[interaction]
  if (outcome !== 0 || name === undefined) return undefined
  return `${basicAudit}.${patients.length === 1 ? 'Patient' : ''}${name}`
}

export const profileNames: Readonly<Partial<Record<ChainedRecord['interaction'], string>>> = {
  read: 'Read',
  vread: 'Read',
  'search-type': 'Query',
  'search-system': 'Query',
  create: 'Create',
  update: 'Update',
  patch: 'Update',
  delete: 'Delete',
}

const source = coding(dcm, '110153', 'Source Role ID')
const destination = coding(dcm, '110152', 'Destination Role ID')
const application = coding(dcm, '110150', 'Application')
const custodian = coding(`${terminology}/provenance-participant-type`, 'custodian', 'Custodian')

/** Which way the data goes, as BALP has it: a query counts as going to the server. */
function roles({ action }: ChainedRecord): { client: Coding; server: Coding } {
  if (action === 'R') return { client: destination, server: source }
  return action === 'D' ? { client: application, server: custodian } : { client: source, server: destination }
}

const server = (base: string) => ({
  identifier: { system: 'urn:ietf:rfc:3986', value: base },
  display: 'health-interop',
})

function agentsOf(record: ChainedRecord, base: string): AuditEventAgent[] {
  const { clientId, organizationId, address } = record
  const types = roles(record)
  const person = personOf(record)
  const client: AuditEventAgent = {
    type: { coding: [types.client] },
    who: person?.through ?? (clientId ? { identifier: { value: clientId } } : { display: 'unknown' }),
    requestor: person === undefined,
    ...(person === undefined ? tokenOf(record) : {}),
    ...(address ? { network: { address, type: '2' } } : {}),
  }
  const host: AuditEventAgent = {
    type: { coding: [types.server] },
    who: server(base),
    requestor: false,
    network: { address: base, type: '5' },
  }
  const organization: AuditEventAgent = {
    type: { coding: [coding(`${terminology}/v3-RoleClass`, 'PROV', 'healthcare provider')] },
    who: { identifier: { value: organizationId } },
    requestor: false,
  }
  return [client, host, ...(person ? [person.agent] : []), ...(organizationId ? [organization] : [])]
}

/** Returns a patient or user that made the request, as BALP's user agent, and the software used. */
function personOf(record: ChainedRecord): { agent: AuditEventAgent; through: AuditEventAgent['who'] } | undefined {
  const [, kind, id] = /^(patient|user)\/(.+)$/.exec(record.clientId) ?? []
  if (!kind) return undefined
  const agent: AuditEventAgent = {
    type: { coding: [coding(`${terminology}/v3-ParticipationType`, 'IRCP', 'information recipient')] },
    who: kind === 'patient' ? { reference: `Patient/${id}` } : { identifier: { value: record.clientId } },
    requestor: true,
    ...tokenOf(record),
  }
  return { agent, through: { display: kind === 'patient' ? 'the telephone of the patient' : 'the portal' } }
}

/** The token that the access was made with; sessions of the portal have UUIDs. */
function tokenOf({ clientId, tokenId }: ChainedRecord): Pick<AuditEventAgent, 'policy'> {
  const kind = clientId.startsWith('user/') ? 'urn:uuid' : 'urn:ietf:params:oauth:jti'
  return tokenId ? { policy: [`${kind}:${tokenId}`] } : {}
}

const transaction = ({ requestId }: ChainedRecord): AuditEventEntity => ({
  type: coding('https://profiles.ihe.net/ITI/BALP/CodeSystem/BasicAuditEntityType', 'XrequestId'),
  what: { identifier: { value: requestId } },
})

const systemObject = coding(`${terminology}/audit-entity-type`, '2', 'System Object')

/** What was asked for, and the resource that it was about. */
function objects(record: ChainedRecord): AuditEventEntity[] {
  const { type, id, version, query, resources } = record
  const reference = `${type}/${id}${version > 0 ? `/_history/${version}` : ''}`
  const data: AuditEventEntity = {
    type: systemObject,
    role: coding(`${terminology}/object-role`, '4', 'Domain Resource'),
    what: { reference },
  }
  const asked: AuditEventEntity = {
    type: systemObject,
    role: coding(`${terminology}/object-role`, '24', 'Query'),
    description: `${resources} resources`,
    query: Buffer.from(query).toString('base64'),
  }
  return [...(type && isReferable(id) ? [data] : []), ...(query && !isEmergency(record) ? [asked] : [])]
}

const isReferable = (id: string): boolean => /^[A-Za-z0-9.-]{1,64}$/.test(id)

const patient = (id: string): AuditEventEntity => ({
  type: coding(`${terminology}/audit-entity-type`, '1', 'Person'),
  role: coding(`${terminology}/object-role`, '1', 'Patient'),
  what: { reference: `Patient/${id}` },
})
