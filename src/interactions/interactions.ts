// The interactions of this endpoint as values, operations (operations.ts), batches and transactions (batch.ts) excepted.
// https://hl7.org/fhir/R4/http.html
import { historyOf } from './history.ts'
import type { Address, Answer, Interaction } from './interaction.ts'
import {
  capabilitiesOf,
  create,
  patch,
  patchWhere,
  read,
  readVersion,
  remove,
  removeWhere,
  update,
  updateWhere,
} from './resource.ts'
import { compartmentOf, searchOf } from './search.ts'

/** In the order in which an address lists its methods. */
export const interactions: readonly Interaction[] = [
  {
    method: 'GET',
    at: 'metadata',
    operationId: 'capabilities',
    summary: 'Get the CapabilityStatement',
    answer: capabilitiesOf,
  },
  {
    systemCode: 'search-system',
    method: 'GET',
    at: '',
    operationId: 'searchSystem',
    summary: 'Search across resource types',
    answer: searchOf,
  },
  {
    systemCode: 'search-system',
    method: 'POST',
    at: '_search',
    operationId: 'searchSystemByForm',
    summary: 'Search across resource types with parameters in the body',
    answer: searchOf,
  },
  {
    systemCode: 'history-system',
    method: 'GET',
    at: '_history',
    operationId: 'historySystem',
    summary: 'List the changes to all resources, newest first',
    answer: historyOf,
  },
  {
    method: 'GET',
    at: 'type/id/member',
    operationId: 'searchCompartment',
    summary: 'Search within a compartment',
    answer: compartmentOf,
  },
  {
    method: 'POST',
    at: 'type/id/member/_search',
    operationId: 'searchCompartmentByForm',
    summary: 'Search within a compartment with parameters in the body',
    answer: compartmentOf,
  },
  {
    code: 'search-type',
    method: 'POST',
    at: 'type/_search',
    operationId: 'searchTypeByForm',
    summary: 'Search a resource type with parameters in the body',
    answer: searchOf,
  },
  {
    code: 'history-type',
    method: 'GET',
    at: 'type/_history',
    operationId: 'historyType',
    summary: 'List the changes to resources of a type, newest first',
    answer: historyOf,
  },
  {
    code: 'search-type',
    method: 'GET',
    at: 'type',
    operationId: 'searchType',
    summary: 'Search a resource type',
    answer: searchOf,
  },
  {
    code: 'create',
    method: 'POST',
    at: 'type',
    operationId: 'create',
    summary: 'Create a resource; with If-None-Exist, only if no resource matches',
    hasContent: true,
    answer: create,
  },
  {
    code: 'update',
    method: 'PUT',
    at: 'type',
    operationId: 'updateConditionally',
    summary: 'Update the resource that matches the query',
    answer: updateWhere,
  },
  {
    code: 'patch',
    method: 'PATCH',
    at: 'type',
    operationId: 'patchConditionally',
    summary: 'Patch the resource that matches the query',
    answer: patchWhere,
  },
  {
    code: 'delete',
    method: 'DELETE',
    at: 'type',
    operationId: 'deleteConditionally',
    summary: 'Delete the resource that matches the query',
    answer: removeWhere,
  },
  {
    code: 'vread',
    method: 'GET',
    at: 'type/id/_history/version',
    operationId: 'readVersion',
    summary: 'Read a version of a resource',
    hasContent: true,
    answer: readVersion,
  },
  {
    code: 'history-instance',
    method: 'GET',
    at: 'type/id/_history',
    operationId: 'historyInstance',
    summary: 'List the versions of a resource, newest first',
    answer: historyOf,
  },
  {
    code: 'read',
    method: 'GET',
    at: 'type/id',
    operationId: 'read',
    summary: 'Read a resource',
    hasContent: true,
    answer: read,
  },
  {
    code: 'update',
    method: 'PUT',
    at: 'type/id',
    operationId: 'update',
    summary: 'Update a resource, or create it with this id',
    hasContent: true,
    answer: update,
  },
  {
    code: 'patch',
    method: 'PATCH',
    at: 'type/id',
    operationId: 'patch',
    summary: 'Patch a resource',
    answer: patch,
  },
  {
    code: 'delete',
    method: 'DELETE',
    at: 'type/id',
    operationId: 'delete',
    summary: 'Delete a resource; its history remains',
    answer: remove,
  },
]

const byAddress = Map.groupBy(interactions, ({ at }) => at)

/** What an address of this form answers to, by method. */
export const answersAt: ReadonlyMap<Address, Readonly<Record<string, Answer>>> = new Map(
  [...byAddress].map(([at, all]) => [at, Object.fromEntries(all.map(({ method, answer }) => [method, answer]))]),
)

/** What the CapabilityStatement names of them, for each type and for the system. */
export const codes = [...new Set(interactions.flatMap(({ code }) => code ?? []))]
export const systemCodes = [...new Set(interactions.flatMap(({ systemCode }) => systemCode ?? []))]
