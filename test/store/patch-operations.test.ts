// Each operation of both kinds of patch, on invented resources. RFC 6902 · https://hl7.org/fhir/R4/fhirpatch.html
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/lib/json.ts'
import { applyPatch } from '../../src/store/patch/patch.ts'

const document = (): JsonObject => ({
  resourceType: 'Basic',
  list: [1, 2, 3],
  deep: { inner: { word: 'a' }, other: 'b' },
  'a/b': 1,
  'm~n': 2,
  none: null,
})

const changed = (more: object) => ({ ...document(), ...more })
const without = (name: string) => {
  const { [name]: _gone, ...rest } = document()
  return rest
}

describe('a JSON Patch', () => {
  test.each([
    ['add a member', [{ op: 'add', path: '/new', value: { x: 1 } }], changed({ new: { x: 1 } })],
    ['add over a member that is there', [{ op: 'add', path: '/deep', value: 7 }], changed({ deep: 7 })],
    [
      'add within a member',
      [{ op: 'add', path: '/deep/inner/more', value: true }],
      changed({ deep: { inner: { word: 'a', more: true }, other: 'b' } }),
    ],
    ['add before an item', [{ op: 'add', path: '/list/1', value: 9 }], changed({ list: [1, 9, 2, 3] })],
    [
      'add at the place behind the last item',
      [{ op: 'add', path: '/list/3', value: 4 }],
      changed({ list: [1, 2, 3, 4] }),
    ],
    ['add at the end', [{ op: 'add', path: '/list/-', value: [4] }], changed({ list: [1, 2, 3, [4]] })],
    ['add a null', [{ op: 'add', path: '/new', value: null }], changed({ new: null })],
    ['remove a member', [{ op: 'remove', path: '/deep' }], without('deep')],
    ['remove an item', [{ op: 'remove', path: '/list/0' }], changed({ list: [2, 3] })],
    ['remove a member with a slash in its name', [{ op: 'remove', path: '/a~1b' }], without('a/b')],
    ['remove a member with a tilde in its name', [{ op: 'remove', path: '/m~0n' }], without('m~n')],
    [
      'replace a member',
      [{ op: 'replace', path: '/deep/other', value: 1 }],
      changed({ deep: { inner: { word: 'a' }, other: 1 } }),
    ],
    ['replace an item', [{ op: 'replace', path: '/list/2', value: 'c' }], changed({ list: [1, 2, 'c'] })],
    [
      'move a member',
      [{ op: 'move', from: '/deep/other', path: '/other' }],
      changed({ deep: { inner: { word: 'a' } }, other: 'b' }),
    ],
    ['move an item forward', [{ op: 'move', from: '/list/2', path: '/list/0' }], changed({ list: [3, 1, 2] })],
    ['move an item back', [{ op: 'move', from: '/list/0', path: '/list/2' }], changed({ list: [2, 3, 1] })],
    ['copy a member', [{ op: 'copy', from: '/deep/inner', path: '/copied' }], changed({ copied: { word: 'a' } })],
    ['copy an item', [{ op: 'copy', from: '/list/0', path: '/list/-' }], changed({ list: [1, 2, 3, 1] })],
    ['test a text', [{ op: 'test', path: '/deep/other', value: 'b' }], document()],
    [
      'test an object, whatever the order of its members',
      [{ op: 'test', path: '/deep', value: { other: 'b', inner: { word: 'a' } } }],
      document(),
    ],
    ['test a list', [{ op: 'test', path: '/list', value: [1, 2, 3] }], document()],
    ['test a null', [{ op: 'test', path: '/none', value: null }], document()],
    ['ignore members that it does not know', [{ op: 'remove', path: '/deep', note: 'x' }], without('deep')],
    [
      'several, each on what the one before has made',
      [
        { op: 'add', path: '/new', value: [] },
        { op: 'add', path: '/new/-', value: 1 },
        { op: 'move', from: '/new', path: '/newer' },
      ],
      changed({ newer: [1] }),
    ],
  ])('does what the operation says: %s', (_what, operations, expected) => {
    expect(applyPatch(document(), { kind: 'json', operations })).toEqual(expected)
  })

  test.each([
    ['a text that is another', { op: 'test', path: '/deep/other', value: 'c' }],
    ['a number and a text', { op: 'test', path: '/list/0', value: '1' }],
    ['a list in another order', { op: 'test', path: '/list', value: [3, 2, 1] }],
    ['an object with one member more', { op: 'test', path: '/deep/inner', value: { word: 'a', x: 1 } }],
    ['what is not there', { op: 'test', path: '/gone', value: null }],
  ])('fails as a whole where a test finds %s', (_what, failing) => {
    const operations = [{ op: 'remove', path: '/none' }, failing]
    expect(() => applyPatch(document(), { kind: 'json', operations })).toThrow('The patch does not apply: operation 2')
  })
})

const patient = (): JsonObject => ({
  resourceType: 'Patient',
  active: true,
  birthDate: '1990-01-01',
  name: [{ family: 'Sow', given: ['Awa', 'Ndeye'] }],
  contact: [{ gender: 'female' }, { gender: 'male' }],
  identifier: [
    { system: 'urn:a', value: '1' },
    { system: 'urn:b', value: '2' },
    { system: 'urn:c', value: '3' },
  ],
})

interface Operation {
  readonly type: string
  readonly path: string
  readonly name?: string
  readonly value?: object
  readonly index?: number
  readonly source?: number
  readonly destination?: number
}

function parameters(operations: readonly Operation[]): object {
  const numbers = ['index', 'source', 'destination'] as const
  const parameter = operations.map(each => ({
    name: 'operation',
    part: [
      { name: 'type', valueCode: each.type },
      { name: 'path', valueString: each.path },
      ...(each.name === undefined ? [] : [{ name: 'name', valueString: each.name }]),
      ...(each.value === undefined ? [] : [{ name: 'value', ...each.value }]),
      ...numbers.flatMap(name => (each[name] === undefined ? [] : [{ name, valueInteger: each[name] }])),
    ],
  }))
  return { resourceType: 'Parameters', parameter }
}

const [one, two, three] = [
  { system: 'urn:a', value: '1' },
  { system: 'urn:b', value: '2' },
  { system: 'urn:c', value: '3' },
]
const like = (more: object) => ({ ...patient(), ...more })
const bare = (name: string) => {
  const { [name]: _gone, ...rest } = patient()
  return rest
}

describe('a FHIRPath Patch', () => {
  test.each<[string, Operation[], object]>([
    [
      'add a primitive',
      [{ type: 'add', path: 'Patient', name: 'gender', value: { valueCode: 'female' } }],
      like({ gender: 'female' }),
    ],
    [
      'add to a list',
      [{ type: 'add', path: 'Patient', name: 'identifier', value: { valueIdentifier: { value: '4' } } }],
      like({ identifier: [one, two, three, { value: '4' }] }),
    ],
    [
      'add a list that was not there',
      [{ type: 'add', path: 'Patient', name: 'telecom', value: { valueContactPoint: { value: '77' } } }],
      like({ telecom: [{ value: '77' }] }),
    ],
    [
      'add within an item',
      [{ type: 'add', path: "Patient.identifier.where(system = 'urn:b')", name: 'use', value: { valueCode: 'old' } }],
      like({ identifier: [one, { ...two, use: 'old' }, three] }),
    ],
    [
      'add a backbone element by its parts',
      [
        {
          type: 'add',
          path: 'Patient',
          name: 'contact',
          value: {
            part: [
              { name: 'gender', valueCode: 'other' },
              { name: 'name', valueHumanName: { text: 'x' } },
            ],
          },
        },
      ],
      like({ contact: [{ gender: 'female' }, { gender: 'male' }, { gender: 'other', name: { text: 'x' } }] }),
    ],
    [
      'insert before the first',
      [{ type: 'insert', path: 'Patient.identifier', index: 0, value: { valueIdentifier: { value: '0' } } }],
      like({ identifier: [{ value: '0' }, one, two, three] }),
    ],
    [
      'insert behind the last',
      [{ type: 'insert', path: 'Patient.identifier', index: 3, value: { valueIdentifier: { value: '4' } } }],
      like({ identifier: [one, two, three, { value: '4' }] }),
    ],
    ['delete a primitive', [{ type: 'delete', path: 'Patient.birthDate' }], bare('birthDate')],
    ['delete an item', [{ type: 'delete', path: 'Patient.identifier[1]' }], like({ identifier: [one, three] })],
    [
      'delete the last item that there is',
      [
        { type: 'delete', path: 'Patient.name[0].given[1]' },
        { type: 'delete', path: 'Patient.name[0].given[0]' },
      ],
      like({ name: [{ family: 'Sow' }] }),
    ],
    ['delete what is not there', [{ type: 'delete', path: 'Patient.gender' }], patient()],
    [
      'replace a primitive',
      [{ type: 'replace', path: 'Patient.birthDate', value: { valueDate: '1991-02-03' } }],
      like({ birthDate: '1991-02-03' }),
    ],
    [
      'replace an item',
      [{ type: 'replace', path: 'Patient.identifier[2]', value: { valueIdentifier: { value: '9' } } }],
      like({ identifier: [one, two, { value: '9' }] }),
    ],
    [
      'move forward',
      [{ type: 'move', path: 'Patient.identifier', source: 2, destination: 0 }],
      like({ identifier: [three, one, two] }),
    ],
    [
      'move back',
      [{ type: 'move', path: 'Patient.identifier', source: 0, destination: 2 }],
      like({ identifier: [two, three, one] }),
    ],
  ])('changes what the path leads to: %s', (_what, operations, expected) => {
    expect(applyPatch(patient(), { kind: 'fhirpath', parameters: parameters(operations) as JsonObject })).toEqual(
      expected,
    )
  })
})

const [birthTime, reason, prefix, nick] = [
  'http://hl7.org/fhir/StructureDefinition/patient-birthTime',
  'http://hl7.org/fhir/StructureDefinition/data-absent-reason',
  'http://hl7.org/fhir/StructureDefinition/humanname-own-prefix',
  'http://example.org/nick',
]
const bornAt = { url: birthTime, valueDateTime: '1980-01-02T03:04:05Z' }
const [own, called] = [
  { url: prefix, valueString: 'van' },
  { url: nick, valueString: 'Bo' },
]
const extended = (more: object = {}): JsonObject => ({
  resourceType: 'Patient',
  birthDate: '1980-01-02',
  _birthDate: { id: 'b1', extension: [bornAt] },
  name: [
    {
      family: 'van Berg',
      _family: { extension: [own] },
      given: ['Anna', 'Bodil', 'Carla'],
      _given: [null, { extension: [called] }, null],
    },
  ],
  ...more,
})
const named = (more: object): JsonObject => extended({ name: [{ ...(extended()['name'] as object[])[0], ...more }] })

describe('a FHIRPath Patch of what stands beside a primitive', () => {
  test.each<[string, Operation[], object, object]>([
    [
      'delete an extension',
      [{ type: 'delete', path: `Patient.birthDate.extension('${birthTime}')` }],
      extended(),
      extended({ _birthDate: { id: 'b1' } }),
    ],
    [
      'delete an extension by its index',
      [{ type: 'delete', path: 'Patient.birthDate.extension[0]' }],
      extended({ _birthDate: { extension: [bornAt, called] } }),
      extended({ _birthDate: { extension: [called] } }),
    ],
    [
      'delete an id',
      [{ type: 'delete', path: 'Patient.birthDate.id' }],
      extended(),
      extended({ _birthDate: { extension: [bornAt] } }),
    ],
    [
      'delete the last that there is',
      [
        { type: 'delete', path: 'Patient.birthDate.id' },
        { type: 'delete', path: 'Patient.birthDate.extension' },
      ],
      extended(),
      extended({ _birthDate: undefined }),
    ],
    [
      'delete an extension whose primitive has no value',
      [{ type: 'delete', path: 'Patient.birthDate.extension' }],
      { resourceType: 'Patient', active: true, _birthDate: { extension: [bornAt] } },
      { resourceType: 'Patient', active: true },
    ],
    [
      'delete the only extension of a list',
      [{ type: 'delete', path: 'Patient.name.given[1].extension' }],
      extended(),
      named({ _given: undefined }),
    ],
    [
      'delete one extension of a list that has another',
      [{ type: 'delete', path: 'Patient.name.given[1].extension' }],
      named({ _given: [{ id: 'g' }, { extension: [called] }] }),
      named({ _given: [{ id: 'g' }, null, null] }),
    ],
    [
      'delete an extension whose item has no value',
      [{ type: 'delete', path: 'Patient.name.given[1].extension' }],
      named({ given: ['Anna', null, 'Carla'] }),
      named({ given: ['Anna', 'Carla'], _given: undefined }),
    ],
    [
      'delete an item that has only an extension',
      [{ type: 'delete', path: 'Patient.name.given[0]' }],
      named({ given: undefined, _given: [{ id: 'g' }, { extension: [called] }] }),
      named({ given: undefined, _given: [{ extension: [called] }] }),
    ],
    [
      'delete an item before one with an extension',
      [{ type: 'delete', path: 'Patient.name.given[0]' }],
      extended(),
      named({ given: ['Bodil', 'Carla'], _given: [{ extension: [called] }, null] }),
    ],
    [
      'replace the value of an extension',
      [{ type: 'replace', path: 'Patient.name.family.extension.value', value: { valueString: 'von' } }],
      extended(),
      named({ _family: { extension: [{ url: prefix, valueString: 'von' }] } }),
    ],
    [
      'replace the value of an extension within a list',
      [{ type: 'replace', path: 'Patient.name.given[1].extension.value', value: { valueString: 'Bodo' } }],
      extended(),
      named({ _given: [null, { extension: [{ url: nick, valueString: 'Bodo' }] }, null] }),
    ],
    [
      'replace the value of an extension by one of another type',
      [{ type: 'replace', path: 'Patient.birthDate.extension.value', value: { valueString: 'at dawn' } }],
      extended(),
      extended({ _birthDate: { id: 'b1', extension: [{ url: birthTime, valueString: 'at dawn' }] } }),
    ],
    [
      'replace an id',
      [{ type: 'replace', path: 'Patient.birthDate.id', value: { valueString: 'b2' } }],
      extended(),
      extended({ _birthDate: { id: 'b2', extension: [bornAt] } }),
    ],
    [
      'replace a value, and leave what stands beside it',
      [{ type: 'replace', path: 'Patient.birthDate', value: { valueDate: '1981-01-02' } }],
      extended(),
      extended({ birthDate: '1981-01-02' }),
    ],
    [
      'replace an absent item, and with it the reason of its absence',
      [{ type: 'replace', path: 'Patient.name.given[1]', value: { valueString: 'Berta' } }],
      named({ given: ['Anna', null, 'Carla'] }),
      named({ given: ['Anna', 'Berta', 'Carla'], _given: undefined }),
    ],
    [
      'add an extension to a primitive that has one',
      [{ type: 'add', path: 'Patient.birthDate', name: 'extension', value: { valueExtension: called } }],
      extended(),
      extended({ _birthDate: { id: 'b1', extension: [bornAt, called] } }),
    ],
    [
      'add an extension to a primitive that has none',
      [{ type: 'add', path: 'Patient.birthDate', name: 'extension', value: { valueExtension: bornAt } }],
      extended({ _birthDate: undefined }),
      extended({ _birthDate: { extension: [bornAt] } }),
    ],
    [
      'add an extension to one of a list of primitives',
      [{ type: 'add', path: 'Patient.name.given[2]', name: 'extension', value: { valueExtension: called } }],
      named({ _given: undefined }),
      named({ _given: [null, null, { extension: [called] }] }),
    ],
    [
      'add an item behind one that has only an extension',
      [{ type: 'add', path: 'Patient.name', name: 'given', value: { valueString: 'Dora' } }],
      named({ given: undefined, _given: [{ extension: [called] }] }),
      named({ given: [null, 'Dora'], _given: [{ extension: [called] }, null] }),
    ],
    [
      'insert an extension',
      [{ type: 'insert', path: 'Patient.birthDate.extension', index: 0, value: { valueExtension: called } }],
      extended(),
      extended({ _birthDate: { id: 'b1', extension: [called, bornAt] } }),
    ],
    [
      'insert the first extension',
      [{ type: 'insert', path: 'Patient.birthDate.extension', index: 0, value: { valueExtension: bornAt } }],
      extended({ _birthDate: { id: 'b1' } }),
      extended(),
    ],
    [
      'move an item with its extension',
      [{ type: 'move', path: 'Patient.name.given', source: 1, destination: 2 }],
      extended(),
      named({ given: ['Anna', 'Carla', 'Bodil'], _given: [null, null, { extension: [called] }] }),
    ],
    [
      'replace a choice that is absent for a reason',
      [{ type: 'replace', path: 'Observation.value', value: { valueString: 'seen' } }],
      { resourceType: 'Observation', _valueString: { extension: [{ url: reason, valueCode: 'unknown' }] } },
      { resourceType: 'Observation', valueString: 'seen' },
    ],
    [
      'delete a choice that is absent for a reason',
      [{ type: 'delete', path: 'Observation.value' }],
      { resourceType: 'Observation', _valueString: { extension: [{ url: reason, valueCode: 'unknown' }] } },
      { resourceType: 'Observation' },
    ],
  ])('changes that, and leaves the value: %s', (_what, operations, before, expected) => {
    const patch = { kind: 'fhirpath', parameters: parameters(operations) } as const
    const after = applyPatch(structuredClone(before) as JsonObject, patch)
    expect(JSON.parse(JSON.stringify(after))).toEqual(JSON.parse(JSON.stringify(expected)))
  })
})
