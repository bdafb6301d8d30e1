// How a load is going, and what it came to, for a person or (--json) for a program.
import type { WriteStream } from 'node:tty'
import type { Progress } from '../../load/load.ts'

export interface Meter {
  show(progress: Progress): void
  end(): void
  seconds(): number
}

const stored = (progress: Progress): number =>
  progress.created + progress.updated + progress.unchanged + progress.deleted

/** A bar that is redrawn on a terminal, and a line every five seconds elsewhere. */
export function createMeter(out: WriteStream, isQuiet: boolean, now: () => number = Date.now): Meter {
  const started = now()
  let shown = 0
  const seconds = (): number => (now() - started) / 1000
  return {
    seconds,
    show(progress) {
      const every = out.isTTY ? 100 : 5000
      if (isQuiet || now() - shown < every) return
      shown = now()
      const text = line(progress, seconds())
      out.write(out.isTTY ? `\r\u001b[2K${text}` : `${text}\n`)
    },
    end() {
      if (!isQuiet && out.isTTY && shown > 0) out.write('\r\u001b[2K')
    },
  }
}

function line(progress: Progress, seconds: number): string {
  const share = progress.bytesTotal === 0 ? 1 : progress.bytesDone / progress.bytesTotal
  const filled = Math.round(share * 24)
  const rate = Math.round(stored(progress) / Math.max(seconds, 0.001))
  const bar = `${'█'.repeat(filled)}${'░'.repeat(24 - filled)}`
  return `${bar} ${String(Math.round(share * 100)).padStart(3)} %  ${stored(progress)} resources  ${rate}/s${progress.problems.length ? `  ${progress.problems.length} problems` : ''}`
}

const mostProblemsShown = 50

/** The text printed at the end. */
export function summary(progress: Progress, seconds: number, asJson: boolean): string {
  const rate = Math.round(stored(progress) / Math.max(seconds, 0.001))
  const { created, updated, unchanged, deleted, problems } = progress
  const types = Object.fromEntries([...progress.counts].sort(([a], [b]) => (a < b ? -1 : 1)))
  if (asJson) return `${JSON.stringify({ created, updated, unchanged, deleted, seconds, rate, types, problems })}\n`
  const shown = problems
    .slice(0, mostProblemsShown)
    .map(problem => `  ${problem.file}:${problem.line}: ${problem.message}`)
  if (problems.length > shown.length) shown.push(`  and ${problems.length - shown.length} more`)
  return [
    ...Object.entries(types).map(
      ([type, counts]) =>
        `  ${String(counts.created).padStart(8)}  ${type}${counts.updated > 0 ? ` (and ${counts.updated} updated)` : ''}`,
    ),
    `${created} created, ${updated} updated, ${unchanged} unchanged, ${deleted} deleted in ${seconds.toFixed(1)} s (${rate} resources/s)`,
    ...(problems.length > 0 ? [`${problems.length} not stored:`, ...shown] : []),
    '',
  ].join('\n')
}
