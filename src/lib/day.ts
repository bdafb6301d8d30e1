// Calendar days, written as ISO 8601 has them: 2026-03-14.

/** Where years of four digits end: what FHIR and SQL cannot write is later. */
export const endOfYears = Date.UTC(10_000, 0, 1)

const formats = new Map<string, Intl.DateTimeFormat>()

/** The day that it is at a moment in a time zone. */
export function dayIn(timeZone: string, moment: Date): string {
  let format = formats.get(timeZone)
  if (!format) {
    format = new Intl.DateTimeFormat('en', { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' })
    formats.set(timeZone, format)
  }
  const parts = Object.fromEntries(format.formatToParts(moment).map(({ type, value }) => [type, value]))
  return `${parts['year']!.padStart(4, '0')}-${parts['month']}-${parts['day']}`
}

/** The moment at which a day begins in a time zone. */
export function startOfDay(timeZone: string, day: string): Date {
  return momentOf(timeZone, `${day}T00:00`)
}

/** The moment at which clocks in a time zone show a minute of a day: 2026-03-14T08:30. */
export function momentOf(timeZone: string, minute: string): Date {
  const shown = Date.parse(`${minute}:00Z`)
  // The offset is that of the moment itself, which another offset may be near.
  const near = shown - offsetAt(timeZone, shown)
  return new Date(shown - offsetAt(timeZone, near))
}

/** True for a minute of a day that exists in the calendar. */
export const isMinute = (text: string): boolean =>
  /^.{10}T(?:[01]\d|2[0-3]):[0-5]\d$/.test(text) && isDay(text.slice(0, 10))

/** Milliseconds by which clocks in a time zone are ahead of UTC. */
function offsetAt(timeZone: string, moment: number): number {
  const format = new Intl.DateTimeFormat('en', {
    ...{ timeZone, hourCycle: 'h23', year: 'numeric', month: 'numeric', day: 'numeric' },
    ...{ hour: 'numeric', minute: 'numeric', second: 'numeric' },
  })
  const parts = Object.fromEntries(format.formatToParts(moment).map(({ type, value }) => [type, Number(value)]))
  const { year, month, day, hour, minute, second } = parts as Record<string, number>
  return Date.UTC(year!, month! - 1, day!, hour!, minute!, second!) - Math.floor(moment / 1000) * 1000
}

/** True for a day that exists in the calendar. */
export function isDay(text: string): boolean {
  if (!/^\d{4}-\d\d-\d\d$/.test(text) || text < '0001') return false
  const time = Date.parse(`${text}T00:00:00Z`)
  return Number.isFinite(time) && new Date(time).toISOString().startsWith(text)
}

/** The last day of a year, a month or a day as FHIR writes them; undefined if there is no such day. */
export function lastDayOf(date: string): string | undefined {
  const [, year, month, day] = /^(\d{4})(?:-(\d\d))?(?:-(\d\d))?$/.exec(date) ?? []
  if (year === undefined) return undefined
  const last = day ?? String(daysIn(Number(year), Number(month ?? 12))).padStart(2, '0')
  const text = `${year}-${month ?? '12'}-${last}`
  return isDay(text) ? text : undefined
}

const daysIn = (year: number, month: number): number => new Date(Date.UTC(2000 + (year % 400), month, 0)).getUTCDate()

/** The day after. */
export function dayAfter(day: string): string {
  const next = new Date(`${day}T00:00:00Z`)
  next.setUTCDate(next.getUTCDate() + 1)
  return next.toISOString().slice(0, -14)
}

/** True if the name is one by which both this process and PostgreSQL know a time zone. */
export function isTimeZone(name: string): boolean {
  // Offsets are left out: PostgreSQL reads their sign the other way round.
  if (!/^[A-Za-z][A-Za-z0-9_]*(\/[A-Za-z0-9_+-]+)*$/.test(name)) return false
  // Most names are in the list. The first format of dates in a process takes six times as long; it knows other names too, such as UTC.
  if (Intl.supportedValuesOf('timeZone').includes(name)) return true
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    return false
  }
}
