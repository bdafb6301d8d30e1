// The routes of interactions, each read from its value (interactions/interactions.ts).

import { compartments } from '../../definitions/r4.ts'
import type { Route } from '../../http/route.ts'
import type { Address, Interaction } from '../../interactions/interaction.ts'
import { interactions } from '../../interactions/interactions.ts'
import { type TObject, Type } from '../../lib/schema.ts'
import { fhirBase } from '../../store/base.ts'
import { isContent } from './binary.ts'
import {
  type Answer,
  deletes,
  formSearch,
  idParam,
  patches,
  reads,
  SearchQuery,
  type Shape,
  typeParam,
  writes,
} from './route-shapes.ts'

const params = { type: typeParam, id: idParam }
const member = Type.String({
  description: 'The resource type in the compartment, or * for all.',
  examples: ['Observation'],
})
const compartment = Type.String({ description: `The compartment: ${compartments.join(', ')}.`, examples: ['Patient'] })

interface Place {
  /** Below the base. */
  readonly path: string
  readonly params?: TObject
}

/** Where each form of address lies; metadata, which needs no token, has a route of its own. */
const places: Readonly<Record<Exclude<Address, 'metadata' | 'type/id/member/_search'>, Place>> = {
  '': { path: '' },
  _search: { path: '/_search' },
  _history: { path: '/_history' },
  'type/id/member': {
    path: '/{compartment}/{id}/{type}',
    params: Type.Object({ compartment, id: idParam, type: member }),
  },
  'type/_search': { path: '/{type}/_search', params: Type.Object({ type: typeParam }) },
  'type/_history': { path: '/{type}/_history', params: Type.Object({ type: typeParam }) },
  type: { path: '/{type}', params: Type.Object({ type: typeParam }) },
  'type/id/_history/version': {
    path: '/{type}/{id}/_history/{version}',
    params: Type.Object({ ...params, version: Type.String({ description: 'The version id.' }) }),
  },
  'type/id/_history': { path: '/{type}/{id}/_history', params: Type.Object(params) },
  'type/id': { path: '/{type}/{id}', params: Type.Object(params) },
}

/** The routes in the order of the interactions: of two that fit an address the earlier one answers. */
export const interactionRoutes = (answer: Answer): Route[] =>
  interactions.flatMap(each => {
    if (each.at === 'metadata') return []
    if (each.at === 'type/id/member/_search') return compartments.flatMap(of => compartmentForms(answer, each, of))
    const { path, params } = places[each.at]
    return [routeOf(answer, each, { path: fhirBase + path, params, ...shown(each) })]
  })

const shown = ({ operationId, summary }: Interaction) => ({ operationId, summary })

const contentText = 'A Binary can be sent and read as the resource or as its raw content.'

function routeOf(answer: Answer, { method, at, code, systemCode, hasContent }: Interaction, place: Shape): Route {
  const shape = hasContent ? { ...place, description: contentText } : place
  const isSearch = at === 'type/id/member' || code === 'search-type' || systemCode === 'search-system'
  if (method === 'GET')
    return reads(answer, {
      ...shape,
      ...(isSearch ? { query: SearchQuery } : {}),
      ...(hasContent ? { givesBytes: true } : {}),
    })
  if (method === 'POST' && isSearch) return formSearch(answer, shape)
  if (method === 'PATCH') return patches(answer, shape)
  if (method === 'DELETE') return deletes(answer, shape)
  return writes(answer, method, { ...shape, ...(hasContent ? { takesBytes: isContent } : {}) })
}

/** With a parameter for the type of compartment these addresses would look like others of the same length. */
const compartmentForms = (answer: Answer, { summary }: Interaction, of: string): Route[] => [
  formSearch(answer, {
    path: `${fhirBase}/${of}/{id}/_search`,
    operationId: `searchWhole${of}CompartmentByForm`,
    summary,
    params: Type.Object({ id: idParam }),
  }),
  formSearch(answer, {
    path: `${fhirBase}/${of}/{id}/{type}/_search`,
    operationId: `search${of}CompartmentByForm`,
    summary: summary.replace(' with', ' for one resource type with'),
    params: Type.Object({ id: idParam, type: member }),
  }),
]
