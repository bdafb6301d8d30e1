// The routes of operations, each read from its value (interactions/operations.ts).

import type { Route } from '../../http/route.ts'
import { resourceTypesTaken } from '../../interactions/negotiate.ts'
import type { Operation } from '../../interactions/operation.ts'
import { operations } from '../../interactions/operations.ts'
import { Type } from '../../lib/schema.ts'
import { fhirBase } from '../../store/base.ts'
import { type Answer, common, idParam, Resource, typeParam } from './route-shapes.ts'

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
    operationId: `${each.id ?? each.name.replace(/-(.)/g, (_all, letter: string) => letter.toUpperCase())}${place}${method === 'POST' ? 'ByPost' : ''}`,
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
