// The routes of the terminology operations, by GET and by POST.
import { Type } from 'typebox'
import { fhirBase } from '../../http/failures.ts'
import type { Route } from '../../http/route.ts'
import { resourceTypesTaken } from '../negotiate.ts'
import { type Answer, common, Resource } from '../route-shapes.ts'
import { type Operation, operations } from './operations.ts'

const Parameters = Type.Object(
  { resourceType: Type.Literal('Parameters') },
  { $id: 'FhirParameters', description: 'A FHIR R4 Parameters resource.', additionalProperties: true },
)

/** Parameters that are no simple values, and so cannot stand in an address. */
const onlyInBodies = new Set(['valueSet', 'conceptMap', 'coding', 'codeableConcept'])

export function terminologyRoutes(answer: Answer): Route[] {
  return operations.flatMap(operation => [
    ...both(answer, operation, `${fhirBase}/${operation.type}/$${operation.name}`, ''),
    ...(operation.ofInstance
      ? both(answer, operation, `${fhirBase}/${operation.type}/{id}/$${operation.name}`, 'Instance')
      : []),
  ])
}

function both(answer: Answer, { type, name, summary, takes }: Operation, path: string, level: string): Route[] {
  const operationId = `${name.replace(/-(.)/, (_all, letter: string) => letter.toUpperCase())}${type}${level}`
  const fields = takes.filter(each => !onlyInBodies.has(each)).map(each => [each, Type.Optional(Type.String())])
  const shared = {
    ...common,
    path,
    params: level ? Type.Object({ id: Type.String({ description: 'Logical id.' }) }) : undefined,
    replies: { 200: Resource },
    handle: answer,
  }
  return [
    {
      ...shared,
      method: 'GET',
      operationId,
      summary,
      query: Type.Object(Object.fromEntries(fields), { additionalProperties: true }),
    },
    {
      ...shared,
      method: 'POST',
      operationId: `${operationId}ByBody`,
      summary: `${summary}, parameters in the body`,
      body: Parameters,
      bodyOptional: true,
      checksOwnBody: true,
      consumes: resourceTypesTaken,
    },
  ]
}
