// Who sees what by consent, said a second time: from docs/decisions, without SQL and without what the service decides by.
import type { Effect, Kind, Terms } from './terms.ts'

/** A resource, by what consents can name of it. */
export interface Thing {
  readonly type: Kind
  readonly codes: readonly string[]
}

/** A provision with all that it has from those around it, for one organisation; undefined: for everybody. */
export interface Rule {
  readonly effect: Effect
  readonly organization: string | undefined
  readonly types: readonly Kind[] | undefined
  readonly codes: readonly string[] | undefined
  readonly purpose: string | undefined
  readonly time: Terms['time']
  /** How many provisions stand around it, and how many things it names: the more particular rule of a party decides. */
  readonly depth: number
  readonly names: number
}

/** The rules of a consent that is in force. */
export function rulesIn(terms: Terms, around: Partial<Terms> = {}, depth = 0): Rule[] {
  const own = { ...around, ...terms, time: terms.time ?? around.time }
  const { effect, organizations, types, codes, purpose, time } = own
  const names = [organizations, types, codes, purpose].filter(each => each !== undefined).length
  const rule = { effect, types, codes, purpose, time, depth, names }
  const rules = (organizations ?? [undefined]).map(organization => ({ ...rule, organization }))
  return [...rules, ...terms.exceptions.flatMap(each => rulesIn(each, own, depth + 1))]
}

export interface Recorded {
  readonly rule: Rule
  readonly party: string
}

/**
 * True if an organisation sees something for treatment. Of what one party recorded the most particular rule decides, and of two
 * alike the refusal. A refusal stands against what other parties permit, for what it names, unless the party that recorded
 * it lifts it for the whole type by a more particular rule; an exception by code opens by the permission of its own party alone.
 */
export const isOpen = (recorded: readonly Recorded[], organization: string, thing: Thing): boolean =>
  openers(recorded, organization, thing).length > 0

/** The parties by whose permission it is open. */
export function openers(recorded: readonly Recorded[], organization: string, thing: Thing): string[] {
  const about = recorded.filter(({ rule }) => concerns(rule, organization, thing))
  const parties = [...new Set(about.map(({ party }) => party))].map(party => ({
    party,
    rules: about.flatMap(each => (each.party === party ? [each.rule] : [])).sort(byParticularity),
  }))
  return parties.flatMap(own => {
    const stands = parties.every(other => other === own || !refuses(other.rules, thing))
    return permits(own.rules, thing) && stands ? [own.party] : []
  })
}

const concerns = ({ organization, types, purpose, time }: Rule, asking: string, { type }: Thing): boolean =>
  (organization === undefined || organization === asking) &&
  (types === undefined || types.includes(type)) &&
  (purpose === undefined || purpose === 'TREAT') &&
  time === undefined

const byParticularity = (a: Rule, b: Rule): number =>
  b.depth - a.depth || b.names - a.names || (a.effect === 'deny' ? -1 : 1) - (b.effect === 'deny' ? -1 : 1)

const hits = ({ codes }: Rule, thing: Thing): boolean =>
  codes === undefined || codes.some(code => thing.codes.includes(code))

const permits = (rules: readonly Rule[], thing: Thing): boolean =>
  rules.find(rule => hits(rule, thing))?.effect === 'permit'

function refuses(rules: readonly Rule[], thing: Thing): boolean {
  const last = rules.findIndex(({ codes }) => codes === undefined)
  const reached = last < 0 ? rules : rules.slice(0, last + 1)
  return reached.some(rule => rule.effect === 'deny' && hits(rule, thing))
}
