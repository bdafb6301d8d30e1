// The kinds of route that the FHIR surface is made of: what each takes and gives, as the description publishes it.

import { bearer, type Reply, type Route, type RouteRequest } from '../../http/route.ts'
import { fhirJson, patchTypesTaken, resourceTypesTaken } from '../../interactions/negotiate.ts'
import { type TObject, Type } from '../../lib/schema.ts'
import { boundsOf } from '../../store/size.ts'

export type Request = RouteRequest<unknown, unknown, unknown>

export const Resource = Type.Object(
  {},
  { $id: 'FhirResource', description: 'A FHIR R4 resource.', additionalProperties: true },
)
export const Bundle = Type.Object(
  { resourceType: Type.Literal('Bundle') },
  { $id: 'FhirBundle', description: 'A FHIR R4 Bundle.', additionalProperties: true },
)
const Patch = Type.Unknown({
  $id: 'FhirPatch',
  description: 'A JSON Patch (RFC 6902), or a FHIRPath Patch in a Parameters resource.',
})

export const typeParam = Type.String({ description: 'The resource type.', examples: ['Patient'] })
export const idParam = Type.String({ description: 'The logical id of the resource.' })

export const SearchQuery = Type.Object(
  {
    _count: Type.Optional(Type.String({ description: 'Matches per page, at most 1000.' })),
    _sort: Type.Optional(
      Type.String({ description: 'Search parameters to sort by; prefix one with - for descending order.' }),
    ),
    _total: Type.Optional(Type.String({ description: 'How to count the matches: none, estimate or accurate.' })),
    _include: Type.Optional(
      Type.String({ description: 'Also return resources that the matches refer to: Type:parameter.' }),
    ),
    _revinclude: Type.Optional(
      Type.String({ description: 'Also return resources that refer to the matches: Type:parameter.' }),
    ),
    _summary: Type.Optional(Type.String({ description: 'Return a summary: true, text, data, count or false.' })),
    _elements: Type.Optional(Type.String({ description: 'Elements to return.' })),
  },
  { additionalProperties: true, description: 'Any search parameter of the type.' },
)

export type Answer = (request: Request) => Promise<Reply>

export interface Shape extends Pick<Route, 'takesBytes' | 'givesBytes' | 'sharesAddress'> {
  readonly path: string
  readonly operationId: string
  readonly summary: string
  readonly description?: string
  readonly params?: TObject
  readonly query?: TObject
}

export const common = { tag: 'FHIR', access: bearer(), produces: fhirJson }

export function reads(answer: Answer, shape: Shape): Route {
  const whole = { 200: Resource, 304: null }
  const replies = shape.givesBytes ? { ...whole, 206: null } : whole
  return { ...common, ...shape, method: 'GET', replies, handle: answer }
}

export function writes(answer: Answer, method: 'POST' | 'PUT', shape: Shape): Route {
  return {
    ...common,
    ...shape,
    method,
    body: Resource,
    checksOwnBody: true,
    // For a body that is slightly too large, the failure names the element that makes it so; a much larger one is not
    // even parsed.
    maxValues: ({ type = '' }) => 2 * boundsOf(type).values,
    consumes: resourceTypesTaken,
    replies: { 200: Resource, 201: Resource },
    handle: answer,
  }
}

export function patches(answer: Answer, shape: Shape): Route {
  return {
    ...common,
    ...shape,
    method: 'PATCH',
    body: Patch,
    consumes: patchTypesTaken,
    replies: { 200: Resource },
    handle: answer,
  }
}

export function deletes(answer: Answer, shape: Shape): Route {
  return { ...common, ...shape, method: 'DELETE', replies: { 204: null }, handle: answer }
}

export function formSearch(answer: Answer, shape: Shape): Route {
  const form = Type.Object({}, { additionalProperties: true, description: 'The search parameters as form fields.' })
  return {
    ...common,
    ...shape,
    method: 'POST',
    body: form,
    bodyOptional: true,
    consumes: ['application/x-www-form-urlencoded'],
    isRepeatable: true,
    replies: { 200: Bundle },
    handle: answer,
  }
}
