// Dates, dateTimes and times with the precision they were written with: reading, comparing, adding.
// http://hl7.org/fhirpath/N1/#datetime-arithmetic · https://hl7.org/fhir/R4/datatypes.html#dateTime

/** Seconds and milliseconds count as one precision, as the specification has it. */
export interface Temporal {
  readonly kind: 'date' | 'dateTime' | 'time'
  /** Year, month, day, hour, minute, milliseconds of the minute: as many as were given. Times begin at the hour. */
  readonly parts: readonly number[]
  /** Minutes east of UTC; undefined if none was given. */
  readonly offset: number | undefined
  /** Digits written after the seconds' point. */
  readonly fraction: number
}

const TIME = /^(\d\d)(?::(\d\d)(?::(\d\d)(?:\.(\d+))?)?)?$/
const DATE_TIME =
  /^(\d{4})(?:-(\d\d)(?:-(\d\d))?)?(?:(T)(?:(\d\d)(?::(\d\d)(?::(\d\d)(?:\.(\d+))?)?)?(Z|[+-]\d\d:\d\d)?)?)?$/

/** Reads `2014-01`, `2014-01-25T14:30:14.559+02:00`, or, where a time is expected, `14:30`. */
export function parseTemporal(text: string, kind: Temporal['kind']): Temporal | undefined {
  if (text.length > 40) return undefined
  const found = kind === 'time' ? parseTime(text) : parseDate(text, kind)
  return found && inRange(found) ? found : undefined
}

function parseTime(text: string): Temporal | undefined {
  const match = TIME.exec(text)
  if (!match) return undefined
  const parts = present([match[1], match[2]])
  if (match[3]) parts.push(millis(match[3], match[4]))
  return { kind: 'time', parts, offset: undefined, fraction: match[4]?.length ?? 0 }
}

function parseDate(text: string, kind: 'date' | 'dateTime'): Temporal | undefined {
  const match = DATE_TIME.exec(text)
  if (!match) return undefined
  const [, year, month, day, t, hour, minute, second, fraction, zone] = match
  if (kind === 'date' && t) return undefined
  if (hour && !day) return undefined
  const parts = present([year, month, day, hour, minute])
  if (second) parts.push(millis(second, fraction))
  return { kind, parts, offset: zone === undefined ? undefined : offsetOf(zone), fraction: fraction?.length ?? 0 }
}

function present(texts: readonly (string | undefined)[]): number[] {
  return texts.filter(text => text !== undefined).map(Number)
}

function millis(second: string, fraction = ''): number {
  return Number(second) * 1000 + Math.trunc(Number(`0.${fraction || 0}`) * 1000 + 1e-6)
}

function offsetOf(zone: string): number {
  if (zone === 'Z') return 0
  return (zone.startsWith('-') ? -1 : 1) * (Number(zone.slice(1, 3)) * 60 + Number(zone.slice(4)))
}

/** Milliseconds of a minute that ends with a leap second, which R4 allows: https://hl7.org/fhir/R4/datatypes.html#instant */
const WITH_LEAP_SECOND = 61_000

function inRange({ kind, parts, offset = 0 }: Temporal): boolean {
  const [year = 1, month = 1, day = 1, hour = 0, minute = 0, milli = 0] = kind === 'time' ? [1, 1, 1, ...parts] : parts
  if (month < 1 || month > 12 || day < 1 || day > daysIn(year, month)) return false
  return hour < 24 && minute < 60 && milli < WITH_LEAP_SECOND && Math.abs(offset) <= 14 * 60
}

function daysIn(year: number, month: number): number {
  if (month === 2) return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0 ? 29 : 28
  return [4, 6, 9, 11].includes(month) ? 30 : 31
}

/** Writes a Temporal as FHIR and FHIRPath do, without `@`. */
export function formatTemporal({ kind, parts, offset, fraction }: Temporal): string {
  if (kind === 'time') return formatTime(parts, fraction)
  const [year = 0, month, day, ...time] = parts
  let text = pad(year, 4)
  if (month !== undefined) text += `-${pad(month)}`
  if (day !== undefined) text += `-${pad(day)}`
  if (time.length > 0) text += `T${formatTime(time, fraction)}`
  if (offset === undefined) return text
  const minutes = Math.abs(offset)
  return text + (offset === 0 ? 'Z' : `${offset < 0 ? '-' : '+'}${pad(Math.trunc(minutes / 60))}:${pad(minutes % 60)}`)
}

function formatTime([hour = 0, minute, milli]: readonly number[], fraction: number): string {
  let text = pad(hour)
  if (minute !== undefined) text += `:${pad(minute)}`
  if (milli === undefined) return text
  text += `:${pad(Math.trunc(milli / 1000))}`
  const rest = milli % 1000
  const digits = rest > 0 ? Math.max(fraction, 3) : fraction
  return digits > 0 ? `${text}.${pad(rest, 3).padEnd(digits, '0').slice(0, digits)}` : text
}

function pad(value: number, width = 2): string {
  return String(value).padStart(width, '0')
}

/** -1, 0, 1; undefined when precision or a missing time zone leaves it open. http://hl7.org/fhirpath/N1/#comparison */
export function compareTemporals(a: Temporal, b: Temporal): number | undefined {
  if ((a.kind === 'time') !== (b.kind === 'time')) return undefined
  const zoned = [a, b].filter(each => each.offset !== undefined && each.parts.length > 3).length
  if (zoned === 1) return compareRanges(a, b)
  const isMoved = zoned === 2 && a.offset !== b.offset
  const left = isMoved ? inUtc(a) : a.parts
  const right = isMoved ? inUtc(b) : b.parts
  for (let i = 0; i < Math.min(left.length, right.length); i++) {
    if (left[i]! !== right[i]!) return left[i]! < right[i]! ? -1 : 1
  }
  return left.length === right.length ? 0 : undefined
}

/** Returns a text that is the same for temporals that `compareTemporals` considers equal. */
export function instantKey(temporal: Temporal): string {
  const { kind, parts, offset } = temporal
  const isZoned = offset !== undefined && parts.length > 3
  return `${kind === 'time' ? 'T' : ''}${(isZoned ? inUtc(temporal) : parts).join('-')}${isZoned ? 'Z' : ''}`
}

/** Zones differ by minutes, so the seconds stay, a leap second too: it comes before the next minute. */
function inUtc({ kind, parts, offset = 0, fraction }: Temporal): number[] {
  const minutes = toInstant({ kind, parts: parts.slice(0, 5), offset, fraction }) - offset * 60_000
  return [...fromInstant(minutes).slice(0, Math.min(parts.length, 5)), ...parts.slice(5)]
}

/** Without a time zone a dateTime can be any instant of 26 hours. */
function compareRanges(a: Temporal, b: Temporal): number | undefined {
  const [aFirst, aLast] = range(a)
  const [bFirst, bLast] = range(b)
  if (aLast < bFirst) return -1
  return aFirst > bLast ? 1 : undefined
}

function range(temporal: Temporal): [number, number] {
  const first = toInstant(temporal)
  const last = toInstant({ ...temporal, parts: lastParts(temporal.parts) })
  return [first - (temporal.offset ?? 14 * 60) * 60_000, last - (temporal.offset ?? -12 * 60) * 60_000]
}

/** The last moment that parts of limited precision can mean. */
export function lastParts(parts: readonly number[], kind: Temporal['kind'] = 'dateTime'): number[] {
  if (kind === 'time') return [23, 59, 59_999].map((last, i) => parts[i] ?? last)
  const [year = 0, month = 12, ...rest] = parts
  const [day = daysIn(year, month), hour = 23, minute = 59, milli = 59_999] = rest
  return [year, month, day, hour, minute, milli]
}

/** Milliseconds since 1970 as if the time were UTC. */
function toInstant({ parts: [year = 1970, month = 1, day = 1, hour = 0, minute = 0, milli = 0] }: Temporal): number {
  const date = new Date(Date.UTC(2000, month - 1, day, hour, minute, 0, 0))
  date.setUTCFullYear(year, month - 1, day)
  return date.getTime() + milli
}

/** Year to milliseconds of an instant in UTC. */
export function fromInstant(instant: number): number[] {
  const date = new Date(instant)
  const day = [date.getUTCFullYear(), date.getUTCMonth() + 1, date.getUTCDate()]
  return [...day, date.getUTCHours(), date.getUTCMinutes(), date.getUTCSeconds() * 1000 + date.getUTCMilliseconds()]
}

/** Which part a unit changes: 0 the year, 5 the milliseconds; and how many of that part it is. */
const UNIT_PARTS: Readonly<Record<string, readonly [part: number, times: number]>> = {
  year: [0, 1],
  month: [1, 1],
  week: [2, 7],
  day: [2, 1],
  hour: [3, 1],
  minute: [4, 1],
  second: [5, 1000],
  millisecond: [5, 1],
}
/** How many of each part make one of the part before it. */
const PER_PART = [1, 12, 30, 24, 60, 60_000]

/** Adds a whole number of a calendar unit; undefined if the unit does not fit. Days beyond the month's end stay at it. */
export function addTo(temporal: Temporal, amount: number, unit: string): Temporal | undefined {
  const row = UNIT_PARTS[unit]
  if (!row) return undefined
  if (temporal.kind === 'time') return addToTime(temporal, amount, row)
  let [part, times] = row
  let count = amount * times
  for (; part >= temporal.parts.length; part--) count = Math.trunc(count / PER_PART[part]!)
  const fraction = row[0] === 5 && unit === 'millisecond' ? Math.max(temporal.fraction, 3) : temporal.fraction
  const parts = (
    part < 2 ? addMonths(temporal, part === 0 ? count * 12 : count) : addTime(temporal, count, part)
  ).slice(0, temporal.parts.length)
  return parts[0]! >= 1 && parts[0]! <= 9999 ? { ...temporal, parts, fraction } : undefined
}

function addMonths({ parts: [year = 0, month = 1, day = 1, ...time] }: Temporal, count: number): number[] {
  const total = year * 12 + month - 1 + count
  const newYear = Math.floor(total / 12)
  const newMonth = total - newYear * 12 + 1
  return [newYear, newMonth, Math.min(day, daysIn(newYear, newMonth)), ...time]
}

const PART_MILLIS = [0, 0, 86_400_000, 3_600_000, 60_000, 1]

function addTime(temporal: Temporal, count: number, part: number): number[] {
  return fromInstant(toInstant(temporal) + count * PART_MILLIS[part]!)
}

/** Times run around the clock. */
function addToTime(time: Temporal, amount: number, [part, times]: readonly [number, number]): Temporal | undefined {
  if (part < 3) return undefined
  const [hour = 0, minute = 0, milli = 0] = time.parts
  const sum = hour * 3_600_000 + minute * 60_000 + milli + amount * times * PART_MILLIS[part]!
  const wrapped = ((sum % 86_400_000) + 86_400_000) % 86_400_000
  const parts = [Math.trunc(wrapped / 3_600_000), Math.trunc(wrapped / 60_000) % 60, wrapped % 60_000]
  return { ...time, parts: parts.slice(0, time.parts.length) }
}
