import { expect, test } from 'vitest'
import { parseJson } from '../../src/lib/json.ts'

const again = (text: string) => JSON.stringify(parseJson(text))

test('numbers keep the digits they were written with, wherever they stand', () => {
  const texts = ['{"value":7.10}', '[0.0,1e2]', '{"a":{"b":[12345678901234567890]}}', '7.10', '-0', '1e3', '0.0000001']
  expect(texts.map(again)).toEqual(texts)
})

test('numbers of as many digits as a double holds are ordinary where JavaScript writes them in the same way', () => {
  const text = '{"at":"10:59:07.10","value":79.41275486523342,"high":[ 1.2345678901234567 ,0.1234567890123456\n]}'
  expect(parseJson(text)).toEqual(JSON.parse(text))
  const another = text.replace('79.41275486523342', '79.41275486523342000')
  expect(again(another)).toBe(again(text).replace('79.41275486523342', '79.41275486523342000'))
})

test('a number is found in every place: first and last of a list, beside others, and alone', () => {
  const texts = ['[1.10,2.20,3]', '[3,1.10]', '{"a":1.5,"b":79.412754865233420}', '{"a":[0.10]}', '  7.10  ', '-7.10']
  expect(texts.map(again)).toEqual(texts.map(text => text.trim()))
})

test('what JavaScript writes in the same way is an ordinary number', () => {
  expect(parseJson('7.1')).toBe(7.1)
  expect(parseJson(' 79.41275486523342')).toBe(79.41275486523342)
  expect(parseJson('79.41275486523342')).toBe(79.41275486523342)
  expect(parseJson('{"value":10}')).toEqual({ value: 10 })
})
