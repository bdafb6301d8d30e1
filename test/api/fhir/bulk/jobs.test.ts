// What holds for every export and import: limits, cancellation, failure, expiry, several processes, and the promise of
// transactionTime.
import { existsSync, mkdirSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { pino } from 'pino'
import { beforeAll, describe, expect, inject, test } from 'vitest'
import { system } from '../../../../src/access/caller.ts'
import { createApplication } from '../../../../src/app/app.ts'
import { readConfig } from '../../../../src/lib/config.ts'
import type { Log } from '../../../../src/lib/log.ts'
import { ended, linesOf, manifestOf, namesIn, ordered } from '../../../support/bulk.ts'
import { onCleanup } from '../../../support/cleanup.ts'
import { layoutOfRun } from '../../../support/database.ts'
import { fhirCaller, issueOf } from '../../../support/fhir.ts'
import { until } from '../../../support/process.ts'
import { testKey } from '../../../support/server.ts'
import { type Service, startService } from '../../../support/service.ts'

let service: Service
const call = fhirCaller(() => service)
const env = { BULK_JOBS_PER_CLIENT: '2', BULK_JOBS: '3', BULK_FILE_RESOURCES: '3', BULK_LEASE_SECONDS: '1' }

const ask = <Row extends object>(text: string, values: unknown[] = []): Promise<Row[]> =>
  service.application.database.query<Row>({ text, values })

/** Exports wait while the work is done, as they do for a write that is under way. */
const whileHeld = <T>(work: () => Promise<T>): Promise<T> =>
  service.application.database.transaction(async on => {
    await on.query({ text: 'select may_write(null, 9000000000000)', values: [] })
    return work()
  })

const idOf = (address: string): string => /bulk\/([^/]+)/.exec(address)![1]!
const folderOf = (address: string): string => join(service.dataDir, 'bulk', idOf(address))

const tokenOf = (clientId: string) =>
  service.application.identity.tokens.mint({ clientId, organizationId: 'x', consentExempt: true }, ['system/*.rs'])

/** Another process on the same database and the same folder, as far as jobs are concerned; gives the way to stop it. */
async function another(log: Log): Promise<() => Promise<void>> {
  const settings = {
    ...env,
    DATA_DIR: service.dataDir,
    ENCRYPTION_KEY: testKey,
    DATABASE_POOL: '4',
    DATABASE_LAYOUT: layoutOfRun(),
  }
  const connection = { ...inject('server'), database: service.database }
  const application = await createApplication(readConfig(settings), connection, service.url, log)
  application.start()
  let closed: Promise<void> | undefined
  const close = () => (closed ??= application.close())
  onCleanup(close)
  return close
}

beforeAll(async () => {
  service = await startService(env)
  const entry = Array.from({ length: 10 }, (_, index) => ({
    resource: { resourceType: 'Patient', id: `p${index}` },
    request: { method: 'PUT', url: `Patient/p${index}` },
  }))
  await call('POST', '', { body: { resourceType: 'Bundle', type: 'transaction', entry } })
})

describe('limits', () => {
  test('a client with as many jobs as it may have, and one too many of all, are told when to come again', async () => {
    const addresses = await whileHeld(async () => {
      const first = [await ordered(call, '$export'), await ordered(call, '$export')]
      for (const options of [{}, { body: 'x', headers: { 'content-type': 'application/fhir+ndjson' } }]) {
        const more = await call('POST', options.body ? '$import' : '$export', options)
        expect([more.status, more.headers.get('retry-after'), issueOf(more.body).code]).toEqual([
          429,
          '30',
          'throttled',
        ])
      }
      const last = await call('GET', '$export', { token: await tokenOf('second') })
      expect(last.status).toBe(202)
      const tooMany = await call('GET', '$export', { token: await tokenOf('third') })
      expect(issueOf(tooMany.body).diagnostics).toMatch(/^Too many exports/)
      return first
    })
    for (const address of addresses) expect((await ended(call, address)).status).toBe(200)
    await until(
      'the second client has its export',
      async () => (await ask("select from bulk_job where state <> 'done'")).length === 0,
    )
  })
})

describe('a job that runs', () => {
  test('ends when it is cancelled, and leaves no file behind', async () => {
    const address = await whileHeld(async () => {
      const address = await ordered(call, '$export')
      await until(
        'it is taken up',
        async () => (await ask("select from bulk_job where state = 'running'")).length === 1,
      )
      expect((await call('DELETE', address)).status).toBe(202)
      expect((await call('GET', address)).status).toBe(404)
      return address
    })
    await until('its folder is gone', () => !existsSync(folderOf(address)))
    expect(await ask('select from bulk_job where id = $1', [idOf(address)])).toEqual([])
    expect((await manifestOf(call, '$export')).output.length).toBe(4)
    expect(await ask('select from export_slice')).toEqual([])
    expect(existsSync(folderOf(address))).toBe(false)
  })

  test('is cancelled while it makes a long list, and the statement ends with it', async () => {
    const address = await service.application.database.transaction(async on => {
      await on.query({ text: 'lock table export_target in access exclusive mode', values: [] })
      const address = await ordered(call, '$export')
      const listing =
        "from pg_stat_activity where query like '%export_target%' and wait_event_type = 'Lock' and datname = current_database()"
      await until('the list is under way', async () => (await ask(`select ${listing}`)).length === 1)
      await ask('delete from bulk_job where id = $1', [idOf(address)])
      await until('the statement has ended', async () => (await ask(`select ${listing}`)).length === 0)
      return address
    })
    await until('its folder is gone', () => !existsSync(folderOf(address)))
  })

  test('and fails says so with an OperationOutcome that tells nothing of the inside', async () => {
    await ask(
      `create function spoil() returns trigger language plpgsql as $$ begin raise exception 'spoilt inside'; end $$`,
    )
    await ask('create trigger spoil before insert on bulk_file for each row execute function spoil()')
    const address = await ordered(call, '$export')
    const { status, body, text } = await ended(call, address)
    expect([status, body.resourceType, issueOf(body).code]).toEqual([500, 'OperationOutcome', 'exception'])
    expect(text).not.toMatch(/spoil/)
    await ask('drop trigger spoil on bulk_file')
    expect((await call('DELETE', address)).status).toBe(202)
  })

  test('is taken over when the lease of whoever worked on it has run out', async () => {
    const address = await whileHeld(async () => {
      const address = await ordered(call, '$export')
      await until(
        'it is taken up',
        async () => (await ask("select from bulk_job where state = 'running'")).length === 1,
      )
      // As if another process had it and were gone.
      await ask(`update bulk_job set lease = gen_random_uuid(), lease_until = now() - interval '1 s' where id = $1`, [
        idOf(address),
      ])
      return address
    })
    const { body } = await ended(call, address)
    expect((await namesIn(body.output, service.token)).length).toBe(10)
  })

  test('is run by one process only, however many there are', async () => {
    const lines: { msg: string; job?: string }[] = []
    const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line)) })
    const taken = () => lines.filter(line => line.msg === 'bulk: started').map(line => line.job)
    let stops: (() => Promise<void>)[] = []
    const addresses = await whileHeld(async () => {
      const addresses = [await ordered(call, '$export'), await ordered(call, '$export')]
      addresses.push(await ordered(call, '$export', { token: await tokenOf('second') }))
      stops = await Promise.all(['a', 'b', 'c'].map(() => another(log)))
      await until(
        'all are taken up',
        async () => (await ask("select from bulk_job where state = 'running'")).length === 3,
      )
      expect(await ask("select distinct lease from bulk_job where state = 'running'")).toHaveLength(3)
      return addresses
    })
    for (const [index, address] of addresses.entries()) {
      const token = index === 2 ? await tokenOf('second') : service.token
      const { body } = await ended(call, address, { token })
      expect(body.output.length).toBe(4)
      expect((await namesIn(body.output, token)).length).toBe(10)
    }
    expect(taken()).toHaveLength(2)
    expect(new Set(taken()).size).toBe(2)
    for (const stop of stops) await stop()
  })

  test('is put back when its process is stopped, and another one finishes it', async () => {
    const running = () => ask<{ id: string }>("select id from bulk_job where state = 'running'")
    const address = await whileHeld(async () => {
      await ordered(call, '$export')
      await until('the first is taken up', async () => (await running()).length === 1)
      const address = await ordered(call, '$export')
      const stop = await another(pino({ level: 'silent' }))
      await until('the other one too', async () => (await running()).some(each => each.id === idOf(address)))
      await stop()
      expect(await ask('select state, attempts from bulk_job where id = $1', [idOf(address)])).toEqual([
        { state: 'queued', attempts: 0 },
      ])
      return address
    })
    expect((await namesIn((await ended(call, address)).body.output, service.token)).length).toBe(10)
  })

  test('goes with its files when it has expired, and so do the remains of jobs that never were', async () => {
    const address = await ordered(call, '$export')
    await ended(call, address)
    const [expired, remains] = [folderOf(address), join(service.dataDir, 'bulk', 'remains')]
    mkdirSync(remains)
    utimesSync(remains, 0, 0)
    await ask("update bulk_job set expires_at = now() - interval '1 s' where id = $1", [idOf(address)])
    expect((await call('GET', address)).status).toBe(404)
    const stop = await another(pino({ level: 'silent' }))
    await until('both are gone', () => !existsSync(expired) && !existsSync(remains))
    await stop()
  })
})

describe('the promise of transactionTime', () => {
  const basic = (id: string) => ({ resourceType: 'Basic', id, code: { text: id } })

  test('a write that is under way when an export begins is waited for', async () => {
    const put = {
      method: 'PUT',
      type: 'Basic',
      id: 'under-way',
      fullUrl: undefined,
      query: undefined,
      resource: basic('under-way'),
    } as const
    const get = { ...put, method: 'GET', resource: undefined } as const
    let address = ''
    await service.application.storeFor(system).transaction([put, get], async () => {
      address = await ordered(call, '$export?_type=Basic')
      await until(
        'the export has its time',
        async () =>
          (await ask('select from bulk_job where id = $1 and transaction_time is not null', [idOf(address)])).length ===
          1,
      )
      return undefined
    })
    const { body } = await ended(call, address)
    expect(await namesIn(body.output, service.token)).toEqual(['Basic/under-way'])
    const [{ meta }] = await linesOf(body.output, service.token)
    expect(Date.parse(meta.lastUpdated)).toBeLessThanOrEqual(Date.parse(body.transactionTime))
  })

  test('a write that waits for its resource meanwhile gets a later time, and is in the next export', async () => {
    await call('PUT', 'Basic/late', { body: basic('late') })
    let answer: ReturnType<typeof call> | undefined
    const { transactionTime } = await service.application.database.transaction(async on => {
      await on.query({ text: "select 1 from directory where id = 'late' for update", values: [] })
      answer = call('PATCH', 'Basic/late', {
        body: [{ op: 'add', path: '/author', value: { reference: 'Patient/p1' } }],
        headers: { 'content-type': 'application/json-patch+json' },
      })
      await until(
        'the write waits',
        async () =>
          (await ask("select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()"))
            .length > 0,
      )
      return manifestOf(call, '$export?_type=Basic')
    })
    const { status, body } = await answer!
    expect(status).toBe(200)
    expect(Date.parse(body.meta.lastUpdated)).toBeGreaterThan(Date.parse(transactionTime))
    const next = await manifestOf(call, `$export?_type=Basic&_since=${transactionTime}`)
    expect(await namesIn(next.output, service.token)).toEqual(['Basic/late'])
  })

  test('even a clock that is far behind the fence does not keep anybody from writing', async () => {
    await ask("update write_fence set at = now() + interval '1 hour'")
    for (const [method, path] of [
      ['POST', 'Basic'],
      ['PUT', 'Basic/ahead'],
      ['DELETE', 'Basic/ahead'],
    ] as const) {
      const { id: _id, ...fresh } = basic('ahead')
      const { status } = await call(method, path, {
        body: method === 'DELETE' ? undefined : method === 'POST' ? fresh : basic('ahead'),
      })
      expect(status).toBe(method === 'DELETE' ? 204 : 201)
    }
    await ask("update write_fence set at = '-infinity'")
  })
})

describe('a job that ends the process', () => {
  /** An export that processes have taken up so often before; it waits behind one that is in hand. */
  const begun = (times: number): Promise<string> =>
    whileHeld(async () => {
      await ordered(call, '$export')
      const address = await ordered(call, '$export')
      await ask('update bulk_job set attempts = $2 where id = $1', [idOf(address), times])
      return address
    })

  test('is begun five times and no more', async () => {
    expect((await ended(call, await begun(4))).status).toBe(200)
    const { status, text } = await ended(call, await begun(5))
    expect(status).toBe(500)
    expect(text).toContain('All 5 attempts failed')
  })

  test('has not come forward by being taken up: an import counts its attempts until lines are noted', async () => {
    const headers = { 'content-type': 'application/fhir+ndjson' }
    const address = await whileHeld(async () => {
      await ordered(call, '$export')
      const address = await ordered(call, '$import', { body: '{"resourceType":"Patient","id":"again"}', headers })
      await ask('update bulk_job set attempts = 3, total = 39, transaction_time = now() where id = $1', [idOf(address)])
      return address
    })
    const attempts = async () =>
      (await ask<{ attempts: number }>('select attempts from bulk_job where id = $1', [idOf(address)]))[0]!.attempts
    await service.application.database.transaction(async on => {
      await on.query({ text: 'lock table bulk_input in exclusive mode', values: [] })
      const noting = `select from pg_stat_activity where query like '%update bulk_input%' and wait_event_type = 'Lock'
        and datname = current_database()`
      await until('its lines are stored, and not noted', async () => (await ask(noting)).length === 1)
      expect(await attempts()).toBe(4)
    })
    expect((await ended(call, address)).status).toBe(200)
    expect(await attempts()).toBe(0)
  })
})
