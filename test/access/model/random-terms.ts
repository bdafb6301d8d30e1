// Terms of consents made at random.
import type { Random } from '../../support/random.ts'
import { type Kind, kinds, type Terms } from './terms.ts'

export const codes = ['75622-1', '718-7', 'laboratory'] as const

const some = <T>(random: Random, from: readonly T[]): T[] | undefined => {
  const found = from.filter(() => random.chance(45))
  return found.length > 0 ? found : undefined
}

/** @param organizations whom it may name @param needsActor it is not about everybody */
export function termsBy(random: Random, organizations: readonly string[], needsActor = false, depth = 0): Terms {
  const effect = random.chance(depth === 0 ? 60 : 45) ? 'permit' : 'deny'
  const named = some(random, organizations) ?? [random.pick(organizations)]
  const isNamed = effect === 'permit' ? depth === 0 || random.chance(70) : random.chance(needsActor ? 100 : 50)
  const types = random.chance(35) ? some<Kind>(random, kinds) : undefined
  const inner = random.chance(45) && depth < 2 ? 1 + random.below(2) : 0
  const exceptions = Array.from({ length: inner }, () => termsBy(random, organizations, needsActor, depth + 1))
  return {
    effect,
    ...(isNamed && { organizations: named }),
    ...(types && { types }),
    ...(random.chance(30) && { codes: [random.pick(codes)] }),
    ...(random.chance(15) && { purpose: random.pick(['TREAT', 'HRESCH'] as const) }),
    ...(depth === 0 && random.chance(10) && { time: random.pick(['past', 'future'] as const) }),
    exceptions,
  }
}

/** A permission that names nobody is for the keeper of the consent: here every outermost permission names somebody, and so do those within what names nobody. */
export function named(terms: Terms, organizations: readonly string[], isKnown = false): Terms {
  const knows = isKnown || terms.organizations !== undefined
  const own = terms.effect === 'permit' && !knows ? { ...terms, organizations: [organizations[0]!] } : terms
  const known = own.organizations !== undefined || isKnown
  return { ...own, exceptions: own.exceptions.map(each => named(each, organizations, known)) }
}
