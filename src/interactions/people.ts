// What $match and $merge take beside the caller's store: the register of people, and one transaction for several acts.

import { type Caller, system } from '../access/caller.ts'
import type { Piece } from '../lib/pieces.ts'
import type { Decision } from '../mpi/matching/decide.ts'
import type { Features } from '../mpi/matching/person.ts'
import { type Holder, holderOf } from '../mpi/register/health-ids.ts'
import type { Addresses } from '../mpi/register/patient.ts'
import type { Register } from '../mpi/register/register.ts'
import { asOperation } from '../store/operation.ts'
import type { DatabaseFor, Principal } from '../store/principal.ts'
import { recordedFor } from '../store/recording.ts'
import type { Store } from '../store/store.ts'
import { inUnitOfWork, type UnitOfWork } from '../store/unit-of-work.ts'

export interface People {
  readonly addresses: Addresses
  /** Compares a person with all registered people. */
  rank(person: Features): Promise<Decision>
  /** Who answers for a Health ID in canonical form. */
  holderOf(healthId: string): Promise<Holder | undefined>
  /** Returns those of the Patients (ids) that the caller may see, by id; the audit trail names them, and no others. */
  seen(ids: readonly string[]): Promise<ReadonlyMap<string, Piece>>
  /**
   * Runs the work in one transaction, with the caller's store and that of the service itself, and records it once it
   * has committed.
   */
  together<T>(work: (own: Store, service: Store) => Promise<T>): Promise<T>
}

export interface PeopleParts {
  readonly databaseFor: DatabaseFor
  readonly storeFor: (principal: Principal) => Store
  readonly unitOfWork: UnitOfWork
  readonly register: Register
  readonly addresses: Addresses
}

/** The register as a caller uses it. */
export function createPeople(parts: PeopleParts): (caller: Caller) => People {
  const { databaseFor, storeFor, unitOfWork, register, addresses } = parts
  return caller => {
    const on = databaseFor(caller)
    return {
      addresses,
      rank: person => register.rank(on, person),
      holderOf: healthId => holderOf(on, healthId),
      seen: ids =>
        asOperation(caller, { type: 'Patient', query: 'Patient/$match' }, async inner => {
          const store = storeFor(inner)
          const query = Object.entries({ _id: ids.join(','), _count: String(ids.length) })
          const { matches } = ids.length === 0 ? noMatches : await store.search(store.parse(['Patient'], query, true))
          const result = new Map(matches.map(({ id, body }) => [id, body]))
          return { result, patients: [...result.keys()], resources: result.size }
        }),
      together: work =>
        inUnitOfWork(unitOfWork, caller, own => work(storeFor(own), storeFor({ ...system, ...recordedFor(own) }))),
    }
  }
}

const noMatches = { matches: [] } as const
