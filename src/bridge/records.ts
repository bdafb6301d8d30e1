// The records that an agent sends in the shapes of the interface, each stored as the surface for people stores it.
import { createHash } from 'node:crypto'
import { onBehalfOf } from '../access/caller.ts'
import { ownFacilities } from '../inventory/facilities.ts'
import { reportStock } from '../inventory/stock-report.ts'
import type { ItemType } from '../lib/bridge-item-types.ts'
import { Failure } from '../lib/failure.ts'
import type { JsonObject } from '../lib/json.ts'
import { type TSchema, Type } from '../lib/schema.ts'
import { translateMessage } from '../mapping/messages.ts'
import { resolve } from '../patients/resolve.ts'
import type { ResolveBody } from '../patients/resolve-body.ts'
import { type Pushed, pushEntries } from '../records/push.ts'
import { BloodUnit } from '../shapes/blood-unit.ts'
import { check } from '../shapes/check.ts'
import { PaymentRecord } from '../shapes/payment.ts'
import { EncounterPush, LabResultPush } from '../shapes/pushes.ts'
import { readBundle, removeResource } from './bundle.ts'
import type { Plan } from './group.ts'
import { mergedBy } from './merge.ts'
import type { AgentCall, BridgeParts } from './parts.ts'
import { refuse } from './refuse.ts'

type Work = (parts: BridgeParts, call: AgentCall, payload: JsonObject) => Promise<unknown>
type Read = (parts: BridgeParts, call: AgentCall, payload: JsonObject) => Plan

/** How records of a type are stored, and deleted, where they can be. */
export interface RecordType {
  /** Reads a record, and returns how to find the writes that it comes to, which are done together with those of other records. */
  readonly read?: Read
  readonly upsert?: Work
  readonly delete?: Work
}

/** Each throws the Failures of the operation that takes such a record from people. */
export const recordTypes: Readonly<Record<ItemType, RecordType>> = {
  patient: { upsert: (parts, call, payload) => resolve(parts, { ...call, body: payload as ResolveBody }) },
  encounter: { read: pushed(EncounterPush, 'encounter-push-to-fhir') },
  lab_result: { read: pushed(LabResultPush, 'lab-push-to-fhir') },
  stock_level: { upsert: (parts, call, payload) => reportStock(parts, { ...call, body: payload }) },
  blood_unit: { upsert: bloodUnit, delete: removed('BiologicallyDerivedProduct', 'id') },
  payment: { upsert: payment, delete: removed('PaymentReconciliation', 'reconciliation_id') },
  hl7v2: { read: readMessage },
  fhir: { read: (_parts, call, payload) => readBundle(call, payload), delete: removeResource },
}

function pushed(shape: TSchema, map: string): Read {
  return (_parts, _call, payload) => {
    check(shape, payload)
    return (parts, call) => pushEntries(parts, call, map, payload as unknown as Pushed)
  }
}

/** A unit of a blood bank. The facility's own id of it leads to one resource. */
async function bloodUnit(parts: BridgeParts, call: AgentCall, payload: JsonObject): Promise<void> {
  check(BloodUnit, payload)
  const own = await ownFacilities(parts, call.caller, [String(payload['facility_id'])])
  if (own.size === 0)
    throw new Failure('FORBIDDEN', 'facility_id is not a facility of the organisation of the agent.', {
      details: [{ field: 'facility_id', code: 'forbidden', message: 'is not a facility of your organisation' }],
    })
  const unit = parts.translator.toFhir('blood-unit-to-fhir', payload, parts.translator.contextOf(call))
  await put(parts, call, unit)
}

async function payment(parts: BridgeParts, call: AgentCall, payload: JsonObject): Promise<void> {
  check(PaymentRecord, payload)
  await put(parts, call, parts.translator.toFhir('payment-to-fhir', payload, parts.translator.contextOf(call)))
}

/** Stores a resource under the id that the facility's own id of it leads to. */
async function put(parts: BridgeParts, { caller }: AgentCall, made: JsonObject): Promise<void> {
  const type = String(made['resourceType'])
  const id = idOf(caller, type, made['id'])
  await parts.storeFor(onBehalfOf(caller, { [type]: 'cu' })).update(type, id, { ...made, id }, {})
}

function removed(type: string, field: string): Work {
  return async ({ storeFor }, { caller }, payload) => {
    const own = payload[field]
    if (typeof own !== 'string' || own === '')
      throw refuse('VALIDATION_FAILED', `${field} is required: it says which record to delete.`, field)
    await storeFor(onBehalfOf(caller, { [type]: 'd' })).remove(type, idOf(caller, type, own), {})
  }
}

/** Returns an id that no other organisation can have: it is made of the organisation and its own id. */
const idOf = ({ organizationId }: AgentCall['caller'], type: string, own: unknown): string =>
  createHash('sha256')
    .update(JSON.stringify([organizationId, type, own]))
    .digest('hex')

/** A message of a facility's system, which a map makes a Bundle of. Its numbers are the facility's own. */
function readMessage(parts: BridgeParts, call: AgentCall, payload: JsonObject): Plan {
  check(Hl7v2Payload, payload)
  const { organizationId, facilityId } = call.caller
  const context = {
    ...parts.translator.contextOf(call),
    time_zone: parts.timeZone,
    namespace: `${parts.addresses.numbers}${organizationId}/${facilityId}`,
  }
  const { bundle } = translateMessage(parts.mappings, String(payload['message']), context)
  return readBundle(call, bundle, mergedBy)
}

/** What agents take by default, so that nothing that they have acknowledged is refused for its size; with its frame it fits a sync. */
const mostMessage = 4_000_000

const Hl7v2Payload = Type.Object(
  { message: Type.String({ minLength: 1, maxLength: mostMessage, description: 'One HL7 v2 message.' }) },
  { additionalProperties: false },
)
