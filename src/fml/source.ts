// The left side of a rule: where its values come from. https://hl7.org/fhir/R4/mapping-language.html#7.7.0.7.1

import { nearest } from '../lib/nearest.ts'
import type { Embedded, Literal, Path, Source, SourceListMode } from './ast.ts'
import { condition, literal, parenthesized } from './expression.ts'
import { path, typeName } from './path.ts'
import { shown } from './problem.ts'
import type { Reader } from './reader.ts'

type Draft = { -readonly [Key in keyof Source]?: Source[Key] }

export const SOURCE_LIST_MODES: readonly SourceListMode[] = ['first', 'not_first', 'last', 'not_last', 'only_one']
const WORDS = ['default', 'as', 'where', 'check', 'log', ...SOURCE_LIST_MODES]

/** One or more sources with commas between them. */
export function sources(reader: Reader): Source[] {
  const found = [source(reader)]
  while (reader.accept(',')) found.push(source(reader))
  return found
}

function source(reader: Reader): Source {
  const around = reader.surroundings()
  const { at } = reader.peek()
  const read = path(reader, 'a source such as `src.name`')
  if (reader.at('(')) refuseFunction(reader, read)
  const draft: Draft = {}
  while (clause(reader, draft));
  return { kind: 'source', path: read, ...draft, around: around(), span: reader.since(at) }
}

function refuseFunction(reader: Reader, read: Path): never {
  const name = shown(`${read.names.at(-1)!.text}(`)
  reader.fail(
    `${name} begins a FHIRPath function, which cannot be part of a path; write a condition after it, \`where (…)\``,
  )
}

/** Reads one of the things that can follow a path, in any order; false where there is none. */
function clause(reader: Reader, draft: Draft): boolean {
  const token = reader.peek()
  if (reader.at(':')) return once(reader, draft, 'type', () => typeName(reader))
  if (token.kind === 'number') return once(reader, draft, 'cardinality', () => cardinality(reader), false)
  const word = token.kind === 'name' ? keyword(reader) : undefined
  if (!word) return false
  if (word === 'as') return once(reader, draft, 'variable', () => reader.name('the name of a variable after `as`'))
  if (word === 'default') return once(reader, draft, 'default', () => fallback(reader))
  if (word === 'where' || word === 'check') return once(reader, draft, word, () => tested(reader, word, draft))
  if (word === 'log') return once(reader, draft, 'log', () => tested(reader, word, draft))
  return once(reader, draft, 'listMode', () => word as SourceListMode)
}

/** The clause's word, or the one that was meant where nothing but such a word can stand. */
function keyword(reader: Reader): string | undefined {
  const token = reader.peek()
  if (WORDS.includes(token.text)) return token.text
  if (
    token.text === 'then' ||
    token.fresh ||
    reader.at('.', 1) ||
    reader.at('=', 1) ||
    reader.at('->', 1) ||
    reader.at(';', 1)
  ) {
    return undefined
  }
  const meant = nearest(token.text, [...WORDS, 'then'])
  if (!meant || meant === 'then') return undefined
  reader.misspelt(token, meant)
  return meant
}

function once<Key extends keyof Draft>(
  reader: Reader,
  draft: Draft,
  key: Key,
  read: () => Draft[Key],
  mark = true,
): true {
  const token = reader.peek()
  if (mark) reader.take()
  if (draft[key] !== undefined) {
    reader.report(`${shown(token.text)} is repeated at the same source`, reader.spanOfToken(token))
  }
  draft[key] = read()
  return true
}

function cardinality(reader: Reader): Source['cardinality'] {
  const { at, text } = reader.take()
  const rule = 'write a cardinality like `0..1` or `1..*`'
  reader.expect('.', rule)
  reader.expect('.', rule)
  const max = reader.peek()
  if (max.kind !== 'number' && !reader.at('*')) reader.fail(`${rule}; found ${reader.found()}`)
  reader.take()
  const span = reader.since(at)
  if (!/^\d+$/.test(text) || (max.text !== '*' && !/^\d+$/.test(max.text))) reader.report(rule, span)
  return { min: Number(text), max: max.text === '*' ? Number.POSITIVE_INFINITY : Number(max.text), span }
}

function fallback(reader: Reader): Embedded | Literal {
  if (reader.at('(')) return parenthesized(reader)
  const value = literal(reader)
  if (!value) reader.fail(`a value is missing after \`default\`; found ${reader.found()}`)
  return value
}

function tested(reader: Reader, word: string, draft: Draft): Embedded {
  if (reader.at('->') || reader.at(';') || reader.at(','))
    reader.fail(`a FHIRPath expression is missing after \`${word}\``)
  return lateVariable(reader, condition(reader), draft)
}

/** `where (…) as v` reads as a conversion to the type `v`; a variable was meant, and stands before the condition. */
function lateVariable(reader: Reader, read: Embedded, draft: Draft): Embedded {
  const { expression } = read
  const isVariable =
    expression.kind === 'type' && expression.operator === 'as' && /^[a-z]/.test(expression.type[0]!) && !draft.variable
  if (!isVariable || !read.text.startsWith('(')) return read
  const last = reader.last()
  reader.report(
    `put the variable ${shown(`as ${last.text}`)} before the condition: \`as ${last.text} where (…)\``,
    reader.since(expression.at),
  )
  draft.variable = { kind: 'name', text: last.text, span: reader.spanOfToken(last) }
  return { ...read, expression: expression.input }
}
