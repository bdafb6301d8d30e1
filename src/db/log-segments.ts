// Names of the segments of PostgreSQL's write-ahead log: timeline, log and segment, eight hexadecimal digits each.

const digits = 8
const bytesOfLog = 2 ** 32

/** The names from one segment to another of the same timeline, both included. @throws Error if they are of different timelines. */
export function segmentsBetween(first: string, last: string, segmentBytes: number): string[] {
  const timeline = first.slice(0, digits)
  if (last.slice(0, digits) !== timeline)
    throw new Error(`The log changed its timeline between the segments ${first} and ${last}.`)
  const from = placeOf(first, segmentBytes)
  return Array.from({ length: placeOf(last, segmentBytes) - from + 1 }, (_, index) =>
    nameOf(timeline, from + index, segmentBytes),
  )
}

/** How many segments of its timeline come before this one. */
function placeOf(name: string, segmentBytes: number): number {
  const [log, segment] = [name.slice(digits, 2 * digits), name.slice(2 * digits)].map(text => Number.parseInt(text, 16))
  return log! * (bytesOfLog / segmentBytes) + segment!
}

function nameOf(timeline: string, place: number, segmentBytes: number): string {
  const perLog = bytesOfLog / segmentBytes
  const parts = [Math.floor(place / perLog), place % perLog]
  return timeline + parts.map(part => part.toString(16).toUpperCase().padStart(digits, '0')).join('')
}
