// The table of the search parameters that users defined: filled in the transaction that stores a SearchParameter, read by
// every process before it indexes anything by an older state of it (see index_epoch in the migration).
import { int2Array, textArray } from '../../db/arrays.ts'
import type { Database } from '../../db/database.ts'
import type { Queryable } from '../../db/statement.ts'
import { Failure } from '../../lib/failure.ts'
import { isObject, type JsonObject, parseJson } from '../../lib/json.ts'
import { nextEpoch } from '../epoch.ts'
import type { Indexer } from '../index/entry.ts'
import { typeName, typeNumber } from '../type-number.ts'
import { watchedTypes } from '../watched.ts'
import { readDefinition } from './definition.ts'
import type { OwnParam } from './known.ts'

/** A SearchParameter that is being written: its new content, or none if it is deleted. */
export interface Defined {
  readonly id: string
  readonly resource: JsonObject | undefined
}

/**
 * Takes the definitions into the table, within the transaction that stores them and after lockIndex.
 * @throws Failure VALIDATION_FAILED if a code is taken by another definition.
 */
export async function define(on: Queryable, defined: readonly Defined[]): Promise<void> {
  const params = defined.flatMap(({ id, resource }) => (resource ? readDefinition({ ...resource, id }).params : []))
  const known = await on.query<{ type: number; code: string; id: string; key: string; is_ready: boolean }>({
    text: 'delete from search_parameter where id = any($1::text[]) returning type, code, id, key, is_ready',
    values: [textArray(defined.map(each => each.id))],
  })
  if (params.length === 0 && known.length === 0) return
  await mustBeFree(on, params)
  const isReady = (param: (typeof params)[number]): boolean =>
    known.some(row => row.is_ready && row.key === param.key.name)
  await on.query({
    text: `insert into search_parameter (type, code, id, key, is_ready, reached)
      select v.type, v.code, v.id, v.key, v.ready = 1, ''
      from unnest($1::smallint[], $2::text[], $3::text[], $4::text[], $5::smallint[]) as v(type, code, id, key, ready)`,
    values: [
      int2Array(params.map(param => typeNumber(param.of))),
      textArray(params.map(param => param.code)),
      textArray(params.map(param => param.id)),
      textArray(params.map(param => param.key.name)),
      int2Array(params.map(param => (isReady(param) ? 1 : 0))),
    ],
  })
  await nextEpoch(on)
}

type Named = Pick<OwnParam, 'of' | 'code' | 'id'>

async function mustBeFree(on: Queryable, params: readonly Named[]): Promise<void> {
  const seen = new Map<string, Named>()
  for (const param of params) {
    const other = seen.get(`${param.of}.${param.code}`)
    if (other) throw taken(param, other.id)
    seen.set(`${param.of}.${param.code}`, param)
  }
  const [row] = await on.query<{ type: number; code: string; id: string }>({
    text: `select p.type, p.code, p.id from search_parameter p
      join unnest($1::smallint[], $2::text[]) as v(type, code) using (type, code) limit 1`,
    values: [int2Array(params.map(param => typeNumber(param.of))), textArray(params.map(param => param.code))],
  })
  if (row) throw taken({ of: typeName(row.type), code: row.code }, row.id)
}

function taken({ of, code }: Pick<Named, 'of' | 'code'>, id: string): Failure {
  const message = `${of} has a search parameter ${code} already, defined by SearchParameter/${id}: give yours another code, or change that one.`
  return new Failure('VALIDATION_FAILED', message, {
    issue: 'duplicate',
    details: [{ field: 'SearchParameter.code', code: 'duplicate', message }],
  })
}

/** Reads the table anew, so that the indexer works by its current state. */
export function catchUp(database: Database, indexer: Indexer): Promise<void> {
  return database.transaction(async on => {
    await on.query({ text: 'select pg_advisory_xact_lock_shared(1, 2)', values: [] })
    const [state] = await on.query<{ epoch: number }>({
      text: 'select last_value as epoch from index_epoch',
      values: [],
    })
    const rows = await on.query<{ type: number; code: string; is_ready: boolean; body: string }>({
      text: `select p.type, p.code, p.is_ready, r.body from search_parameter p
        join resource r on r.type = ${typeNumber('SearchParameter')} and r.id = p.id order by p.type, p.code`,
      values: [],
    })
    const read = new Map<string, ReturnType<typeof readDefinition>['params']>()
    const paramsOf = (body: string) => {
      const known = read.get(body) ?? readDefinition(parsed(body)).params
      read.set(body, known)
      return known
    }
    const own = rows.flatMap(({ type, code, is_ready, body }) =>
      paramsOf(body)
        .filter(param => param.code === code && param.of === typeName(type))
        .map(param => ({ ...param, isReady: is_ready })),
    )
    indexer.adopt({ own, watched: await watchedTypes(on), epoch: state!.epoch })
  })
}

function parsed(body: string): JsonObject {
  const resource = parseJson(body)
  if (!isObject(resource)) throw new Error('a stored SearchParameter is no object')
  return resource
}
