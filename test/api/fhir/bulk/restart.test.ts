// Exports and imports whose process is killed in the middle go on after the next start where they were.
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Database, openDatabase } from '../../../../src/db/database.ts'
import { ended, linesOf, ordered } from '../../../support/bulk.ts'
import { layoutOfRun } from '../../../support/database.ts'
import { fhirCaller } from '../../../support/fhir.ts'
import { demoToken, freePort, type Running, run, until } from '../../../support/process.ts'
import { testKey } from '../../../support/server.ts'
import { createTestDatabase, type Service } from '../../../support/service.ts'
import { temporaryFolder } from '../../../support/temporary-folder.ts'

const resources = 1000
const fileSize = 40

let folder: string
let env: Record<string, string>
let database: Database
let token: string
let running: Running
const base = () => `http://127.0.0.1:${env['PORT']}`
const call = fhirCaller(() => ({ url: base(), token }) as Service)

const ask = <Row extends object>(text: string): Promise<Row[]> => database.query<Row>({ text, values: [] })

beforeAll(async () => {
  folder = await temporaryFolder('restart')
  const connection = await createTestDatabase()
  database = openDatabase(connection, { poolSize: 3, statementTimeout: 30_000, layout: layoutOfRun() })
  env = {
    DATABASE_LAYOUT: layoutOfRun(),
    DATABASE_URL: `postgres://${connection.user}@localhost:${connection.port}/${connection.database}?host=${encodeURIComponent(connection.host)}`,
    DATA_DIR: folder,
    PORT: String(await freePort()),
    WORKERS: '1',
    DATABASE_POOL: '6',
    LOG_LEVEL: 'warn',
    ENCRYPTION_KEY: testKey,
    BULK_FILE_RESOURCES: String(fileSize),
    BULK_LEASE_SECONDS: '1',
  }
  await start()
})

afterAll(async () => {
  running.child.kill('SIGTERM')
  await running.ended
  await database.end()
})

async function start(): Promise<void> {
  running = run('src/main.ts', [], env)
  await until(
    'the service answers',
    async () => (await fetch(`${base()}/readyz`).catch(() => undefined))?.status === 200,
  )
  token = await demoToken(base())
}

/** Kills the service with kill -9 as soon as it hangs in the statement that `condition` describes, and starts it again. */
async function killedWhen(table: string, event: string, condition: string): Promise<void> {
  await ask(
    `create function hang() returns trigger language plpgsql as $$ begin perform pg_sleep(60); return new; end $$`,
  )
  await ask(`create trigger hang before ${event} on ${table} for each row when (${condition}) execute function hang()`)
  const hanging = `from pg_stat_activity where wait_event = 'PgSleep' and datname = current_database()`
  await until('the job hangs in the middle', async () => (await ask(`select ${hanging}`)).length > 0)
  running.child.kill('SIGKILL')
  await running.ended
  await ask(`select pg_terminate_backend(pid) ${hanging}`)
  await ask(`drop trigger hang on ${table}`)
  await ask('drop function hang')
  await start()
}

test('an import and an export that are killed are finished after the next start, nothing twice and nothing missing', async () => {
  const visit = (status: string, participant: string): string =>
    JSON.stringify({
      ...{ resourceType: 'Encounter', id: 'waits', status, class: { code: 'AMB' } },
      participant: [{ individual: { reference: participant } }],
    })
  const told = new Map([
    [0, visit('planned', 'Practitioner?identifier=http://x|last')],
    [990, visit('finished', 'Practitioner/last')],
    [999, '{"resourceType":"Practitioner","id":"last","identifier":[{"system":"http://x","value":"last"}]}'],
  ])
  const lines = Array.from({ length: resources }, (_, index) =>
    told.has(index)
      ? told.get(index)!
      : index % 100 === 7
        ? '{"broken":'
        : JSON.stringify({ resourceType: 'Basic', id: `b${index}`, code: { text: 'x'.repeat(20_000) } }),
  )
  const importing = await ordered(call, '$import', {
    body: lines.join('\n'),
    headers: { 'content-type': 'application/fhir+ndjson' },
  })
  await killedWhen('bulk_input', 'update', 'old.position > 0 and new.position > old.position')
  const imported = await ended(call, importing)
  const { count, extension } = imported.body.output[0]
  expect({ count, failed: extension.failed }).toEqual({ count: 990, failed: 10 })
  expect(extension.unchanged).toBeGreaterThan(0)
  expect((await call('GET', 'Encounter/waits')).body).toMatchObject({ status: 'finished', meta: { versionId: '2' } })
  const problems = (await linesOf(imported.body.error, token)).map(each => each.issue[0].diagnostics)
  expect(problems.sort()).toEqual(
    lines
      .flatMap((line, index) =>
        line.startsWith('{"broken') ? [`body:${index + 1}: this is not valid JSON: unexpected end of input`] : [],
      )
      .sort(),
  )

  const exporting = await ordered(call, '$export?_type=Basic')
  await killedWhen('bulk_file', 'insert', 'new.number = 9')
  // What the killed process may have written after its last note.
  const [first] = await ask<{ name: string; job: string }>('select job, name from bulk_file where number = 8')
  await writeFile(join(folder, 'bulk', first!.job, first!.name), 'remains', { flag: 'a' })
  const exported = await ended(call, exporting)
  expect(exported.status).toBe(200)
  const ids = (await linesOf(exported.body.output, token)).map(each => each.id)
  expect(ids.length).toBe(987)
  expect(new Set(ids).size).toBe(987)
  const files = exported.body.output.map((file: { url: string }) => file.url.split('/').at(-1))
  expect(files).toContain(first!.name)
  expect(new Set(files.map((name: string) => name.split('-')[2])).size).toBe(2)
  expect((await readdir(join(folder, 'bulk', first!.job))).length).toBeGreaterThanOrEqual(files.length)
})
