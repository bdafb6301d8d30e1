// The way up: batches in order, each repeated word for word until the answer is clear, and refusals that keep nobody waiting.
import { expect, test } from 'vitest'
import { createHeartbeat } from '../../../bridge/src/server/heartbeat.ts'
import { createKeys } from '../../../bridge/src/server/keys.ts'
import { createLine } from '../../../bridge/src/server/line.ts'
import { createTransport } from '../../../bridge/src/server/transport.ts'
import { createUpload } from '../../../bridge/src/server/upload.ts'
import { addItem, tally } from '../../../bridge/src/state/items.ts'
import { read } from '../../../bridge/src/state/meta.ts'
import { listQuarantine, retryQuarantine, showQuarantined } from '../../../bridge/src/state/quarantine.ts'
import { refused } from '../../../bridge/src/state/refused.ts'
import type { State } from '../../../bridge/src/state/state.ts'
import { freshState, testClock } from '../support/agent.ts'
import { agentKey, type StandIn, startStandIn } from '../support/stand-in.ts'

const silent = { debug() {}, info() {}, warn() {}, error() {} }

/** The talking part of an agent over a state, with a clock of the test. */
async function talker(standIn: StandIn, state: State = freshState(), clock = testClock(Date.now())) {
  const transport = createTransport(standIn.url)
  const keys = createKeys(state, agentKey)
  const line = createLine({ state, transport, keys, agentId: 'agent-1', clock, log: silent })
  const sender = { agentId: 'agent-1', facilityId: 'facility-1' }
  const parts = { state, line, sender, clock, log: silent }
  const none = (): void => {}
  const heartbeat = createHeartbeat({ ...parts, warnings: () => [], onConfig: none, onBegin: none })
  return { state, clock, heartbeat, line, keys, upload: createUpload(parts) }
}

function put(state: State, ids: readonly string[], source = 'lab', payload: unknown = { message: 'MSH|' }): void {
  state.transaction(() => {
    for (const itemId of ids)
      addItem(
        state,
        {
          source,
          itemId,
          type: 'hl7v2',
          op: 'upsert',
          occurredAt: '2026-03-01T08:00:00.000Z',
          payload: JSON.stringify(payload),
        },
        Date.now(),
      )
  })
}

const numbers = (count: number, prefix = 'i'): string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}${index}`)

const syncs = (standIn: StandIn) => standIn.paths('/sync')

test('items go up in the order in which they were received, numbered without a gap, at most 500 in a batch', async () => {
  const standIn = await startStandIn()
  const { state, upload, heartbeat } = await talker(standIn)
  put(state, numbers(1203))
  await heartbeat.step()
  while ((await upload.step()) === 0) {}
  expect(syncs(standIn).map(each => each.body.items.length)).toEqual([500, 500, 203])
  expect([...standIn.done.keys()]).toEqual(numbers(1203))
  expect([...standIn.done.values()].map(each => each.seq)).toEqual(numbers(1203).map((_, index) => index + 1))
  expect(syncs(standIn)[0]!.headers['content-encoding']).toBe('gzip')
  expect(tally(state, 'item')).toEqual({ count: 0, bytes: 0 })
  expect(read(state, 'acked_through_seq')).toBe(1203)
})

test('a batch stays under 5 MB whatever its items hold', async () => {
  const standIn = await startStandIn()
  const { state, upload, heartbeat } = await talker(standIn)
  put(state, numbers(5), 'lab', { message: 'x'.repeat(2_000_000) })
  await heartbeat.step()
  while ((await upload.step()) === 0) {}
  expect(syncs(standIn).map(each => each.body.items.length)).toEqual([2, 2, 1])
  expect(Math.max(...syncs(standIn).map(each => each.text.length))).toBeLessThan(5_000_000)
})

test('nothing is sent before the first heartbeat has said where the sequence begins', async () => {
  const standIn = await startStandIn()
  standIn.script = ({ path }) =>
    path.endsWith('/heartbeat')
      ? { status: 200, body: { status: 'ok', acked_through_seq: 41, server_time: new Date().toISOString() } }
      : undefined
  const { state, upload, heartbeat } = await talker(standIn)
  put(state, ['a'])
  await upload.step()
  expect(syncs(standIn)).toHaveLength(0)
  await heartbeat.step()
  await upload.step()
  expect(standIn.done.get('a')!.seq).toBe(42)
})

test('after an unclear answer the same batch is sent again, word for word, also by the next process', async () => {
  const standIn = await startStandIn()
  const state = freshState()
  const first = await talker(standIn, state)
  put(state, ['a', 'b'])
  await first.heartbeat.step()
  standIn.script = ({ path }) => (path.endsWith('/sync') ? 'cut' : undefined)
  expect(await first.upload.step()).toBeGreaterThan(0)
  put(state, ['c'])
  const next = await talker(standIn, state)
  expect(await next.upload.step()).toBeGreaterThan(0)
  standIn.script = () => undefined
  const last = await talker(standIn, state)
  await last.upload.step()
  await last.upload.step()
  const [one, two, three, four] = syncs(standIn)
  expect(two!.text).toBe(one!.text)
  expect(three!.text).toBe(one!.text)
  expect(four!.body.items.map((each: { item_id: string }) => each.item_id)).toEqual(['c'])
  expect([...standIn.done.keys()]).toEqual(['a', 'b', 'c'])
})

test('waits grow with each failure, have jitter, are bounded, and new items do not shorten them', async () => {
  const standIn = await startStandIn()
  const { state, upload, heartbeat, clock } = await talker(standIn)
  put(state, ['a'])
  await heartbeat.step()
  const back = await standIn.vanish()
  const waits: number[] = []
  for (let index = 0; index < 12; index++) {
    waits.push(await upload.step())
    expect(await upload.step()).toBe(waits.at(-1))
    clock.advance(waits.at(-1)!)
  }
  expect(waits.slice(0, 4)).toEqual([1000, 2000, 4000, 8000])
  expect(waits.at(-1)).toBe(300_000)
  await back()
  expect(await upload.step()).toBe(0)
  expect(standIn.done.size).toBe(1)
})

test('a clock that is set back does not prolong a wait', async () => {
  const standIn = await startStandIn()
  const { state, upload, heartbeat, clock } = await talker(standIn)
  put(state, ['a'])
  await heartbeat.step()
  standIn.script = ({ path }) => (path.endsWith('/sync') ? { status: 500 } : undefined)
  await upload.step()
  standIn.script = () => undefined
  clock.advance(-86_400_000)
  expect(await upload.step()).toBe(0)
  expect(standIn.done.size).toBe(1)
})

test('Retry-After and max_batch_items are heeded', async () => {
  const standIn = await startStandIn()
  const { state, upload, heartbeat, clock } = await talker(standIn)
  put(state, numbers(20))
  await heartbeat.step()
  standIn.script = ({ path }) =>
    path.endsWith('/sync')
      ? { status: 429, headers: { 'retry-after': '120' }, body: { error_code: 'RATE_LIMITED', max_batch_items: 5 } }
      : undefined
  expect(await upload.step()).toBe(120_000)
  standIn.script = () => undefined
  clock.advance(120_000)
  while ((await upload.step()) === 0) {}
  // The batch that was under way is repeated as it is; the next ones would be smaller.
  expect(syncs(standIn).map(each => each.body.items.length)).toEqual([20, 20])
})

test('what is refused for good goes to quarantine with its reason, and nothing behind it waits', async () => {
  const standIn = await startStandIn()
  const { state, upload, heartbeat, clock } = await talker(standIn)
  standIn.refuse = ({ item_id }) =>
    item_id === 'i1'
      ? { error_code: 'VALIDATION_ERROR', message: 'PID-3 is missing for Abena', field: 'PID-3', retryable: false }
      : undefined
  put(state, numbers(3))
  await heartbeat.step()
  await upload.step()
  expect([...standIn.done.keys()]).toEqual(['i0', 'i2'])
  expect(listQuarantine(state)).toMatchObject([
    { item_id: 'i1', origin: 'server', code: 'VALIDATION_ERROR', field: 'PID-3' },
  ])
  expect(showQuarantined(state, 'i1')).toMatchObject({
    message: 'PID-3 is missing for Abena',
    payload: { message: 'MSH|' },
  })
  expect(read(state, 'acked_through_seq')).toBe(3)
  standIn.refuse = () => undefined
  expect(retryQuarantine(state, ['i1'], clock.now())).toBe(1)
  await upload.step()
  expect(standIn.done.get('i1')!.seq).toBe(4)
  expect(listQuarantine(state)).toEqual([])
})

test('what fails for a while holds back its source alone, until it is done', async () => {
  const standIn = await startStandIn()
  const { state, upload, heartbeat, clock } = await talker(standIn)
  standIn.refuse = ({ item_id }) =>
    item_id === 'lab0' ? { error_code: 'UNAVAILABLE', message: 'later', retryable: true } : undefined
  put(state, ['lab0'])
  await heartbeat.step()
  await upload.step()
  put(state, ['lab1', 'lab2'])
  put(state, ['ward0', 'ward1'], 'ward')
  while ((await upload.step()) === 0) {}
  expect([...standIn.done.keys()]).toEqual(['ward0', 'ward1'])
  expect(standIn.ackedThrough()).toBe(0)
  standIn.refuse = () => undefined
  clock.advance(2000)
  while ((await upload.step()) === 0) {}
  expect([...standIn.done.keys()]).toEqual(['ward0', 'ward1', 'lab0', 'lab1', 'lab2'])
  expect(standIn.ackedThrough()).toBe(5)
})

test('after ten attempts an item is quarantined, its number is declared as a gap, and its source goes on', async () => {
  const standIn = await startStandIn()
  const { state, upload, heartbeat, clock } = await talker(standIn)
  standIn.refuse = ({ item_id }) =>
    item_id === 'i0' ? { error_code: 'UNAVAILABLE', message: 'later', retryable: true } : undefined
  put(state, ['i0'])
  await heartbeat.step()
  await upload.step()
  put(state, ['i1'])
  for (let index = 0; index < 9; index++) {
    clock.advance(600_000)
    await upload.step()
  }
  expect(listQuarantine(state)).toMatchObject([{ item_id: 'i0', origin: 'attempts', code: 'UNAVAILABLE' }])
  await upload.step()
  expect([...standIn.done.keys()]).toEqual(['i1'])
  expect([...standIn.skipped]).toEqual([1])
  expect(standIn.ackedThrough()).toBe(2)
})

test('a batch that is refused as a whole is taken apart until the one cause is in quarantine', async () => {
  const standIn = await startStandIn()
  const { state, upload, heartbeat } = await talker(standIn)
  standIn.script = ({ path, body }) =>
    path.endsWith('/sync') && body.items.some((each: { item_id: string }) => each.item_id === 'i5')
      ? { status: 422, body: { error_code: 'VALIDATION_ERROR', message: 'no' } }
      : undefined
  put(state, numbers(16))
  await heartbeat.step()
  while ((await upload.step()) === 0) {}
  expect([...standIn.done.keys()]).toEqual(numbers(16).filter(each => each !== 'i5'))
  expect(listQuarantine(state).map(each => each.item_id)).toEqual(['i5'])
  expect(standIn.ackedThrough()).toBe(16)
})

test('a server that refuses everything unread does not empty the queue into quarantine', async () => {
  const standIn = await startStandIn()
  const { state, upload, heartbeat, clock } = await talker(standIn)
  standIn.script = ({ path }) =>
    path.endsWith('/sync') ? { status: 400, body: { error_code: 'VALIDATION_ERROR' } } : undefined
  put(state, numbers(40))
  await heartbeat.step()
  for (let index = 0; index < 60; index++) clock.advance(await upload.step())
  expect(listQuarantine(state)).toHaveLength(5)
  expect(refused(state)).toEqual([expect.stringContaining('it answers 400 VALIDATION_ERROR;')])
  standIn.script = () => undefined
  clock.advance(600_000)
  while ((await upload.step()) === 0) {}
  expect(standIn.done.size).toBe(35)
})

test('a batch that only declares gaps and is refused is repeated after a minute or more, until the server takes it', async () => {
  const standIn = await startStandIn()
  const { state, upload, heartbeat, clock } = await talker(standIn)
  const body = {
    error_code: 'VALIDATION_FAILED',
    message: 'no',
    details: [{ field: 'facility_id' }, { field: 'Abena' }],
  }
  standIn.script = ({ path }) => (path.endsWith('/sync') ? { status: 422, body } : undefined)
  put(state, ['i0'])
  await heartbeat.step()
  await upload.step()
  expect(refused(state)).toEqual([])
  for (let index = 0; index < 5; index++) {
    const wait = await upload.step()
    expect(wait).toBeGreaterThanOrEqual(60_000)
    clock.advance(wait)
  }
  expect(syncs(standIn)).toHaveLength(6)
  expect(refused(state)).toEqual([expect.stringContaining('it answers 422 VALIDATION_FAILED for facility_id;')])
  put(state, ['i1'])
  standIn.script = () => undefined
  while ((await upload.step()) === 0) {}
  expect([...standIn.skipped]).toEqual([1])
  expect([...standIn.done.keys()]).toEqual(['i1'])
  expect(refused(state)).toEqual([])
})

test('a name of a batch that the server knows with another body is given up, and the items are sent under a new one', async () => {
  const standIn = await startStandIn()
  const { state, upload, heartbeat, clock } = await talker(standIn)
  put(state, numbers(3))
  await heartbeat.step()
  standIn.script = ({ path }) =>
    path.endsWith('/sync') ? { status: 409, body: { error_code: 'CONFLICT' } } : undefined
  clock.advance(await upload.step())
  standIn.script = () => undefined
  await upload.step()
  const [one, two] = syncs(standIn)
  expect(two!.body.batch_id).not.toBe(one!.body.batch_id)
  expect(standIn.done.size).toBe(3)
})

test('a database put back from a copy does not give numbers again that the server knows', async () => {
  const standIn = await startStandIn()
  const { state, upload, heartbeat } = await talker(standIn)
  put(state, numbers(3))
  await heartbeat.step()
  await upload.step()
  const restored = await talker(standIn, freshState())
  put(restored.state, ['new'])
  await restored.heartbeat.step()
  await restored.upload.step()
  expect(standIn.done.get('new')!.seq).toBe(4)
})

test('what a server lost that it had acknowledged is declared as a gap, and the sequence goes on', async () => {
  const standIn = await startStandIn()
  const { state, upload, heartbeat } = await talker(standIn)
  put(state, numbers(5))
  await heartbeat.step()
  await upload.step()
  standIn.forget(3)
  put(state, ['late'])
  while ((await upload.step()) === 0) {}
  expect([...standIn.skipped]).toEqual([3, 4, 5])
  expect(standIn.ackedThrough()).toBe(6)
})

test('a wrong clock is put right by the server’s answer, once, and times are the server’s from then on', async () => {
  const standIn = await startStandIn()
  standIn.ahead = 7 * 86_400_000
  const { heartbeat, line, state, clock } = await talker(standIn)
  expect(await heartbeat.step()).toBe(60_000)
  expect(standIn.paths('/heartbeat')).toHaveLength(2)
  expect(Math.abs(line.time().getTime() - clock.now() - standIn.ahead)).toBeLessThan(2000)
  const next = await talker(standIn, state)
  await next.heartbeat.step()
  expect(standIn.paths('/heartbeat')).toHaveLength(3)
})

test('connections that died silently are given up after a deadline and made anew', async () => {
  const standIn = await startStandIn()
  const { line } = await talker(standIn)
  standIn.script = () => 'silence'
  const asked = line.call({ method: 'POST', path: 'heartbeat', body: {}, deadline: 50 })
  await expect(asked).rejects.toThrow('no answer in time')
  standIn.script = () => undefined
  const reply = await line.call({
    method: 'POST',
    path: 'heartbeat',
    body: { facility_id: 'facility-1' },
    deadline: 5000,
  })
  expect(reply.status).toBe(200)
})

test('a heartbeat says how full the queue is, and nothing of what is in it', async () => {
  const standIn = await startStandIn()
  const { state, heartbeat } = await talker(standIn)
  put(state, numbers(2))
  await heartbeat.step()
  const { body } = standIn.paths('/heartbeat')[0]!
  expect(body).toMatchObject({ agent_id: 'agent-1', facility_id: 'facility-1', queue: { pending: 2, quarantined: 0 } })
  expect(JSON.stringify(body)).not.toContain('MSH')
})
