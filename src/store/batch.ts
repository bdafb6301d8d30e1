// What changes put into the tables: rows of new, replaced and removed resources, and the notes that come with them.
import type { Queryable, Transaction } from '../db/statement.ts'
import type { Note } from './access.ts'
import { mergedNotes, notifyCommitted, writeNote } from './note.ts'
import { type Projected, type Projection, projectShared } from './projection.ts'
import type { Created } from './row-arrays.ts'
import { insert, type Removed, type Replaced, remove, replace } from './rows.ts'
import { typeName } from './type-number.ts'

export interface Batch {
  /** In which the index entries were computed. */
  readonly epoch: number
  readonly creations: readonly Created[]
  readonly updates: readonly Replaced[]
  readonly removals: readonly Removed[]
  readonly notes: readonly Note[]
  /** What projections follow in the same transaction, whoever wrote it. */
  readonly projected: readonly Projected[]
}

/** Most rows of one statement. */
const most = 1000

/** True for new resources that one statement writes with their notes, and that no other writer can know: it needs no transaction. */
export const isOneStatement = ({ creations, updates, removals, projected }: Batch): boolean =>
  updates.length + removals.length + projected.length === 0 &&
  creations.length <= most &&
  creations.every(({ isFresh }) => isFresh)

/**
 * Writes a batch. What it replaces or removes need not be locked.
 * @throws what the statements of rows.ts and the projections throw
 */
export async function put(
  on: Queryable | Transaction,
  batch: Batch,
  projections: readonly Projection[],
): Promise<void> {
  const { epoch, creations, updates, removals, notes, projected } = batch
  const isOne = isOneStatement(batch)
  if (removals.length > 0) await remove(on, removals)
  for (const slice of slices(creations)) await insert(on, slice, { epoch, notes: isOne ? notes : [] })
  for (const slice of slices(updates)) await replace(on, slice, epoch)
  for (const note of notes) await (isOne ? notifyCommitted(on, note) : writeNote(on, note))
  await projectShared(on, projections, projected)
}

function* slices<T>(all: readonly T[]): Generator<T[]> {
  for (let from = 0; from < all.length; from += most) yield all.slice(from, from + most)
}

/** Batches of one epoch as one; what they create comes in one order for all writers, so that these wait for each other instead of deadlocking. */
export const merged = (batches: readonly Batch[]): Batch => ({
  epoch: batches[0]!.epoch,
  creations: batches.flatMap(each => each.creations).sort(byName),
  updates: batches.flatMap(each => each.updates),
  removals: batches.flatMap(each => each.removals),
  notes: mergedNotes(batches.flatMap(each => each.notes)),
  projected: batches.flatMap(each => each.projected),
})

const byName = (one: Created, other: Created): number => one.type - other.type || (one.id < other.id ? -1 : 1)

/** The resources that a batch changes, as texts. */
export const namesIn = ({ creations, updates, removals }: Batch): string[] => [
  ...[...creations, ...updates].map(row => `${typeName(row.type)}/${row.id}`),
  ...removals.map(row => `${row.type}/${row.id}`),
]

/** Bytes of the resources that come with a batch. */
export const sizeOf = ({ creations, updates }: Batch): number =>
  [...creations, ...updates].reduce((sum, { body }) => sum + body.length, 0)
