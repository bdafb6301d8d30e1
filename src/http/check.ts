// Checks a request's parts against the schemas of its route: every problem at once, each with its place.
import type { TSchema } from 'typebox'
import { Compile, type Validator } from 'typebox/compile'
import { Failure, type FailureDetail } from '../lib/failure.ts'

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
  const checker = validator(schema)
  if (checker.Check(value)) return
  const details: FailureDetail[] = []
  for (const error of checker.Errors(value)) details.push(...detailsOf(error, place))
  const first = details[0]
  throw new Failure(
    'VALIDATION_FAILED',
    first ? `${first.field || 'The body'} ${first.message}.` : 'The request does not fit its description.',
    { details },
  )
}

interface SchemaError {
  readonly keyword: string
  readonly instancePath: string
  readonly params: object
  readonly message: string
}

function detailsOf(error: SchemaError, place: string): FailureDetail[] {
  const at = [place, ...error.instancePath.split('/').slice(1)].filter(part => part !== '').join('.')
  const params = error.params as {
    requiredProperties?: string[]
    additionalProperties?: string[]
    allowedValues?: unknown[]
  }
  const within = (name: string) => (at ? `${at}.${name}` : name)
  if (error.keyword === 'required')
    return (params.requiredProperties ?? []).map(name => ({
      field: within(name),
      code: 'required',
      message: 'is required',
    }))
  if (error.keyword === 'additionalProperties') {
    return (params.additionalProperties ?? []).map(name => ({
      field: within(name),
      code: 'unknown',
      message: 'is not a known field',
    }))
  }
  if (error.keyword === 'boolean') return []
  if (error.keyword === 'enum')
    return [{ field: at, code: 'enum', message: `must be one of ${params.allowedValues?.join(', ')}` }]
  return [{ field: at, code: error.keyword, message: error.message }]
}
