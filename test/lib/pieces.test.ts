import { expect, test } from 'vitest'
import { encoded, type Pieces } from '../../src/lib/pieces.ts'

const text = (pieces: readonly string[]) => Buffer.from(pieces.join(''))
const bytes = async (pieces: string | Pieces) => Buffer.concat((await encoded(pieces)).parts)

test('pieces are encoded as their text would be, empty and long ones and those of two bytes a character too', async () => {
  const long = 'aé'.repeat(200_000)
  for (const pieces of [[], [''], ['a', '', 'Zoë', '患者'], [long, '{}', long], ['👩‍⚕️', long]])
    expect((await bytes(pieces)).equals(text(pieces))).toBe(true)
  expect((await bytes('Zoë')).equals(Buffer.from('Zoë'))).toBe(true)
})

test('the two halves of a character stay together wherever a long piece is divided', async () => {
  for (let before = 0; before < 4; before++) {
    const pieces = ['x'.repeat(before) + '👩‍⚕️'.repeat(120_000)]
    expect((await bytes(pieces)).equals(text(pieces))).toBe(true)
  }
})

test('other work goes on while much is encoded', async () => {
  let turns = 0
  const count = (): void => {
    turns++
    running = setImmediate(count)
  }
  let running = setImmediate(count)
  await encoded(Array.from({ length: 5000 }, () => 'x'.repeat(1000)))
  clearImmediate(running)
  expect(turns).toBeGreaterThanOrEqual(4)
})

test('what is encoded has the length of its parts, whichever characters end a block', async () => {
  for (const piece of ['é', '患', '👩', 'xé'])
    for (let before = 0; before < 4; before++) {
      const pieces = ['x'.repeat(before), ...Array.from({ length: 70_000 }, () => piece)]
      const made = await encoded(pieces)
      expect(Buffer.concat(made.parts).equals(text(pieces))).toBe(true)
      expect([made.size, made.parts.length > 1]).toEqual([text(pieces).length, true])
    }
})

test('memory that is given back serves the next text, and the former has none', async () => {
  const first = await encoded('a'.repeat(200_000))
  const [memory] = first.parts.map(part => part.buffer)
  first.giveBack()
  first.giveBack()
  expect(() => first.parts).toThrow('given back')
  const next = await Promise.all(['b', 'c'].map(letter => encoded(letter.repeat(200_000))))
  expect(next.flatMap(({ parts }) => parts).some(part => part.buffer === memory)).toBe(true)
  expect(
    next.map(({ parts }) =>
      Buffer.concat(parts)
        .toString()
        .replace(/(.)\1*/g, '$1'),
    ),
  ).toEqual(['b', 'c'])
})
