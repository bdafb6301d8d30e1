// Commands of the server: kept from when they come until the server knows how they ended, so that none is done twice or forgotten.
import { read, write } from './meta.ts'
import type { State } from './state.ts'

export interface Order {
  readonly id: string
  readonly type: string
  readonly payload: Readonly<Record<string, unknown>>
  readonly attempts: number
  /** Of the key that was made for it; null: none yet. */
  readonly keyDigest: string | null
}

export interface Ending {
  readonly status: 'done' | 'failed'
  readonly message?: string
}

const contextOf = (id: string): string => `command ${id}`

/** Keeps commands that are new, in order; returns how many were. */
export function keepCommands(state: State, commands: readonly Received[]): number {
  if (commands.length === 0) return 0
  return state.transaction(() => {
    const insert = state.sql('insert into command (id, type, payload) values (?, ?, ?) on conflict do nothing')
    const fresh = commands.filter(({ id, type, payload }) => {
      const sealed = state.seal(JSON.stringify(payload ?? {}), contextOf(id))
      return Number(insert.run(id, type, sealed).changes) > 0
    })
    const last = commands.at(-1)
    if (last) write(state, 'last_command', last.id)
    return fresh.length
  })
}

export interface Received {
  readonly id: string
  readonly type: string
  readonly payload?: unknown
}

interface Row {
  readonly id: string
  readonly type: string
  readonly payload: Uint8Array
  readonly attempts: number
  readonly key_sha256: string | null
}

/** Commands that are due, in order. Of messages to one target only the first that is not sent: they go out one after the other. */
export function dueCommands(state: State, now: number): Order[] {
  const rows = state
    .sql("select id, type, payload, attempts, key_sha256, not_before from command where status = 'new' order by place")
    .all() as unknown as (Row & { not_before: number })[]
  const behind = new Set<unknown>()
  return rows
    .map(row => ({ order: orderOf(state, row), dueAt: row.not_before }))
    .filter(({ order, dueAt }) => {
      const target = order.type === 'send_hl7v2' ? order.payload['target'] : undefined
      const isFree = target === undefined || !behind.has(target)
      if (target !== undefined) behind.add(target)
      return isFree && dueAt <= now
    })
    .map(({ order }) => order)
}

const orderOf = (state: State, { id, type, payload, attempts, key_sha256 }: Row): Order => ({
  id,
  type,
  payload: JSON.parse(state.unseal(payload, contextOf(id))),
  attempts,
  keyDigest: key_sha256,
})

/** Records how a command ended; the acknowledgement to the server follows. The payload is no longer needed. */
export function endCommand(state: State, id: string, { status, message }: Ending): void {
  state
    .sql('update command set status = ?, message = ?, payload = ? where id = ?')
    .run(status, message ?? null, state.seal('{}', contextOf(id)), id)
}

export function postponeCommand(state: State, id: string, until: number): void {
  state.sql('update command set attempts = attempts + 1, not_before = ? where id = ?').run(until, id)
}

export const noteKey = (state: State, id: string, digest: string): void =>
  void state.sql('update command set key_sha256 = ? where id = ?').run(digest, id)

export interface Untold extends Ending {
  readonly id: string
  readonly keyDigest: string | null
}

/** Commands that ended and of which the server does not know. */
export function untold(state: State): Untold[] {
  const rows = state
    .sql("select id, status, message, key_sha256 from command where status <> 'new' and told = 0 order by place")
    .all() as unknown as (Ending & { id: string; key_sha256: string | null })[]
  return rows.map(({ id, status, message, key_sha256 }) => ({
    id,
    status,
    keyDigest: key_sha256,
    ...(message ? { message } : {}),
  }))
}

/** The server knows: the last hundred such commands are kept, to recognise them if they come again. */
export function noteTold(state: State, id: string): void {
  state.sql('update command set told = 1 where id = ?').run(id)
  state.sql('delete from command where told = 1 and place <= (select max(place) - 100 from command)').run()
}

/** Milliseconds until a postponed command is due; undefined: there is none. */
export function untilDue(state: State, now: number): number | undefined {
  const row = state.sql("select min(not_before) as due from command where status = 'new'").get() as {
    due: number | null
  }
  return row.due === null ? undefined : Math.max(0, row.due - now)
}

/** The last command that was received; undefined: none yet. */
export const lastCommand = (state: State): string | undefined => read(state, 'last_command')
