// Jobs in their table: the client, the order, the progress, and the process that works on it. The process that holds a
// job's lease works on it; a job whose lease has run out belongs to a dead process, and is taken over.
import { randomUUID } from 'node:crypto'
import type { Database } from '../../db/database.ts'
import type { Queryable } from '../../db/statement.ts'
import { Failure } from '../../lib/failure.ts'

export interface Job {
  readonly id: string
  readonly kind: 'export' | 'import'
  readonly clientId: string
  readonly organizationId: string
  /** Of the token that started it. */
  readonly scopes: readonly string[]
  readonly consentExempt: boolean
  /** Purpose of use, a code of v3-ActReason. */
  readonly purpose: string
  /** Of the request that started it. */
  readonly url: string
  readonly request: unknown
  readonly state: 'queued' | 'running' | 'done' | 'failed'
  readonly stage: string
  readonly transactionTime: Date | undefined
  readonly total: number | undefined
  readonly done: number
  readonly place: unknown
  readonly problem: string | undefined
  readonly createdAt: Date
  readonly expiresAt: Date | undefined
  readonly attempts: number
}

/** A job, and the proof that this process works on it. */
export interface HeldJob extends Job {
  readonly lease: string
}

interface JobRow {
  readonly id: string
  readonly kind: 'export' | 'import'
  readonly client_id: string
  readonly organization_id: string
  readonly scopes: string[]
  readonly consent_exempt: boolean
  readonly purpose: string
  readonly url: string
  readonly request: unknown
  readonly state: Job['state']
  readonly stage: string
  readonly transaction_time: Date | null
  readonly total: number | null
  readonly done: number
  readonly place: unknown
  readonly problem: string | null
  readonly created_at: Date
  readonly expires_at: Date | null
  readonly attempts: number
}

function toJob(row: JobRow): Job {
  return {
    id: row.id,
    kind: row.kind,
    clientId: row.client_id,
    organizationId: row.organization_id,
    scopes: row.scopes,
    consentExempt: row.consent_exempt,
    purpose: row.purpose,
    url: row.url,
    request: row.request,
    state: row.state,
    stage: row.stage,
    transactionTime: row.transaction_time ?? undefined,
    total: row.total ?? undefined,
    done: row.done,
    place: row.place ?? undefined,
    problem: row.problem ?? undefined,
    createdAt: row.created_at,
    expiresAt: row.expires_at ?? undefined,
    attempts: row.attempts,
  }
}

/** Thrown where a process finds that a job is not its own any more: cancelled, or taken over. */
export class LeaseLost extends Error {}

export interface JobLimits {
  /** Jobs that may wait or run at a time: of one client, and of all. */
  readonly perClient: number
  readonly all: number
}

export type NewJob = Pick<
  Job,
  | 'id'
  | 'kind'
  | 'clientId'
  | 'organizationId'
  | 'scopes'
  | 'consentExempt'
  | 'purpose'
  | 'url'
  | 'request'
  | 'createdAt'
>

/** Seconds after which one of too many jobs may have ended. */
const tryAgain = 30

/** @throws Failure RATE_LIMITED if the client, or all of them, have as many jobs as they may. */
export async function mustHaveRoom(on: Queryable, clientId: string, limits: JobLimits): Promise<void> {
  const [row] = await on.query<{ all: number; own: number }>({
    text: `select count(*) as all, count(*) filter (where client_id = $1) as own from bulk_job
      where state in ('queued', 'running')`,
    values: [clientId],
  })
  if (row!.own >= limits.perClient)
    throw new Failure(
      'RATE_LIMITED',
      `The client has reached its limit of ${row!.own} active exports and imports: wait for one to finish, or cancel one with DELETE.`,
      { retryAfter: tryAgain },
    )
  if (row!.all >= limits.all)
    throw new Failure('RATE_LIMITED', 'Too many exports and imports are active: try again later.', {
      retryAfter: tryAgain,
    })
}

/** Queues a job, within the limits. */
export async function createJob(on: Queryable, job: NewJob, limits: JobLimits): Promise<void> {
  await on.query({ text: 'select pg_advisory_xact_lock(2, 1)', values: [] })
  await mustHaveRoom(on, job.clientId, limits)
  await on.query({
    text: `insert into bulk_job (id, kind, client_id, organization_id, scopes, consent_exempt, purpose, url, request, created_at)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
    values: [
      job.id,
      job.kind,
      job.clientId,
      job.organizationId,
      job.scopes,
      job.consentExempt,
      job.purpose,
      job.url,
      JSON.stringify(job.request),
      job.createdAt,
    ],
  })
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** A client's own job that has not expired. @throws Failure NOT_FOUND for any other, without saying why. */
export async function findJob(on: Queryable, id: string, clientId: string, now: Date): Promise<Job> {
  const rows = uuid.test(id)
    ? await on.query<JobRow>({
        text: 'select * from bulk_job where id = $1 and client_id = $2 and (expires_at is null or expires_at > $3)',
        values: [id, clientId, now],
      })
    : []
  const [row] = rows
  if (!row)
    throw new Failure(
      'NOT_FOUND',
      'The export or import does not exist: it was cancelled, it expired, or the id is wrong.',
    )
  return toJob(row)
}

export async function removeJob(on: Queryable, id: string): Promise<void> {
  await on.query({ text: 'delete from bulk_job where id = $1', values: [id] })
}

/** Takes the oldest job without a valid lease, or returns undefined if there is none. */
export async function claimJob(on: Queryable, seconds: number): Promise<HeldJob | undefined> {
  const lease = randomUUID()
  const [row] = await on.query<JobRow>({
    name: 'bulk-claim',
    text: `update bulk_job set state = 'running', lease = $1, lease_until = now() + make_interval(secs => $2), attempts = attempts + 1
      where id = (select id from bulk_job where state = 'queued' or (state = 'running' and lease_until < now())
        order by created_at limit 1 for update skip locked)
      returning *`,
    values: [lease, seconds],
  })
  return row && { ...toJob(row), lease }
}

const still = 'id = $1 and lease = $2'

/** Says that this process still works on the job. @throws LeaseLost if it is not its own any more. */
export async function renewLease(on: Queryable, { id, lease }: HeldJob, seconds: number): Promise<void> {
  await changed(on, `lease_until = now() + make_interval(secs => $3)`, [id, lease, seconds])
}

/**
 * Puts a job back for any process to go on with.
 * @param wasInVain whether it counts as an attempt that failed.
 */
export async function releaseJob(on: Queryable, { id, lease }: HeldJob, wasInVain: boolean): Promise<void> {
  await on.query({
    text: `update bulk_job set state = 'queued', lease = null, lease_until = null,
        attempts = case when $3 then attempts else greatest(attempts - 1, 0) end where ${still}`,
    values: [id, lease, wasInVain],
  })
}

/** What a job may come to know about itself. */
export interface Advance {
  readonly stage?: string
  readonly transactionTime?: Date
  readonly total?: number
  /** Added to what was done before. */
  readonly more?: number
  readonly place?: unknown
}

/** Notes how far a job is. @throws LeaseLost if it is not this process's any more; then nothing of the transaction may stay. */
export async function advanceJob(on: Queryable, { id, lease }: HeldJob, advance: Advance): Promise<void> {
  const { stage, transactionTime, total, more = 0, place } = advance
  await changed(
    on,
    `attempts = 0, stage = coalesce($3, stage), transaction_time = coalesce($4, transaction_time),
      total = coalesce($5, total), done = done + $6, place = coalesce($7, place)`,
    [id, lease, stage ?? null, transactionTime ?? null, total ?? null, more, place ? JSON.stringify(place) : null],
  )
}

/** Ends a job, with success or with a problem that its client receives. */
export async function endJob(
  on: Queryable,
  { id, lease }: HeldJob,
  expiresAt: Date,
  problem: string | undefined,
): Promise<void> {
  await changed(on, `state = $3, problem = $4, expires_at = $5, lease = null, lease_until = null`, [
    id,
    lease,
    problem === undefined ? 'done' : 'failed',
    problem ?? null,
    expiresAt,
  ])
}

async function changed(on: Queryable, set: string, values: readonly unknown[]): Promise<void> {
  const rows = await on.query({ text: `update bulk_job set ${set} where ${still} returning id`, values })
  if (rows.length === 0) throw new LeaseLost('the job was cancelled or taken over')
}

/** Removes the jobs that have expired, and returns them. */
export async function removeExpired(on: Queryable, now: Date): Promise<string[]> {
  const rows = await on.query<{ id: string }>({
    text: 'delete from bulk_job where expires_at <= $1 returning id',
    values: [now],
  })
  return rows.map(row => row.id)
}

/** Those of the ids that are jobs. */
export async function knownJobs(database: Database, ids: readonly string[]): Promise<Set<string>> {
  const rows = await database.query<{ id: string }>({
    text: 'select id from bulk_job where id = any($1::uuid[])',
    values: [ids.filter(id => uuid.test(id))],
  })
  return new Set(rows.map(row => row.id))
}
