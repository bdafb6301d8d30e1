// What the catalogue makes of thousands of published resources, of those that the maps write, and of resources that are wrong.

import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { Compile, type Validator } from 'typebox/compile'
import { describe, expect, test } from 'vitest'
import { eventTypes } from '../../src/events/event-types.ts'
import { type Occurrence, verified } from '../../src/events/occurrence.ts'
import { isObject, type JsonObject, objectsIn, parseJson } from '../../src/lib/json.ts'
import { sharedData } from '../support/data.ts'
import { but, catalogue, delivered } from './support.ts'

const schemas = new Map(Object.entries(eventTypes).map(([type, { data }]) => [type, Compile(data) as Validator]))

/** What the schema of its type has against the data of an event. */
const faultsOf = (each: Occurrence, healthId: string | null): unknown[] =>
  schemas
    .get(each.type)!
    .Errors(delivered(each, healthId))
    .map(error => [each.type, each.data, error.message])

/** A resource, and those that a transaction or a document brings along. */
function unpacked(value: unknown): JsonObject[] {
  if (!isObject(value)) return []
  const inner = objectsIn(value['entry']).flatMap(({ resource }) => unpacked(resource))
  return value['resourceType'] === 'Bundle' ? inner : [value]
}

function readFolder(name: string): JsonObject[] {
  const folder = sharedData(name)
  if (!folder) return []
  const files = globSync('*.ndjson.gz', { cwd: folder }).filter(file => isTold(file) || file.startsWith('Bundle'))
  const lines = files.flatMap(file =>
    gunzipSync(readFileSync(join(folder, file)))
      .toString()
      .split('\n'),
  )
  return lines.filter(line => line !== '').flatMap(line => unpacked(parseJson(line)))
}

const isTold = (file: string): boolean => catalogue.types.has(file.split('.')[0]!)

function readMaps(): JsonObject[] {
  const folder = fileURLToPath(new URL('../../mappings/', import.meta.url))
  const files = globSync('*-to-{fhir,composition,document}.examples.json', { cwd: folder })
  return files.flatMap(file => {
    const examples = JSON.parse(readFileSync(join(folder, basename(file)), 'utf8')) as JsonObject[]
    return examples.flatMap(({ to }) => unpacked(to))
  })
}

/** Every step that a resource can take: it is made, changed, taken back, and deleted. */
function lifeOf(resource: JsonObject): Occurrence[] {
  const type = String(resource['resourceType'])
  const id = typeof resource['id'] === 'string' ? resource['id'] : 'it'
  const statuses = ['draft', 'active', 'final', 'completed', 'cancelled', 'entered-in-error']
  const others = statuses.map(status => but(resource, { status, extension: [], name: [] }))
  const states = [undefined, resource, ...others, resource, undefined, resource]
  return states
    .slice(1)
    .flatMap((now, index) => catalogue.derive({ type, id, version: index + 1, resource: now, former: states[index] }))
}

/** Family names of patients that the text has as words of their own. */
function familiesIn(text: string, resources: readonly JsonObject[]): string[] {
  const words = new Set(text.match(/[\p{L}\p{N}'-]+/gu))
  const patients = resources.filter(({ resourceType }) => resourceType === 'Patient')
  return patients.flatMap(namesOf).filter(each => words.has(each) || (each.includes(' ') && text.includes(each)))
}

const namesOf = ({ name }: JsonObject): string[] =>
  objectsIn(name).flatMap(({ family }) => (typeof family === 'string' && family.length > 2 ? [family] : []))

const sources: readonly [string, JsonObject[], number][] = [
  ['the maps', readMaps(), 60],
  ['hl7-r4-examples', readFolder('hl7-r4-examples'), 100],
  ['botswana-hie-examples', readFolder('botswana-hie-examples'), 20],
  ['synthea-2025-bulk-10p', readFolder('synthea-2025-bulk-10p'), 1000],
]

describe.each(sources)('of all resources of %s', (source, resources, least) => {
  const absent = resources.length === 0 ? ' (skipped: no shared data)' : ''

  test.skipIf(resources.length === 0)(`what is told fits its schema, and names nobody${absent}`, () => {
    const told = resources.flatMap(lifeOf)
    expect(told.length, source).toBeGreaterThan(least)
    const faults = told.flatMap((each, index) => faultsOf(each, index % 2 ? 'CM-TQYE-6SRK-YQ6S' : null))
    expect(faults.slice(0, 3)).toEqual([])
    expect(familiesIn(JSON.stringify(told.map(({ data }) => data)), resources)).toEqual([])
  })
})

const junk: readonly unknown[] = [
  null,
  0,
  true,
  '',
  'x',
  [],
  [null],
  ['x'],
  [[]],
  {},
  [{}],
  { coding: 'x' },
  [{ coding: [0] }],
]
const strange = [
  'Patient/',
  'Patient/a/b',
  'Organization/ä',
  '#',
  'urn:uuid:1',
  'https://a.example/Patient/b',
  '//',
  ' ',
]
const misled: readonly unknown[] = strange.flatMap(reference => [{ reference }, [{ reference }]])

/** The resource with something else in place of every element, and of every element within one. */
function spoilt(node: unknown, depth = 3): unknown[] {
  if (depth === 0 || typeof node !== 'object' || node === null) return []
  return Object.entries(node).flatMap(([name, value]) =>
    [...junk, ...misled, ...spoilt(value, depth - 1)].map(each =>
      Array.isArray(node) ? node.with(Number(name), each) : { ...node, [name]: each },
    ),
  )
}

test('whatever stands in a resource, what is told of it fits its schema', () => {
  const one = new Map(readMaps().map(resource => [String(resource['resourceType']), resource]))
  const told = [...one].flatMap(([type, resource]) =>
    spoilt(resource)
      .filter(isObject)
      .flatMap(each => {
        const step = (now?: JsonObject, former?: JsonObject) =>
          catalogue.derive({ type, id: 'it', version: 1, resource: now, former })
        return [...step(each), ...step(each, resource), ...step(resource, each), ...step(undefined, each)]
      }),
  )
  expect(told.length).toBeGreaterThan(1000)
  expect(told.flatMap(each => faultsOf(each, null)).slice(0, 3)).toEqual([])
})

test('that a Health ID was verified fits its schema, whoever did so', () => {
  const told = ['hcy', ''].map(organization => verified({ healthId: 'CM-TQYE-6SRK-YQ6S', patient: 'a', organization }))
  expect(told.flatMap(each => faultsOf(each, null))).toEqual([])
  expect(told.map(({ audience }) => audience)).toEqual([['hcy'], []])
})
