// Changes whose rows could not be written at once: a process that stops writes those it knows of before it ends.
import type pg from 'pg'
import { beforeAll, expect, test } from 'vitest'
import { createLeftOver } from '../../src/audit/left-over.ts'
import { createLog } from '../../src/lib/log.ts'
import { fhirCaller } from '../support/fhir.ts'
import { type Service, startService } from '../support/service.ts'
import { age, databaseOf, pendingIn } from '../support/trail.ts'

let service: Service
let database: pg.Client
const call = fhirCaller(() => service)

beforeAll(async () => {
  service = await startService()
  database = await databaseOf(service)
})

test('closing waits until what was found has been told', async () => {
  await database.query('alter table audit_event add constraint shut check (false) not valid')
  expect((await call('PUT', 'Patient/amina', { body: { resourceType: 'Patient', id: 'amina' } })).status).toBe(503)
  expect(await pendingIn(database)).toBe(1)
  await age(database)
  const told: string[] = []
  let proceed = (): void => {}
  const held = new Promise<void>(done => (proceed = done))
  const leftOver = createLeftOver({
    database: service.application.database,
    log: createLog('silent'),
    async tell({ id }) {
      await held
      told.push(id)
    },
  })
  leftOver.start()
  let isClosed = false
  const closing = leftOver.close().then(() => (isClosed = true))
  await service.application.database.query({ text: 'select 1', values: [] })
  await new Promise<void>(done => setImmediate(done))
  expect(isClosed).toBe(false)
  proceed()
  await closing
  expect(told).toHaveLength(1)
})
