// A patient's records by type: searches of FHIR resources, under the consent for the caller.
import type { TObject } from 'typebox'
import type { Caller } from '../access/caller.ts'
import { openedParts, type Part } from '../access/consent/opened.ts'
import type { Queryable } from '../db/statement.ts'
import { hash64 } from '../lib/hash.ts'
import type { JsonObject } from '../lib/json.ts'
import { allStored } from '../mapping/all-stored.ts'
import type { Called, Translator } from '../mapping/translator.ts'
import type { RegisteredPatient } from '../mpi/patient-of.ts'
import { mergedWith } from '../mpi/register/merged.ts'
import { Diagnosis } from '../shapes/diagnosis.ts'
import { LabResult } from '../shapes/lab-result.ts'
import { Prescription } from '../shapes/prescription.ts'
import { VitalSign } from '../shapes/vital-sign.ts'
import { asOperation } from '../store/operation.ts'
import { undatedTypes } from '../store/search/undated.ts'
import type { Acting } from '../store/unit-of-work.ts'
import { inOrder } from './in-order.ts'

const category = 'http://terminology.hl7.org/CodeSystem/observation-category'

/** One kind of records. */
export interface Kind<Name extends string = string> extends Part {
  readonly name: Name
  /** The map from FHIR to the shape. */
  readonly map: string
  readonly shape: TObject
  /** The parameter of the date by which they are ordered. */
  readonly date: string
  /** The search criteria in addition to the patient. */
  readonly query: Readonly<Record<string, string>>
}

type RecordsKind = Kind<'diagnoses' | 'prescriptions' | 'lab_results' | 'vitals'>

const observations = (name: 'lab_results' | 'vitals', code: string, map: string, shape: TObject): RecordsKind => ({
  name,
  type: 'Observation',
  code: { system: category, code },
  map,
  shape,
  date: 'date',
  query: { category: code },
})

export const kinds: readonly RecordsKind[] = [
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

/** What a caller may see of the requested parts of a record. */
export interface Sight<Of extends Part> {
  /** The caller with the visibility that applies. */
  readonly caller: Caller
  readonly shown: readonly Of[]
  /** The parts that no consent opens. */
  readonly withheld: readonly Of[]
  /** The id of the Consent that opens them. Undefined if the caller needs none. */
  readonly consent: string | undefined
}

/** @throws Failure CONSENT_… if none of the parts is open. */
export async function sightOf<Of extends Part>(
  on: Queryable,
  caller: Caller,
  patient: string,
  wanted: readonly Of[],
): Promise<Sight<Of>> {
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
  readonly data: Readonly<Partial<Record<RecordsKind['name'], readonly JsonObject[]>>>
  /** Where the next page of each kind begins that has one. */
  readonly next: ReadonlyMap<string, string>
  /** Stored resources that cannot be written in the shape of their kind. */
  readonly unreadable: number
}

export interface RecordsParts extends Pick<Acting, 'databaseFor' | 'storeFor'> {
  readonly translator: Translator
}

export interface RecordsRequest extends Called {
  readonly caller: Caller
}

/** The records of these kinds, the newest of each first; one that has come to its end is left out. */
export async function recordsOf(
  parts: RecordsParts,
  request: RecordsRequest,
  subject: RegisteredPatient,
  shown: readonly RecordsKind[],
  slice: Slice,
): Promise<Page> {
  const same = await samePatients(parts, request.caller, subject)
  const due = slice.after ? shown.filter(({ name }) => slice.after!.has(name)) : shown
  const query = `connect/patient/${subject.healthId}/records?type=${due.map(({ name }) => name).join(',')}`
  const operation = { type: 'Patient', id: subject.patient, query }
  const pages = await asOperation(request.caller, operation, async caller => {
    const person = { ...subject, same, undated: await undatedOf(parts, caller, same, due) }
    const result = await Promise.all(due.map(kind => pageOf(parts, { ...request, caller }, person, kind, slice)))
    return { result, patients: same, resources: result.reduce((sum, page) => sum + page.records.length, 0) }
  })
  return {
    data: Object.fromEntries(pages.map(({ kind, records }) => [kind.name, records])),
    next: new Map(pages.flatMap(({ kind, next }) => (next === undefined ? [] : [[kind.name, next] as const]))),
    unreadable: pages.reduce((sum, page) => sum + page.unreadable, 0),
  }
}

/** Returns the ids of the patients that are the same person as the subject. */
export async function samePatients(
  { databaseFor }: Pick<RecordsParts, 'databaseFor'>,
  caller: Caller,
  { patient, isMerged }: RegisteredPatient,
): Promise<readonly string[]> {
  return isMerged ? (await mergedWith(databaseFor(caller), [patient])).get(patient)! : [patient]
}

/** Whose records are read. */
interface Person extends Omit<RegisteredPatient, 'isMerged'> {
  /** Ids of the patients that are the same person. */
  readonly same: readonly string[]
  /** The types of which there is something without a clinical date. */
  readonly undated: ReadonlySet<string>
}

/** Returns the types of these kinds of which the patients have something without a clinical date. */
export const undatedOf = (
  { databaseFor }: Pick<RecordsParts, 'databaseFor'>,
  caller: Caller,
  patients: readonly string[],
  kinds: readonly Kind[],
): Promise<ReadonlySet<string>> =>
  undatedTypes(databaseFor(caller), patients, [...new Set(kinds.map(({ type }) => type))])

/** A page of the records of one kind. */
export interface KindPage<Of extends Kind> {
  readonly kind: Of
  readonly records: readonly JsonObject[]
  /** Stored resources that cannot be represented in the shape. */
  readonly unreadable: number
  /** Where the next page begins; undefined on the last one. */
  readonly next: string | undefined
}

/** Searches the records of one kind as the caller may see them. Resources entered in error are omitted. */
export async function pageOf<Of extends Kind>(
  parts: RecordsParts,
  request: RecordsRequest,
  { patient, healthId, same, undated }: Person,
  kind: Of,
  { after, ...bounds }: Slice,
): Promise<KindPage<Of>> {
  const opens = (type: string, interaction: string): boolean => type === kind.type && interaction === 's'
  const store = parts.storeFor({ ...request.caller, may: opens })
  const query = [['patient', same.join(',')] as const, ...Object.entries(kind.query)]
  const listed = { type: kind.type, date: kind.date, query, undated }
  const { bodies, next } = await inOrder(store, listed, { ...bounds, after: after?.get(kind.name) })
  const context = { ...parts.translator.contextOf(request), patient_id: patient, health_id: healthId }
  const stored = await allStored(parts.translator, kind, bodies, context)
  const meant = stored.filter(({ isInError }) => !isInError)
  const records = meant.flatMap(({ record }) => (record ? [record as JsonObject] : []))
  return { kind, records, unreadable: meant.length - records.length, next }
}
