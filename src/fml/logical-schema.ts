// Logical models from JSON Schemas, as the shapes of requests have them. https://json-schema.org/draft/2020-12

import type { ElementModel, TypeModel } from '../definitions/model.ts'
import { plainName } from './element-names.ts'
import { shown } from './problem.ts'
import { isJson, type Json, objects, string } from './resource-parts.ts'
import type { LogicalModel } from './structures.ts'

/** What is collected while a schema is read. */
interface Draft {
  readonly url: string
  /** How long the name of the whole type is. */
  readonly root: string
  readonly types: TypeModel[]
  readonly valueSets: Map<string, readonly string[]>
}

/**
 * Returns the types of an object's schema, named by its `$id`; the model's URL is `base/$id`. A code list is a required value set
 * `base/$id#path`. Throws an Error that names what cannot become a type.
 */
export function modelFromSchema(schema: object, base: string): LogicalModel {
  const { $id } = schema as Json
  if (!string($id)) throw new Error('the schema has no `$id`')
  const type = plainName(string($id)!, base)
  const url = `${base}/${type}`
  const draft: Draft = { url, root: type, types: [], valueSets: new Map() }
  addType(draft, type, 'complex', schema as Json)
  return { url, type, types: draft.types, valueSets: draft.valueSets }
}

function addType(draft: Draft, name: string, kind: TypeModel['kind'], schema: Json): void {
  if (!isJson(schema.properties)) throw new Error(`${name}: a type is an object with \`properties\``)
  const elements = new Map<string, ElementModel>()
  draft.types.push({ name, kind, abstract: false, elements, constraints: [] })
  const required = new Set(Array.isArray(schema.required) ? schema.required : [])
  for (const [property, inner] of Object.entries(schema.properties)) {
    const path = `${name}.${plainName(property, name)}`
    elements.set(property, elementFrom(draft, path, property, inner, required.has(property)))
  }
}

function elementFrom(draft: Draft, path: string, name: string, schema: unknown, required: boolean): ElementModel {
  const whole = variantsOf(schema)
  const list = whole.variants.length === 1 && whole.variants[0]!.type === 'array' ? whole.variants[0] : undefined
  const { variants } = list ? variantsOf(list.items) : whole
  const codes = codesOf(variants)
  const words = (isJson(schema) && string(schema.description)) || string(whole.variants[0]?.description)
  const requiredValueSet = codes && `${draft.url}#${path.slice(draft.root.length + 1)}`
  if (codes) draft.valueSets.set(requiredValueSet!, codes)
  return {
    name,
    types: [codes ? 'code' : typeOf(draft, path, variants)],
    choice: false,
    min: required && !whole.nullable ? 1 : 0,
    max: list ? (typeof list.maxItems === 'number' ? list.maxItems : Number.POSITIVE_INFINITY) : 1,
    requiredValueSet,
    summary: false,
    ...(words !== undefined && { short: words }),
  }
}

interface Variants {
  readonly variants: readonly Json[]
  readonly nullable: boolean
}

/** The alternatives that a schema allows, null set apart. */
function variantsOf(schema: unknown): Variants {
  const all = alternatives(schema)
  const variants = all.filter(each => each.type !== 'null' && each.const !== null)
  return { variants, nullable: variants.length < all.length }
}

function alternatives(schema: unknown): Json[] {
  if (!isJson(schema)) return []
  const inner = [...objects(schema.anyOf), ...objects(schema.oneOf)]
  if (inner.length > 0) return inner.flatMap(alternatives)
  if (Array.isArray(schema.enum)) return schema.enum.map(each => ({ const: each }))
  return Array.isArray(schema.type) ? schema.type.map(type => ({ ...schema, type })) : [schema]
}

/** The values of a list of codes. */
function codesOf(variants: readonly Json[]): string[] | undefined {
  const codes = variants.map(each => each.const).filter(each => typeof each === 'string')
  return codes.length > 0 && codes.length === variants.length ? codes : undefined
}

function typeOf(draft: Draft, path: string, variants: readonly Json[]): string {
  const types = new Set(variants.map(each => variantType(path, each)))
  const [type] = types
  if (type === undefined) throw new Error(`${path}: the schema has no type here`)
  if (types.size > 1) throw new Error(`${path}: several types are not supported here (${[...types].join(', ')})`)
  if (type !== path) return type
  if (variants.length > 1) throw new Error(`${path}: several kinds of objects are not supported here`)
  addType(draft, path, 'backbone', variants[0]!)
  return type
}

const FORMATS: Readonly<Record<string, string>> = { date: 'date', 'date-time': 'dateTime', time: 'time', uri: 'uri' }

function variantType(path: string, schema: Json): string {
  const reference = string(schema.$ref)
  if (reference) return plainName(reference, `${path}: a reference must be the \`$id\` of another shape`)
  const type = schema.const === undefined ? schema.type : typeof schema.const
  if (type === 'object') return string(schema.$id) ?? path
  if (type === 'string') return FORMATS[string(schema.format) ?? ''] ?? 'string'
  if (type === 'integer' || type === 'boolean') return type
  if (type === 'number') return Number.isInteger(schema.const) ? 'integer' : 'decimal'
  throw new Error(`${path}: unsupported schema ${shown(JSON.stringify(schema))}`)
}
