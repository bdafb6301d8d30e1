// The statement that writes a group of requests. Much of what is said of them is the same for many, and travels once.
import { float8Array, int2Array, int8Array, safeInt8Array, textArray, uuidArray } from '../db/arrays.ts'
import type { Statement } from '../db/statement.ts'
import { uuidv7 } from '../lib/ids.ts'
import type { LoggedRequest } from './entry.ts'
import { timeOf } from './time.ts'
import { stretchAt, valuesOf } from './value.ts'

/** The commit is not waited for on disk: after a crash of the database the last moments of the log may be missing. */
const unsynced = `with unsynced as materialized (select set_config('synchronous_commit', 'off', true))`

const text = `${unsynced}, known as (
    insert into request_value (value, stretch)
    select v.value, v.stretch from unsynced, unnest($14::bigint[], $15::bigint[]) as v (value, stretch)
    on conflict do nothing
  ) insert into request_log
  select each.id, nullif(request_id, ''), client_id, organization_id, method, route, resource_type, status, error_code, milliseconds,
    nullif(bytes_in, -1), nullif(bytes_out, -1)
  from unsynced,
    unnest($1::uuid[], $2::text[], $3::bigint[], $4::float8[], $5::bigint[], $6::bigint[])
      as each (id, request_id, kind, milliseconds, bytes_in, bytes_out)
    join unnest($7::text[], $8::text[], $9::text[], $10::text[], $11::text[], $12::smallint[], $13::text[]) with ordinality
      as alike (client_id, organization_id, method, route, resource_type, status, error_code, kind) using (kind)`

/** The statement for a group of requests, together with the values that these are searched by. */
export function insertion(group: readonly LoggedRequest[]): Statement {
  const ids = group.map(({ isMade, requestId, at }) => (isMade ? requestId : uuidv7(Math.floor(at))))
  const { kinds, alike } = kindsOf(group)
  const values = valuesIn(ids, kinds, alike)
  return {
    name: 'request-log',
    text,
    values: [
      uuidArray(ids),
      textArray(group.map(each => (each.isMade ? '' : each.requestId))),
      safeInt8Array(kinds.map(kind => kind + 1)),
      float8Array(group.map(each => each.milliseconds)),
      safeInt8Array(group.map(each => each.bytesIn ?? -1)),
      safeInt8Array(group.map(each => each.bytesOut ?? -1)),
      textArray(alike.map(each => each.clientId)),
      textArray(alike.map(each => each.organizationId)),
      textArray(alike.map(each => each.method)),
      textArray(alike.map(each => each.route)),
      textArray(alike.map(each => each.resourceType)),
      int2Array(alike.map(each => each.status)),
      textArray(alike.map(each => each.errorCode)),
      int8Array(values.map(each => each.value)),
      safeInt8Array(values.map(each => each.stretch)),
    ],
  }
}

/** One request of each kind, and the place of its kind for each request. */
function kindsOf(group: readonly LoggedRequest[]): { kinds: number[]; alike: LoggedRequest[] } {
  const places = new Map<string, number>()
  const alike: LoggedRequest[] = []
  const kinds = group.map(request => {
    const { clientId, organizationId, method, route, resourceType, status, errorCode } = request
    const name = [clientId, organizationId, method, route, resourceType, status, errorCode].join('\0')
    let place = places.get(name)
    if (place === undefined) places.set(name, (place = alike.push(request) - 1))
    return place
  })
  return { kinds, alike }
}

interface Value {
  readonly value: bigint
  readonly stretch: number
}

/** Each value of the requests once for each stretch of time, in one order for all writers, so that these wait for each other instead of deadlocking. */
function valuesIn(ids: readonly string[], kinds: readonly number[], alike: readonly LoggedRequest[]): Value[] {
  const known = alike.map(each =>
    valuesOf({ ...each, errorCode: each.errorCode || undefined, statusClass: Math.floor(each.status / 100) }),
  )
  const found = new Map<number, Set<bigint>>()
  const seen = new Set<number>()
  for (const [index, id] of ids.entries()) {
    const stretch = stretchAt(timeOf(id).getTime())
    const kind = kinds[index]!
    const name = stretch * alike.length + kind
    if (seen.has(name)) continue
    seen.add(name)
    const values = found.get(stretch) ?? new Set()
    found.set(stretch, values)
    for (const value of known[kind]!) values.add(value)
  }
  return [...found]
    .flatMap(([stretch, values]) => [...values].map(value => ({ value, stretch })))
    .sort((a, b) => (a.value < b.value ? -1 : a.value > b.value ? 1 : a.stretch - b.stretch))
}
