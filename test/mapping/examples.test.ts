// Examples beside maps: how they are read, tried, and taken there and back.

import { describe, expect, test } from 'vitest'
import { parseJson } from '../../src/lib/json.ts'
import { differences, differenceText } from '../../src/mapping/difference.ts'
import { examplesIn } from '../../src/mapping/examples.ts'
import { roundTrip } from '../../src/mapping/round-trip.ts'
import { mappingSet } from '../../src/mapping/set.ts'
import { tryExample } from '../../src/mapping/trial.ts'
import { createInspect } from '../../src/mapping/validity.ts'
import { example, fromFhir, shapes, toFhir } from './support.ts'

const file = (name: string, text: string) => ({ path: `mappings/${name}`, name, text })
const set = mappingSet([file('allergy-to-fhir.fml', toFhir), file('allergy-from-fhir.fml', fromFhir)], { shapes })
const there = set.mappings.get('allergy-to-fhir')!
const back = set.mappings.get('allergy-from-fhir')!
const inspect = createInspect(shapes)
const examples = (text: string) =>
  examplesIn([file('a.fml', ''), file('a.examples.json', text)]).problems.map(
    ({ span, message }) => `${span.line} ${message}`,
  )
const sample = { ...example, file: 'a.examples.json', line: 1, context: undefined, origin: undefined }

describe('a file of examples', () => {
  test('gives each example with its line', () => {
    const { byMap, problems } = examplesIn([
      file('a.fml', ''),
      file(
        'a.examples.json',
        JSON.stringify([example, { ...example, name: 'ask the mother', origin: 'CC0' }], null, 1),
      ),
    ])
    expect(problems).toEqual([])
    expect(byMap.get('a')!.map(({ name, line, origin }) => [name, line, origin])).toEqual([
      ['peanuts, severe', 3, undefined],
      ['ask the mother', 32, 'CC0'],
    ])
  })

  test.each([
    ['{}', '1 examples are a list: `[{ "name": …, "from": …, "to": … }]`'],
    ['[\n1]', '1 example 1: this is not an object'],
    ['[{ "from": {}, "to": {} }]', '1 example 1: `name` is missing: what the example shows'],
    ['[\n\n{ "name": "x", "from": {} }]', '3 example x: `to` is missing: the object that has to come out'],
    [
      '[\n{ "name": "x", "from": {}, "too": {} }]',
      '2 example x: there is no `too` in an example; it has name, from, context, to, error, origin',
    ],
    [
      '[{ "name": "x", "from": {}, "to": {} }, { "name": "x", "from": {}, "to": {} }]',
      '1 example x: another example has this name',
    ],
    ['[1', '1 invalid JSON from here on'],
  ])('%s is told to be wrong', (text, problem) => {
    expect(examples(text)).toEqual([problem])
  })

  test('needs a map beside it', () => {
    const { problems } = examplesIn([file('b.examples.json', '[]')])
    expect(problems.map(each => each.message)).toEqual(['there is no map b.fml for these examples'])
  })
})

describe('an example', () => {
  test('passes if what comes out is what is expected, and valid', () => {
    expect(tryExample(there.program!, sample, inspect)).toEqual({
      example: sample,
      error: undefined,
      made: sample.to,
      differences: [],
      invalid: [],
    })
  })

  test('tells every difference with its place', () => {
    const to = { ...example.to, code: { coding: [{ code: '1' }] }, criticality: 'low', note: [{ text: 'x' }] }
    const { differences } = tryExample(there.program!, { ...sample, to }, inspect)
    expect(differences.map(differenceText)).toEqual([
      'code.coding: expected [{"code":"1"}], but it is missing',
      'code.text: not expected, got "peanut"',
      'criticality: expected "low", got "high"',
      'note: expected [{"text":"x"}], but it is missing',
    ])
  })

  test('whose record or result is not valid does not pass', () => {
    const from = { ...example.from, patient_id: 7, id: 'not an id' }
    const { invalid, error } = tryExample(there.program!, { ...sample, from: { ...from, extra: 1 } }, inspect)
    expect(error?.message).toContain('this is not of the form of an id')
    expect(invalid).toEqual(['from: WardAllergy: extra is unknown', 'from: WardAllergy.patient_id: must be string'])
    const { invalid: after } = tryExample(
      back.program!,
      { ...sample, from: { ...example.to, criticality: 'awful' } },
      inspect,
    )
    expect(after).toEqual([expect.stringMatching(/^from: AllergyIntolerance\.criticality: .*awful/)])
  })
})

test('numbers are compared by their digits', () => {
  const [a, b] = [parseJson('{ "v": 1.50, "w": [2] }'), parseJson('{ "w": [2], "v": 1.5 }')]
  expect(differences(a, a)).toEqual([])
  expect(differences(a, b).map(differenceText)).toEqual(['v: expected 1.50, got 1.5'])
})

test('on the way there and back it is told what is lost, and null counts as nothing', () => {
  const trip = roundTrip(
    there,
    back,
    [sample, { ...sample, from: { ...example.from, severity: null as never } }],
    undefined,
  )
  expect(trip).toEqual({
    there: 'allergy-to-fhir',
    back: 'allergy-from-fhir',
    examples: 2,
    lost: new Map([
      ['severity', 1],
      ['note', 2],
    ]),
    changed: new Map(),
    added: new Map(),
    errors: [],
  })
})
