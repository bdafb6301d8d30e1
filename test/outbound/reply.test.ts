// What is kept of a reply, and how long its receiver wants to be left alone.
import { expect, test } from 'vitest'
import { createExcerpt, retryAfterOf } from '../../src/outbound/reply.ts'

function excerptOf(...chunks: string[]) {
  const excerpt = createExcerpt()
  return { goesOn: chunks.map(chunk => excerpt.add(Buffer.from(chunk))), text: excerpt.text() }
}

test('16 KiB of a reply are read, and a thousand characters kept, however long they are', () => {
  const half = 'a'.repeat(8192)
  expect(excerptOf(half, half, '')).toEqual({ goesOn: [true, true, true], text: 'a'.repeat(1000) })
  expect(excerptOf(half, half, 'a').goesOn).toEqual([true, true, false])
  expect(excerptOf('€'.repeat(999), '€€').text).toBe('€'.repeat(1000))
})

test('a reply without a body has no text', () => {
  expect([excerptOf().text, excerptOf('').text]).toEqual([undefined, undefined])
})

test('what hides or turns round other text is not kept, nor half a character', () => {
  expect(excerptOf('a\n\u202eb\u2028\u2029\u0000c').text).toBe('a  b   c')
  expect(excerptOf(`${'a'.repeat(999)}\u{1f489}`).text).toBe(`${'a'.repeat(999)}\ufffd`)
})

const now = Date.parse('2026-01-01T00:00:00Z')

test.each<[string | string[] | undefined, number | undefined]>([
  ['120', 120],
  [['7', '8'], 7],
  ['999999999', 999_999_999],
  ['1234567890', undefined],
  ['7 days', undefined],
  ['in 7', undefined],
  ['Thu, 01 Jan 2026 00:01:30 GMT', 90],
  ['Wed, 31 Dec 2025 23:00:00 GMT', 0],
  ['2026-01-01T00:01:30Z', undefined],
  ['Soon', undefined],
  ['', undefined],
  [undefined, undefined],
])('Retry-After: %s asks for %s seconds', (header, seconds) => {
  expect(retryAfterOf({ 'retry-after': header }, now)).toBe(seconds)
})

test('part of a second counts as one', () => {
  expect(retryAfterOf({ 'retry-after': 'Thu, 01 Jan 2026 00:01:30 GMT' }, now - 1)).toBe(91)
})
