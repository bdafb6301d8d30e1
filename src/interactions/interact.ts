// What each FHIR interaction answers: from the form of the address and the method to the interaction (interactions.ts) or operation.
// https://hl7.org/fhir/R4/http.html
import { compartments, isResourceType } from '../definitions/r4.ts'
import { Failure } from '../lib/failure.ts'
import { isId } from '../store/ids.ts'
import type { Store } from '../store/store.ts'
import { isAboutTrail, trailOf } from './audit-search.ts'
import { exportOperations } from './bulk/operations.ts'
import type { Address } from './interaction.ts'
import { answersAt } from './interactions.ts'
import { operationMethods } from './operations.ts'
import type { FhirReply, FhirRequest } from './request.ts'

/**
 * Answers one interaction, transactions and batches excepted.
 * @throws Failure for everything that is not a success.
 */
export function interact(store: Store, request: FhirRequest): Promise<FhirReply> {
  const { segments } = request
  const [type] = segments
  mustNotBeBackground(segments)
  if (type !== undefined && !ofTheEndpoint.has(type) && !isResourceType(type))
    throw new Failure('NOT_FOUND', `There is no resource type "${type.slice(0, 60)}" in FHIR R4.`, {
      issue: 'not-supported',
    })
  if (isAboutTrail(request)) return trailOf(request)
  const form = formOf(segments)
  if (form?.startsWith('type/id') && request.method !== 'PUT' && !isId(segments[1]))
    throw new Failure('NOT_FOUND', `The ${type} does not exist: an id has 1 to 64 letters, digits, hyphens and dots.`)
  const methods = isOperation(form) ? operationMethods(segments) : form !== undefined && answersAt.get(form)
  if (!methods) throw new Failure('NOT_FOUND', 'This FHIR interaction does not exist.')
  const method = request.method === 'HEAD' ? 'GET' : request.method
  const answer = methods[method]
  if (!answer) {
    const allowed = Object.keys(methods).join(', ')
    throw new Failure('METHOD_NOT_ALLOWED', `This address does not support ${method}, only ${allowed}.`, {
      headers: { allow: allowed },
    })
  }
  return answer(store, request)
}

/** What stands at the place of a type in an address and is none. */
const ofTheEndpoint: ReadonlySet<string> = new Set(['_history', '_search', 'metadata'])

/** Addresses of what works in the background, and the methods that begin it. */
const background: ReadonlyMap<string, string> = new Map([
  ['$import', 'POST'],
  ...exportOperations.map(({ path }): [string, string] => [path, 'GET, POST']),
])

/** @throws Failure METHOD_NOT_ALLOWED for an operation that works in the background: its own routes answer the methods it takes. */
function mustNotBeBackground(segments: readonly string[]): void {
  const address = segments.length === 3 ? [segments[0], '{id}', segments[2]] : segments
  const allow = background.get(address.join('/'))
  if (allow === undefined) return
  throw new Failure('METHOD_NOT_ALLOWED', `${segments.at(-1)} supports ${allow} only, in a separate request.`, {
    headers: { allow },
  })
}

type Form = Address | OperationAddress

type OperationAddress = 'type/$' | 'type/id/$'

const isOperation = (form: Form | undefined): form is OperationAddress => form?.endsWith('/$') === true

/** The form of an address; undefined: nothing of the endpoint has such an address. */
function formOf(segments: readonly string[]): Form | undefined {
  const [first, second, third, fourth] = segments
  if (segments.length === 0) return ''
  if (ofTheEndpoint.has(first!)) return segments.length === 1 ? (first as Address) : undefined
  if (segments.length === 1) return 'type'
  if (second === '_history' || second === '_search') return segments.length === 2 ? `type/${second}` : undefined
  if (second!.startsWith('$')) return segments.length === 2 ? 'type/$' : undefined
  if (segments.length === 2) return 'type/id'
  if (third!.startsWith('$')) return segments.length === 3 ? 'type/id/$' : undefined
  if (third !== '_history' && compartments.includes(first!)) return compartmentForm(segments)
  if (third !== '_history') return undefined
  return fourth === undefined ? 'type/id/_history' : segments.length === 4 ? 'type/id/_history/version' : undefined
}

/** `Patient/1/Observation`, `Patient/1/*`, and both with `_search` for POST. */
function compartmentForm([, , third, fourth, ...rest]: readonly string[]): Address | undefined {
  if (third === '_search') return fourth === undefined ? 'type/id/member/_search' : undefined
  if ((third !== '*' && !isResourceType(third!)) || rest.length > 0) return undefined
  if (fourth === undefined) return 'type/id/member'
  return fourth === '_search' ? 'type/id/member/_search' : undefined
}
