// The organisations and facilities that an organisation speaks for: itself, what it recorded, what is part of it.

import { textArray } from '../../db/arrays.ts'
import type { Queryable } from '../../db/statement.ts'
import { isObject, type JsonObject, parseJson } from '../../lib/json.ts'
import type { Base } from '../base.ts'
import { typeNumber } from '../type-number.ts'
import { idIn } from '../values.ts'

/** Which of these organisations have clients of their own. */
export type Registered = (on: Queryable, organizations: readonly string[]) => Promise<ReadonlySet<string>>

/** The context of a question about speaking for an organisation. */
export interface Ground {
  readonly on: Queryable
  readonly registered: Registered
  /** Address of this server's FHIR endpoint. */
  readonly base: Base
}

/** What an organisation speaks for, among the ids in question. */
export interface Speaker {
  organization(id: string): boolean
  location(id: string): boolean
  /** Organization and Location of this id, whichever are stored or registered: all of them, and at least one. */
  facility(id: string): boolean
  /** What has this id. */
  known(id: string): KnownParty
}

/** An Organization or a Location that is stored. */
interface Entry {
  /** As the column says. */
  readonly owner: string | null
  /** The parent of an Organization, or the managing organisation of a Location. */
  readonly above: string | undefined
}

/** What an id stands for. */
export interface KnownParty {
  readonly isRegistered: boolean
  readonly organization?: Entry
  readonly location?: Entry
}

/** What the same write creates, by id. */
export type Created = ReadonlyMap<string, Omit<KnownParty, 'isRegistered'>>

/** Levels of organisations above each other. */
const deepest = 10

/** Returns the ids that the organisation `own` speaks for. */
export async function speakerFor(
  ground: Ground,
  own: string,
  ids: Iterable<string>,
  created: Created = new Map(),
): Promise<Speaker> {
  const facts = new Map<string, KnownParty>()
  let next = new Set(ids)
  for (let level = 0; level <= deepest && next.size > 0; level++) {
    for (const [id, each] of await learn(ground, [...next], created)) facts.set(id, each)
    const further = [...next].flatMap(id => [...above(id, facts.get(id)!), ...managers(facts.get(id)!)])
    next = new Set(further.filter(id => id !== own && !facts.has(id)))
  }
  const known = (id: string): KnownParty => facts.get(id) ?? { isRegistered: false }
  const organization = (id: string): boolean => leads(id, own, facts)
  const location = (id: string): boolean => managers(known(id)).some(organization)
  return {
    ...{ known, organization, location },
    facility(id) {
      if (id === own) return true
      const { isRegistered, organization: entry, location: place } = known(id)
      const isOrganization = isRegistered || entry !== undefined
      if (isOrganization && !organization(id)) return false
      return place ? location(id) : isOrganization
    },
  }
}

function leads(from: string, own: string, facts: ReadonlyMap<string, KnownParty>): boolean {
  const seen = new Set<string>()
  let at = [from]
  for (let level = 0; level <= deepest && at.length > 0; level++) {
    if (at.includes(own)) return true
    for (const id of at) seen.add(id)
    at = at.flatMap(id => above(id, facts.get(id))).filter(id => !seen.has(id))
  }
  return false
}

/** The organisations that speak for an organisation because of its entry. */
function above(id: string, known: KnownParty | undefined): string[] {
  if (!known?.organization) return []
  const { owner, above: whole } = known.organization
  if (!known.isRegistered) return [owner, whole].filter(isNamed)
  // What others recorded of it before it had clients does not count as its own statement.
  return owner === id || !owner ? [whole].filter(isNamed) : []
}

/** The organisation that a Location belongs to, if it belongs to one. */
const managers = ({ location }: KnownParty): string[] =>
  location ? [location.above ?? location.owner].filter(isNamed) : []

const isNamed = (id: string | null | undefined): id is string => Boolean(id)

interface Row {
  readonly id: string
  readonly organization: string | null
  readonly organization_owner: string | null
  readonly location: string | null
  readonly location_owner: string | null
}

const storedOf = (type: string): string =>
  `(select d.id, r.body, s.owner from directory d join resource r using (shard, key) join search s using (shard, key)
        where d.type = ${typeNumber(type)})`

async function learn({ on, registered, base }: Ground, ids: readonly string[], created: Created) {
  const rows = await on.query<Row>({
    name: 'organisations-and-places',
    text: `select given.id, o.body as organization, o.owner as organization_owner, l.body as location, l.owner as location_owner
      from unnest($1::text[]) as given(id)
      left join ${storedOf('Organization')} o on o.id = given.id
      left join ${storedOf('Location')} l on l.id = given.id`,
    values: [textArray(ids)],
  })
  const clients = await registered(on, ids)
  return rows.map((row): [string, KnownParty] => [
    row.id,
    {
      isRegistered: clients.has(row.id),
      ...stored('organization', entryOf(row.organization, row.organization_owner, 'partOf', base)),
      ...stored('location', entryOf(row.location, row.location_owner, 'managingOrganization', base)),
      ...created.get(row.id),
    },
  ])
}

const stored = (kind: 'organization' | 'location', entry: Entry | undefined) => (entry ? { [kind]: entry } : {})

function entryOf(body: string | null, owner: string | null, element: string, base: Base): Entry | undefined {
  if (body === null) return undefined
  const resource = parseJson(body)
  return { owner, above: isObject(resource) ? idIn(resource[element], 'Organization', base) : undefined }
}

/** An entry that is about to be created. @param owner the organisation of its author */
export const entryFor = (resource: JsonObject, owner: string, base: Base): Omit<KnownParty, 'isRegistered'> =>
  resource['resourceType'] === 'Organization'
    ? { organization: { owner, above: undefined } }
    : { location: { owner, above: idIn(resource['managingOrganization'], 'Organization', base) } }
