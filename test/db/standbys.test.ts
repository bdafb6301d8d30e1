// Reads on standbys: what a client is shown is never older than what the service has acknowledged, whatever the standby does.
import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import { openDatabase } from '../../src/db/database.ts'
import { migrate } from '../../src/db/migrate.ts'
import { ensureDemoClient } from '../../src/identity/demo.ts'
import { createLog } from '../../src/lib/log.ts'
import { consentOf } from '../support/consents.ts'
import { type Answer, fhirCaller } from '../support/fhir.ts'
import { scrape } from '../support/metrics.ts'
import { partyOf } from '../support/parties.ts'
import { until } from '../support/process.ts'
import { type Service, startServiceOn } from '../support/service.ts'
import { type PostgresServer, startPrimary, startStandby } from '../support/standby.ts'

let primary: PostgresServer
let standby: PostgresServer
let service: Service
const call = fhirCaller(() => service)

const urlOf = ({ connection: { host, port, user, database } }: PostgresServer): string =>
  `postgres://${user}@${host}:${port}/${database}`

/** Makes the database of a primary one of the service. */
async function migrated(server: PostgresServer): Promise<PostgresServer> {
  const database = openDatabase(server.connection, { poolSize: 2, statementTimeout: 30_000 })
  await migrate(database)
  await ensureDemoClient(database)
  await database.end()
  return server
}

beforeAll(async () => {
  primary = await migrated(await startPrimary('one'))
  standby = await startStandby(primary, 'two', { max_standby_streaming_delay: '500ms' })
  service = await startServiceOn(primary.connection, { DATABASE_READ_URL: urlOf(standby) })
  await isUsed(true)
}, 60_000)

afterEach(async () => {
  standby.thaw()
  if ((await standby.query('select pg_is_wal_replay_paused() as is')).some(({ is }) => is)) await standby.resumeReplay()
  await isUsed(true)
})

const isUsed = (wanted: boolean): Promise<void> =>
  until(`the standby is ${wanted ? 'used' : 'left out'}`, async () => {
    const { text, sum } = await scrape(service.url)
    return text.includes('database_standby_used{') && (sum('database_standby_used') === 1) === wanted
  })

const reads = async (outcome: string): Promise<number> =>
  (await scrape(service.url)).sum('database_standby_reads_total', `outcome="${outcome}"`)

const named = (family: string) => ({ resourceType: 'Patient', name: [{ family }] })

const found = ({ body }: Answer): string[] =>
  ((body as { entry?: { resource: { id: string } }[] }).entry ?? []).map(({ resource }) => resource.id)

describe('a standby that keeps up', () => {
  test('answers searches, with all that was written just before', async () => {
    const before = await reads('answered')
    for (let turn = 0; turn < 20; turn++) {
      const created = await call('POST', '/api/fhir/R4/Patient', { body: named(`Turn${turn}`) })
      expect(created.status).toBe(201)
      expect(found(await call('GET', `/api/fhir/R4/Patient?family=Turn${turn}`))).toEqual([created.body.id])
    }
    expect(await reads('answered')).toBeGreaterThan(before)
  })

  test('answers $everything, a total, includes, a history of a type and a search of the audit trail', async () => {
    const { body } = await call('POST', '/api/fhir/R4/Patient', { body: named('Whole') })
    const observation = {
      ...{ resourceType: 'Observation', status: 'final', code: { text: 'pulse' } },
      subject: { reference: `Patient/${body.id}` },
    }
    const { body: pulse } = await call('POST', '/api/fhir/R4/Observation', { body: observation })
    const before = await reads('answered')
    expect(found(await call('GET', `/api/fhir/R4/Patient/${body.id}/$everything`))).toEqual([body.id, pulse.id])
    const included = await call(
      'GET',
      `/api/fhir/R4/Observation?patient=${body.id}&_include=Observation:subject&_total=accurate`,
    )
    expect(found(included)).toEqual([pulse.id, body.id])
    expect(included.body.total).toBe(1)
    expect(found(await call('GET', '/api/fhir/R4/Observation/_history'))).toContain(pulse.id)
    const trail = await call('GET', `/api/fhir/R4/AuditEvent?entity=Observation/${pulse.id}`)
    expect(trail.body.entry.length).toBeGreaterThan(0)
    expect(await reads('answered')).toBe(before + 4)
  })

  test('answers no read by id, no conditional change and no transaction', async () => {
    const { body } = await call('POST', '/api/fhir/R4/Patient', { body: named('Single') })
    const before = await reads('answered')
    expect((await call('GET', `/api/fhir/R4/Patient/${body.id}`)).status).toBe(200)
    expect((await call('PUT', '/api/fhir/R4/Patient?family=Single', { body: named('Single') })).status).toBe(200)
    const entry = [{ request: { method: 'GET', url: 'Patient?family=Single' } }]
    const bundle = await call('POST', '/api/fhir/R4', { body: { resourceType: 'Bundle', type: 'transaction', entry } })
    expect(bundle.body.entry[0].resource.total ?? bundle.body.entry[0].resource.entry.length).toBe(1)
    expect(await reads('answered')).toBe(before)
  })
})

describe('while replay is paused', () => {
  test('a client finds what another has just written', async () => {
    await standby.pauseReplay()
    const { body } = await call('POST', '/api/fhir/R4/Patient', { body: named('Paused') })
    expect(found(await call('GET', '/api/fhir/R4/Patient?family=Paused'))).toEqual([body.id])
  })

  test('a new consent opens at once, and a revoked one closes at once', async () => {
    const clinic = await partyOf(service, 'clinic')
    const { body } = await call('POST', '/api/fhir/R4/Patient', { body: named('Private') })
    const search = async () => found(await clinic.call('GET', '/api/fhir/R4/Patient?family=Private'))
    expect(await search()).toEqual([])
    await standby.pauseReplay()
    const consent = consentOf('private', body.id, 'clinic')
    expect((await call('PUT', '/api/fhir/R4/Consent/private', { body: consent })).status).toBe(201)
    expect(await search()).toEqual([body.id])
    await standby.resumeReplay()
    await isUsed(true)
    expect(await search()).toEqual([body.id])
    await standby.pauseReplay()
    expect(
      (await call('PUT', '/api/fhir/R4/Consent/private', { body: { ...consent, status: 'inactive' } })).status,
    ).toBe(200)
    expect(await search()).toEqual([])
    expect(found(await clinic.call('GET', `/api/fhir/R4/Patient/${body.id}/$everything`))).toEqual([])
  })

  test('the standby is left out, and used again when it has caught up', async () => {
    await standby.pauseReplay()
    await call('POST', '/api/fhir/R4/Patient', { body: named('Late') })
    await isUsed(false)
    await standby.resumeReplay()
    await isUsed(true)
  })
})

describe('a standby that fails', () => {
  test('costs no client an answer when it is killed, and is used again after its restart', async () => {
    const { body } = await call('POST', '/api/fhir/R4/Patient', { body: named('Killed') })
    let isOver = false
    const client = async (): Promise<void> => {
      while (!isOver) {
        const answer = await call('GET', '/api/fhir/R4/Patient?family=Killed')
        expect([answer.status, ...found(answer)]).toEqual([200, body.id])
      }
    }
    const clients = [client(), client(), client(), client()]
    await standby.kill()
    await isUsed(false)
    isOver = true
    await Promise.all(clients)
    await standby.restart()
    await isUsed(true)
  })

  test('completes a statement on the primary when it freezes', async () => {
    const { body } = await call('POST', '/api/fhir/R4/Patient', { body: named('Frozen') })
    await standby.freeze()
    const answers = await Promise.all([1, 2, 3].map(() => call('GET', '/api/fhir/R4/Patient?family=Frozen')))
    for (const answer of answers) expect([answer.status, ...found(answer)]).toEqual([200, body.id])
    await isUsed(false)
  })

  test('completes a statement on the primary when what it replays is in the way', async () => {
    const { database } = service.application
    const asked = database.as({ who: 'reader', signal: new AbortController().signal })
    const on = await asked.reading!()
    const before = await reads('moved')
    const slow = on.query<{ count: number; standby: boolean }>({
      text: 'select count(*) as count, pg_is_in_recovery() as standby from migration cross join lateral (select pg_sleep(case when pg_is_in_recovery() then 30 else 0 end)) slept',
      values: [],
    })
    await until('the statement runs', async () => {
      const running = await standby.query(
        `select from pg_stat_activity where query like '%from migration cross%' and state = 'active' and pid <> pg_backend_pid()`,
      )
      return running.length > 0
    })
    await primary.query('begin; lock table migration in access exclusive mode; commit')
    expect((await slow)[0]!.standby).toBe(false)
    expect(await reads('moved')).toBe(before + 1)
  })
})

describe('a server that is not fit', () => {
  /** Resolves with the first reason why the service that has the primary leaves the other server out. */
  async function reasonFor(of: PostgresServer, readUrl: string): Promise<unknown> {
    const reasons: unknown[] = []
    const log = createLog('warn', { write: line => void reasons.push(JSON.parse(line).reason) })
    const other = await startServiceOn(of.connection, { DATABASE_READ_URL: readUrl }, log)
    await until('the server is judged', () => reasons.some(Boolean))
    expect((await scrape(other.url)).sum('database_standby_used')).toBe(0)
    expect((await fhirCaller(() => other)('GET', '/api/fhir/R4/Patient?family=Nobody')).status).toBe(200)
    expect((await scrape(other.url)).sum('database_standby_reads_total', 'outcome="answered"')).toBe(0)
    await other.stop()
    return reasons.find(Boolean)
  }

  test('is left out if it is a primary', async () => {
    expect(await reasonFor(primary, urlOf(primary))).toBe('it is not a standby')
  })

  test('is left out if its role may not see whether it streams, and used once it may', async () => {
    await primary.query('create role reader login')
    await primary.query('grant select on all tables in schema public to reader')
    await standby.catchUp(primary)
    const url = urlOf(standby).replace('postgres@', 'reader@')
    expect(await reasonFor(primary, url)).toBe('its role may not see pg_stat_wal_receiver: grant it pg_monitor')
    await primary.query('grant pg_monitor to reader')
    const other = await startServiceOn(primary.connection, { DATABASE_READ_URL: url })
    await until('the standby is used', async () => (await scrape(other.url)).sum('database_standby_used') === 1)
    const reader = fhirCaller(() => other)
    expect((await reader('GET', '/api/fhir/R4/Patient?name=nobody&_total=accurate')).body.total).toBe(0)
    expect((await scrape(other.url)).sum('database_standby_reads_total', 'outcome="answered"')).toBe(1)
    await other.stop()
  })

  test('is left out if it follows a copy of the cluster, however far that has come', async () => {
    const copy = await migrated(await startPrimary('copy'))
    const follower = await startStandby(copy, 'follower')
    for (let turn = 0; turn < 3; turn++) {
      await copy.query('create table ahead (); drop table ahead')
      await copy.query('select pg_switch_wal()')
    }
    await follower.catchUp(copy)
    const reason = await reasonFor(primary, urlOf(follower))
    expect(reason).toBe('it does not follow the primary')
  })

  test('is left out if it still follows the primary of before a failover', async () => {
    const [promoted, loyal] = [await startStandby(primary, 'three'), await startStandby(primary, 'four')]
    await promoted.promote()
    // The former primary goes on, and its standby is ahead of the new one.
    for (let turn = 0; turn < 3; turn++)
      await primary.query('select pg_switch_wal(), pg_logical_emit_message(true, $1, $1)', ['on'])
    await loyal.catchUp(primary)
    const reason = await reasonFor(promoted, urlOf(loyal))
    expect(reason).toBe('it follows another timeline than the primary')
  })

  test('is left out if nobody answers there', async () => {
    expect(await reasonFor(primary, 'postgres://postgres@127.0.0.1:1/health_interop')).toBe('it cannot be reached')
  })
})
