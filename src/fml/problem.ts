// What is wrong with a map, said to its author: where, what, and what to write instead.

import type { Position } from '../fhirpath/ast.ts'
import type { Span } from './ast.ts'

/** Replacing what stands in `span` by `replacement` resolves the problem; an empty span is a place to insert at. */
export interface Fix {
  readonly span: Span
  readonly replacement: string
}

export interface Problem {
  readonly message: string
  readonly span: Span
  readonly fix?: Fix
  readonly file?: string
}

/** After this many a text is not read further: it is not a map. */
export const MAX_PROBLEMS = 100

/** The span from a place to an offset behind it. */
export function spanOf(at: Position, end: number): Span {
  return { offset: at.offset, length: end - at.offset, line: at.line, column: at.column }
}

/** Where nothing was read: in trees that were not made from text. */
export const NOWHERE: Span = { offset: 0, length: 0, line: 1, column: 1 }

/** A name or a piece of text as it is shown in a message, in backticks, on one line and not too long. */
export function shown(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim()
  return `\`${line.length > 60 ? `${line.slice(0, 57)}…` : line}\``
}

/** The candidate that was probably meant; undefined if none is near. Letter case counts for less than other letters. */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  if (word.length > 40) return undefined
  const limit = word.length < 4 ? 1 : 2
  let best: string | undefined
  let least = limit + 1
  for (const candidate of candidates) {
    const away = distance(word.toLowerCase(), candidate.toLowerCase())
    if (away < least) {
      best = candidate
      least = away
    }
  }
  return best
}

/** How many letters must be added, dropped, changed, or swapped with their neighbour to get from one word to the other. */
function distance(a: string, b: string): number {
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
