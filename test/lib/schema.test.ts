// The builders of schemas make what those of typebox make, also where it is not enumerable.

import { Type as Typebox } from 'typebox'
import { expect, test } from 'vitest'
import { isList, Type } from '../../src/lib/schema.ts'

type Kind = keyof typeof Type

/** Everything about a schema: what is published, in its order, then what is not. */
function described(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(described)
  if (typeof schema !== 'object' || schema === null) return schema
  const all = Object.entries(Object.getOwnPropertyDescriptors(schema))
  return [true, false].map(isPublished =>
    all
      .filter(([, { enumerable }]) => enumerable === isPublished)
      .map(([name, { value, ...rest }]) => [name, rest, described(value)]),
  )
}

/** The same schemas by either builder. */
const examples: Readonly<Record<Kind, (type: typeof Type) => readonly unknown[]>> = {
  Array: type => [type.Array(type.String()), type.Array(type.Integer(), { minItems: 1, description: 'Some.' })],
  Boolean: type => [type.Boolean(), type.Boolean({ default: true })],
  Enum: type => [type.Enum(['a', 'b']), type.Enum(['a', 'b'], { description: 'One of them.' })],
  Integer: type => [type.Integer(), type.Integer({ minimum: 0 })],
  Literal: type => [type.Literal('ok'), type.Literal(1), type.Literal(true, { description: 'Yes.' })],
  Null: type => [type.Null(), type.Null({ description: 'Nothing.' })],
  Number: type => [type.Number(), type.Number({ maximum: 1 })],
  Object: type => [
    type.Object({}),
    type.Object({ a: type.Optional(type.String()) }),
    type.Object(
      { a: type.Optional(type.String()), b: type.Integer(), c: type.Object({ d: type.Null() }) },
      { $id: 'Thing', additionalProperties: false, description: 'A thing.' },
    ),
  ],
  Optional: type => [
    type.Optional(type.String({ description: 'A text.' })),
    type.Optional(type.Optional(type.Object({ a: type.String() }))),
  ],
  Record: type => [
    type.Record(type.String(), type.Integer()),
    type.Record(type.String(), type.Integer(), { description: 'Numbers by name.' }),
    type.Record(type.String({ maxLength: 5 }), type.Unknown()),
    type.Record(type.String({ pattern: '^[a-z]$' }), type.Object({}), { description: 'By letter.' }),
  ],
  String: type => [type.String(), type.String({ minLength: 1, type: 'text' as never })],
  Union: type => [
    type.Union([type.String(), type.Null()]),
    type.Union([type.Literal('a'), type.Null()], { description: 'Maybe.' }),
  ],
  Unknown: type => [type.Unknown(), type.Unknown({ description: 'Anything.' })],
}

test.for(Object.keys(Type) as Kind[])('Type.%s makes what typebox makes', kind => {
  const make = examples[kind]
  expect(described(make(Type))).toEqual(described(make(Typebox)))
})

test('a schema is left as it is by what is made of it', () => {
  const schema = Type.String({ description: 'A text.' })
  const before = described(schema)
  Type.Optional(schema)
  Type.Object({ schema })
  expect(described(schema)).toEqual(before)
})

test('only the schema of a list is one', () => {
  expect(isList(Type.Array(Type.String()))).toBe(true)
  expect(isList(Type.Optional(Type.Array(Type.String())))).toBe(true)
  expect(isList(Type.String())).toBe(false)
})
