// A connection to the database that ends under a request costs that request an answer it can act on, and nobody anything else.
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
