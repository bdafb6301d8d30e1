// GET sdk/patients/{health_id}/fhir/{type} and fhir/$everything: FHIR searches about a patient, by Health ID (decisions §12).

import type { Caller } from '../../access/caller.ts'
import { openedParts } from '../../access/consent/opened.ts'
import type { Queryable } from '../../db/statement.ts'
import { bearer, headerOf, type Route, type RouteRequest, reply, route } from '../../http/route.ts'
import { everythingOf } from '../../interactions/everything.ts'
import { fhirJson } from '../../interactions/negotiate.ts'
import { type FhirReply, preferences, type SearchCall } from '../../interactions/request.ts'
import { patientSearchOf } from '../../interactions/search.ts'
import { sentBody } from '../../interactions/sent.ts'
import { Memory } from '../../lib/blocks.ts'
import { Failure } from '../../lib/failure.ts'
import { hash64 } from '../../lib/hash.ts'
import { type TObject, Type } from '../../lib/schema.ts'
import { healthIdParam, patientOf, type RegisteredPatient } from '../../mpi/patient-of.ts'
import { samePatients } from '../../records/records.ts'
import { fhirBase } from '../../store/base.ts'
import { membersOf } from '../../store/search/sql-compartment.ts'
import type { SdkParts } from './parts.ts'

/** The types whose resources are about patients. */
const types = membersOf('Patient')

const Searchset = Type.Object(
  { resourceType: Type.Literal('Bundle') },
  { $id: 'PatientSearchset', description: 'A FHIR R4 Bundle of type searchset.', additionalProperties: true },
)

const common = {
  method: 'GET',
  tag: 'SDK',
  access: bearer(),
  produces: fhirJson,
  replies: { 200: Searchset },
} as const

const SearchQuery = Type.Object(
  {
    _count: Type.Optional(Type.String({ description: 'Matches per page, at most 1000.' })),
    _sort: Type.Optional(
      Type.String({ description: 'Search parameters to sort by; prefix one with - for descending order.' }),
    ),
  },
  { additionalProperties: true, description: 'Any search parameter of the type, such as status=active.' },
)

const EverythingQuery = Type.Object(
  {
    _count: Type.Optional(Type.String({ description: 'Resources per page.' })),
    _since: Type.Optional(Type.String({ description: 'Return only resources changed since this time.' })),
    _type: Type.Optional(Type.String({ description: 'The resource types to return, separated by commas.' })),
    start: Type.Optional(Type.String({ description: 'Return only care from this date on.' })),
    end: Type.Optional(Type.String({ description: 'Return only care up to this date.' })),
  },
  { additionalProperties: true },
)

export function patientFhirRoutes(parts: SdkParts): Route[] {
  return [everythingRoute(parts), searchRoute(parts)]
}

function everythingRoute(parts: SdkParts): Route {
  return route({
    ...common,
    path: '/api/v1/sdk/patients/{health_id}/fhir/$everything',
    operationId: 'patientEverything',
    summary: 'Get all FHIR resources about a patient',
    description: `Returns what GET ${fhirBase}/Patient/{id}/$everything returns. Links to further pages stay under this path.`,
    params: healthIdParam,
    query: EverythingQuery,
    handle: request =>
      about(parts, request, types, ({ subject, caller, address, callOf }) =>
        everythingOf(parts.storeFor(caller), callOf('Patient', subject.patient, '$everything'), address),
      ),
  })
}

const params: TObject = Type.Object({
  ...healthIdParam.properties,
  type: Type.String({ maxLength: 64, description: 'The resource type.', examples: ['Condition'] }),
})

function searchRoute(parts: SdkParts): Route {
  return route({
    ...common,
    path: '/api/v1/sdk/patients/{health_id}/fhir/{type}',
    operationId: 'searchPatientResources',
    summary: 'Search the FHIR resources of a type about a patient',
    description: `Returns what a search of ${fhirBase}/{type} for this patient returns, with the same parameters. Links to further pages stay under this path.`,
    params,
    query: SearchQuery,
    handle(request) {
      const type = String((request.params as { type: string }).type)
      if (!types.includes(type))
        throw new Failure('NOT_FOUND', `${type.slice(0, 60)} is not a resource type about a patient.`)
      return about(parts, request, [type], async ({ subject, caller, address, callOf }) => {
        const patients = await samePatients(parts, caller, subject)
        return patientSearchOf(parts.storeFor(caller), callOf(type), { patients, address })
      })
    },
  })
}

type Request = RouteRequest<unknown, unknown, undefined, Caller>

/** What a search about a patient works with. */
interface Asking {
  readonly subject: RegisteredPatient
  readonly caller: Caller
  /** Of the search, for the links of its pages. */
  readonly address: string
  /** The request as a FHIR search of this path takes it. */
  readonly callOf: (...segments: string[]) => SearchCall
}

/** Answers a search about the patient of the address. @throws Failure CONSENT_… if nothing of it is open and nothing is the caller's own. */
async function about(
  parts: SdkParts,
  request: Request,
  asked: readonly string[],
  search: (asking: Asking) => Promise<FhirReply>,
) {
  const on = parts.databaseFor(request.caller)
  const subject = await patientOf(on, (request.params as { health_id: string }).health_id)
  const caller = await seeing(request.caller, subject)
  const call = callFor(parts, request)
  const callOf = (...segments: string[]): SearchCall => ({ ...call, segments })
  const found = await search({ subject, caller, address: `${request.baseUrl}${request.path}`, callOf })
  if (found.found === 0) await mustBeOpen(on, request.caller, subject, asked)
  return reply(200, await sentBody(found, call), { 'content-type': `${fhirJson}; charset=utf-8` })
}

/** Returns the caller with the visibility that applies. */
async function seeing(caller: Caller, { patient }: RegisteredPatient): Promise<Caller> {
  const { visibility } = caller
  return visibility?.override ? { ...caller, visibility: await visibility.override(patient) } : caller
}

/**
 * Asked only where nothing is found: whether that is because the patient has none of it.
 * @throws Failure CONSENT_… if no consent opens any of these types.
 */
async function mustBeOpen(on: Queryable, caller: Caller, { patient }: RegisteredPatient, asked: readonly string[]) {
  const { visibility } = caller
  // The trail discloses to each organisation its own accesses, by no consent.
  if (!visibility || visibility.override || asked[0] === 'AuditEvent') return
  const { parts } = await openedParts(
    on,
    caller,
    patient,
    asked.map(type => ({ type })),
  )
  if (parts.length === 0) throw await visibility.refusal(on, hash64(`Patient/${patient}`))
}

function callFor(parts: SdkParts, request: Request): Omit<SearchCall, 'segments'> {
  const { caller, baseUrl, search } = request
  return {
    ...{ search, body: undefined },
    memory: new Memory(),
    base: `${baseUrl}${fhirBase}`,
    prefer: preferences(headerOf(request, 'prefer')),
    maps: parts.mapsFor(caller.clientId),
    people: parts.peopleFor(caller),
    trail: parts.trailFor(caller),
  }
}
