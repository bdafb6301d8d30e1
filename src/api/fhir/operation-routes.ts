// The routes of operations and of compartments; what they mean is in interact.ts and operations.ts.
import { Type } from 'typebox'
import { compartments } from '../../definitions/r4.ts'
import type { Route } from '../../http/route.ts'
import { resourceTypesTaken } from '../../interactions/negotiate.ts'
import type { Operation } from '../../interactions/operation.ts'
import { operations } from '../../interactions/operations.ts'
import { fhirBase } from '../../store/base.ts'
import { type Answer, common, formSearch, Resource, reads, SearchQuery } from './route-shapes.ts'

const typeParam = Type.String({ description: 'Resource type.', examples: ['Patient'] })
const idParam = Type.String({ description: 'Logical id.' })
const memberParam = Type.String({
  description: 'Resource type in the compartment; * for all.',
  examples: ['Observation'],
})

export function operationRoutes(answer: Answer): Route[] {
  return operations.flatMap(each => [
    ...each.onType.map(method => operationRoute(answer, each, method, false)),
    ...each.onInstance.map(method => operationRoute(answer, each, method, true)),
  ])
}

function operationRoute(answer: Answer, each: Operation, method: 'GET' | 'POST', onInstance: boolean): Route {
  const type = each.of ?? '{type}'
  const params = { ...(each.of ? {} : { type: typeParam }), ...(onInstance ? { id: idParam } : {}) }
  const place = onInstance ? 'Instance' : 'Type'
  const shape = {
    ...common,
    path: `${fhirBase}/${type}/${onInstance ? '{id}/' : ''}$${each.name}`,
    operationId: `${each.name.replace(/-(.)/g, (_all, letter: string) => letter.toUpperCase())}${place}${method === 'POST' ? 'ByPost' : ''}`,
    summary: each.summary,
    ...(Object.keys(params).length > 0 ? { params: Type.Object(params) } : {}),
    query: Type.Object(
      Object.fromEntries(
        Object.entries(each.takes).map(([name, description]) => [name, Type.Optional(Type.String({ description }))]),
      ),
      { additionalProperties: true },
    ),
    replies: { 200: Resource },
    handle: answer,
  }
  if (method === 'GET') return { ...shape, method }
  return {
    ...shape,
    method,
    body: Resource,
    bodyOptional: true,
    checksOwnBody: true,
    consumes: resourceTypesTaken,
    isRepeatable: each.isRepeatable,
  }
}

export function compartmentRoutes(answer: Answer): Route[] {
  const summary = 'Search within a compartment'
  const compartment = Type.String({ description: `${compartments.join(', ')}.`, examples: ['Patient'] })
  return [
    reads(answer, {
      path: `${fhirBase}/{compartment}/{id}/{type}`,
      operationId: 'searchCompartment',
      summary,
      params: Type.Object({ compartment, id: idParam, type: memberParam }),
      query: SearchQuery,
    }),
    // With a parameter for the type of compartment these addresses would look like others of the same length.
    ...compartments.flatMap(of => [
      formSearch(answer, {
        path: `${fhirBase}/${of}/{id}/_search`,
        operationId: `searchWhole${of}CompartmentByForm`,
        summary: `${summary}, parameters in the body`,
        params: Type.Object({ id: idParam }),
      }),
      formSearch(answer, {
        path: `${fhirBase}/${of}/{id}/{type}/_search`,
        operationId: `search${of}CompartmentByForm`,
        summary: `${summary} for one type, parameters in the body`,
        params: Type.Object({ id: idParam, type: memberParam }),
      }),
    ]),
  ]
}
