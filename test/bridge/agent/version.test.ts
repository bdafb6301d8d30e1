// An agent that is older than the server wants: it goes on, and says so everywhere.
import { beforeAll, describe, expect, test } from 'vitest'
import { isOlder } from '../../../bridge/src/state/outdated.ts'
import { version } from '../../../bridge/src/version.ts'
import { until } from '../../support/process.ts'
import {
  agent as command,
  freshFolder,
  type InProcess,
  portOf,
  runAgent,
  testClock,
  writeAgent,
} from '../support/agent.ts'
import { admission, openSender, verdictOf } from '../support/sender.ts'
import { type StandIn, startStandIn } from '../support/stand-in.ts'

test.each([
  ['1.2.0', '1.2.1', true],
  ['1.2.0', '1.10.0', true],
  ['1.2.0', '2.0.0', true],
  ['1.2.0', '1.2.0', false],
  ['1.10.0', '1.9.9', false],
  ['2.0.0', '1.9.9', false],
  ['1.2.0', 'soon', false],
])('%s is older than %s: %s', (one, other, expected) => {
  expect(isOlder(one, other)).toBe(expected)
})

describe('an agent whose version is below the minimum of the server', () => {
  const clock = testClock(Date.now())
  let standIn: StandIn
  let agent: InProcess
  let file: string

  /** Has the server ask for a version, and refuse batches if it is strict. */
  const demand = (least: string, isStrict = false): void => {
    standIn.script = ({ path }) => {
      if (path.endsWith('/sync') && isStrict) return { status: 426, body: { error_code: 'UPGRADE_REQUIRED' } }
      const body = { acked_through_seq: standIn.ackedThrough(), min_agent_version: least, next_heartbeat_seconds: 60 }
      return path.endsWith('/heartbeat') ? { status: 200, body } : undefined
    }
  }

  const warnings = async (): Promise<string[]> => (await agent.status()).warnings

  /** Lets the minutes pass until it is so. */
  const inTime = (what: string, condition: () => Promise<boolean> | boolean): Promise<void> =>
    until(what, async () => {
      clock.advance(60_000)
      return condition()
    })

  beforeAll(async () => {
    standIn = await startStandIn()
    demand('99.1.0')
    file = writeAgent(freshFolder(), standIn.url, { sources: { lab: { kind: 'mllp', port: 0 } } })
    agent = await runAgent(file, clock)
  })

  const said = expect.stringContaining(`it is ${version}, the server asks for 99.1.0 or newer`)

  test('takes messages and sends them on', async () => {
    const sender = await openSender(await portOf(agent))
    expect(verdictOf(await sender.ask(admission('OLD-1')))).toBe('AA OLD-1')
    await standIn.until('the message is sent', ({ done }) => done.size === 1)
  })

  test('says so on its page, in its status, in its log, to the server and in agent doctor', async () => {
    await inTime('it warns', async () => (await warnings()).length > 0)
    expect(await warnings()).toEqual([said])
    expect(await (await fetch(`http://127.0.0.1:${agent.port}/`)).text()).toContain('this version is too old')
    expect(await command('status', '--config', file)).toMatchObject({
      code: 1,
      out: expect.stringMatching(/^warning {8}this version is too old/m),
    })
    expect(await command('doctor', '--config', file)).toMatchObject({
      code: 1,
      out: expect.stringContaining(`BAD   version      ${version} is too old: the server asks for 99.1.0`),
    })
    await inTime('it is in the log', () => agent.lines.join('').includes('"msg":"this version is too old'))
    await inTime('the server is told', () => standIn.paths('/heartbeat').at(-1)!.body.warnings?.length === 1)
  })

  test('keeps all that it has while the server refuses it, and quarantines nothing', async () => {
    demand('99.1.0', true)
    const sender = await openSender(await portOf(agent))
    expect(verdictOf(await sender.ask(admission('OLD-2')))).toBe('AA OLD-2')
    await inTime('the server refuses', () => standIn.paths('/sync').length > 3)
    // A heartbeat that is answered in between is no trouble.
    const trouble = 'the server refuses this version of the agent: update it'
    await inTime('it says so', async () => (await agent.status()).trouble === trouble)
    const { queue, quarantined } = await agent.status()
    expect([queue.pending, quarantined, standIn.done.size]).toEqual([1, 0, 1])
  })

  test('sends what it kept when the server is content', async () => {
    demand('1.0.0')
    await inTime('the message is sent', () => standIn.done.size === 2)
    await inTime('nothing is wrong', async () => (await warnings()).length === 0)
    expect((await command('doctor', '--config', file)).out).toContain(`good  version      ${version}\n`)
  })

  test('says so also when it does not run', async () => {
    demand('99.1.0')
    await inTime('it warns', async () => (await warnings()).length > 0)
    await agent.stop()
    expect((await command('status', '--config', file)).out).toMatch(/^warning {8}this version is too old/m)
  })
})
