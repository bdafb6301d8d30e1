// Concept maps within a map: which code becomes which. https://hl7.org/fhir/R4/mapping-language.html#7.7.0.4

import { nearest } from '../lib/nearest.ts'
import type { Code, ConceptMap, Mapping, MappingOperator, Name, Prefix, Text, Unmapped } from './ast.ts'
import { attempt } from './expression.ts'
import { text } from './header.ts'
import { shown, spanOf } from './problem.ts'
import type { Reader } from './reader.ts'
import { isDeclaration, skipLine } from './recovery.ts'
import { quoted } from './text.ts'

const OPERATORS: readonly MappingOperator[] = ['-', '=', '==', '!=', '--', '<=', '>=', '<-', '>-', '~']

/** `conceptmap "id" { … }` */
export function conceptMap(reader: Reader): ConceptMap {
  const around = reader.surroundings()
  const { at } = reader.take()
  const id = text(reader, 'the name of the concept map, in quotation marks,')
  const open = reader.expect('{', 'put the content of a concept map in braces')
  const opening = reader.opening()
  const prefixes: Prefix[] = []
  const known = new Set<string>()
  const unmapped: Unmapped[] = []
  const mappings: Mapping[] = []
  while (!reader.ended && !reader.at('}') && !isDeclaration(reader)) {
    const line = attempt(() => entry(reader, known))
    if (!line) skipLine(reader)
    else if (line.kind === 'prefix') {
      prefixes.push(line)
      known.add(line.name.text)
    } else if (line.kind === 'unmapped') unmapped.push(line)
    else mappings.push(line)
  }
  const closing = reader.closing()
  if (!reader.accept('}'))
    reader.report('the brace that opens here is never closed', spanOf(open.at, open.end), '\n}', reader.behind())
  reader.accept(';')
  const inside = { opening, closing }
  return { kind: 'conceptmap', id, prefixes, unmapped, mappings, inside, around: around(), span: reader.since(at) }
}

function entry(reader: Reader, prefixes: ReadonlySet<string>): Prefix | Unmapped | Mapping {
  if (reader.atWord('prefix') && !reader.at(':', 1)) return prefix(reader)
  if (reader.atWord('unmapped') && !reader.at(':', 1)) return unmapped(reader, prefixes)
  return mapping(reader, prefixes)
}

function prefix(reader: Reader): Prefix {
  const around = reader.surroundings()
  const { at } = reader.take()
  const name = reader.name('the prefix')
  reader.expect('=', 'write a prefix like `prefix s = "http://example.org/codes"`')
  const url = text(reader, 'the URL of a code system, in quotation marks,')
  reader.accept(';')
  return { kind: 'prefix', name, url, around: around(), span: reader.since(at) }
}

function unmapped(reader: Reader, prefixes: ReadonlySet<string>): Unmapped {
  const around = reader.surroundings()
  const { at } = reader.take()
  const about = reader.acceptWord('for') ? declared(reader, prefixes) : undefined
  reader.expect('=', 'write the rule for codes without a mapping like `unmapped for s = provided`')
  const mode = reader.name('what happens to codes without a mapping, for example `provided`,')
  reader.accept(';')
  return { kind: 'unmapped', prefix: about, mode, around: around(), span: reader.since(at) }
}

function mapping(reader: Reader, prefixes: ReadonlySet<string>): Mapping {
  const around = reader.surroundings()
  const { at } = reader.peek()
  const source = code(reader, prefixes)
  const operator = relation(reader)
  const hasTarget = operator !== '--' || !(reader.peek().fresh || reader.at('}'))
  const target = hasTarget ? code(reader, prefixes) : undefined
  reader.accept(';')
  return { kind: 'mapping', source, operator, target, around: around(), span: reader.since(at) }
}

function relation(reader: Reader): MappingOperator {
  const first = reader.peek()
  const rule = 'codes are related by one of `==`, `=`, `-`, `~`, `<=`, `>=`, `<-`, `>-`, `!=`, `--`'
  if (first.kind !== 'symbol') reader.fail(`${rule}; found ${reader.found()}`)
  reader.take()
  let written = first.text
  while (reader.peek().kind === 'symbol' && reader.touching() && written.length < 4) written += reader.take().text
  const operator = OPERATORS.find(each => each === written)
  const span = reader.since(first.at)
  if (!operator) reader.report(`${shown(written)} is unknown; ${rule}`, span, '==')
  return operator ?? '=='
}

function code(reader: Reader, prefixes: ReadonlySet<string>): Code {
  const { at } = reader.peek()
  const name = declared(reader, prefixes)
  reader.expect(':', 'write a code with its prefix, like `s:male`')
  return { kind: 'code', prefix: name, code: codeText(reader), span: reader.since(at) }
}

function declared(reader: Reader, prefixes: ReadonlySet<string>): Name {
  const name = reader.name('a prefix')
  if (prefixes.has(name.text)) return name
  const meant = nearest(name.text, [...prefixes].slice(0, 100))
  const hint = meant && meant.length > 1 ? `did you mean \`${meant}\`?` : 'it needs a line `prefix … = "url"` above'
  reader.report(
    `the prefix ${shown(name.text)} is not declared; ${hint}`,
    name.span,
    meant && meant.length > 1 ? meant : undefined,
  )
  return name
}

function codeText(reader: Reader): Text {
  const token = reader.peek()
  const isCode = ['name', 'quoted', 'text', 'string', 'number'].includes(token.kind)
  if (!isCode) reader.fail(`a code is missing; found ${reader.found()}`)
  reader.take()
  if (token.kind !== 'name' && token.kind !== 'number')
    return { kind: 'text', text: token.text, span: reader.spanOfToken(token) }
  while (continues(reader)) reader.take()
  const span = reader.since(token.at)
  const written = reader.text.slice(span.offset, span.offset + span.length)
  if (written !== token.text) {
    reader.report(
      `put a code with characters other than letters and digits in quotation marks: ${quoted(written, '"')}`,
      span,
      quoted(written, '"'),
    )
  }
  return { kind: 'text', text: written, span }
}

/** `nach-da` without quotation marks; but not the operator in `s:nach-t:da`. */
function continues(reader: Reader): boolean {
  if (!reader.touching()) return false
  const { kind, text } = reader.peek()
  if (kind === 'name' || kind === 'number') return true
  const isJoint = kind === 'symbol' && (text === '-' || text === '.' || text === '/')
  const next = reader.peek(1)
  return isJoint && reader.touching(1) && (next.kind === 'name' || next.kind === 'number') && !reader.at(':', 2)
}
