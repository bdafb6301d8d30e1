// The table of the search parameters that users defined: filled in the transaction that stores a SearchParameter. Every process reads
// it (catch-up.ts) before it indexes anything by an older state of it (see index_epoch in the migration).
import { int2Array, textArray } from '../../db/arrays.ts'
import type { Queryable } from '../../db/statement.ts'
import { Failure } from '../../lib/failure.ts'
import type { JsonObject } from '../../lib/json.ts'
import { nextEpoch } from '../epoch.ts'
import { typeName, typeNumber } from '../type-number.ts'
import { readDefinition } from './definition.ts'
import type { OwnParam } from './known.ts'
import { forgetSuspensions } from './suspension.ts'

/** A SearchParameter that is being written: its new content, or none if it is deleted. */
export interface Defined {
  readonly id: string
  readonly resource: JsonObject | undefined
}

/** Most SearchParameter resources that define parameters: of one client, and of all. */
export interface DefinitionLimits {
  readonly perClient: number
  readonly all: number
}

/**
 * Takes the definitions into the table, within the transaction that stores them and after lockIndex.
 * @throws Failure VALIDATION_FAILED if a code is taken by another definition, or there are too many.
 */
export async function define(
  on: Queryable,
  defined: readonly Defined[],
  { client, limits }: { readonly client: string; readonly limits: DefinitionLimits },
): Promise<void> {
  const params = defined.flatMap(({ id, resource }) => (resource ? readDefinition({ ...resource, id }).params : []))
  const known = await on.query<{ type: number; code: string; id: string; key: string; is_ready: boolean }>({
    text: 'delete from search_parameter where id = any($1::text[]) returning type, code, id, key, is_ready',
    values: [textArray(defined.map(each => each.id))],
  })
  if (params.length === 0 && known.length === 0) return
  await mustBeFree(on, params)
  const resumed = await forgetSuspensions(on, [...known.map(row => row.key), ...params.map(param => param.key.name)])
  const isReady = ({ key: { name } }: (typeof params)[number]): boolean =>
    known.some(row => row.is_ready && row.key === name && !resumed.has(name))
  await on.query({
    text: `insert into search_parameter (type, code, id, key, is_ready, reached, client)
      select v.type, v.code, v.id, v.key, v.ready = 1, '', $6
      from unnest($1::smallint[], $2::text[], $3::text[], $4::text[], $5::smallint[]) as v(type, code, id, key, ready)`,
    values: [
      int2Array(params.map(param => typeNumber(param.of))),
      textArray(params.map(param => param.code)),
      textArray(params.map(param => param.id)),
      textArray(params.map(param => param.key.name)),
      int2Array(params.map(param => (isReady(param) ? 1 : 0))),
      client,
    ],
  })
  if (params.length > 0 && client !== '') await mustHaveRoom(on, client, limits)
  await nextEpoch(on)
}

/** @throws Failure VALIDATION_FAILED if the client, or all of them, have defined more than they may. */
async function mustHaveRoom(on: Queryable, client: string, { perClient, all }: DefinitionLimits): Promise<void> {
  const [row] = await on.query<{ all: number; own: number }>({
    text: `select count(distinct id) as all, count(distinct id) filter (where client = $1) as own from search_parameter`,
    values: [client],
  })
  if (row!.own > perClient) throw tooMany(`This client has reached its limit of ${perClient} SearchParameter resources`)
  if (row!.all > all) throw tooMany(`The service has reached its limit of ${all} SearchParameter resources`)
}

const tooMany = (what: string): Failure =>
  new Failure('VALIDATION_FAILED', `${what}: delete or retire one before you define another.`, { issue: 'too-costly' })

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
  const message = `SearchParameter/${id} already defines the search parameter ${code} for ${of}: use another code, or change that one.`
  return new Failure('VALIDATION_FAILED', message, {
    issue: 'duplicate',
    details: [{ field: 'SearchParameter.code', code: 'duplicate', message }],
  })
}
