// Checks a request's parts against the schemas of its route: every problem at once, each with its place.
import type { TSchema } from 'typebox'
import { IsDateTime, Set as setFormat } from 'typebox/format'
import { Compile, type Validator } from 'typebox/schema'
import { Settings } from 'typebox/system'
import { type FailureDetail, invalid } from '../lib/failure.ts'
import { problemsOf } from './problems.ts'

// The default is eight errors; a client that sent more receives all of them.
Settings.Set({ maxErrors: 200 })

// JSON Schema takes a leap second, of which JavaScript knows nothing: such a moment would be neither past nor future.
setFormat('date-time', text => IsDateTime(text) && !Number.isNaN(Date.parse(text)))

const compiled = new WeakMap<TSchema, Validator>()

function validator(schema: TSchema): Validator {
  let ready = compiled.get(schema)
  if (!ready) compiled.set(schema, (ready = Compile(schema) as Validator))
  return ready
}

/**
 * Throws if `value` does not fit the schema.
 * @param place put before each field's name: `` for a body, `query` or `path` otherwise.
 * @throws Failure VALIDATION_FAILED with one detail for each problem.
 */
export function check(schema: TSchema, value: unknown, place = ''): void {
  const details = problemsIn(schema, value, place)
  if (details.length > 0) throw invalid(details)
}

/** The same problems, for a handler that has more to say about the value. */
export function problemsIn(schema: TSchema, value: unknown, place = ''): readonly FailureDetail[] {
  const checker = validator(schema)
  if (checker.Check(value)) return []
  const [, errors] = checker.Errors(value)
  return problemsOf(schema, errors, place)
}
