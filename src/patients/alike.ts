// Whether the person who comes with a Health ID can be the one who holds it.
import type { Queryable } from '../db/statement.ts'
import { Failure } from '../lib/failure.ts'
import type { Features } from '../mpi/matching/person.ts'
import type { Register } from '../mpi/register/register.ts'

/**
 * A card that was mixed up, or a number that was typed wrong, must not link two people.
 * @param holder id of the Patient who holds the Health ID, or has the number
 * @param stated what the caller states, and in which field
 * @throws Failure VALIDATION_FAILED
 */
export async function mustBeAlike(
  register: Register,
  on: Queryable,
  person: Features,
  holder: string,
  { what, field }: { readonly what: 'Health ID' | 'id'; readonly field: string },
): Promise<void> {
  if (person.names.length === 0 && person.birth === undefined && person.sex === undefined) return
  const isKnown = person.names.length > 0 && person.birth !== undefined
  if (isKnown ? await isPossible(register, on, person, holder) : !(await differs(register, on, person, holder))) return
  const advice = what === 'Health ID' ? 'compare it with the card' : 'compare it with the file'
  throw unlike(`The ${what} belongs to a person with another name and birth date: ${advice}.`, field)
}

/** Returns the failure of an identifier that is another person's. */
export const unlike = (message: string, field: string): Failure =>
  new Failure('VALIDATION_FAILED', message, { details: [{ field, code: 'business-rule', message }] })

async function isPossible(register: Register, on: Queryable, person: Features, holder: string): Promise<boolean> {
  const { ranked } = await register.rank(on, person)
  return ranked.some(({ id, grade }) => id === holder && grade !== 'certainly-not')
}

/** True if what little is known of a person differs; a family name may be another one after a marriage. */
async function differs(register: Register, on: Queryable, person: Features, holder: string): Promise<boolean> {
  const score = await register.compare(on, person, holder)
  return score?.parts.some(({ field, level, blocks }) => blocks && level === 'different' && field !== 'family') ?? false
}
