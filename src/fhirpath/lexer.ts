// Cuts the text of a FHIRPath expression into tokens. http://hl7.org/fhirpath/N1/grammar.html

import type { Position } from './ast.ts'
import { FhirPathError } from './errors.ts'

export type TokenKind =
  | 'name'
  | 'quoted'
  | 'string'
  /** Double-quoted text: only in maps, where it is another way to write a string. */
  | 'text'
  | 'number'
  | 'date'
  | 'dateTime'
  | 'time'
  | 'special'
  | 'symbol'
  | 'end'

export interface Token {
  readonly kind: TokenKind
  /** The token's meaning: quotes, `@` and `$` removed, escapes decoded. */
  readonly text: string
  readonly at: Position
}

/** Expressions with more tokens than this are refused: no honest one comes near. */
const MAX_TOKENS = 10_000

const PATTERNS: readonly (readonly [TokenKind | 'space', RegExp])[] = [
  ['space', /(?:\s+|\/\/[^\r\n]*|\/\*[\s\S]*?\*\/)+/y],
  ['name', /[A-Za-z_][A-Za-z0-9_]*/y],
  ['number', /\d+(?:\.\d+)?/y],
  ['string', /'(?:[^'\\]|\\[\s\S])*'/y],
  ['quoted', /`(?:[^`\\]|\\[\s\S])*`/y],
  ['time', /@T\d\d(?::\d\d(?::\d\d(?:\.\d+)?)?)?/y],
  ['dateTime', /@\d{4}(?:T|-\d\d(?:T|-\d\dT(?:\d\d(?::\d\d(?::\d\d(?:\.\d+)?)?)?(?:Z|[+-]\d\d:\d\d)?)?))/y],
  ['date', /@\d{4}(?:-\d\d(?:-\d\d)?)?/y],
  ['special', /\$(?:this|index|total)\b/y],
  ['symbol', /!=|!~|<=|>=|[.,()[\]{}+\-*/&|<>=~%]/y],
]

/**
 * The tokens of an expression, the last one of kind `end`. Whitespace and comments are left out.
 * http://hl7.org/fhirpath/N1/#comments
 */
export function tokenize(text: string): Token[] {
  const tokens: Token[] = []
  const place = tracker(text)
  let offset = 0
  while (offset < text.length) {
    const [kind, raw] = match(text, offset, place)
    if (kind !== 'space') tokens.push({ kind, text: meaning(kind, raw, place(offset)), at: place(offset) })
    if (tokens.length > MAX_TOKENS) throw new FhirPathError('syntax', 'the expression is too long', place(offset))
    offset += raw.length
  }
  tokens.push({ kind: 'end', text: '', at: place(offset) })
  return tokens
}

function match(
  text: string,
  offset: number,
  place: (offset: number) => Position,
): readonly [TokenKind | 'space', string] {
  for (const [kind, pattern] of PATTERNS) {
    pattern.lastIndex = offset
    const found = pattern.exec(text)
    if (found) {
      if (found[0] === '/' && text[offset + 1] === '*') break
      return [kind, found[0]]
    }
  }
  throw new FhirPathError('syntax', unreadable(text, offset), place(offset))
}

function unreadable(text: string, offset: number): string {
  const char = text[offset]
  if (char === "'") return 'this string has no closing quote'
  if (char === '`') return 'this identifier has no closing backtick'
  if (char === '/') return 'this comment is not closed'
  if (char === '@') return 'this is not a date, a dateTime or a time'
  return `unexpected character ${JSON.stringify(char)}`
}

/** Line and column of ascending offsets, without starting again from the top for each. */
function tracker(text: string): (offset: number) => Position {
  let line = 1
  let lineStart = 0
  let seen = 0
  return offset => {
    for (; seen < offset; seen++) {
      if (text[seen] === '\n') {
        line++
        lineStart = seen + 1
      }
    }
    return { offset, line, column: offset - lineStart + 1 }
  }
}

function meaning(kind: TokenKind, raw: string, at: Position): string {
  if (kind === 'string' || kind === 'quoted') return decoded(raw.slice(1, -1), at)
  if (kind === 'time') return raw.slice(2)
  if (kind === 'date' || kind === 'dateTime' || kind === 'special') return raw.slice(1)
  return raw
}

const ESCAPES: Readonly<Record<string, string>> = { f: '\f', n: '\n', r: '\r', t: '\t' }

function decoded(text: string, at: Position): string {
  if (!text.includes('\\')) return text
  return text.replace(/\\(u([0-9A-Fa-f]{4})?|[\s\S])/g, (_, char: string, hex: string | undefined) => {
    if (hex) return String.fromCharCode(Number.parseInt(hex, 16))
    if (char === 'u') throw new FhirPathError('syntax', '\\u must be followed by four hexadecimal digits', at)
    return ESCAPES[char] ?? char
  })
}
