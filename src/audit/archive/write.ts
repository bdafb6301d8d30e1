// Writes a period of the trail to a file, as it is in the database. Whether that is what was written is for the reading to find out.
import { createWriteStream } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setImmediate } from 'node:timers/promises'
import { createGzip } from 'node:zlib'
import type { Queryable } from '../../db/statement.ts'
import { fileInDraft } from '../../lib/draft.ts'
import type { ChainRow } from '../chain.ts'
import { linked, rowsAfter } from '../rows.ts'
import { form, lineText, rowLine } from './lines.ts'

/** A period that is over. */
export interface EndedPeriod {
  readonly number: number
  readonly beganAt: Date
  readonly endedAt: Date
}

/** Rows at a time: few, since the process answers requests between them. */
const page = 500

/**
 * Writes the file, which is there as a whole and on disk when this returns, or not at all. One of the same name is replaced.
 * @param chains those of the period
 * @param signal ends the work
 * @throws Error if the folder cannot be written to
 */
export async function writeArchive(
  on: Queryable,
  period: EndedPeriod,
  chains: readonly ChainRow[],
  path: string,
  signal?: AbortSignal,
): Promise<void> {
  await fileInDraft(path, draft =>
    pipeline(
      Readable.from(texts(on, period, chains)),
      createGzip(),
      createWriteStream(draft, { mode: 0o600, flush: true }),
      { signal },
    ),
  )
}

async function* texts(on: Queryable, period: EndedPeriod, chains: readonly ChainRow[]): AsyncGenerator<string> {
  const [began_at, ended_at] = [period.beganAt.toISOString(), period.endedAt.toISOString()]
  yield lineText({ line: 'period', form, period: period.number, began_at, ended_at })
  let rows = 0
  for (const chain of chains) {
    const { number, previous, hash, sequence, head, seal } = chain
    yield lineText({ line: 'chain', chain: number, started_at: chain.started_at.toISOString(), previous, hash })
    for (let after = 0, found = await rowsAfter(on, number, after, page); found.length > 0; ) {
      yield found.map(row => lineText(rowLine(linked(row)))).join('')
      rows += found.length
      after = found.at(-1)!.sequence
      await setImmediate()
      found = await rowsAfter(on, number, after, page)
    }
    yield lineText({ line: 'head', chain: number, sequence, hash: head, seal })
  }
  yield lineText({ line: 'end', chains: chains.length, rows })
}
