// FHIR dates as intervals of milliseconds: what a date stands for follows from how precisely it was written (https://hl7.org/fhir/R4/search.html#date).

/** Both ends inclusive, in ms since 1970 UTC; open ends are ±8.64e15, the limits of a Date. */
export interface Interval {
  readonly low: number
  readonly high: number
}

export const earliest = -8_640_000_000_000_000
export const latest = 8_640_000_000_000_000

const shape =
  /^(?!0000)(\d{4})(?:-(\d\d)(?:-(\d\d)(?:T(\d\d)(?::(\d\d)(?::(\d\d)(?:\.(\d+))?)?)?(Z|[+-]\d\d:\d\d)?)?)?)?$/

/**
 * The interval of a date, dateTime or instant; without a zone it is read as UTC.
 * @returns undefined if the text is no date, 1973-02-30 included.
 */
export function dateInterval(text: string): Interval | undefined {
  const match = shape.exec(text)
  if (!match) return undefined
  const [, year, month, day, hour, minute, second, fraction, zone] = match
  const low = utc(Number(year), Number(month ?? 1), Number(day ?? 1))
  if (low === undefined) return undefined
  if (!month) return { low, high: utc(Number(year) + 1, 1, 1)! - 1 }
  if (!day)
    return {
      low,
      high: (Number(month) === 12 ? utc(Number(year) + 1, 1, 1)! : utc(Number(year), Number(month) + 1, 1)!) - 1,
    }
  if (hour === undefined) return { low, high: low + 86_399_999 }
  const time = clock(Number(hour), Number(minute ?? 0), Number(second ?? 0))
  const offset = zoneOffset(zone)
  if (time === undefined || offset === undefined) return undefined
  const milliseconds = Number((fraction ?? '').slice(0, 3).padEnd(3, '0'))
  const start = low + time + milliseconds - offset
  return { low: start, high: start + width(minute, second, fraction) - 1 }
}

function width(minute: string | undefined, second: string | undefined, fraction: string | undefined): number {
  if (minute === undefined) return 3_600_000
  if (second === undefined) return 60_000
  return fraction === undefined ? 1000 : Math.max(1, 10 ** (3 - fraction.length))
}

function utc(year: number, month: number, day: number): number | undefined {
  const date = new Date(0)
  date.setUTCFullYear(year, month - 1, day)
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day ? date.getTime() : undefined
}

function clock(hour: number, minute: number, second: number): number | undefined {
  return hour > 23 || minute > 59 || second > 60 ? undefined : ((hour * 60 + minute) * 60 + second) * 1000
}

function zoneOffset(zone: string | undefined): number | undefined {
  if (zone === undefined || zone === 'Z') return 0
  const [hours, minutes] = [Number(zone.slice(1, 3)), Number(zone.slice(4, 6))]
  if (hours > 14 || minutes > 59) return undefined
  return (zone.startsWith('-') ? -1 : 1) * (hours * 60 + minutes) * 60_000
}

/** The smallest interval around several. */
export function hull(intervals: readonly Interval[]): Interval | undefined {
  if (intervals.length === 0) return undefined
  return { low: Math.min(...intervals.map(i => i.low)), high: Math.max(...intervals.map(i => i.high)) }
}
