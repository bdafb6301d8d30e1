// The body of resolve: a Health ID, or the demographics of a person (interface §2.2).

import { countries } from '../lib/countries.ts'
import { type FailureDetail, invalid } from '../lib/failure.ts'
import { nearest } from '../lib/nearest.ts'
import { type Static, Type } from '../lib/schema.ts'
import type { Person } from '../mpi/matching/person.ts'
import { problemsIn } from '../shapes/check.ts'

const line = (description: string, maxLength: number) => Type.String({ minLength: 1, maxLength, description })

export const ResolveRequest = Type.Object(
  {
    health_id: Type.Optional(line('A known Health ID, as printed on the card.', 100)),
    first_name: Type.Optional(line('Given names. Required without health_id.', 200)),
    last_name: Type.Optional(line('Family name. Required without health_id.', 200)),
    date_of_birth: Type.Optional(
      Type.String({ format: 'date', description: 'Date of birth, YYYY-MM-DD. Required without health_id.' }),
    ),
    country_code: Type.Optional(
      Type.String({
        maxLength: 2,
        default: 'CM',
        description: 'The country that issues a new Health ID, ISO 3166-1 alpha-2.',
      }),
    ),
    sex: Type.Optional(Type.Enum(['male', 'female', 'other'], { description: 'Administrative sex.' })),
    phone_number: Type.Optional(line('Used for matching. Stored only if a patient is created.', 40)),
    purpose: Type.Optional(line('The reason for the lookup, recorded in the audit trail.', 500)),
    external_reference: Type.Optional(line('Your record number for the patient. Only your organisation sees it.', 200)),
  },
  {
    $id: 'ResolveRequest',
    description:
      'A Health ID, or first_name, last_name and date_of_birth, or both. What you state beside a Health ID must fit its holder.',
    additionalProperties: false,
  },
)

export type ResolveBody = Static<typeof ResolveRequest>

/** The demographics of a person who can be registered. */
export interface Demographics {
  readonly first_name: string
  readonly last_name: string
  readonly date_of_birth: string
  readonly sex?: string
  readonly phone_number?: string
}

const EARLIEST = '1880-01-01'
const HOUR = 3_600_000
/** The earliest time zone is fourteen hours ahead of UTC. */
const MOST_AHEAD = 14 * HOUR

/**
 * Checks the body against its schema, and against rules that a schema cannot express.
 * @throws Failure VALIDATION_FAILED with everything that is wrong.
 */
export function checkBody(body: ResolveBody, now: Date): void {
  const unfit = problemsIn(ResolveRequest, body)
  const isReadable = unfit.every(({ code }) => code === 'unknown')
  const others = isReadable ? [...unclean(body), ...nameless(body), ...impossible(body, now), ...missing(body)] : []
  const details = [...unfit, ...others]
  if (details.length > 0) throw invalid(details)
}

/** Returns the demographics, if they are complete. */
export function demographicsIn(body: ResolveBody): Demographics | undefined {
  const { first_name, last_name, date_of_birth, sex, phone_number } = body
  if (first_name === undefined || last_name === undefined || date_of_birth === undefined) return undefined
  return {
    first_name: tidy(first_name),
    last_name: tidy(last_name),
    date_of_birth,
    sex,
    phone_number: tidied(phone_number),
  }
}

/** Returns demographics, all or some of them, in the form in which people are compared. */
export function asPerson({ first_name, last_name, date_of_birth, sex, phone_number }: Partial<Demographics>): Person {
  return {
    names: [{ given: first_name, family: last_name }],
    birthDate: date_of_birth,
    sex,
    phones: phone_number === undefined ? [] : [phone_number],
  }
}

/** Returns the country of a new Health ID. */
export const countryOf = ({ country_code = 'CM' }: ResolveBody): string => country_code.toUpperCase()

/** Returns the caller's own number, trimmed. */
export const referenceIn = ({ external_reference }: ResolveBody): string | undefined => tidied(external_reference)

const tidy = (text: string): string => text.trim().replace(/\s+/g, ' ')
const tidied = (text: string | undefined): string | undefined => (text === undefined ? undefined : tidy(text))

const wrong = (field: string, code: string, message: string): FailureDetail => ({ field, code, message })

function* unclean(body: ResolveBody): Generator<FailureDetail> {
  for (const [field, value] of Object.entries(body)) {
    if (typeof value !== 'string') continue
    if (/\p{Cc}/u.test(value) || !value.isWellFormed())
      yield wrong(field, 'pattern', 'must not contain control characters or unpaired surrogates')
    else if (value.trim() === '') yield wrong(field, 'minLength', 'must not be blank')
  }
}

function* nameless({ first_name, last_name, phone_number }: ResolveBody): Generator<FailureDetail> {
  for (const [field, value] of Object.entries({ first_name, last_name }))
    if (value !== undefined && value.trim() !== '' && !/\p{L}/u.test(value))
      yield wrong(field, 'pattern', 'must contain a letter')
  if (phone_number !== undefined && !/\p{Nd}/u.test(phone_number))
    yield wrong('phone_number', 'pattern', 'must contain digits')
}

function* impossible({ date_of_birth, country_code }: ResolveBody, now: Date): Generator<FailureDetail> {
  const latest = new Date(now.getTime() + MOST_AHEAD).toISOString().slice(0, 10)
  if (date_of_birth !== undefined && date_of_birth > latest)
    yield wrong('date_of_birth', 'future', 'must not be in the future')
  if (date_of_birth !== undefined && date_of_birth < EARLIEST)
    yield wrong('date_of_birth', 'minimum', 'is before 1880: is the year right?')
  if (country_code === undefined || countries.has(country_code.toUpperCase())) return
  const meant = nearest(country_code.toUpperCase(), [...countries])
  const hint = meant ? `; did you mean ${meant}?` : ''
  yield wrong('country_code', 'value', `is not an ISO 3166-1 alpha-2 country code, such as CM${hint}`)
}

function* missing(body: ResolveBody): Generator<FailureDetail> {
  if (body.health_id !== undefined) return
  for (const field of ['first_name', 'last_name', 'date_of_birth'] as const)
    if (body[field] === undefined) yield wrong(field, 'required', 'is required without health_id')
}
