// A unit of work: one transaction around several acts of a caller, each of which would otherwise open its own.
import type { Transaction } from '../db/statement.ts'
import { asFailure, type Failure, isOutage } from '../lib/failure.ts'
import type { Access } from './access.ts'
import { isOutdated } from './epoch.ts'
import type { AuditedOperation } from './operation.ts'
import type { DatabaseFor, Principal } from './principal.ts'
import type { Indexing } from './search-params/reindex.ts'
import { attemptsAfter, inLine, lost, mustStartOver } from './session.ts'
import type { Store } from './store.ts'

/** Runs work in one transaction; again from the start if what ended it can only be mended that way. */
export type UnitOfWork = <T>(
  caller: Pick<Principal, 'database'>,
  work: (within: Transaction) => Promise<T>,
) => Promise<T>

/** What acts on the store in a caller's name. */
export interface Acting {
  /** What the caller's own statements run by. */
  readonly databaseFor: DatabaseFor
  readonly storeFor: (principal: Principal) => Store
  /** One transaction around several acts. */
  readonly unitOfWork: UnitOfWork
}

/** The transactions for callers of the store: a caller with `within` takes part in that one. */
export function createUnitOfWork(databaseFor: DatabaseFor, indexing: Indexing): UnitOfWork {
  return async ({ database }, work) => {
    for (let attempt = 1; ; attempt++) {
      try {
        return await databaseFor({ database }).transaction(async on => {
          if (attempt > 1) await on.query(inLine)
          return work(on)
        })
      } catch (error) {
        if (!mustStartOver(error)) throw error
        if (attempt >= attemptsAfter(error)) throw lost(error)
        if (isOutdated(error)) await indexing.catchUp()
      }
    }
  }
}

/**
 * Runs all that a caller does in the work in one transaction: the one it is in, or a new one. The witness receives what a new one
 * did once it has committed.
 */
export async function inUnitOfWork<Of extends Principal, T>(
  unitOfWork: UnitOfWork,
  caller: Of,
  work: (caller: Of & { readonly within: Transaction }, on: Transaction) => Promise<T>,
): Promise<T> {
  if (caller.within) return work({ ...caller, within: caller.within }, caller.within)
  const accesses: Access[] = []
  const result = await unitOfWork(caller, on => {
    accesses.length = 0
    return work({ ...caller, within: on, witness: (access: Access) => void accesses.push(access) }, on)
  })
  for (const access of accesses) caller.witness?.(access)
  return result
}

/**
 * Runs a part of a caller's transaction, which alone is rolled back if it fails. What it did is recorded once it has succeeded; of a part
 * that fails, the attempt is recorded.
 * @param attempt how the audit trail names an attempt that failed; undefined: it is not recorded, since its parts are attempted again
 * @throws what ends the whole transaction, and can only be mended by starting it over
 * @returns the failure, or undefined if the part succeeded
 */
export async function asPart<Of extends Principal & { readonly within: Transaction }>(
  caller: Of,
  attempt: AuditedOperation | undefined,
  work: (caller: Of) => Promise<unknown>,
): Promise<Failure | undefined> {
  const accesses: Access[] = []
  try {
    await caller.within.transaction(within =>
      work({ ...caller, within, witness: (access: Access) => void accesses.push(access) }),
    )
  } catch (error) {
    const failure = asFailure(error)
    if (mustStartOver(error) || isOutage(failure)) throw error
    if (attempt) caller.witness?.({ deed: 'operation', query: attempt.query, patients: [], resources: 0, failure })
    return failure
  }
  for (const access of accesses) caller.witness?.(access)
  return undefined
}
