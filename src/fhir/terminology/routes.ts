// The routes of the terminology operations, by GET and by POST.
import { Type } from 'typebox'
import { fhirBase } from '../../http/failures.ts'
import type { Route } from '../../http/route.ts'
import { resourceTypesTaken } from '../negotiate.ts'
import { type Answer, common, Resource } from '../route-shapes.ts'
import { type TerminologyOperation, terminologyOperations } from './operations.ts'

export function terminologyRoutes(answer: Answer): Route[] {
  return terminologyOperations.flatMap(operation => [
    ...operation.onType.map(method => operationRoute(answer, operation, method, false)),
    ...operation.onInstance.map(method => operationRoute(answer, operation, method, true)),
  ])
}

function operationRoute(
  answer: Answer,
  { of, name, summary, takes }: TerminologyOperation,
  method: 'GET' | 'POST',
  onInstance: boolean,
): Route {
  const camel = name.replace(/-(.)/, (_all, letter: string) => letter.toUpperCase())
  const fields = Object.entries(takes).map(([each, description]) => [each, Type.Optional(Type.String({ description }))])
  const shape = {
    ...common,
    path: `${fhirBase}/${of}/${onInstance ? '{id}/' : ''}$${name}`,
    operationId: `${camel}${of}${onInstance ? 'Instance' : ''}${method === 'POST' ? 'ByPost' : ''}`,
    summary: method === 'POST' ? `${summary}, parameters in the body` : summary,
    params: onInstance ? Type.Object({ id: Type.String({ description: 'Logical id.' }) }) : undefined,
    query: Type.Object(Object.fromEntries(fields), { additionalProperties: true }),
    replies: { 200: Resource },
    handle: answer,
  }
  if (method === 'GET') return { ...shape, method }
  return { ...shape, method, body: Resource, bodyOptional: true, checksOwnBody: true, consumes: resourceTypesTaken }
}
