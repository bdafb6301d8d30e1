// The demo client of a local service may do everything.
import { expect, test } from 'vitest'
import { covers, scopes } from '../../src/access/scopes.ts'
import { demoScopes } from '../../src/identity/demo.ts'

test('the demo client may ask for every scope', () => {
  const wanted = [...Object.keys(scopes), 'system/Patient.cruds', 'system/Binary.write']
  expect(wanted.filter(scope => !covers(demoScopes, scope))).toEqual([])
})
