// Checks a request's parts against the schemas of its route: every problem at once, each with its place.
import type { TSchema } from 'typebox'
import { Compile, type Validator } from 'typebox/compile'
import { Settings } from 'typebox/system'
import { Failure, type FailureDetail } from '../lib/failure.ts'

// It stops at eight otherwise, and whoever sent more wrong than that is to see all of it, too.
Settings.Set({ maxErrors: 200 })

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
  const steps = error.instancePath.split('/').slice(1)
  const names = steps.map(step => step.replaceAll('~1', '/').replaceAll('~0', '~'))
  const at = [place, ...names].filter(part => part !== '').join('.')
  const params = error.params as {
    requiredProperties?: string[]
    allowedValues?: unknown[]
  }
  const within = (name: string) => (at ? `${at}.${name}` : name)
  if (error.keyword === 'required')
    return (params.requiredProperties ?? []).map(name => ({
      field: within(name),
      code: 'required',
      message: 'is required',
    }))
  // Each member that is not known is an error of its own, before the one that names them all.
  if (error.keyword === 'additionalProperties') return []
  if (error.keyword === 'boolean') return [{ field: at, code: 'unknown', message: 'is not a known field' }]
  if (error.keyword === 'enum')
    return [{ field: at, code: 'enum', message: `must be one of ${params.allowedValues?.join(', ')}` }]
  return [{ field: at, code: error.keyword, message: error.message }]
}
