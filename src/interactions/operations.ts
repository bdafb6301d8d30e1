// The operations of this endpoint as values: dispatch, routes and CapabilityStatement are read from them
// (https://hl7.org/fhir/R4/operations.html).
import { Failure } from '../lib/failure.ts'
import { everythingOf } from './everything.ts'
import { lastnOf } from './lastn.ts'
import { matchOf, matchTakes } from './match.ts'
import { mergeOf, mergeTakes, unmergeOf, unmergeTakes } from './merge.ts'
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
    summary: 'Get the whole record of a patient, or of all patients',
    takes: {
      start: 'Return only care from this date on. Ongoing care and resources without a care date are included.',
      end: 'Return only care up to this date.',
      _since: 'Return only resources changed since this instant.',
      _type: 'Comma-separated resource types to return.',
      _count: 'Resources per page, at most 10000.',
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
    summary: 'Get the most recent observations of each kind',
    takes: {
      max: 'Observations of each kind. Default: 1.',
      patient: 'The patient. Every search parameter of Observation is accepted.',
      category: 'The category of the observations.',
      code: 'The codes of the observations.',
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
    summary: 'Validate a resource without storing it',
    takes: {
      mode: 'The validation mode: create, update, delete or profile.',
      profile: 'Canonical URL of a profile to validate against.',
    },
    run: validationOf,
  },
  {
    name: 'match',
    definition: 'http://hl7.org/fhir/OperationDefinition/Patient-match',
    of: 'Patient',
    onType: ['POST'],
    onInstance: [],
    summary: 'Find registered patients that match the demographics, with match scores',
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
    summary: 'Merge two patients that are the same person',
    takes: mergeTakes,
    run: mergeOf,
  },
  {
    name: 'unmerge',
    definition: 'https://health-interop.org/fhir/OperationDefinition/Patient-unmerge',
    of: 'Patient',
    onType: ['POST'],
    onInstance: [],
    summary: 'Restore two patients that were merged by mistake',
    takes: unmergeTakes,
    run: unmergeOf,
  },
  ...terminologyOperations,
  {
    name: 'transform',
    definition: 'http://hl7.org/fhir/OperationDefinition/StructureMap-transform',
    of: 'StructureMap',
    onType: ['POST'],
    onInstance: ['POST'],
    summary: 'Transform a resource or record with a map',
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
