// Standbys that fail, and servers that are none: they cost no client an answer, and are left out.
import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createLog } from '../../src/lib/log.ts'
import { fhirCaller } from '../support/fhir.ts'
import { scrape } from '../support/metrics.ts'
import { until } from '../support/process.ts'
import { found, migrated, named, type Replicated, startReplicated, urlOf } from '../support/replicated.ts'
import { startOn } from '../support/service.ts'
import { type PostgresServer, startPrimary, startStandby } from '../support/standby.ts'

let replicated: Replicated
const call: Replicated['call'] = (...given) => replicated.call(...given)

beforeAll(async () => {
  replicated = await startReplicated()
}, 60_000)

afterEach(() => replicated.mend())

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
    await replicated.standby.kill()
    await replicated.isUsed(false)
    isOver = true
    await Promise.all(clients)
    await replicated.standby.restart()
    await replicated.isUsed(true)
  })

  test('completes a statement on the primary when it freezes', async () => {
    const { body } = await call('POST', '/api/fhir/R4/Patient', { body: named('Frozen') })
    await replicated.standby.freeze()
    const answers = await Promise.all([1, 2, 3].map(() => call('GET', '/api/fhir/R4/Patient?family=Frozen')))
    for (const answer of answers) expect([answer.status, ...found(answer)]).toEqual([200, body.id])
    await replicated.isUsed(false)
  })

  test('completes a statement on the primary when what it replays is in the way', async () => {
    const { database } = replicated.service.application
    const asked = database.as({ who: 'reader', signal: new AbortController().signal })
    let on = await asked.reading!()
    await until('a read runs on the standby', async () => {
      on = await asked.reading!()
      const [there] = await on.query<{ is: boolean }>({ text: 'select pg_is_in_recovery() as is', values: [] })
      return there!.is
    })
    const before = await replicated.reads('moved')
    const slow = on.query<{ count: number; standby: boolean }>({
      text: 'select count(*) as count, pg_is_in_recovery() as standby from migration cross join lateral (select pg_sleep(case when pg_is_in_recovery() then 30 else 0 end)) slept',
      values: [],
    })
    await until('the statement runs', async () => {
      const running = await replicated.standby.query(
        `select from pg_stat_activity where query like '%from migration cross%' and state = 'active' and pid <> pg_backend_pid()`,
      )
      return running.length > 0
    })
    await replicated.primary.query('begin; lock table migration in access exclusive mode; commit')
    expect((await slow)[0]!.standby).toBe(false)
    expect(await replicated.reads('moved')).toBe(before + 1)
  })
})

describe('a server that is not fit', () => {
  /** Resolves with the first reason why the service that has the primary leaves the other server out. */
  async function reasonFor(of: PostgresServer, readUrl: string): Promise<unknown> {
    const reasons: unknown[] = []
    const log = createLog('warn', { write: line => void reasons.push(JSON.parse(line).reason) })
    const other = await startOn(of.connection, { DATABASE_READ_URL: readUrl }, log)
    await until('the server is judged', () => reasons.some(Boolean))
    expect((await scrape(other.url)).sum('database_standby_used')).toBe(0)
    expect((await fhirCaller(() => other)('GET', '/api/fhir/R4/Patient?family=Nobody')).status).toBe(200)
    expect((await scrape(other.url)).sum('database_standby_reads_total', 'outcome="answered"')).toBe(0)
    await other.stop()
    return reasons.find(Boolean)
  }

  test('is left out if it is a primary', async () => {
    expect(await reasonFor(replicated.primary, urlOf(replicated.primary))).toBe('it is not a standby')
  })

  test('is left out if its role may not see whether it streams, and used once it may', async () => {
    await replicated.primary.query('create role reader login')
    await replicated.primary.query('grant select on all tables in schema public to reader')
    await replicated.standby.catchUp(replicated.primary)
    const url = urlOf(replicated.standby).replace('postgres@', 'reader@')
    expect(await reasonFor(replicated.primary, url)).toBe(
      'its role may not see pg_stat_wal_receiver: grant it pg_monitor',
    )
    await replicated.primary.query('grant pg_monitor to reader')
    const other = await startOn(replicated.primary.connection, { DATABASE_READ_URL: url })
    await until('the standby is used', async () => (await scrape(other.url)).sum('database_standby_used') === 1)
    const reader = fhirCaller(() => other)
    // A standby that is behind for a moment lets the primary answer.
    await until('a search runs there', async () => {
      expect((await reader('GET', '/api/fhir/R4/Patient?name=nobody&_total=accurate')).body.total).toBe(0)
      return (await scrape(other.url)).sum('database_standby_reads_total', 'outcome="answered"') > 0
    })
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
    const reason = await reasonFor(replicated.primary, urlOf(follower))
    expect(reason).toBe('it does not follow the primary')
  })

  test('is left out if it still follows the primary of before a failover', async () => {
    const [promoted, loyal] = [
      await startStandby(replicated.primary, 'three'),
      await startStandby(replicated.primary, 'four'),
    ]
    await promoted.promote()
    // The former primary goes on, and its standby is ahead of the new one.
    for (let turn = 0; turn < 3; turn++)
      await replicated.primary.query('select pg_switch_wal(), pg_logical_emit_message(true, $1, $1)', ['on'])
    await loyal.catchUp(replicated.primary)
    const reason = await reasonFor(promoted, urlOf(loyal))
    expect(reason).toBe('it follows another timeline than the primary')
  })

  test('is left out if nobody answers there', async () => {
    expect(await reasonFor(replicated.primary, 'postgres://postgres@127.0.0.1:1/health_interop')).toBe(
      'it cannot be reached',
    )
  })
})
