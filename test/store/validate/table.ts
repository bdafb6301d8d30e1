// Resources in one sentence each, with the problems they have: code, expression, diagnostics.

import { describe, expect, test } from 'vitest'
import { type Issue, validateResource } from '../../../src/store/validate.ts'

export type Case = [
  sentence: string,
  resource: unknown,
  ...problems: [code: Issue['code'], expression: string, diagnostics: string][],
]

export function table(name: string, cases: Case[]): void {
  describe(name, () => {
    test.each(cases)('%s', (_sentence, resource, ...problems) => {
      const found = validateResource(resource)
      expect(found.map(it => [it.code, it.expression, it.diagnostics])).toEqual(problems)
      expect(found.filter(it => it.severity !== 'error')).toEqual([])
    })
  })
}

export const patient = (rest: object) => ({ resourceType: 'Patient', ...rest })

export const observation = (rest: object) => ({
  resourceType: 'Observation',
  status: 'final',
  code: { text: 'weight' },
  ...rest,
})

/** A number with the digits it was written with. */
export const raw = (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON
