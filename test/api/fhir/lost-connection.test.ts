// A connection to the database that ends under a request costs a change an answer that its caller can act on, and nobody else anything.
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { beforeAll, expect, test } from 'vitest'
import { fhirCaller, issueOf } from '../../support/fhir.ts'
import { type Service, startService } from '../../support/service.ts'
import { databaseOf } from '../../support/trail.ts'

let service: Service
let beside: pg.Client
const call = fhirCaller(() => service)
const body = { resourceType: 'Patient', id: 'ada', active: true }

beforeAll(async () => {
  service = await startService()
  beside = await databaseOf(service)
})

test('a write whose connection is ended gets 503 and a time to try again, leaves nothing, and the service goes on', async () => {
  expect((await call('PUT', 'Patient/ada', { body })).status).toBe(201)
  await beside.query('begin')
  await beside.query('select 1 from directory for update')
  const writing = call('PUT', 'Patient/ada', { body: { ...body, active: false } })
  // The one that waits for the row: others may wait for other locks.
  const blocked = `from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like '%for no key update of d%'`
  // A transaction goes on seeing the activity that it saw first, so another connection looks.
  const watcher = await databaseOf(service)
  while ((await watcher.query(`select pg_terminate_backend(pid) ${blocked}`)).rowCount === 0) await sleep(10)
  const answer = await writing
  await beside.query('rollback')
  expect(answer.status, answer.text).toBe(503)
  expect(answer.headers.get('retry-after')).toBe('2')
  expect(issueOf(answer.body)).toMatchObject({ code: 'transient' })
  expect((await call('GET', 'Patient/ada')).body).toMatchObject({ active: true, meta: { versionId: '1' } })
  const again = await call('PUT', 'Patient/ada', { body: { ...body, active: false } })
  expect(again.body).toMatchObject({ active: false, meta: { versionId: '2' } })
})

test('reads whose connections end are retried on others, and each is recorded once', async () => {
  await call('PUT', 'Patient/grace', { body: { ...body, id: 'grace' } })
  const reads = ['Patient/grace', 'Patient?_id=grace', 'Patient/grace/_history', 'Patient/grace/$everything']
  const all = () => Promise.all(Array.from({ length: 24 }, (_, i) => call('GET', reads[i % reads.length]!)))
  const count = async () =>
    Number((await beside.query(`select count(*) from audit_event where action in ('R', 'E')`)).rows[0].count)
  await all()
  const before = await count()
  const endings = `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name like 'health-interop%'`
  const rounds = 5
  for (let round = 0; round < rounds; round++) {
    const ended = beside.query(endings)
    const answers = await all()
    expect((await ended).rowCount).toBeGreaterThan(0)
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
    await all()
  }
  expect(await count()).toBe(before + rounds * 2 * 24)
})
