// How many people one batch registers: each takes locks of PostgreSQL until the batch is stored, and these are limited for all.
import { Failure } from '../lib/failure.ts'
import type { Register } from '../mpi/register/register.ts'

/** Most people for whom a batch takes locks. Each takes a dozen; with its default settings PostgreSQL has 6,400 for everybody. */
export const mostPeople = 100

/** Ends a batch that registers too many people. It passes through the parts of the batch, as what ends all of it does. */
const tooMany = new Failure('UNAVAILABLE', 'The batch registers too many people.')

/** Returns the register for one batch, which ends the batch beyond its bound. */
export function bounded(register: Register): Register {
  const people = new Set<string>()
  return {
    ...register,
    async lock(on, person, number) {
      people.add(JSON.stringify([person, number]))
      if (people.size > mostPeople) throw tooMany
      return register.lock(on, person, number)
    },
  }
}

/** Returns the failure that a sender understands: what it sends again in smaller batches is stored. */
export const asSizeFailure = (error: unknown): unknown =>
  error === tooMany
    ? new Failure(
        'PAYLOAD_TOO_LARGE',
        `The batch registers more than ${mostPeople} people: send its items in smaller batches.`,
      )
    : error
