// Notes of changes, stored in their transaction until the trail records them: so no change is without its row, even
// after a crash between the two.
import { textArray } from '../db/arrays.ts'
import type { Queryable } from '../db/statement.ts'
import { uuidv7 } from '../lib/ids.ts'
import type { Access, Note } from '../store/access.ts'
import type { AuditRecord } from './record.ts'
import { type Requester, recordOf } from './records.ts'

/** Changes that are kept in the database until they are recorded. */
export interface Pending {
  readonly id: string
  readonly changes: readonly Access[]
}

/** Pending changes that this process has undertaken to record, and how. */
export interface Unrecorded extends Pending {
  readonly records: readonly AuditRecord[]
}

const insertion = (arrays: readonly string[]): string =>
  `insert into audit_pending (id, told) select id::uuid, told from unnest(${arrays.join(', ')}) as kept(id, told)`

/** Keeps changes for their requester. @param kept called once they are committed. */
export function pendingNote(
  changes: readonly Access[],
  requester: Requester,
  at: Date,
  kept: (pending: Pending) => void,
): Note {
  const id = uuidv7()
  return {
    name: 'pending',
    insertion,
    columns: ['text', 'text'],
    rows: [[id, JSON.stringify([at.getTime(), requester, changes])]],
    committed: () => kept({ id, changes }),
  }
}

/** Seconds after which a request is assumed to have died with its process. An error costs a second attempt, no more. */
const giveUpAfter = 10
/** Notes at a time; each may hold thousands of changes. */
export const mostClaimed = 50

/**
 * Claims what is left over, and these: no other process does for some seconds.
 * @returns nothing if nothing is left.
 */
export async function claim(on: Queryable, ids: readonly string[]): Promise<Unrecorded[]> {
  const rows = await on.query<{ id: string; told: string }>({
    name: 'audit-claim',
    text: `update audit_pending p set noted_at = clock_timestamp() from (
        select id from audit_pending where noted_at < clock_timestamp() - interval '${giveUpAfter} s' or id = any($1::text[]::uuid[])
        order by id limit ${mostClaimed} for update skip locked
      ) left_over where p.id = left_over.id
      returning p.id, p.told`,
    values: [textArray(ids)],
  })
  return rows.sort((a, b) => (a.id < b.id ? -1 : 1)).map(({ id, told }) => unrecordedOf(id, told))
}

function unrecordedOf(id: string, told: string): Unrecorded {
  const [at, requester, changes] = JSON.parse(told) as [number, Requester, Access[]]
  return { id, changes, records: changes.map(change => recordOf(change, requester, new Date(at))) }
}

/** Returns those that are still to be recorded. */
export async function stillPending(on: Queryable, ids: readonly string[]): Promise<Set<string>> {
  const rows = await on.query<{ id: string }>({
    name: 'audit-still-pending',
    text: 'select id from audit_pending where id = any($1::text[]::uuid[])',
    values: [textArray(ids)],
  })
  return new Set(rows.map(row => row.id))
}

/** Returns the name that distinguishes a change from all others. */
const changeName = ({ deed, type = '', id = '', version = 0 }: Named): string => `${deed} ${type}/${id}/${version}`
type Named = Pick<Access, 'deed' | 'type' | 'id' | 'version'>

/** Returns the change that a record holds, if it holds one; a refused or failed access has changed nothing. */
const changeRecorded = ({ outcome, interaction: deed, type, id, version }: AuditRecord): string =>
  outcome === 0 ? changeName({ deed, type, id, version }) : ''

/** Returns what the records cover in full. What a failed request did not record stays pending. */
export function recordedBy(records: readonly AuditRecord[], pending: readonly Pending[]): Pending[] {
  if (pending.length === 0) return []
  const recorded = new Set(records.map(changeRecorded))
  return pending.filter(({ changes }) => changes.every(change => recorded.has(changeName(change))))
}

/** Returns the records without those of changes that another process has recorded. */
export function without(records: readonly AuditRecord[], recorded: readonly Pending[]): AuditRecord[] {
  const names = new Set(recorded.flatMap(({ changes }) => changes.map(changeName)))
  return records.filter(record => !names.delete(changeRecorded(record)))
}
