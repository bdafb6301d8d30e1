// The statuses with which a route may refuse or fail, derived from the route itself, so that the description names all
// of them.
import type { Route } from './route.ts'

/** The name and text of each status among the components of the description. */
export const refusalTexts: Readonly<Record<number, { readonly name: string; readonly text: string }>> = {
  400: { name: 'BadRequest', text: 'The request is malformed or asks for something unsupported' },
  401: { name: 'Unauthenticated', text: 'Authentication is missing or invalid' },
  403: {
    name: 'Forbidden',
    text: 'The caller lacks a scope, a consent or another permission for the operation',
  },
  404: { name: 'NotFound', text: 'The resource does not exist or is not visible to the caller' },
  405: { name: 'MethodNotAllowed', text: 'The resource at this address does not support the method' },
  406: { name: 'NotAcceptable', text: 'The server cannot produce any of the accepted media types' },
  408: { name: 'RequestTimeout', text: 'The request body did not arrive in time' },
  409: {
    name: 'Conflict',
    text: 'The request conflicts with the current state, or the Idempotency-Key is in use or belongs to a different request',
  },
  410: { name: 'Gone', text: 'The resource was deleted' },
  412: { name: 'PreconditionFailed', text: 'A precondition failed, or a condition matches more than one resource' },
  413: { name: 'ContentTooLarge', text: 'The request body is too large' },
  415: { name: 'UnsupportedMediaType', text: 'The media type of the request body is not supported' },
  416: { name: 'RangeNotSatisfiable', text: 'The range lies outside the content' },
  422: { name: 'Unprocessable', text: 'Validation failed; the reply lists the problems' },
  429: { name: 'TooManyRequests', text: 'Too many requests; Retry-After gives the seconds to wait' },
  500: { name: 'ServerError', text: 'An internal error occurred' },
  503: { name: 'Unavailable', text: 'The service is temporarily unavailable; Retry-After gives the seconds to wait' },
}

/**
 * Returns the statuses in ascending order. @param isFhir true on the FHIR surface, where any request may name types and
 * resources
 */
export function refusalsOf(route: Route, isFhir: boolean): number[] {
  const { access, method, params, query, body, isRepeatable, givesBytes, refusals = [] } = route
  const isChange = method !== 'GET' && !isRepeatable
  const has = (isIt: unknown, ...statuses: number[]): number[] => (isIt ? statuses : [])
  const all = [
    ...[400, 429, 500, 503],
    // An open route that authenticates a caller reads the proof from its body.
    ...has(access.scheme !== 'open' || body, 401, 403),
    ...has(params || query || body, 422),
    ...has(params || isFhir, 404),
    ...has(body, 408, 413, 415),
    ...has(isChange && (isFhir || method === 'POST'), 409),
    ...has(isFhir, 405, 406, 410),
    ...has(isFhir && isChange, 412),
    ...has(givesBytes, 416),
    ...refusals,
  ]
  return [...new Set(all)].sort((one, other) => one - other)
}
