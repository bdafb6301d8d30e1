// Reads and looks that come before anything is shown or changed: may this caller see it?

import { int2Array, textArray } from '../db/arrays.ts'
import { prepared } from '../db/database.ts'
import type { Queryable } from '../db/statement.ts'
import { Failure } from '../lib/failure.ts'
import { shardOf } from './index/shard.ts'
import type { Reading } from './principal.ts'
import { read, readVisible, tried } from './read.ts'
import { type Binder, createBinder } from './search/binder.ts'
import { type Closed, closedColumn } from './search/closed.ts'
import type { SearchRequest } from './search/request.ts'
import { typeNumber } from './type-number.ts'
import type { Version } from './versions.ts'
import type { Visibility } from './visibility.ts'

interface Look {
  readonly subject: string
  readonly is_seen: boolean
}

/**
 * Returns the session in which this resource may be seen: the same, or, in an emergency, one that sees its patient.
 * @throws Failure CONSENT_… if the caller may not see it; nothing for what does not exist.
 */
export async function sighted<Of extends Reading>(session: Of, type: string, id: string): Promise<Of> {
  const { visibility } = session.principal
  if (!visibility) return session
  const look = await lookAt(session.on, visibility, type, id)
  if (!look || look.is_seen) return session
  const patient = visibility.override && (await patientOf(session.on, BigInt(look.subject)))
  if (patient === undefined) throw await visibility.refusal(session.on, BigInt(look.subject))
  const wider = await overriding(session, patient)
  const again = await lookAt(session.on, wider.principal.visibility!, type, id)
  if (again && !again.is_seen) throw await visibility.refusal(session.on, BigInt(look.subject))
  return wider
}

/** The session that sees one patient in an emergency, if the caller declares one; otherwise the same. */
async function overriding<Of extends Reading>(session: Of, patient: string): Promise<Of> {
  const { visibility } = session.principal
  if (!visibility?.override) return session
  return { ...session, principal: { ...session.principal, visibility: await visibility.override(patient) } }
}

/**
 * The session for what is about the patients that a request names: in an emergency, that one patient.
 * @throws Failure MALFORMED_REQUEST if an emergency is declared for none or several.
 */
export async function overridingFor<Of extends Reading>(session: Of, patients: readonly string[]): Promise<Of> {
  if (!session.principal.visibility?.override) return session
  const [only, ...more] = patients
  if (only !== undefined && more.length === 0) return overriding(session, only)
  throw new Failure(
    'MALFORMED_REQUEST',
    'Emergency access covers one patient: specify the patient in the request, such as patient=Patient/123.',
  )
}

async function lookAt(on: Queryable, visibility: Visibility, type: string, id: string): Promise<Look | undefined> {
  const binder = createBinder()
  const [number, named] = [binder.bind(typeNumber(type)), binder.bind(id)]
  const text = `select s.subject::text, ${visibility.resource('s', binder)} as is_seen
    from directory d join search s using (shard, key) where d.type = ${number}::smallint and d.id = ${named}::text`
  const [look] = await on.query<Look>(prepared(text, binder, true))
  return look
}

/** The id of the patient with that hash, if it is stored. */
async function patientOf(on: Queryable, subject: bigint): Promise<string | undefined> {
  const [patient] = await on.query<{ id: string }>({
    name: 'patient-of',
    isFixed: true,
    text: `select p.id from search q join resource p using (shard, key) where q.shard = $1 and q.self = $2 and q.type = ${typeNumber('Patient')}`,
    values: [shardOf(subject), subject],
  })
  return patient?.id
}

/** The current version, if the caller may see it. @throws Failure as read, CONSENT_… */
export async function readSeen(
  session: Reading,
  type: string,
  id: string,
  options: { lock?: boolean } = {},
): Promise<Version & { body: string }> {
  const { on, principal } = session
  if (!principal.visibility) return read(on, type, id, options)
  const found = await readVisible(on, principal.visibility, type, id, options)
  if (found) return found
  const { visibility } = (await sighted(session, type, id)).principal
  return tried(on, type, id, () => readVisible(on, visibility!, type, id, options))
}

/**
 * Returns the remark on a search that finds nothing and names patients whose data the caller may not see, whether they exist or
 * not.
 * @param found who they are, if the search has found that out already
 */
export async function limitsOf(
  { on, principal }: Reading,
  { criteria }: SearchRequest,
  found: readonly string[] | undefined,
): Promise<string[]> {
  const closed = found ?? (principal.visibility ? await closedAmong(on, principal.visibility, criteria) : [])
  return closed.length === 0
    ? []
    : [
        `There is no consent for ${closed.map(id => `Patient/${id}`).join(', ')}, so only what this client wrote itself is shown: have the patient's consent recorded, or declare an emergency.`,
      ]
}

async function closedAmong(
  on: Queryable,
  visibility: Visibility,
  criteria: SearchRequest['criteria'],
): Promise<readonly string[]> {
  const binder = createBinder()
  const [closed] = closedColumn(criteria, { ...binder, visibility })
  if (closed === undefined) return []
  const text = `select ${closed} as closed`
  const [row] = await on.query<Closed>(prepared(text, binder, true))
  return row!.closed ?? []
}

/** Whether a caller may see and change a resource. */
export interface Judged {
  readonly subject: string
  readonly is_seen: boolean
  readonly is_open: boolean
}

/** The columns of `Judged` for a row of `search`. */
export const seenColumns = (row: string, visibility: Visibility, binder: Binder): string =>
  `${row}.subject::text, ${visibility.resource(row, binder)} as is_seen, ${visibility.change(row, binder)} as is_open`

/** @throws Failure CONSENT_… if the caller may not see a resource; FORBIDDEN if it belongs to another owner. */
export async function judged(
  on: Queryable,
  visibility: Visibility,
  { subject, is_seen, is_open }: Judged,
): Promise<void> {
  if (!is_seen) throw await visibility.refusal(on, BigInt(subject))
  if (is_open) return
  throw new Failure(
    'FORBIDDEN',
    'Only the client that recorded a consent can change it; other clients use the consent operations of Connect.',
  )
}

/** Checks that resources to be changed may be seen and changed. @throws Failure as `judged` */
export async function mustSee(
  { on, principal: { visibility } }: Reading,
  named: readonly { readonly type: string; readonly id: string }[],
): Promise<void> {
  if (!visibility || named.length === 0) return
  const binder = createBinder()
  const types = binder.bind(int2Array(named.map(each => typeNumber(each.type))))
  const ids = binder.bind(textArray(named.map(each => each.id)))
  const text = `select * from (
      select ${seenColumns('s', visibility, binder)} from (
        select d.shard, d.key from unnest(${types}::smallint[], ${ids}::text[]) with ordinality as given(type, id) join directory d using (type, id)
      ) placed join search s using (shard, key)
    ) judged where (is_seen and is_open) is not true limit 1`
  const [refused] = await on.query<Judged>(prepared(text, binder, true))
  if (refused) await judged(on, visibility, refused)
}
