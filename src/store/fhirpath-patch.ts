// FHIRPath Patch: operations in a Parameters resource, their places given by FHIRPath (https://hl7.org/fhir/R4/fhirpatch.html).

import type { ElementModel } from '../definitions/model.ts'
import { isResourceType, typeModel } from '../definitions/r4.ts'
import { compileTyped, type Typed } from '../fhirpath/compile.ts'
import { Failure } from '../lib/failure.ts'
import { isObject, type JsonObject } from '../lib/json.ts'

interface Operation {
  readonly type: string
  readonly path: string
  readonly name: string | undefined
  readonly value: unknown
  readonly index: number | undefined
  readonly source: number | undefined
  readonly destination: number | undefined
}

/** Where a value stands: `holder[key]`, and its place in the list there, if there is one. */
interface Place {
  readonly holder: JsonObject
  readonly key: string
  readonly index: number | undefined
}

const mostOperations = 1000

/**
 * Applies the operations in order to the resource, which is changed.
 * @throws Failure MALFORMED_REQUEST for Parameters that are no patch, VALIDATION_FAILED where an operation does not fit the resource.
 */
export function applyFhirPathPatch(resource: JsonObject, parameters: unknown): JsonObject {
  const operations = readOperations(parameters)
  operations.forEach((operation, index) => {
    try {
      apply(resource, operation)
    } catch (error) {
      const message = (error as Error).message
      throw new Failure(
        'VALIDATION_FAILED',
        `The patch does not apply: operation ${index + 1} (${operation.type} at ${operation.path}): ${message}.`,
      )
    }
  })
  return resource
}

function readOperations(parameters: unknown): Operation[] {
  const list = isObject(parameters) && parameters['resourceType'] === 'Parameters' ? parameters['parameter'] : undefined
  if (!Array.isArray(list))
    throw new Failure(
      'MALFORMED_REQUEST',
      'A FHIRPath Patch is a Parameters resource with a parameter `operation` for each change.',
    )
  if (list.length > mostOperations)
    throw new Failure('MALFORMED_REQUEST', `A patch has at most ${mostOperations} operations.`)
  return list.map((entry: unknown, index) => readOperation(entry, index))
}

const kinds = new Set(['add', 'insert', 'delete', 'replace', 'move'])

function readOperation(entry: unknown, index: number): Operation {
  const wrong = (what: string): Failure =>
    new Failure('MALFORMED_REQUEST', `Operation ${index + 1} of the patch ${what}.`)
  if (!isObject(entry) || entry['name'] !== 'operation' || !Array.isArray(entry['part']))
    throw wrong('must be a parameter named `operation` with parts')
  const parts = new Map<string, JsonObject>()
  for (const part of entry['part'])
    if (isObject(part) && typeof part['name'] === 'string') parts.set(part['name'], part)
  const text = (name: string): string | undefined => partValue(parts.get(name)) as string | undefined
  const number = (name: string): number | undefined => partValue(parts.get(name)) as number | undefined
  const [type, path] = [text('type'), text('path')]
  if (typeof type !== 'string' || !kinds.has(type)) throw wrong(`must have the type ${[...kinds].join(', ')}`)
  if (typeof path !== 'string') throw wrong('must have a path')
  return {
    type,
    path,
    name: text('name'),
    value: partValue(parts.get('value')),
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
    const value = partValue(part)
    if (!Object.hasOwn(object, name)) object[name] = value
    else object[name] = [...(Array.isArray(object[name]) ? object[name] : [object[name]]), value]
  }
  return object
}

function apply(resource: JsonObject, operation: Operation): void {
  const found = evaluate(resource, operation.path)
  switch (operation.type) {
    case 'add':
      return add(resource, single(found, operation), operation)
    case 'insert':
      return insert(resource, operation)
    case 'delete':
      return remove(resource, found)
    case 'replace':
      return replace(placeOf(resource, single(found, operation)), operation)
    case 'move':
      return move(resource, operation)
  }
}

function evaluate(resource: JsonObject, path: string): readonly Typed[] {
  const type = String(resource['resourceType'])
  return compileTyped(path, { model: { typeModel }, type, paths: true, untrusted: true })(resource)
}

function single(found: readonly Typed[], { type }: Operation): Typed {
  if (found.length === 1) return found[0]!
  throw new Error(
    found.length === 0 ? 'the path leads nowhere' : `the path leads to ${found.length} places, but ${type} needs one`,
  )
}

/** Follows a path such as `Patient.name[0].given[1]` through the JSON; choices are found under their typed key. */
function placeOf(resource: JsonObject, { path }: Typed): Place {
  const steps = [...(path ?? '').matchAll(/\.([A-Za-z]\w*)(?:\[(\d+)\])?/g)]
  let holder: unknown = resource
  let place: Place | undefined
  for (const [, name, index] of steps) {
    if (!isObject(holder)) break
    const key = keyOf(holder, name!)
    const value = holder[key]
    place = { holder, key, index: Array.isArray(value) ? Number(index ?? 0) : undefined }
    holder = Array.isArray(value) ? value[Number(index ?? 0)] : value
  }
  if (!place) throw new Error('the path must lead into the resource, not to the whole of it')
  return place
}

function keyOf(holder: JsonObject, name: string): string {
  if (Object.hasOwn(holder, name)) return name
  return Object.keys(holder).find(key => key.startsWith(name) && /^[A-Z]/.test(key.slice(name.length))) ?? name
}

function elementOf(type: string, name: string): ElementModel {
  const elements = typeModel(type)?.elements
  const element = elements?.get(name) ?? elements?.get(name.replace(/\[x\]$/, ''))
  if (!element) throw new Error(`${type} has no element ${name}`)
  return element
}

function add(resource: JsonObject, target: Typed, { name, value }: Operation): void {
  if (!name) throw new Error('add needs a name')
  const holder = target.path?.includes('.') ? valueAt(placeOf(resource, target)) : resource
  if (!isObject(holder)) throw new Error('the path leads to a value that has no elements')
  const element = elementOf(isResourceType(target.type) ? String(holder['resourceType']) : target.type, name)
  const key = element.choice ? choiceKey(element, value, name) : element.name
  if (element.max === 1) {
    holder[key] = value
    return
  }
  const list = Array.isArray(holder[key]) ? holder[key] : []
  holder[key] = [...list, ...(Array.isArray(value) ? value : [value])]
}

/** The typed key of a choice; the operation's value does not tell its type, so the shape of the value decides. */
function choiceKey(element: ElementModel, value: unknown, name: string): string {
  const fits = element.types.find(type => fitsType(type, value))
  if (!fits) throw new Error(`the value fits no type that ${name} may have`)
  return element.name + fits[0]!.toUpperCase() + fits.slice(1)
}

function fitsType(type: string, value: unknown): boolean {
  const model = typeModel(type)
  if (model?.kind === 'primitive')
    return (
      typeof value !== 'object' &&
      (typeof value === 'boolean') === (type === 'boolean') &&
      (typeof value !== 'string' || new RegExp(model.pattern ?? '').test(value))
    )
  return isObject(value) && Object.keys(value).every(key => model?.elements.has(key))
}

function valueAt({ holder, key, index }: Place): unknown {
  const value = holder[key]
  return index === undefined ? value : (value as unknown[])[index]
}

function replace({ holder, key, index }: Place, { value }: Operation): void {
  if (index === undefined) holder[key] = value
  else (holder[key] as unknown[])[index] = value
}

function remove(resource: JsonObject, found: readonly Typed[]): void {
  if (found.length > 1) throw new Error(`the path leads to ${found.length} places, but delete needs one`)
  if (found.length === 0) return
  const { holder, key, index } = placeOf(resource, found[0]!)
  if (index !== undefined && (holder[key] as unknown[]).length > 1) (holder[key] as unknown[]).splice(index, 1)
  else {
    delete holder[key]
    delete holder[`_${key}`]
  }
}

/** The list that a path to a collection stands for: the one that holds all it leads to, or an empty one to be made. */
function listAt(resource: JsonObject, path: string): { list: unknown[]; holder: JsonObject; key: string } {
  const found = evaluate(resource, path)
  const first = found[0]
  if (!first) {
    const match = /^(.*)\.([A-Za-z]\w*)$/.exec(path)
    const parents = match ? evaluate(resource, match[1]!) : []
    if (parents.length !== 1) throw new Error('the path leads nowhere')
    const holder = parents[0]!.path?.includes('.') ? valueAt(placeOf(resource, parents[0]!)) : resource
    if (!isObject(holder) || elementOf(parents[0]!.type, match![2]!).max === 1)
      throw new Error('the path does not lead to a list')
    return { list: [], holder, key: match![2]! }
  }
  const { holder, key, index } = placeOf(resource, first)
  if (index === undefined) throw new Error('the path does not lead to a list')
  return { list: holder[key] as unknown[], holder, key }
}

function insert(resource: JsonObject, { path, value, index }: Operation): void {
  const { list, holder, key } = listAt(resource, path)
  if (index === undefined || index < 0 || index > list.length)
    throw new Error(`the index must be from 0 to ${list.length}`)
  holder[key] = list.toSpliced(index, 0, value)
}

function move(resource: JsonObject, { path, source, destination }: Operation): void {
  const { list, holder, key } = listAt(resource, path)
  const inside = (index: number | undefined): index is number =>
    index !== undefined && index >= 0 && index < list.length
  if (!inside(source) || !inside(destination))
    throw new Error(`source and destination must be from 0 to ${list.length - 1}`)
  const rest = list.toSpliced(source, 1)
  holder[key] = rest.toSpliced(destination, 0, list[source])
}
