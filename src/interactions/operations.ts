// The operations of this endpoint as values: dispatch, routes and CapabilityStatement are read from them
// (https://hl7.org/fhir/R4/operations.html).
import { Failure } from '../lib/failure.ts'
import { everythingOf } from './everything.ts'
import { lastnOf } from './lastn.ts'
import { matchOf, matchTakes } from './match.ts'
import { mergeOf, mergeTakes } from './merge.ts'
import type { Operation } from './operation.ts'
import { terminologyOperations } from './terminology/operations.ts'
import { transformTakes } from './transform/inputs.ts'
import { transformOf } from './transform/transform.ts'
import { validationOf } from './validate.ts'

export const operations: readonly Operation[] = [
  {
    name: 'everything',
    definition: 'http://hl7.org/fhir/OperationDefinition/Patient-everything',
    of: 'Patient',
    onType: ['GET', 'POST'],
    onInstance: ['GET', 'POST'],
    summary: 'Everything that is known about a patient, or about all patients',
    takes: {
      start: 'Only care from this date on; what has no date of care, or goes on, is in.',
      end: 'Only care up to this date.',
      _since: 'Only what changed since this instant.',
      _type: 'Only these types, with commas.',
      _count: 'Resources on a page, at most 10000.',
    },
    isRepeatable: true,
    run: everythingOf,
  },
  {
    name: 'lastn',
    definition: 'http://hl7.org/fhir/OperationDefinition/Observation-lastn',
    of: 'Observation',
    onType: ['GET', 'POST'],
    onInstance: [],
    summary: 'The most recent observations of each kind',
    takes: {
      max: 'How many of each kind; 1 if it is left out.',
      patient: 'The patient; like every search parameter of Observation.',
      category: 'The category of the observations.',
      code: 'Their codes.',
    },
    isRepeatable: true,
    run: lastnOf,
  },
  {
    name: 'validate',
    definition: 'http://hl7.org/fhir/OperationDefinition/Resource-validate',
    of: undefined,
    onType: ['POST'],
    onInstance: ['GET', 'POST'],
    summary: 'Everything that is wrong with a resource, without storing it',
    takes: {
      mode: 'create, update, delete or profile.',
      profile: 'Canonical URL of a profile to check against.',
    },
    run: validationOf,
  },
  {
    name: 'match',
    definition: 'http://hl7.org/fhir/OperationDefinition/Patient-match',
    of: 'Patient',
    onType: ['POST'],
    onInstance: [],
    summary: 'Who is registered that a patient could be, and how sure that is',
    takes: matchTakes,
    isRepeatable: true,
    run: matchOf,
  },
  {
    name: 'merge',
    definition: 'http://hl7.org/fhir/OperationDefinition/Patient-merge',
    of: 'Patient',
    onType: ['POST'],
    onInstance: [],
    summary: 'Two patients who are one person become one',
    takes: mergeTakes,
    run: mergeOf,
  },
  ...terminologyOperations,
  {
    name: 'transform',
    definition: 'http://hl7.org/fhir/OperationDefinition/StructureMap-transform',
    of: 'StructureMap',
    onType: ['POST'],
    onInstance: ['POST'],
    summary: 'What a map makes of a resource or record',
    takes: transformTakes,
    isRepeatable: true,
    run: transformOf,
  },
]

/** The operations of a type. */
export const operationsOf = (type: string): Operation[] =>
  operations.filter(each => each.of === undefined || each.of === type)

/** What an address such as `Patient/1/$everything` can be called with. @throws Failure NOT_FOUND if there is no such operation. */
export function operationMethods(segments: readonly string[]): Readonly<Record<string, Operation['run']>> {
  const [type, ...rest] = segments as [string, ...string[]]
  const name = rest.at(-1)!.slice(1)
  const operation = operationsOf(type).find(each => each.name === name)
  const methods = rest.length === 1 ? operation?.onType : operation?.onInstance
  if (!operation || !methods?.length)
    throw new Failure('NOT_FOUND', `There is no operation $${name.slice(0, 60)} at this address.`, {
      issue: 'not-supported',
    })
  return Object.fromEntries(methods.map(method => [method, operation.run]))
}
