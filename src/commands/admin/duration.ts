// Lengths of time as administrators write them: 90s, 30m, 24h, 7d.
import { UsageError } from '../../lib/command.ts'

const units: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 }

/** Seconds. @param most seconds. @throws UsageError */
export function duration(text: string, most: number): number {
  const [, digits, unit] = /^(\d{1,9})([smhd]?)$/.exec(text) ?? []
  const seconds = unit === '' && Number(digits) > 0 ? NaN : Number(digits) * (units[unit ?? ''] ?? 1)
  if (seconds <= most) return seconds
  throw new UsageError(`${text} is not a duration up to ${most / 86_400}d: write 30m, 24h, 7d, or 0`)
}
