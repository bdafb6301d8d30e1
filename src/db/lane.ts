// A client's way to the database: its share of the connections, and an end of its statements when it has gone.
import type pg from 'pg'
import type { ConcurrencyLimit } from '../lib/concurrency-limit.ts'
import { askAlone, connectionOf, streamOf, translated, translatedAlone } from './ask.ts'
import { cancelOn } from './cancel.ts'
import type { Costs } from './costs.ts'
import { isInDoubt } from './doubt.ts'
import type { Sent } from './lines.ts'
import type { Pools } from './pools.ts'
import { canRetry, onConnection } from './retry.ts'
import type { Shared } from './shares.ts'
import type { Queryable, Statement, Transactional } from './statement.ts'
import { inTransaction } from './transaction.ts'
import { giveTurn, takeTurn } from './turn.ts'
import { type Asking, createWatcher, type Watcher } from './watch.ts'

/** Milliseconds from which on a statement is costly, and for a client beside which there is no other. */
const costly = { inCompany: 50, alone: 250 }

/** Milliseconds below which a statement shares a line with others. */
const short = 10

/** A new statement may cost anything, so that it counts as costly the first time. */
const isCostly = (expected: number | undefined, { company }: Shared, who: string): boolean =>
  expected === undefined || expected >= (company.isAlone(who) ? costly.alone : costly.inCompany)

/**
 * A server as one client has it.
 * @param lookUp gathers the look-ups of all clients
 */
export function laneFor(pools: Pools, lookUp: NonNullable<Queryable['lookUp']>, asking: Asking): Transactional {
  const { planned, fixed, layout } = pools
  const watcher = createWatcher(asking.signal)
  const query = <Row extends object>(statement: Statement): Promise<Row[]> =>
    once<Row>(statement.isFixed ? fixed : planned, asking, watcher, statement)
  return {
    layout,
    query,
    run: async statement => void (await once(fixed, asking, watcher, statement)),
    lookUp: asked => holding(fixed.shared, asking, 1, () => lookUp(asked)),
    sharing: work => holding(fixed.shared, asking, 1, work),
    transaction: work =>
      transacted(fixed, asking, () => inTransaction(pools, work, client => watcher.over(() => cancelOn(client)))),
  }
}

/** A transaction, whose connection counts for several if those of the client take long. */
function transacted<T>(shared: Shared, asking: Asking, work: () => Promise<T>): Promise<T> {
  const { shares, transactions, longTransaction, costs } = shared
  const key = `transaction of ${asking.who}`
  const amount = isCostly(costs.expected(key), shared, asking.who) ? longTransaction : 1
  const timed = async (): Promise<T> => {
    const begun = performance.now()
    return work().finally(() => costs.took(key, performance.now() - begun, false))
  }
  return holding(transactions, asking, amount, () => holding(shares, asking, 1, timed))
}

/** Does the work while the client holds this amount of the limit. @throws Failure as `take` does; the reason of the signal. */
async function holding<T>(
  limit: ConcurrencyLimit,
  { who, signal }: Asking,
  amount: number,
  work: () => Promise<T>,
): Promise<T> {
  const permit = await limit.take(who, amount, signal)
  try {
    return await work()
  } finally {
    permit.release()
  }
}

/**
 * Runs one statement on a connection of the pool, to which the connection returns only if nothing failed. The costly statements of
 * a client run one at a time, so that it fills neither the cores nor memory; others run in parallel. While no other client is there,
 * only very costly ones wait for each other.
 */
async function once<Row extends object>(
  shared: Shared,
  asking: Asking,
  watcher: Watcher,
  statement: Statement,
): Promise<Row[]> {
  const expected = shared.costs.expected(keyOf(statement))
  if (expected !== undefined && expected < short)
    return holding(shared.shares, asking, 1, () => onLine<Row>(shared, asking, watcher, statement, expected))
  const takesTurn = isCostly(expected, shared, asking.who)
  const asked = (): Promise<Answer<Row>> =>
    holding(shared.shares, asking, 1, () => connected(shared, { statement, asking, watcher, takesTurn }))
  return (await (takesTurn ? inTurn(shared, asking, asked) : asked())).rows
}

/** Runs a short statement on a line, or on a connection of its own if there is no line for it. */
async function onLine<Row extends object>(
  shared: Shared,
  asking: Asking,
  watcher: Watcher,
  statement: Statement,
  expected: number,
): Promise<Row[]> {
  const line = shared.lines.free()
  if (!line) return (await connected<Row>(shared, { statement, asking, watcher, takesTurn: false })).rows
  let sent: Sent<Row> | undefined
  const watch = watcher.over(() => sent?.cancel())
  try {
    watch.check()
    watch.within(asking.limit)
    sent = line.send<Row>(statement, expected)
    return await sent.rows
  } catch (error) {
    const failure = translatedAlone(error, statement)
    if (isInDoubt(failure)) throw failure
    if (watch.reason() !== undefined) throw watch.reason()
    if (!sent?.isVictim(error) && !canRetry(error, statement)) throw failure
  } finally {
    watch.finish()
    if (sent) shared.costs.took(keyOf(statement), sent.took(), false)
  }
  return (await connected<Row>(shared, { statement, asking, watcher, takesTurn: false })).rows
}

/** A statement of a client that has a connection of its own. */
interface Work {
  readonly statement: Statement
  readonly asking: Asking
  readonly watcher: Watcher
  /** True if it waits for the client's other costly statements, in all processes. */
  readonly takesTurn: boolean
}

interface Answer<Row extends object> {
  readonly rows: Row[]
  /** Bytes of the answer received so far. */
  readonly bytes: number
}

/** How much of an answer the thread reads, turns into a reply and sends in about a millisecond. */
const bytesInMillisecond = 100_000

/** Does the work in the client's turn, once the client has rested after its last answer. */
const inTurn = <Row extends object>(
  { turns, rests }: Shared,
  asking: Asking,
  work: () => Promise<Answer<Row>>,
): Promise<Answer<Row>> =>
  holding(turns, asking, 1, async () => {
    await rests.over(asking.who, asking.signal)
    const answer = await work()
    rests.add(asking.who, answer.bytes / bytesInMillisecond)
    return answer
  })

/** The key by which statements are alike, regardless of their values. */
const keyOf = ({ name, text }: Statement): string => name ?? text

/** Runs a statement on a connection of the pool; if it is lost, one that only reads is retried on another. */
const connected = <Row extends object>({ pool, costs }: Shared, work: Work): Promise<Answer<Row>> =>
  onConnection(
    work.statement,
    () => connectionOf(pool),
    client => answeredBy<Row>(client, costs, work),
  )

/** Has the connection answer, and releases it. @throws Failure that a caller can act on; the reason of the signal */
async function answeredBy<Row extends object>(
  client: pg.PoolClient,
  costs: Costs,
  { statement, asking, watcher, takesTurn }: Work,
): Promise<Answer<Row>> {
  const stream = streamOf(client)
  const watch = watcher.over(() => cancelOn(client))
  let begun: number | undefined
  let failed: unknown
  try {
    if (takesTurn) await takeTurn(client, asking.who)
    watch.check()
    watch.within(asking.limit)
    begun = performance.now()
    const before = stream.bytesRead
    const answer = askAlone<Row>(client, statement)
    if (takesTurn) giveTurn(client, asking.who)
    return { rows: await answer, bytes: stream.bytesRead - before }
  } catch (error) {
    failed = error
    throw isInDoubt(error) ? error : (watch.reason() ?? translated(error))
  } finally {
    watch.finish()
    if (begun !== undefined) costs.took(keyOf(statement), performance.now() - begun, takesTurn)
    client.release(watch.reason() !== undefined || failed !== undefined)
  }
}
