// What an import is asked for: the manifest of the SMART Bulk Data Import draft, or the same as a Parameters resource
// (https://github.com/smart-on-fhir/bulk-import/blob/master/import.md).
import { isResourceType } from '../../definitions/r4.ts'
import { Failure } from '../../lib/failure.ts'
import { isObject, type JsonObject, objectsIn } from '../../lib/json.ts'
import { parametersOf } from '../parameters.ts'
import type { NewInput } from './inputs.ts'
import { mustBeAllowed, type Origins } from './receive.ts'

/** An import as it is kept with its job. */
export interface ImportOrder {
  /** Becomes meta.source of resources that have none. */
  readonly source: string | undefined
}

const mostInputs = 1000

/** @throws Failure MALFORMED_REQUEST for what is not of that form, FORBIDDEN for origins that are not allowed. */
export function readManifest(body: unknown, origins: Origins): { order: ImportOrder; inputs: NewInput[] } {
  if (!isObject(body)) throw wrong('the body', 'The manifest must be a JSON object.')
  const manifest = body['resourceType'] === 'Parameters' ? fromParameters(body) : body
  const { inputFormat, inputSource, input, storageDetail } = manifest
  if (inputFormat !== undefined && !/^(application\/(fhir\+)?)?ndjson$/.test(String(inputFormat)))
    throw wrong('inputFormat', 'inputFormat must be application/fhir+ndjson.')
  const storage = isObject(storageDetail) ? storageDetail['type'] : storageDetail
  if (storage !== undefined && storage !== 'https') throw wrong('storageDetail', 'storageDetail.type must be https.')
  if (inputSource !== undefined && (typeof inputSource !== 'string' || !URL.canParse(inputSource)))
    throw wrong('inputSource', 'inputSource must be a URI.')
  if (!Array.isArray(input) || input.length === 0 || input.length > mostInputs)
    throw wrong('input', `input must be a list of 1 to ${mostInputs} files, each with a type and a url.`)
  return { order: { source: inputSource }, inputs: input.map((each, number) => readInput(each, number, origins)) }
}

function readInput(input: unknown, number: number, origins: Origins): NewInput {
  const { type, url } = isObject(input) ? input : {}
  const place = `input[${number}]`
  if (type !== undefined && (typeof type !== 'string' || !isResourceType(type)))
    throw wrong(`${place}.type`, `${place}.type must be a resource type of R4.`)
  const address = typeof url === 'string' ? URL.parse(url) : null
  if (!address) throw wrong(`${place}.url`, `${place}.url must be an absolute URL.`)
  mustBeAllowed(address, origins)
  // Query and fragment may be a signature: what is shown and logged goes without.
  const label = address.pathname.split('/').at(-1) || address.host
  return { number, url: address.href, label, type, bytes: undefined }
}

/** The members of the manifest from the parameters of the same names; `input` has parts. */
function fromParameters(body: JsonObject): JsonObject {
  const manifest: JsonObject = {}
  const input: JsonObject[] = []
  for (const parameter of parametersOf(body)) {
    const name = String(parameter['name'])
    if (name === 'input') input.push(partsOf(parameter))
    else manifest[name] = name === 'storageDetail' ? partsOf(parameter) : parameterValue(parameter)
  }
  return { ...manifest, input }
}

function partsOf(parameter: JsonObject): JsonObject {
  const parts = objectsIn(parameter['part'])
  return Object.fromEntries(parts.map(part => [String(part['name']), parameterValue(part)]))
}

const parameterValue = (parameter: JsonObject): unknown =>
  Object.entries(parameter).find(([key]) => /^value[A-Z]/.test(key))?.[1]

const wrong = (field: string, message: string): Failure =>
  new Failure('MALFORMED_REQUEST', message, { details: [{ field, code: 'value', message }] })
