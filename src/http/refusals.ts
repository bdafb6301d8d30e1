// With which statuses a route may refuse or fail, worked out from the route itself, so that the description names all of them.
import type { Route } from './route.ts'

/** What each status says, for the description. */
export const refusalTexts: Readonly<Record<number, string>> = {
  400: 'Bad request',
  401: 'Unauthenticated',
  403: 'Forbidden',
  404: 'Not found',
  405: 'Not allowed for what the address names',
  406: 'Not acceptable: no media type that is accepted is given',
  408: 'The body took too long to arrive',
  409: 'Conflict, such as an Idempotency-Key that is in use or was used for something else',
  410: 'Gone: it was deleted',
  412: 'A precondition does not hold, or a condition matches several',
  413: 'The body is too large',
  415: 'Unsupported media type of the body',
  416: 'The range is not within the content',
  422: 'Validation failed',
  429: 'Too many requests',
  500: 'Server error',
  503: 'Unavailable; Retry-After says when to try again',
}

/** The statuses, in ascending order. @param isFhir true on the FHIR surface, where any request may name types and resources */
export function refusalsOf(route: Route, isFhir: boolean): number[] {
  const { access, method, params, query, body, isRepeatable, givesBytes, refusals = [] } = route
  const isChange = method !== 'GET' && !isRepeatable
  const has = (isIt: unknown, ...statuses: number[]): number[] => (isIt ? statuses : [])
  const all = [
    ...[400, 429, 500, 503],
    // What proves somebody on an open route stands in its body.
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
