import { expect, test } from 'vitest'
import { Memory } from '../../src/lib/blocks.ts'
import { encoded, type Piece } from '../../src/lib/pieces.ts'
import { StoredText } from '../../src/lib/stored-text.ts'

/** The text as it lies in a block, between others. */
function stored(text: string, memory = new Memory()): StoredText {
  const bytes = Buffer.from(`Patient/${text}Patient/`)
  const block = memory.blockFor(bytes.length)
  const start = block.end + 8
  block.end += bytes.copy(block.bytes, block.end)
  return new StoredText(memory, block.bytes.subarray(start, block.end - 8))
}

test('a stored text is looked through like a string, and not beyond its ends', () => {
  const plain = '{"subject":{"reference":"Patient/1"},"x":"Patient/2"}'
  const text = stored(plain)
  for (const word of ['Patient/', '"', 'absent', 'ference":"'])
    for (let from = 0; from <= plain.length; from++) expect(text.indexOf(word, from)).toBe(plain.indexOf(word, from))
  expect([text.length, text.slice(2, 9), String(text), `${text}`]).toEqual([plain.length, 'subject', plain, plain])
  expect([text.charCodeAt(0), text.charCodeAt(plain.length), text.charCodeAt(-1)]).toEqual([
    0x7b,
    Number.NaN,
    Number.NaN,
  ])
})

test('it is encoded as it is, among strings and across the ends of blocks', async () => {
  const memory = new Memory()
  const pieces: Piece[] = Array.from({ length: 300 }, (_, index) =>
    index % 2 ? stored(`é${'患者'.repeat(index)}`, memory) : 'ü'.repeat(3 * index),
  )
  const made = await encoded(pieces)
  expect(Buffer.concat(made.parts).toString() === pieces.join('')).toBe(true)
  expect(made.parts.length).toBeGreaterThan(4)
})

test('once its memory serves others, nothing of it can be read', async () => {
  const memory = new Memory()
  const text = stored('mine', memory)
  memory.giveBack()
  memory.giveBack()
  expect(String(stored('theirs'))).toBe('theirs')
  for (const read of [() => String(text), () => text.slice(0, 1), () => text.indexOf('m'), () => text.charCodeAt(0)])
    expect(read).toThrow('given back')
  await expect(encoded([text, 'x'.repeat(100_000)])).rejects.toThrow('given back')
})

test('no block is given to two at a time, however often it is given back', () => {
  const first = new Memory()
  first.blockFor(1)
  first.giveBack()
  first.giveBack()
  const [one, other] = [new Memory().blockFor(1), new Memory().blockFor(1)]
  expect(one.bytes.buffer === other.bytes.buffer).toBe(false)
})
