// Everything R4 itself writes in FHIRPath compiles against R4's own types.

import { expect, test } from 'vitest'
import { resourceTypes, searchParams, typeModel, typeNames } from '../../src/definitions/r4.ts'
import { compileBoolean, compileTyped } from '../../src/fhirpath/compile.ts'

const model = { typeModel }

/** Invariants that name elements their focus does not have: R4's mistakes, not ours. */
const FAULTY: Readonly<Record<string, string>> = {
  'ChargeItemDefinition cid-0 on ChargeItemDefinition': 'ChargeItemDefinition has no element `name`',
  'RiskAssessment.prediction ras-1 on decimal': 'is written for the other type of probability[x], Range',
}

test('every search parameter of every resource type compiles, strictly', () => {
  const refused: string[] = []
  let count = 0
  for (const type of resourceTypes) {
    for (const { code, expression, components = [] } of searchParams(type).values()) {
      if (expression === undefined) continue
      const composed = components.map(component => `(${expression}).select(${component.expression})`)
      for (const each of [expression, ...composed]) {
        count++
        const fault = faultOf(() => compileTyped(each, { model, type }))
        if (fault) refused.push(`${type} ${code}: ${fault}`)
      }
    }
  }
  expect(refused).toEqual([])
  expect(count).toBeGreaterThan(1500)
})

test('every invariant compiles for the types of its focus, save those that are mistaken', () => {
  const refused: string[] = []
  let count = 0
  for (const name of typeNames) {
    for (const { key, element, expression } of typeModel(name)!.constraints) {
      for (const type of focusTypes(name, element)) {
        count++
        if (faultOf(() => compileBoolean(expression, { model, type }))) refused.push(`${name} ${key} on ${type}`)
      }
    }
  }
  expect(refused.sort()).toEqual(Object.keys(FAULTY).sort())
  expect(count).toBeGreaterThan(1000)
})

function faultOf(compile: () => unknown): string | undefined {
  try {
    compile()
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

/** The types of `element`, a dotted path from a type. */
function focusTypes(name: string, element: string | undefined): readonly string[] {
  let types: readonly string[] = [name]
  for (const part of element?.split('.') ?? []) types = typeModel(types[0]!)?.elements.get(part)?.types ?? []
  return types
}
