// A facility says that two of its numbers are one person's: what it manages is merged, all else is asked to be reviewed.

import { type Caller, onBehalfOf, system } from '../access/caller.ts'
import type { Transaction } from '../db/statement.ts'
import { Failure } from '../lib/failure.ts'
import { type JsonObject, parseJson } from '../lib/json.ts'
import type { Ranked } from '../mpi/matching/decide.ts'
import { featuresOf } from '../mpi/matching/person.ts'
import { obstacle, survivor } from '../mpi/register/merge.ts'
import { personOf, replacementOf } from '../mpi/register/patient.ts'
import { inOperation } from '../store/operation.ts'
import { recordedFor } from '../store/recording.ts'
import { inUnitOfWork } from '../store/unit-of-work.ts'
import { admit, managerOf } from './admit.ts'
import { merged, type ReadPatient } from './merge.ts'
import { numbersFrom } from './numbers.ts'
import type { ResolveParts } from './resolve.ts'
import { isAskedAlready, isKeptApart } from './reviews.ts'
import { askToReview } from './verdict.ts'

/**
 * Merges the patient with a former number into the patient that remains, whom it registers if there is none. A former number that
 * nobody has leads to the patient that remains from then on.
 * @param remaining the Patient that remains, as the facility describes it
 * @param former a Patient with the number that ends among its identifiers
 * @throws Failure VALIDATION_FAILED if one of them was merged into another patient, if a person kept them apart, or if the one that
 * remains is new and has no real number; what `admit` throws.
 */
export async function unite(
  parts: ResolveParts,
  caller: Caller,
  { remaining, former }: { readonly remaining: JsonObject; readonly former: JsonObject },
): Promise<string> {
  return inUnitOfWork(parts.unitOfWork, caller, async (inner, on) => {
    const { id: target, isNew } = await admit(parts, inner, remaining)
    const source = await numberedPatient(parts, on, inner, former)
    if (source === undefined || source === target) {
      await admit(parts, inner, { ...remaining, identifier: [...listOf(remaining), ...listOf(former)] })
      return target
    }
    const isNumbered = numbersFrom(remaining, inner, parts.addresses).some(parts.register.isReal)
    if (isNew && !isNumbered)
      throw new Failure(
        'VALIDATION_FAILED',
        'The number of the patient that remains states that there is none, so no later message would find the patient by it: send the real one.',
      )
    const reader = parts.storeFor(onBehalfOf(inOperation(inner), { Patient: 'r' }))
    const read = async (id: string): Promise<ReadPatient> => {
      const { body, version } = await reader.read('Patient', id)
      return { patient: parseJson(body) as JsonObject, version }
    }
    const [from, into] = [await read(source), await read(target)]
    if (replacementOf(from.patient, parts.addresses) === target) return target
    const reason = obstacle(from.patient, into.patient, parts.addresses)
    if (reason !== undefined) throw new Failure('VALIDATION_FAILED', reason)
    const isOwn = [from, into].every(({ patient }) => managerOf(patient) === `Organization/${inner.organizationId}`)
    const reviews = parts.storeFor({ ...system, within: inner.within })
    if (!isOwn) {
      if (await isAskedAlready(reviews, on, [source, target])) return target
      await askToReview(parts, inner, source, [await rankedOf(parts, on, from.patient, target)])
      return target
    }
    if (await isKeptApart(reviews, on, [source, target]))
      throw new Failure(
        'VALIDATION_FAILED',
        'A person decided that these two are not one: if they are after all, the record-keeping system merges them (Patient/$merge).',
      )
    const own = parts.storeFor(onBehalfOf(inner, { Patient: 'u' }))
    const service = parts.storeFor({ ...system, ...recordedFor(inner) })
    const { addresses } = parts
    await merged({ own, service, addresses }, from, into, survivor(from.patient, into.patient, addresses))
    return target
  })
}

const listOf = ({ identifier }: JsonObject): unknown[] => (Array.isArray(identifier) ? identifier : [])

/** Returns how alike two patients are. */
async function rankedOf(
  { register }: ResolveParts,
  on: Transaction,
  patient: JsonObject,
  other: string,
): Promise<Ranked> {
  const { ranked } = await register.rank(on, featuresOf(personOf(patient)))
  return (
    ranked.find(({ id }) => id === other) ?? {
      id: other,
      probability: 0.5,
      grade: 'possible',
      score: { bits: 0, parts: [], isBlocked: false, isContradicted: false },
    }
  )
}

/**
 * Returns the Patient (id) that has one of the caller's own numbers, or undefined if there is none, or more than one.
 * @param patient a Patient with that number among its identifiers
 */
async function numberedPatient(
  { register, addresses }: ResolveParts,
  on: Transaction,
  caller: Caller,
  patient: JsonObject,
): Promise<string | undefined> {
  const [number] = numbersFrom(patient, caller, addresses).filter(register.isReal)
  if (!number) return undefined
  const { numbered } = await register.find(on, featuresOf(personOf(patient)), number)
  const [id, ...more] = numbered
  return more.length > 0 ? undefined : id
}
