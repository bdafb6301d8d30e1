// Full and broken disks: inputs refuse in words that senders understand, and what is stored stays.
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { checked, limitsOf } from '../../../bridge/src/config-check.ts'
import { createIntake, type Outcome } from '../../../bridge/src/intake.ts'
import { fullness, warningsOf } from '../../../bridge/src/state/fullness.ts'
import { addItem, tally } from '../../../bridge/src/state/items.ts'
import { lock, tryLock } from '../../../bridge/src/state/lock.ts'
import { write } from '../../../bridge/src/state/meta.ts'
import { hasReserve, keepReserve } from '../../../bridge/src/state/reserve.ts'
import { giveBackSpace, type State } from '../../../bridge/src/state/state.ts'
import { freshFolder, freshState, localToken, portOf, runAgent, testClock, writeAgent } from '../support/agent.ts'
import { admission, fieldOf, openSender, verdictOf } from '../support/sender.ts'
import { startStandIn } from '../support/stand-in.ts'

const silent = { debug() {}, info() {}, warn() {}, error() {} }
const limits = (values: Record<string, number>) => limitsOf(checked({ min_free_bytes: 0, ...values }, '', []))

let state: State
beforeEach(() => {
  state = freshState()
})

const item = (itemId: string, payload = '{}') =>
  ({ source: 'lab', itemId, type: 'fhir', op: 'upsert', occurredAt: '2026-03-01T08:00:00Z', payload }) as const

test('warnings come at 50, 80 and 95 percent of each limit, and the last one says that inputs refuse', () => {
  const now = Date.now()
  const warnings = (count: number) => {
    state.db.exec('delete from item')
    for (let index = 0; index < count; index++) addItem(state, item(`i${index}`), now)
    return warningsOf(fullness(state, limits({ max_items: 100 }), now, 2 ** 40))
  }
  expect([49, 50, 80, 95, 100].map(warnings)).toEqual([
    [],
    ['50 % full: 50 of 100 items'],
    ['80 % full: 80 of 100 items'],
    ['95 % full: 95 of 100 items'],
    ['full, inputs refuse: 100 of 100 items'],
  ])
})

test('bytes, age and the free disk are limits too', () => {
  const now = Date.now()
  addItem(state, item('a', `{"x":"${'x'.repeat(900)}"}`), now - 15 * 86_400_000)
  const old = { max_age_days: 365 }
  const warned = (values: Record<string, number>, free = 2 ** 40) =>
    warningsOf(fullness(state, limits(values), now, free))
  expect(warned({ ...old, max_bytes: 1000 })).toEqual([expect.stringContaining('80 % full')])
  expect(warned({ max_age_days: 30 })).toEqual(['50 % full: the oldest item waits for 15.0 of 30 days'])
  expect(warned({ ...old, min_free_bytes: 2 ** 30 }, 2 ** 31)).toEqual([
    '50 % full: 2048 MiB of the disk are free, 1024 MiB must be',
  ])
  expect(warned({ ...old, min_free_bytes: 2 ** 30 }, 2 ** 29)).toEqual([expect.stringContaining('inputs refuse')])
  // However low it is set: what is sent needs room to be taken off the queue.
  expect(warned({ ...old, min_free_bytes: 0 }, 2 ** 22)).toEqual([
    'full, inputs refuse: 4 MiB of the disk are free, 4 MiB must be',
  ])
})

test('a full agent answers MLLP with AR and words, HTTP with 507, and takes again when there is room', async () => {
  const standIn = await startStandIn()
  const back = await standIn.vanish()
  const file = writeAgent(freshFolder(), standIn.url, {
    sources: { lab: { kind: 'mllp', port: 0 } },
    limits: { max_items: 1 },
  })
  const clock = testClock(Date.now())
  const agent = await runAgent(file, clock)
  const sender = await openSender(await portOf(agent))
  expect(verdictOf(await sender.ask(admission('FITS')))).toBe('AA FITS')
  clock.advance(1000)
  const refusal = await sender.ask(admission('WAITS'))
  expect([verdictOf(refusal), fieldOf(refusal, 'MSA-3')]).toEqual([
    'AR WAITS',
    expect.stringContaining('send it again later'),
  ])
  expect(fieldOf(await sender.ask(admission('ENHANCED', '|||AL|NE')), 'MSA-1')).toBe('CR')
  const post = () =>
    fetch(`http://127.0.0.1:${agent.port}/items`, {
      method: 'POST',
      headers: { authorization: `Bearer ${localToken}`, 'content-type': 'application/json' },
      body: '{"resourceType":"Patient"}',
    })
  const response = await post()
  expect([response.status, response.headers.get('retry-after')]).toEqual([507, '60'])
  expect(await (await fetch(`http://127.0.0.1:${agent.port}/`)).text()).toContain('full, inputs refuse: 1 of 1 items')
  await back()
  for (let index = 0; index < 100 && standIn.done.size === 0; index++) {
    clock.advance(5000)
    await new Promise(done => setTimeout(done, 20))
  }
  clock.advance(1000)
  expect(verdictOf(await sender.ask(admission('WAITS')))).toBe('AA WAITS')
})

test('a disk that fails is no AA: the message is refused, and what was stored before is still there', async () => {
  const intake = createIntake({ state, clock: testClock(), log: silent, limits: () => limits({}), onStored: () => {} })
  const put = (itemId: string, payload: string) =>
    new Promise<Outcome>(done => intake.put({ items: [item(itemId, payload)], done }))
  expect(await put('first', '{}')).toEqual({ kind: 'stored', duplicates: 0 })
  const { page_count: pages } = state.db.prepare('pragma page_count').get() as { page_count: number }
  state.db.exec(`pragma max_page_count = ${pages + 2}`)
  const large = `{"x":"${'x'.repeat(100_000)}"}`
  expect(await Promise.all([put('small', '{}'), put('large', large)])).toEqual([
    { kind: 'stored', duplicates: 0 },
    { kind: 'failed' },
  ])
  expect(tally(state, 'item').count).toBe(2)
  expect(intake.trouble()).toBeUndefined()
})

test('while nothing can be stored the agent says so, and since when, until something can', async () => {
  const clock = testClock(Date.parse('2026-03-01T08:00:00Z'))
  const intake = createIntake({ state, clock, log: silent, limits: () => limits({}), onStored: () => {} })
  const put = (itemId: string) =>
    new Promise<Outcome>(done => intake.put({ items: [item(itemId, `{"x":"${'x'.repeat(100_000)}"}`)], done }))
  full(state)
  expect([await put('a'), await put('b')]).toEqual([{ kind: 'failed' }, { kind: 'failed' }])
  expect(intake.trouble()).toBe(
    'nothing can be stored since 2026-03-01T08:00:00.000Z, inputs refuse: the disk or the database fails',
  )
  roomy(state)
  await put('c')
  expect(intake.trouble()).toBeUndefined()
})

/** The database can grow no more. */
function full({ db }: State): void {
  const { page_count: pages } = db.prepare('pragma page_count').get() as { page_count: number }
  db.exec(`pragma max_page_count = ${pages}`)
}
const roomy = ({ db }: State): void => db.exec('pragma max_page_count = 4294967294')

describe('the reserve', () => {
  /** Grows the database; there is room as soon as the reserve is given up. */
  const grow = (): void => {
    if (!hasReserve(state.folder)) roomy(state)
    addItem(state, item('large', `{"x":"${'x'.repeat(100_000)}"}`), Date.now())
  }

  test('is given up for what leaves the agent, which is done all the same, and put aside again', () => {
    keepReserve(state.folder)
    full(state)
    state.transaction(grow)
    expect([tally(state, 'item').count, hasReserve(state.folder)]).toEqual([1, false])
    keepReserve(state.folder)
    expect(hasReserve(state.folder)).toBe(true)
  })

  test('is not for what comes in', () => {
    keepReserve(state.folder)
    full(state)
    expect(() => state.intake(grow)).toThrow('full')
    expect([tally(state, 'item').count, hasReserve(state.folder)]).toEqual([0, true])
  })

  test('is given up for single values too, and without it the failure is reported', () => {
    keepReserve(state.folder)
    const large = { version: 'x'.repeat(100_000) }
    full(state)
    expect(() => write(state, 'update', large)).toThrow('full')
    expect(hasReserve(state.folder)).toBe(false)
    expect(() => write(state, 'update', large)).toThrow('full')
  })
})

test('the lock of a state folder needs no room on the disk', () => {
  const folder = freshFolder()
  const held = lock(folder)
  expect(readdirSync(folder).map(name => [name, statSync(join(folder, name)).size])).toEqual([['agent.lock', 0]])
  expect(tryLock(folder)).toBeUndefined()
  held.release()
  tryLock(folder)!.release()
})

test('space that sent items leave goes back to the disk', () => {
  const size = (): number => (state.db.prepare('pragma page_count').get() as { page_count: number }).page_count
  for (let index = 0; index < 50; index++)
    addItem(state, item(`i${index}`, `{"x":"${'x'.repeat(50_000)}"}`), Date.now())
  const before = size()
  state.db.exec('delete from item')
  giveBackSpace(state)
  expect(size()).toBeLessThan(before / 4)
  expect(tally(state, 'item')).toEqual({ count: 0, bytes: 0 })
})
