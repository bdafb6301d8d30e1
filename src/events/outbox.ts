// The outbox: events are written in the transaction of the change that causes them, so that there is an event exactly where there
// is a change; delivery is separate from the writer.
import { random } from '../lib/ids.ts'
import type { JsonObject } from '../lib/json.ts'
import type { Note } from '../store/access.ts'
import type { Followed, Follower, FollowerContext } from '../store/note.ts'
import type { Origin } from '../store/principal.ts'
import { typeNumber } from '../store/type-number.ts'
import type { Catalogue } from './catalogue.ts'
import type { Change, Occurrence } from './occurrence.ts'

export interface Outbox extends Follower {
  /** Returns the statement that inserts occurrences that no change of a resource shows. */
  occurred(occurrences: readonly Occurrence[], origin: Origin): Note
  /** Calls it whenever this process has inserted something. */
  heard(wake: (kinds: Kinds) => void): void
}

/** What was inserted: events of the catalogue, changes of followed types, or both. */
export interface Kinds {
  readonly events: boolean
  readonly changes: boolean
}

/** An entry on its way into the outbox. */
interface Entry extends Pick<Occurrence, 'source' | 'patient' | 'data' | 'facility' | 'audience'> {
  readonly id: string
  /** Empty for a change that matches no rule. */
  readonly type: string
  /** Ids of all patients that it concerns. */
  readonly patients: readonly string[]
}

/** @param now of this process */
export function createOutbox(catalogue: Catalogue, now: () => Date): Outbox {
  let wake = (_kinds: Kinds): void => {}
  const noteOf = (entries: readonly Entry[], origin: Origin): Note => {
    origin.recorded?.(entries.filter(isEvent).map(({ id }) => id))
    return {
      name: 'events',
      insertion,
      columns,
      rows: rowsOf(entries, origin, now()),
      committed: () => wake({ events: entries.some(isEvent), changes: !entries.every(isEvent) }),
    }
  }
  return {
    async note(changes, origin, { isWatched, read }) {
      const eventful = changes.filter(({ type }) => catalogue.types.has(type)).map(readWhole)
      const around = eventful.length > 0 ? await surroundings(catalogue, eventful, changes, read) : undefined
      const entries = [
        ...eventful.flatMap(change => catalogue.derive(change, around).map(each => entryOf(each, change.patients()))),
        ...changes.filter(({ type }) => isWatched(type)).map(bare),
      ]
      return entries.length === 0 ? undefined : noteOf(entries, origin)
    },
    occurred: (occurrences, origin) =>
      noteOf(
        occurrences.map(each => entryOf(each, [])),
        origin,
      ),
    heard: listener => void (wake = listener),
  }
}

/** Most rounds of reads for one change: what one round reads may name more. */
const mostRounds = 3

/** Reads the resources that the rules need in addition to the changed ones. */
async function surroundings(
  catalogue: Catalogue,
  eventful: readonly Eventful[],
  changes: readonly Followed[],
  read: FollowerContext['read'],
): Promise<Map<string, JsonObject | undefined>> {
  const found = new Map<string, JsonObject | undefined>()
  const isMissing = (): string[] => [...new Set(eventful.flatMap(change => catalogue.missing(change, found)))]
  let names = isMissing()
  if (names.length === 0) return found
  for (const { type, id, resource } of changes) if (resource) found.set(`${type}/${id}`, resource)
  for (let round = 0; round < mostRounds; round++) {
    names = isMissing()
    if (names.length === 0) break
    const stored = await read(names)
    for (const name of names) found.set(name, stored.get(name))
  }
  return found
}

/** A change that may cause events, with the version before it. */
type Eventful = Change & Pick<Followed, 'patients'>

const readWhole = (change: Followed): Eventful => ({ ...change, former: change.former() })

const entryOf = (occurrence: Occurrence, patients: readonly string[]): Entry => ({
  ...occurrence,
  id: newEventId(),
  patients: [...new Set([...(occurrence.patient === undefined ? [] : [occurrence.patient]), ...patients])],
})

const isEvent = ({ type }: Entry): boolean => type !== ''

/** Returns a change for the followers of every change of its type. */
const bare = ({ type, id, version, patients }: Followed): Entry => ({
  id: newEventId(),
  type: '',
  source: { type, id, version },
  patient: undefined,
  patients: patients(),
  data: {},
  facility: '',
  audience: 'readers',
})

let last = 0
let count = 0

/**
 * Returns the id of a new event: milliseconds since 1970, a counter within these, and 64 random bits. Ids of this process sort in
 * the order of creation.
 */
export function newEventId(): string {
  const now = Math.max(Date.now(), last)
  count = now === last ? count + 1 : 0
  last = now
  return `evt_${hex(now, 12)}${hex(count, 4)}${random(8).toString('hex')}`
}

/** Returns an id below those of all events since a moment, and above those before it. */
export const firstEventIdAt = (moment: Date): string => `evt_${hex(Math.max(moment.getTime(), 0), 12)}`

const hex = (value: number, length: number): string => value.toString(16).padStart(length, '0')

const insertion = (arrays: readonly string[]): string =>
  `insert into event_outbox (id, event, type, resource_id, version, happened_at, patient, patients, data, audience, facility_id, organization_id, request_id)
    select id, event, type, resource_id, version, to_timestamp(at / 1000.0), patient, patients, data, audience, facility, organization, request
    from unnest(${arrays.join(', ')})
      as entry(id, event, type, resource_id, version, at, patient, patients, data, audience, facility, organization, request)`

const columns: Note['columns'] = [
  ...(['text', 'text', 'smallint', 'text', 'integer', 'bigint'] as const),
  ...(['text', 'text', 'text', 'text', 'text', 'text', 'text'] as const),
]

const rowsOf = (entries: readonly Entry[], origin: Origin, now: Date): Note['rows'] =>
  entries.map(entry => [
    ...[entry.id, entry.type, typeNumber(entry.source.type), entry.source.id, entry.source.version, now.getTime()],
    ...[entry.patient ?? '', entry.patients.join(' '), JSON.stringify(entry.data)],
    entry.audience === 'readers' ? '*' : JSON.stringify(entry.audience),
    ...[entry.facility, origin.organizationId, origin.requestId],
  ])
