// Numbers that look random and are the same for the same seed (mulberry32).

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
