// What an operation is given: parameters of the address, or a Parameters resource in the body.
// https://hl7.org/fhir/R4/operations.html#request
import { Failure } from '../../lib/failure.ts'
import { isJsonNumber, isObject, type JsonObject, numberOf } from '../../lib/json.ts'
import { canonicalParts, inline, type Library, type LibraryType } from '../../store/terminology/library.ts'
import type { Coded } from '../../store/terminology/member.ts'
import type { FhirRequest } from '../request.ts'

export interface Inputs {
  readonly library: Library
  /** The id of the address, where the operation is asked of one resource. */
  readonly id: string | undefined
  /** Every value of a parameter: text of the address, or what the body holds. */
  all(name: string): readonly unknown[]
}

const malformed = (field: string, message: string): Failure =>
  new Failure('MALFORMED_REQUEST', message, { details: [{ field, code: 'invalid', message }] })

/**
 * Reads the parameters.
 * @throws Failure MALFORMED_REQUEST for one that the operation does not take: leaving it out would change the answer.
 */
export function inputsOf(library: Library, request: FhirRequest, taken: readonly string[]): Inputs {
  const found = new Map<string, unknown[]>()
  const add = (name: string, value: unknown): void => {
    if (name.startsWith('_')) return
    if (!taken.includes(name))
      throw malformed(
        name.slice(0, 60),
        `The operation does not take the parameter "${name.slice(0, 60)}" here; it takes ${taken.join(', ')}.`,
      )
    found.set(name, [...(found.get(name) ?? []), value])
  }
  for (const [name, value] of request.search) if (value !== '') add(name, value)
  if (request.method === 'POST' && request.body !== undefined)
    for (const [name, value] of bodyParameters(request.body)) add(name, value)
  const id = request.segments.length === 3 ? request.segments[1] : undefined
  return { library, id, all: name => found.get(name) ?? [] }
}

function bodyParameters(body: unknown): [string, unknown][] {
  if (!isObject(body) || body['resourceType'] !== 'Parameters')
    throw malformed('Parameters', 'The body of an operation must be a Parameters resource.')
  const list = body['parameter'] ?? []
  if (!Array.isArray(list)) throw malformed('Parameters.parameter', 'Parameters.parameter must be an array.')
  return list.map((each: unknown, index) => {
    if (!isObject(each) || typeof each['name'] !== 'string')
      throw malformed(`Parameters.parameter[${index}]`, `Parameter ${index} of the body has no name.`)
    const member = Object.keys(each).find(key => key === 'resource' || /^value[A-Z]/.test(key))
    if (member === undefined) throw malformed(each['name'].slice(0, 60), `Parameter ${index} of the body has no value.`)
    return [each['name'], each[member]]
  })
}

/** The one value of a parameter. @throws Failure MALFORMED_REQUEST if there are several. */
function only({ all }: Inputs, name: string): unknown {
  const [value, ...more] = all(name)
  if (more.length > 0) throw malformed(name, `The parameter ${name} must not be repeated.`)
  return value
}

/** A simple value as text. */
export function textOf(inputs: Inputs, name: string): string | undefined {
  const value = only(inputs, name)
  if (value === undefined) return undefined
  if (isJsonNumber(value)) return String(numberOf(value))
  if (typeof value !== 'string' && typeof value !== 'boolean') throw malformed(name, `${name} must be a simple value.`)
  return String(value)
}

export function flagOf(inputs: Inputs, name: string): boolean {
  const value = textOf(inputs, name) ?? 'false'
  if (value !== 'true' && value !== 'false') throw malformed(name, `${name} must be true or false.`)
  return value === 'true'
}

/** A number of things: whole and not negative. */
export function countOf(inputs: Inputs, name: string): number | undefined {
  const value = textOf(inputs, name)
  if (value !== undefined && !/^\d{1,9}$/.test(value)) throw malformed(name, `${name} must be a whole number.`)
  return value === undefined ? undefined : Number(value)
}

function objectOf(inputs: Inputs, name: string): JsonObject | undefined {
  const value = only(inputs, name)
  if (value === undefined || isObject(value)) return value
  throw malformed(name, `${name} is not a simple value: send it in the body, in a Parameters resource.`)
}

/** The parameters by which an operation receives its resource. */
export interface Naming {
  readonly type: LibraryType
  readonly inline: string
  readonly version: string
}

/** The resource that the operation is about: of the address, of the body, or by its canonical address. */
export function subjectOf(inputs: Inputs, naming: Naming): Promise<JsonObject> {
  const { library, id } = inputs
  const [given, url, version] = [only(inputs, naming.inline), textOf(inputs, 'url'), textOf(inputs, naming.version)]
  if ([id, given, url].filter(each => each !== undefined).length > 1)
    throw malformed('url', `Specify the ${naming.type} once: with the address, url or ${naming.inline}.`)
  if (id !== undefined) return library.byId(naming.type, id)
  if (given !== undefined) return Promise.resolve(inline(given, naming.type))
  if (url === undefined)
    throw malformed(
      'url',
      `The ${naming.type} is missing: specify url or ${naming.inline}, or call ${naming.type}/[id].`,
    )
  const isPinned = version === undefined || canonicalParts(url).version !== undefined
  return library.byUrl(naming.type, isPinned ? url : `${url}|${version}`)
}

/** The codes asked about: `code` with `system`, a `coding`, or all codings of a `codeableConcept`. */
export function codesOf(inputs: Inputs): Coded[] {
  const { code, codings } = askedOf(inputs)
  if (codings) return codings
  const system = textOf(inputs, 'system')
  if (system === undefined) throw malformed('system', 'code requires system.')
  return [{ system, code: code!, version: textOf(inputs, 'version'), display: textOf(inputs, 'display') }]
}

/** One of both: a `code` whose system is given otherwise, or the codings of `coding` or `codeableConcept`. */
export function askedOf(inputs: Inputs): { readonly code: string | undefined; readonly codings: Coded[] | undefined } {
  const [code, coding, concept] = [
    textOf(inputs, 'code'),
    objectOf(inputs, 'coding'),
    objectOf(inputs, 'codeableConcept'),
  ]
  if ([code, coding, concept].filter(each => each !== undefined).length !== 1)
    throw malformed('code', 'The operation requires one of code with system, coding, or codeableConcept.')
  if (listOf(concept?.['coding']).length > mostCodings)
    throw malformed('codeableConcept', `codeableConcept must have at most ${mostCodings} codings.`)
  if (concept) return { code, codings: listOf(concept['coding']).map(each => codedOf(each, 'codeableConcept')) }
  return { code, codings: coding && [codedOf(coding, 'coding')] }
}

/** A code of a system that is given otherwise, or a coding, which names its own. @throws Failure MALFORMED_REQUEST unless it is one of both. */
export function oneOf(
  inputs: Inputs,
  code: string,
  coding: string,
): { readonly code: string; readonly system?: string } {
  const [text, object] = [textOf(inputs, code), objectOf(inputs, coding)]
  if ((text === undefined) === (object === undefined))
    throw malformed(code, `The operation requires one of ${code} with system, and ${coding}.`)
  return text === undefined ? codedOf(object, coding) : { code: text }
}

const mostCodings = 100

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])

function codedOf(value: unknown, name: string): Coded {
  const { system, version, code, display } = isObject(value) ? value : ({} as JsonObject)
  if (typeof system !== 'string' || typeof code !== 'string')
    throw malformed(name, `${name} requires a system and a code.`)
  const optional = (each: unknown): string | undefined => (typeof each === 'string' ? each : undefined)
  return { system, code, version: optional(version), display: optional(display) }
}

/** One parameter of an answer. */
export type Output = JsonObject & { readonly name: string }

/** The answer as a Parameters resource; what is undefined is left out. */
export const parametersReply = (parameter: readonly (Output | undefined)[]): { status: number; body: string } => ({
  status: 200,
  body: JSON.stringify({ resourceType: 'Parameters', parameter: parameter.filter(Boolean) }),
})
