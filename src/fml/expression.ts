// FHIRPath expressions and values inside maps. http://hl7.org/fhirpath/N1/

import { FhirPathError } from '../fhirpath/errors.ts'
import { parseAt } from '../fhirpath/parser.ts'
import type { Argument, Embedded, Literal, Path } from './ast.ts'
import { spanOf } from './problem.ts'
import { isMark } from './quotation.ts'
import { type Reader, STOP } from './reader.ts'
import type { MapToken } from './scanner.ts'
import { quoted } from './text.ts'

/** The expression that begins here, as far as it goes. */
export function embedded(reader: Reader): Embedded {
  const from = reader.next
  const start = reader.peek().at
  try {
    const { expression, next } = parseAt(reader.tokens, from)
    reader.next = next
    const tokens = reader.tokens.slice(from, next)
    reader.skipComments()
    return { kind: 'expression', text: normal(tokens, reader.text), expression, span: reader.since(start) }
  } catch (error) {
    if (!(error instanceof FhirPathError)) throw error
    reader.next = Math.max(from, indexAt(reader.tokens, from, error.at.offset))
    const said = error.expected
      ? `${error.expected.replaceAll("'", '`')} is missing; found ${reader.found()}`
      : error.message.replace(/^.*?: /, '')
    reader.fail(`the FHIRPath expression is not valid: ${said}`)
  }
}

/** The expression in parentheses that begins here. */
export function parenthesized(reader: Reader): Embedded {
  const open = reader.take()
  if (reader.at(')')) reader.fail('a FHIRPath expression is missing between the parentheses')
  const inner = embedded(reader)
  if (reader.accept(')')) return inner
  reader.report('the parenthesis that opens here is never closed', spanOf(open.at, open.end), ')', reader.behind())
  return inner
}

/** `(a)` and `a` are the same condition; parentheses that enclose only a part stay. */
export function condition(reader: Reader): Embedded {
  const from = reader.next
  const whole = embedded(reader)
  const tokens = reader.tokens.slice(from, reader.next)
  if (!isEnclosed(tokens)) return whole
  return { ...whole, text: normal(tokens.slice(1, -1), reader.text) }
}

function isEnclosed(tokens: readonly MapToken[]): boolean {
  if (tokens.length < 3 || !isSymbol(tokens[0]!, '(')) return false
  let depth = 0
  for (let index = 0; index < tokens.length; index++) {
    const token = tokens[index]!
    if (isSymbol(token, '(')) depth++
    else if (isSymbol(token, ')') && --depth === 0) return index === tokens.length - 1
  }
  return false
}

function isSymbol(token: MapToken, symbol: string): boolean {
  return token.kind === 'symbol' && token.text === symbol
}

function indexAt(tokens: readonly MapToken[], from: number, offset: number): number {
  let index = from
  while (index < tokens.length - 1 && tokens[index]!.at.offset < offset) index++
  return index
}

const VALUES = { string: 'String', text: 'String', date: 'Date', dateTime: 'DateTime', time: 'Time' } as const
const CALENDAR = /^(year|month|week|day|hour|minute|second|millisecond)s?$/

/** The literal that begins here, if one does; a sign belongs to its number. */
export function literal(reader: Reader): Literal | undefined {
  const token = reader.peek()
  const { at, kind } = token
  if (kind === 'number' || (isSymbol(token, '-') && reader.peek(1).kind === 'number')) return number(reader)
  const isTruth = kind === 'name' && (token.text === 'true' || token.text === 'false')
  const type = isTruth ? 'Boolean' : Object.hasOwn(VALUES, kind) ? VALUES[kind as keyof typeof VALUES] : undefined
  if (!type) return undefined
  reader.take()
  return { kind: 'literal', type, text: token.text, span: reader.since(at) }
}

function number(reader: Reader): Literal {
  const { at } = reader.peek()
  const sign = reader.accept('-') ? '-' : ''
  const digits = reader.take().text
  const type = digits.includes('.') ? 'Decimal' : 'Integer'
  const value = { kind: 'literal', text: sign + digits } as const
  const unit = reader.peek()
  if (unit.kind === 'string') {
    reader.take()
    return { ...value, type: 'Quantity', unit: unit.text, span: reader.since(at) }
  }
  if (unit.kind === 'name' && CALENDAR.test(unit.text)) {
    reader.take()
    return { ...value, type: 'Quantity', unit: unit.text.replace(/s$/, ''), calendar: true, span: reader.since(at) }
  }
  if (reader.atWord('L') && reader.touching() && type === 'Integer') {
    reader.take()
    return { ...value, type: 'Long', span: reader.since(at) }
  }
  return { ...value, type, span: reader.since(at) }
}

const ENDS = new Set([',', ')', ';'])

/** What is handed to a transform or a group: a value, a variable (or elements of one), or an expression. */
export function argument(reader: Reader): Argument {
  const from = reader.next
  const simple = literal(reader) ?? dotted(reader)
  const end = reader.peek()
  if (simple && ((end.kind === 'symbol' && ENDS.has(end.text)) || end.kind === 'end')) return simple
  reader.next = from
  return embedded(reader)
}

function dotted(reader: Reader): Path | undefined {
  const { at, kind } = reader.peek()
  if (kind !== 'name' && kind !== 'quoted') return undefined
  const names = [reader.name('a name')]
  while (reader.at('.') && (reader.peek(1).kind === 'name' || reader.peek(1).kind === 'quoted')) {
    reader.take()
    names.push(reader.name('a name'))
  }
  return { kind: 'path', names, span: reader.since(at) }
}

/** Reads with `read`; undefined where that gave up. */
export function attempt<Value>(read: () => Value): Value | undefined {
  try {
    return read()
  } catch (reason) {
    if (reason !== STOP) throw reason
    return undefined
  }
}

/** The expression in standard FHIRPath, with even spacing; unchanged if it contains comments. */
function normal(tokens: readonly MapToken[], text: string): string {
  const first = tokens[0]!
  const last = tokens.at(-1)!
  if (first.comments !== last.comments) return text.slice(first.at.offset, last.end)
  let result = ''
  for (let index = 0; index < tokens.length; index++) {
    const token = tokens[index]!
    if (index > 0 && spaced(tokens, index)) result += ' '
    result +=
      token.kind === 'text' || typographic(token, text)
        ? quoted(token.text, "'")
        : text.slice(token.at.offset, token.end)
  }
  return result
}

function typographic(token: MapToken, text: string): boolean {
  return token.kind === 'string' && isMark(text[token.at.offset]!)
}

const TIGHT_BEFORE = new Set(['.', ',', ')', ']', '}', '['])
const TIGHT_AFTER = new Set(['.', '(', '[', '{', '%'])
const OPERATOR_WORDS = new Set(['and', 'or', 'xor', 'implies', 'div', 'mod', 'in', 'contains', 'is', 'as'])

function spaced(tokens: readonly MapToken[], index: number): boolean {
  const left = tokens[index - 1]!
  const right = tokens[index]!
  if (right.kind === 'symbol' && TIGHT_BEFORE.has(right.text)) return false
  if (left.kind === 'symbol' && TIGHT_AFTER.has(left.text)) return false
  if (isSymbol(right, '(')) return left.kind === 'symbol' || isOperator(tokens, index - 1)
  return !isSign(tokens, index - 1)
}

function isSign(tokens: readonly MapToken[], index: number): boolean {
  const token = tokens[index]!
  if (!isSymbol(token, '-') && !isSymbol(token, '+')) return false
  const left = tokens[index - 1]
  if (!left) return true
  return left.kind === 'symbol' ? !')]}'.includes(left.text) : isOperator(tokens, index - 1)
}

/** A word such as `and` is an operator only where an operand stands before it. */
function isOperator(tokens: readonly MapToken[], index: number): boolean {
  const token = tokens[index]!
  if (token.kind !== 'name' || !OPERATOR_WORDS.has(token.text)) return false
  const left = tokens[index - 1]
  if (!left) return false
  return left.kind === 'symbol' ? ')]}'.includes(left.text) : !isOperator(tokens, index - 1)
}
