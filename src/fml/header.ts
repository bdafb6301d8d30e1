// What stands at the top of a map: its name and metadata, what it uses and imports, constants. https://hl7.org/fhir/R4/mapping-language.html

import type { Constant, Declaration, Import, Literal, Metadata, Name, Text, Uses } from './ast.ts'
import { embedded, literal } from './expression.ts'
import { path } from './path.ts'
import type { Reader } from './reader.ts'
import { quoted } from './text.ts'

const MODES = ['source', 'queried', 'target', 'produced'] as const

/** `/// title = 'Births'`; the value is on the same line, or there is none. */
export function metadata(reader: Reader): Metadata {
  const around = reader.surroundings()
  const { at } = reader.take()
  const name = path(reader, 'the name of what is set')
  reader.expect('=', "write a setting like `/// status = 'active'`")
  const value = reader.peek().fresh || reader.ended ? undefined : settingValue(reader)
  if (!reader.peek().fresh && !reader.ended) {
    reader.report(`${reader.found()} is not allowed after a setting`, reader.spanOfToken(reader.peek()))
    while (!reader.ended && !reader.peek().fresh) reader.take()
  }
  return { kind: 'metadata', path: name, value, around: around(), span: reader.since(at) }
}

function settingValue(reader: Reader): Literal | undefined {
  const value = literal(reader)
  if (value) return value
  const start = reader.peek().at
  while (!reader.ended && !reader.peek().fresh) reader.take()
  const span = reader.since(start)
  const text = reader.text.slice(span.offset, span.offset + span.length)
  reader.report('put the value of a setting in quotation marks', span, quoted(text, "'"))
  return { kind: 'literal', type: 'String', text, span }
}

/** `map "url" = "name"` */
export function declaration(reader: Reader): Declaration {
  const around = reader.surroundings()
  const { at } = reader.take()
  const url = text(reader, 'the URL of the map, in quotation marks,')
  reader.expect('=', 'declare a map like `map "http://example.org/births" = "Births"`')
  const token = reader.peek()
  const isWord = token.kind === 'name' || token.kind === 'quoted'
  const name = isWord ? word(reader) : text(reader, 'the name of the map')
  reader.accept(';')
  return { kind: 'declaration', url, name, around: around(), span: reader.since(at) }
}

function word(reader: Reader): Text {
  const { text, span } = reader.name('the name of the map')
  return { kind: 'text', text, span }
}

/** `uses "url" alias Name as source` */
export function uses(reader: Reader): Uses {
  const around = reader.surroundings()
  const { at } = reader.take()
  const url = text(reader, 'the URL of a structure, in quotation marks,')
  const alias = reader.acceptWord('alias') ? aliasName(reader) : undefined
  if (!reader.acceptWord('as')) reader.fail(`\`as\` is missing: \`uses "url" as source\`; found ${reader.found()}`)
  const mode = reader.oneOf(MODES, 'a structure is used as')
  reader.accept(';')
  return { kind: 'uses', url, alias, mode, around: around(), span: reader.since(at) }
}

/** Reads a name; one in quotation marks, as in some published maps, is accepted and reported. */
function aliasName(reader: Reader): Name {
  const token = reader.peek()
  if (token.kind !== 'text' && token.kind !== 'string') return reader.name('the name after `alias`')
  const { text: name, span } = text(reader, 'the name after `alias`')
  const message = `write a name without quotation marks: \`alias ${name}\``
  reader.problems.push({ message, span, severity: 'warning', fix: { span, replacement: name } })
  return { kind: 'name', text: name, span }
}

/** `imports "url"` */
export function imports(reader: Reader): Import {
  const around = reader.surroundings()
  const { at } = reader.take()
  const url = text(reader, 'the URL of another map, in quotation marks,')
  reader.accept(';')
  return { kind: 'import', url, around: around(), span: reader.since(at) }
}

/** `let name = expression;` */
export function constant(reader: Reader): Constant {
  const around = reader.surroundings()
  const { at } = reader.take()
  const name = reader.name('the name of the constant')
  reader.expect('=', "write a constant like `let system = 'http://example.org';`")
  const value = embedded(reader)
  if (!reader.accept(';')) reader.report('a semicolon is missing at the end of the constant', reader.behind(), ';')
  return { kind: 'constant', name, value, around: around(), span: reader.since(at) }
}

/** Text in quotation marks; a bare URL is understood, but not how it is written. */
export function text(reader: Reader, what: string): Text {
  const token = reader.peek()
  if (token.kind !== 'text' && token.kind !== 'string') reader.fail(`${what} is missing; found ${reader.found()}`)
  reader.take()
  return { kind: 'text', text: token.text, span: reader.spanOfToken(token) }
}
