// Work that is woken while it runs, and while it does not.
import { expect, test } from 'vitest'
import { createWakeable } from '../../src/lib/wakeable.ts'

const turn = () => new Promise<void>(done => setImmediate(done))

test('work runs once for each time it is woken, one run at a time, and several times meanwhile count as one', async () => {
  const ends: (() => void)[] = []
  const { wake, ended } = createWakeable(() => new Promise<void>(end => void ends.push(end)))
  await ended()
  expect(ends).toHaveLength(0)
  const seen: string[] = []
  void wake().then(() => seen.push('first'))
  void wake().then(() => seen.push('second'))
  void wake()
  void ended().then(() => seen.push('ended'))
  expect(ends).toHaveLength(1)
  ends[0]!()
  await turn()
  expect([ends.length, seen]).toEqual([2, ['first', 'second', 'ended']])
  ends[1]!()
  await turn()
  await ended()
  expect(ends).toHaveLength(2)
  void wake()
  expect(ends).toHaveLength(3)
})
