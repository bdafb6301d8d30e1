// With which statuses a route may refuse or fail, worked out from the route itself, so that the description names all of them.
import type { Route } from './route.ts'

/** What each status is called among the components of the description, and what it says there. */
export const refusalTexts: Readonly<Record<number, { readonly name: string; readonly text: string }>> = {
  400: { name: 'BadRequest', text: 'Bad request' },
  401: { name: 'Unauthenticated', text: 'Unauthenticated' },
  403: { name: 'Forbidden', text: 'Forbidden' },
  404: { name: 'NotFound', text: 'Not found' },
  405: { name: 'MethodNotAllowed', text: 'Not allowed for what the address names' },
  406: { name: 'NotAcceptable', text: 'Not acceptable: no media type that is accepted is given' },
  408: { name: 'RequestTimeout', text: 'The body took too long to arrive' },
  409: { name: 'Conflict', text: 'Conflict, such as an Idempotency-Key that is in use or was used for something else' },
  410: { name: 'Gone', text: 'Gone: it was deleted' },
  412: { name: 'PreconditionFailed', text: 'A precondition does not hold, or a condition matches several' },
  413: { name: 'ContentTooLarge', text: 'The body is too large' },
  415: { name: 'UnsupportedMediaType', text: 'Unsupported media type of the body' },
  416: { name: 'RangeNotSatisfiable', text: 'The range is not within the content' },
  422: { name: 'Unprocessable', text: 'Validation failed' },
  429: { name: 'TooManyRequests', text: 'Too many requests' },
  500: { name: 'ServerError', text: 'Server error' },
  503: { name: 'Unavailable', text: 'Unavailable; Retry-After says when to try again' },
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
