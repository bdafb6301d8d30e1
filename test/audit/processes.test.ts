// Processes that write the trail of one database, and the command that checks it.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type pg from 'pg'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { sealingKey } from '../../src/audit/chain.ts'
import { type ChainVerdict, verifyTrail } from '../../src/audit/verify.ts'
import { adminOn } from '../support/admin.ts'
import { cleanUp } from '../support/cleanup.ts'
import { fhirCaller } from '../support/fhir.ts'
import { testKey } from '../support/server.ts'
import { type Service, startBeside, startService } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { databaseOf, tamper } from '../support/trail.ts'

let service: Service
let database: pg.Client

const key = sealingKey(Buffer.from(testKey, 'base64'))
const verify = (): Promise<ChainVerdict> => verifyTrail(service.application.database, key, [])

/** A trail of two chains: five rows, and three rows of a process that started later. */
beforeEach(async () => {
  service = await startService({ DATABASE_POOL: '4' })
  database = await databaseOf(service)
  await ask(service, 5)
  await ask(await startBeside(service, { DATABASE_POOL: '4' }), 3)
})

afterEach(cleanUp)

async function ask(of: Service, times: number): Promise<void> {
  const call = fhirCaller(() => of)
  for (let each = 0; each < times; each++)
    await call('GET', `Observation?patient=amina-${each}`, { token: service.token })
}

test('processes write chains of their own at the same time, and each stays whole', async () => {
  const beside = await Promise.all([
    startBeside(service, { DATABASE_POOL: '4' }),
    startBeside(service, { DATABASE_POOL: '4' }),
  ])
  await Promise.all([service, ...beside].flatMap(each => Array.from({ length: 10 }, () => ask(each, 5))))
  const checks = await Promise.all([verify(), ask(service, 5).then(() => verify())])
  expect(checks.map(check => check.isWhole)).toEqual([true, true])
  expect(checks[1]).toMatchObject({ chains: 4, rows: 8 + 150 + 5 })
})

test('npm run admin -- audit verify tells people and programs, by its exit code too', async () => {
  const { admin, adminProcess } = adminOn(() => service.database)
  const env = { AUDIT_ANCHOR_FILE: 'off' }
  const folder = await temporaryFolder('admin')
  expect(await adminProcess(['audit', 'verify'], env)).toEqual({
    code: 0,
    output:
      'The audit trail is intact: 8 rows in 2 chains.\n' +
      'The anchor is disabled: rows cut off at the end under an older head cannot be detected.\n',
  })
  const json = await admin(['audit', 'verify', '--json'], env)
  expect(json.code).toBe(0)
  const known = join(folder, 'heads.json')
  await writeFile(known, json.output)
  await tamper(database, 'delete from audit_row where chain = 1 and sequence = 4')
  const bad = await adminProcess(['audit', 'verify', '--known', known], env)
  expect(bad.code).toBe(1)
  expect(bad.output).toContain('The audit trail is broken, first at chain 1, row 4 (AuditEvent/1-4).')
  expect((await admin(['audit', 'verify', '--known', join(folder, 'absent')], env)).code).toBe(2)
  const unknown = await admin(['audit', 'mend'], env)
  expect(unknown.code).toBe(2)
  expect(unknown.output).toContain('there is no command audit mend')
})
