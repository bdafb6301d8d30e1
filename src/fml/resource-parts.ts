// What both directions between maps and StructureMap resources agree on. https://hl7.org/fhir/R4/structuremap.html

import { digitsOf, parseJson } from '../lib/json.ts'
import type { Argument, Comment, Embedded, Literal, MappingOperator, Name, Path, Surroundings, Text } from './ast.ts'
import { attempt, condition, argument as readArgument } from './expression.ts'
import { pathText } from './pieces.ts'
import { NOWHERE, type Problem } from './problem.ts'
import { Reader } from './reader.ts'

export type Json = Record<string, unknown>

/** Where R5 has an element that R4 lacks, R4 resources hold it in the extension of this address. */
const R5 = 'http://hl7.org/fhir/5.0/StructureDefinition/extension-StructureMap'

export const EXTENSIONS = {
  /** Names what is contained: a contained resource must be referred to (dom-3), and `translate` does so by a string. */
  related: 'http://hl7.org/fhir/StructureDefinition/artifact-relatedArtifact',
  constant: `${R5}.const`,
  defaultValue: `${R5}.group.rule.source.defaultValue`,
  listMode: `${R5}.group.rule.target.listMode`,
  parameter: `${R5}.group.rule.dependent.parameter`,
  value: `${R5}.group.rule.target.parameter.value`,
} as const

/** The variable that the reference implementation gives both sides of a simple copy. */
export const AUTOMATIC = 'vvv'

/** https://hl7.org/fhir/R4/valueset-concept-map-equivalence.html, as the reference implementation for R4 reads it. */
export const EQUIVALENCES: ReadonlyMap<MappingOperator, string> = new Map([
  ['-', 'relatedto'],
  ['=', 'equal'],
  ['==', 'equivalent'],
  ['!=', 'disjoint'],
  ['--', 'unmatched'],
  ['<=', 'wider'],
  ['<-', 'subsumes'],
  ['>=', 'narrower'],
  ['>-', 'specializes'],
  ['~', 'inexact'],
])

/** The R5 relationship of two codes, seen from the source. https://hl7.org/fhir/R5/valueset-concept-map-relationship.html */
const RELATIONSHIPS: Readonly<Record<string, string>> = {
  'related-to': 'relatedto',
  equivalent: 'equivalent',
  'source-is-narrower-than-target': 'wider',
  'source-is-broader-than-target': 'narrower',
  'not-related-to': 'disjoint',
}

/** The equivalence that a target of a ConceptMap states, in R4's words. */
export function equivalenceIn({ equivalence, relationship }: Json): string | undefined {
  return string(equivalence) ?? RELATIONSHIPS[string(relationship) ?? '']
}

/** Leaves out what is absent or empty: FHIR has no empty values. */
export function clean(object: Json): Json {
  return Object.fromEntries(
    Object.entries(object).filter(([, value]) => value !== undefined && !(Array.isArray(value) && value.length === 0)),
  )
}

export function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Returns the objects of a list, without other values; none if it is no list. */
export function objects(value: unknown): Json[] {
  return Array.isArray(value) ? value.filter(isJson) : []
}

export function string(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** The values of the extensions with a URL. */
export function extended(object: Json, url: string): Json[] {
  return objects(object.extension).filter(each => each.url === url)
}

/** Returns the text of comments, as a resource holds it. */
export function documentation(...lists: readonly (readonly Comment[])[]): string | undefined {
  const lines = lists.flat().map(({ text }) => text.trim())
  return lines.length > 0 ? lines.join('\n') : undefined
}

/** Elements of a path as one string; names that have a dot themselves are in backticks. */
export function elementText(names: readonly Name[]): string {
  const only = names.length === 1 ? names[0]!.text : undefined
  if (only !== undefined && !/[.`]/.test(only)) return only
  return pathText({ kind: 'path', names, span: NOWHERE })
}

/**
 * A rule without a name is called after its elements, as by the reference implementation; in one word, since names of
 * the mapping language have no hyphen, and R4's ids no underscore.
 */
export function automaticName(sources: readonly Json[]): string {
  return inOneWord(elementsOf(sources).join(' '))
}

/** True for the names that engines give to rules without a name: ours, and that of the reference implementation. */
export function isAutomaticName(name: string, sources: readonly Json[]): boolean {
  const reference = elementsOf(sources)
    .join('-')
    .replace(/[^A-Za-z0-9.-]/g, '-')
  return name === automaticName(sources) || name === reference
}

function elementsOf(sources: readonly Json[]): string[] {
  return sources.map(({ context, element, type }) => {
    const name = string(element) ?? string(context) ?? ''
    return string(type) && sources.length === 1 ? `${name}-${type}` : name
  })
}

/** `patient_id Reference` is `patientIdReference`; at most the 64 letters that an id has. */
export function inOneWord(text: string): string {
  const [first = 'rule', ...rest] = text.split(/[^A-Za-z0-9]+/).filter(Boolean)
  const word = first + rest.map(each => each.charAt(0).toUpperCase() + each.slice(1)).join('')
  return (/^[A-Za-z]/.test(word) ? word : `r${word}`).slice(0, 64)
}

export function nameOf(text: string): Name {
  return { kind: 'name', text, span: NOWHERE }
}

export function textOf(text: string): Text {
  return { kind: 'text', text, span: NOWHERE }
}

export function literalOf(type: Literal['type'], text: string): Literal {
  return { kind: 'literal', type, text, span: NOWHERE }
}

export function pathOf(...names: readonly string[]): Path {
  return { kind: 'path', names: names.map(nameOf), span: NOWHERE }
}

/** A number of a map in JSON, with the digits it was written with. */
export function jsonNumber(text: string): unknown {
  return /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/.test(text) ? (parseJson(`[${text}]`) as unknown[])[0] : Number(text)
}

/** A number of JSON as it is written in a map. */
export function numberLiteral(value: Parameters<typeof digitsOf>[0]): Literal {
  const digits = digitsOf(value)
  return literalOf(/^-?\d+$/.test(digits) ? 'Integer' : 'Decimal', digits)
}

/** The names in an element or id of a resource: `a.b`, or with backticks. */
export function namesIn(text: string): string[] {
  if (!text.includes('`')) return text.split('.')
  return [...text.matchAll(/`((?:[^`\\]|\\.)*)`|([^.`]+)/g)].map(match => match[2] ?? match[1]!.replace(/\\(.)/g, '$1'))
}

/** Comments for what a resource documents. */
export function around(documented?: unknown): Surroundings {
  const text = string(documented)
  const lines = text === undefined ? [] : text.split(/\r?\n/)
  const before = lines.map(
    (each): Comment => ({ kind: 'comment', style: 'line', text: ` ${each}`.trimEnd(), gap: false, span: NOWHERE }),
  )
  return { gap: false, before, after: [] }
}

/** Reads an expression of a resource; what is wrong with it is reported. */
export function expressionOf(text: string, problems: Problem[]): Embedded | undefined {
  return whole(text, problems, condition)
}

/** Reads a parameter that is written as in a map. */
export function argumentOf(text: string, problems: Problem[]): Argument | undefined {
  return whole(text, problems, readArgument)
}

/** Reads the whole of a text with `read`; what is wrong with it is reported. */
export function whole<Value>(text: string, problems: Problem[], read: (reader: Reader) => Value): Value | undefined {
  const reader = new Reader(text)
  const value = attempt(() => {
    const found = read(reader)
    if (!reader.ended)
      reader.fail(`this expression of the resource does not end where it should; found ${reader.found()}`)
    return found
  })
  problems.push(...reader.problems)
  return value
}
