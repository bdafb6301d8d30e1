// What AuditEvent is searched by: R4's parameters over the AuditEvent that represents a row of the trail (audit-event.ts), each as one value
// (https://hl7.org/fhir/R4/auditevent.html#search).
import { type AuditTest, everyRow, noRow } from '../audit/criteria.ts'
import { auditId } from '../audit/reader.ts'
import type { SearchParamType } from '../definitions/model.ts'
import type { Deed } from '../store/access.ts'
import type { Base } from '../store/base.ts'
import { dateInterval, latest } from '../store/dates.ts'
import { referenceTarget } from '../store/values.ts'
import { basicAudit, dcm, dicomKinds, profileNames, terminology } from './audit-event.ts'
import { wrongParameter } from './parameters.ts'

export interface AuditParameter {
  readonly type: SearchParamType
  /** Modifiers beside :missing. */
  readonly modifiers: readonly string[]
  /** Returns the test for a value. @throws Failure MALFORMED_REQUEST for a value that is not valid */
  readonly find: (value: string, modifier: string, base: Base) => AuditTest
  /** The rows that have a value. */
  readonly has: AuditTest
}

const isEmergency: AuditTest = { column: 'interaction', among: ['emergency'] }
const notEmergency: AuditTest = { not: isEmergency }

/** A code of the AuditEvent, and the rows that have it. */
interface Concept {
  readonly system: string
  readonly code: string
  readonly test: AuditTest
}

/** A token parameter over a few codes. */
function coded(concepts: readonly Concept[], has: AuditTest = everyRow): AuditParameter {
  return {
    type: 'token',
    modifiers: ['not'],
    has,
    find(value, modifier) {
      const bar = value.indexOf('|')
      const [system, code] = bar < 0 ? [undefined, value] : [value.slice(0, bar), value.slice(bar + 1)]
      const fits = (each: Concept): boolean =>
        (system === undefined || system === each.system) && (code === '' || code === each.code)
      const found: AuditTest = { any: concepts.filter(fits).map(({ test }) => test) }
      return modifier === 'not' ? { not: found } : found
    },
  }
}

/** A parameter over an element that no AuditEvent of the trail has. */
const without = (type: SearchParamType, modifiers: readonly string[] = []): AuditParameter => ({
  ...{ type, modifiers, has: noRow },
  find: (_value, modifier) => (modifier === 'not' ? everyRow : noRow),
})

const among = (column: Extract<AuditTest, { among: unknown }>['column'], system: string, codes: readonly string[]) =>
  codes.map((code): Concept => ({ system, code, test: { column, among: [code] } }))

const deeds: readonly Exclude<Deed, 'emergency' | 'login' | 'logout'>[] = [
  ...(['read', 'vread', 'history-instance', 'history-type', 'history-system', 'search-type', 'search-system'] as const),
  ...(['create', 'update', 'patch', 'delete', 'transaction', 'operation'] as const),
]
/** The codes of DICOM, each with all rows that have it. */
const ofDicom = (element: 'type' | 'subtype'): Concept[] =>
  Object.values(dicomKinds).map(({ [element]: [code] }) => ({
    system: dcm,
    code,
    test: {
      column: 'interaction',
      among: Object.entries(dicomKinds).flatMap(([deed, kind]) => (kind[element][0] === code ? deed : [])),
    },
  }))

const hasPatient: AuditTest = { patients: 'some' }
const showsQuery: AuditTest = { all: [{ shows: 'query' }, notEmergency] }
const roles = `${terminology}/object-role`
const kinds = `${terminology}/audit-entity-type`
const date: AuditParameter = { type: 'date', modifiers: [], has: everyRow, find: dateTest }

/** Every parameter of AuditEvent in R4 but for words (_text, _content). */
export const auditParameters: Readonly<Record<string, AuditParameter>> = {
  _id: {
    ...{ type: 'token', modifiers: [], has: everyRow },
    find(value) {
      const row = auditId(value)
      return row ? { row } : noRow
    },
  },
  _lastUpdated: date,
  _profile: { type: 'uri', modifiers: [], has: { any: profiles().map(({ test }) => test) }, find: profileTest },
  _security: without('token', ['not']),
  _source: without('uri'),
  _tag: without('token', ['not']),
  action: coded(among('action', 'http://hl7.org/fhir/audit-event-action', ['C', 'R', 'U', 'D', 'E'])),
  address: { type: 'string', modifiers: ['exact', 'contains'], has: everyRow, find: addressTest },
  agent: { type: 'reference', modifiers: ['identifier', 'Patient'], has: everyRow, find: agentTest },
  'agent-name': without('string', ['exact', 'contains']),
  'agent-role': without('token', ['not']),
  altid: without('token', ['not']),
  date,
  entity: { type: 'reference', modifiers: ['identifier', 'Patient'], has: everyRow, find: entityTest },
  'entity-name': without('string', ['exact', 'contains']),
  'entity-role': coded(
    [
      { system: roles, code: '1', test: hasPatient },
      { system: roles, code: '4', test: { shows: 'resource' } },
      { system: roles, code: '24', test: showsQuery },
    ],
    { any: [hasPatient, { shows: 'resource' }, showsQuery] },
  ),
  'entity-type': coded([
    { system: 'https://profiles.ihe.net/ITI/BALP/CodeSystem/BasicAuditEntityType', code: 'XrequestId', test: everyRow },
    { system: kinds, code: '1', test: hasPatient },
    { system: kinds, code: '2', test: { any: [{ shows: 'resource' }, showsQuery] } },
  ]),
  outcome: coded(among('outcome', 'http://hl7.org/fhir/audit-event-outcome', ['0', '4', '8'])),
  patient: { type: 'reference', modifiers: ['Patient'], has: hasPatient, find: value => patientTest(idOf(value)) },
  policy: { type: 'uri', modifiers: [], has: { not: { column: 'token_id', among: [''] } }, find: policyTest },
  site: without('token', ['not']),
  source: { type: 'reference', modifiers: ['identifier'], has: everyRow, find: sourceTest },
  subtype: coded([...among('interaction', 'http://hl7.org/fhir/restful-interaction', deeds), ...ofDicom('subtype')]),
  type: coded([
    { system: `${terminology}/audit-event-type`, code: 'rest', test: { column: 'interaction', among: deeds } },
    ...ofDicom('type'),
  ]),
}

function dateTest(value: string): AuditTest {
  const [, prefix = 'eq', text = ''] = /^(eq|ne|ge|gt|le|lt|sa|eb)?(.*)$/s.exec(value.replace(' ', '+')) ?? []
  const interval = dateInterval(text)
  if (!interval) throw wrongParameter('date', 'date must be a date, such as ge2026-01-31 or lt2026-01-31T14:00:00Z.')
  const { low, high } = interval
  if (prefix === 'ge') return { from: low }
  if (prefix === 'gt' || prefix === 'sa') return high >= latest ? noRow : { from: high + 1 }
  if (prefix === 'le') return { to: high }
  if (prefix === 'lt' || prefix === 'eb') return { to: low - 1 }
  return prefix === 'ne' ? { not: { from: low, to: high } } : { from: low, to: high }
}

/** Profiles of BALP, and the rows that claim them. */
function profiles(): { url: string; test: AuditTest }[] {
  const succeeded: AuditTest = { column: 'outcome', among: ['0'] }
  return Object.entries(profileNames).flatMap(([deed, name]) => {
    const done: AuditTest = { all: [succeeded, { column: 'interaction', among: [deed] }] }
    return [
      { url: `${basicAudit}.Patient${name}`, test: { all: [done, { patients: 'one' as const }] } },
      { url: `${basicAudit}.${name}`, test: { all: [done, { not: { patients: 'one' as const } }] } },
    ]
  })
}

function profileTest(value: string): AuditTest {
  const claimed = profiles().filter(({ url }) => url === value)
  return { any: claimed.map(({ test }) => test) }
}

/** Each row holds the address of the caller and that of this service. */
function addressTest(value: string, modifier: string, base: Base): AuditTest {
  const [own, text] = [base.endpoint.toLowerCase(), value.toLowerCase()]
  if (modifier === 'exact') return value === base.endpoint ? everyRow : { column: 'address', among: [value] }
  if (modifier === 'contains') return own.includes(text) ? everyRow : { column: 'address', contains: value }
  return own.startsWith(text) ? everyRow : { column: 'address', begins: value }
}

/** Of `system|value` what stands behind the bar. */
const codeOf = (value: string): string => value.slice(value.lastIndexOf('|') + 1)

const idOf = (value: string): string => value.replace(/^.*\bPatient\//, '')

/** A patient in whose record something was done, or who did it. */
const patientTest = (id: string): AuditTest => ({
  any: [{ patient: id }, { column: 'client_id', among: [`patient/${id}`] }],
})

/** Clients, users, organizations and this service are agents by their identifiers, patients by reference. */
function agentTest(value: string, modifier: string, base: Base): AuditTest {
  const name = codeOf(value)
  if (modifier === 'Patient' || /\bPatient\//.test(name))
    return { column: 'client_id', among: [`patient/${idOf(name)}`] }
  const named: AuditTest = {
    any: (['client_id', 'organization_id'] as const).map(column => ({ column, among: [name] })),
  }
  if (modifier === 'identifier') return name === base.endpoint ? everyRow : named
  return { any: [named, { column: 'client_id', among: [`patient/${name}`] }] }
}

/** The request by its identifier; the resource that was read or changed, and the patients, by reference. */
function entityTest(value: string, modifier: string, base: Base): AuditTest {
  if (modifier === 'identifier') return { column: 'request_id', among: [codeOf(value)] }
  const [type, id, ...more] = (referenceTarget(value, base) ?? '').split('/')
  const isLocal = id === undefined ? /^[A-Za-z0-9.-]{1,64}$/.test(type!) : more.length === 0
  if (!isLocal) return noRow
  if (id === undefined && modifier === '') return { any: [{ resource: { id: type! } }, { patient: type! }] }
  const wanted = id === undefined ? { type: modifier, id: type! } : { type: type!, id }
  if (modifier !== '' && wanted.type !== modifier) return noRow
  return wanted.type === 'Patient' ? { any: [{ resource: wanted }, { patient: wanted.id }] } : { resource: wanted }
}

/** Tests the token of the access, in its stored form: sessions of the portal have UUIDs. */
function policyTest(value: string): AuditTest {
  const [, kind, token] = /^(urn:uuid|urn:ietf:params:oauth:jti):(.+)$/.exec(value) ?? []
  if (token === undefined) return noRow
  const ofUser: AuditTest = { column: 'client_id', begins: 'user/' }
  const isSession = kind === 'urn:uuid' ? ofUser : { not: ofUser }
  return { all: [{ column: 'token_id', among: [token] }, isSession] }
}

/** This service observes everything, and is named by its address. */
function sourceTest(value: string, modifier: string, base: Base): AuditTest {
  const isOwn = [base.endpoint, `urn:ietf:rfc:3986|${base.endpoint}`].includes(value)
  return modifier === 'identifier' && isOwn ? everyRow : noRow
}
