// HTTP on this machine: the status page, and items of programs that can post.
import { beforeAll, describe, expect, test } from 'vitest'
import { agent as command, freshFolder, type InProcess, localToken, runAgent, writeAgent } from '../support/agent.ts'
import { admission } from '../support/sender.ts'
import { type StandIn, startStandIn } from '../support/stand-in.ts'

let standIn: StandIn
let agent: InProcess
let file: string

beforeAll(async () => {
  standIn = await startStandIn()
  file = writeAgent(freshFolder(), standIn.url)
  agent = await runAgent(file)
})

const post = (body: string, type = 'application/json', token = localToken): Promise<Response> =>
  fetch(`http://127.0.0.1:${agent.port}/items`, {
    method: 'POST',
    headers: { 'content-type': type, authorization: `Bearer ${token}` },
    body,
  })

const stock = { type: 'stock_level', payload: { medicine_code: 'AL-20', quantity: 12 } }

test('an item is answered 202 with its id when it is stored, and goes up', async () => {
  const response = await post(JSON.stringify(stock))
  expect(response.status).toBe(202)
  const { item_ids, accepted } = (await response.json()) as { item_ids: string[]; accepted: number }
  expect(accepted).toBe(1)
  await standIn.until('the item is done', ({ done }) => done.has(item_ids[0]!))
  expect(standIn.done.get(item_ids[0]!)).toMatchObject({
    source: 'http',
    type: 'stock_level',
    op: 'upsert',
    payload: stock.payload,
  })
})

test('an item with an id of its own is stored once, however often it is posted', async () => {
  const item = JSON.stringify({ ...stock, item_id: 'stock-2026-03-01', occurred_at: '2026-03-01T09:00:00+01:00' })
  expect(await (await post(item)).json()).toMatchObject({ accepted: 1, duplicates: 0 })
  await standIn.until('the item is done', ({ done }) => done.has('stock-2026-03-01'))
  expect(await (await post(item)).json()).toMatchObject({ accepted: 1, duplicates: 1 })
  expect(standIn.done.get('stock-2026-03-01')!.occurred_at).toBe('2026-03-01T08:00:00.000Z')
})

test.each([
  ['a FHIR resource', JSON.stringify({ resourceType: 'Patient', id: 'p' }), 'application/fhir+json', 'fhir', 1],
  ['a list', JSON.stringify([stock, stock]), 'application/json', 'stock_level', 2],
  [
    'items as the protocol writes them',
    JSON.stringify({ items: [stock, stock, stock] }),
    'application/json',
    'stock_level',
    3,
  ],
  ['NDJSON', `${JSON.stringify(stock)}\n${JSON.stringify(stock)}\n`, 'application/x-ndjson', 'stock_level', 2],
  ['a message', admission('POSTED'), 'x-application/hl7-v2+er7', 'hl7v2', 1],
  ['a batch', `BHS|^~\\&\r${admission('P-1')}${admission('P-2')}`, 'text/plain', 'hl7v2', 2],
])('%s is taken', async (_, body, type, itemType, count) => {
  const response = await post(body, type)
  expect(response.status).toBe(202)
  const { item_ids } = (await response.json()) as { item_ids: string[] }
  expect(item_ids).toHaveLength(count)
  await standIn.until('they are done', ({ done }) => item_ids.every(id => done.get(id)?.type === itemType))
})

describe('what cannot be an item is refused, with the field, and nothing of it is stored', () => {
  test.each([
    ['no JSON', 'application/json', '{', undefined],
    ['without payload', 'application/json', '{"type":"fhir"}', 'payload'],
    ['of an unknown type', 'application/json', '{"type":"x","payload":{}}', 'type'],
    ['one of two', 'application/json', JSON.stringify([stock, { ...stock, op: 'x' }]), 'op'],
    [
      'a time without zone',
      'application/json',
      JSON.stringify({ ...stock, occurred_at: '2026-03-01T09:00:00' }),
      'occurred_at',
    ],
    ['a searchset', 'application/fhir+json', '{"resourceType":"Bundle","type":"searchset"}', 'payload.type'],
    ['a message without type', 'text/plain', 'MSH|^~\\&|||||||||P|2.5\r', 'MSH-9'],
  ])('%s', async (_, type, body, field) => {
    const response = await post(body, type)
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ error_code: 'VALIDATION_ERROR', ...(field ? { field } : {}) })
    expect((await agent.status()).queue.pending).toBe(0)
  })
})

test('items need the token; the page is read on this machine only', async () => {
  expect((await post('{}', 'application/json', 'wrong')).status).toBe(401)
  const { get } = await import('node:http')
  const status = await new Promise(done =>
    get({ host: '127.0.0.1', port: agent.port, headers: { host: 'evil.example.org' } }, response =>
      done(response.statusCode),
    ),
  )
  expect(status).toBe(403)
})

test('the page and agent status show the same, and neither holds what was received', async () => {
  const page = await (await fetch(`http://127.0.0.1:${agent.port}/`)).text()
  expect(page).toContain('All is well.')
  expect(page).not.toMatch(/AL-20|Abena/)
  const { code, out } = await command('status', '--config', file)
  expect([code, out]).toEqual([0, expect.stringContaining('agent-1')])
})

test('an agent whose batches are refused whatever they hold says so on its page, to doctor and in its heartbeats', async () => {
  const strict = await startStandIn()
  strict.script = ({ path }) => {
    if (path.endsWith('/sync')) return { status: 422, body: { error_code: 'VALIDATION_FAILED' } }
    const ok = { status: 'ok', acked_through_seq: 0, next_heartbeat_seconds: 1, server_time: new Date().toISOString() }
    return path.endsWith('/heartbeat') ? { status: 200, body: ok } : undefined
  }
  const own = writeAgent(freshFolder(), strict.url)
  const running = await runAgent(own)
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${localToken}` }
  await fetch(`http://127.0.0.1:${running.port}/items`, { method: 'POST', headers, body: JSON.stringify(stock) })
  const words = 'the server refuses every batch: it answers 422 VALIDATION_FAILED'
  await strict.until('a heartbeat tells it', () =>
    strict.paths('/heartbeat').some(({ body }) => String(body.warnings).startsWith(words)),
  )
  // The item by itself, then the gap that it left; after that the agent waits.
  expect(strict.paths('/sync').map(({ body }) => [body.items.length, body.skipped])).toEqual([
    [1, undefined],
    [0, [1]],
  ])
  const page = await (await fetch(`http://127.0.0.1:${running.port}/`)).text()
  expect(page).toContain('Something needs attention.')
  expect(page).toContain(words)
  const status = await command('status', '--config', own)
  expect([status.code, status.out]).toEqual([1, expect.stringContaining(words)])
  const doctor = await command('doctor', '--config', own)
  expect([doctor.code, doctor.out]).toEqual([1, expect.stringMatching(new RegExp(`BAD {3}batches +${words}`))])
})
