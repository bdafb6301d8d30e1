// A concurrency limit: no client takes all of it, clients that wait take turns, and the queue is bounded.
import { expect, test } from 'vitest'
import { type ConcurrencyOptions, createConcurrencyLimit, type Permit } from '../../src/lib/concurrency-limit.ts'

const limitOf = (options: Partial<ConcurrencyOptions> = {}) =>
  createConcurrencyLimit({
    ...{ name: 'places', total: 4, perClient: 2, waitingPerClient: 3, waiting: 5, patience: 10_000 },
    ...options,
  })

/** Notes the order in which waits end. */
function noted(order: string[], name: string, wait: Promise<Permit>): Promise<Permit> {
  return wait.then(permit => {
    order.push(name)
    return permit
  })
}

/** A wait that nobody is interested in. */
const left = (wait: Promise<Permit>): void => void wait.catch(() => {})

const turn = () => new Promise<void>(done => setImmediate(done))

test('a client that holds its share waits, while another gets what is left', async () => {
  const { take, used, waiting } = limitOf()
  const first = await take('a')
  await take('a')
  const order: string[] = []
  const third = noted(order, 'a', take('a'))
  await noted(order, 'b', take('b'))
  expect([order, used(), waiting()]).toEqual([['b'], 3, 1])
  first.release()
  await third
  expect([order, used(), waiting()]).toEqual([['b', 'a'], 3, 0])
})

test('what one holder gives back at once serves as many as fit', async () => {
  const { take, used, waiting } = limitOf({ total: 4, perClient: 4 })
  const all = await take('a', 4)
  for (const who of ['b', 'b', 'b', 'c']) left(take(who))
  expect([used(), waiting()]).toEqual([4, 4])
  all.release()
  expect([used(), waiting()]).toEqual([4, 0])
})

test('clients that wait take turns, however many requests one of them has sent', async () => {
  const { take } = limitOf({ total: 1, perClient: 1 })
  const holder = await take('x')
  const order: string[] = []
  const waits = ['a', 'a', 'a', 'b'].map((who, index) => noted(order, `${who}${index}`, take(who)))
  holder.release()
  for (const wait of [waits[0]!, waits[3]!, waits[1]!, waits[2]!]) (await wait).release()
  expect(order).toEqual(['a0', 'b3', 'a1', 'a2'])
})

test('a large amount is not overtaken for ever by small ones', async () => {
  const { take } = limitOf({ total: 4, perClient: 4 })
  const small = [await take('a'), await take('a'), await take('b')]
  const order: string[] = []
  const large = noted(order, 'large', take('c', 4))
  const later = noted(order, 'later', take('d'))
  small[0]!.release()
  small[1]!.release()
  await turn()
  expect(order).toEqual([])
  small[2]!.release()
  ;(await large).release()
  await later
  expect(order).toEqual(['large', 'later'])
})

test('too many waiting requests of one client are refused, naming the bound', async () => {
  const { take } = limitOf({ total: 1, perClient: 1, waitingPerClient: 1 })
  await take('a')
  left(take('a'))
  await expect(take('a')).rejects.toMatchObject({ code: 'RATE_LIMITED', message: expect.stringContaining('places') })
  left(take('b'))
  await expect(take('b')).rejects.toMatchObject({ code: 'RATE_LIMITED' })
})

test('too many waiting requests in all are refused as unavailable', async () => {
  const { take } = limitOf({ total: 1, perClient: 1, waiting: 2 })
  await take('a')
  left(take('b'))
  left(take('c'))
  await expect(take('d')).rejects.toMatchObject({ code: 'UNAVAILABLE', options: { retryAfter: 1 } })
})

test('a wait ends with its signal and after its patience, and leaves its place to others', async () => {
  const { take, waiting, used } = limitOf({ total: 2, perClient: 2, patience: 20 })
  const held = await take('a', 1)
  const stop = new AbortController()
  const aborted = take('b', 2, stop.signal)
  const behind = take('c')
  stop.abort(new Error('gone'))
  await expect(aborted).rejects.toThrow('gone')
  ;(await behind).release()
  await expect(take('b', 2)).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  held.release()
  held.release()
  expect([waiting(), used()]).toEqual([0, 0])
})

test('an amount above the share of one client is a mistake of the caller', async () => {
  await expect(limitOf().take('a', 3)).rejects.toBeInstanceOf(RangeError)
})

test('without clients, work is begun in the order in which it came, as much at a time and waiting as is allowed', async () => {
  const { run, used, waiting } = createConcurrencyLimit({ name: 'sign-in', total: 2, waiting: 3 })
  const begun: number[] = []
  const ends: (() => void)[] = []
  const work = [0, 1, 2, 3, 4].map(each =>
    run(async () => {
      begun.push(each)
      await new Promise<void>(end => ends.push(end))
      if (each === 1) throw new Error('failed')
      return each
    }),
  )
  const outcomes = Promise.allSettled(work)
  await expect(run(async () => 5)).rejects.toMatchObject({ code: 'UNAVAILABLE', options: { retryAfter: 1 } })
  expect([begun, used(), waiting()]).toEqual([[0, 1], 2, 3])
  for (let ended = 1; ended <= 5; ended++) {
    ends.shift()!()
    await turn()
    expect(begun).toHaveLength(Math.min(5, 2 + ended))
  }
  expect(begun).toEqual([0, 1, 2, 3, 4])
  expect((await outcomes).map(each => (each.status === 'fulfilled' ? each.value : each.reason.message))).toEqual([
    ...[0, 'failed', 2, 3, 4],
  ])
  expect([await run(async () => 6), used(), waiting()]).toEqual([6, 0, 0])
})

test('without a bound any number waits, for as long as it takes', async () => {
  const { take, run, waiting } = createConcurrencyLimit({ name: 'searches', total: 1 })
  const held = await take()
  const done = Promise.all(Array.from({ length: 10_000 }, (_, each) => run(async () => each)))
  expect(waiting()).toBe(10_000)
  held.release()
  expect(await done).toHaveLength(10_000)
})
