// Connections of machines: silent ones make room, encrypted ones are proven, and an input whose address comes late starts late.
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { connect } from 'node:tls'
import { beforeAll, expect, test } from 'vitest'
import { deliver } from '../../../bridge/src/mllp/client.ts'
import { until } from '../../support/process.ts'
import { freshFolder, portOf, runAgent, testClock, writeAgent } from '../support/agent.ts'
import { certificate } from '../support/certificate.ts'
import { admission, openSender, verdictOf } from '../support/sender.ts'
import { type StandIn, startStandIn } from '../support/stand-in.ts'

let standIn: StandIn
beforeAll(async () => {
  standIn = await startStandIn()
  standIn.script = ({ path }) => (path.endsWith('/sync') ? { status: 503 } : undefined)
})

test('a machine that lost power and comes back takes the place of its dead connection', async () => {
  const lab = { kind: 'mllp', port: 0, max_connections: 1 }
  const clock = testClock(Date.now())
  const agent = await runAgent(writeAgent(freshFolder(), standIn.url, { sources: { lab } }), clock)
  const port = await portOf(agent)
  const dead = await openSender(port)
  expect(verdictOf(await dead.ask(admission('OLD')))).toBe('AA OLD')
  const early = await openSender(port)
  await early.closed
  clock.advance(61_000)
  const again = await openSender(port)
  expect(verdictOf(await again.ask(admission('NEW')))).toBe('AA NEW')
  await dead.closed
})

test('a connection that is silent for longer than idle_seconds is closed', async () => {
  const lab = { kind: 'mllp', port: 0, idle_seconds: 600 }
  const clock = testClock(Date.now())
  const agent = await runAgent(writeAgent(freshFolder(), standIn.url, { sources: { lab } }), clock)
  const sender = await openSender(await portOf(agent))
  await sender.ask(admission('IDLE'))
  clock.advance(601_000)
  await sender.closed
})

test('MLLP over TLS: the agent proves itself, and may demand certificates of machines; it sends to targets in the same way', async () => {
  const folder = freshFolder()
  const tls = certificate(folder)
  const lab = { kind: 'mllp', port: 0, tls }
  const strict = { kind: 'mllp', port: 0, tls: { ...tls, client_ca_file: tls.certificate_file } }
  const agent = await runAgent(writeAgent(folder, standIn.url, { sources: { lab, strict } }))
  const [cert, key] = [readFileSync(tls.certificate_file), readFileSync(tls.key_file)]
  const reach = async (source: string, more: object = {}) => {
    const socket = connect({ host: '127.0.0.1', port: await portOf(agent, source), ca: cert, ...more })
    await once(socket, 'secureConnect')
    return openSender(0, socket)
  }
  expect(verdictOf(await (await reach('lab')).ask(admission('TLS')))).toBe('AA TLS')
  expect(verdictOf(await (await reach('strict', { cert, key })).ask(admission('PROVEN')))).toBe('AA PROVEN')
  const stranger = await reach('strict')
  stranger.send(admission('STRANGER'))
  await stranger.closed
  expect(stranger.answers).toEqual([])
  const target = { host: '127.0.0.1', port: await portOf(agent), answer_seconds: 5 }
  expect(await deliver({ ...target, tls: { ca_file: tls.certificate_file } }, admission('OUT'), 'OUT')).toEqual({
    kind: 'accepted',
  })
  expect(await deliver({ ...target, tls: {} }, admission('OUT'), 'OUT')).toMatchObject({ kind: 'unanswered' })
})

test('an input whose port is taken is told on the status page, keeps no other from starting, and starts when the port is free', async () => {
  const holder = createServer().listen(0, '127.0.0.1')
  await once(holder, 'listening')
  const { port } = holder.address() as AddressInfo
  const sources = { late: { kind: 'mllp', port }, lab: { kind: 'mllp', port: 0 } }
  const clock = testClock(Date.now())
  const agent = await runAgent(writeAgent(freshFolder(), standIn.url, { sources }), clock)
  const { inputs, warnings } = await agent.status()
  expect([inputs.late.state, inputs.lab.state]).toEqual(['not started', 'listening'])
  expect(warnings).toEqual([expect.stringContaining(`Source late cannot listen on 127.0.0.1:${port} (EADDRINUSE)`)])
  holder.close()
  await until('the input has started', async () => {
    clock.advance(10_000)
    return (await agent.status()).inputs.late.state === 'listening'
  })
  expect((await agent.status()).warnings).toEqual([])
})
