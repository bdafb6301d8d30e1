// The CapabilityStatement, made from the tables that the server itself works by (https://hl7.org/fhir/R4/capabilitystatement.html).

import { createHash } from 'node:crypto'
import type {
  CapabilityStatement,
  CapabilityStatementRestResource,
  CapabilityStatementRestResourceSearchParam,
  CapabilityStatementRestSecurity,
} from '@medplum/fhirtypes'
import { compartments, resourceTypes, searchParams } from '../definitions/r4.ts'
import { isLeading, unindexed } from '../store/search/answerable.ts'
import { isInUse, type SearchParams } from '../store/search-params/known.ts'
import { auditParameters } from './audit-parameters.ts'
import { instantiated as bulkData, bulkOperationsOf } from './bulk/operations.ts'
import { codes, systemCodes } from './interactions.ts'
import { operationsOf } from './operations.ts'
import { instantiated, profilesOf } from './profiles.ts'
import type { Metadata } from './request.ts'

// What is refused: `_query`, since there are no named queries, and parameters that are not indexed.
const unanswered = new Set(['_query', ...unindexed])

export interface MetadataParts {
  /** Address of the FHIR endpoint. */
  readonly base: string
  /** The same below the origin of the data set, which names the statement wherever it is served. */
  readonly endpoint: string
  readonly version: string
  readonly started: Date
  readonly params: SearchParams
}

/** The statement for a base address, as JSON text with its entity tag. */
export function capabilityStatement({ base, endpoint, version, started, params: all }: MetadataParts): Metadata {
  const statement: CapabilityStatement = {
    resourceType: 'CapabilityStatement',
    id: 'health-interop',
    url: `${endpoint}/metadata`,
    version,
    name: 'HealthInterop',
    title: 'health-interop FHIR R4 endpoint',
    status: 'active',
    experimental: false,
    date: started.toISOString(),
    publisher: 'health-interop',
    description: 'A generic FHIR R4 store on PostgreSQL: every resource type, every search parameter of R4.',
    kind: 'instance',
    instantiates: [...instantiated, bulkData],
    software: { name: 'health-interop', version },
    implementation: { description: 'health-interop', url: base },
    fhirVersion: '4.0.1',
    format: ['application/fhir+json', 'json'],
    patchFormat: ['application/json-patch+json', 'application/fhir+json'],
    rest: [
      {
        mode: 'server',
        documentation: 'POST [base]/$import stores the resources of NDJSON files in the background.',
        security: security,
        resource: resourceTypes.map(type => resource(type, all)),
        interaction: (['transaction', 'batch', ...systemCodes] as const).map(code => ({ code })),
        searchParam: params('Resource', all),
        operation: bulkOperationsOf(undefined),
        compartment: compartments.map(type => `http://hl7.org/fhir/CompartmentDefinition/${type.toLowerCase()}`),
      },
    ],
  }
  const { date: _date, ...stable } = statement
  return {
    body: JSON.stringify(statement),
    etag: `W/"${createHash('sha256').update(JSON.stringify(stable)).digest('hex').slice(0, 16)}"`,
  }
}

/** The extension oauth-uris would need an authorization endpoint, which client credentials do not have. */
const security: CapabilityStatementRestSecurity = {
  cors: true,
  service: [
    { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/restful-security-service', code: 'SMART-on-FHIR' }] },
  ],
  description:
    'OAuth 2.0 client credentials; scopes open interactions by resource type. GET [base]/.well-known/smart-configuration names the endpoints.',
}

/** The audit trail is read and searched, and never written. */
const trail: CapabilityStatementRestResource = {
  type: 'AuditEvent',
  profile: 'http://hl7.org/fhir/StructureDefinition/AuditEvent',
  interaction: [{ code: 'read' }, { code: 'search-type' }],
  versioning: 'no-version',
  readHistory: false,
  searchParam: Object.entries(auditParameters).map(([name, { type }]) => ({ name, type })),
  operation: operationsOn('AuditEvent'),
}

function resource(type: string, all: SearchParams): CapabilityStatementRestResource {
  if (type === trail.type) return trail
  const profiles = profilesOf(type)
  return {
    type: type as CapabilityStatementRestResource['type'],
    profile: `http://hl7.org/fhir/StructureDefinition/${type}`,
    supportedProfile: profiles.length > 0 ? profiles : undefined,
    interaction: codes.map(code => ({ code })),
    versioning: 'versioned-update',
    readHistory: true,
    updateCreate: true,
    conditionalCreate: true,
    conditionalRead: 'full-support',
    conditionalUpdate: true,
    conditionalDelete: 'single',
    referencePolicy: ['literal', 'logical', 'local'],
    searchInclude: ['*', ...includesOf(type, all)],
    searchRevInclude: revincludesOf(type),
    searchParam: params(type, all),
    operation: operationsOn(type),
  }
}

function operationsOn(type: string): CapabilityStatementRestResource['operation'] {
  return [...operationsOf(type).map(({ name, definition }) => ({ name, definition })), ...bulkOperationsOf(type)]
}

/** Returns what `_include` takes on a type. */
export function includesOf(type: string, all: SearchParams): string[] {
  return [...all.of(type).values()]
    .filter(param => param.type === 'reference' && isInUse(param) && isLeading(param, type))
    .map(param => `${type}:${param.code}`)
}

/** Returns what `_revinclude` takes on a type; undefined: nothing points at it alone. */
export const revincludesOf = (type: string): string[] | undefined => revincludes().get(type)

let reverse: Map<string, string[]> | undefined

/** Which parameters of other types point at each type; open targets are left out, being true of every type. */
function revincludes(): Map<string, string[]> {
  if (reverse) return reverse
  reverse = new Map()
  for (const type of resourceTypes) {
    if (type === trail.type) continue
    for (const param of searchParams(type).values()) {
      const isOfFew = param.type === 'reference' && param.targets && param.targets.length < 50
      const targets = isOfFew && isLeading(param, type) ? param.targets! : []
      for (const target of targets) reverse.set(target, [...(reverse.get(target) ?? []), `${type}:${param.code}`])
    }
  }
  return reverse
}

// What the definitions have no SearchParameter for.
const further: readonly CapabilityStatementRestResourceSearchParam[] = [
  { name: '_list', type: 'special', documentation: 'Only the members of the List resources with these ids' },
  {
    name: '_filter',
    type: 'special',
    documentation: 'Tests on search parameters joined by and, or and not: https://hl7.org/fhir/R4/search_filter.html',
  },
]

function params(type: string, all: SearchParams): CapabilityStatementRestResourceSearchParam[] {
  const defined = [...all.of(type).values()]
    .filter(param => !unanswered.has(param.code) && isInUse(param))
    .map(param => ({
      name: param.code,
      definition: param.url,
      type: param.type,
      documentation: param.description || undefined,
    }))
  return [...defined, ...further]
}
