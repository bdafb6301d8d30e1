// Idempotency-Key: a request that a client repeats is done once. The key, the work and the reply are one transaction,
// so a crash leaves nothing of any of them
// (https://datatracker.ietf.org/doc/html/draft-ietf-httpapi-idempotency-key-header-07).
import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import type { Asker } from '../access/caller.ts'
import type { Database } from '../db/database.ts'
import type { Queryable, Transaction } from '../db/statement.ts'
import { Failure } from '../lib/failure.ts'
import { uncachedHash64 } from '../lib/hash.ts'
import type { Log } from '../lib/log.ts'
import { Encoded, encoded } from '../lib/pieces.ts'
import type { Access } from '../store/access.ts'
import { asOperation } from '../store/operation.ts'
import { heardBy } from '../store/recording.ts'
import type { UnitOfWork } from '../store/unit-of-work.ts'
import type { Reply } from './route.ts'

/** What distinguishes a request from others. */
interface KeyedRequest<Who extends Asker = Asker> {
  readonly key: string
  readonly caller: Who
  /** Method, path and query, as they were sent. */
  readonly line: string
  readonly body: Buffer
}

export interface Idempotency {
  /**
   * Returns the reply that is kept for the request's key, or else that of the work. The work receives a caller whose
   * every act is part of one transaction, and may be run again after a rollback. Failed work is rolled back and not
   * kept.
   * @throws Failure IDEMPOTENCY_KEY_REUSED, IDEMPOTENCY_IN_PROGRESS, or whatever the work throws.
   */
  once<Who extends Asker>(request: KeyedRequest<Who>, work: (caller: Who) => Promise<Reply>): Promise<Reply>
  /** Deletes expired keys. */
  prune(): Promise<void>
  /** Prunes every hour from now on. */
  start(): void
  close(): void
}

export interface IdempotencyParts {
  readonly database: Database
  readonly unitOfWork: UnitOfWork
  readonly log: Log
  readonly now: () => Date
}

const livesFor = 24 * 3_600_000
const pruneEvery = 3_600_000
const pruneAtOnce = 1000

/**
 * Returns the key of a request, or undefined if there is none.
 * @throws Failure MALFORMED_REQUEST unless it is 1 to 255 printable characters.
 */
export function keyOf(header: string | string[] | undefined): string | undefined {
  if (header === undefined) return undefined
  const key = String(header)
  if (/^[\x20-\x7e]{1,255}$/.test(key)) return key
  throw new Failure('MALFORMED_REQUEST', 'Idempotency-Key must have 1 to 255 printable ASCII characters.')
}

export function createIdempotency({ database, unitOfWork, log, now }: IdempotencyParts): Idempotency {
  let timer: NodeJS.Timeout | undefined
  const prune = async (): Promise<void> => {
    let gone: object[]
    do {
      gone = await database.query({
        text: `delete from idempotency where (client_id, key) in (
            select client_id, key from idempotency where expires_at <= $1 limit ${pruneAtOnce} for update skip locked)
          returning 1 as gone`,
        values: [now()],
      })
    } while (gone.length === pruneAtOnce)
  }
  return {
    once: (request, work) => unitOfWork(request.caller, on => keptOrDone(on, request, now(), work)),
    prune,
    start() {
      const tidy = () => void prune().catch(err => log.warn({ err }, 'idempotency: could not delete expired keys'))
      timer = setInterval(tidy, pruneEvery).unref()
    },
    close: () => clearInterval(timer),
  }
}

async function keptOrDone<Who extends Asker>(
  on: Transaction,
  request: KeyedRequest<Who>,
  now: Date,
  work: (caller: Who) => Promise<Reply>,
): Promise<Reply> {
  const mark = createHash('sha256').update(request.line).update('\n').update(request.body).digest()
  const kept = await find(on, request, now)
  if (kept) return replay(kept, request, mark)
  const { caller } = request
  const shown: Shown = { patients: new Set(), resources: 0 }
  const count = (access: Access): void => {
    for (const patient of access.patients) shown.patients.add(patient)
    shown.resources += access.resources
  }
  const reply = await work({ ...heardBy(caller, count), within: on })
  const body = await bytesOf(reply.body)
  if (reply.kept === null) return { ...reply, body }
  const toKeep = reply.kept === undefined ? body : copied(await encoded(reply.kept))
  await keep(on, request, mark, { ...reply, body: toKeep }, shown, new Date(now.getTime() + livesFor))
  return { ...reply, body }
}

/** The patients that a reply shows, and how many resources. */
interface Shown {
  readonly patients: Set<string>
  resources: number
}

interface Kept {
  readonly request: Buffer
  readonly patients: readonly string[]
  readonly resources: number
  readonly scopes: readonly string[]
  readonly status: number
  readonly headers: Record<string, string>
  readonly body: Buffer | null
}

/**
 * Returns the kept reply. Without one, the caller holds the key until its transaction ends.
 * @throws Failure IDEMPOTENCY_IN_PROGRESS if another request holds it.
 */
async function find(on: Queryable, { caller, key }: KeyedRequest, now: Date): Promise<Kept | undefined> {
  // The second statement sees what the last holder committed, because it begins once the lock is held.
  const [[lock], [kept]] = await Promise.all([
    on.query<{ free: boolean }>({
      name: 'idempotency-lock',
      text: 'select pg_try_advisory_xact_lock($1) as free',
      values: [uncachedHash64(`idempotency ${caller.clientId} ${key}`)],
    }),
    on.query<Kept>({
      name: 'idempotency-find',
      text: `select request, patients, resources, scopes, status, headers, body from idempotency
        where client_id = $1 and key = $2 and expires_at > $3`,
      values: [caller.clientId, key, now],
    }),
  ])
  if (lock!.free) return kept
  throw new Failure(
    'IDEMPOTENCY_IN_PROGRESS',
    'A request with this Idempotency-Key is still in progress: try again later.',
    {
      retryAfter: 1,
    },
  )
}

async function replay(kept: Kept, { caller, line }: KeyedRequest, mark: Buffer): Promise<Reply> {
  const { patients, resources, scopes, status, headers, body } = kept
  if (!kept.request.equals(mark))
    throw new Failure(
      'IDEMPOTENCY_KEY_REUSED',
      'This Idempotency-Key was used for a request with a different address or body: use a new key for each request.',
    )
  const missing = scopes.filter(scope => !caller.has(scope))
  if (missing.length > 0)
    throw new Failure(
      'INSUFFICIENT_SCOPE',
      `The stored reply was created for a token with more scopes: repeat the request with a token that also has ${missing.join(' ')}.`,
    )
  const result = { status, headers: { ...headers, 'idempotent-replayed': 'true' }, body: body ?? undefined }
  const query = `${line} (the stored reply for its Idempotency-Key)`
  return asOperation(caller, { query }, async () => ({ result, patients, resources }))
}

async function keep(
  on: Queryable,
  { caller, key }: KeyedRequest,
  mark: Buffer,
  { status, headers = {}, body }: Reply,
  { patients, resources }: Shown,
  expiresAt: Date,
): Promise<void> {
  // A reply that has expired may still be stored.
  await on.run({
    name: 'idempotency-keep',
    text: `insert into idempotency (client_id, key, request, scopes, status, headers, body, patients, resources, expires_at)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
      on conflict (client_id, key) do update set request = excluded.request, scopes = excluded.scopes,
        status = excluded.status, headers = excluded.headers, body = excluded.body, patients = excluded.patients,
        resources = excluded.resources, expires_at = excluded.expires_at`,
    values: [
      caller.clientId,
      key,
      mark,
      caller.scopes,
      status,
      JSON.stringify(headers),
      body ?? null,
      [...patients],
      resources,
      expiresAt,
    ],
  })
}

/** Returns a body as it is sent. */
async function bytesOf(body: unknown): Promise<Buffer | undefined> {
  if (body === undefined || Buffer.isBuffer(body)) return body
  if (body instanceof Readable) return buffer(body)
  if (body instanceof Encoded) return copied(body)
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
}

function copied(text: Encoded): Buffer {
  const bytes = Buffer.concat(text.parts)
  text.giveBack()
  return bytes
}
