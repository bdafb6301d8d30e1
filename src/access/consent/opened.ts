// Which parts of a patient's record consents open to a client now: for operations that state what they withhold.
import { int8Array, textArray } from '../../db/arrays.ts'
import { lookUp, type Placed, questionOf } from '../../db/look-up.ts'
import type { Queryable } from '../../db/statement.ts'
import { hash64 } from '../../lib/hash.ts'
import { typeNumber } from '../../store/type-number.ts'
import { type Code, postingsOf } from './codes.ts'
import { usualPurpose } from './purposes.ts'

/** A part of a record: resources of a type, or those of a code. */
export interface Part {
  readonly type: string
  readonly code?: Code
}

export interface Opened<Of extends Part> {
  readonly parts: readonly Of[]
  /** Id of the Consent that opens the first of them. */
  readonly consent: string | undefined
}

interface GrantRow {
  readonly types: number[] | null
  readonly codes: string[] | null
  readonly except_codes: string[] | null
  readonly consent: string
  /** In ms; null: without end. */
  readonly until: number | null
}

/** The organisation for which something is open, and the purpose; empty: treatment. */
interface PartViewer {
  readonly organizationId: string
  readonly purpose: string
}

/** What consents open of one type to an organisation now: all resources of it, some, or none. */
export interface TypeOpening {
  readonly extent: 'all' | 'some' | 'none'
  /** The Consents (ids) that open it, each with the end of what it opens; undefined: none. */
  readonly consents: readonly { readonly id: string; readonly until: Date | undefined }[]
}

/** Returns what is open of a type to a viewer. Resources that the client wrote itself are not considered here. */
export async function openingOf(
  on: Queryable,
  viewer: PartViewer,
  patient: string,
  type: string,
): Promise<TypeOpening> {
  const grants = (await grantsNow(on, viewer, patient)).filter(grant => isOpenedBy({ type }, grant))
  const isWhole = grants.some(grant => grant.codes === null && grant.except_codes === null)
  return {
    extent: isWhole ? 'all' : grants.length > 0 ? 'some' : 'none',
    consents: grants.map(({ consent, until }) => ({
      id: consent,
      until: until === null ? undefined : new Date(until),
    })),
  }
}

/** Returns those of the parts that are open. Resources that the client wrote itself are not considered here. */
export async function openedParts<Of extends Part>(
  on: Queryable,
  viewer: PartViewer,
  patient: string,
  parts: readonly Of[],
): Promise<Opened<Of>> {
  const grants = await grantsNow(on, viewer, patient)
  const opening = (part: Of): GrantRow | undefined => grants.find(grant => isOpenedBy(part, grant))
  const opened = parts.filter(opening)
  return { parts: opened, consent: opened.map(opening)[0]?.consent }
}

/** What is open of a patient. */
interface Grants extends Placed {
  readonly grants: readonly GrantRow[]
}

const askedGrants = questionOf({
  name: 'consent-opened',
  text: `select asked.place::integer, json_agg(json_build_object('types', g.types, 'codes', g.codes::text[],
      'except_codes', g.except_codes::text[], 'consent', g.consent,
      'until', case when isfinite(g.ends_at) then extract(epoch from g.ends_at)::float8 * 1000 end)) as grants
    from unnest($1::bigint[], $2::bigint[], $3::text[]) with ordinality as asked(organization, patient, purpose, place)
      join consent_grant g on g.organization = asked.organization and g.patient = asked.patient
    where g.starts_at <= statement_timestamp() and g.ends_at > statement_timestamp()
      and (g.purposes is null or asked.purpose = any(g.purposes))
    group by asked.place`,
  constants: [],
  arrays: [int8Array, int8Array, textArray],
})

async function grantsNow(on: Queryable, viewer: PartViewer, patient: string): Promise<readonly GrantRow[]> {
  const organization = hash64(`Organization/${viewer.organizationId}`)
  const key = [organization, hash64(`Patient/${patient}`), viewer.purpose || usualPurpose]
  return (await lookUp<Grants>(on, { question: askedGrants, key }))?.grants ?? []
}

function isOpenedBy({ type, code }: Part, { types, codes, except_codes: except }: GrantRow): boolean {
  if (types && !types.includes(typeNumber(type))) return false
  if (!code) return true
  const postings = postingsOf([code], [type]).map(String)
  const has = (list: readonly string[]): boolean => postings.some(posting => list.includes(posting))
  return (codes === null || has(codes)) && (except === null || !has(except))
}

/** Returns whether a Consent (id) opens anything of the patient's (id) record, to any organisation, now or later. */
export async function isOpening(on: Queryable, patient: string, consent: string): Promise<boolean> {
  const [granted] = await on.query({
    name: 'consent-opens',
    isFixed: true,
    text: 'select 1 from consent_grant where patient = $1 and consent = $2 limit 1',
    values: [hash64(`Patient/${patient}`), consent],
  })
  return granted !== undefined
}
