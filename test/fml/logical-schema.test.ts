// Logical models from the schemas of requests, and how they stand beside R4.

import { Type } from 'typebox'
import { describe, expect, test } from 'vitest'
import { compile } from '../../src/fhirpath/compile.ts'
import { modelFromSchema } from '../../src/fml/logical-schema.ts'
import { structures } from '../../src/fml/structures.ts'

const base = 'https://clinic.example/fhir/StructureDefinition'

const Ward = Type.Object({ name: Type.String() }, { $id: 'Ward' })

const Allergy = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    provider_id: Type.Union([Type.String({ format: 'uuid' }), Type.Null()]),
    severity: Type.Enum(['mild', 'life_threatening']),
    certainty: Type.Optional(Type.Union([Type.Literal('suspected'), Type.Literal('confirmed'), Type.Null()])),
    onset: Type.Optional(Type.String({ format: 'date' })),
    created_at: Type.Union([Type.String({ format: 'date-time' }), Type.Null()]),
    link: Type.Optional(Type.String({ format: 'uri' })),
    count: Type.Integer(),
    dose: Type.Optional(Type.Number()),
    active: Type.Boolean(),
    notes: Type.Optional(Type.Array(Type.String(), { maxItems: 3 })),
    codes: Type.Array(Type.Object({ system: Type.Enum(['ICD-10', 'SNOMED']), code: Type.String() })),
    ward: Type.Ref('Ward'),
    former_ward: Type.Union([Ward, Type.Null()]),
  },
  { $id: 'Allergy' },
)

const types = structures([Ward, Allergy].map(each => modelFromSchema(each, base)))
const elementsOf = (type: string) =>
  [...types.typeModel(type)!.elements.values()].map(({ name, types: [type], min, max }) => [name, type, min, max])

describe('the schema of an object', () => {
  test('is a type with an element for each property', () => {
    expect(types.byUrl(`${base}/Allergy`)).toBe('Allergy')
    expect(types.typeModel('Allergy')).toMatchObject({ kind: 'complex', abstract: false })
    expect(elementsOf('Allergy')).toEqual([
      ['id', 'string', 1, 1],
      ['provider_id', 'string', 0, 1],
      ['severity', 'code', 1, 1],
      ['certainty', 'code', 0, 1],
      ['onset', 'date', 0, 1],
      ['created_at', 'dateTime', 0, 1],
      ['link', 'uri', 0, 1],
      ['count', 'integer', 1, 1],
      ['dose', 'decimal', 0, 1],
      ['active', 'boolean', 1, 1],
      ['notes', 'string', 0, 3],
      ['codes', 'Allergy.codes', 1, Number.POSITIVE_INFINITY],
      ['ward', 'Ward', 1, 1],
      ['former_ward', 'Ward', 0, 1],
    ])
  })

  test('has backbones for the objects within it', () => {
    expect(types.typeModel('Allergy.codes')!.kind).toBe('backbone')
    expect(elementsOf('Allergy.codes')).toEqual([
      ['system', 'code', 1, 1],
      ['code', 'string', 1, 1],
    ])
  })

  test('requires the codes that it lists', () => {
    const codesOf = (type: string, element: string) =>
      types.valueSet(types.typeModel(type)!.elements.get(element)!.requiredValueSet!)
    expect(codesOf('Allergy', 'severity')).toEqual(new Map([['', new Set(['mild', 'life_threatening'])]]))
    expect(codesOf('Allergy', 'certainty')).toEqual(new Map([['', new Set(['suspected', 'confirmed'])]]))
    expect(codesOf('Allergy.codes', 'system')).toEqual(new Map([['', new Set(['ICD-10', 'SNOMED'])]]))
  })

  test('is what FHIRPath expressions are compiled for', () => {
    const codes = compile("codes.where(system = 'SNOMED').code", { model: types, type: 'Allergy' })
    expect(
      codes({
        codes: [
          { system: 'ICD-10', code: 'Z88.0' },
          { system: 'SNOMED', code: '91936005' },
        ],
      }),
    ).toEqual(['91936005'])
  })

  test('may be written in the other ways of JSON Schema', () => {
    const properties = {
      a: { type: ['string', 'null'], enum: ['x', null] },
      b: { oneOf: [{ type: 'array', items: { type: ['number', 'null'] } }, { type: 'null' }] },
      c: { const: true },
    }
    const [type] = modelFromSchema({ $id: 'T', properties, required: ['a', 'b', 'c'] }, base).types
    expect([...type!.elements.values()].map(({ types: [type], min, max }) => [type, min, max])).toEqual([
      ['code', 0, 1],
      ['decimal', 0, Number.POSITIVE_INFINITY],
      ['boolean', 1, 1],
    ])
  })

  test.each([
    ['anything', {}, 'T.a: unsupported schema `{}`'],
    ['a list without items', { type: 'array' }, 'T.a: the schema has no type here'],
    ['a list of lists', Type.Array(Type.Array(Type.String())), 'T.a: unsupported schema'],
    [
      'several types',
      Type.Union([Type.String(), Type.Integer()]),
      'T.a: several types are not supported here (string, integer)',
    ],
    [
      'several objects',
      Type.Union([Type.Object({}), Type.Object({})]),
      'T.a: several kinds of objects are not supported here',
    ],
    ['an object of any keys', Type.Record(Type.String(), Type.String()), 'T.a: a type is an object with `properties`'],
    ['an unknown shape', Type.Ref('Bed'), 'T.a: there is no type `Bed`'],
    ['a part of a schema', Type.Ref('#/$defs/Bed'), '`#/$defs/Bed` is not a valid name'],
  ])('is refused for %s', (_, a, message) => {
    expect(() => structures([modelFromSchema({ $id: 'T', properties: { a } }, base)])).toThrow(message)
  })

  test.each(['__proto__', 'constructor', 'prototype'])('is refused for a property %s', name => {
    const properties = JSON.parse(`{ "${name}": { "type": "string" } }`) as object
    expect(() => modelFromSchema({ $id: 'T', properties }, base)).toThrow('reserved name')
    expect(() => modelFromSchema({ $id: name, properties: {} }, base)).toThrow('reserved name')
  })

  test('is refused without a name', () => {
    expect(() => modelFromSchema(Type.Object({}), base)).toThrow('the schema has no `$id`')
  })
})

describe('models beside R4', () => {
  test('leave R4 as it is', () => {
    expect(types.byUrl('http://hl7.org/fhir/StructureDefinition/Patient')).toBe('Patient')
    expect(types.byUrl('http://hl7.org/fhir/4.0/StructureDefinition/Patient|4.0.1')).toBe('Patient')
    expect(types.byUrl('http://hl7.org/fhir/3.0/StructureDefinition/Patient')).toBeUndefined()
    expect(types.byUrl('http://hl7.org/fhir/StructureDefinition/Patient.contact')).toBeUndefined()
    expect(types.urls).toContain('http://hl7.org/fhir/StructureDefinition/HumanName')
    expect(types.typeModel('Patient.contact')!.kind).toBe('backbone')
    expect(types.typeModel('Patiend')).toBeUndefined()
    expect(types.valueSet('http://hl7.org/fhir/ValueSet/administrative-gender|4.0.1')!.size).toBe(1)
    expect(types.valueSet('urn:unknown')).toBeUndefined()
  })

  test('cannot take the name or the URL of anything else, and all that do are named at once', () => {
    const schemas = [Type.Object({}, { $id: 'Patient' }), Ward, Ward]
    const models = schemas.map(each => modelFromSchema(each, base))
    const elsewhere = modelFromSchema(Ward, 'https://other.example')
    const wanted = [
      `${base}/Patient: \`Patient\` is the name of a type of R4`,
      `${base}/Ward: this is already the URL of \`Ward\``,
      'https://other.example/Ward: there is another type `Ward`',
    ]
    expect(() => structures([...models, elsewhere])).toThrow(wanted.join('\n'))
  })

  test('cannot derive from themselves', () => {
    const type = (name: string, base: string) => {
      const only = { name, base, kind: 'complex' as const, abstract: false, elements: new Map(), constraints: [] }
      return { url: `urn:${name}`, type: name, types: [only], valueSets: new Map() }
    }
    expect(() => structures([type('A', 'B'), type('B', 'A')])).toThrow('A: the type derives from itself')
    expect(() => structures([type('A', 'C')])).toThrow('A: there is no type `C` to derive from')
  })
})
