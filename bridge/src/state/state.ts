// The agent's database: opened, keyed and closed. Everything that must survive is in it, and nothing is elsewhere.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { seal, unseal } from '../../../src/lib/encryption.ts'
import { Problem } from '../problem.ts'
import { withReserve } from './reserve.ts'
import { schema } from './schema.ts'

export interface State {
  readonly folder: string
  readonly db: DatabaseSync
  /** A statement, prepared once. */
  sql(text: string): StatementSync
  /**
   * What the work does is on disk when this returns, or nothing of it is. Where the disk is full, it is done again with the room that is
   * kept for what leaves the agent.
   */
  transaction<T>(work: () => T): T
  /** The same for what comes in: that gets no room from the reserve. */
  intake<T>(work: () => T): T
  seal(text: string, context: string): Buffer
  unseal(sealed: Uint8Array, context: string): string
  close(): void
}

/** Every commit waits for the disk (synchronous=full): what is acknowledged survives loss of power. */
const pragmas = `
  pragma journal_mode = wal;
  pragma synchronous = full;
  pragma journal_size_limit = 16777216;
  pragma cache_size = -2000;
`

/**
 * Opens the database of a state folder, or creates it.
 * @param key for payloads at rest: the same one that the database was created with
 * @throws Problem if the key is another one, or the file is damaged.
 */
export function openState(folder: string, key: Buffer): State {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const file = join(folder, 'agent.db')
  const db = new DatabaseSync(file, { timeout: 5000 })
  try {
    withReserve(folder, () => {
      // On a database that has its tables nothing is written: an agent on a full disk has to start in order to empty its queue.
      const isNew = (db.prepare('pragma user_version').get() as { user_version: number }).user_version === 0
      if (isNew) db.exec('pragma auto_vacuum = incremental')
      db.exec(pragmas)
      if (isNew) db.exec(`begin immediate; ${schema}; pragma user_version = 1; commit`)
    })
  } catch (error) {
    db.close()
    throw explained(error, file)
  }
  const state = stateOf(folder, db, key)
  mustFit(state)
  return state
}

function stateOf(folder: string, db: DatabaseSync, key: Buffer): State {
  const prepared = new Map<string, StatementSync>()
  return {
    folder,
    db,
    sql(text) {
      const known = prepared.get(text)
      if (known) return known
      const made = db.prepare(text)
      prepared.set(text, made)
      return made
    },
    transaction: work => withReserve(folder, () => inTransaction(db, work)),
    intake: work => inTransaction(db, work),
    seal: (text, context) => seal(key, text, context),
    unseal: (sealed, context) => unseal(key, Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength), context),
    close: () => db.close(),
  }
}

function inTransaction<T>(db: DatabaseSync, work: () => T): T {
  db.exec('begin immediate')
  try {
    const result = work()
    db.exec('commit')
    return result
  } catch (error) {
    if (db.isTransaction) db.exec('rollback')
    throw error
  }
}

/** The first start leaves a sealed word, which later ones must be able to read. */
function mustFit(state: State): void {
  const row = state.sql("select value from meta where name = 'key_check'").get() as { value: Uint8Array } | undefined
  if (!row) {
    state.sql("insert into meta values ('key_check', ?)").run(state.seal('key', 'key_check'))
    return
  }
  try {
    state.unseal(row.value, 'key_check')
  } catch {
    state.close()
    throw new Problem(
      `The data key is not the one that ${state.folder} was written with: restore the key file, or move the folder aside and enrol again.`,
    )
  }
}

const damaged = new Set([11, 26])

function explained(error: unknown, file: string): unknown {
  if (!damaged.has((error as { errcode?: number }).errcode ?? 0)) return error
  return new Problem(
    `${file} is damaged: move the state folder aside, run \`agent enrol\` again, and ask the senders to repeat what is missing.`,
  )
}

/** Returns pages that deleted rows left to the disk; a few at a time, so that nothing waits. */
export function giveBackSpace({ db }: State): void {
  db.exec('pragma incremental_vacuum(2000)')
}
