// Reads the audit trail for a caller whose scopes open AuditEvent; that is an access too, and is recorded like any
// other.
import type { Queryable } from '../db/statement.ts'
import { Failure } from '../lib/failure.ts'
import type { Access } from '../store/access.ts'
import type { DatabaseFor, Interaction, Principal } from '../store/principal.ts'
import { placeFor } from '../store/runs-on.ts'
import { archivedPart } from './archive/archive.ts'
import { type AuditTest, auditCondition, clientKeysOf, mayMatchArchived } from './criteria.ts'
import { withClients } from './organizations.ts'
import { placeInTime } from './packed.ts'
import { periodOf } from './period.ts'
import type { ChainedRecord } from './record.ts'
import { fromPacked, type PackedRow, packedColumns } from './rows.ts'

/** The id of a row. */
export interface AuditId {
  readonly chain: number
  readonly sequence: number
}

/** The place of a row in the order of time. */
export interface AuditPlace extends AuditId {
  readonly time: number
}

/** A query: matches rows that meet all of the tests. */
interface AuditQuery {
  readonly tests: readonly AuditTest[]
  readonly count: number
  readonly after?: AuditPlace | undefined
  /** The parameters as text, for the trail. */
  readonly text: string
}

export interface AuditReader {
  /** @throws Failure NOT_FOUND, INSUFFICIENT_SCOPE; GONE if the row is in an archive. */
  read(id: string): Promise<ChainedRecord>
  /** Returns the newest first; one more than requested, if there is one. @throws Failure INSUFFICIENT_SCOPE. */
  search(query: AuditQuery): Promise<ChainedRecord[]>
  /** Returns the time up to which rows that meet the tests may be in archives, where no search finds them; undefined: none are. */
  archivedUntil(tests: readonly AuditTest[]): Promise<Date | undefined>
}

/** The reader of the trail. */
export interface Auditor extends Principal {
  readonly organizationId: string
  /** True for the record-keeping system, which sees all accesses; others see those of their own organisation. */
  readonly consentExempt: boolean
}

/** Binds the trail to callers. */
export const createAuditReader =
  (databaseFor: DatabaseFor) =>
  (principal: Auditor): AuditReader => {
    // Rows that are being written are not in the trail yet: a transaction of the caller's has nothing to add.
    const on = databaseFor({ database: principal.database })
    const own = principal.consentExempt ? undefined : principal.organizationId
    const reported = async <T>(
      access: Pick<Access, 'deed' | 'id' | 'query'>,
      count: (found: T) => number,
      work: () => Promise<T>,
    ) => {
      const of = { ...access, type: 'AuditEvent', patients: [] }
      try {
        const found = await work()
        principal.witness?.({ ...of, resources: count(found) })
        return found
      } catch (failure) {
        principal.witness?.({ ...of, resources: 0, failure })
        throw failure
      }
    }
    return {
      read: id =>
        reported(
          { deed: 'read', id },
          () => 1,
          () => {
            mayOr(principal, 'r')
            return one(on, id, own)
          },
        ),
      search: query =>
        reported(
          { deed: 'search-type', query: `AuditEvent?${query.text}` },
          found => Math.min(found.length, query.count),
          async () => {
            mayOr(principal, 's')
            const there = await placeFor('audit-search', on)
            const tests = await withClients(
              there,
              own === undefined ? query.tests : [...query.tests, ofOrganization(own)],
            )
            return (await there.query<PackedRow>(statement({ ...query, tests }))).map(fromPacked)
          },
        ),
      async archivedUntil(tests) {
        const archived = await archivedPart(on)
        if (!archived) return undefined
        const { until, period } = archived
        return mayMatchArchived({ all: tests }, until.getTime(), period) ? until : undefined
      },
    }
  }

function mayOr(principal: Principal, interaction: Interaction): void {
  if (principal.may('AuditEvent', interaction)) return
  throw new Failure(
    'INSUFFICIENT_SCOPE',
    `Reading the audit trail requires the scope system/AuditEvent.${interaction}.`,
  )
}

/** Numbers of chains are integers of four bytes. */
const mostChain = 2 ** 31 - 1

/** `7-1042`: row 1042 of chain 7; undefined for what is no id of a row. */
export function auditId(text: string): AuditId | undefined {
  const found = /^([1-9]\d{0,9})-([1-9]\d{0,14})$/.exec(text)
  const chain = Number(found?.[1])
  return found && chain <= mostChain ? { chain, sequence: Number(found[2]) } : undefined
}

async function one(on: Queryable, id: string, organization: string | undefined): Promise<ChainedRecord> {
  const { chain = 0, sequence = 0 } = auditId(id) ?? {}
  const rows = await on.query<PackedRow>({
    text: `select ${packedColumns} from audit_event where chain = $1 and sequence = $2::bigint
      and ($3::text is null or organization_id = $3)`,
    values: [chain, sequence, organization ?? null],
    isFixed: true,
  })
  if (!rows[0]) throw await missing(on, id.slice(0, 64), chain)
  return fromPacked(rows[0])
}

/** Says of every id of an archived period that its row is archived: whether there is one, and whose, is in the archive alone. */
async function missing(on: Queryable, id: string, chain: number): Promise<Failure> {
  const archived = await archivedPart(on)
  if (!archived || chain === 0 || periodOf(chain) > archived.period)
    return new Failure('NOT_FOUND', `There is no AuditEvent/${id}.`)
  return new Failure(
    'GONE',
    `AuditEvent/${id} is not online: rows up to ${archived.until.toISOString()} are archived. Ask the operator of this service for them.`,
  )
}

/** Most rows that are looked at as the newest of each client. Of more, the newest of all are looked through, which have most of them. */
const mostOfClients = 20_000

const ofOrganization = (id: string): AuditTest => ({ column: 'organization_id', among: [id] })

function statement(query: AuditQuery): { text: string; values: unknown[] } {
  const values: unknown[] = []
  const value = (each: unknown): string => `$${values.push(each)}`
  const keys = clientKeysOf({ all: query.tests })
  const isKeyed = keys !== undefined && keys.length * query.count <= mostOfClients
  const conditions = query.tests.map(test => auditCondition(test, value, isKeyed))
  if (query.after) {
    const { time, chain, sequence } = query.after
    const [second, millisecond] = placeInTime(time)
    const place = `(${value(second)}::bigint, ${value(millisecond)}::smallint, ${value(chain)}::integer, ${value(sequence)}::bigint)`
    conditions.push(`(second, millisecond, chain, sequence) < ${place}`)
  }
  const rest = `order by second desc, millisecond desc, chain desc, sequence desc limit ${query.count + 1}`
  const rows = (columns: string, ...ofClient: string[]): string =>
    `select ${columns} from audit_event where ${[...ofClient, ...conditions].join(' and ') || 'true'} ${rest}`
  if (!isKeyed) return { text: rows(packedColumns), values }
  if (keys.length === 1) return { text: rows(packedColumns, `client_key = ${value(keys[0])}::integer`), values }
  const ofEach = `unnest(${value(keys)}::integer[]) client(key) cross join lateral (${rows(`second, ${packedColumns}`, 'client_key = client.key')}) of_client`
  return { text: `select ${packedColumns} from ${ofEach} ${rest}`, values }
}
