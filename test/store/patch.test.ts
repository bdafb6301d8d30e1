// Both kinds of patch: HL7's published suites, and what they leave out. https://hl7.org/fhir/R4/fhirpatch.html · RFC 6902
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type JsonObject, parseJson } from '../../src/lib/json.ts'
import { applyPatch } from '../../src/store/patch/patch.ts'
import { sharedData } from '../support/data.ts'
import { fhirFromXml } from '../support/fhir-xml.ts'
import { parseXml, type XmlElement } from '../support/xml.ts'

const folder = sharedData('conformance/hl7-fhir-test-cases-r4/r4/patch')
const skipped = folder ? '' : ' (skipped: no shared data)'

interface JsonCase {
  readonly comment: string
  readonly doc: JsonObject
  readonly patch: unknown
  readonly expected?: JsonObject
}

describe.skipIf(!folder)(`the published JSON Patch suite${skipped}`, () => {
  const cases: JsonCase[] = folder ? JSON.parse(readFileSync(join(folder, 'json-patch-tests.json'), 'utf8')) : []
  test.each(cases.map(each => [each.comment, each] as const))('%s', (_comment, { doc, patch, expected }) => {
    const apply = () => applyPatch(doc, { kind: 'json', operations: patch })
    if (expected) expect(apply()).toEqual(expected)
    else expect(apply).toThrow(/The patch does not apply: operation 1/)
  })
})

interface XmlCase {
  readonly name: string
  readonly input: XmlElement
  readonly diff: XmlElement
  readonly output: XmlElement | undefined
}

function readCases(): XmlCase[] {
  if (!folder) return []
  const { children } = parseXml(readFileSync(join(folder, 'fhir-patch-tests.xml'), 'utf8'))
  return children.map(({ attributes, children: parts }) => {
    const part = (name: string) => parts.find(each => each.name === name)?.children[0]
    return { name: attributes.name ?? '', input: part('input')!, diff: part('diff')!, output: part('output') }
  })
}

/** The suite writes the same narrative with other white space, and a quotation mark as `"` and as `&quot;`. */
function sameXhtml(resource: unknown): unknown {
  const plain = (div: string) => div.replaceAll('&quot;', '"').replace(/\s+/g, ' ')
  return JSON.parse(JSON.stringify(resource, (key, value) => (key === 'div' ? plain(value) : value)))
}

describe.skipIf(!folder)(`the published FHIRPath Patch suite${skipped}`, () => {
  test.each(readCases().map(each => [each.name, each] as const))('%s', (_name, { input, diff, output }) => {
    const apply = () =>
      applyPatch(fhirFromXml(input.source), { kind: 'fhirpath', parameters: fhirFromXml(diff.source) })
    if (output) expect(sameXhtml(apply())).toEqual(sameXhtml(fhirFromXml(output.source)))
    else expect(apply).toThrow(/The patch does not apply: operation 1/)
  })
})

const observation = () =>
  parseJson(
    '{"resourceType":"Observation","valueQuantity":{"value":1.00},"component":[{"valueQuantity":{"value":2.50}}]}',
  )

function jsonPatched(...operations: object[]): string {
  return JSON.stringify(applyPatch(observation() as JsonObject, { kind: 'json', operations }))
}

describe('JSON Patch', () => {
  test('keeps the digits of decimals that it does not touch', () => {
    expect(jsonPatched({ op: 'add', path: '/status', value: 'final' })).toContain('"value":1.00')
  })

  test('keeps the digits of decimals that it copies', () => {
    expect(jsonPatched({ op: 'copy', from: '/valueQuantity', path: '/component/0/valueQuantity' })).toBe(
      '{"resourceType":"Observation","valueQuantity":{"value":1.00},"component":[{"valueQuantity":{"value":1.00}}]}',
    )
  })

  test('keeps the digits of decimals that it moves', () => {
    expect(jsonPatched({ op: 'move', from: '/component/0/valueQuantity', path: '/valueQuantity' })).toBe(
      '{"resourceType":"Observation","valueQuantity":{"value":2.50},"component":[{}]}',
    )
  })

  test('tests decimals by their value', () => {
    expect(jsonPatched({ op: 'test', path: '/valueQuantity/value', value: 1 })).toContain('1.00')
    expect(() => jsonPatched({ op: 'test', path: '/valueQuantity/value', value: 1.1 })).toThrow(/does not apply/)
    expect(jsonPatched({ op: 'test', path: '/valueQuantity', value: { value: 1 } })).toContain('1.00')
  })

  test.each([
    ['add beyond the end of a list', { op: 'add', path: '/component/5', value: {} }],
    ['a list index that is no number', { op: 'add', path: '/component/x', value: {} }],
    ['a list index with a leading zero', { op: 'replace', path: '/component/00', value: {} }],
    ['remove of what is not there', { op: 'remove', path: '/note' }],
    ['remove beyond the end of a list', { op: 'remove', path: '/component/1' }],
    ['replace of what is not there', { op: 'replace', path: '/note', value: [] }],
    ['move from nowhere', { op: 'move', from: '/note', path: '/status' }],
    ['move into itself', { op: 'move', from: '/component', path: '/component/0/x' }],
    ['copy from nowhere', { op: 'copy', from: '/note', path: '/status' }],
    ['a path through a text', { op: 'add', path: '/resourceType/length', value: 1 }],
    ['removal of the whole resource', { op: 'remove', path: '' }],
  ])('refuses %s', (_what, operation) => {
    expect(() => jsonPatched(operation)).toThrow(/The patch does not apply: operation 1/)
  })

  test('refuses a pointer at a prototype', () => {
    expect(() => jsonPatched({ op: 'add', path: '/__proto__/polluted', value: true })).toThrow(/JSON Pointer/)
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
  })

  test('refuses to copy a document into itself until memory ends', () => {
    const doubling = Array.from({ length: 40 }, () => ({ op: 'copy', from: '/component', path: '/component/-' }))
    expect(() => jsonPatched(...doubling)).toThrow(/copies more than 100000 values/)
  })

  test('replaces the whole resource', () => {
    expect(jsonPatched({ op: 'replace', path: '', value: { resourceType: 'Observation', status: 'final' } })).toBe(
      '{"resourceType":"Observation","status":"final"}',
    )
  })
})

/** An operation of a FHIRPath Patch: `value` is a value[x] member such as `{ valueString: 'x' }`. */
function operation(type: string, path: string, value: object = {}, more: Record<string, string | number> = {}) {
  const named = Object.entries(more).map(([name, each]) => ({
    name,
    [typeof each === 'number' ? 'valueInteger' : 'valueString']: each,
  }))
  return {
    name: 'operation',
    part: [
      { name: 'type', valueCode: type },
      { name: 'path', valueString: path },
      ...named,
      ...(Object.keys(value).length > 0 ? [{ name: 'value', ...value }] : []),
    ],
  }
}

function fhirPatched(resource: unknown, ...parameter: object[]): unknown {
  const parameters = { resourceType: 'Parameters', parameter }
  return applyPatch(structuredClone(resource) as JsonObject, { kind: 'fhirpath', parameters })
}

describe('FHIRPath Patch', () => {
  const patient = {
    resourceType: 'Patient',
    name: [{ given: ['Ada', 'Bea', 'Cleo'], _given: [null, { id: 'b' }] }],
    deceasedBoolean: false,
    _deceasedBoolean: { id: 'd' },
  }

  test('keeps extensions beside their primitives when one is deleted', () => {
    expect(fhirPatched(patient, operation('delete', 'Patient.name[0].given[0]'))).toMatchObject({
      name: [{ given: ['Bea', 'Cleo'], _given: [{ id: 'b' }, null] }],
    })
  })

  test('keeps extensions beside their primitives when one is inserted', () => {
    const insert = operation('insert', 'Patient.name[0].given', { valueString: 'Zoe' }, { index: 0 })
    expect(fhirPatched(patient, insert)).toMatchObject({
      name: [{ given: ['Zoe', 'Ada', 'Bea', 'Cleo'], _given: [null, null, { id: 'b' }, null] }],
    })
  })

  test('keeps extensions beside their primitives when one is moved', () => {
    const move = operation('move', 'Patient.name[0].given', {}, { source: 1, destination: 0 })
    expect(fhirPatched(patient, move)).toMatchObject({
      name: [{ given: ['Bea', 'Ada', 'Cleo'], _given: [{ id: 'b' }, null, null] }],
    })
  })

  test('puts a choice under the type that the operation names', () => {
    const add = operation('add', 'Observation', { valueDateTime: '2020' }, { name: 'value' })
    expect(fhirPatched({ resourceType: 'Observation' }, add)).toEqual({
      resourceType: 'Observation',
      valueDateTime: '2020',
    })
  })

  test('replaces a choice by a value of another type', () => {
    const replaced = fhirPatched(patient, operation('replace', 'Patient.deceased', { valueDateTime: '2020-01-01' }))
    expect(replaced).toMatchObject({ deceasedDateTime: '2020-01-01' })
    expect(Object.keys(replaced as object)).not.toContain('deceasedBoolean')
    expect(Object.keys(replaced as object)).not.toContain('_deceasedBoolean')
  })

  test.each([
    ['an unknown kind of operation', operation('upsert', 'Patient.name'), /must have the type/],
    ['a path that is no FHIRPath', operation('delete', 'Patient..name'), /does not apply/],
    [
      'a path to several places',
      operation('replace', 'Patient.name.given', { valueString: 'x' }),
      /matches 3 elements/,
    ],
    [
      'an element that the type has not',
      operation('add', 'Patient', { valueString: 'x' }, { name: 'shoe' }),
      /no element shoe/,
    ],
    ['an index beyond the list', operation('insert', 'Patient.name', {}, { index: 9 }), /index must be from 0 to 1/],
    ['a move to nowhere', operation('move', 'Patient.name', {}, { source: 0, destination: 9 }), /from 0 to 0/],
    [
      'replacement of the whole resource',
      operation('replace', 'Patient', { valueString: 'x' }),
      /must select an element/,
    ],
    [
      'parts named like a prototype',
      operation('add', 'Patient', { part: [{ name: '__proto__', part: [] }] }, { name: 'contact' }),
      /no element name/,
    ],
  ])('refuses %s', (_what, each, message) => {
    expect(() => fhirPatched(patient, each)).toThrow(message)
  })
})
