// A problem of a map, for its author: where, what, and what to write instead.

import type { Position } from '../fhirpath/ast.ts'
import type { Span } from './ast.ts'

/** Replacing what stands in `span` by `replacement` resolves the problem; an empty span is a place to insert at. */
export interface Fix {
  readonly span: Span
  readonly replacement: string
}

export interface Problem {
  readonly message: string
  /** Absent: an error. A map with warnings alone works. */
  readonly severity?: 'warning'
  readonly span: Span
  readonly fix?: Fix
  readonly file?: string
}

/** Those that are no mere warnings. */
export function errorsIn(problems: readonly Problem[]): readonly Problem[] {
  return problems.filter(each => each.severity !== 'warning')
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
