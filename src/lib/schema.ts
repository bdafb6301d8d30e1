// The kinds of JSON Schema that this project is written with: the builders of typebox, without the 680 modules that typebox loads for
// all the others. What they build is the same, with the same types. https://json-schema.org/draft/2020-12

import type { Type as Typebox } from 'typebox'

export type { Static, TObject, TProperties, TSchema } from 'typebox'

type Kinds =
  | 'Array'
  | 'Boolean'
  | 'Enum'
  | 'Integer'
  | 'Literal'
  | 'Null'
  | 'Number'
  | 'Object'
  | 'Optional'
  | 'Record'
  | 'String'
  | 'Union'
  | 'Unknown'

type Schema = Readonly<Record<string, unknown>>

/** Builders of schemas, named as in typebox; test/lib/schema.test.ts compares what they build. */
export const Type = {
  Array: (items: Schema, options?: Schema) => made('Array', { type: 'array', items }, options),
  Boolean: (options?: Schema) => made('Boolean', { type: 'boolean' }, options),
  Enum: (codes: readonly unknown[], options?: Schema) => made('Enum', { enum: codes }, options),
  Integer: (options?: Schema) => made('Integer', { type: 'integer' }, options),
  Literal: (value: unknown, options?: Schema) => made('Literal', { type: typeof value, const: value }, options),
  Null: (options?: Schema) => made('Null', { type: 'null' }, options),
  Number: (options?: Schema) => made('Number', { type: 'number' }, options),
  Object: (properties: Readonly<Record<string, Schema>>, options?: Schema) =>
    made('Object', { type: 'object', ...required(properties), properties }, options),
  Optional: (schema: Schema) => hidden(copied(schema), '~optional', true),
  Record: (key: Schema, value: Schema, options?: Schema) =>
    made('Record', { type: 'object', patternProperties: { [patternOf(key)]: value } }, options),
  String: (options?: Schema) => made('String', { type: 'string' }, options),
  Union: (anyOf: readonly Schema[], options?: Schema) => made('Union', { anyOf }, options),
  Unknown: (options?: Schema) => made('Unknown', {}, options),
} as unknown as Pick<typeof Typebox, Kinds>

/** True for the schema of a list. */
export function isList(schema: object): boolean {
  return '~kind' in schema && schema['~kind'] === 'Array'
}

/** The kind is not part of the schema as it is published. */
function made(kind: string, schema: Schema, options?: Schema): Schema {
  return hidden({ ...schema, ...options }, '~kind', kind)
}

function hidden(schema: Schema, name: string, value: unknown): Schema {
  return Object.defineProperty(schema, name, { configurable: true, writable: true, enumerable: false, value })
}

function copied(schema: Schema): Schema {
  return Object.defineProperties({}, Object.getOwnPropertyDescriptors(schema))
}

function required(properties: Readonly<Record<string, Schema>>): Schema {
  const names = Object.keys(properties).filter(name => !('~optional' in properties[name]!))
  return names.length > 0 ? { required: names } : {}
}

function patternOf({ pattern }: Schema): string {
  return typeof pattern === 'string' ? pattern : '^.*$'
}
