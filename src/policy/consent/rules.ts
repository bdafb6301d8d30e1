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
  /** `Organization/id`; undefined: whoever it is. */
  readonly organization: string | undefined
  /** Resource types; undefined: all. */
  readonly types: readonly string[] | undefined
  /** The resource has one of these codes; undefined: whatever it has. */
  readonly codes: readonly Code[] | undefined
  /** Codes of v3-ActReason; undefined: any purpose. */
  readonly purposes: readonly string[] | undefined
  /** Milliseconds; the end is not part of it. */
  readonly from: number
  readonly until: number
  /** How much it is about something in particular: the rule with the greatest weight decides. */
  readonly weight: number
  /** Id of the Consent. */
  readonly consent: string
}

const actReason = 'http://terminology.hl7.org/CodeSystem/v3-ActReason'
const optIn = new Set(['OPTIN', 'OPTINR'])

/** An exception is more particular than what it is an exception from, whatever that names. */
const exceptionWeight = 10

/**
 * The rules of a Consent that is active and about privacy; none of any other. What a permission says and cannot be told here
 * makes it permit nothing, and what a refusal says so makes it refuse more: nobody sees what the patient did not mean.
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
    depth: 0,
    custodians: objects(consent['organization']).flatMap(each => organization(each, base) ?? []),
    consent: String(consent['id']),
    base,
  }
  return rulesIn(root, whole)
}

/** Id of the patient whom a Consent is about; undefined if it does not refer to one of this server. */
export function patientIn({ patient }: JsonObject, base: Base): string | undefined {
  const reference = isObject(patient) ? patient['reference'] : undefined
  const target = typeof reference === 'string' ? referenceTarget(reference, base) : undefined
  return target?.startsWith('Patient/') ? target.slice('Patient/'.length) : undefined
}

const deny = 'https://profiles.ihe.net/ITI/PCF/Policy-deny'

/** Refused without the exception for emergencies that the policy provides for. */
export function refusesEmergencies({ status, policy, provision }: JsonObject): boolean {
  if (status !== 'active' || !objects(policy).some(({ uri }) => uri === deny)) return false
  const exceptions = isObject(provision) ? objects(provision['provision']) : []
  return !exceptions.some(
    ({ type, purpose }) => type === 'permit' && objects(purpose).some(({ code }) => code === 'BTG'),
  )
}

function isAboutPrivacy(consent: JsonObject): boolean {
  const scope = isObject(consent['scope']) ? objects(consent['scope']['coding']) : []
  return scope.some(({ code }) => code === 'patient-privacy')
}

function effectOf({ type }: JsonObject): Rule['effect'] | undefined {
  return type === 'permit' || type === 'deny' ? type : undefined
}

/** R4 leaves the type of the root rule to the policy: opting in or out; unknown, it opens nothing. */
function policyEffect({ policyRule }: JsonObject): Rule['effect'] {
  const codes = isObject(policyRule) ? objects(policyRule['coding']).map(({ code }) => String(code)) : []
  return codes.some(code => optIn.has(code)) ? 'permit' : 'deny'
}

/** What a provision is read within: what the one around it says, unless it says something else itself. */
interface Frame {
  readonly effect: Rule['effect']
  readonly organizations: readonly string[] | undefined
  readonly types: readonly string[] | undefined
  readonly codes: readonly Code[] | undefined
  readonly purposes: readonly string[] | undefined
  readonly from: number
  readonly until: number
  readonly depth: number
  /** Who keeps the consent: those whom a permission is for that names nobody. */
  readonly custodians: readonly string[]
  readonly consent: string
  readonly base: Base
}

const deepest = 5

function rulesIn(provision: JsonObject, frame: Frame): Rule[] {
  const own = narrowed(provision, frame)
  const { depth } = frame
  const inner = depth < deepest ? objects(provision['provision']) : []
  const exceptions = inner.flatMap(each =>
    rulesIn(each, {
      ...own,
      // An exception that does not say so is one: the opposite of what it stands in.
      effect: effectOf(each) ?? (own.effect === 'permit' ? 'deny' : 'permit'),
      depth: depth + 1,
    }),
  )
  return [...ruleOf(provision, own), ...exceptions]
}

function narrowed(provision: JsonObject, frame: Frame): Frame {
  const period = periodOf(provision)
  const actors = objects(provision['actor'])
  const classes = objects(provision['class'])
  const codes = objects(provision['code']).flatMap(each => objects(each['coding']))
  const purposes = objects(provision['purpose'])
  return {
    ...frame,
    organizations:
      actors.length > 0
        ? actors.flatMap(each => organization(each['reference'], frame.base) ?? [])
        : frame.organizations,
    types: classes.length > 0 ? classes.map(({ code }) => String(code)).filter(isResourceType) : frame.types,
    codes: codes.length > 0 ? codes.flatMap(codeOf).flatMap(withEquals) : frame.codes,
    purposes:
      purposes.length > 0
        ? purposes.filter(({ system }) => system === actReason).map(({ code }) => String(code))
        : frame.purposes,
    from: Math.max(frame.from, period.from),
    until: Math.min(frame.until, period.until),
  }
}

const codeOf = ({ system, code }: JsonObject): Code[] =>
  typeof code === 'string' ? [{ system: text(system) ?? '', code }] : []

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

function organization(reference: unknown, base: Base): string | undefined {
  const target = isObject(reference) ? referenceTarget(String(reference['reference'] ?? ''), base) : undefined
  return target?.startsWith('Organization/') ? target : undefined
}

/** What a rule can be narrowed to that no search knows. */
const untold = ['securityLabel', 'data', 'dataPeriod']
/** Actions that are about seeing data. */
const seeing = new Set(['access', 'use', 'disclose'])

function ruleOf(provision: JsonObject, frame: Frame): Rule[] {
  const { effect, types, codes, purposes, from, until, depth, consent } = frame
  const actions = objects(provision['action']).flatMap(each => objects(each['coding']))
  if (actions.length > 0 && !actions.some(({ code }) => seeing.has(String(code)))) return []
  const isUntold = untold.some(name => provision[name] !== undefined)
  if (effect === 'permit' && isUntold) return []
  const organizations = recipients(frame)
  const named = [organizations[0], types, codes, purposes].filter(each => each !== undefined).length
  const weight = depth * exceptionWeight + named
  const whole = <T>(values: readonly T[] | undefined) =>
    effect === 'deny' && values?.length === 0 ? undefined : values
  return organizations.map(each => ({
    effect,
    organization: each,
    types: whole(types),
    codes: whole(codes),
    purposes: whole(purposes),
    from,
    until,
    weight,
    consent,
  }))
}

/** A permission that names nobody is for whoever keeps the consent; a refusal that names nobody known here is for everybody. */
function recipients({ effect, organizations, custodians }: Frame): readonly (string | undefined)[] {
  if (effect === 'permit') return organizations ?? custodians
  return organizations && organizations.length > 0 ? organizations : [undefined]
}
