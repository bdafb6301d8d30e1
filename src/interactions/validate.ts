// $validate: everything that is wrong with a resource, always as a success (https://hl7.org/fhir/R4/resource-operation-validate.html).
import { isResourceType, isSubtype } from '../definitions/r4.ts'
import { Failure } from '../lib/failure.ts'
import { isObject, type JsonObject, parseJson } from '../lib/json.ts'
import type { Store } from '../store/store.ts'
import { parametersOf, single, wrongParameter } from './parameters.ts'
import type { FhirReply, FhirRequest } from './request.ts'

interface Problem {
  readonly severity: 'error' | 'warning' | 'information'
  readonly code: string
  readonly diagnostics: string
  readonly expression?: string
}

interface Asked {
  readonly resource: unknown
  readonly mode: string | undefined
  readonly profiles: readonly string[]
}

const modes = ['create', 'update', 'delete', 'profile']

export async function validationOf(store: Store, request: FhirRequest): Promise<FhirReply> {
  const [type] = request.segments as [string]
  const id = request.segments.length === 3 ? request.segments[1] : undefined
  const asked = askedOf(request, type)
  if (asked.mode !== undefined && !modes.includes(asked.mode))
    throw wrongParameter('mode', `mode must be one of ${modes.join(', ')}.`)
  const problems = asked.mode === 'delete' ? await ofDeletion(store, type, id) : await ofContent(store, type, id, asked)
  return { status: 200, body: JSON.stringify(outcome(problems)) }
}

async function ofContent(store: Store, type: string, id: string | undefined, asked: Asked): Promise<Problem[]> {
  const isStored = id !== undefined && asked.resource === undefined
  const resource = isStored ? parseJson((await store.read(type, id)).body) : asked.resource
  return [
    ...store.validate(type, resource),
    ...(asked.mode === 'update' && isObject(resource) ? ofIdentity(resource, id) : []),
    ...asked.profiles.flatMap(profile => ofProfile(profile, type)),
  ]
}

/** The resource is the body itself, or a part of Parameters; whatever is asked for may stand in the address as well. */
function askedOf({ body, search }: FhirRequest, type: string): Asked {
  const wrapped = isObject(body) && body['resourceType'] === 'Parameters' ? parametersOf(body) : []
  const isWrapped =
    isObject(body) && body['resourceType'] === 'Parameters' && (type !== 'Parameters' || carries(wrapped))
  const inside = isWrapped ? wrapped : []
  const named = [
    ...search,
    ...inside.flatMap(each => {
      const value = each['valueCode'] ?? each['valueUri'] ?? each['valueCanonical'] ?? each['valueString']
      return typeof value === 'string' ? [[String(each['name']), value] as [string, string]] : []
    }),
  ]
  return {
    resource: isWrapped ? inside.find(each => each['name'] === 'resource')?.['resource'] : body,
    mode: single(named, 'mode'),
    profiles: named.filter(([name, value]) => name === 'profile' && value !== '').map(([, value]) => value),
  }
}

const carries = (parameters: readonly JsonObject[]): boolean =>
  parameters.some(each => each['name'] === 'resource' && isObject(each['resource']))

/** A deletion needs a resource that is there, and a caller who may delete it. */
async function ofDeletion(store: Store, type: string, id: string | undefined): Promise<Problem[]> {
  const error = (code: string, diagnostics: string): Problem[] => [{ severity: 'error', code, diagnostics }]
  if (id === undefined) return error('required', 'To validate a deletion, call $validate on the resource instance.')
  try {
    await store.read(type, id)
  } catch (failure) {
    if (!(failure instanceof Failure) || (failure.code !== 'NOT_FOUND' && failure.code !== 'GONE')) throw failure
    return error(failure.issue, failure.message)
  }
  return store.may(type, 'd') ? [] : error('forbidden', `The scopes of the token do not permit deleting ${type}.`)
}

/** An update needs the id of its address. */
function ofIdentity(resource: JsonObject, id: string | undefined): Problem[] {
  const expression = `${String(resource['resourceType'])}.id`
  if (resource['id'] === undefined)
    return [{ severity: 'error', code: 'required', diagnostics: 'An update must have an id.', expression }]
  if (id === undefined || resource['id'] === id) return []
  return [
    { severity: 'error', code: 'value', diagnostics: `The id must be the id of the address, "${id}".`, expression },
  ]
}

const own = 'http://hl7.org/fhir/StructureDefinition/'

function ofProfile(profile: string, type: string): Problem[] {
  const [url] = profile.split('|') as [string]
  const named = url.startsWith(own) ? url.slice(own.length) : ''
  if (isSubtype(type, named)) return []
  if (isResourceType(named))
    return [{ severity: 'error', code: 'structure', diagnostics: `A ${type} is not a ${named}.`, expression: type }]
  return [
    {
      severity: 'warning',
      code: 'not-supported',
      diagnostics: `The profile ${url.slice(0, 200)} is unknown: the resource was validated against the R4 definition of ${type} only.`,
    },
  ]
}

function outcome(problems: readonly Problem[]): JsonObject {
  const fine: Problem = {
    severity: 'information',
    code: 'informational',
    diagnostics: 'No issues detected during validation.',
  }
  const shown = problems.length > 0 ? problems : [fine]
  return {
    resourceType: 'OperationOutcome',
    issue: shown.map(({ severity, code, diagnostics, expression }) => ({
      severity,
      code,
      details: { text: diagnostics },
      diagnostics,
      ...(expression ? { expression: [expression] } : {}),
    })),
  }
}
