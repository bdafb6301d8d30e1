import { expect, test } from 'vitest'
import { parseJson } from '../../src/lib/json.ts'

const again = (text: string) => JSON.stringify(parseJson(text))

test('numbers keep the digits they were written with, wherever they stand', () => {
  const texts = ['{"value":7.10}', '[0.0,1e2]', '{"a":{"b":[12345678901234567890]}}', '7.10', '-0', '1e3', '0.0000001']
  expect(texts.map(again)).toEqual(texts)
})

test('what JavaScript writes in the same way is an ordinary number', () => {
  expect(parseJson('7.1')).toBe(7.1)
  expect(parseJson('{"value":10}')).toEqual({ value: 10 })
})
