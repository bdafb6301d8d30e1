// Bridge agents at the door: proof, clock, heartbeat, commands, settings, and what the administrator sees of them.
import { createHash } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import packageOfAgent from '../../../bridge/package.json' with { type: 'json' }
import { adminOn } from '../../support/admin.ts'
import { type Service, startBeside, startService } from '../../support/service.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { agentOf, type TestAgent } from './support.ts'

let service: Service
let agent: TestAgent
const { admin, told: tellAll } = adminOn(() => service.database)
const told = (...args: string[]) => tellAll(args)

beforeAll(async () => {
  service = await startService()
  agent = await agentOf(service, 'clinic')
})

const beat = (more: object = {}, of = agent) => ({
  agent_id: of.id,
  facility_id: of.facility,
  version: '1.0.0',
  ...more,
})
const seconds = (offset = 0) => String(Math.round(Date.now() / 1000) + offset)

describe('proof', () => {
  test('an unknown id, a wrong key and a revoked agent get the same answer', async () => {
    const gone = await agentOf(service, 'clinic')
    expect((await admin(['agent', 'revoke', gone.id])).code).toBe(0)
    const answers = await Promise.all([
      agent.call('POST', 'heartbeat', beat(), { 'x-bridge-agent-id': 'agt_nobody' }),
      agent.call('POST', 'heartbeat', beat(), { 'x-bridge-agent-key': 'bak_wrong' }),
      agent.call('POST', 'heartbeat', beat(), { 'x-bridge-agent-key': '' }),
      gone.call('POST', 'heartbeat', beat()),
    ])
    for (const { status, body, headers } of answers) {
      expect([status, body.error_code, body.message]).toEqual([401, 'INVALID_AGENT', answers[0]!.body.message])
      expect(headers.get('www-authenticate')).toBe('BridgeAgent realm="health-interop"')
    }
  })

  test('a clock that is wrong by more than 300 seconds is told the time of the service', async () => {
    for (const offset of [-302, 302]) {
      const { status, body } = await agent.call('POST', 'heartbeat', beat(), { 'x-bridge-timestamp': seconds(offset) })
      expect([status, body.error_code]).toEqual([401, 'CLOCK_SKEW'])
      expect(Math.abs(Date.parse(body.server_time) - Date.now())).toBeLessThan(60_000)
    }
    expect((await agent.call('POST', 'heartbeat', beat(), { 'x-bridge-timestamp': seconds(-290) })).status).toBe(200)
    expect((await agent.call('POST', 'heartbeat', beat(), { 'x-bridge-timestamp': 'noon' })).status).toBe(401)
  })

  test('a token of a client opens nothing here', async () => {
    const headers = { authorization: `Bearer ${service.token}`, 'x-bridge-agent-id': '', 'x-bridge-agent-key': '' }
    expect((await agent.call('GET', 'commands', undefined, headers)).status).toBe(401)
  })
})

describe('heartbeat', () => {
  test('tells the time, the skew, what waits and how far the items have come, and the list shows it', async () => {
    const queue = { pending: 3, quarantined: 1, oldest_at: new Date(Date.now() - 600_000).toISOString(), bytes: 4096 }
    const clock = new Date(Date.now() + 90_000).toISOString()
    const { status, body } = await agent.call(
      'POST',
      'heartbeat',
      beat({ queue, clock, uptime_seconds: 60, warnings: ['The disk is 80 % full.'] }),
    )
    expect(status, JSON.stringify(body)).toBe(200)
    expect(body).toMatchObject({
      ...{ status: 'ok', next_heartbeat_seconds: 60, config_version: 0, commands_pending: 0, acked_through_seq: 0 },
      ...{ min_agent_version: '1.0.0', latest_agent_version: packageOfAgent.version },
    })
    expect(body.clock_skew_seconds).toBeGreaterThan(80)
    const { agents } = await told('agent', 'list')
    expect(agents.find((each: { agent_id: string }) => each.agent_id === agent.id)).toMatchObject({
      ...{ status: 'online', version: '1.0.0', queue: { pending: 3, quarantined: 1, bytes: 4096 } },
      warnings: ['The disk is 80 % full.'],
      lag_seconds: expect.any(Number),
    })
    expect((await admin(['agent', 'list'])).output).toMatch(/status +online.*warning +The disk/s)
  })

  test('an agent that is silent for three intervals is offline', async () => {
    const quiet = await agentOf(service, 'clinic')
    await quiet.call('POST', 'heartbeat', beat({}, quiet))
    await service.application.database.query({
      text: `update bridge_state set last_seen_at = last_seen_at - interval '181 s' where agent_id = $1`,
      values: [quiet.id],
    })
    const { agents } = await told('agent', 'list')
    expect(agents.find((each: { agent_id: string }) => each.agent_id === quiet.id).status).toBe('offline')
  })

  test('the facility of another agent is refused', async () => {
    const { status, body } = await agent.call('POST', 'heartbeat', beat({ facility_id: 'other' }))
    expect([status, body.error_code, body.details[0].field]).toEqual([403, 'FORBIDDEN', 'facility_id'])
  })
})

describe('commands', () => {
  test('a waiting agent receives a command at once, also one that another process was given, until it acknowledges it', async () => {
    const beside = await startBeside(service)
    const own = await agentOf(service, 'clinic')
    const waiting = own.call('GET', 'commands?wait=25')
    await new Promise(resolve => setTimeout(resolve, 200))
    await told('agent', 'command', own.id, 'update', '--version', '1.1.0')
    const { body } = await waiting
    expect(body.commands).toMatchObject([{ type: 'update_available', payload: { version: '1.1.0' } }])
    const [{ id }] = body.commands
    expect((await own.call('GET', 'commands')).body.commands).toHaveLength(1)
    expect((await own.call('GET', `commands?after=${id}`)).body.commands).toEqual([])
    expect((await own.call('POST', `commands/${id}/ack`, { status: 'done' })).body).toEqual({ id, status: 'done' })
    expect((await own.call('POST', `commands/${id}/ack`, { status: 'done' })).status).toBe(200)
    expect((await own.call('POST', `commands/${id}/ack`, { status: 'failed' })).status).toBe(409)
    expect((await own.call('GET', 'commands')).body.commands).toEqual([])
    await beside.stop()
  })

  test('the commands of an agent are its own', async () => {
    const [one, other] = [await agentOf(service, 'clinic'), await agentOf(service, 'clinic')]
    const { command_id } = await told('agent', 'command', one.id, 'retry-quarantine')
    expect((await other.call('GET', 'commands')).body.commands).toEqual([])
    expect((await other.call('POST', `commands/${command_id}/ack`, { status: 'done' })).status).toBe(404)
  })

  test('the agent makes a new key, which the service knows by its hash only, and the old one remains valid for a day', async () => {
    const own = await agentOf(service, 'clinic')
    const { command_id } = await told('agent', 'command', own.id, 'rotate-key')
    const fresh = `bak_${'k'.repeat(43)}`
    const without = await own.call('POST', `commands/${command_id}/ack`, { status: 'done' })
    expect([without.status, without.body.details[0].field]).toEqual([422, 'key_sha256'])
    const key_sha256 = createHash('sha256').update(fresh).digest('hex')
    for (const key of [own.key, fresh, own.key]) {
      const ack = { status: 'done', key_sha256 }
      expect((await own.call('POST', `commands/${command_id}/ack`, ack, { 'x-bridge-agent-key': key })).status).toBe(
        200,
      )
    }
    for (const [key, status] of [
      [fresh, 200],
      [own.key, 200],
      ['bak_none', 401],
    ] as const)
      expect((await own.call('POST', 'heartbeat', beat({}, own), { 'x-bridge-agent-key': key })).status).toBe(status)
  })
})

describe('settings', () => {
  test('reach the agent by a command, with a version that saves the body', async () => {
    const own = await agentOf(service, 'clinic')
    expect((await own.call('GET', 'config')).body).toEqual({ version: 0, sources: {}, targets: {}, limits: {} })
    const file = join(await temporaryFolder('bridge'), 'config.json')
    await writeFile(file, JSON.stringify({ targets: { lab: { host: '127.0.0.1', port: 2575 } } }))
    await told('agent', 'configure', own.id, '--file', file)
    const { body, headers } = await own.call('GET', 'config')
    expect(body).toMatchObject({ version: 1, targets: { lab: { port: 2575 } } })
    const again = await own.call('GET', 'config', undefined, { 'if-none-match': headers.get('etag')! })
    expect([again.status, again.body]).toEqual([304, undefined])
    expect((await own.call('GET', 'commands')).body.commands).toMatchObject([
      { type: 'config', payload: { version: 1 } },
    ])
    await writeFile(file, '{"target": {}}')
    expect((await admin(['agent', 'configure', own.id, '--file', file])).code).toBe(1)
  })
})
