// The agent's commands as a person types them: what they print, what they write, and their exit codes.
import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { payloadOf } from '../../../bridge/src/state/items.ts'
import { quarantineIncoming } from '../../../bridge/src/state/quarantine.ts'
import { agent, freshFolder, freshState, runAgent, writeAgent } from '../support/agent.ts'
import { agentKey, type StandIn, startStandIn } from '../support/stand-in.ts'

let standIn: StandIn
beforeAll(async () => {
  standIn = await startStandIn()
})

describe('agent enrol', () => {
  const enrol = (file: string, ...more: string[]) =>
    agent(
      'enrol',
      '--config',
      file,
      '--url',
      standIn.url,
      '--id',
      'agent-1',
      '--key',
      agentKey,
      '--facility',
      'facility-1',
      ...more,
    )

  test('writes config and data key, which nobody else can read, and proves the key with a heartbeat', async () => {
    const file = join(freshFolder(), 'agent.json')
    const { code, out } = await enrol(file)
    expect([code, out]).toEqual([0, expect.stringContaining('The server knows this agent.')])
    expect(standIn.paths('/heartbeat').at(-1)!.body).toMatchObject({ agent_id: 'agent-1', facility_id: 'facility-1' })
    for (const name of [file, join(file, '../data.key')]) expect(statSync(name).mode & 0o777).toBe(0o600)
    expect(JSON.parse(readFileSync(file, 'utf8')).server).toEqual({
      url: standIn.url,
      agent_id: 'agent-1',
      agent_key: agentKey,
      facility_id: 'facility-1',
    })
    // The usual port may be taken on this machine.
    change(file, values => Object.assign(values['local']!, { port: 0 }))
    await (await runAgent(file)).stop()
  })

  test('a second time changes the server and keeps the rest', async () => {
    const folder = freshFolder()
    const file = writeAgent(folder, 'https://old.example.org', { sources: { lab: { kind: 'mllp', port: 0 } } })
    expect((await enrol(file, '--state', join(folder, 'elsewhere'))).code).toBe(0)
    const { server, sources } = JSON.parse(readFileSync(file, 'utf8'))
    expect([server.url, Object.keys(sources)]).toEqual([standIn.url, ['lab']])
    expect(existsSync(join(folder, 'elsewhere/agent.db'))).toBe(true)
  })

  test.each([
    [
      'a key that the server does not know',
      { '--key': `bak_${'x'.repeat(43)}` },
      'does not know this id with this key',
    ],
    ['a key that is none', { '--key': 'secret' }, '--key: server.agent_key must be bak_'],
    [
      'the name of a facility',
      { '--facility': 'Clinique Bastos' },
      '--facility: server.facility_id must be the id of the',
    ],
    [
      'an address without encryption',
      { '--url': 'http://fhir.example.org' },
      '--url: server.url must be an https address',
    ],
  ])('%s: says what to do, and writes nothing', async (_, change, words) => {
    const file = join(freshFolder(), 'agent.json')
    const options = { '--config': file, '--url': standIn.url, '--id': 'agent-1', '--key': agentKey, ...change }
    const { code, err } = await agent('enrol', ...Object.entries(options).flat())
    expect([code, err]).toEqual([1, expect.stringContaining(words)])
    expect(existsSync(file)).toBe(false)
  })

  test('a facility that the server wants and does not get is named', async () => {
    const options = [
      '--config',
      join(freshFolder(), 'agent.json'),
      '--url',
      standIn.url,
      '--id',
      'agent-1',
      '--key',
      agentKey,
    ]
    expect(await agent('enrol', ...options)).toMatchObject({ code: 1, err: expect.stringContaining('add --facility') })
  })

  test('where the server cannot be reached the file is written, and the exit code says that it is not proven', async () => {
    const file = join(freshFolder(), 'agent.json')
    const { code, out } = await enrol(file, '--url', 'http://127.0.0.1:9')
    expect([code, out]).toEqual([1, expect.stringContaining('cannot be reached (ECONNREFUSED)')])
    expect(existsSync(file)).toBe(true)
  })

  test('a server whose clock differs is no reason to refuse', async () => {
    standIn.ahead = 86_400_000
    expect((await enrol(join(freshFolder(), 'agent.json'))).code).toBe(0)
    standIn.ahead = 0
  })
})

test('a config file that cannot be used is told with everything that is wrong, also slips of the pen', async () => {
  const file = writeAgent(freshFolder(), 'ftp://x', {
    sources: { lab: { kind: 'mllp', port: 99_999, tsl: {} } },
    limit: {},
    server: { url: 'ftp://x', agent_id: 'agent-1', agent_key: agentKey, facility_id: 'clinic/1' },
  })
  const { code, err } = await agent('run', '--config', file)
  expect(code).toBe(1)
  for (const words of [
    'server.url must be',
    'server.facility_id must be the id of the facility, 1 to 64 letters, digits, hyphens and dots, and not its name',
    'sources.lab.port must be',
    'sources.lab.tsl is not known',
    'limit is not known',
  ])
    expect(err).toContain(words)
})

describe('agent doctor', () => {
  test('finds nothing where all is well', async () => {
    const file = writeAgent(freshFolder(), standIn.url)
    const { code, out } = await agent('doctor', '--config', file)
    expect(out).not.toContain('BAD')
    expect(code).toBe(0)
  })

  test.each([
    ['a clock that is wrong', 'clock', async () => void (standIn.ahead = 3_600_000), '3600 seconds behind'],
    [
      'a key that was revoked',
      'key',
      async () => void (standIn.script = () => ({ status: 401, body: { error_code: 'INVALID_AGENT' } })),
      '401',
    ],
    [
      'a disk that is nearly full',
      'room',
      async (file: string) => limit(file, { min_free_bytes: 2 ** 40 }),
      'inputs refuse',
    ],
    ['a file that others can read', 'secrets', async (file: string) => chmodSync(file, 0o644), 'chmod 600'],
    ['a server that is away', 'network', async (file: string) => server(file, 'http://127.0.0.1:9'), 'ECONNREFUSED'],
  ])('finds %s', async (_, check, spoil, words) => {
    const file = writeAgent(freshFolder(), standIn.url)
    await spoil(file)
    const { code, out } = await agent('doctor', '--config', file, '--json')
    standIn.ahead = 0
    standIn.script = () => undefined
    const bad = JSON.parse(out).findings.filter((each: { is_good: boolean }) => !each.is_good)
    expect(bad).toEqual([{ check, is_good: false, text: expect.stringContaining(words) }])
    expect(code).toBe(1)
  })
})

/** Changes a config file. */
function change(file: string, work: (values: Record<string, Record<string, unknown>>) => void): void {
  const values = JSON.parse(readFileSync(file, 'utf8'))
  work(values)
  writeFileSync(file, JSON.stringify(values), { mode: 0o600 })
}

const limit = (file: string, limits: object): void => change(file, values => Object.assign(values['limits']!, limits))

const server = (file: string, url: string): void => change(file, values => Object.assign(values['server']!, { url }))

describe('agent quarantine', () => {
  /** A config file whose agent holds two items in quarantine. */
  function withQuarantine(): string {
    const folder = freshFolder()
    const file = writeAgent(folder, standIn.url)
    const state = freshState(join(folder, 'state'))
    for (const itemId of ['q-1', 'q-2'])
      quarantineIncoming(
        state,
        {
          source: 'lab',
          itemId,
          type: 'hl7v2',
          op: 'upsert',
          occurredAt: '2026-03-01T08:00:00Z',
          payload: '{"message":"PID|Abena\\r"}',
        },
        { origin: 'intake', code: 'HL7_AE_101', message: 'MSH-10 is missing near Abena', field: 'MSH-10' },
        Date.parse('2026-03-01T08:00:00Z') + Number(itemId.at(-1)),
      )
    state.close()
    return file
  }

  test('list names code and field, and no patient; show names all of it', async () => {
    const file = withQuarantine()
    const { out } = await agent('quarantine', 'list', '--config', file)
    expect(out).toMatch(/^q-1 {2}2026-03-01T08:00:00.001Z {2}lab {2}hl7v2 {2}intake {2}HL7_AE_101 {2}MSH-10\nq-2/)
    expect(out).not.toContain('Abena')
    const shown = await agent('quarantine', 'show', 'q-1', '--config', file)
    expect(shown.out).toContain('MSH-10 is missing near Abena\nPID|Abena\n')
    expect((await agent('quarantine', 'show', 'q-9', '--config', file)).code).toBe(1)
  })

  test('retry puts back what is named; drop deletes it; an unknown one is exit code 1, none at all 2', async () => {
    const file = withQuarantine()
    expect(await agent('quarantine', 'retry', 'q-1', '--config', file)).toMatchObject({
      code: 0,
      out: '1 items queued again.\n',
    })
    expect(await agent('quarantine', 'drop', 'q-1', '--config', file)).toMatchObject({
      code: 1,
      out: '0 items dropped.\n',
    })
    expect((await agent('quarantine', 'drop', '--config', file)).code).toBe(2)
    expect(await agent('quarantine', 'drop', '--all', '--json', '--config', file)).toMatchObject({
      code: 0,
      out: '{"count":1}\n',
    })
    expect(JSON.parse((await agent('status', '--json', '--config', file)).out)).toMatchObject({
      running: false,
      quarantined: 0,
      queue: { pending: 1 },
    })
  })
})

test.each([
  'enrol',
  'run',
  'status',
  'doctor',
  'quarantine list',
  'quarantine show',
  'quarantine retry',
  'quarantine drop',
])('agent %s --help', async name => {
  const { code, out } = await agent(...name.split(' '), '--help')
  expect([code, out]).toEqual([0, expect.stringMatching(new RegExp(`^Usage: agent ${name}[^]*--json`))])
})

test('a stopped agent is no success, and a database of another key is told', async () => {
  const folder = freshFolder()
  const file = writeAgent(folder, standIn.url)
  expect(await agent('status', '--config', file)).toMatchObject({
    code: 1,
    err: expect.stringContaining('There is no database'),
  })
  freshState(join(folder, 'state')).close()
  expect((await agent('status', '--config', file)).code).toBe(1)
  writeFileSync(join(folder, 'data.key'), Buffer.alloc(32, 'other').toString('base64'), { mode: 0o600 })
  const { err } = await agent('status', '--config', file)
  expect(err).toContain('The data key is not the one')
})

test('payloads at rest are sealed, each for its own row', () => {
  const state = freshState()
  const sealed = state.seal('{"message":"PID|Abena"}', payloadOf('a'))
  expect(sealed.includes('Abena')).toBe(false)
  expect(state.unseal(sealed, payloadOf('a'))).toContain('Abena')
  expect(() => state.unseal(sealed, payloadOf('b'))).toThrow()
})
