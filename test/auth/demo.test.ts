// The demo client of a local service may do everything.
import { expect, test } from 'vitest'
import { demoScopes } from '../../src/auth/demo.ts'
import { covers, scopes } from '../../src/policy/scopes.ts'

test('the demo client may ask for every scope', () => {
  const wanted = [...Object.keys(scopes), 'system/Patient.cruds', 'system/Binary.write']
  expect(wanted.filter(scope => !covers(demoScopes, scope))).toEqual([])
})
