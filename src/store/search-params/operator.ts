// What an operator does with the search parameters of users: sees them, switches them off, and on again.

import { textArray } from '../../db/arrays.ts'
import type { Queryable, Transactional } from '../../db/statement.ts'
import { Failure } from '../../lib/failure.ts'
import { lockIndex, nextEpoch } from '../epoch.ts'
import { shardSql } from '../index/shard.ts'
import { typeName } from '../type-number.ts'
import type { Suspended } from './known.ts'
import { withSuspension } from './suspension.ts'

/** A parameter as an operator sees it. */
export interface Shown {
  /** Of the SearchParameter resource. */
  readonly id: string
  readonly type: string
  readonly code: string
  /** Id of the client that defined it; empty: the service itself, or not known. */
  readonly client: string
  readonly isReady: boolean
  readonly suspended: (Suspended & { readonly since: Date }) | undefined
}

interface Row {
  readonly id: string
  readonly type: number
  readonly code: string
  readonly client: string
  readonly is_ready: boolean
  readonly cause: Suspended['cause'] | null
  readonly reason: string | null
  readonly suspended_at: Date | null
}

/** All parameters that users defined, by client and code. */
export async function listParameters(on: Queryable): Promise<Shown[]> {
  const rows = await on.query<Row>({
    text: `select p.id, p.type, p.code, p.client, p.is_ready, s.cause, s.reason, s.suspended_at from search_parameter p
      ${withSuspension}
      order by p.client, p.id, p.type, p.code`,
    values: [],
  })
  return rows.map(({ id, type, code, client, is_ready: isReady, cause, reason, suspended_at: since }) => {
    const suspended = cause === null ? undefined : { cause, reason: reason!, since: since! }
    return { id, type: typeName(type), code, client, isReady, suspended }
  })
}

/** A resource that could not be indexed by new parameters, and is still as it was then. */
export interface LeftOut {
  readonly resource: string
  readonly reason: string
}

/** Most of them that are reported. */
const mostLeftOut = 100

export async function listLeftOut(on: Queryable): Promise<LeftOut[]> {
  const rows = await on.query<{ type: number; id: string; reason: string }>({
    text: `select r.type, r.id, l.reason from search_parameter_left_out l join resource r on r.shard = ${shardSql('l.resource')} and r.key = l.resource and r.version = l.version
      order by l.noted_at limit ${mostLeftOut}`,
    values: [],
  })
  return rows.map(({ type, id, reason }) => ({ resource: `${typeName(type)}/${id}`, reason }))
}

/**
 * Suspends all parameters of a SearchParameter until they are resumed; their owner cannot undo it by storing the same again.
 * @returns their codes. @throws Failure NOT_FOUND
 */
export function suspendParameters(database: Transactional, id: string, reason: string): Promise<string[]> {
  return changed(database, id, (on, keys) =>
    on.query({
      text: `insert into search_parameter_suspension (key, cause, reason) select key, 'operator', $2 from unnest($1::text[]) as k(key)`,
      values: [textArray(keys), reason],
    }),
  )
}

/** Puts them into use again, once all resources are indexed by them. @returns their codes. @throws Failure NOT_FOUND */
export function resumeParameters(database: Transactional, id: string): Promise<string[]> {
  return changed(database, id, async (on, keys) => {
    await on.query({
      text: 'delete from search_parameter_suspension where key = any($1::text[])',
      values: [textArray(keys)],
    })
    await on.query({
      text: `update search_parameter set is_ready = false, reached = '', lease = null, leased_until = null where id = $1`,
      values: [id],
    })
  })
}

/** Changes the state of a SearchParameter, so that every writer reloads it before it stores anything more. */
function changed(
  database: Transactional,
  id: string,
  work: (on: Queryable, keys: readonly string[]) => Promise<unknown>,
): Promise<string[]> {
  return database.transaction(async on => {
    await lockIndex(on)
    const rows = await on.query<{ type: number; code: string; key: string }>({
      text: 'select type, code, key from search_parameter where id = $1 order by type, code',
      values: [id],
    })
    if (rows.length === 0)
      throw new Failure('NOT_FOUND', `There is no SearchParameter/${id} that defines a parameter of its own.`)
    await work(
      on,
      rows.map(({ key }) => key),
    )
    await nextEpoch(on)
    return rows.map(({ type, code }) => `${typeName(type)}.${code}`)
  })
}
