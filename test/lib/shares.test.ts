// Shares of a bounded resource: no client takes all of it, and clients that wait take turns.
import { expect, test } from 'vitest'
import { createShares, type Share, type SharesOptions } from '../../src/lib/shares.ts'

const shares = (options: Partial<SharesOptions> = {}) =>
  createShares({
    ...{ name: 'places', total: 4, perClient: 2, waitingPerClient: 3, waiting: 5, patience: 10_000 },
    ...options,
  })

/** Notes the order in which waits end. */
function noted(order: string[], name: string, wait: Promise<Share>): Promise<Share> {
  return wait.then(share => {
    order.push(name)
    return share
  })
}

/** A wait that nobody is interested in. */
const left = (wait: Promise<Share>): void => void wait.catch(() => {})

const turn = () => new Promise<void>(done => setImmediate(done))

test('a client that holds its share waits, while another gets what is left', async () => {
  const { take, used, waiting } = shares()
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
  const { take, used, waiting } = shares({ total: 4, perClient: 4 })
  const all = await take('a', 4)
  for (const who of ['b', 'b', 'b', 'c']) left(take(who))
  expect([used(), waiting()]).toEqual([4, 4])
  all.release()
  expect([used(), waiting()]).toEqual([4, 0])
})

test('clients that wait take turns, however many requests one of them has sent', async () => {
  const { take } = shares({ total: 1, perClient: 1 })
  const holder = await take('x')
  const order: string[] = []
  const waits = ['a', 'a', 'a', 'b'].map((who, index) => noted(order, `${who}${index}`, take(who)))
  holder.release()
  for (const wait of [waits[0]!, waits[3]!, waits[1]!, waits[2]!]) (await wait).release()
  expect(order).toEqual(['a0', 'b3', 'a1', 'a2'])
})

test('a large amount is not overtaken for ever by small ones', async () => {
  const { take } = shares({ total: 4, perClient: 4 })
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
  const { take } = shares({ total: 1, perClient: 1, waitingPerClient: 1 })
  await take('a')
  left(take('a'))
  await expect(take('a')).rejects.toMatchObject({ code: 'RATE_LIMITED', message: expect.stringContaining('places') })
  left(take('b'))
  await expect(take('b')).rejects.toMatchObject({ code: 'RATE_LIMITED' })
})

test('too many waiting requests in all are refused as unavailable', async () => {
  const { take } = shares({ total: 1, perClient: 1, waiting: 2 })
  await take('a')
  left(take('b'))
  left(take('c'))
  await expect(take('d')).rejects.toMatchObject({ code: 'UNAVAILABLE', options: { retryAfter: 1 } })
})

test('a wait ends with its signal and after its patience, and leaves its place to others', async () => {
  const { take, waiting, used } = shares({ total: 2, perClient: 2, patience: 20 })
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
  await expect(shares().take('a', 3)).rejects.toBeInstanceOf(RangeError)
})
