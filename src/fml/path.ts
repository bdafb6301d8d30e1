// Paths such as `src.name.given`, and what authors write in them that FHIR does not. https://hl7.org/fhir/R4/mapping-language.html

import type { Name, Path } from './ast.ts'
import type { Reader } from './reader.ts'
import { nameText } from './text.ts'

/** Reads a variable and the elements below it; `what` names, in a problem, what should stand here. */
export function path(reader: Reader, what: string): Path {
  const { at } = reader.peek()
  const names = [element(reader, what)]
  while (reader.accept('.')) names.push(element(reader, 'the name of an element after the dot'))
  return { kind: 'path', names, span: reader.since(at) }
}

function element(reader: Reader, what: string): Name {
  const first = reader.name(what)
  const name = isHyphenated(reader) ? hyphenated(reader, first) : first
  while (reader.at('[')) bracket(reader)
  return name
}

function isHyphenated(reader: Reader): boolean {
  return reader.at('-') && reader.touching() && reader.peek(1).kind === 'name' && reader.touching(1)
}

function hyphenated(reader: Reader, first: Name): Name {
  let text = first.text
  while (isHyphenated(reader)) {
    reader.take()
    text += `-${reader.take().text}`
  }
  const span = reader.since(first.span)
  reader.report(`put a name with a hyphen in backticks: ${nameText(text)}`, span, nameText(text))
  return { kind: 'name', text, span }
}

/** `value[x]` is `value` in a map, and places in lists are not part of paths. */
function bracket(reader: Reader): void {
  const { at } = reader.take()
  const isChoice = reader.atWord('x') && reader.at(']', 1)
  while (!reader.ended && !reader.at(']') && !reader.at(';') && !reader.at('}') && !reader.peek().fresh) reader.take()
  reader.accept(']')
  const span = reader.since(at)
  const rule = isChoice
    ? 'write an element with a choice of types without `[x]`'
    : 'a path cannot contain an index; write `first` or `last` after it, or a condition: `where ($index = 1)`'
  reader.report(rule, span, isChoice ? '' : undefined)
}

/** The name of a type, which may have parts: `FHIR.Patient`. */
export function typeName(reader: Reader): Path {
  return path(reader, 'the name of a type')
}
