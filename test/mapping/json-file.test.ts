// Where a file ceases to be JSON.

import { expect, test } from 'vitest'
import { jsonOf } from '../../src/mapping/json-file.ts'

const fault = (text: string): string => {
  const read = jsonOf({ path: 'a.json', name: 'a.json', text })
  return 'problem' in read ? `${read.problem.span.line}:${read.problem.span.column}` : 'none'
}

test.each([
  ['{ "a": [1, -2.5e3, "x\\n", null, true, {}, []] }', 'none'],
  ['', '1:1'],
  ['{\n  "a": Amina\n}', '2:8'],
  ['{ "a": 1,\n}', '2:1'],
  ['[1 2]', '1:4'],
  ['[1, ]', '1:5'],
  ['{ "a" 1 }', '1:7'],
  ['{ a: 1 }', '1:3'],
  ['[01]', '1:3'],
  ['{ "a": "x\n" }', '1:8'],
  ['[{ "a": 1 ]', '1:11'],
  ['[1]]', '1:4'],
  ['[1', '1:3'],
  ['{ "a": 1 }\n// end', '2:1'],
])('%j is not JSON from %s on', (text, place) => {
  expect(fault(text)).toBe(place)
})
