// The terms of a Consent for each organisation that it names, whether or not its period has begun: read as the consent rules read
// it for access decisions. https://hl7.org/fhir/R4/consent.html https://profiles.ihe.net/ITI/PCF/

import { endOfYears } from '../lib/day.ts'
import { isObject, type JsonObject } from '../lib/json.ts'
import type { Base } from '../store/base.ts'
import { dateInterval } from '../store/dates.ts'
import { objects } from '../store/values.ts'
import { codeIn, codingsIn, extension, targetOf } from './elements.ts'

/** The terms of a consent for an organisation. */
export interface Terms {
  /** `void`: in force, and opens nothing to the organisation, though the patient has not refused it. */
  readonly standing: 'requested' | 'granted' | 'denied' | 'void' | 'over'
  readonly type: string | null
  /** When it ends, in UTC; null: never, or unknown. */
  readonly expiresAt: string | null
  /** The content of the terms: different terms have different wordings. */
  readonly wording: unknown
}

/** Most organisations that are notified of one Consent. */
const mostOrganizations = 1000

/** Deepest nesting of provisions. */
const deepest = 5

/** The terms for every organisation (ids) that a Consent about privacy names; none of any other. @param base address of this server's FHIR endpoint */
export function termsOf(consent: JsonObject | undefined, base: Base): Map<string, Terms> {
  if (!consent || !codingsIn(consent['scope']).some(({ code }) => code === 'patient-privacy')) return new Map()
  const provisions = provisionsOf(consent, base)
  const actors = provisions.flatMap(({ organizations = [] }) => [...organizations])
  const named = actors.length > 0 ? [...actors, ...openedTo(provisions)] : keepersOf(consent, base)
  return new Map([...new Set(named)].slice(0, mostOrganizations).flatMap(id => termsFor(id, consent, provisions) ?? []))
}

interface Provision {
  readonly permits: boolean
  /** Ids; undefined: it names no actors. */
  readonly organizations: ReadonlySet<string> | undefined
  /** The custodians of the consent, to which a permission applies that names no organisation. */
  readonly keepers: ReadonlySet<string>
  readonly until: number
  readonly wording: JsonObject
  readonly depth: number
}

function provisionsOf(consent: JsonObject, base: Base): Provision[] {
  const outermost: Provision = {
    permits: codingsIn(consent['policyRule']).some(({ code }) => code === 'OPTIN' || code === 'OPTINR'),
    organizations: undefined,
    keepers: new Set(keepersOf(consent, base)),
    until: Number.POSITIVE_INFINITY,
    wording: {},
    depth: 0,
  }
  return within(isObject(consent['provision']) ? consent['provision'] : {}, outermost, base)
}

/** Returns a provision and its exceptions. @param frame supplies what the provision leaves out */
function within(provision: JsonObject, frame: Provision, base: Base): Provision[] {
  const { actor, provision: inner, ...wording } = provision
  const { type, period } = provision
  const own: Provision = {
    ...frame,
    permits: type === 'permit' || (type !== 'deny' && frame.permits),
    organizations: objects(actor).length > 0 ? new Set(organizationsIn(objects(actor), base)) : frame.organizations,
    until: Math.min(frame.until, endOf(period)),
    wording,
  }
  if (own.depth >= deepest) return [own]
  // An exception without a type is the opposite of the provision that contains it.
  const exception = { ...own, permits: !own.permits, depth: own.depth + 1 }
  return [own, ...objects(inner).flatMap(each => within(each, exception, base))]
}

/** What begins and ends with whole days ends after its last one. */
function endOf(period: unknown): number {
  const end = isObject(period) ? period['end'] : undefined
  const interval = typeof end === 'string' ? dateInterval(end) : undefined
  if (!interval) return Number.POSITIVE_INFINITY
  return String(end).includes('T') ? interval.low : interval.high + 1
}

const keepersOf = (consent: JsonObject, base: Base): string[] =>
  objects(consent['organization']).flatMap(each => organizationId(each, base) ?? [])

const organizationsIn = (actors: readonly JsonObject[], base: Base): string[] =>
  actors.flatMap(({ reference }) => organizationId(reference, base) ?? [])

function organizationId(reference: unknown, base: Base): string | undefined {
  const target = targetOf(reference, base)
  return target?.type === 'Organization' ? target.id : undefined
}

const openedTo = (provisions: readonly Provision[]): string[] =>
  provisions.filter(({ permits }) => permits).flatMap(({ organizations, keepers }) => [...(organizations ?? keepers)])

function termsFor(id: string, consent: JsonObject, provisions: readonly Provision[]): [string, Terms][] | undefined {
  const own = provisions.filter(each => isAbout(each, id))
  if (own.length === 0) return undefined
  const permitting = own.filter(({ permits, organizations, keepers }) => permits && (organizations ?? keepers).has(id))
  const type = codeIn(extension(consent, 'consent-type', 'valueCode'))
  const standing = standingOf(consent['status'], permitting.length > 0, type !== null)
  if (!standing) return undefined
  const until = Math.max(...(permitting.length > 0 ? permitting : own).map(each => each.until))
  const wording = [type, ...own.map(each => [each.permits, each.wording])]
  return [[id, { standing, type, expiresAt: momentAt(until), wording }]]
}

/** A refusal that names no known organisation applies to all. */
function isAbout({ permits, organizations }: Provision, id: string): boolean {
  if (organizations === undefined || (!permits && organizations.size === 0)) return true
  return organizations.has(id)
}

function standingOf(status: unknown, permits: boolean, isOurs: boolean): Terms['standing'] | undefined {
  switch (status) {
    case 'proposed':
      return 'requested'
    case 'active':
      return permits ? 'granted' : isOurs ? 'void' : 'denied'
    case 'rejected':
      return 'denied'
    case 'inactive':
      return 'over'
    default:
      return undefined
  }
}

const momentAt = (time: number): string | null => (time < endOfYears ? new Date(time).toISOString() : null)
