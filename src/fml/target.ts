// The right side of a rule: the targets of its values. https://hl7.org/fhir/R4/mapping-language.html#7.7.0.7.2

import type { Position } from '../fhirpath/ast.ts'
import { functions } from '../fhirpath/functions/table.ts'
import { nearest } from '../lib/nearest.ts'
import type { Argument, Invocation, ListMode, Name, Path, Target, TargetListMode, Transform } from './ast.ts'
import { argument, embedded, literal, parenthesized } from './expression.ts'
import { path } from './path.ts'
import { shown } from './problem.ts'
import type { Reader } from './reader.ts'

/** What the mapping language has had since R4. https://build.fhir.org/ig/HL7/fhir-mapping-language/transforms.html */
export const LATER_TRANSFORMS: readonly string[] = [
  ...['toDate', 'toDateTime', 'toTime', 'unixToDate', 'unixToDateTime', 'unixToTime'],
]

/** https://hl7.org/fhir/R4/valueset-map-transform.html, and the later ones */
const TRANSFORMS: readonly string[] = [
  ...['create', 'copy', 'truncate', 'escape', 'cast', 'append', 'translate', 'reference', 'dateOp', 'uuid'],
  ...['pointer', 'evaluate', 'cc', 'c', 'qty', 'id', 'cp'],
  ...LATER_TRANSFORMS,
]

export const TARGET_LIST_MODES: readonly TargetListMode[] = ['first', 'share', 'last', 'single', 'collate']

/** One or more targets with commas between them. */
export function targets(reader: Reader): Target[] {
  const found = [target(reader)]
  while (reader.accept(',')) found.push(target(reader))
  return found
}

function target(reader: Reader): Target {
  const around = reader.surroundings()
  const { at } = reader.peek()
  let { path, transform } = assignment(reader)
  const as = reader.peek().at
  let variable = reader.acceptWord('as') ? reader.name('the name of a variable after `as`') : undefined
  if (path && variable && !transform && reader.at('=')) transform = late(reader, as, variable)
  const listModes: ListMode[] = []
  for (let mode = listMode(reader); mode; mode = listMode(reader)) listModes.push(mode)
  if (!variable && reader.acceptWord('as')) variable = reader.name('the name of a variable after `as`')
  return { kind: 'target', path, transform, variable, listModes, around: around(), span: reader.since(at) }
}

function assignment(reader: Reader): { path?: Path; transform?: Transform } {
  if (reader.at('(')) return { transform: parenthesized(reader) }
  const start = reader.next
  const read = path(reader, 'a target such as `tgt.name`')
  if (reader.at('(')) {
    reader.next = start
    return { transform: named(reader) }
  }
  return reader.accept('=') ? { path: read, transform: transform(reader) } : { path: read }
}

/** `tgt.x as y = v` where the language wants `tgt.x = v as y`. @param as where `as` stands */
function late(reader: Reader, as: Position, variable: Name): Transform {
  reader.take()
  const value = transform(reader)
  const right = `= ${reader.text.slice(value.span.offset, reader.last().end)} as ${variable.text}`
  reader.report(`the value comes before the variable: ${shown(right)}`, reader.since(as), right)
  return value
}

function transform(reader: Reader): Transform {
  const start = reader.next
  if (reader.at('%')) return bare(reader, start)
  if (reader.at('(') || reader.at('{')) return enclosed(reader)
  const value = literal(reader)
  if (value) return isExpression(reader) ? bare(reader, start) : value
  const { kind } = reader.peek()
  if (kind !== 'name' && kind !== 'quoted') reader.fail(`a value is missing after \`=\`; found ${reader.found()}`)
  if (reader.at('(', 1)) return named(reader)
  const copied = plainPath(reader)
  return isExpression(reader) || reader.at('(') || reader.at('[') ? bare(reader, start) : copied
}

function enclosed(reader: Reader): Transform {
  const start = reader.next
  if (reader.at('{')) return embedded(reader)
  const value = parenthesized(reader)
  return isExpression(reader) || reader.at('.') ? bare(reader, start) : value
}

function plainPath(reader: Reader): Path {
  const { at } = reader.peek()
  const names = [reader.name('a variable')]
  while (reader.accept('.')) names.push(reader.name('the name of an element after the dot'))
  return { kind: 'path', names, span: reader.since(at) }
}

const OPERATORS = new Set(['+', '-', '*', '/', '&', '|', '<', '>', '<=', '>=', '=', '!=', '~', '!~'])
const OPERATOR_WORDS = new Set(['and', 'or', 'xor', 'implies', 'div', 'mod', 'in', 'contains', 'is'])

function isExpression(reader: Reader): boolean {
  const { kind, text } = reader.peek()
  return (kind === 'symbol' && OPERATORS.has(text)) || (kind === 'name' && OPERATOR_WORDS.has(text))
}

/** `'a' + b` where the language wants `('a' + b)`: understood, but not how it is written. */
function bare(reader: Reader, start: number): Transform {
  reader.next = start
  const value = embedded(reader)
  reader.report('put the FHIRPath expression in parentheses', value.span, `(${value.text})`)
  return value
}

function named(reader: Reader): Transform {
  const start = reader.next
  const name = reader.name('the name of a transform')
  if (!TRANSFORMS.includes(name.text)) {
    if (functions.has(name.text)) return bare(reader, start)
    const meant = nearest(name.text, TRANSFORMS)
    const way = meant
      ? `did you mean \`${meant}\`?`
      : `there are ${TRANSFORMS.filter(each => each !== 'dateOp').join(', ')}`
    reader.report(`there is no transform ${shown(name.text)}; ${way}`, name.span, meant)
  }
  const made = call(reader, name)
  return isExpression(reader) || reader.at('.') ? bare(reader, start) : made
}

/** The call of a transform, whose name may have been read. */
export function call(reader: Reader, name = reader.name('the name of a transform')): Invocation {
  return { kind: 'call', name, args: args(reader), span: reader.since(name.span) }
}

/** What stands in the parentheses of a transform or of a group that is called. */
export function args(reader: Reader): Argument[] {
  const open = reader.take()
  const found: Argument[] = []
  if (reader.accept(')')) return found
  do {
    if (reader.at(')') || reader.at(','))
      reader.fail(`a value is missing between the parentheses; found ${reader.found()}`)
    found.push(argument(reader))
  } while (reader.accept(','))
  if (!reader.accept(')')) {
    reader.report('the parenthesis that opens here is never closed', reader.spanOfToken(open), ')', reader.behind())
  }
  return found
}

function listMode(reader: Reader): ListMode | undefined {
  const { at, kind, text, fresh } = reader.peek()
  if (kind !== 'name' || text === 'then') return undefined
  const next = reader.peek(1)
  const isName = (next.kind === 'symbol' && (next.text === '.' || next.text === '->')) || fresh
  const mode = TARGET_LIST_MODES.find(each => each === text) ?? (isName ? undefined : misspelt(reader))
  if (!mode) return undefined
  reader.take()
  const share = mode === 'share' ? reader.name('the name of the shared element') : undefined
  return { mode, share, span: reader.since(at) }
}

function misspelt(reader: Reader): TargetListMode | undefined {
  const token = reader.peek()
  const meant = TARGET_LIST_MODES.includes(token.text as TargetListMode)
    ? undefined
    : nearest(token.text, [...TARGET_LIST_MODES, 'then', 'as', 'where'])
  const mode = TARGET_LIST_MODES.find(each => each === meant)
  if (mode) reader.misspelt(token, mode)
  return mode
}
