// Migrations while a service runs: one that expands the schema is not noticed, any other waits until older processes have ended.
import { cp, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { beforeAll, expect, inject, test } from 'vitest'
import { type Database, openDatabase } from '../../src/db/database.ts'
import { migrate } from '../../src/db/migrate.ts'
import { migrations } from '../../src/db/schema.ts'
import { onCleanup } from '../support/cleanup.ts'
import { consentOf } from '../support/consents.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { type Answer, fhirCaller } from '../support/fhir.ts'
import { until } from '../support/process.ts'
import { type Service, startService } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

/** The migrations of a newer version: those of this one, and another. */
async function newerVersion(name: string, sql: string): Promise<string> {
  const folder = await temporaryFolder('migrations')
  await cp(migrations, folder, { recursive: true })
  await writeFile(join(folder, name), sql)
  return folder
}

const widenAll = (column: string): string => `do $$ declare name text; begin
  for name in select c.oid::regclass from pg_class c where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition loop
    execute format('alter table %s add column ${column} integer', name);
  end loop;
end $$;`

let service: Service
const call = fhirCaller(() => service)

beforeAll(async () => {
  service = await startService()
})

/** A way through the surfaces of a service; returns what each answered. */
async function round(turn: number): Promise<string[]> {
  const connect = '/api/v1/connect'
  const patient = { resourceType: 'Patient', id: 'p', name: [{ family: `Turn${turn}` }], birthDate: '1980-01-01' }
  const observation = {
    ...{
      resourceType: 'Observation',
      status: 'final',
      code: { coding: [{ system: 'http://loinc.org', code: '718-7' }] },
    },
    subject: { reference: 'Patient/p' },
  }
  const entry = [
    { resource: observation, request: { method: 'POST', url: 'Observation' } },
    { request: { method: 'GET', url: 'Patient/p' } },
  ]
  const calls: [string, string, unknown?][] = [
    ['PUT', 'Patient/p', patient],
    ['POST', 'Observation', observation],
    ['PUT', 'Consent/c', consentOf('c', 'p', `clinic${turn}`)],
    ['POST', '', { resourceType: 'Bundle', type: 'transaction', entry }],
    ['POST', '', { resourceType: 'Bundle', type: 'batch', entry: entry.slice(1) }],
    ['GET', 'Patient/p'],
    ['GET', 'Patient/p/_history'],
    ['GET', 'Patient/_history'],
    ['GET', 'Patient?name=turn&_sort=name&_total=accurate'],
    ['GET', 'Observation?patient=p&code=718-7&_include=Observation:subject'],
    ['GET', 'Observation?_summary=count'],
    ['GET', 'Patient/p/$everything'],
    ['GET', 'Observation/$lastn?patient=p'],
    ['GET', 'AuditEvent?_count=3'],
    ['DELETE', 'Consent/c'],
    [
      'POST',
      `${connect}/patients/resolve`,
      { first_name: 'Ada', last_name: `Turn${turn}`, date_of_birth: '1980-01-01', sex: 'female' },
    ],
    ['GET', `${connect}/webhooks/subscriptions`],
    ['GET', `${connect}/blood-bank/inventory`],
    ['GET', `${connect}/pharmacy/stock`],
  ]
  const answers: string[] = []
  for (const [method, path, body] of calls) {
    const answer: Answer = await call(
      method,
      path,
      body === undefined
        ? {}
        : { body, headers: { 'content-type': path.startsWith('/') ? 'application/json' : 'application/fhir+json' } },
    )
    answers.push(`${method} ${path} ${answer.status < 300 ? 'answered' : `${answer.status} ${answer.text}`}`)
  }
  return answers
}

test('a running service does not notice a migration that expands the schema', async () => {
  const before = [await round(1), await round(2), await round(3)]
  const folder = await newerVersion('9000-expand-all.sql', widenAll('added_later'))
  const database = open({ ...inject('server'), database: service.database })
  expect((await migrate(database, { folder })).ran).toEqual(['9000-expand-all.sql'])
  expect([await round(4), await round(5), await round(6)]).toEqual(before)
  expect(before[0]!.filter(each => !each.endsWith('answered'))).toEqual([])
})

test('a version runs beside a newer one that has expanded the schema, and not beside one that has changed it', async () => {
  const database = open(await createTestDatabase())
  const folder = await newerVersion('9000-expand-all.sql', widenAll('added_later'))
  await migrate(database, { folder })
  expect(await migrate(database)).toEqual({ ran: [], newer: ['9000-expand-all.sql'] })
  const changed = await newerVersion('9001-change.sql', 'alter table payment drop column fee')
  await migrate(database, { folder: changed })
  await expect(migrate(database)).rejects.toThrow(
    'The database was migrated by a newer version (9001-change.sql): start that version.',
  )
})

test('a migration that changes the schema waits for processes of older versions, and names them if they stay', async () => {
  const folder = await newerVersion('9001-change.sql', 'alter table payment drop column fee')
  const connection = await createTestDatabase()
  const older = new pg.Client({ ...connection, application_name: 'health-interop, schema 35' })
  await older.connect()
  const newer = open(connection)
  await expect(migrate(newer, { folder, patience: 0 })).rejects.toThrow(
    /^The migration 9001-change.sql changes what the running version uses, and \d+ connections of that version are open: stop all of its processes/,
  )
  expect((await older.query('select * from payment limit 0')).fields.map(({ name }) => name)).toContain('fee')
  const [{ ran }] = await Promise.all([migrate(newer, { folder }), older.end()])
  expect(ran).toEqual(['9001-change.sql'])
})

test('a migration that needs a table in use lets requests pass, and runs when the table is free', async () => {
  const database = open({ ...inject('server'), database: service.database })
  const holder = new pg.Client({ ...inject('server'), database: service.database })
  await holder.connect()
  await holder.query('begin; select from resource limit 1')
  const folder = await newerVersion('9002-expand-resource.sql', widenAll('added_again'))
  const migrating = migrate(database, { folder })
  await until('the migration waits for the table', async () => {
    const { rows } = await holder.query(`select from pg_locks where not granted and relation = 'resource'::regclass`)
    return rows.length > 0
  })
  const answers = await Promise.all([1, 2, 3].map(() => call('GET', 'Patient?name=nobody')))
  expect(answers.map(answer => answer.status)).toEqual([200, 200, 200])
  await holder.query('commit')
  await holder.end()
  expect((await migrating).ran).toEqual(['9002-expand-resource.sql'])
})

function open(connection: TestDatabase): Database {
  const database = openDatabase(connection, { poolSize: 1, statementTimeout: 0 })
  onCleanup(() => database.end())
  return database
}
