// What the server's answer to a batch changes: done items go, refused ones move to quarantine, failed ones wait with their source.
import { type Batch, dissolve } from './batches.ts'
import type { Stored } from './items.ts'
import { read, write } from './meta.ts'
import { quarantineItem, type Reason } from './quarantine.ts'
import type { State } from './state.ts'

/** An item that was not done. */
export interface Rejected {
  readonly seq: number
  readonly error_code: string
  readonly message: string
  readonly field?: string
  readonly retryable: boolean
}

/** Attempts after which an item no longer keeps its source waiting. */
const mostAttempts = 10

const firstHold = 2000
const longestHold = 600_000

export interface Settled {
  readonly done: number
  readonly quarantined: number
  readonly held: number
  /** Numbers that the server misses and that are no longer here: after it lost what it had acknowledged. */
  readonly lost: number
}

/** Applies an answer with one commit; what it does not mention is done. */
export function settle(
  state: State,
  batch: Batch,
  rejected: readonly Rejected[],
  ackedThrough: number,
  now: number,
): Settled {
  const refusals = new Map(rejected.map(each => [each.seq, each]))
  return state.transaction(() => {
    const results = batch.items.map(item => settleItem(state, item, refusals.get(item.seq!), now))
    const count = (kind: Result): number => results.filter(each => each === kind).length
    const declared = state.sql('delete from skipped where seq = ?')
    for (const seq of batch.skipped) declared.run(seq)
    dissolve(state, batch.batchId)
    write(state, 'acked_through_seq', ackedThrough)
    const lost = declareLost(state, ackedThrough + 1, batch)
    return { done: count('done'), quarantined: count('quarantined'), held: count('held'), lost }
  })
}

/** Declares the first gap of the server, if nothing of it is here any more; returns how many numbers it has. */
function declareLost(state: State, missing: number, { items }: Batch): number {
  const next = read(state, 'next_seq') ?? 1
  const { held } = state
    .sql('select min(seq) as held from (select seq from item union select seq from skipped) where seq >= ?')
    .get(missing) as { held: number | null }
  const sent = items.map(({ seq }) => seq!).filter(seq => seq > missing)
  const end = Math.min(held ?? next, next, missing + mostDeclared, ...sent)
  const insert = state.sql('insert or ignore into skipped values (?)')
  for (let seq = missing; seq < end; seq++) insert.run(seq)
  return Math.max(0, end - missing)
}

const mostDeclared = 500

type Result = 'done' | 'quarantined' | 'held'

function settleItem(state: State, item: Stored, refusal: Rejected | undefined, now: number): Result {
  if (!refusal) {
    state.sql('delete from item where id = ?').run(item.id)
    release(state, item)
    return 'done'
  }
  const reason = { code: refusal.error_code, message: refusal.message, field: refusal.field }
  if (!refusal.retryable) return giveUp(state, item, { ...reason, origin: 'server' }, now)
  const attempts = item.attempts + 1
  if (attempts < mostAttempts) return hold(state, item, attempts, now)
  // The server does not have its number, and never will: the gap is declared.
  state.sql('insert or ignore into skipped values (?)').run(item.seq)
  return giveUp(state, item, { ...reason, origin: 'attempts' }, now)
}

/** Moves an item to quarantine, so that its source goes on. */
export function giveUp(state: State, item: Stored, reason: Reason, now: number): 'quarantined' {
  quarantineItem(state, item, reason, now)
  release(state, item)
  return 'quarantined'
}

const release = (state: State, item: Stored): void =>
  void state.sql('delete from hold where source = ? and item = ?').run(item.source, item.id)

/** The first item of a source that fails holds back the others. */
function hold(state: State, item: Stored, attempts: number, now: number): 'held' {
  const until = now + Math.min(longestHold, firstHold * 2 ** (attempts - 1))
  state.sql('update item set attempts = ? where id = ?').run(attempts, item.id)
  state
    .sql(
      `insert into hold values (?, ?, ?) on conflict (source) do update
       set item = excluded.item, until = excluded.until where excluded.item <= hold.item`,
    )
    .run(item.source, item.id, until)
  return 'held'
}

/** Milliseconds until a held source is to be tried again; undefined: none is held. */
export function untilHeld(state: State, now: number): number | undefined {
  const row = state.sql('select min(until) as until from hold').get() as { until: number | null }
  return row.until === null ? undefined : Math.max(0, row.until - now)
}
