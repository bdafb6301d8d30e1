// A patient's records by type: searches of FHIR resources, under the consent for the caller.
import type { TObject } from 'typebox'
import type { Caller } from '../access/caller.ts'
import { openedParts, type Part } from '../access/consent/opened.ts'
import type { Queryable } from '../db/statement.ts'
import { hash64 } from '../lib/hash.ts'
import { type JsonObject, parseJson } from '../lib/json.ts'
import type { Called, Translator } from '../mapping/translator.ts'
import type { RegisteredPatient } from '../mpi/patient-of.ts'
import { mergedWith } from '../mpi/register/merged.ts'
import { Diagnosis } from '../shapes/diagnosis.ts'
import { LabResult } from '../shapes/lab-result.ts'
import { Prescription } from '../shapes/prescription.ts'
import { VitalSign } from '../shapes/vital-sign.ts'
import { asOperation } from '../store/operation.ts'
import { encodeCursor } from '../store/search/request.ts'
import type { Acting } from '../store/unit-of-work.ts'

const category = 'http://terminology.hl7.org/CodeSystem/observation-category'

/** One kind of records. */
export interface Kind extends Part {
  readonly name: 'diagnoses' | 'prescriptions' | 'lab_results' | 'vitals'
  readonly map: string
  readonly shape: TObject
  /** The parameter of the date by which they are ordered. */
  readonly date: string
  /** What a search for them asks beside the patient. */
  readonly query: Readonly<Record<string, string>>
}

const observations = (name: 'lab_results' | 'vitals', code: string, map: string, shape: TObject): Kind => ({
  name,
  type: 'Observation',
  code: { system: category, code },
  map,
  shape,
  date: 'date',
  query: { category: code },
})

export const kinds: readonly Kind[] = [
  {
    name: 'diagnoses',
    type: 'Condition',
    map: 'diagnosis-from-fhir',
    shape: Diagnosis,
    date: 'recorded-date',
    query: {},
  },
  {
    name: 'prescriptions',
    type: 'MedicationRequest',
    map: 'prescription-from-fhir',
    shape: Prescription,
    date: 'authoredon',
    query: {},
  },
  observations('lab_results', 'laboratory', 'lab-result-from-fhir', LabResult),
  observations('vitals', 'vital-signs', 'vital-sign-from-fhir', VitalSign),
]

/** What the caller sees, of the kinds that are asked for. */
export interface Sight {
  /** The caller, who sees them. */
  readonly caller: Caller
  readonly shown: readonly Kind[]
  /** Kinds that no consent opens. */
  readonly withheld: readonly Kind[]
  /** The Consent that opens them; undefined where none is asked. */
  readonly consent: string | undefined
}

/** @throws Failure CONSENT_… if nothing of it is opened. */
export async function sightOf(on: Queryable, caller: Caller, patient: string, wanted: readonly Kind[]): Promise<Sight> {
  const { visibility } = caller
  const whole = { caller, shown: wanted, withheld: [], consent: undefined }
  if (!visibility) return whole
  if (visibility.override) return { ...whole, caller: { ...caller, visibility: await visibility.override(patient) } }
  const { parts: shown, consent } = await openedParts(on, caller, patient, wanted)
  if (shown.length === 0) throw await visibility.refusal(on, hash64(`Patient/${patient}`))
  return { caller, shown, withheld: wanted.filter(kind => !shown.includes(kind)), consent }
}

/** What part of the records is asked for. */
export interface Slice {
  readonly since: string | undefined
  readonly until: string | undefined
  readonly limit: number
  /** Where the page of each kind begins; undefined: at the beginning of all. */
  readonly after: ReadonlyMap<string, string> | undefined
}

export interface Page {
  readonly data: Readonly<Partial<Record<Kind['name'], readonly JsonObject[]>>>
  /** Where the next page of each kind begins that has one. */
  readonly next: ReadonlyMap<string, string>
  /** Stored resources that cannot be written in the shape of their kind. */
  readonly unreadable: number
}

export interface RecordsParts extends Pick<Acting, 'databaseFor' | 'storeFor'> {
  readonly translator: Translator
}

interface Request extends Called {
  readonly caller: Caller
}

/** The records of these kinds, the newest of each first; one that has come to its end is left out. */
export async function recordsOf(
  parts: RecordsParts,
  request: Request,
  subject: RegisteredPatient,
  shown: readonly Kind[],
  slice: Slice,
): Promise<Page> {
  const same = subject.isMerged
    ? (await mergedWith(parts.databaseFor(request.caller), [subject.patient])).get(subject.patient)!
    : [subject.patient]
  const due = slice.after ? shown.filter(({ name }) => slice.after!.has(name)) : shown
  const query = `connect/patient/${subject.healthId}/records?type=${due.map(({ name }) => name).join(',')}`
  const operation = { type: 'Patient', id: subject.patient, query }
  const pages = await asOperation(request.caller, operation, async caller => {
    const result = await Promise.all(
      due.map(kind => pageOf(parts, { ...request, caller }, { ...subject, same }, kind, slice)),
    )
    return { result, patients: same, resources: result.reduce((sum, page) => sum + page.records.length, 0) }
  })
  return {
    data: Object.fromEntries(pages.map(({ kind, records }) => [kind.name, records])),
    next: new Map(pages.flatMap(({ kind, next }) => (next === undefined ? [] : [[kind.name, next] as const]))),
    unreadable: pages.reduce((sum, page) => sum + page.unreadable, 0),
  }
}

async function pageOf(
  parts: RecordsParts,
  request: Request,
  { patient, healthId, same }: RegisteredPatient & { readonly same: readonly string[] },
  kind: Kind,
  { since, until, limit, after }: Slice,
) {
  const opens = (type: string, interaction: string): boolean => type === kind.type && interaction === 's'
  const store = parts.storeFor({ ...request.caller, may: opens })
  const query: [string, string][] = [
    ['patient', same.join(',')],
    ...Object.entries(kind.query),
    ['_count', String(limit)],
  ]
  if (since !== undefined) query.push([kind.date, `ge${since}`])
  if (until !== undefined) query.push([kind.date, `le${until}`])
  const cursor = after?.get(kind.name)
  if (cursor !== undefined) query.push(['_cursor', cursor])
  const { matches, next } = await store.search(store.parse([kind.type], query, true))
  const context = { ...parts.translator.contextOf(request), patient_id: patient, health_id: healthId }
  const resources = matches.map(({ body }) => parseJson(body) as JsonObject).filter(isMeant)
  const records = resources.flatMap(each => parts.translator.fromFhir(kind.map, kind.shape, each, context) ?? [])
  return { kind, records, unreadable: resources.length - records.length, next: next && encodeCursor(next) }
}

/** Returns false for what was entered in error. */
function isMeant({ status, verificationStatus }: JsonObject): boolean {
  if (status === 'entered-in-error') return false
  const codes = (verificationStatus as { coding?: readonly { code?: string }[] } | undefined)?.coding ?? []
  return !codes.some(({ code }) => code === 'entered-in-error')
}
