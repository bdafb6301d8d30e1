// The permissions that result from the rules of all consents of a patient. What no permission covers is refused, so
// each permission can be looked up on its own. Of the rules that one party has recorded, the most particular decides;
// of two equally particular rules, the refusal decides. A permission of another party never overrides a refusal.
import { resourceTypes } from '../../definitions/r4.ts'
import type { Code } from './codes.ts'
import { purposes as knownPurposes } from './purposes.ts'
import type { Rule } from './rules.ts'

/** A permission. */
export interface Grant {
  /** `Organization/id` */
  readonly organization: string
  readonly from: number
  readonly until: number
  /** Undefined: all types. */
  readonly types: readonly string[] | undefined
  /** The resource has one of these; undefined: whatever it has. */
  readonly codes: readonly Code[] | undefined
  /** It has none of these. */
  readonly except: readonly Code[]
  /** Undefined: for any purpose. */
  readonly purposes: readonly string[] | undefined
  readonly consent: string
}

/** A rule and its recorder: a text that distinguishes one author from another. */
export interface RecordedRule extends Rule {
  readonly author: string
}

/** Returns the permissions that these rules give from `now` on. */
export function grantsOf(rules: readonly RecordedRule[], now: number): Grant[] {
  const organizations = new Set(rules.flatMap(({ organization }) => organization ?? []))
  return [...organizations].flatMap(organization => {
    const own = rules.filter(rule => rule.organization === undefined || rule.organization === organization)
    return spansOf(own, now).flatMap(({ from, until }) =>
      grantsIn(own.filter(rule => rule.from <= from && rule.until >= until)).map(grant => ({
        ...grant,
        organization,
        // What is valid now is valid by every clock.
        from: from === now ? Number.NEGATIVE_INFINITY : from,
        until,
      })),
    )
  })
}

/** Returns the intervals within which no rule begins or ends. */
function spansOf(rules: readonly RecordedRule[], now: number): { from: number; until: number }[] {
  const ends = rules.flatMap(({ from, until }) => [from, until]).filter(time => time > now)
  const times = [...new Set([now, Number.POSITIVE_INFINITY, ...ends])].sort((a, b) => (a < b ? -1 : 1))
  return times.slice(1).map((until, index) => ({ from: times[index]!, until }))
}

type Part = Pick<Grant, 'codes' | 'except' | 'consent'>
type Timeless = Omit<Grant, 'organization' | 'from' | 'until'>

function grantsIn(rules: readonly RecordedRule[]): Timeless[] {
  const refusalsFirst = [...rules.filter(isRefusal), ...rules.filter(rule => !isRefusal(rule))]
  const inOrder = refusalsFirst.sort((a, b) => b.weight - a.weight)
  const named = new Set(rules.flatMap(rule => rule.purposes ?? []))
  const groups = grouped(knownPurposes, named, purpose =>
    typed(inOrder.filter(rule => rule.purposes?.includes(purpose) ?? true)),
  )
  const isAny = groups.length === 1
  return groups.flatMap(({ members, value }) => value.map(each => ({ ...each, purposes: isAny ? undefined : members })))
}

/** Returns the permissions for one purpose, each for the types to which the same rules apply. */
function typed(rules: readonly RecordedRule[]): Omit<Timeless, 'purposes'>[] {
  const named = new Set(rules.flatMap(rule => rule.types ?? []))
  const groups = grouped(resourceTypes, named, type =>
    partsOf(rules.filter(rule => rule.types?.includes(type) ?? true)),
  )
  return groups.flatMap(({ members, value }) =>
    value.map(part => ({ ...part, types: groups.length > 1 ? members : undefined })),
  )
}

/** Returns the rules in order, as the codes that a resource must have and must not have to be permitted by each. */
function partsOf(rules: readonly RecordedRule[]): Part[] {
  const parties = [...Map.groupBy(rules, ({ author }) => author).values()].map(deciding)
  return parties.flatMap(own => {
    const refused = parties.filter(other => other !== own).flatMap(other => other.filter(isRefusal))
    return refused.some(({ codes }) => codes === undefined) ? [] : permitted(own, refused.flatMap(codesOf))
  })
}

/** Returns the rules that can apply: after a rule without codes, no other rule decides. */
function deciding(rules: readonly RecordedRule[]): readonly RecordedRule[] {
  const last = rules.findIndex(({ codes }) => codes === undefined)
  return last < 0 ? rules : rules.slice(0, last + 1)
}

const isRefusal = ({ effect }: Rule): boolean => effect === 'deny'
const codesOf = ({ codes }: Rule): readonly Code[] => codes ?? []

function permitted(rules: readonly Rule[], refused: readonly Code[]): Part[] {
  const except = [...refused]
  return rules.flatMap(rule => {
    if (!isRefusal(rule)) return [{ codes: rule.codes, except: [...except], consent: rule.consent }]
    except.push(...codesOf(rule))
    return []
  })
}

interface Group<Value> {
  readonly members: string[]
  readonly value: Value
}

/** Groups the members that give the same result; all members that no rule names form one group. */
function grouped<Value>(
  all: readonly string[],
  named: ReadonlySet<string>,
  comesOut: (member: string) => Value,
): Group<Value>[] {
  const groups = new Map<string, Group<Value>>()
  const add = (members: readonly string[]): void => {
    if (members.length === 0) return
    const value = comesOut(members[0]!)
    const text = JSON.stringify(value)
    const group = groups.get(text)
    if (group) group.members.push(...members)
    else groups.set(text, { members: [...members], value })
  }
  for (const member of all) if (named.has(member)) add([member])
  add(all.filter(member => !named.has(member)))
  return [...groups.values()]
}
