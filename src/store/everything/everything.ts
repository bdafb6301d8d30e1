// Everything about a patient, or about all of them: compartments first, then what they refer to outside of any compartment,
// each in the order of row numbers, so that a page continues where the last one ended and nothing comes twice.
// https://hl7.org/fhir/R4/operation-patient-everything.html
import { resourceTypes } from '../../definitions/r4.ts'
import { read } from '../read.ts'
import { type Hit, type HitRow, toHit } from '../search/hit.ts'
import { isInPatientCompartment, membersOf } from '../search/sql-compartment.ts'
import { mustBeAllowed, type Session } from '../session.ts'
import { readSeen } from '../sight.ts'
import { typeNumber } from '../type-number.ts'
import { type MemberRow, members } from './members.ts'
import { outsideOfAll, outsideOfOne } from './outside.ts'
import type { EverythingPlace, EverythingRequest, Outside } from './request.ts'

export interface EverythingPage {
  /** Of the compartment. */
  readonly matches: readonly Hit[]
  /** What it refers to. */
  readonly included: readonly Hit[]
  /** How many the compartments have; undefined if they would have to be counted. */
  readonly total: number | undefined
  readonly next: EverythingPlace | undefined
}

/** Returns one page, without types that the caller may not search. @throws Failure NOT_FOUND or GONE for the patient. */
export async function everything(session: Session, request: EverythingRequest): Promise<EverythingPage> {
  mustBeAllowed(session, 'Patient', 's')
  const visible = (type: string): boolean => session.principal.may(type, 's')
  const wanted = (type: string): boolean => visible(type) && (request.types?.includes(type) ?? true)
  const { after, count } = request
  const rows =
    after?.part === 'outside' ? [] : await members(session, { ...request, types: membersOf('Patient').filter(wanted) })
  // A consent may open parts of the record without the patient's identity; where it opens nothing, the reply says so.
  if (request.patient !== undefined && !isPatient(rows[0], request.patient)) {
    await read(session.on, 'Patient', request.patient)
    if (rows.length === 0 && after === undefined) await readSeen(session, 'Patient', request.patient)
  }
  const shown = rows.slice(0, count)
  const matches = shown.map(toHit)
  const total = totalOf(rows, request)
  if (rows.length > count)
    return { matches, included: [], total, next: { part: 'compartment', key: lastKey(shown, request), total } }
  const types = resourceTypes.filter(type => !isInPatientCompartment(type) && wanted(type))
  const room = count - shown.length
  const isWhole = after === undefined && request.since === undefined && request.types === undefined
  const beyond = await outside(session, request, {
    types,
    sources: membersOf('Patient').filter(visible),
    bodies: isWhole ? shown.map(row => row.body) : undefined,
    after: after?.part === 'outside' ? after.key : 0,
    limit: room + 1,
  })
  const included = beyond.slice(0, room)
  const last = included.at(-1)?.key ?? (after?.part === 'outside' ? after.key : 0)
  return {
    matches,
    included: included.map(toHit),
    total,
    next: beyond.length > room ? { part: 'outside', key: last, total } : undefined,
  }
}

/**
 * The first page knows the total: it holds all, or found all of one patient before it took a page of them; later pages receive it.
 */
function totalOf(rows: readonly MemberRow[], { after, count }: EverythingRequest): number | undefined {
  if (after) return after.total
  return rows.length > count ? rows[0]!.found : rows.length
}

/** The patient comes first, whatever its row number: after it alone comes the first row of all. */
function lastKey(rows: readonly HitRow[], { patient, after }: EverythingRequest): number {
  return rows.length === 1 && after === undefined && isPatient(rows[0], patient) ? 0 : rows.at(-1)!.key
}

const isPatient = (row: HitRow | undefined, id: string | undefined): boolean =>
  row !== undefined && row.type === typeNumber('Patient') && row.id === id

function outside(session: Session, request: EverythingRequest, wanted: Outside): Promise<HitRow[]> {
  if (wanted.types.length === 0) return Promise.resolve([])
  return request.patient === undefined
    ? outsideOfAll(session, request, wanted)
    : outsideOfOne(session, { ...request, patient: request.patient }, wanted)
}
