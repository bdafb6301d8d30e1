// Checks who may change the rules of a Consent, in the transaction of every write and for every interface
// (docs/decisions/0048-refusals-stand.md). The rules that one party recorded can be ended by that party, by the patient
// or by an exempt client.

import { int8Array, textArray } from '../../db/arrays.ts'
import type { Queryable } from '../../db/statement.ts'
import { Failure } from '../../lib/failure.ts'
import { hash64 } from '../../lib/hash.ts'
import { type JsonObject, parseJson } from '../../lib/json.ts'
import { authorHash } from '../../store/author.ts'
import type { Base } from '../../store/base.ts'
import type { Principal } from '../../store/principal.ts'
import type { Projected } from '../../store/projection.ts'
import { entriesOf, lastVersionsOf } from '../../store/relations.ts'
import { typeNumber } from '../../store/type-number.ts'
import { patientIn, type Rule, refusesEmergencies, rulesOf } from './rules.ts'

const consentType = `${typeNumber('Consent')}::smallint`

/** The author of a write. */
type Writer = Pick<Principal, 'author' | 'party'>

interface Recorder {
  readonly party: bigint
  readonly organization: bigint
}

export interface GuardParts {
  /** Address of this server's FHIR endpoint. */
  readonly base: Base
  readonly now: () => Date
  /** Returns the ids of all patients that are the same person as this one, itself included. */
  readonly same: (patient: string) => Promise<readonly string[]>
}

/**
 * Notes the recorder of the rules of these Consents, which have just been written.
 * @throws Failure CONFLICT if the writer ends or extends what another party recorded
 */
export async function guardRules(
  on: Queryable,
  consents: readonly Projected[],
  writer: Writer,
  parts: GuardParts,
): Promise<void> {
  const [former, recorders] = [await formerOf(on, consents), await recordersOf(on, consents)]
  const time = parts.now().getTime()
  const recorded: string[] = []
  for (const { id, resource } of consents) {
    const before = saidBy(former.get(id), parts.base, time)
    const after = saidBy(resource, parts.base, time)
    const isOwn = before.size === 0 || isOwnParty(recorders.get(id)!, writer)
    if (!isOwn && !(await mayEnd(former.get(id)!, writer, parts))) mustKeep(id, before, after, writer)
    if ([...after.keys()].some(key => !before.has(key))) recorded.push(id)
  }
  await note(on, recorded, writer)
  const gone = consents.filter(({ resource }) => !resource)
  await forget(
    on,
    gone.map(({ id }) => id),
  )
}

/** Returns those of these Consents (ids) whose rules the writer or another client of its organisation recorded. */
export async function ownAmong(on: Queryable, ids: readonly string[], writer: Writer): Promise<Set<string>> {
  const recorders = await recordersOf(
    on,
    ids.map(id => ({ id })),
  )
  return new Set(ids.filter(id => isOwnParty(recorders.get(id)!, writer)))
}

/** Returns the last version of each before this write that was not deleted, if there is one. */
async function formerOf(on: Queryable, consents: readonly Projected[]): Promise<Map<string, JsonObject>> {
  const rows = await on.query<{ id: string; body: string | null }>({
    name: 'consent-former',
    text: `select last.id, last.body from ${lastVersionsOf(
      `(select ${consentType} as type, id, is_stored from unnest($1::text[], $2::text[]) with ordinality as given(id, is_stored))`,
      "(placed.is_stored = 'true' or h.body is not null)",
    )} last`,
    values: [
      textArray(consents.map(({ id }) => id)),
      textArray(consents.map(({ resource }) => String(resource !== undefined))),
    ],
  })
  return new Map(rows.flatMap(({ id, body }) => (body === null ? [] : [[id, parseJson(body) as JsonObject] as const])))
}

/**
 * Returns the recorder of each Consent. Rules that no write put in force, because they name an address that became the
 * service's own later, belong to their author.
 */
async function recordersOf(on: Queryable, consents: readonly { id: string }[]): Promise<Map<string, Recorder>> {
  const rows = await on.query<{ consent: string; party: string; organization: string }>({
    name: 'consent-recorders',
    text: `with entry as materialized (
        select id, author from ${entriesOf(`(select ${consentType} as type, id from unnest($1::text[]) as given(id))`)} entries
      ), last as materialized (
        select id, author from ${lastVersionsOf(`(select ${consentType} as type, id from unnest($1::text[]) as given(id))`, 'true')} versions
      )
      select given.consent, coalesce(w.organization, 0)::text as organization, coalesce(w.party, entry.author, last.author)::text as party
      from unnest($1::text[]) as given(consent) left join consent_recorder w using (consent)
        left join entry on entry.id = given.consent left join last on last.id = given.consent`,
    values: [textArray(consents.map(({ id }) => id))],
  })
  return new Map(
    rows.map(({ consent, party, organization }) => [
      consent,
      { party: BigInt(party), organization: BigInt(organization) },
    ]),
  )
}

type Said = Pick<Rule, 'effect' | 'organization'>

/** Returns the rules of a Consent that apply now or later, each as a text of all its members. */
function saidBy(consent: JsonObject | undefined, base: Base, time: number): Map<string, Said> {
  if (!consent) return new Map()
  const patient = patientIn(consent, base)
  const rules = rulesOf(consent, base).filter(({ until }) => until > time)
  const said = rules.map(({ consent: _consent, from, until, ...rule }): [string, Said] => [
    JSON.stringify([patient, rule, String(from), String(until)]),
    rule,
  ])
  const closing: [string, Said][] = refusesEmergencies(consent)
    ? [[JSON.stringify([patient]), { effect: 'deny', organization: undefined }]]
    : []
  return new Map([...said, ...closing])
}

const organizationHash = ({ party }: Writer): bigint =>
  party.organizationId ? hash64(`Organization/${party.organizationId}`) : 0n

function isOwnParty({ party, organization }: Recorder, writer: Writer): boolean {
  return party === authorHash(writer.author) || (organization !== 0n && organization === organizationHash(writer))
}

/** Returns true if the writer may end the rules of every party: an exempt client, or the patient. */
async function mayEnd(consent: JsonObject, { party }: Writer, { base, same }: GuardParts): Promise<boolean> {
  if (party.ends === 'all') return true
  const patient = patientIn(consent, base)
  return party.ends !== undefined && (await same(party.ends.patient)).some(each => each === patient)
}

/** Requires that only permissions of the writer's own organisation end, and that no rule is added. @throws Failure CONFLICT */
function mustKeep(
  id: string,
  before: ReadonlyMap<string, Said>,
  after: ReadonlyMap<string, Said>,
  { party }: Writer,
): void {
  if ([...before.values()].some(({ effect }) => effect === 'deny')) throw refusalStands(id)
  const own = `Organization/${party.organizationId}`
  const isKept = [...before].every(([key, { organization }]) => after.has(key) || organization === own)
  if (!isKept || [...after.keys()].some(key => !before.has(key))) throw notOwn(id)
}

/** The failure for a Consent that holds a refusal of another party: it states who can end it. */
export const refusalStands = (id: string): Failure =>
  conflict(
    id,
    'contains a refusal that another party recorded, so this client cannot change or end it. The patient (on a mobile device), the organisation that recorded it or the record-keeping system (a consent-exempt client) can',
  )

/** The failure for a change of rules in a Consent of another party. */
export const notOwn = (id: string): Failure =>
  conflict(
    id,
    'contains rules that another party recorded. This client can only end the permission of its own organisation (consent/revoke). The patient (on a mobile device), the organisation that recorded the rules or the record-keeping system (a consent-exempt client) can change the rest',
  )

function conflict(id: string, message: string): Failure {
  const field = `Consent/${id}`
  return new Failure('CONFLICT', `${field} ${message}.`, {
    isFinal: true,
    issue: 'business-rule',
    details: [{ field, code: 'business-rule', message }],
  })
}

async function note(on: Queryable, ids: readonly string[], writer: Writer): Promise<void> {
  if (ids.length === 0) return
  await on.run({
    name: 'consent-recorded',
    text: `insert into consent_recorder (consent, party, organization)
      select unnest($1::text[]), ($2::bigint[])[1], ($2::bigint[])[2]
      on conflict (consent) do update set party = excluded.party, organization = excluded.organization`,
    values: [textArray(ids), int8Array([authorHash(writer.author), organizationHash(writer)])],
  })
}

async function forget(on: Queryable, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  await on.run({
    name: 'consent-recorder-gone',
    text: 'delete from consent_recorder where consent = any($1::text[])',
    values: [textArray(ids)],
  })
}
