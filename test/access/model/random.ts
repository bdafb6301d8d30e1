// Numbers that look random and are the same for the same seed (mulberry32), and terms of consents made by them.
import { type Kind, kinds, type Terms } from './terms.ts'

export interface Random {
  /** From 0 up to, and without, the limit. */
  below(limit: number): number
  pick<T>(from: readonly T[]): T
  /** True in so many of a hundred cases. */
  chance(percent: number): boolean
}

export function randomOf(seed: number): Random {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (limit: number): number => Math.floor(next() * limit)
  return { below, pick: from => from[below(from.length)]!, chance: percent => below(100) < percent }
}

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
