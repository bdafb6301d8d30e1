// How much clients asked for lately, by the request log: of all processes, where a limiter knows its own.
import { textArray } from '../db/arrays.ts'
import type { Queryable } from '../db/statement.ts'
import { firstIdAt, timeOf } from './time.ts'
import { firstIdOf, stretchAt, stretchesOf, valuesOf } from './value.ts'

/** Requests of a client that were not refused for their number. */
export interface Usage {
  readonly all: number
  /** By the name of a class of routes. */
  readonly byClass: Readonly<Record<string, number>>
}

/**
 * Returns how many requests of clients came since a time.
 * @param classes the patterns of the routes of each class
 */
export async function usageSince(
  on: Queryable,
  clients: readonly string[],
  since: Date,
  classes: Readonly<Record<string, readonly string[]>>,
): Promise<ReadonlyMap<string, Usage>> {
  const rows = await on.query<{ client_id: string; route: string; count: number }>({
    text: `select client_id, route, count(*) as count from request_log
      where client_id = any($1::text[]) and id >= $2 and status <> 429 group by client_id, route`,
    values: [textArray(clients), firstIdAt(since.getTime())],
  })
  const sum = (of: typeof rows): number => of.reduce((total, { count }) => total + count, 0)
  return new Map(
    clients.map(client => {
      const own = rows.filter(({ client_id }) => client_id === client)
      const byClass = Object.entries(classes).map(([name, routes]) => [
        name,
        sum(own.filter(({ route }) => routes.includes(route))),
      ])
      return [client, { all: sum(own), byClass: Object.fromEntries(byClass) }]
    }),
  )
}

/** Requests of one client to one route that were refused for their number. */
export interface Refusals {
  readonly clientId: string
  readonly method: string
  readonly route: string
  readonly count: number
  readonly last: Date
}

/** Returns what was refused for its number since a time, the most first. @param organization whose; undefined: all */
export async function refusalsSince(
  on: Queryable,
  organization: string | undefined,
  since: Date,
  limit: number,
): Promise<Refusals[]> {
  const rows = await on.query<Omit<Refusals, 'last'> & { last: string }>({
    text: `select client_id as "clientId", method, route, count(*) as count, max(id::text) as last
      from (${stretchesOf(['$3::bigint'], ['v.stretch >= $4::bigint'])}) s, request_log
      where id >= ${firstIdOf('s.stretch')} and id < ${firstIdOf('(s.stretch + 1)')}
        and error_code = 'RATE_LIMITED' and id >= $1 and client_id <> '' and ($2::text is null or organization_id = $2)
      group by client_id, method, route order by count desc, client_id, route, method limit ${limit}`,
    values: [
      firstIdAt(since.getTime()),
      organization ?? null,
      valuesOf({ errorCode: 'RATE_LIMITED' })[0],
      stretchAt(since.getTime()),
    ],
  })
  return rows.map(row => ({ ...row, last: timeOf(row.last) }))
}
