// Breaking the glass: a client sees a patient's data without consent, for an hour. The access is recorded before any
// data is shown. https://profiles.ihe.net/ITI/PCF/ (break-glass), DICOM 110127 "Emergency Override Started"
import { int8Array } from '../../db/arrays.ts'
import type { Database } from '../../db/database.ts'
import type { Transaction } from '../../db/statement.ts'
import { Failure } from '../../lib/failure.ts'
import { hash64, uncachedHash64 } from '../../lib/hash.ts'
import { uuidv7 } from '../../lib/ids.ts'
import { type JsonObject, parseJson } from '../../lib/json.ts'
import type { Access } from '../../store/access.ts'
import { reviewSystem } from '../../store/index/subject.ts'
import type { Principal } from '../../store/principal.ts'
import { asAct } from '../../store/recording.ts'
import { aboutPatient, isStored } from '../../store/relations.ts'
import type { Store } from '../../store/store.ts'
import { typeNumber } from '../../store/type-number.ts'
import { type Caller, system } from '../caller.ts'
import type { MergedWith } from './projection.ts'
import { clientInput, emergencyReview } from './reviews.ts'
import { refusesEmergencies } from './rules.ts'

/** One emergency. */
export interface Emergency {
  /** Id of the patient. */
  readonly patient: string
  readonly reason: string
  readonly requestId: string
}

export interface EmergencyAccess {
  /**
   * Opens a patient's record to the caller for an hour, or finds it open. The first time, creates a review Task and
   * writes an audit event.
   * @returns hashes of the patient, and of the patients that are the same person
   * @throws Failure NOT_FOUND; CONSENT_REQUIRED if the patient has refused emergency access as well.
   */
  open(caller: Caller, emergency: Emergency): Promise<bigint[]>
}

export interface EmergencyParts {
  readonly database: Database
  readonly storeFor: (principal: Principal) => Store
  readonly mergedWith: MergedWith
  readonly now: () => Date
}

const minutes = 60

export function createEmergencyAccess({ database, storeFor, mergedWith, now }: EmergencyParts): EmergencyAccess {
  return {
    async open(caller, emergency) {
      const { patient, reason } = emergency
      const same = (await mergedWith(database, [patient])).get(patient)!
      await mustBeAllowed(database, patient, same)
      const access: Access = {
        deed: 'emergency',
        type: 'Patient',
        id: patient,
        query: reason,
        patients: [patient],
        resources: 0,
      }
      await asAct(database, caller, access, async within => {
        const opened = now()
        if (!(await note(within, caller, emergency, opened))) return false
        await storeFor({ ...system, within }).create('Task', taskOf(caller, emergency, opened))
        return true
      })
      return same.map(id => hash64(`Patient/${id}`))
    },
  }
}

async function mustBeAllowed(database: Database, patient: string, same: readonly string[]): Promise<void> {
  const rows = await database.query<{ body: string | null }>({
    name: 'emergency-consents',
    text: `select null as body where ${isStored(String(typeNumber('Patient')), '$2')}
      union all
      select c.body from ${aboutPatient} c where c.patient = any($1::bigint[]) and c.type = ${typeNumber('Consent')}`,
    values: [int8Array(same.map(id => hash64(`Patient/${id}`))), patient],
  })
  if (!rows.some(({ body }) => body === null)) throw new Failure('NOT_FOUND', `There is no Patient/${patient}.`)
  if (!rows.some(({ body }) => body !== null && refusesEmergencies(parseJson(body) as JsonObject))) return
  throw new Failure(
    'CONSENT_REQUIRED',
    'The patient has refused emergency access too: only a consent permits access to this record.',
  )
}

/** Notes that the record is open from now on. Returns false if it already is. */
async function note(
  on: Transaction,
  { clientId, organizationId }: Caller,
  { patient, reason, requestId }: Emergency,
  opened: Date,
): Promise<boolean> {
  await on.query({
    text: 'select pg_advisory_xact_lock($1)',
    values: [uncachedHash64(`emergency ${clientId} ${patient}`)],
  })
  const rows = await on.query({
    name: 'emergency-open',
    text: `insert into emergency_access (id, client_id, organization_id, patient_id, reason, request_id, opened_at, ends_at)
      select $1, $2, $3, $4, $5, $6, $7, $8
      where not exists (select 1 from emergency_access where client_id = $2 and patient_id = $4 and ends_at > $7)
      returning id`,
    values: [uuidv7(), clientId, organizationId, patient, reason, requestId, opened, endOf(opened)],
  })
  return rows.length > 0
}

const endOf = (opened: Date): Date => new Date(opened.getTime() + minutes * 60_000)

/** The review Task for the privacy officer. */
function taskOf(
  { clientId, organizationId }: Caller,
  { patient, reason, requestId }: Emergency,
  opened: Date,
): JsonObject {
  return {
    resourceType: 'Task',
    identifier: [{ system: 'urn:health-interop:request', value: requestId }],
    status: 'requested',
    intent: 'order',
    priority: 'urgent',
    code: {
      coding: [
        {
          system: reviewSystem,
          code: emergencyReview,
          display: 'Review of an emergency access',
        },
      ],
    },
    description: `The client ${clientId} saw this patient's data without consent, in an emergency.`,
    for: { reference: `Patient/${patient}` },
    requester: { reference: `Organization/${organizationId}` },
    authoredOn: opened.toISOString(),
    executionPeriod: { start: opened.toISOString(), end: endOf(opened).toISOString() },
    performerType: [{ text: 'privacy officer' }],
    reasonCode: { text: reason },
    input: [{ type: { text: clientInput }, valueString: clientId }],
  }
}
