// Completes a found patient: a Health ID, if there is none, and the number at the caller's organisation.

import { type Caller, onBehalfOf } from '../access/caller.ts'
import type { Transaction } from '../db/statement.ts'
import { Failure } from '../lib/failure.ts'
import { hash64 } from '../lib/hash.ts'
import { type JsonObject, objectsIn, parseJson } from '../lib/json.ts'
import { freeHealthId, lostHealthIds } from '../mpi/register/health-ids.ts'
import { type Addresses, healthIdsOf, type OwnNumber } from '../mpi/register/patient.ts'
import { inOperation } from '../store/operation.ts'
import type { Acting } from '../store/unit-of-work.ts'

export interface Addition {
  /** Added unless the organisation has a number there already. */
  readonly number: OwnNumber | undefined
  /** Of the Health ID, should one be missing and none be known. */
  readonly country: string
  /** The Health ID by which the patient was found. */
  readonly asked?: string
}

/** The parts that completing needs. */
export interface CompletingParts extends Pick<Acting, 'storeFor'> {
  /** Of the identifiers that this service gives. */
  readonly addresses: Addresses
}

const MOST_TRIES = 5

/**
 * Adds what is missing, as a new version; an act of the caller, within its transaction.
 * @returns the current Health ID
 */
export async function complete(
  parts: CompletingParts,
  caller: Caller,
  id: string,
  addition: Addition,
): Promise<string> {
  const on = caller.within!
  // Other requests that complete the same patient wait. Any other write may come first, and then the patient is read
  // again.
  await on.query({ text: 'select pg_advisory_xact_lock($1)', values: [hash64(`complete Patient/${id}`)] })
  const store = parts.storeFor(onBehalfOf({ ...caller, within: on }, { Patient: 'ru' }))
  for (let tries = 1; ; tries++) {
    const { body, version } = await parts
      .storeFor(onBehalfOf(inOperation(caller), { Patient: 'r' }))
      .read('Patient', id)
    const { patient, healthId, isChanged } = await completed(parts, on, parseJson(body) as JsonObject, addition)
    if (!isChanged) return healthId
    try {
      await store.update('Patient', id, patient, { ifMatch: version })
      return healthId
    } catch (error) {
      const isOvertaken = error instanceof Failure && error.code === 'PRECONDITION_FAILED'
      if (!isOvertaken || tries === MOST_TRIES) throw error
    }
  }
}

async function completed(
  { addresses }: CompletingParts,
  on: Transaction,
  patient: JsonObject,
  { number, country, asked }: Addition,
): Promise<{ patient: JsonObject; healthId: string; isChanged: boolean }> {
  const { current: held, former } = healthIdsOf(patient, addresses)
  const current = held.find(each => each === asked) ?? held[0]
  // A person has one Health ID: one that an update left out is restored, unless the Patient states that it is an old
  // one.
  const lost = current === undefined ? await lostHealthIds(on, String(patient['id'])) : []
  const own = lost.filter(each => !former.includes(each))
  const healthId = current ?? own.find(each => each === asked) ?? own[0] ?? (await freeHealthId(on, country))
  const identifiers = objectsIn(patient['identifier'])
  const added: JsonObject[] = []
  if (current === undefined) added.push({ use: 'official', system: addresses.healthIds, value: healthId })
  if (number && identifiers.every(({ system }) => addresses.base.system(String(system)) !== number.system))
    added.push({
      use: 'secondary',
      ...number,
      assigner: { reference: `Organization/${number.system.slice(addresses.numbers.length)}` },
    })
  return { patient: { ...patient, identifier: [...identifiers, ...added] }, healthId, isChanged: added.length > 0 }
}
