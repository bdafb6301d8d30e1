// Writes, at intervals, the heads of the chains of the audit trail to a place outside of the database: a file, and a
// URL if one is set. A process knows the head of its own chain from what it committed, not from the database.
import type { KeyObject } from 'node:crypto'
import type { Database } from '../db/database.ts'
import type { Queryable } from '../db/statement.ts'
import type { Log } from '../lib/log.ts'
import { singleFlight } from '../lib/single-flight.ts'
import { anchorFile, anchorTexts } from './anchor-file.ts'
import { type AnchorText, furthest } from './anchored.ts'
import { type Head, sealOf } from './chain.ts'

export interface Anchor {
  /** A chain of this process is at this head now. */
  moved(head: Head): void
  /** Writes a line at each interval in which a chain moved. */
  start(): void
  /** Writes what is left to write. */
  close(): Promise<void>
}

export interface AnchorParts {
  readonly database: Database
  /** Seals lines, as it seals heads. */
  readonly key: KeyObject
  readonly log: Log
  readonly now: () => Date
  readonly file: string
  /** Bytes of a file beside its first line. */
  readonly fileBytes: number
  readonly seconds: number
  /** Sends a line to a collector; returns what was wrong. Absent: there is none. */
  readonly send?: ((line: string) => Promise<string | undefined>) | undefined
  /** A line was written to the file or sent to the URL, or could not be. */
  readonly counted: (target: 'file' | 'url', outcome: 'written' | 'failed') => void
}

/** Lines that wait for a collector which does not answer; older ones are in the file alone. */
const mostUnsent = 1000
/** Chains that moved and are not written yet; others are found in the database. */
const mostMoved = 1000

export function createAnchor(parts: AnchorParts): Anchor {
  const { database, key, log, now, seconds, counted } = parts
  const file = anchorFile(parts.file, key, parts.fileBytes)
  const moved = new Map<number, Head>()
  let unsent: string[] = []
  let isCaughtUp = false
  let timer: NodeJS.Timeout | undefined

  async function write(): Promise<void> {
    if (moved.size === 0 && isCaughtUp) return
    const own = [...moved.values()]
    const isBehind = !isCaughtUp
    isCaughtUp = true
    await inLine(database, async on => {
      const heads = furthest(isBehind ? [...own, ...(await ahead(on))] : own)
      if (heads.size === 0) return
      const line = await file.add(heads.values(), now())
      counted('file', 'written')
      if (parts.send) unsent = [...unsent, line].slice(-mostUnsent)
    })
    for (const head of own) if (moved.get(head.chain) === head) moved.delete(head.chain)
  }

  /** Returns the heads of chains that are ahead of their anchor: of processes that ended before they could write it. */
  async function ahead(on: Queryable): Promise<Head[]> {
    const { heads } = await file.read()
    const sealed = await sealedHeads(on, key)
    return sealed.filter(({ chain, sequence }) => sequence > (heads.get(chain)?.sequence ?? 0))
  }

  async function send(): Promise<void> {
    for (let line = unsent[0]; line !== undefined; line = unsent[0]) {
      const problem = await parts.send!(line)
      counted('url', problem === undefined ? 'written' : 'failed')
      if (problem !== undefined) return log.error({ problem, lines: unsent.length }, 'audit: could not send the anchor')
      unsent.shift()
    }
  }

  const writing = singleFlight(() =>
    write()
      .catch(err => {
        isCaughtUp = false
        counted('file', 'failed')
        log.error({ err }, 'audit: could not write the anchor')
      })
      .then(send),
  )

  return {
    moved(head) {
      if (moved.size < mostMoved || moved.has(head.chain)) moved.set(head.chain, head)
      else isCaughtUp = false
    },
    start() {
      timer = setInterval(writing.run, seconds * 1000).unref()
    },
    async close() {
      clearInterval(timer)
      await writing.ended()
      if (moved.size > 0 || unsent.length > 0) await writing.run()
    },
  }
}

/** The texts of an anchor while no process of the service writes one. */
export const settledTexts = (database: Database, file: string): Promise<AnchorText[]> =>
  inLine(database, () => anchorTexts(file))

/** Any number that other locks do not have. */
const lockKey = 4_215_027

/** Processes write one after another, also those of other machines that share the folder. */
function inLine<T>(database: Database, work: (on: Queryable) => Promise<T>): Promise<T> {
  return database.transaction(async on => {
    await on.query({ text: `set local lock_timeout = '5s'`, values: [] })
    await on.query({ text: 'select pg_advisory_xact_lock($1)', values: [lockKey] })
    return work(on)
  })
}

async function sealedHeads(on: Queryable, key: KeyObject): Promise<Head[]> {
  const rows = await on.query<Head & { seal: string }>({
    text: `select chain, sequence, encode(hash, 'hex') as hash, encode(seal, 'hex') as seal from audit_head order by chain`,
    values: [],
  })
  return rows.filter(row => row.seal === sealOf(key, row))
}
