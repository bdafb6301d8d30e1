// Commands of the server: each is done once, told until the server knows, and none keeps the others waiting.

import { expect, test } from 'vitest'
import { until } from '../../support/process.ts'
import { freshFolder, runAgent, writeAgent } from '../support/agent.ts'
import { startMachine } from '../support/machine.ts'
import { admission, fieldOf, openSender, verdictOf } from '../support/sender.ts'
import { agentKey, type StandIn, startStandIn } from '../support/stand-in.ts'

const command = (id: string, type: string, payload: unknown = {}) => ({
  id,
  type,
  payload,
  created_at: '2026-03-01T08:00:00Z',
})

const acked = (standIn: StandIn, id: string) =>
  standIn
    .until(`command ${id} ended`, ({ acks }) => acks.some(each => each.id === id))
    .then(() => endingOf(standIn, id))

const endingOf = (standIn: StandIn, id: string) => standIn.acks.findLast(each => each.id === id)!

const saying =
  (code: string, words = '') =>
  (message: string) =>
    `MSH|^~\\&|LAB||HIS||20260301||ACK|1|P|2.5\rMSA|${code}|${fieldOf(message, 'MSH-10')}${words}\r`

async function withTarget(port: number, more: Record<string, unknown> = {}) {
  const standIn = await startStandIn()
  const targets = { machine: { host: '127.0.0.1', port, answer_seconds: 1 } }
  return { standIn, agent: await runAgent(writeAgent(freshFolder(), standIn.url, { targets, ...more })) }
}

test('a message is sent to its target and the command is done when the receiver has said AA to that message', async () => {
  const machine = await startMachine(saying('AA'))
  const { standIn } = await withTarget(machine.port)
  standIn.commands = [
    command('1', 'send_hl7v2', { target: 'machine', message: admission('OUT-1').replaceAll('\r', '\n') }),
  ]
  expect(await acked(standIn, '1')).toEqual({ id: '1', status: 'done' })
  expect(machine.got).toEqual([admission('OUT-1')])
})

test('a message that the receiver refuses has failed, with the receiver’s words', async () => {
  const machine = await startMachine(saying('AE', '|no such order'))
  const { standIn } = await withTarget(machine.port)
  standIn.commands = [command('1', 'send_hl7v2', { target: 'machine', message: admission('OUT-2') })]
  expect(await acked(standIn, '1')).toMatchObject({ status: 'failed', message: 'AE: no such order' })
})

test('an answer of another message is none: the message is sent again until its own comes', async () => {
  let count = 0
  const machine = await startMachine(message =>
    ++count === 1 ? saying('AA')(message).replace('OUT-3', 'LATE') : saying('AA')(message),
  )
  const { standIn } = await withTarget(machine.port)
  standIn.commands = [command('1', 'send_hl7v2', { target: 'machine', message: admission('OUT-3') })]
  expect(await acked(standIn, '1')).toMatchObject({ status: 'done' })
  expect(machine.got).toHaveLength(2)
})

test('messages to a target that is down wait in order, and other commands go on', async () => {
  const machine = await startMachine(saying('AA'))
  const { standIn } = await withTarget(machine.port)
  machine.server.close()
  standIn.commands = [
    command('1', 'send_hl7v2', { target: 'machine', message: admission('FIRST') }),
    command('2', 'send_hl7v2', { target: 'machine', message: admission('SECOND') }),
    command('3', 'update_available', { version: '1.3.0' }),
    command('4', 'dance'),
    command('5', 'send_hl7v2', { target: 'nowhere', message: admission('X') }),
  ]
  expect(await acked(standIn, '3')).toMatchObject({ status: 'done' })
  expect(await acked(standIn, '4')).toMatchObject({
    status: 'failed',
    message: expect.stringContaining('does not know'),
  })
  expect(await acked(standIn, '5')).toMatchObject({
    status: 'failed',
    message: expect.stringContaining('no such target'),
  })
  expect(standIn.acks.map(each => each.id)).not.toContain('1')
  machine.server.listen(machine.port, '127.0.0.1')
  await acked(standIn, '2')
  expect(machine.got.map(message => fieldOf(message, 'MSH-10'))).toEqual(['FIRST', 'SECOND'])
})

test('a command that comes again, because its acknowledgement was lost, is not done again', async () => {
  const machine = await startMachine(saying('AA'))
  const { standIn } = await withTarget(machine.port)
  let lost = 0
  standIn.script = ({ path }) => (path.endsWith('/1/ack') && ++lost === 1 ? 'cut' : undefined)
  standIn.commands = [command('1', 'send_hl7v2', { target: 'machine', message: admission('ONCE') })]
  await acked(standIn, '1')
  expect(machine.got).toHaveLength(1)
})

test('the key is rotated without a gap: the server learns its SHA-256 only, and the agent uses it from then on', async () => {
  const { standIn } = await withTarget(1)
  standIn.commands = [command('1', 'rotate_key')]
  const { key_sha256 } = await acked(standIn, '1')
  expect(key_sha256).toMatch(/^[0-9a-f]{64}$/)
  const before = standIn.received.length
  standIn.commands = [command('2', 'retry_quarantine', { item_ids: [] })]
  await acked(standIn, '2')
  const keys = standIn.received.slice(before).map(each => each.headers['x-bridge-agent-key'])
  expect(new Set(keys.slice(-1))).not.toContain(agentKey)
  expect(JSON.stringify(standIn.received.map(each => each.body))).not.toContain(keys.at(-1))
})

test.each([
  ['the old key still works', false],
  ['the old key is refused at once', true],
])('a rotation whose answer was lost ends well: %s', async (_, isOldRefused) => {
  const standIn = await startStandIn()
  const file = writeAgent(freshFolder(), standIn.url)
  let lost = 0
  standIn.script = ({ path, body }) => {
    if (!path.endsWith('/ack') || ++lost > 1) return undefined
    standIn.keys.add(body.key_sha256)
    if (isOldRefused) standIn.keys.delete([...standIn.keys][0]!)
    return 'cut'
  }
  standIn.commands = [command('1', 'rotate_key')]
  const agent = await runAgent(file)
  const { key_sha256 } = await acked(standIn, '1')
  const first = standIn.paths('/ack')[0]!
  expect(first.body.key_sha256).toBe(key_sha256)
  await agent.stop()
  standIn.keys.clear()
  standIn.keys.add(key_sha256!)
  const beats = standIn.paths('/heartbeat').length
  const next = await runAgent(file)
  await standIn.until('a heartbeat with the new key', () => standIn.paths('/heartbeat').length > beats)
  await until('the agent is well', async () => (await next.status()).trouble === null, 5)
})

test('what is in quarantine is sent again on command', async () => {
  const { standIn, agent } = await withTarget(1, { sources: { lab: { kind: 'mllp', port: 0 } } })
  standIn.refuse = () => ({ error_code: 'NO_MAP', message: 'no map', retryable: false })
  const sender = await openSender((await agent.status()).inputs.lab.port)
  await sender.ask(admission('MENDED'))
  await standIn.until('it was refused', () => standIn.paths('/sync').length > 0)
  standIn.refuse = () => undefined
  standIn.commands = [command('1', 'retry_quarantine', { item_ids: 'all' })]
  expect(await acked(standIn, '1')).toMatchObject({ status: 'done' })
  await standIn.until('it is done', ({ done }) => done.size === 1)
})

test('the server’s config changes inputs, targets and limits while the agent runs; a wrong one changes nothing', async () => {
  const { standIn, agent } = await withTarget(1, { sources: { lab: { kind: 'mllp', port: 0 } } })
  const { port } = (await agent.status()).inputs.lab
  standIn.config = { version: '2', sources: { ward: { kind: 'mllp', port: 0 } }, limits: { max_items: 1 } }
  standIn.commands = [command('1', 'config', { version: '2' })]
  expect(await acked(standIn, '1')).toMatchObject({ status: 'done' })
  const { inputs } = await agent.status()
  expect(Object.keys(inputs).sort()).toEqual(['lab', 'ward'])
  expect(inputs.lab.port).toBe(port)
  expect(verdictOf(await (await openSender(inputs.ward.port)).ask(admission('WARD')))).toBe('AA WARD')
  standIn.config = { version: '3', sources: { ward: { kind: 'mllp', port: 99_999 } } }
  standIn.commands = [command('2', 'config', { version: '3' })]
  expect(await acked(standIn, '2')).toMatchObject({
    status: 'failed',
    message: expect.stringContaining('sources.ward.port'),
  })
  expect((await agent.status()).inputs.ward.port).toBe(inputs.ward.port)
})
