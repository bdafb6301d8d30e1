import { expect, test } from 'vitest'
import { createRests } from '../../src/lib/rests.ts'

function clocked() {
  let time = 0
  const waits: number[] = []
  const rests = createRests({ now: () => time, wait: async milliseconds => void waits.push(milliseconds) })
  return { rests, waits, pass: (milliseconds: number) => void (time += milliseconds) }
}

test('a client rests three times as long as its large bodies took the thread, and others do not rest for it', async () => {
  const { rests, waits, pass } = clocked()
  rests.add('one', 10)
  rests.add('one', 5)
  expect(rests.over('other')).toBeUndefined()
  await rests.over('one')
  pass(40)
  await rests.over('one')
  pass(5)
  expect(rests.over('one')).toBeUndefined()
  expect(waits).toEqual([45, 5])
})

test('time in which a client sends nothing is not saved up for later', async () => {
  const { rests, waits, pass } = clocked()
  rests.add('one', 10)
  pass(1000)
  rests.add('one', 10)
  await rests.over('one')
  expect(waits).toEqual([30])
})

test('no body keeps the next one waiting for longer than a second', async () => {
  const { rests, waits } = clocked()
  rests.add('one', 5000)
  await rests.over('one')
  expect(waits).toEqual([1000])
})

test('clients whose rest is over are forgotten once a thousand are known, and no other', async () => {
  const { rests, waits, pass } = clocked()
  rests.add('late', 100)
  for (let count = 1; count < 1000; count++) rests.add(`client ${count}`, 1)
  pass(3)
  rests.add('new', 1)
  await rests.over('late')
  expect(waits).toEqual([297])
  expect(rests.over('client 1')).toBeUndefined()
})

test('a wait ends with the reason for which the request ends', async () => {
  const rests = createRests()
  rests.add('one', 300)
  const gone = new Error('gone')
  const leaving = new AbortController()
  const waiting = rests.over('one', leaving.signal)
  leaving.abort(gone)
  await expect(waiting).rejects.toBe(gone)
})
