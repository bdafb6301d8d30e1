// Finds maps by their canonical URL; an import may write `*` as a wildcard.

import { unversioned } from '../fml/structures.ts'

/** Returns the value of a URL, or of all that match it. */
export function matching<Value>(byUrl: ReadonlyMap<string, Value>, url: string): Value[] {
  const [start = '', ...ends] = unversioned(url).split('*')
  if (ends.length > 0) return [...byUrl].filter(([each]) => fits(each, start, ends)).map(([, value]) => value)
  const found = byUrl.get(start)
  return found === undefined ? [] : [found]
}

/** True if a URL begins with `start`, and goes on with the other pieces in their order, the last one at its end. */
function fits(url: string, start: string, pieces: readonly string[]): boolean {
  if (!url.startsWith(start)) return false
  let from = start.length
  for (const piece of pieces.slice(0, -1)) {
    const place = url.indexOf(piece, from)
    if (place < 0) return false
    from = place + piece.length
  }
  return url.endsWith(pieces.at(-1)!) && url.length - pieces.at(-1)!.length >= from
}
