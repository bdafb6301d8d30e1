// The parameters of an operation: the query of its address, and a Parameters resource if there is a body
// (https://hl7.org/fhir/R4/operations.html#executing).
import { Failure } from '../lib/failure.ts'
import { isJsonNumber, isObject, numberOf } from '../lib/json.ts'
import type { FhirRequest } from './request.ts'

/** The simple parameters in order, those of the address first. @throws Failure MALFORMED_REQUEST for a body of another kind. */
export function operationPairs({ search, body }: Pick<FhirRequest, 'search' | 'body'>): [string, string][] {
  if (body === undefined) return [...search]
  if (body instanceof URLSearchParams) return [...search, ...body]
  if (!isObject(body) || body['resourceType'] !== 'Parameters')
    throw new Failure('MALFORMED_REQUEST', 'The body of the operation must be a Parameters resource or absent.')
  return [...search, ...parametersOf(body).flatMap(pairOf)]
}

/** The entries of a Parameters resource that have a name. */
export function parametersOf(body: { [key: string]: unknown }): { [key: string]: unknown }[] {
  const list = Array.isArray(body['parameter']) ? body['parameter'] : []
  return list.filter(each => isObject(each) && typeof each['name'] === 'string')
}

function pairOf(parameter: { [key: string]: unknown }): [string, string][] {
  const name = String(parameter['name'])
  const [, value] = Object.entries(parameter).find(([key]) => /^value[A-Z]/.test(key)) ?? []
  if (typeof value === 'string' || typeof value === 'boolean') return [[name, String(value)]]
  if (isJsonNumber(value)) return [[name, String(numberOf(value))]]
  throw new Failure('MALFORMED_REQUEST', `The parameter ${name.slice(0, 60)} must have a simple value.`, {
    details: [{ field: name, code: 'value', message: `${name.slice(0, 60)} must have a simple value.` }],
  })
}

/** The value of a parameter that may be given once. @throws Failure MALFORMED_REQUEST if it is given more often. */
export function single(pairs: readonly (readonly [string, string])[], name: string): string | undefined {
  const values = pairs.filter(([each, value]) => each === name && value !== '')
  if (values.length > 1) throw wrongParameter(name, `${name} must not be repeated.`)
  return values[0]?.[1]
}

export function wrongParameter(name: string, message: string): Failure {
  return new Failure('MALFORMED_REQUEST', message, { details: [{ field: name, code: 'value', message }] })
}
