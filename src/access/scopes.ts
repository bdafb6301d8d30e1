// Every scope: its meaning, its risk and the FHIR interactions it opens (interface §5.1, decisions of the interface's
// open points). SMART v2 system scopes (https://hl7.org/fhir/smart-app-launch/scopes-and-launch-context.html) are
// accepted beside the named ones.
import { isResourceType, resourceTypes } from '../definitions/r4.ts'
import { didYouMean, nearest } from '../lib/nearest.ts'
import type { Interaction } from '../store/principal.ts'

/** What harm a scope does in wrong hands (interface §5.1). */
export type Risk = 'Low' | 'Medium' | 'High' | 'Critical'

interface Scope {
  readonly meaning: string
  readonly risk: Risk
  /** FHIR types the scope opens, by interactions. */
  readonly fhir?: Readonly<Record<string, string>>
  /** FHIR types that a consent to the scope opens in addition: operations of the interface read them, FHIR does not. */
  readonly consented?: readonly string[]
}

const on = (interactions: string, ...types: string[]): Record<string, string> =>
  Object.fromEntries(types.map(type => [type, interactions]))

export const scopes: Readonly<Record<string, Scope>> = {
  'health_id:verify': { meaning: 'Verify and resolve Health IDs', risk: 'Low' },
  'patients:read': {
    meaning: 'Read consented patient summary and clinical data',
    risk: 'Medium',
    fhir: on(
      'rs',
      'Patient',
      'AllergyIntolerance',
      'Condition',
      'MedicationRequest',
      'Encounter',
      'Immunization',
      'Procedure',
      'CarePlan',
      'Coverage',
      'Consent',
    ),
  },
  'patient:profile:read': {
    meaning: 'Read the demographic profile of a patient',
    risk: 'Medium',
    consented: ['Patient'],
  },
  'patient:diagnostics:read': {
    meaning: 'Read diagnoses, prescriptions, laboratory results and vital signs',
    risk: 'Medium',
    consented: ['Condition', 'MedicationRequest', 'Observation', 'DiagnosticReport'],
  },
  'consents:read': { meaning: 'Check consent grant status', risk: 'Low' },
  'consents:write': { meaning: 'Request patient consent', risk: 'Low' },
  'encounters:write': {
    meaning: 'Push clinical encounters and recommendations',
    risk: 'High',
    fhir: on('cu', 'Encounter'),
  },
  'labs:read': {
    meaning: 'Read lab orders and results',
    risk: 'Medium',
    fhir: on('rs', 'DiagnosticReport', 'Observation', 'ServiceRequest'),
  },
  'labs:write': {
    meaning: 'Push lab results and interpretations',
    risk: 'High',
    fhir: on('cu', 'DiagnosticReport', 'Observation', 'ServiceRequest'),
  },
  'prescriptions:read': {
    meaning: 'Read prescription records',
    risk: 'Medium',
    fhir: on('rs', 'MedicationRequest', 'MedicationDispense'),
  },
  'prescriptions:write': {
    meaning: 'Push prescription alerts',
    risk: 'High',
    fhir: on('cu', 'MedicationRequest', 'MedicationDispense'),
  },
  'documents:read': {
    meaning: 'Read clinical documents',
    risk: 'Medium',
    fhir: on('rs', 'DocumentReference', 'Composition', 'Binary'),
  },
  'documents:write': {
    meaning: 'Issue official documents',
    risk: 'High',
    fhir: on('cu', 'DocumentReference', 'Composition', 'Binary'),
  },
  'appointments:read': {
    meaning: 'Read appointment data',
    risk: 'Medium',
    fhir: on('rs', 'Appointment', 'Slot', 'Schedule'),
  },
  'appointments:write': {
    meaning: 'Create or update appointments',
    risk: 'Medium',
    fhir: on('cu', 'Appointment', 'Slot', 'Schedule'),
  },
  'pharmacy:write': { meaning: 'Sync pharmacy stock levels', risk: 'Medium' },
  'pharmacy:stock:read': { meaning: 'Read pharmacy stock levels', risk: 'Low' },
  'blood:inventory:read': { meaning: 'Read blood bank inventory', risk: 'Low' },
  'payments:reconciliation:read': {
    meaning: 'Read payment reconciliation records of your organisation',
    risk: 'Medium',
  },
  'webhooks:manage': { meaning: 'Manage webhook subscriptions', risk: 'Medium' },
  'bridge_agent:sync': { meaning: 'Bridge Agent data synchronisation', risk: 'High' },
  'emergency:access': { meaning: 'Emergency access override (audited)', risk: 'Critical' },
}

/** Other spellings of a scope. */
const scopeAliases: Readonly<Record<string, string>> = { 'patients:profile:read': 'patient:profile:read' }

/** Returns the first spelling of a scope, which tokens carry; any other text as it is. */
export const firstSpelling = (scope: string): string =>
  Object.hasOwn(scopeAliases, scope) ? scopeAliases[scope]! : scope

const smart = /^system\/(\*|[A-Z][A-Za-z]+)\.(c?r?u?d?s?|read|write|\*)$/

/** Returns the interactions of a SMART system scope, v2 (`rs`) or v1 (`read`, `write`, `*`), or undefined if it is none. */
function smartScope(scope: string): { type: string; interactions: string } | undefined {
  const found = smart.exec(scope)
  if (!found) return undefined
  const [, type, permission] = found as unknown as [string, string, string]
  if (permission === '' || (type !== '*' && !isResourceType(type))) return undefined
  const v1: Record<string, string> = { read: 'rs', write: 'cud', '*': 'cruds' }
  return { type, interactions: v1[permission] ?? permission }
}

/** Returns true if this service supports the scope. */
export function isScope(scope: string): boolean {
  return Object.hasOwn(scopes, scope) || Object.hasOwn(scopeAliases, scope) || smartScope(scope) !== undefined
}

/** Types of which reading alone is of high risk: the audit trail says who saw which patient, and why the glass was broken. */
const guardedTypes: ReadonlySet<string> = new Set(['*', 'AuditEvent'])

/** Returns the risk of a scope. A SMART scope that writes, or reads every type or the audit trail, has a high one. */
export function riskOf(scope: string): Risk {
  const name = firstSpelling(scope)
  if (Object.hasOwn(scopes, name)) return scopes[name]!.risk
  const smart = smartScope(name)
  return smart && !guardedTypes.has(smart.type) && !/[cud]/.test(smart.interactions) ? 'Medium' : 'High'
}

/** Lists the names that are not scopes, each with the nearest scope; returns undefined if all are scopes. */
export function unknownScopes(names: readonly string[]): string | undefined {
  const unknown = names.filter(name => !isScope(name))
  return unknown.length > 0
    ? unknown.map(name => `There is no scope ${name}${didYouMean(nearestScope(name), '.')}`).join(' ')
    : undefined
}

/** Returns the scope that was probably meant. */
export function nearestScope(name: string): string | undefined {
  const found = /^system\/([A-Za-z]+)\.([a-z*]+)$/.exec(name)
  if (!found) return nearest(name, [...Object.keys(scopes), ...Object.keys(scopeAliases)])
  const [, type, permission] = found as unknown as [string, string, string]
  const near = `system/${nearest(type, resourceTypes) ?? type}.${permission}`
  return isScope(near) ? near : undefined
}

/** Returns true if `held` covers `wanted`: the same scope, or a SMART scope within a wider one. */
export function covers(held: readonly string[], wanted: string): boolean {
  if (held.includes(wanted)) return true
  const inner = smartScope(wanted)
  if (!inner) return false
  const allowed = held.map(smartScope).filter(scope => scope && (scope.type === '*' || scope.type === inner.type))
  return [...inner.interactions].every(letter => allowed.some(scope => scope!.interactions.includes(letter)))
}

type Permission = (type: string, interaction: Interaction) => boolean

const known = new Map<string, Permission>()

/** Returns the FHIR permissions of a list of scopes, as a predicate. */
export function grants(held: readonly string[]): Permission {
  const key = held.join(' ')
  const ready = known.get(key)
  if (ready) return ready
  const permission = compile(held)
  if (known.size > 1000) known.clear()
  known.set(key, permission)
  return permission
}

function compile(held: readonly string[]): Permission {
  const table = new Map<string, Set<string>>()
  const open = (type: string, interactions: string) => {
    const set = table.get(type) ?? new Set()
    for (const letter of interactions) set.add(letter)
    table.set(type, set)
  }
  for (const name of held) {
    const scope = Object.hasOwn(scopes, name) ? scopes[name] : undefined
    for (const [type, interactions] of Object.entries(scope?.fhir ?? {})) open(type, interactions)
    const wide = smartScope(name)
    if (wide) open(wide.type, wide.interactions)
  }
  const all = table.get('*')
  return (type, interaction) => all?.has(interaction) === true || table.get(type)?.has(interaction) === true
}

/** Returns the FHIR types that a consent to these scopes opens for reading; a wildcard opens all of them. */
export function typesOpenedBy(held: readonly string[]): string[] {
  const reads = (interactions: string): boolean => /[rs]/.test(interactions)
  const opened = held.flatMap(name => {
    const known = firstSpelling(name)
    const scope = Object.hasOwn(scopes, known) ? scopes[known] : undefined
    const own = Object.entries(scope?.fhir ?? {}).filter(([, interactions]) => reads(interactions))
    const wide = smartScope(name)
    const smart = wide && reads(wide.interactions) ? [wide.type] : []
    return [...own.map(([type]) => type), ...(scope?.consented ?? []), ...smart]
  })
  return opened.includes('*') ? [...resourceTypes] : [...new Set(opened)]
}
