// Checks where nodes of trees and problems say they are.

interface Place {
  readonly offset: number
  readonly length: number
  readonly line: number
  readonly column: number
}

/** The spans within a value that are not in the text, or on another line or column than they say. */
export function outside(value: unknown, text: string, starts = lineStarts(text)): unknown[] {
  if (Array.isArray(value)) return value.flatMap(each => outside(each, text, starts))
  if (value === null || typeof value !== 'object') return []
  return Object.entries(value).flatMap(([key, inner]) =>
    key === 'span' ? misplaced(inner as Place, text, starts) : outside(inner, text, starts),
  )
}

function lineStarts(text: string): number[] {
  return [0, ...[...text.matchAll(/\n/g)].map(match => match.index + 1)]
}

function misplaced(span: Place, text: string, starts: readonly number[]): unknown[] {
  const { offset, length, line, column } = span
  const start = starts[line - 1]
  const end = starts[line] ?? text.length + 1
  const fits = length >= 0 && offset >= 0 && offset + length <= text.length
  return fits && start !== undefined && start + column - 1 === offset && offset < end ? [] : [span]
}
