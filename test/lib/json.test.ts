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

test('what looks like a number within a string stays what it is, beside numbers that keep their digits', () => {
  const texts = [
    '{"text":"from: 1.0, to: 2.00","value":3.10}',
    '{"text":"a \\" quote: 1.0, a backslash \\\\","value":[1.0]}',
    '["\\\\", 1.0, "[2.0]", ":3.0}"]',
    '{"[1.0":1.0,"a,2.0":"b"}',
  ]
  expect(texts.map(again)).toEqual(texts.map(text => text.replaceAll(', 1.0, "', ',1.0,"').replaceAll(', ":', ',":')))
})

test('a text may have any character, as it is or escaped', () => {
  const parsed = parseJson('{"a":"\u00910","b":"\\u00911","c":"\\\\u0091","d":1.0}') as { [name: string]: unknown }
  expect([parsed['a'], parsed['b'], parsed['c']]).toEqual(['\u00910', '\u00911', '\\u0091'])
  expect(JSON.stringify(parsed)).toContain('"d":1.0')
})

test('names and lists are as JSON.parse reads them, also beside numbers that keep their digits', () => {
  const text = (number: string) => `{"__proto__":{"a":${number}},"2":[],"1":${number},"b":1,"b":{"c":[[${number}]]}}`
  expect(again(text('1.0'))).toBe(JSON.stringify(JSON.parse(text('7'))).replaceAll('7', '1.0'))
  const parsed = parseJson('{"__proto__":1.0}') as object
  expect(Object.hasOwn(parsed, '__proto__')).toBe(true)
  const deep = `${'['.repeat(100_000)}1.0${']'.repeat(100_000)}`
  expect(parseJson(deep)).toHaveLength(1)
})

test('what is no JSON is refused, also beside numbers that keep their digits', () => {
  for (const text of [
    '[01.10]',
    '[1.0,]',
    '[1.0',
    '[1.0e]',
    '{"a":1.0]',
    '1.0,2.0',
    '1.0],[2.0',
    '{"a" 1.0}',
    '["a:1.0',
    '[-1.0-]',
  ])
    expect(() => parseJson(text), text).toThrow(SyntaxError)
})
