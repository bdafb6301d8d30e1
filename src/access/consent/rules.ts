// What a FHIR Consent says, as rules: who may or may not see which part of the patient's data, when, and what for. Read as IHE
// Privacy Consent on FHIR writes it, and in R4's own way (policyRule beside provisions).
// https://hl7.org/fhir/R4/consent.html https://profiles.ihe.net/ITI/PCF/

import { isResourceType } from '../../definitions/r4.ts'
import { isObject, type JsonObject } from '../../lib/json.ts'
import type { Base } from '../../store/base.ts'
import { dateInterval } from '../../store/dates.ts'
import { objects, referenceTarget, text } from '../../store/values.ts'
import { type Code, withEquals } from './codes.ts'

export interface Rule {
  readonly effect: 'permit' | 'deny'
  /** `Organization/id`; undefined: any organisation. */
  readonly organization: string | undefined
  /** Resource types; undefined: all. */
  readonly types: readonly string[] | undefined
  /** The resource has one of these codes; undefined: any resource. */
  readonly codes: readonly Code[] | undefined
  /** Codes of v3-ActReason; undefined: any purpose. */
  readonly purposes: readonly string[] | undefined
  /** Milliseconds; the end is not part of it. */
  readonly from: number
  readonly until: number
  /** How particular the rule is: the rule with the greatest weight decides. */
  readonly weight: number
  /** Id of the Consent. */
  readonly consent: string
}

const actReason = 'http://terminology.hl7.org/CodeSystem/v3-ActReason'
const optIn = new Set(['OPTIN', 'OPTINR'])

/** An exception is more particular than the rule that it is an exception from, whatever that rule names. */
const exceptionWeight = 10

/**
 * Returns the rules of a Consent that is active and about privacy, and no rules for any other. A permission with a part
 * that cannot be evaluated here permits nothing; a refusal with such a part refuses more. So no client sees what the
 * patient did not mean to open.
 * @param base address of this server's FHIR endpoint
 */
export function rulesOf(consent: JsonObject, base: Base): Rule[] {
  if (consent['status'] !== 'active' || !isAboutPrivacy(consent)) return []
  const root = isObject(consent['provision']) ? consent['provision'] : {}
  const whole: Frame = {
    effect: effectOf(root) ?? policyEffect(consent),
    organizations: undefined,
    types: undefined,
    codes: undefined,
    purposes: undefined,
    from: Number.NEGATIVE_INFINITY,
    until: Number.POSITIVE_INFINITY,
    actions: [],
    hasUnsupported: consent['modifierExtension'] !== undefined,
    depth: 0,
    custodians: objects(consent['organization']).flatMap(each => organization(each, base)),
    consent: String(consent['id']),
    base,
  }
  return rulesIn(root, whole)
}

/** Returns the id of the patient that a Consent is about, or undefined if it does not refer to a patient of this server. */
export function patientIn({ patient }: JsonObject, base: Base): string | undefined {
  const target = targetOf(patient, base)
  return target?.startsWith('Patient/') ? target.slice('Patient/'.length) : undefined
}

/** Returns the target of a Reference on this server, as `Patient/ada`. */
function targetOf(value: unknown, base: Base): string | undefined {
  const reference = isObject(value) ? value['reference'] : undefined
  return typeof reference === 'string' ? referenceTarget(reference, base) : undefined
}

const deny = 'https://profiles.ihe.net/ITI/PCF/Policy-deny'

/** Returns true for a refusal without the emergency exception that the policy provides for. */
export function refusesEmergencies({ status, policy, provision }: JsonObject): boolean {
  if (status !== 'active' || !objects(policy).some(({ uri }) => uri === deny)) return false
  const exceptions = objects(isObject(provision) && provision['provision'])
  return !exceptions.some(
    ({ type, purpose }) => type === 'permit' && objects(purpose).some(({ code }) => code === 'BTG'),
  )
}

function isAboutPrivacy(consent: JsonObject): boolean {
  const scope = objects(isObject(consent['scope']) && consent['scope']['coding'])
  return scope.some(({ code }) => code === 'patient-privacy')
}

function effectOf({ type }: JsonObject): Rule['effect'] | undefined {
  return type === 'permit' || type === 'deny' ? type : undefined
}

/** R4 leaves the type of the root rule to the policy, opting in or out. An unknown policy opens nothing. */
function policyEffect({ policyRule }: JsonObject): Rule['effect'] {
  const codes = objects(isObject(policyRule) && policyRule['coding'])
  return codes.some(({ code }) => optIn.has(String(code))) ? 'permit' : 'deny'
}

/** The context of a provision: what the enclosing provision states, unless the provision states something else. */
interface Frame {
  readonly effect: Rule['effect']
  readonly organizations: Stated<string> | undefined
  readonly types: Stated<string> | undefined
  readonly codes: Stated<Code> | undefined
  readonly purposes: Stated<string> | undefined
  readonly from: number
  readonly until: number
  /** The actions, as concepts; none: any action. */
  readonly actions: readonly JsonObject[]
  /** True if it is narrowed to something that cannot be evaluated here. */
  readonly hasUnsupported: boolean
  readonly depth: number
  /** The custodians of the consent: the recipients of a permission that names none. */
  readonly custodians: readonly string[]
  readonly consent: string
  readonly base: Base
}

/** The values that a provision names, as far as they can be evaluated here. */
interface Stated<T> {
  readonly values: readonly T[]
  /** False if some of them cannot be evaluated. */
  readonly isAll: boolean
}

/** A provision that names nothing inherits from the enclosing one. */
function inherited<T>(
  named: readonly JsonObject[],
  read: (each: JsonObject) => readonly T[],
  around: Stated<T> | undefined,
): Stated<T> | undefined {
  if (named.length === 0) return around
  const values = named.map(read)
  return { values: values.flat(), isAll: values.every(({ length }) => length > 0) }
}

// A refusal counts at every depth: the store bounds how deep resources are nested.
function rulesIn(provision: JsonObject, frame: Frame): Rule[] {
  const own = narrowed(provision, frame)
  const exceptions = objects(provision['provision']).flatMap(each =>
    rulesIn(each, {
      ...own,
      // An exception without a type is the opposite of the provision that it stands in.
      effect: effectOf(each) ?? (own.effect === 'permit' ? 'deny' : 'permit'),
      depth: frame.depth + 1,
    }),
  )
  return [...ruleOf(own), ...exceptions]
}

function narrowed(provision: JsonObject, frame: Frame): Frame {
  const period = periodOf(provision)
  const named = (name: string): JsonObject[] => objects(provision[name])
  return {
    ...frame,
    organizations: inherited(named('actor'), each => organization(each['reference'], frame.base), frame.organizations),
    types: inherited(named('class'), ({ code }) => [String(code)].filter(isResourceType), frame.types),
    codes: inherited(named('code'), each => codesOf(each).flatMap(withEquals), frame.codes),
    purposes: inherited(
      named('purpose'),
      ({ system, code }) => (system === actReason ? [String(code)] : []),
      frame.purposes,
    ),
    from: Math.max(frame.from, period.from),
    until: Math.min(frame.until, period.until),
    actions: named('action').length > 0 ? named('action') : frame.actions,
    hasUnsupported: frame.hasUnsupported || unsupported.some(name => provision[name] !== undefined),
  }
}

/** Elements that narrow a rule in ways that no search, or nothing in this service, can evaluate. */
const unsupported = ['securityLabel', 'data', 'dataPeriod', 'modifierExtension']

/** Returns no codes for a concept that is stated in words alone. */
const codesOf = ({ coding }: JsonObject): Code[] =>
  objects(coding).flatMap(({ system, code }) =>
    typeof code === 'string' ? [{ system: text(system) ?? '', code }] : [],
  )

function periodOf({ period }: JsonObject): { from: number; until: number } {
  const { start, end } = isObject(period) ? period : {}
  return {
    from:
      start === undefined ? Number.NEGATIVE_INFINITY : (dateInterval(String(start))?.low ?? Number.POSITIVE_INFINITY),
    // "If the end of the period has a date only, it includes that day": up to the moment after it.
    until: end === undefined ? Number.POSITIVE_INFINITY : endOf(String(end)),
  }
}

function endOf(end: string): number {
  const interval = dateInterval(end)
  if (!interval) return Number.NEGATIVE_INFINITY
  return end.includes('T') ? interval.low : interval.high + 1
}

/** Returns the organisation that the reference names, or nothing for any other target. */
function organization(reference: unknown, base: Base): string[] {
  const target = targetOf(reference, base)
  return target?.startsWith('Organization/') ? [target] : []
}

/** Actions that are about seeing data, and those that are not (http://terminology.hl7.org/CodeSystem/consentaction). */
const seeing = new Set(['access', 'use', 'disclose'])
const other = new Set(['collect', 'correct'])

function ruleOf(frame: Frame): Rule[] {
  const { effect, types, codes, purposes, from, until, hasUnsupported, depth, consent } = frame
  if (!isAboutSeeing(frame) || (effect === 'permit' && hasUnsupported)) return []
  const organizations = recipients(frame)
  const named = [organizations[0], types, codes, purposes].filter(each => each !== undefined).length
  const weight = depth * exceptionWeight + named
  const listed = <T>(of: Stated<T> | undefined) => (effect === 'deny' && !of?.isAll ? undefined : of?.values)
  return organizations.map(each => ({
    effect,
    organization: each,
    types: listed(types),
    codes: listed(codes),
    purposes: listed(purposes),
    from,
    until,
    weight,
    consent,
  }))
}

/**
 * A permission must name an action that is about seeing data. A refusal covers all actions except those known to be
 * about something else.
 */
function isAboutSeeing({ actions, effect }: Frame): boolean {
  const isOne = (of: ReadonlySet<string>) => (each: JsonObject) => codesOf(each).some(({ code }) => of.has(code))
  if (actions.length === 0) return true
  return effect === 'permit' ? actions.some(isOne(seeing)) : !actions.every(isOne(other))
}

/**
 * A permission that names no recipient is for the custodian of the consent. A refusal that names an unknown recipient
 * is for all.
 */
function recipients({ effect, organizations, custodians }: Frame): readonly (string | undefined)[] {
  if (effect === 'permit') return organizations?.values ?? custodians
  return organizations?.isAll ? organizations.values : [undefined]
}
