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
    summary: 'What this FHIR endpoint can do (CapabilityStatement)',
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
    summary: 'Search across resource types, parameters in the body',
    answer: searchOf,
  },
  {
    systemCode: 'history-system',
    method: 'GET',
    at: '_history',
    operationId: 'historySystem',
    summary: 'Everything that changed, newest first',
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
    summary: 'Search within a compartment, parameters in the body',
    answer: compartmentOf,
  },
  {
    code: 'search-type',
    method: 'POST',
    at: 'type/_search',
    operationId: 'searchTypeByForm',
    summary: 'Search a resource type, parameters in the body',
    answer: searchOf,
  },
  {
    code: 'history-type',
    method: 'GET',
    at: 'type/_history',
    operationId: 'historyType',
    summary: 'Every change to resources of a type, newest first',
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
    summary: 'Create a resource, or with If-None-Exist only if there is none; a Binary also by its content',
    hasContent: true,
    answer: create,
  },
  {
    code: 'update',
    method: 'PUT',
    at: 'type',
    operationId: 'updateConditionally',
    summary: 'Replace the one resource that the query matches',
    answer: updateWhere,
  },
  {
    code: 'patch',
    method: 'PATCH',
    at: 'type',
    operationId: 'patchConditionally',
    summary: 'Change parts of the one resource that the query matches',
    answer: patchWhere,
  },
  {
    code: 'delete',
    method: 'DELETE',
    at: 'type',
    operationId: 'deleteConditionally',
    summary: 'Delete the one resource that the query matches',
    answer: removeWhere,
  },
  {
    code: 'vread',
    method: 'GET',
    at: 'type/id/_history/version',
    operationId: 'readVersion',
    summary: 'Read one version of a resource; a Binary also by its content',
    hasContent: true,
    answer: readVersion,
  },
  {
    code: 'history-instance',
    method: 'GET',
    at: 'type/id/_history',
    operationId: 'historyInstance',
    summary: 'Every version of a resource, newest first',
    answer: historyOf,
  },
  {
    code: 'read',
    method: 'GET',
    at: 'type/id',
    operationId: 'read',
    summary: 'Read a resource; a Binary also by its content',
    hasContent: true,
    answer: read,
  },
  {
    code: 'update',
    method: 'PUT',
    at: 'type/id',
    operationId: 'update',
    summary: 'Replace a resource, or create it under this id; a Binary also by its content',
    hasContent: true,
    answer: update,
  },
  {
    code: 'patch',
    method: 'PATCH',
    at: 'type/id',
    operationId: 'patch',
    summary: 'Change parts of a resource',
    answer: patch,
  },
  {
    code: 'delete',
    method: 'DELETE',
    at: 'type/id',
    operationId: 'delete',
    summary: 'Delete a resource; its history stays',
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
