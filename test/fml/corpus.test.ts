// Every map of the project, and every published one, is understood, and stays the same map in canonical layout.

import { describe, expect, test } from 'vitest'
import { format } from '../../src/fml/format.ts'
import { parse } from '../../src/fml/parser.ts'
import { outside } from './places.ts'
import { absent, meaning, published, samples } from './support.ts'

test.skipIf(absent)('the published maps are 93 (skipped where they are not beside the project)', () => {
  expect(published).toHaveLength(93)
})

describe('maps', () => {
  test('are read without a problem', () => {
    expect(samples.length).toBeGreaterThan(25)
    expect(samples.flatMap(({ name, text }) => parse(text, name).problems)).toEqual([])
  })

  test('keep their meaning and their comments when they are formatted', () => {
    for (const { name, text } of samples) {
      expect(meaning(parse(format(text)).map), name).toEqual(meaning(parse(text).map))
    }
  })

  test('are formatted once and for all', () => {
    for (const { name, text } of samples) expect(format(format(text)), name).toBe(format(text))
  })

  test('lose no comment', () => {
    for (const { name, text } of samples) {
      const words = [...text.matchAll(/^\s*\/\/(?!\/)(.*)$/gm)].map(match => match[1]!.trim())
      for (const word of words) expect(format(text), name).toContain(word)
    }
  })

  test('have trees whose places are within the text', () => {
    for (const { name, text } of samples) expect(outside(parse(text).map, text), name).toEqual([])
  })
})
