// The summary of a patient (interface §2.15, decisions §12): searches of FHIR resources, under the consent for the caller.
import type { Part } from '../access/consent/opened.ts'
import { type JsonObject, parseJson } from '../lib/json.ts'
import type { RegisteredPatient } from '../mpi/patient-of.ts'
import { AllergyRecord } from '../shapes/allergy.ts'
import { Demographics } from '../shapes/demographics.ts'
import type { Filled } from '../shapes/filled.ts'
import { LabResult } from '../shapes/lab-result.ts'
import { Prescription } from '../shapes/prescription.ts'
import { Visit } from '../shapes/visit.ts'
import { asOperation } from '../store/operation.ts'
import { bloodGroupOf } from './blood-group.ts'
import {
  type Kind,
  pageOf,
  type RecordsParts,
  type RecordsRequest,
  samePatients,
  sightOf,
  undatedOf,
} from './records.ts'

export type SectionName = 'active_medications' | 'active_allergies' | 'recent_labs' | 'recent_visits'

/** A list of a summary, newest first. */
export interface Section extends Kind<SectionName> {
  readonly limit: number
  /** True if only the records of the last twelve months count. */
  readonly isRecent?: true
  /** Which of the records belong here, beyond what the search can ask. */
  readonly keeps?: (record: JsonObject) => boolean
}

/** Lists that warn of a danger are long enough to be complete for nearly every patient; the others show the newest. */
const complete = 100
const few = 10

const clinical = 'http://terminology.hl7.org/CodeSystem/allergyintolerance-clinical'

export const sections: readonly Section[] = [
  {
    name: 'active_medications',
    type: 'MedicationRequest',
    map: 'prescription-from-fhir',
    shape: Prescription,
    date: 'authoredon',
    query: { status: 'active' },
    limit: complete,
    keeps: ({ status }) => status === 'active',
  },
  {
    name: 'active_allergies',
    type: 'AllergyIntolerance',
    map: 'allergy-from-fhir',
    shape: AllergyRecord,
    date: 'date',
    // Without a clinical status an allergy counts as active.
    query: { 'clinical-status:not': `${clinical}|inactive,${clinical}|resolved` },
    limit: complete,
    keeps: ({ status }) => status === 'active',
  },
  {
    name: 'recent_labs',
    type: 'Observation',
    code: { system: 'http://terminology.hl7.org/CodeSystem/observation-category', code: 'laboratory' },
    map: 'lab-result-from-fhir',
    shape: LabResult,
    date: 'date',
    query: { category: 'laboratory' },
    limit: few,
    isRecent: true,
  },
  {
    name: 'recent_visits',
    type: 'Encounter',
    map: 'visit-from-fhir',
    shape: Visit,
    date: 'date',
    query: {},
    limit: few,
    isRecent: true,
  },
]

const person: Part & { readonly name: 'patient' } = { name: 'patient', type: 'Patient' }

export interface Summary {
  /** Undefined if no consent opens the Patient. */
  readonly patient: Filled<typeof Demographics> | undefined
  readonly bloodGroup: Filled<typeof Demographics>['blood_group']
  readonly lists: Readonly<Record<SectionName, readonly JsonObject[]>>
  /** Sections that no consent opens. */
  readonly withheld: readonly (SectionName | 'patient')[]
  /** Sections that have more records than are listed. */
  readonly truncated: readonly SectionName[]
  /** Stored resources that cannot be represented. */
  readonly unreadable: number
  readonly consent: string | undefined
}

export interface SummaryParts extends RecordsParts {
  readonly now: () => Date
}

/**
 * Reads the summary as one operation of the audit trail.
 * @throws Failure CONSENT_REQUIRED, CONSENT_EXPIRED or CONSENT_REVOKED if no section is open to the caller.
 */
export async function summaryOf(
  parts: SummaryParts,
  request: RecordsRequest,
  subject: RegisteredPatient,
): Promise<Summary> {
  const on = parts.databaseFor(request.caller)
  const sight = await sightOf<typeof person | Section>(on, request.caller, subject.patient, [person, ...sections])
  const same = await samePatients(parts, request.caller, subject)
  const operation = { type: 'Patient', id: subject.patient, query: `sdk/patients/${subject.healthId}/summary` }
  return asOperation(sight.caller, operation, async caller => {
    const inner = { ...request, caller }
    const shown = sight.shown.filter(each => each.name !== 'patient')
    const patient = sight.shown.includes(person) ? await demographicsOf(parts, inner, subject) : undefined
    const registered = patient?.blood_group ?? null
    const isTested = shown.some(({ name }) => name === 'recent_labs')
    const whose = { ...subject, same, undated: await undatedOf(parts, caller, same, shown) }
    const [bloodGroup, ...pages] = await Promise.all([
      isTested ? bloodGroupOf(parts, inner, same, registered) : registered,
      ...shown.map(section => pageOf(parts, inner, whose, section, sliceOf(section, parts.now()))),
    ])
    const lists = pages.map(({ kind, records }) => [kind.name, kind.keeps ? records.filter(kind.keeps) : records])
    const result = {
      patient,
      bloodGroup,
      lists: { ...empty, ...Object.fromEntries(lists) },
      withheld: sight.withheld.map(({ name }) => name),
      truncated: pages.filter(({ next }) => next !== undefined).map(({ kind }) => kind.name),
      unreadable: pages.reduce((sum, page) => sum + page.unreadable, 0),
      consent: sight.consent,
    }
    const resources = pages.reduce((sum, { records }) => sum + records.length, patient ? 1 : 0)
    return { result, patients: same, resources }
  })
}

const empty = { active_medications: [], active_allergies: [], recent_labs: [], recent_visits: [] }

function sliceOf({ limit, isRecent }: Section, now: Date) {
  const yearAgo = new Date(now)
  yearAgo.setUTCFullYear(now.getUTCFullYear() - 1)
  const since = isRecent ? yearAgo.toISOString().slice(0, 10) : undefined
  return { since, until: undefined, limit, after: undefined }
}

async function demographicsOf(
  { storeFor, translator }: RecordsParts,
  request: RecordsRequest,
  { patient }: RegisteredPatient,
): Promise<Filled<typeof Demographics> | undefined> {
  const reads = (type: string, interaction: string): boolean => type === 'Patient' && interaction === 'r'
  const { body } = await storeFor({ ...request.caller, may: reads }).read('Patient', patient)
  const resource = parseJson(body) as JsonObject
  return translator.fromFhir('patient-from-fhir', Demographics, resource, translator.contextOf(request))
}
