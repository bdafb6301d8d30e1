// Logical models from StructureDefinitions: those of the ahdis tutorial, and small ones of our own.

import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { ElementModel } from '../../src/definitions/model.ts'
import { compile } from '../../src/fhirpath/compile.ts'
import { modelFromStructureDefinition } from '../../src/fml/logical.ts'
import { type Structures, structures } from '../../src/fml/structures.ts'
import { sharedData } from '../support/data.ts'

const folder = sharedData('fml/ahdis-fhir-mapping-tutorial')
const files = folder ? globSync('**/logical/*.json', { cwd: folder }).toSorted() : []
const read = (file: string): unknown => JSON.parse(readFileSync(join(folder!, file), 'utf8'))

/** The types of all models of one step of the tutorial. */
function step(number: number): Structures {
  const wanted = files.filter(file => file.includes(`/step${number}/`))
  return structures(wanted.map(file => modelFromStructureDefinition(read(file))))
}

/** An element in short: `string 0..*`. */
function brief(element: ElementModel | undefined): string | undefined {
  const max = element?.max === Number.POSITIVE_INFINITY ? '*' : element?.max
  return element && `${element.types.join('|')} ${element.min}..${max}`
}

function elements(of: Structures, type: string): Record<string, string | undefined> {
  return Object.fromEntries([...of.typeModel(type)!.elements].map(([name, element]) => [name, brief(element)]))
}

interface Overrides {
  readonly [key: string]: unknown
}

const visit = (elements: readonly object[], overrides: Overrides = {}) => ({
  resourceType: 'StructureDefinition',
  url: 'https://clinic.example/fhir/StructureDefinition/Visit',
  kind: 'logical',
  abstract: true,
  type: 'Visit',
  baseDefinition: 'http://hl7.org/fhir/StructureDefinition/Base',
  derivation: 'specialization',
  differential: { element: [{ path: 'Visit', min: 0, max: '*' }, ...elements] },
  ...overrides,
})

const typesOf = (...definitions: readonly object[]) => structures(definitions.map(modelFromStructureDefinition))
const coded = (code: string) => [{ code }]

describe.skipIf(files.length === 0)(
  'the models of the tutorial (skipped where they are not beside the project)',
  () => {
    test('are 28, and all can be read', () => {
      expect(files).toHaveLength(28)
      for (const file of files) {
        const { type, url, types } = modelFromStructureDefinition(read(file))
        expect(type, file).toMatch(/^T(Left|Right)(Inner)?$/)
        expect(url, file).toMatch(/^http:\/\/hl7\.org\/fhir\/StructureDefinition\/tutorial-/)
        expect(types[0], file).toMatchObject({ name: type, kind: 'resource', abstract: false, base: undefined })
      }
    })

    test('are known by name and by URL, step by step', () => {
      for (const place of new Set(files.map(dirname))) {
        const models = files
          .filter(file => dirname(file) === place)
          .map(file => modelFromStructureDefinition(read(file)))
        const types = structures(models)
        for (const { url, type } of models) {
          expect(types.byUrl(url), place).toBe(type)
          expect(types.byUrl(`${url}|0.1`), place).toBe(type)
          expect(types.urls).toContain(url)
        }
      }
    })

    test('have elements with types and cardinalities', () => {
      expect(elements(step(4), 'TRight')).toEqual({ a21: 'integer 1..1' })
      expect(elements(step(6), 'TLeft')).toEqual({ a23: 'string 0..*' })
      expect(elements(step(6), 'TRight')).toEqual({ a23: 'integer 0..1' })
      expect(elements(step(13), 'TRight')).toEqual({ ptr: 'string 0..*', f2: 'Basic 0..*' })
    })

    test('have backbones named by their path, with the elements of every backbone', () => {
      const types = step(11)
      expect(elements(types, 'TRight')).toEqual({ e: 'TRight.e 0..*' })
      expect(types.typeModel('TRight.e')).toMatchObject({ kind: 'backbone', base: 'BackboneElement' })
      expect(elements(types, 'TRight.e')).toEqual({
        id: 'string 0..1',
        extension: 'Extension 0..*',
        modifierExtension: 'Extension 0..*',
        f: 'string 1..1',
        g: 'code 1..1',
      })
    })

    test('can have elements of each other', () => {
      expect(elements(step(10), 'TLeft')).toEqual({ aa: 'TLeftInner 0..*' })
      expect(elements(step(10), 'TLeftInner')).toEqual({ ab: 'string 1..1' })
    })

    test('are what FHIRPath expressions are compiled for', () => {
      const model = step(12)
      const last = compile('az1.az3.last()', { model, type: 'TLeft' })
      expect(last({ resourceType: 'TLeft', az1: { az3: ['one', 'two'] } })).toEqual(['two'])
      expect(() => compile('az1.az4', { model, type: 'TLeft' })).toThrow('az4')
    })
  },
)

describe('a StructureDefinition', () => {
  test('is known by name and by URL, with a version or without', () => {
    const types = typesOf(visit([{ path: 'Visit.ward', max: '1', type: coded('string') }]))
    const url = 'https://clinic.example/fhir/StructureDefinition/Visit'
    expect([types.byUrl(url), types.byUrl(`${url}|0.1`)]).toEqual(['Visit', 'Visit'])
    expect(types.urls).toContain(url)
    expect(types.typeModel('Visit')).toMatchObject({ kind: 'resource', abstract: false, base: undefined })
  })

  test('has backbones named by their path, with the elements of every backbone, and can be an element of another', () => {
    const types = typesOf(
      visit([
        { path: 'Visit.part', max: '*', type: coded('BackboneElement') },
        { path: 'Visit.part.text', min: 1, max: '1', type: coded('string') },
        { path: 'Visit.ward', max: '*', type: coded('https://clinic.example/fhir/StructureDefinition/Ward') },
      ]),
      visit([{ path: 'Ward.beds', max: '*', type: coded('integer') }], {
        url: 'https://clinic.example/fhir/StructureDefinition/Ward',
        type: 'Ward',
        differential: { element: [{ path: 'Ward' }, { path: 'Ward.beds', max: '*', type: coded('integer') }] },
      }),
    )
    expect(elements(types, 'Visit')).toEqual({ part: 'Visit.part 0..*', ward: 'Ward 0..*' })
    expect(types.typeModel('Visit.part')).toMatchObject({ kind: 'backbone', base: 'BackboneElement' })
    expect(elements(types, 'Visit.part')).toEqual({
      id: 'string 0..1',
      extension: 'Extension 0..*',
      modifierExtension: 'Extension 0..*',
      text: 'string 1..1',
    })
    const last = compile('ward.beds.last()', { model: types, type: 'Visit' })
    expect(last({ resourceType: 'Visit', ward: [{ beds: [1, 2] }] })).toEqual([2])
    expect(() => compile('ward.chairs', { model: types, type: 'Visit' })).toThrow('chairs')
  })

  test('may name types by URL, by FHIRPath, as a choice, or as what stands elsewhere', () => {
    const types = typesOf(
      visit([
        { path: 'Visit.id', min: 1, max: '1', type: coded('http://hl7.org/fhirpath/System.String') },
        { path: 'Visit.at', max: '1', type: coded('http://hl7.org/fhirpath/System.DateTime') },
        { path: 'Visit.value[x]', max: '1', type: [{ code: 'Quantity' }, { code: 'string' }] },
        { path: 'Visit.anything[x]', max: '1', type: coded('*') },
        { path: 'Visit.part', max: '*', type: coded('BackboneElement') },
        { path: 'Visit.part.text', max: '1', type: coded('http://hl7.org/fhir/StructureDefinition/markdown') },
        { path: 'Visit.part.part', max: '*', contentReference: '#Visit.part' },
        { path: 'Visit.ward', max: '1', type: coded('https://clinic.example/fhir/StructureDefinition/clinic-ward') },
        { path: 'Visit.open', max: '1', type: coded('Element') },
      ]),
      visit([{ path: 'Visit.name', max: '1', type: coded('string') }], {
        url: 'https://clinic.example/fhir/StructureDefinition/clinic-ward',
        type: 'https://clinic.example/fhir/StructureDefinition/Ward',
      }),
    )
    expect(elements(types, 'Visit')).toMatchObject({
      id: 'string 1..1',
      at: 'dateTime 0..1',
      value: 'Quantity|string 0..1',
      part: 'Visit.part 0..*',
      ward: 'Ward 0..1',
      open: 'Element 0..1',
    })
    expect(types.typeModel('Visit')!.elements.get('value')!.choice).toBe(true)
    expect(types.typeModel('Visit')!.elements.get('anything')!.types).toContain('Dosage')
    expect(elements(types, 'Visit.part')).toMatchObject({ text: 'markdown 0..1', part: 'Visit.part 0..*' })
    expect(elements(types, 'Ward')).toEqual({ name: 'string 0..1' })
  })

  test('says what references point at, and which codes are required', () => {
    const target = ['http://hl7.org/fhir/StructureDefinition/Practitioner|4.0.1']
    const types = typesOf(
      visit([
        { path: 'Visit.by', max: '1', type: [{ code: 'Reference', targetProfile: target }] },
        {
          path: 'Visit.sex',
          max: '1',
          type: coded('code'),
          binding: { strength: 'required', valueSet: 'http://hl7.org/fhir/ValueSet/administrative-gender|4.0.1' },
        },
        { path: 'Visit.kind', max: '1', type: coded('code'), binding: { strength: 'example', valueSet: 'urn:any' } },
      ]),
    )
    const { elements } = types.typeModel('Visit')!
    expect(elements.get('by')!.targets).toEqual(['Practitioner'])
    expect(elements.get('kind')!.requiredValueSet).toBeUndefined()
    const sexes = types.valueSet(elements.get('sex')!.requiredValueSet!)!
    expect([...sexes.values()].flatMap(codes => [...codes])).toEqual(['male', 'female', 'other', 'unknown'])
  })

  test('is read from its snapshot; slices and what may not stand are left out', () => {
    const element = [
      { path: 'Visit' },
      { path: 'Visit.name', max: '*', type: coded('string') },
      { path: 'Visit.name', sliceName: 'first', max: '1', type: coded('string') },
      { path: 'Visit.never', max: '0', type: coded('string') },
    ]
    expect(elements(typesOf(visit([], { snapshot: { element } })), 'Visit')).toEqual({ name: 'string 0..*' })
  })

  test('says whether its JSON has a resourceType', () => {
    const suppress = {
      url: 'http://hl7.org/fhir/tools/StructureDefinition/json-suppress-resourcetype',
      valueBoolean: true,
    }
    expect(typesOf(visit([])).typeModel('Visit')!.kind).toBe('resource')
    expect(typesOf(visit([], { extension: [suppress] })).typeModel('Visit')!.kind).toBe('complex')
  })

  test('inherits from other models and from types of R4', () => {
    const types = typesOf(
      visit([{ path: 'Emergency.triage', min: 1, max: '1', type: coded('code') }], {
        url: 'https://clinic.example/fhir/StructureDefinition/Emergency',
        type: 'Emergency',
        baseDefinition: 'https://clinic.example/fhir/StructureDefinition/Visit',
        differential: { element: [{ path: 'Emergency.triage', min: 1, max: '1', type: coded('code') }] },
      }),
      visit([{ path: 'Visit.ward', max: '1', type: coded('string') }], {
        kind: 'resource',
        abstract: false,
        baseDefinition: 'http://hl7.org/fhir/StructureDefinition/DomainResource',
      }),
    )
    expect([...types.typeModel('Emergency')!.elements.keys()]).toEqual([
      ...types.typeModel('DomainResource')!.elements.keys(),
      'ward',
      'triage',
    ])
    expect(types.typeModel('Visit')!.constraints.map(({ key }) => key)).toContain('dom-2')
  })

  test.each([
    ['an element without a type', [{ path: 'Visit.a' }], 'Visit.a: the element has no type'],
    [
      'several types without a choice',
      [{ path: 'Visit.a', type: [{ code: 'string' }, { code: 'code' }] }],
      'Visit.a: an element of several types has a name that ends in [x]',
    ],
    [
      'a reference to nothing',
      [{ path: 'Visit.a', contentReference: '#Visit.b' }],
      'Visit.a: `#Visit.b` is not an element that has elements',
    ],
    ['a foreign path', [{ path: 'Vist.a' }], 'the path `Vist.a` does not begin with `Visit`'],
    [
      'a cardinality',
      [{ path: 'Visit.a', type: coded('string'), max: 'n' }],
      'Visit.a: `n` is not a valid cardinality',
    ],
    ['a misspelt type', [{ path: 'Visit.a', type: coded('strin') }], 'Visit.a: there is no type `strin`'],
  ])('is refused for %s', (_, wrong, message) => {
    expect(() => typesOf(visit(wrong))).toThrow(message)
  })

  test.each(['__proto__', 'constructor', 'prototype', '__proto__[x]'])('is refused for an element %s', name => {
    expect(() => typesOf(visit([{ path: `Visit.${name}`, type: coded('string') }]))).toThrow('reserved name')
  })

  test('is refused if it is something else', () => {
    expect(() => typesOf({ resourceType: 'Patient' })).toThrow('this is not a StructureDefinition')
    expect(() => typesOf(visit([], { url: undefined }))).toThrow('no `url`')
    expect(() => typesOf(visit([], { differential: undefined }))).toThrow('the StructureDefinition has no elements')
    expect(() => typesOf(visit([], { kind: 'primitive-type' }))).toThrow('kind must be')
    expect(() => typesOf(visit([], { derivation: 'constraint' }))).toThrow('profiles are not supported')
  })
})
