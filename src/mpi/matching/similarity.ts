// How alike two words are: Jaro-Winkler, which forgives slips and letters that changed places, most of all late in a word.

/** From 0 (nothing in common) to 1 (the same). */
export function jaroWinkler(a: string, b: string): number {
  if (a === b) return 1
  const alike = jaro(a, b)
  let prefix = 0
  while (prefix < 4 && a[prefix] === b[prefix]) prefix++
  return alike + prefix * 0.1 * (1 - alike)
}

function jaro(a: string, b: string): number {
  const reach = Math.max(0, Math.floor(Math.max(a.length, b.length) / 2) - 1)
  const taken: boolean[] = []
  const ofA: string[] = []
  for (let at = 0; at < a.length; at++) {
    const end = Math.min(b.length, at + reach + 1)
    for (let other = Math.max(0, at - reach); other < end; other++) {
      if (taken[other] || a[at] !== b[other]) continue
      taken[other] = true
      ofA.push(a[at]!)
      break
    }
  }
  const common = ofA.length
  if (common === 0) return 0
  const ofB = b.split('').filter((_, at) => taken[at])
  const moved = ofA.filter((letter, at) => letter !== ofB[at]).length / 2
  return (common / a.length + common / b.length + (common - moved) / common) / 3
}

/** True if one slip leads from one text of digits to the other: a digit, or two neighbours swapped. */
export function isOneSlip(a: string, b: string): boolean {
  if (a.length !== b.length || a === b) return false
  let first = 0
  while (a[first] === b[first]) first++
  if (a.slice(first + 1) === b.slice(first + 1)) return true
  return a[first] === b[first + 1] && a[first + 1] === b[first] && a.slice(first + 2) === b.slice(first + 2)
}
