// The places of all members and entries of a JSON file, by the names and indexes that lead to them.

import type { Span } from '../fml/ast.ts'
import { MAX_PROBLEMS, NOWHERE } from '../fml/problem.ts'
import { tokensIn } from '../lib/json-tokens.ts'

export type Path = readonly string[]

export interface JsonLocation {
  readonly path: Path
  /** The name of a member, or an entry as far as its first token goes. */
  readonly span: Span
}

/** An object or a list that is being read. */
interface Open {
  readonly path: Path
  readonly isList: boolean
  /** The member or entry that one is in; undefined before the name of a member. */
  last: string | undefined
}

/** Problems in deeper values are reported at an outer value. */
const DEEPEST = 20

/** All places of a text that is JSON, in order; a member that is written twice has two. */
export function placesIn(text: string): JsonLocation[] {
  const places: JsonLocation[] = []
  const open: Open[] = []
  const spanOf = spansIn(text)
  for (const { token, offset } of tokensIn(text)) {
    const around = open.at(-1)
    const note = (): void => {
      if (open.length <= DEEPEST) places.push({ path: [...around!.path, around!.last!], span: spanOf(token, offset) })
    }
    if (token === ':') continue
    if (token === '}' || token === ']') open.pop()
    else if (token === ',') around!.last = around!.isList ? String(Number(around!.last) + 1) : undefined
    else if (around && around.last === undefined) {
      around.last = String(JSON.parse(token))
      note()
    } else {
      if (around?.isList) note()
      if (token === '{' || token === '[') open.push(opened(token === '[', around, open.length))
    }
  }
  return places
}

function opened(isList: boolean, around: Open | undefined, depth: number): Open {
  const path = around && depth <= DEEPEST ? [...around.path, around.last!] : []
  return { path, isList, last: isList ? '0' : undefined }
}

/** The spans of tokens that come in order. */
function spansIn(text: string): (token: string, offset: number) => Span {
  let [line, start, next] = [1, 0, text.indexOf('\n')]
  return (token, offset) => {
    for (; next >= 0 && next < offset; next = text.indexOf('\n', start)) {
      line++
      start = next + 1
    }
    return { offset, length: token.length, line, column: offset - start + 1 }
  }
}

/** Returns the place that a path leads to; for a missing value, that of the value around it. */
export function spanOfPath(places: readonly JsonLocation[], path: Path): Span {
  for (let length = path.length; length > 0; length--) {
    const key = JSON.stringify(path.slice(0, length))
    // Of repeated members the last counts.
    const found = places.findLast(each => JSON.stringify(each.path) === key)
    if (found) return found.span
  }
  return NOWHERE
}

/** Returns the places of members that repeat a name in the same object; members within them are not reported again. */
export function repeatedIn(places: readonly JsonLocation[]): JsonLocation[] {
  const known = new Set<string>()
  const repeated: JsonLocation[] = []
  for (const place of places) {
    const key = JSON.stringify(place.path)
    const isInside = (outer: JsonLocation): boolean => outer.path.every((each, index) => each === place.path[index])
    if (known.has(key) && !repeated.some(isInside)) repeated.push(place)
    known.add(key)
    if (repeated.length === MAX_PROBLEMS) break
  }
  return repeated
}
