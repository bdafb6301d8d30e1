// The CapabilityStatement, made from the tables that the server itself works by (https://hl7.org/fhir/R4/capabilitystatement.html).

import { createHash } from 'node:crypto'
import type {
  CapabilityStatement,
  CapabilityStatementRestInteraction,
  CapabilityStatementRestResource,
  CapabilityStatementRestResourceInteraction,
  CapabilityStatementRestResourceSearchParam,
  CapabilityStatementRestSecurity,
} from '@medplum/fhirtypes'
import type { SearchParamModel } from '../definitions/model.ts'
import { resourceTypes, searchParams } from '../definitions/r4.ts'
import { bulkOperationsOf, instantiated } from './bulk/operations.ts'
import { operationsOf } from './operations.ts'

/** Interactions of every type. */
const typeInteractions: readonly CapabilityStatementRestResourceInteraction['code'][] = [
  'read',
  'vread',
  'update',
  'patch',
  'delete',
  'history-instance',
  'history-type',
  'create',
  'search-type',
]
const systemInteractions: readonly CapabilityStatementRestInteraction['code'][] = [
  'transaction',
  'batch',
  'search-system',
  'history-system',
]

// Parameters that the definitions name but search does not answer yet.
const unanswered = new Set(['_text', '_content', '_filter', '_query', '_has', '_type'])

export interface Metadata {
  readonly body: string
  readonly etag: string
}

/** The statement for a base address, as JSON text with its entity tag. */
export function capabilityStatement(base: string, issuer: string, version: string, started: Date): Metadata {
  const statement: CapabilityStatement = {
    resourceType: 'CapabilityStatement',
    id: 'health-interop',
    url: `${base}/metadata`,
    version,
    name: 'HealthInterop',
    title: 'health-interop FHIR R4 endpoint',
    status: 'active',
    experimental: false,
    date: started.toISOString(),
    publisher: 'health-interop',
    description: 'A generic FHIR R4 store on PostgreSQL: every resource type, every search parameter of R4.',
    kind: 'instance',
    instantiates: [instantiated],
    software: { name: 'health-interop', version },
    implementation: { description: 'health-interop', url: base },
    fhirVersion: '4.0.1',
    format: ['application/fhir+json', 'json'],
    patchFormat: ['application/json-patch+json', 'application/fhir+json'],
    rest: [
      {
        mode: 'server',
        documentation: 'POST [base]/$import stores the resources of NDJSON files in the background.',
        security: security(issuer),
        resource: resourceTypes.map(resource),
        interaction: systemInteractions.map(code => ({ code })),
        searchParam: params('Resource'),
        operation: bulkOperationsOf(undefined),
        compartment: ['http://hl7.org/fhir/CompartmentDefinition/patient'],
      },
    ],
  }
  const { date: _date, ...stable } = statement
  return {
    body: JSON.stringify(statement),
    etag: `W/"${createHash('sha256').update(JSON.stringify(stable)).digest('hex').slice(0, 16)}"`,
  }
}

function security(issuer: string): CapabilityStatementRestSecurity {
  return {
    cors: true,
    service: [
      { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/restful-security-service', code: 'SMART-on-FHIR' }] },
    ],
    description: 'OAuth 2.0 client credentials; scopes open interactions by resource type.',
    extension: [
      {
        url: 'http://fhir-registry.smarthealthit.org/StructureDefinition/oauth-uris',
        extension: [
          { url: 'token', valueUri: `${issuer}/api/v1/connect/auth/token` },
          { url: 'introspect', valueUri: `${issuer}/api/v1/connect/auth/introspect` },
          { url: 'revoke', valueUri: `${issuer}/api/v1/connect/auth/revoke` },
        ],
      },
    ],
  }
}

function resource(type: string): CapabilityStatementRestResource {
  return {
    type: type as CapabilityStatementRestResource['type'],
    profile: `http://hl7.org/fhir/StructureDefinition/${type}`,
    interaction: typeInteractions.map(code => ({ code })),
    versioning: 'versioned-update',
    readHistory: true,
    updateCreate: true,
    conditionalCreate: true,
    conditionalRead: 'full-support',
    conditionalUpdate: true,
    conditionalDelete: 'single',
    referencePolicy: ['literal', 'logical', 'local'],
    searchInclude: ['*', ...references(type)],
    searchRevInclude: revincludes().get(type),
    searchParam: params(type),
    operation: [...operationsOf(type).map(({ name, definition }) => ({ name, definition })), ...bulkOperationsOf(type)],
  }
}

function references(type: string): string[] {
  return [...searchParams(type).values()]
    .filter(param => param.type === 'reference')
    .map(param => `${type}:${param.code}`)
}

let reverse: Map<string, string[]> | undefined

/** Which parameters of other types point at each type; open targets are left out, being true of every type. */
function revincludes(): Map<string, string[]> {
  if (reverse) return reverse
  reverse = new Map()
  for (const type of resourceTypes) {
    for (const param of searchParams(type).values()) {
      const targets = param.type === 'reference' && param.targets && param.targets.length < 50 ? param.targets : []
      for (const target of targets) reverse.set(target, [...(reverse.get(target) ?? []), `${type}:${param.code}`])
    }
  }
  return reverse
}

function isAnswered({ code, type, components = [] }: SearchParamModel): boolean {
  return !unanswered.has(code) && type !== 'special' && components.length <= 2
}

// R4 describes _list, but has no SearchParameter for it.
const list: CapabilityStatementRestResourceSearchParam = {
  name: '_list',
  type: 'special',
  documentation: 'Only what the List resources with these ids hold',
}

function params(type: string): CapabilityStatementRestResourceSearchParam[] {
  const defined = [...searchParams(type).values()].filter(isAnswered).map(param => ({
    name: param.code,
    definition: param.url,
    type: param.type,
    documentation: param.description || undefined,
  }))
  return [...defined, list]
}
