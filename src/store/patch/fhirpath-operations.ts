// The operations of a FHIRPath Patch, read from their Parameters resource (https://hl7.org/fhir/R4/fhirpatch.html).
import { Failure } from '../../lib/failure.ts'
import { isObject, type JsonObject } from '../../lib/json.ts'

export interface PatchOperation {
  readonly type: string
  readonly path: string
  readonly name: string | undefined
  readonly value: unknown
  /** Type of the value as its key names it (`DateTime` of `valueDateTime`); undefined if it was given in parts. */
  readonly valueType: string | undefined
  readonly index: number | undefined
  readonly source: number | undefined
  readonly destination: number | undefined
}

const mostOperations = 1000

/** @throws Failure MALFORMED_REQUEST for Parameters that are no patch. */
export function readOperations(parameters: unknown): PatchOperation[] {
  const isParameters = isObject(parameters) && parameters['resourceType'] === 'Parameters'
  const list = isParameters ? (parameters['parameter'] ?? []) : undefined
  if (!Array.isArray(list))
    throw new Failure(
      'MALFORMED_REQUEST',
      'A FHIRPath Patch must be a Parameters resource with one parameter `operation` for each change.',
    )
  if (list.length > mostOperations)
    throw new Failure('MALFORMED_REQUEST', `A patch must have at most ${mostOperations} operations.`)
  return list.map((entry: unknown, index) => readOperation(entry, index))
}

const kinds = new Set(['add', 'insert', 'delete', 'replace', 'move'])

function readOperation(entry: unknown, index: number): PatchOperation {
  const wrong = (what: string): Failure =>
    new Failure('MALFORMED_REQUEST', `Operation ${index + 1} of the patch ${what}.`)
  if (!isObject(entry) || entry['name'] !== 'operation' || !Array.isArray(entry['part']))
    throw wrong('must be a parameter named `operation` with parts')
  const parts = new Map<string, JsonObject>()
  for (const part of entry['part'])
    if (isObject(part) && typeof part['name'] === 'string') parts.set(part['name'], part)
  const text = (name: string): string | undefined => {
    const value = partValue(parts.get(name))
    if (value === undefined || typeof value === 'string') return value
    throw wrong(`must have a ${name} of type string`)
  }
  const number = (name: string): number | undefined => {
    const value = partValue(parts.get(name))
    if (value === undefined || typeof value === 'number') return value
    throw wrong(`must have a ${name} of type number`)
  }
  const [type, path] = [text('type'), text('path')]
  if (typeof type !== 'string' || !kinds.has(type)) throw wrong(`must have the type ${[...kinds].join(', ')}`)
  if (typeof path !== 'string') throw wrong('must have a path')
  return {
    type,
    path,
    name: text('name'),
    value: partValue(parts.get('value')),
    valueType: Object.keys(parts.get('value') ?? {})
      .find(key => key.startsWith('value'))
      ?.slice('value'.length),
    index: number('index'),
    source: number('source'),
    destination: number('destination'),
  }
}

/** The value of a parameter: its value[x], its resource, or an object made of its parts (for backbone elements). */
function partValue(parameter: JsonObject | undefined): unknown {
  if (!parameter) return undefined
  for (const [key, value] of Object.entries(parameter)) if (key.startsWith('value') || key === 'resource') return value
  if (!Array.isArray(parameter['part'])) return undefined
  const object: JsonObject = {}
  for (const part of parameter['part']) {
    if (!isObject(part) || typeof part['name'] !== 'string') continue
    const name = part['name']
    if (!/^[A-Za-z]\w*$/.test(name)) throw new Failure('MALFORMED_REQUEST', 'A part of the patch has no element name.')
    const value = partValue(part)
    if (!Object.hasOwn(object, name)) object[name] = value
    else object[name] = [...(Array.isArray(object[name]) ? object[name] : [object[name]]), value]
  }
  return object
}
