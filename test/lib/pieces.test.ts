import { expect, test } from 'vitest'
import { encoded } from '../../src/lib/pieces.ts'

const text = (pieces: readonly string[]) => Buffer.from(pieces.join(''))

test('pieces are encoded as their text would be, empty and long ones and those of two bytes a character too', async () => {
  const long = 'aé'.repeat(200_000)
  for (const pieces of [[], [''], ['a', '', 'Zoë', '患者'], [long, '{}', long], ['👩‍⚕️', long]])
    expect((await encoded(pieces)).equals(text(pieces))).toBe(true)
  expect((await encoded('Zoë')).equals(Buffer.from('Zoë'))).toBe(true)
})

test('the two halves of a character stay together wherever a long piece is divided', async () => {
  for (let before = 0; before < 4; before++) {
    const pieces = ['x'.repeat(before) + '👩‍⚕️'.repeat(120_000)]
    expect((await encoded(pieces)).equals(text(pieces))).toBe(true)
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
