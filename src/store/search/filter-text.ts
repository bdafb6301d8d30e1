// The text of `_filter` as a tree; what cannot be read is refused with its place (https://hl7.org/fhir/R4/search_filter.html).
import type { Failure } from '../../lib/failure.ts'
import { malformed, shown } from './query-text.ts'

/** `path operator value`, as in `subject.name co "pet"`. */
export interface FilterTest {
  readonly kind: 'test'
  readonly path: readonly FilterStep[]
  readonly operator: string
  readonly value: string
  /** Where the operator stands, counted from 1. */
  readonly at: number
}

/** One name of a path, with the filter in brackets behind it. */
export interface FilterStep {
  readonly name: string
  readonly filter: FilterNode | undefined
  /** Where the name stands, counted from 1. */
  readonly at: number
}

export type FilterNode =
  | FilterTest
  | { readonly kind: 'and' | 'or'; readonly parts: readonly FilterNode[] }
  | { readonly kind: 'not'; readonly part: FilterNode }

/** Filters within each other, and tests in all, that one `_filter` may hold. */
const deepest = 30
const mostTests = 200

interface Reader {
  readonly text: string
  at: number
  tests: number
}

/** Reads a filter. @throws Failure MALFORMED_REQUEST with the character at which it stops making sense. */
export function parseFilter(text: string): FilterNode {
  const reader: Reader = { text, at: 0, tests: 0 }
  const node = readFilter(reader, 0)
  skipSpace(reader)
  if (reader.at < text.length) throw unexpected(reader, '"and", "or" or the end')
  return node
}

/** A problem with a place, counted from 1. */
export function filterProblem(at: number, message: string): Failure {
  return malformed('_filter', `_filter, at character ${at}: ${message}`)
}

// "Logical expressions are evaluated left to right, with no precedence": a or b and c is (a or b) and c.
function readFilter(reader: Reader, depth: number): FilterNode {
  if (depth > deepest) throw filterProblem(reader.at + 1, `more than ${deepest} nested filters.`)
  let left = readOperand(reader, depth)
  for (;;) {
    const kind = takeWord(reader, /(?:and|or)(?![\w-])/iy)?.toLowerCase() as 'and' | 'or' | undefined
    if (!kind) return left
    const right = readOperand(reader, depth)
    left = left.kind === kind ? { kind, parts: [...left.parts, right] } : { kind, parts: [left, right] }
  }
}

function readOperand(reader: Reader, depth: number): FilterNode {
  if (takeWord(reader, /not\s*(?=\()/iy)) return { kind: 'not', part: readGroup(reader, depth) }
  if (peek(reader) === '(') return readGroup(reader, depth)
  return readTest(reader, depth)
}

function readGroup(reader: Reader, depth: number): FilterNode {
  const opened = reader.at + 1
  reader.at += 1
  const node = readFilter(reader, depth + 1)
  if (peek(reader) !== ')') throw unexpected(reader, `"and", "or" or the ")" for the "(" at character ${opened}`)
  reader.at += 1
  return node
}

function readTest(reader: Reader, depth: number): FilterTest {
  if (++reader.tests > mostTests) throw filterProblem(reader.at + 1, `more than ${mostTests} tests.`)
  const path = readPath(reader, depth)
  skipSpace(reader)
  const at = reader.at + 1
  const operator = takeWord(reader, /[a-z]{2}(?=\s|$)/iy)
  if (!operator) throw unexpected(reader, `an operator such as eq after "${shown(path.at(-1)!.name)}"`)
  return { kind: 'test', path, operator: operator.toLowerCase(), value: readValue(reader), at }
}

function readPath(reader: Reader, depth: number): FilterStep[] {
  const steps: FilterStep[] = []
  do {
    if (steps.length > 0) reader.at += 1
    skipSpace(reader)
    const at = reader.at + 1
    const name = takeWord(reader, /[A-Za-z_][\w:-]*/y)
    if (!name) throw unexpected(reader, 'the name of a search parameter, "not (" or "("')
    steps.push({ name, filter: reader.text[reader.at] === '[' ? readBracket(reader, depth) : undefined, at })
  } while (reader.text[reader.at] === '.')
  return steps
}

function readBracket(reader: Reader, depth: number): FilterNode {
  const opened = reader.at + 1
  reader.at += 1
  const node = readFilter(reader, depth + 1)
  if (peek(reader) !== ']') throw unexpected(reader, `"and", "or" or the "]" for the "[" at character ${opened}`)
  reader.at += 1
  if (reader.text[reader.at] !== '.')
    throw unexpected(reader, 'a dot and a parameter after "]", as in subject[active eq true].name')
  return node
}

/** A JSON string, or everything up to a space or a closing bracket. */
function readValue(reader: Reader): string {
  if (peek(reader) !== '"') {
    const bare = takeWord(reader, /[^\s\])]+/y)
    if (!bare) throw unexpected(reader, 'a value')
    return bare
  }
  const at = reader.at + 1
  const quoted = takeWord(reader, /"(?:[^"\\]|\\.)*"/sy)
  if (!quoted) throw filterProblem(at, 'the quote that opens here is not closed.')
  return readQuoted(quoted, at)
}

function readQuoted(quoted: string, at: number): string {
  let value: string
  try {
    value = JSON.parse(quoted) as string
  } catch {
    throw filterProblem(at, 'this is not a JSON string: a backslash can only precede " \\ / b f n r t u.')
  }
  // The one character that no text in the database can hold.
  if (value.includes('\0')) throw filterProblem(at, 'the string contains a NUL character.')
  return value
}

function takeWord(reader: Reader, pattern: RegExp): string | undefined {
  skipSpace(reader)
  pattern.lastIndex = reader.at
  const word = pattern.exec(reader.text)?.[0]
  if (word) reader.at += word.length
  return word
}

function peek(reader: Reader): string | undefined {
  skipSpace(reader)
  return reader.text[reader.at]
}

function skipSpace(reader: Reader): void {
  while (/\s/.test(reader.text[reader.at] ?? '')) reader.at += 1
}

function unexpected(reader: Reader, wanted: string): Failure {
  const rest = reader.text.slice(reader.at)
  return filterProblem(
    reader.at + 1,
    `expected ${wanted}, found ${rest === '' ? 'the end' : `"${rest.length > 30 ? `${rest.slice(0, 30)}…` : rest}"`}.`,
  )
}
