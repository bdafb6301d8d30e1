// FHIRPath Patch: operations in a Parameters resource, their places given by FHIRPath (https://hl7.org/fhir/R4/fhirpatch.html).

import type { ElementModel } from '../../definitions/model.ts'
import { isResourceType, typeModel } from '../../definitions/r4.ts'
import { compileTyped, type Typed } from '../../fhirpath/compile.ts'
import { Failure } from '../../lib/failure.ts'
import { isObject, type JsonObject } from '../../lib/json.ts'
import { type PatchOperation, readOperations } from './fhirpath-operations.ts'

/** The place of a value: `holder[key]`, and its index in the list there, if there is one. */
interface Place {
  /** The name of the element: the key, without the type of a choice element. */
  readonly name: string
  readonly holder: JsonObject
  readonly key: string
  readonly index: number | undefined
}

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

function apply(resource: JsonObject, operation: PatchOperation): void {
  const found = evaluate(resource, operation.path)
  switch (operation.type) {
    case 'add':
      return add(resource, single(found, operation), operation)
    case 'insert':
      return insert(resource, operation)
    case 'delete':
      return remove(resource, found)
    case 'replace':
      return replace(placesTo(resource, single(found, operation)).at(-1)!, operation)
    case 'move':
      return move(resource, operation)
  }
}

function evaluate(resource: JsonObject, path: string): readonly Typed[] {
  const type = String(resource['resourceType'])
  return compileTyped(path, { model: { typeModel }, type, paths: true, raw: true, untrusted: true })(resource)
}

function single(found: readonly Typed[], { type }: PatchOperation): Typed {
  if (found.length === 1) return found[0]!
  throw new Error(
    found.length === 0
      ? 'the path does not exist'
      : `the path matches ${found.length} elements, but ${type} requires exactly one`,
  )
}

/**
 * The places on the way of a path such as `Patient.name[0].given[1]` through the JSON, at least one; choices are found under their typed
 * key. What a primitive holds, its id and its extensions, lies beside it: https://hl7.org/fhir/R4/json.html#primitive
 */
function placesTo(resource: JsonObject, { path }: Typed): Place[] {
  const steps = [...(path ?? '').matchAll(/\.([A-Za-z]\w*)(?:\[(\d+)\])?/g)]
  let holder: unknown = resource
  const places: Place[] = []
  for (const [, name, index] of steps) {
    if (!isObject(holder)) break
    const key = keyOf(holder, name!)
    const isList = Array.isArray(holder[key]) || Array.isArray(holder[`_${key}`])
    const place: Place = { name: name!, holder, key, index: isList ? Number(index ?? 0) : undefined }
    places.push(place)
    holder = isObject(valueAt(place)) ? valueAt(place) : besideAt(place)
  }
  if (places.length === 0) throw new Error('the path must select an element, not the whole resource')
  return places
}

/** The object that holds the elements of what is at a path; it can be the whole resource, and is made for a primitive that has none. */
function objectAt(resource: JsonObject, target: Typed): unknown {
  if (!target.path?.includes('.')) return resource
  const place = placesTo(resource, target).at(-1)!
  if (isObject(valueAt(place))) return valueAt(place)
  if (besideAt(place) === undefined) setBeside(place, {})
  return besideAt(place)
}

function keyOf(holder: JsonObject, name: string): string {
  if (Object.hasOwn(holder, name) || Object.hasOwn(holder, `_${name}`)) return name
  const keys = Object.keys(holder).map(key => key.replace(/^_/, ''))
  return keys.find(key => key.startsWith(name) && /^[A-Z]/.test(key.slice(name.length))) ?? name
}

function elementOf(type: string, name: string): ElementModel {
  const elements = typeModel(type)?.elements
  const element = elements?.get(name) ?? elements?.get(name.replace(/\[x\]$/, ''))
  if (!element) throw new Error(`${type} has no element ${name}`)
  return element
}

function add(resource: JsonObject, target: Typed, operation: PatchOperation): void {
  const { name, value } = operation
  if (!name) throw new Error('add requires a name')
  const holder = objectAt(resource, target)
  if (!isObject(holder)) throw new Error('the path selects a value that has no elements')
  const element = elementOf(isResourceType(target.type) ? String(holder['resourceType']) : target.type, name)
  const key = element.choice ? choiceKey(element, operation) : element.name
  if (element.max === 1) {
    holder[key] = value
    return
  }
  const values: unknown[] = Array.isArray(value) ? value : [value]
  editLists(holder, key, (list, isBeside) => [...list, ...(isBeside ? values.map(() => null) : values)])
}

/** Returns the typed key of a choice; where the value was given in parts, its shape determines the type. */
function choiceKey(element: ElementModel, { value, valueType }: PatchOperation): string {
  const type = element.types.find(each => (valueType ? capitalised(each) === valueType : fitsType(each, value)))
  if (!type) throw new Error(`the value has a type that ${element.name} does not allow`)
  return element.name + capitalised(type)
}

const capitalised = (type: string): string => type[0]!.toUpperCase() + type.slice(1)

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

const valueAt = ({ holder, key, index }: Place): unknown => itemAt(holder[key], index)

/** What a primitive holds besides its value: its id and its extensions. */
const besideAt = ({ holder, key, index }: Place): unknown => itemAt(holder[`_${key}`], index)

function itemAt(value: unknown, index: number | undefined): unknown {
  return (index === undefined ? value : (value as unknown[] | undefined)?.[index]) ?? undefined
}

function setBeside({ holder, key, index }: Place, beside: JsonObject | null): void {
  if (index !== undefined) editLists(holder, key, (list, isBeside) => (isBeside ? list.with(index, beside) : list))
  else if (beside) holder[`_${key}`] = beside
  else delete holder[`_${key}`]
}

function replace(place: Place, { value, valueType }: PatchOperation): void {
  const { holder, key, name, index } = place
  if (index === undefined && key !== name && valueType) {
    removeKey(holder, key)
    holder[name + valueType] = value
    return
  }
  // What stands beside a value that is absent says why it is.
  const wasAbsent = valueAt(place) === undefined
  if (index === undefined) holder[key] = value
  else editLists(holder, key, (list, isBeside) => (isBeside ? list : list.with(index, value)))
  if (wasAbsent) setBeside(place, null)
}

/** Removes an element, with the extensions of a primitive. */
function removeKey(holder: JsonObject, key: string): void {
  delete holder[key]
  delete holder[`_${key}`]
}

function remove(resource: JsonObject, found: readonly Typed[]): void {
  if (found.length > 1) throw new Error(`the path matches ${found.length} elements, but delete requires exactly one`)
  if (found.length === 0) return
  const places = placesTo(resource, found[0]!)
  // FHIR has no empty objects: what held nothing but the removed value goes with it.
  do take(places.pop()!)
  while (places.length > 0 && isEmptied(places.at(-1)!))
}

function take({ holder, key, index }: Place): void {
  if (index === undefined) removeKey(holder, key)
  else editLists(holder, key, list => list.toSpliced(index, 1))
}

/** True if nothing is left at a place; a primitive loses what is left empty beside it. */
function isEmptied(place: Place): boolean {
  const value = valueAt(place)
  if (isObject(value)) return isEmpty(value)
  if (isEmpty(besideAt(place))) setBeside(place, null)
  return value === undefined && besideAt(place) === undefined
}

const isEmpty = (value: unknown): boolean => isObject(value) && Object.keys(value).length === 0

/**
 * Edits a list, and in the same way the list of what primitives hold besides their values: null stands where one of them has nothing, and a
 * list of nothing else is not written. https://hl7.org/fhir/R4/json.html#primitive
 */
function editLists(holder: JsonObject, key: string, edit: (list: unknown[], isBeside: boolean) => unknown[]): void {
  const length = lengthOf(holder, key)
  for (const name of [key, `_${key}`]) {
    const list = (holder[name] ?? []) as unknown[]
    const edited = edit(
      Array.from({ length }, (_, index) => list[index] ?? null),
      name !== key,
    )
    if (edited.some(item => item !== null)) holder[name] = edited
    else delete holder[name]
  }
}

function lengthOf(holder: JsonObject, key: string): number {
  return Math.max(...[holder[key], holder[`_${key}`]].map(list => (Array.isArray(list) ? list.length : 0)))
}

/** The list that a path to a collection stands for: the one that holds all it leads to, or an empty one to be made. */
function listAt(resource: JsonObject, path: string): { length: number; holder: JsonObject; key: string } {
  const found = evaluate(resource, path)
  const first = found[0]
  if (!first) {
    const match = /^(.*)\.([A-Za-z]\w*)$/.exec(path)
    const parents = match ? evaluate(resource, match[1]!) : []
    if (parents.length !== 1) throw new Error('the path does not exist')
    const holder = objectAt(resource, parents[0]!)
    if (!isObject(holder) || elementOf(parents[0]!.type, match![2]!).max === 1)
      throw new Error('the path does not select a list')
    return { length: 0, holder, key: match![2]! }
  }
  const { holder, key, index } = placesTo(resource, first).at(-1)!
  if (index === undefined) throw new Error('the path does not select a list')
  return { length: lengthOf(holder, key), holder, key }
}

function insert(resource: JsonObject, { path, value, index }: PatchOperation): void {
  const { length, holder, key } = listAt(resource, path)
  if (!isIndex(index, length)) throw new Error(`the index must be from 0 to ${length}`)
  editLists(holder, key, (list, isBeside) => list.toSpliced(index, 0, isBeside ? null : value))
}

function move(resource: JsonObject, { path, source, destination }: PatchOperation): void {
  const { length, holder, key } = listAt(resource, path)
  if (!isIndex(source, length - 1) || !isIndex(destination, length - 1))
    throw new Error(`source and destination must be from 0 to ${length - 1}`)
  editLists(holder, key, list => list.toSpliced(source, 1).toSpliced(destination, 0, list[source]))
}

const isIndex = (value: unknown, last: number): value is number =>
  Number.isInteger(value) && (value as number) >= 0 && (value as number) <= last
