// HL7 v2's dates and times as FHIR's: the precision is kept, and the offset, or that of the place where none is written (chapter 2A.3.22).

/** Gives the offset of a time without one: `+01:00`. */
export type Zone = (local: string) => string

const SHAPE = /^(\d{4})(?:(\d\d)(?:(\d\d)(?:(\d\d)(?:(\d\d)(?:(\d\d)(\.\d{1,6})?)?)?)?)?)?([+-]\d{4})?$/

/**
 * True for what systems write where they have no date: `-`, `N/A`, zeros, and the first and the last day that they know. A discharge or a death on
 * 9999-12-31 has not taken place.
 */
export const isNoDate = (text: string): boolean =>
  /^(?:[^A-Z0-9]+$|N\/?A$|UNK(?:NOWN)?$|0+$|0001|1111|9999|17530101|18000101|1899123[01]|190[01]0101)/i.test(text)

/** Returns `2026-03`, `2026-03-14` or `2026-03-14T10:42:07.5+01:00`; undefined if there is no such time. FHIR needs minutes and seconds with an hour: they are 0 then. */
export function dateTimeOf(text: string, zone: Zone): string | undefined {
  const found = SHAPE.exec(text)
  if (!found) return undefined
  const [, year, month, day, hour, minute = '00', second = '00', fraction = '', offset] = found
  if (!isDate(year!, month, day)) return undefined
  if (hour === undefined) return [year, month, day].filter(each => each !== undefined).join('-')
  if (!isTime(hour, minute, second)) return undefined
  const local = `${year}-${month}-${day}T${hour}:${minute}:${second}`
  const given = offset && `${offset.slice(0, 3)}:${offset.slice(3)}`
  if (given !== undefined && !/^[+-](?:0\d|1[0-4]):[0-5]\d$/.test(given)) return undefined
  return `${local}${fraction}${given ?? zone(local)}`
}

/** A date, which some systems send with a time of day behind it. */
export function dateOf(text: string): string | undefined {
  return dateTimeOf(text, () => '+00:00')?.slice(0, 10)
}

/** `10:42:07`; HL7 can leave out minutes and seconds. */
export function timeOf(text: string): string | undefined {
  const [, hour, minute = '00', second = '00', fraction = ''] =
    /^(\d\d)(?:(\d\d)(?:(\d\d)(\.\d{1,6})?)?)?/.exec(text) ?? []
  if (hour === undefined || !isTime(hour, minute, second)) return undefined
  return `${hour}:${minute}:${second}${fraction}`
}

function isDate(year: string, month = '01', day = '01'): boolean {
  const date = new Date(0)
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day))
  return year !== '0000' && date.getUTCMonth() === Number(month) - 1 && date.getUTCDate() === Number(day)
}

function isTime(hour: string, minute: string, second: string): boolean {
  return Number(hour) < 24 && Number(minute) < 60 && Number(second) < 60
}

const zones = new Map<string, Zone>()

/** Returns the zone of an offset (`+01:00`) or of a name (`Africa/Douala`); undefined if there is no such place. */
export function zoneOf(name: string): Zone | undefined {
  if (/^[+-]\d\d:\d\d$/.test(name)) return () => name
  const known = zones.get(name)
  if (known) return known
  try {
    const zone = zoneBy(new Intl.DateTimeFormat('en-US', { timeZone: name, timeZoneName: 'longOffset' }))
    zones.set(name, zone)
    return zone
  } catch {
    return undefined
  }
}

/** Quarters of an hour whose offsets are remembered: asking for one takes as long as reading a segment. */
const MOST_REMEMBERED = 10_000

function zoneBy(format: Intl.DateTimeFormat): Zone {
  const offsets = new Map<string, string>()
  return local => {
    const quarter = `${local.slice(0, 14)}${Math.floor(Number(local.slice(14, 16)) / 15)}`
    let offset = offsets.get(quarter)
    if (offset === undefined) {
      if (offsets.size >= MOST_REMEMBERED) offsets.clear()
      offsets.set(quarter, (offset = offsetAt(format, local)))
    }
    return offset
  }
}

/** The offset at a local time is that at the moment which it would be in UTC, corrected once by itself. */
function offsetAt(format: Intl.DateTimeFormat, local: string): string {
  const at = (offset: string): string => {
    const moment = new Date(`${local}${offset}`)
    const part = format.formatToParts(moment).find(({ type }) => type === 'timeZoneName')?.value ?? 'GMT'
    return part === 'GMT' ? '+00:00' : part.slice(3)
  }
  return at(at('+00:00'))
}

/** A date, time or dateTime of FHIR as HL7 v2 writes it: `20260314104207+0100`. */
export function writtenTime(time: string): string {
  const [whole, offset = ''] = time.replace(/Z$/, '+00:00').split(/(?<=T.*)(?=[+-])/)
  return `${whole!.replace(/[-:T]/g, '')}${offset.replace(':', '')}`
}
