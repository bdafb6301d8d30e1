// Transactions, and transactions within them, which are savepoints: each is committed as a whole or rolled back. PostgreSQL
// receives statements without waiting for earlier ones, and answers them in order (pipeline). One that fails makes those after it
// fail, and the commit a rollback: so the first error is the one that counts. A statement whose result is not awaited is sent with
// the next one, since waking PostgreSQL costs more than most statements.
import type pg from 'pg'
import { Failure } from '../lib/failure.ts'
import { answerOf, ask, streamOf, translated } from './ask.ts'
import { isInDoubt, isUnanswered, unconfirmed } from './doubt.ts'
import type { Pools } from './pools.ts'
import { unlimited, withoutLimit } from './silence.ts'
import type { Layout, Statement, Transaction } from './statement.ts'
import type { Watch } from './watch.ts'

/** The connection reserved for a transaction. */
interface Line {
  readonly layout: Layout
  readonly client: pg.PoolClient
  readonly travel: Travel
  /** The watch of the client for which it runs. */
  readonly watch: Watch | undefined
  /** Number of savepoints so far; each has a name of its own. */
  points: number
  /** The error if even the rollback failed. */
  broken?: Error
}

/** The statements that a transaction needs in addition to its work. */
interface Frame {
  readonly begin: string
  readonly end: string
  readonly undo: string
}

type Later = () => unknown

const outermost: Frame = { begin: 'begin', end: 'commit', undo: 'rollback' }

const savepoint = (name: string): Frame => ({
  begin: `savepoint ${name}`,
  end: `release savepoint ${name}`,
  undo: `rollback to savepoint ${name}; release savepoint ${name}`,
})

/**
 * Runs the work in a transaction on a connection of the pools.
 * @param watchOver looks after the connection; what it ends is rolled back, a commit that runs is not ended.
 */
export async function inTransaction<T>(
  { fixed: { pool }, layout }: Pools,
  work: (transaction: Transaction) => Promise<T>,
  watchOver?: (client: pg.PoolClient) => Watch,
): Promise<T> {
  const client = await pool.connect().catch(error => {
    throw translated(error)
  })
  const line: Line = { layout, client, travel: together(client), watch: watchOver?.(client), points: 0 }
  const later: Later[] = []
  let result: T
  try {
    result = await whole(line, outermost, later, work)
  } catch (error) {
    throw isInDoubt(error) ? error : (line.watch?.reason() ?? error)
  } finally {
    line.watch?.finish()
    unlimited.delete(client)
    client.release(line.broken ?? line.watch?.reason() !== undefined)
  }
  for (const each of later) await each()
  return result
}

async function whole<T>(
  line: Line,
  frame: Frame,
  later: Later[],
  work: (transaction: Transaction) => Promise<T>,
): Promise<T> {
  const { client, travel, watch } = line
  let first: { error: unknown } | undefined
  const sent: Promise<unknown>[] = []
  const send = (statement: Statement): void => {
    travel.hold()
    sent.push(ask(client, statement).catch(error => (first ??= { error })))
  }
  const ownLater: Later[] = []
  let isOver = false
  let isEnding = false
  try {
    send({ text: frame.begin, values: [] })
    const result = await work({
      layout: line.layout,
      async query(statement) {
        watch?.check()
        if (statement === withoutLimit) unlimited.add(client)
        travel.hold()
        const answer = ask<never>(client, statement)
        // What is asked at the same time travels together.
        process.nextTick(travel.go)
        return answer
      },
      async run(statement) {
        watch?.check()
        send(statement)
      },
      transaction: inner => whole(line, savepoint(`part_${++line.points}`), ownLater, inner),
      afterwards: each => void ownLater.push(each),
    })
    watch?.check()
    if (frame === outermost) unlimited.delete(client)
    const ended = answerOf(client, { text: frame.end, values: [] })
    isEnding = frame === outermost
    travel.go()
    // A transaction with only its commit left is not ended any more; it commits as a whole or not at all.
    if (watch && frame === outermost) void Promise.all(sent).then(watch.finish)
    const { command } = await ended
    isOver = true
    await Promise.all(sent)
    if (first) throw first.error
    if (command === 'ROLLBACK') throw new Error('the transaction was rolled back, because a statement of it had failed')
    later.push(...ownLater)
    return result
  } catch (error) {
    travel.go()
    if (isEnding && !isOver && isUnanswered(error) && !isRefused(first)) {
      // Not used again: what cancelled the wait for a standby may still come.
      line.broken = error as Error
      throw unconfirmed(error)
    }
    if (!isOver) await client.query(frame.undo).catch((failed: Error) => (line.broken = failed))
    throw first?.error ?? translated(error)
  }
}

/** True if PostgreSQL has said that a statement failed, so that nothing of its transaction was committed. */
function isRefused(first: { readonly error: unknown } | undefined): boolean {
  if (!first) return false
  const { error } = first
  return !isUnanswered(error instanceof Failure ? error.options.cause : error)
}

interface Travel {
  hold(): void
  go(): void
}

/** Buffers what is written to a connection and sends it at once, at the latest when the process is idle. */
function together(client: pg.PoolClient): Travel {
  const stream = streamOf(client)
  let isHeld = false
  const go = (): void => {
    if (isHeld) stream.uncork()
    isHeld = false
  }
  const hold = (): void => {
    if (isHeld) return
    isHeld = true
    stream.cork()
    setImmediate(go)
  }
  return { hold, go }
}
