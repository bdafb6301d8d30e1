// The check of an archive, line by line, against the chains as the database holds them.
import type { ChainRow } from '../chain.ts'
import { type Break, beginWalk, type Walk } from '../walk.ts'
import { type Line, linkedRecord } from './lines.ts'
import type { ArchiveReading, ArchiveToRead } from './read.ts'

export interface LineCheck {
  take(line: Line): void
  /** @param unread why the file could not be read to its end; undefined: it was */
  result(unread: string | undefined): Omit<ArchiveReading, 'bytes' | 'sha256'>
}

/** The chain that is being read. */
interface Current {
  readonly chain: ChainRow
  readonly walk: Walk
}

export function checkLines({ period, chains, key, known = [] }: Omit<ArchiveToRead, 'signal'>): LineCheck {
  const knownOf = Map.groupBy(known, head => head.chain)
  const broken: Break[] = []
  let problem: string | undefined
  let current: Current | undefined
  let [begun, read, rows, isEnded, isBegun] = [0, 0, 0, false, false]
  let [first, last] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]

  function begin(line: Extract<Line, { line: 'chain' }>): void {
    const chain = chains[begun++]
    if (current) problem ??= `the head of chain ${current.chain.number} is missing`
    if (!chain || !isBeginning(line, chain)) {
      problem ??= `the beginning of chain ${line.chain} is not that of the database`
      current = undefined
    } else {
      const start = { chain: chain.number, sequence: 0, hash: chain.hash }
      current = { chain, walk: beginWalk(chain, start, key, knownOf.get(chain.number) ?? []) }
    }
  }

  function finish(line: Extract<Line, { line: 'head' }>): void {
    if (!current || !isHead(line, current.chain))
      problem ??= `the head of chain ${line.chain} is not that of the database`
    const found = current?.walk.end()
    if (found) broken.push(found)
    rows += current?.walk.good() ?? 0
    current = undefined
  }

  function takeRow(line: Extract<Line, { line: 'row' }>): void {
    read += 1
    const row = linkedRecord(line)
    if (line.chain !== current?.chain.number)
      problem ??= `row ${line.sequence} of chain ${line.chain} is not in its chain`
    else current.walk.take(row)
    const time = row.record.recordedAt.getTime()
    first = Math.min(first, time)
    last = Math.max(last, time)
  }

  return {
    take(line) {
      if (!isBegun && (line.line !== 'period' || line.period !== period)) problem ??= `it is not of period ${period}`
      isBegun = true
      if (isEnded) problem ??= 'lines follow its end'
      if (line.line === 'chain') begin(line)
      else if (line.line === 'row') takeRow(line)
      else if (line.line === 'head') finish(line)
      else if (line.line === 'end') {
        isEnded = true
        if (line.chains !== begun || line.rows !== read)
          problem ??= 'it holds other numbers of chains and rows than it says'
      }
    },
    result(unread) {
      const short = begun < chains.length ? `chain ${chains[begun]!.number} is missing` : undefined
      return {
        ...{ chains: begun, rows, broken },
        ...{ firstAt: timeOf(first), lastAt: timeOf(last) },
        problem: unread ?? problem ?? short ?? (isEnded ? undefined : 'its end is missing'),
      }
    },
  }
}

const isBeginning = (line: Extract<Line, { line: 'chain' }>, chain: ChainRow): boolean =>
  line.chain === chain.number &&
  line.started_at === chain.started_at.toISOString() &&
  line.previous === chain.previous &&
  line.hash === chain.hash

const isHead = (line: Extract<Line, { line: 'head' }>, chain: ChainRow): boolean =>
  line.chain === chain.number &&
  line.sequence === chain.sequence &&
  line.hash === chain.head &&
  line.seal === chain.seal

const timeOf = (time: number): Date | null => (Number.isFinite(time) ? new Date(time) : null)
