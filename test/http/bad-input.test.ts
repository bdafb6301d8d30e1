// Every operation of the description is sent what nobody should send, by callers of every kind, in requests made at random
// (interface §2.9, §7). BAD_INPUT_SEED makes other ones, BAD_INPUT_ROUNDS more of them for each operation.
import { beforeAll, expect, test } from 'vitest'
import { sealingKey } from '../../src/audit/chain.ts'
import { verifyTrail } from '../../src/audit/verify.ts'
import { dice } from '../fml/mutate.ts'
import { rounds } from '../support/rounds.ts'
import { testKey } from '../support/server.ts'
import { type Service, startService } from '../support/service.ts'
import { databaseOf } from '../support/trail.ts'
import { type Operation, operationsOf } from './bad-input/description.ts'
import type { FaultKind } from './bad-input/judge.ts'
import { createRun, type Run } from './bad-input/run.ts'

const seed = Number(process.env['BAD_INPUT_SEED'] ?? 1)
const count = Number(process.env['BAD_INPUT_ROUNDS'] ?? rounds(2, 8))
const title = `(seed ${seed}, ${count} requests an operation)`

let service: Service
let operations: Operation[]
let run: Run

beforeAll(
  async () => {
    service = await startService({ BULK_JOBS_PER_CLIENT: '10000', BULK_JOBS: '10000' })
    await service.application.prepare()
    operations = operationsOf(await (await fetch(`${service.url}/openapi.json`)).json())
    run = await createRun(service)
    for (const [index, operation] of operations.entries())
      await run.exercise(operation, dice(seed * 1000 + index), count)
    run.close()
  },
  60_000 + count * 5000,
)

/** The first of the faults of a kind: of one there are often hundreds. */
const found = (kind: FaultKind): string[] => run.found(kind).slice(0, 20)

test(`every error has a status below 500, a body, and the shape of its surface ${title}`, () => {
  expect(found('answer')).toEqual([])
})

test(`nobody is let in by credentials of another kind ${title}`, () => {
  expect(found('door')).toEqual([])
})

test(`whatever succeeds is as the description says ${title}`, () => {
  expect(found('description')).toEqual([])
})

test(`what is refused leaves nothing behind ${title}`, () => {
  expect(found('remains')).toEqual([])
})

test('every operation of the description was called', () => {
  expect(operations.length).toBeGreaterThan(100)
  expect(run.answers.size).toBe(operations.length)
})

test('no transaction is left open, and nothing is locked', async () => {
  const database = await databaseOf(service)
  const left = async () => {
    const { rows: open } = await database.query(
      `select state, wait_event_type, query from pg_stat_activity
       where datname = current_database() and pid <> pg_backend_pid() and state <> 'idle'`,
    )
    const { rows: locks } = await database.query(
      `select locktype, objid from pg_locks where pid <> pg_backend_pid() and locktype in ('advisory', 'transactionid', 'tuple')
         and pid in (select pid from pg_stat_activity where datname = current_database())`,
    )
    return { open, locks }
  }
  // The service itself looks after things now and then, which takes a moment; what a request left stays.
  await expect.poll(left).toEqual({ open: [], locks: [] })
})

test('the audit trail is whole', async () => {
  const key = sealingKey(Buffer.from(testKey, 'base64'))
  const verdict = await verifyTrail(service.application.database, key, [])
  expect(verdict).toMatchObject({ isWhole: true, broken: [] })
  expect(verdict.rows).toBeGreaterThan(operations.length)
})
