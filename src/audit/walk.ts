// The check of one chain, row by row, wherever its rows come from: the database or an archive.
import type { KeyObject } from 'node:crypto'
import type { SeenHead } from './anchored.ts'
import { type ChainRow, type Head, sealOf } from './chain.ts'
import { type ChainedRecord, rowHash, storedHash } from './record.ts'

/** What is wrong with the trail, at its first broken place in the order of chains and rows. */
export interface Break {
  readonly chain: number
  /** Absent where the chain itself is broken, not a row. */
  readonly sequence?: number
  /** In words. */
  readonly problem: string
}

/** Names the place of a break. */
export const placeOf = ({ chain, sequence }: Break): string =>
  sequence === undefined ? `chain ${chain}` : `chain ${chain}, row ${sequence}`

/** A row as it was found. */
export interface LinkedRecord {
  readonly record: ChainedRecord
  /** What the row holds of its hash. */
  readonly hash: Buffer
  /** Returns false if the row is not found by what it says. */
  isFindable(): boolean
}

export interface Walk {
  /** The sequence of the last row that was found good. */
  good(): number
  /** Checks the next row. Returns false from the first problem on. */
  take(row: LinkedRecord): boolean
  /** Compares where the chain ends with where its head says that it does. Returns the first problem of the chain. */
  end(): Break | undefined
}

/**
 * Begins the check of a chain.
 * @param start its beginning, or the row after which rows are checked
 * @param known heads of the chain that were seen before
 */
export function beginWalk(chain: ChainRow, start: Head, key: KeyObject, known: readonly SeenHead[]): Walk {
  const expected = new Map(known.map(each => [each.sequence, each]))
  let { sequence, hash } = start
  let problem: Break | undefined
  return {
    good: () => sequence,
    take({ record, hash: stored, isFindable }) {
      if (problem) return false
      const next = rowHash(hash, record)
      const seen = expected.get(record.sequence)
      const wrong =
        record.sequence !== sequence + 1
          ? 'the row is missing'
          : !stored.equals(storedHash(record.sequence, next)) || !isFindable()
            ? 'the row does not match its hash'
            : seen && seen.hash !== next
              ? `the row differs from the row in ${seen.by}`
              : undefined
      if (wrong !== undefined) {
        problem = { chain: chain.number, sequence: sequence + 1, problem: wrong }
        return false
      }
      sequence = record.sequence
      hash = next
      return true
    },
    end: () => problem ?? problemAtEnd(chain, { chain: chain.number, sequence, hash }, key, known),
  }
}

function problemAtEnd(
  { sequence, head, seal }: ChainRow,
  end: Head,
  key: KeyObject,
  known: readonly SeenHead[],
): Break | undefined {
  const { chain } = end
  const after = end.sequence + 1
  if (sequence === null) return { chain, problem: 'the head of the chain is missing' }
  if (sequence > end.sequence)
    return {
      ...{ chain, sequence: after },
      problem: `the row is missing, and all after it: the head of the chain is at ${sequence}`,
    }
  if (sequence < end.sequence)
    return { chain, sequence: sequence + 1, problem: 'the row is after the head of the chain' }
  if (head !== end.hash) return { chain, sequence, problem: 'the row differs from the row in the head of the chain' }
  if (seal !== sealOf(key, end))
    return { chain, problem: 'the head of the chain was not sealed with the key of this deployment' }
  const beyond = known.find(each => each.sequence > end.sequence)
  return (
    beyond && {
      ...{ chain, sequence: after },
      problem: `the row is missing: ${beyond.by} has the chain up to row ${beyond.sequence}`,
    }
  )
}
