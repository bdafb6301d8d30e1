// Suggests the word that the sender of an unknown word probably meant.

/** The candidate that was probably meant; undefined if none is near. Letter case counts for less than other letters. */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  if (word.length > 40) return undefined
  const limit = word.length < 4 ? 1 : 2
  let best: string | undefined
  let least = limit + 1
  const wanted = word.toLowerCase()
  for (const candidate of candidates) {
    // Each letter more or less is a step.
    if (Math.abs(candidate.length - word.length) >= least) continue
    const away = distance(wanted, candidate.toLowerCase())
    if (away < least) {
      best = candidate
      least = away
    }
  }
  return best
}

/** The URL that was probably meant: its last part is near, and the rest the same. */
export function nearestUrl(url: string, candidates: readonly string[]): string | undefined {
  const end = url.lastIndexOf('/') + 1
  const base = url.slice(0, end)
  const ends = candidates.filter(each => each.startsWith(base)).map(each => each.slice(end))
  const meant = nearest(url.slice(end), ends)
  return meant === undefined ? undefined : base + meant
}

/** The question that ends a message about an unknown word; `otherwise` where nothing was probably meant. */
export const didYouMean = (meant: string | undefined, otherwise = ''): string =>
  meant ? `; did you mean \`${meant}\`?` : otherwise

/** The name that was probably meant: one near in letters, one with the word as a part, or one with these initials. */
export function nearestName(word: string, names: readonly string[]): string | undefined {
  const wanted = word.toLowerCase()
  const parts = (name: string): string[] => name.split(/[^A-Za-z0-9]+/)
  const initials = (name: string): string =>
    parts(name)
      .map(part => part.slice(0, 1))
      .join('')
  return (
    nearest(word, names) ??
    names.find(name => parts(name).includes(wanted)) ??
    (word.length > 1 ? names.find(name => initials(name) === wanted) : undefined)
  )
}

/** How many letters must be added, dropped, changed, or swapped with their neighbour to get from one word to the other. */
export function distance(a: string, b: string): number {
  let older: number[] = []
  let above = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (let row = 1; row <= a.length; row++) {
    const current = [row]
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1]
      let least = Math.min(above[column]! + 1, current[column - 1]! + 1, above[column - 1]! + (same ? 0 : 1))
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]
      if (swapped) least = Math.min(least, older[column - 2]! + 1)
      current.push(least)
    }
    older = above
    above = current
  }
  return above[b.length]!
}
