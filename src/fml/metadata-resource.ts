// The settings at the top of a map as elements of the StructureMap, and back. https://hl7.org/fhir/R4/structuremap.html

import { elementByJsonKey, typeModel } from '../definitions/r4.ts'
import { isJsonNumber } from '../lib/json.ts'
import { nearest } from '../lib/nearest.ts'
import type { Literal, Metadata } from './ast.ts'
import { NOWHERE, type Problem, shown } from './problem.ts'
import { around, isJson, type Json, jsonNumber, literalOf, numberLiteral, pathOf, string } from './resource-parts.ts'

/** Made from the rest of a map, or about the resource as such. */
const NOT_SET = new Set([
  'resourceType',
  'contained',
  'text',
  'extension',
  'modifierExtension',
  'structure',
  'import',
  'group',
])

/**
 * The elements that settings set. A setting without a value begins an element with parts; a second one of the same name
 * begins the next of a list. What R4 does not have is reported and left out.
 */
export function settings(metadata: readonly Metadata[], problems: Problem[]): Json {
  const root: Json = {}
  for (const each of metadata) set(root, each, problems)
  return root
}

function set(root: Json, { path, value }: Metadata, problems: Problem[]): void {
  let object = root
  let type = 'StructureMap'
  for (const [index, name] of path.names.entries()) {
    const found = index === 0 && NOT_SET.has(name.text) ? undefined : elementByJsonKey(type, name.text)
    if (!found) return void problems.push(unknown(type, name.text, name.span))
    const isList = found.element.max > 1
    if (index === path.names.length - 1)
      return put(object, name.text, isList, value ? contentOf(value, found.type) : undefined)
    object = child(object, name.text, isList)
    type = found.type
  }
}

function unknown(type: string, name: string, span: Metadata['span']): Problem {
  const known = [...(typeModel(type)?.elements.keys() ?? [])].filter(
    each => type !== 'StructureMap' || !NOT_SET.has(each),
  )
  const meant = nearest(name, known)
  const message = `${shown(name)} cannot be set, since R4's ${type} has no such element`
  if (!meant) return { message, span }
  return { message: `${message}; did you mean \`${meant}\`?`, span, fix: { span, replacement: meant } }
}

function put(object: Json, key: string, isList: boolean, value: unknown): void {
  const content = value ?? {}
  if (isList) list(object, key).push(content)
  else object[key] = content
}

/** The object that the next settings are about: the last one, if there are several. */
function child(object: Json, key: string, isList: boolean): Json {
  if (!isList) {
    const known = object[key]
    return isJson(known) ? known : ((object[key] = {}) as Json)
  }
  const all = list(object, key)
  const last = all.at(-1)
  if (isJson(last)) return last
  const next: Json = {}
  all.push(next)
  return next
}

function list(object: Json, key: string): unknown[] {
  const known = object[key]
  return Array.isArray(known) ? known : ((object[key] = []) as unknown[])
}

const NUMBERS = new Set(['integer', 'decimal', 'positiveInt', 'unsignedInt'])

function contentOf({ type, text }: Literal, wanted: string): unknown {
  if (wanted === 'boolean') return text === 'true'
  if (NUMBERS.has(wanted) && (type === 'Integer' || type === 'Decimal')) return jsonNumber(text)
  return text
}

const FIRST = ['url', 'name', 'title', 'status']

/** Returns the settings of a StructureMap; the status of a map without one is `draft`. */
export function settingsFrom(resource: Json, id: string | undefined): Metadata[] {
  const keys = [...FIRST, ...Object.keys(resource).filter(key => !FIRST.includes(key) && !NOT_SET.has(key))]
  const result: Metadata[] = []
  for (const key of keys) {
    if ((key === 'status' && resource.status === 'draft') || (key === 'id' && resource.id === id)) continue
    if (Object.hasOwn(resource, key) && elementByJsonKey('StructureMap', key)) flatten(result, [key], resource[key])
  }
  return result
}

function flatten(into: Metadata[], path: readonly string[], value: unknown): void {
  if (Array.isArray(value)) {
    for (const each of value) flatten(into, path, each)
  } else if (isJsonNumber(value)) into.push(setting(path, numberLiteral(value)))
  else if (isJson(value)) {
    into.push(setting(path))
    for (const [key, inner] of Object.entries(value)) flatten(into, [...path, key], inner)
  } else if (typeof value === 'boolean') into.push(setting(path, literalOf('Boolean', String(value))))
  else if (string(value)) into.push(setting(path, literalOf('String', value as string)))
}

function setting(path: readonly string[], value?: Literal): Metadata {
  return { kind: 'metadata', path: pathOf(...path), value, around: around(), span: NOWHERE }
}
