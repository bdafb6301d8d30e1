// Reads a map in the FHIR Mapping Language, and recovers from errors. https://hl7.org/fhir/R4/mapping-language.html

import { nearest } from '../lib/nearest.ts'
import type { ConceptMap, Constant, Declaration, FmlMap, Group, Import, Metadata, Uses } from './ast.ts'
import { conceptMap } from './concept-map.ts'
import { attempt } from './expression.ts'
import { group } from './group.ts'
import { constant, declaration, imports, metadata, uses } from './header.ts'
import { MAX_PROBLEMS, NOWHERE, type Problem } from './problem.ts'
import { Reader } from './reader.ts'
import { isDeclaration, looksLikeRule } from './recovery.ts'
import { rules } from './rule.ts'

export interface Parsed {
  /** What could be read; complete if there are no problems. */
  readonly map: FmlMap
  /** In the order of the text. */
  readonly problems: readonly Problem[]
}

/** Longer texts are refused. */
export const MAX_CHARACTERS = 2_000_000

type Item = Declaration | Metadata | ConceptMap | Uses | Import | Constant | Group

const READERS = {
  map: declaration,
  conceptmap: conceptMap,
  uses,
  imports,
  let: constant,
  group,
} satisfies Record<string, (reader: Reader) => Item>
type Word = keyof typeof READERS
const WORDS = Object.keys(READERS) as Word[]

/**
 * Returns the map of a text, and all problems of the text; reading continues after a problem. Both R4's spelling and that of the
 * current incubator are read. Never throws, and takes time linear in the text.
 */
export function parse(text: string, file?: string): Parsed {
  if (text.length > MAX_CHARACTERS) {
    const message = `this text has ${text.length} characters; a map may have ${MAX_CHARACTERS}`
    return { map: assemble([], [], file, NOWHERE), problems: [{ message, span: NOWHERE, ...(file && { file }) }] }
  }
  const reader = new Reader(text)
  const items = declarations(reader)
  const closing = reader.closing()
  if (items.length === 0 && reader.problems.length === 0) reader.report('the text is empty; write a map', NOWHERE)
  const map = assemble(items, closing, file, { ...NOWHERE, length: text.length })
  return { map, problems: finished(reader.problems, file) }
}

function finished(found: readonly Problem[], file?: string): Problem[] {
  const problems = found
    .toSorted((a, b) => a.span.offset - b.span.offset)
    .slice(0, MAX_PROBLEMS)
    .map(problem => (file === undefined ? problem : { ...problem, file }))
  const last = problems.at(-1)
  if (problems.length < MAX_PROBLEMS) return problems
  return [
    ...problems.slice(0, -1),
    { ...last!, message: 'the text has too many problems; the rest was not checked', fix: undefined },
  ]
}

function declarations(reader: Reader): Item[] {
  const items: Item[] = []
  while (!reader.ended) {
    const start = reader.next
    const item = reader.at('///') ? attempt(() => metadata(reader)) : attempt(() => worded(reader))
    if (item) items.push(item)
    else skip(reader, start)
  }
  return items
}

function worded(reader: Reader): Item | undefined {
  const word = wordHere(reader)
  if (word) return READERS[word](reader)
  const token = reader.peek()
  const span = reader.spanOfToken(token)
  if (looksLikeRule(reader)) return outside(reader)
  if (reader.at('}')) reader.report('this brace has no opening brace', span, '')
  else if (reader.at(';')) reader.report('this semicolon is not needed', span, '')
  else reader.report(`${reader.found()} is not valid here; a map consists of ${list}`, span)
  return undefined
}

const list = WORDS.map(word => `\`${word}\``).join(', ')

function wordHere(reader: Reader): Word | undefined {
  const token = reader.peek()
  if (token.kind !== 'name') return undefined
  const exact = WORDS.find(word => word === token.text)
  if (exact && !reader.at('.', 1) && !reader.at('->', 1)) return exact
  const next = reader.peek(1)
  const isPlausible = next.kind === 'name' || next.kind === 'text' || next.kind === 'string'
  const meant = isPlausible ? (nearest(token.text, WORDS) as Word | undefined) : undefined
  if (!meant || looksLikeRule(reader)) return undefined
  reader.misspelt(token, meant)
  return meant
}

/** Reads a rule outside of any group, mostly caused by an extra closing brace before it: its problems are still reported. */
function outside(reader: Reader): undefined {
  const message = 'this rule is outside of a group; perhaps a brace before it closes the group too early'
  reader.report(message, reader.spanOfToken(reader.peek()))
  rules(reader)
  reader.accept('}')
}

/** After something that could not be read: to the next line that begins a declaration, a setting or a rule. */
function skip(reader: Reader, start: number): void {
  if (reader.next === start) reader.take()
  while (!reader.ended && !isBeginning(reader)) reader.take()
}

function isBeginning(reader: Reader): boolean {
  const token = reader.peek()
  if (reader.at('///') || reader.at('}')) return true
  if (!token.fresh) return false
  return isDeclaration(reader) || looksLikeRule(reader) || WORDS.includes(token.text as Word)
}

function assemble(
  items: readonly Item[],
  closing: FmlMap['closing'],
  file: string | undefined,
  span: FmlMap['span'],
): FmlMap {
  const of = <Kind extends Item['kind']>(kind: Kind) =>
    items.filter((item): item is Extract<Item, { kind: Kind }> => item.kind === kind)
  return {
    kind: 'map',
    file,
    declaration: of('declaration')[0],
    metadata: of('metadata'),
    conceptMaps: of('conceptmap'),
    uses: of('uses'),
    imports: of('import'),
    constants: of('constant'),
    groups: of('group'),
    closing,
    span,
  }
}
