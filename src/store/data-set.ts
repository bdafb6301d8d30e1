// The names of this data set, wherever it is served: read once by each process, and extended by each start.
import { withoutLimit } from '../db/silence.ts'
import type { Queryable, Transactional } from '../db/statement.ts'
import { formsOf } from './base.ts'

/** The identity of a data set, as docs/decisions/0055-data-set-identity.md describes it. */
export interface DataSet {
  /** The prefix of the systems of its identifiers; it never changes. */
  readonly origin: string
  /** `iss` and `aud` of its tokens; undefined until the service has been started. */
  readonly issuer: string | undefined
  /** Where it is or was served, without trailing slash. */
  readonly addresses: readonly string[]
  /** Those among them that are not known to what was stored before. */
  readonly unsettled: readonly string[]
}

/** Most addresses that are remembered; a start at a further one works, and is not remembered. */
const mostAddresses = 500

/** Finds at most so many addresses that stored data was served at, the most used first: for a data set that is older than its identity. */
export type OriginsInUse = (on: Queryable, most: number) => Promise<string[]>

/** The data set of the database; undefined if there is none yet. */
export async function readDataSet(on: Queryable): Promise<DataSet | undefined> {
  const [row] = await on.query<{ origin: string; issuer: string | null }>({
    text: 'select origin, issuer from data_set',
    values: [],
  })
  if (!row) return undefined
  const rows = await on.query<{ address: string; is_settled: boolean }>({
    text: 'select address, is_settled from data_set_address order by added_at, address',
    values: [],
  })
  return {
    origin: row.origin,
    issuer: row.issuer ?? undefined,
    addresses: rows.map(each => each.address),
    unsettled: rows.filter(each => !each.is_settled).map(each => each.address),
  }
}

/**
 * The data set of the database, which is made if there is none yet.
 * @param address the origin of a new one, without trailing slash
 */
export function madeDataSet(database: Transactional, address: string, originsInUse: OriginsInUse): Promise<DataSet> {
  return database.transaction(async on => {
    await on.query(inLine)
    return (await readDataSet(on)) ?? make(on, address, originsInUse)
  })
}

/** The data set of a service that is started. */
export interface StartedDataSet extends DataSet {
  readonly issuer: string
  /** True if it was served before, and never at this address. */
  readonly isMoved: boolean
}

/**
 * The data set with the address of this start; the first start gives it an issuer, too.
 * @param address where it is served now, without trailing slash
 */
export function startedDataSet(
  database: Transactional,
  address: string,
  originsInUse: OriginsInUse,
): Promise<StartedDataSet> {
  return database.transaction(async on => {
    // An older database is searched for the addresses in use, and another start may be doing that.
    await on.query(withoutLimit)
    await on.query(inLine)
    const before = await readDataSet(on)
    const { addresses } = before ?? (await make(on, address, originsInUse))
    const isNew = !addresses.flatMap(formsOf).includes(address)
    if (isNew && addresses.length < mostAddresses) await add(on, [address])
    await on.query({ text: 'update data_set set issuer = $1 where issuer is null', values: [address] })
    const { issuer, ...known } = (await readDataSet(on))!
    return {
      ...known,
      issuer: issuer!,
      addresses: [...new Set([...known.addresses, address])],
      isMoved: isNew && before?.issuer !== undefined,
    }
  })
}

/** Gives the data set another issuer; tokens of the former one are refused by processes that start from now on. */
export async function giveIssuer(on: Queryable, issuer: string): Promise<void> {
  await on.query({ text: 'update data_set set issuer = $1', values: [issuer] })
}

/** Notes that what was stored before the addresses is indexed with them. */
export async function noteSettled(on: Queryable, addresses: readonly string[]): Promise<void> {
  await on.query({ text: 'update data_set_address set is_settled = true where address = any($1)', values: [addresses] })
}

/** One start after another. */
const inLine = { text: 'select pg_advisory_xact_lock($1)', values: [4_215_019] }

async function make(on: Queryable, address: string, originsInUse: OriginsInUse): Promise<DataSet> {
  const used = await originsInUse(on, mostAddresses - 1)
  const origin = used[0] ?? address
  await on.query({ text: 'insert into data_set (origin) values ($1)', values: [origin] })
  await add(on, [...new Set([origin, ...used])])
  return (await readDataSet(on))!
}

/** An address is settled if nothing was stored before it. */
async function add(on: Queryable, addresses: readonly string[]): Promise<void> {
  await on.query({
    text: `insert into data_set_address (address, is_settled)
      select address, not exists (select 1 from resource) from unnest($1::text[]) as address`,
    values: [addresses],
  })
}
