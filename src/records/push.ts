// Records that integrated systems push: a map makes a transaction of each, which is stored as the caller's own (decisions §12).
import { type Caller, onBehalfOf } from '../access/caller.ts'
import { isResourceType } from '../definitions/r4.ts'
import { Failure, type FailureDetail } from '../lib/failure.ts'
import { isObject, type JsonObject } from '../lib/json.ts'
import type { Translator } from '../mapping/translator.ts'
import { patientOf } from '../mpi/patient-of.ts'
import type { TransactionEntry } from '../store/transaction/entries.ts'
import { type Acting, inUnitOfWork } from '../store/unit-of-work.ts'

export interface PushParts extends Acting {
  readonly translator: Translator
}

/** A record as it was sent; its Health ID says whom it is about. */
export interface Pushed {
  readonly health_id: string
}

export interface PushRequest {
  readonly caller: Caller
  readonly requestId: string
}

/** What a push has stored. */
export interface Accepted {
  /** `Type/id` of every resource, in the order of the map. */
  readonly resources: readonly string[]
  /** Ids of the events that the change has caused. */
  readonly events: readonly string[]
}

/**
 * Stores a pushed record. The scope of the operation permits what the map creates, and nothing else.
 * @param map makes a transaction Bundle of the record
 * @throws Failure INVALID_HEALTH_ID, PATIENT_NOT_FOUND; VALIDATION_FAILED if the record cannot be represented as FHIR.
 */
export async function push(parts: PushParts, request: PushRequest, map: string, record: Pushed): Promise<Accepted> {
  const entries = await pushEntries(parts, request, map, record)
  const types = Object.fromEntries(entries.map(({ type }) => [type, 'c']))
  return inUnitOfWork(parts.unitOfWork, request.caller, async caller => {
    const events: string[] = []
    const origin = caller.origin && { ...caller.origin, recorded: (ids: readonly string[]) => void events.push(...ids) }
    const store = parts.storeFor({ ...onBehalfOf(caller, types), origin })
    const results = await store.transaction(entries, mustNotRead).catch(error => {
      throw asRecordFailure(error)
    })
    return {
      resources: results.flatMap(each => ('written' in each && each.written ? nameOf(each.written) : [])),
      events,
    }
  })
}

/**
 * Returns the creations that a pushed record comes to.
 * @throws Failure INVALID_HEALTH_ID, PATIENT_NOT_FOUND; VALIDATION_FAILED if the map cannot translate the record.
 */
export async function pushEntries(
  parts: Pick<PushParts, 'databaseFor' | 'translator'>,
  request: PushRequest,
  map: string,
  record: Pushed,
): Promise<TransactionEntry[]> {
  const subject = await patientOf(parts.databaseFor(request.caller), record.health_id, 'health_id')
  const context = {
    ...parts.translator.contextOf(request),
    patient_id: subject.patient,
    health_id: subject.healthId,
  }
  return creationsIn(parts.translator.toFhir(map, { ...record, health_id: subject.healthId }, context), map)
}

const nameOf = ({ type, id }: { readonly type: string; readonly id: string }): string => `${type}/${id}`

/** Returns the creations of a transaction Bundle that a map has made. */
function creationsIn({ entry }: JsonObject, map: string): TransactionEntry[] {
  const entries = Array.isArray(entry) ? entry : []
  return entries.map((each: unknown) => {
    const { fullUrl, request, resource } = isObject(each) ? each : {}
    const { method, url } = isObject(request) ? request : {}
    if (method !== 'POST' || typeof url !== 'string' || !isResourceType(url) || !isObject(resource))
      throw new Failure('INTERNAL_ERROR', `The map ${map} must make a transaction of creations.`)
    return {
      fullUrl: typeof fullUrl === 'string' ? fullUrl : undefined,
      ...{ method, type: url, id: undefined, query: undefined, resource },
    }
  })
}

function mustNotRead(): never {
  throw new Failure('INTERNAL_ERROR', 'A push reads nothing.')
}

/** A resource that is not valid is a record that cannot be stored: the caller knows the record only. */
export function asRecordFailure(error: unknown): unknown {
  if (!(error instanceof Failure) || error.code !== 'MALFORMED_REQUEST') return error
  const details = (error.options.details ?? []).map((each): FailureDetail => ({ ...each, field: undefined }))
  const reason = details[0]?.message ?? error.message
  return new Failure('VALIDATION_FAILED', `The record cannot be stored as FHIR: ${reason}`, { details, cause: error })
}
