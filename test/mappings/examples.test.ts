import { Compile } from 'typebox/compile'
import { describe, expect, test } from 'vitest'
import { format } from '../../src/fml/format.ts'
import { render } from '../../src/fml/render.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import { shapes } from '../../src/shapes/all.ts'
import { fhirPathInvariants } from '../../src/store/validate/fhirpath-invariants.ts'
import { createValidator } from '../../src/store/validate.ts'
import { type Mapped, maps, translate, wayBack } from './support.ts'

const validate = createValidator({ invariants: fhirPathInvariants })
const checkers = new Map(shapes.map(shape => [(shape as { $id?: string }).$id, Compile(shape)]))
const asText = (value: unknown): JsonObject => JSON.parse(JSON.stringify(value))

/** What is wrong with a resource as R4, or with a record as its shape. */
function faults(type: string | undefined, value: JsonObject): string[] {
  const shape = checkers.get(type)
  if (!shape) return validate(value, { type }).map(each => `${each.severity}: ${each.diagnostics} (${each.expression})`)
  return [...shape.Errors(asText(value))].map(each => `${each.instancePath} ${each.message}`)
}

const ends = ({ compiled }: Mapped) => {
  const { sources, targets } = compiled.program!
  return { source: sources[0]!.type, target: targets[0]!.type }
}

/** Null and absence say the same. */
const known = (record: JsonObject) => Object.fromEntries(Object.entries(record).filter(([, value]) => value !== null))

describe.each(maps.map(map => [map.name, map] as const))('%s', (_name, map) => {
  test('is read and checked without a problem', () => {
    expect([...map.problems, ...map.compiled.problems].map(each => render(each, map.text))).toEqual([])
  })

  test('stands in the layout that the formatter gives it', () => {
    expect(format(map.text)).toBe(map.text)
  })

  test('has examples with different names', () => {
    expect(map.examples.length).toBeGreaterThanOrEqual(2)
    expect(new Set(map.examples.map(each => each.name)).size).toBe(map.examples.length)
  })

  test.each(map.examples.map(each => [each.name, each] as const))('%s', (_example, { from, context, to }) => {
    expect(asText(translate(map, from, context))).toEqual(asText(to))
    expect({ from: faults(ends(map).source, from), to: faults(ends(map).target, to) }).toEqual({ from: [], to: [] })
    if (context) expect(faults('Context', context)).toEqual([])
  })
})

describe('to FHIR and back', () => {
  const pairs = maps.flatMap(map => {
    const back = map.name.includes('-to-') ? wayBack(map) : undefined
    return back ? map.examples.map(example => [`${map.name}: ${example.name}`, map, back, example] as const) : []
  })

  test.each(pairs)('nothing is lost: %s', (_name, map, back, { from, context }) => {
    const resource = translate(map, from, context)
    expect(asText(translate(back, resource, context))).toMatchObject(asText(known(from)))
  })

  test('all but the pushes lead both ways', () => {
    const oneWay = maps.filter(map => map.name.includes('-to-') && !wayBack(map)).map(map => map.name)
    expect(oneWay).toEqual(['encounter-push-to-fhir', 'lab-push-to-fhir'])
  })
})
