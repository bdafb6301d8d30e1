// The maps that the service is delivered with: sound, laid out, and each example comes out as it says.

import { describe, expect, test } from 'vitest'
import { urlOf } from '../src/fml/compile/unit.ts'
import { format } from '../src/fml/format.ts'
import { differenceText } from '../src/mapping/difference.ts'
import { examplesIn } from '../src/mapping/examples.ts'
import { opposite, roundTrip } from '../src/mapping/round-trip.ts'
import { tryExample } from '../src/mapping/trial.ts'
import { createInspect } from '../src/mapping/validity.ts'
import { shapes } from '../src/shapes/all.ts'
import { deliveredFiles, deliveredSet } from './support/maps.ts'

const set = deliveredSet()
const { byMap, problems } = examplesIn(deliveredFiles)
const inspect = createInspect(shapes)
const runnable = [...set.mappings.values()].filter(each => each.parsed.map.groups.length > 0)

/** Maps that others import: the examples of those try them. */
const imported = new Set(runnable.flatMap(({ parsed }) => parsed.map.imports.map(({ url }) => url.text)))

test('the maps and their examples have no problems, not even warnings', () => {
  expect([...set.problems, ...problems]).toEqual([])
  expect(runnable.length).toBeGreaterThan(0)
})

describe.each(runnable)('$name', ({ name, source, parsed, program }) => {
  const examples = byMap.get(name) ?? []

  test('is laid out as npm run map -- fmt does', () => {
    expect(format(source.text)).toBe(source.text)
  })

  test('has examples, and they come out as they say', () => {
    expect(examples.length > 0 || imported.has(urlOf(parsed.map) ?? '')).toBe(true)
    const findings = examples.map(each => {
      const { error, differences, invalid } = tryExample(program!, each, inspect)
      return [each.name, error?.message, ...differences.map(differenceText), ...invalid].filter(Boolean)
    })
    expect(findings).toEqual(examples.map(each => [each.name]))
  })
})

const records = new Set(shapes.map(shape => (shape as { $id?: string }).$id))
const both = runnable.filter(
  ({ name, program }) => records.has(program!.sources[0]?.type) && set.mappings.has(opposite(name) ?? ''),
)

describe.each(both)('a record that goes through $name and back', mapping => {
  const back = set.mappings.get(opposite(mapping.name)!)!

  test('loses nothing', () => {
    const spare = byMap.get(back.name)?.find(each => each.context)?.context
    const { lost, changed, errors } = roundTrip(mapping, back, byMap.get(mapping.name) ?? [], spare)
    expect({ lost: [...lost.keys()], changed: [...changed.keys()], errors }).toEqual({
      lost: [],
      changed: [],
      errors: [],
    })
  })
})
