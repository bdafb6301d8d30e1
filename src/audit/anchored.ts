// What the lines of an anchor prove: heads that the audit trail had, and whether the lines themselves are whole.
import type { KeyObject } from 'node:crypto'
import { readLine, type SealedLine } from './anchor-line.ts'
import type { Head } from './chain.ts'

/** A file of lines as it was read. */
export interface AnchorText {
  /** How it is named in a problem. */
  readonly name: string
  readonly text: string
}

/** A head that was seen outside of the trail. */
export interface SeenHead extends Head {
  /** What saw it, in words: `the anchor of 2026-05-01T10:00:00.000Z`. */
  readonly by: string
}

export interface Anchored {
  /** Lines that are good. */
  readonly lines: number
  readonly last: SealedLine | undefined
  /** All heads of good lines. */
  readonly seen: readonly SeenHead[]
  /** The furthest head of each chain. */
  readonly heads: ReadonlyMap<number, Head>
  /** The first problem of each file, in words. */
  readonly problems: readonly string[]
}

/** Reads files of lines that follow each other, the oldest first. */
export function readAnchor(key: KeyObject, texts: readonly AnchorText[]): Anchored {
  const problems: string[] = []
  let good: SealedLine[] = []
  for (const { name, text } of texts) {
    const found = linesOf(key, text)
    const problem = found.problem ?? linkProblem(found.lines, good.at(-1))
    if (problem) problems.push(`${name}, ${problem}`)
    good = good.concat(found.lines.map(({ line }) => line))
  }
  const seen = good.flatMap(({ heads, time }) => heads.map(head => ({ ...head, by: `the anchor of ${time}` })))
  return { lines: good.length, last: good.at(-1), seen, heads: furthest(seen), problems }
}

/** The furthest head of each chain. */
export function furthest(heads: Iterable<Head>): Map<number, Head> {
  const found = new Map<number, Head>()
  for (const { chain, sequence, hash } of heads)
    if (sequence > (found.get(chain)?.sequence ?? -1)) found.set(chain, { chain, sequence, hash })
  return found
}

interface Placed {
  /** Where it stands in its file, from 1. */
  readonly at: number
  readonly line: SealedLine
}

/** The good lines of a file in the order of their numbers, since a collector may get them in another, and its first bad one. */
function linesOf(key: KeyObject, text: string): { lines: Placed[]; problem: string | undefined } {
  const lines: Placed[] = []
  let problem: string | undefined
  const pieces = text.split('\n')
  const rest = pieces.pop()
  for (const [index, piece] of pieces.entries()) {
    const line = readLine(key, piece)
    if (line) lines.push({ at: index + 1, line })
    else problem ??= `line ${index + 1}: the line was changed, or was not sealed with the key of this deployment`
  }
  if (rest !== '') problem ??= `line ${pieces.length + 1}: the line is cut off`
  return { lines: lines.sort((a, b) => a.line.line - b.line.line), problem }
}

/** The first line that does not follow the one before it. */
function linkProblem(lines: readonly Placed[], before: SealedLine | undefined): string | undefined {
  let last = before
  for (const { at, line } of lines) {
    // A file may begin where another one ended that is no longer beside it.
    const isStart = last === undefined && line.begins
    // A line that was sent twice is one line.
    const isRepeated = line.seal === last?.seal
    if (!isStart && !isRepeated && (line.previous !== last?.seal || line.line !== last.line + 1))
      return `line ${at}: lines before it are missing: it has number ${line.line} and follows ${last ? `number ${last.line}` : 'none'}`
    last = line
  }
  return undefined
}
