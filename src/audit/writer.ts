// Writes the audit trail in groups: records that arrive while a group is being committed form the next one, so that
// many requests share one statement and one commit, and each waits for its own. Pending notes are removed with the
// group that records their changes.
import type { KeyObject } from 'node:crypto'
import type { Database } from '../db/database.ts'
import { isLost, retrying } from '../db/retry.ts'
import type { Statement } from '../db/statement.ts'
import { createBatcher } from '../lib/batcher.ts'
import { createConcurrencyLimit } from '../lib/concurrency-limit.ts'
import type { Log } from '../lib/log.ts'
import type { Access, Note } from '../store/access.ts'
import { beginChain, type Head, isCommitted } from './chain.ts'
import { insertion, isPeriodClosed, isRecordedAlready } from './group.ts'
import { createLeftOver } from './left-over.ts'
import { learn, newNames } from './names.ts'
import { type Pending, pendingNote, stillPending, without } from './pending.ts'
import { endOfMonth } from './period.ts'
import type { AuditRecord } from './record.ts'
import { type Requester, recordOf } from './records.ts'

export interface AuditWriter {
  /**
   * Resolves when the records are committed. @throws any error that prevents it.
   * @param pending changes that the records cover, and that other processes may have recorded meanwhile.
   */
  write(records: readonly AuditRecord[], pending?: readonly Pending[]): Promise<void>
  /** Keeps the changes of work without a request, and records them as soon as they are committed. */
  noteFor(requester: Requester): (changes: readonly Access[]) => Note
  /** Records what is left over of changes whose request has died, and repeats that at intervals. */
  start(): void
  /** Records what is left of changes whose records failed, as far as possible. */
  close(): Promise<void>
}

export interface WriterOptions {
  readonly database: Database
  /** Seals heads of chains. */
  readonly key: KeyObject
  readonly log: Log
  readonly now: () => Date
  /** Called with the head of this process's chain, once it is committed. */
  readonly moved?: (head: Head) => void
  /** Rows of a chain after which another one begins. */
  readonly chainRows?: number
  /** Rows of a period after which another one begins. */
  readonly periodRows?: number
}

interface Waiting {
  readonly records: readonly AuditRecord[]
  readonly pending: readonly Pending[]
  readonly done: () => void
  readonly fail: (error: unknown) => void
}

/** Rows of one statement, unless a single request brings more. */
const mostRows = 2000

/** Notes without a waiting caller that may wait for their group at a time. */
const mostNotes = 100

/** The writer of one process. Its chain begins with the first record. */
export function createAuditWriter({
  database,
  key,
  log,
  now,
  moved = () => {},
  chainRows = 10_000_000,
  periodRows,
}: WriterOptions): AuditWriter {
  let head: Head | undefined
  /** When the chain ends, with its month. */
  let end = 0
  let names = newNames()
  const noting = createConcurrencyLimit({ name: 'notes', total: mostNotes, waiting: 0 })
  const leftOver = createLeftOver({ database, log, record: unrecorded => write(unrecorded.records, [unrecorded]) })

  async function writeGroup(group: readonly Waiting[]): Promise<void> {
    try {
      await insert(group)
      for (const { done } of group) done()
    } catch (error) {
      // Whether the group was committed may be unknown; either way its chain is whole, and the next group begins another.
      head = undefined
      const pending = group.flatMap(each => each.pending)
      leftOver.owe(pending)
      log.error({ err: error, pending: pending.length }, 'audit: could not write a group of records')
      for (const { fail } of group) fail(error)
    }
  }

  async function insert(group: readonly Waiting[]): Promise<void> {
    const records = group.flatMap(each => each.records)
    if (records.length === 0) return
    const isNew = !head || head.sequence >= chainRows || now().getTime() >= end
    if (!head || isNew) {
      end = endOfMonth(now())
      head = await beginChain(database, key, now(), periodRows)
      names = newNames()
    }
    const { statement, next, fresh } = insertion(head, { records, pending: idsOf(group) }, key, names)
    try {
      await commit(statement, next)
    } catch (error) {
      if (isPeriodClosed(error) && !isNew) {
        head = undefined
        return insert(group)
      }
      if (!isRecordedAlready(error)) throw error
      // The pending notes only ever become fewer, so this ends.
      const there = await stillPending(database, idsOf(group))
      return insert(group.map(each => unrecorded(each, there)))
    }
    learn(names, fresh)
    head = next
    moved(next)
  }

  /** Retries the statement if its connection is lost: it adds to the head that it names, so it happens once. */
  const commit = (statement: Statement, next: Head): Promise<void> =>
    retrying(isLost, async isRetry => {
      try {
        await database.query(statement)
      } catch (error) {
        if (!isRetry || isLost(error) || !(await isCommitted(database, next))) throw error
      }
    })

  const groups = createBatcher<Waiting>({
    pause: () => new Promise(setImmediate),
    sizeOf: groupSize,
    flush: writeGroup,
  })

  async function write(records: readonly AuditRecord[], pending: readonly Pending[] = []): Promise<void> {
    await new Promise<void>((done, fail) => {
      groups.add([{ records, pending, done, fail }])
    })
    leftOver.settle()
  }

  return {
    write,
    noteFor: requester => changes => {
      const at = now()
      return pendingNote(changes, requester, at, pending => {
        // Changes beyond the limit, or that cannot be written now, are recorded later, like all that is left over.
        const recordsOf = () => changes.map(change => recordOf(change, requester, at))
        void noting.run(() => write(recordsOf(), [pending])).catch(() => {})
      })
    },
    start: leftOver.start,
    async close() {
      await groups.idle()
      await leftOver.close()
    },
  }
}

/** Returns how many of the waiting records form the next group. */
function groupSize(queue: readonly Waiting[]): number {
  let rows = 0
  const end = queue.findIndex(each => (rows += each.records.length) > mostRows)
  return end < 0 ? queue.length : Math.max(end, 1)
}

const idsOf = (group: readonly Waiting[]): string[] => group.flatMap(each => each.pending.map(({ id }) => id))

/**
 * Returns what is still to be recorded. The first process to record a change wins: another may find what this process's
 * request is about to record.
 */
function unrecorded(waiting: Waiting, there: Set<string>): Waiting {
  const recorded = waiting.pending.filter(({ id }) => !there.delete(id))
  const pending = waiting.pending.filter(each => !recorded.includes(each))
  return { ...waiting, pending, records: without(waiting.records, recorded) }
}
