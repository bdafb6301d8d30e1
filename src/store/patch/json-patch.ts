// JSON Patch (RFC 6902) on parsed FHIR: raw decimals are compared by value and keep their digits when copied.
import { Failure } from '../../lib/failure.ts'
import { isJsonNumber, isObject, type JsonObject, numberOf } from '../../lib/json.ts'
import { bodyBounds } from '../../lib/json-meter.ts'

type Operation =
  | { readonly op: 'add' | 'replace' | 'test'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string }
  | { readonly op: 'move' | 'copy'; readonly path: string; readonly from: string }

const mostOperations = 1000

/** Most values that the copies of one patch may hold: a document copied into itself doubles each time. What is moved counts too. */
const mostCopied = 100_000

/** What a patch works on: the resource stands under the empty key, so that the whole of it has a place too. */
interface Work {
  readonly root: { '': unknown }
  copied: number
}

/**
 * Applies the operations in order to the resource, which is changed.
 * @throws Failure MALFORMED_REQUEST for what is no patch, VALIDATION_FAILED where an operation does not fit the resource.
 */
export function applyJsonPatch(resource: JsonObject, operations: unknown): JsonObject {
  const work: Work = { root: { '': resource }, copied: 0 }
  readOperations(operations).forEach((operation, index) => {
    try {
      apply(work, operation)
    } catch (error) {
      const place = `operation ${index + 1} (${operation.op} at ${operation.path.slice(0, 200) || 'the root'})`
      throw new Failure('VALIDATION_FAILED', `The patch does not apply: ${place}: ${(error as Error).message}.`)
    }
  })
  return work.root[''] as JsonObject
}

const verbs = ['add', 'remove', 'replace', 'move', 'copy', 'test']

function readOperations(value: unknown): Operation[] {
  if (!Array.isArray(value))
    throw new Failure('MALFORMED_REQUEST', 'A JSON Patch must be an array of operations (RFC 6902).')
  if (value.length > mostOperations)
    throw new Failure('MALFORMED_REQUEST', `A patch must have at most ${mostOperations} operations.`)
  return value.map((operation: unknown, index) => readOperation(operation, index))
}

function readOperation(operation: unknown, index: number): Operation {
  const wrong = (what: string): Failure =>
    new Failure('MALFORMED_REQUEST', `Operation ${index + 1} of the patch ${what}.`)
  if (!isObject(operation)) throw wrong('is not an object')
  const { op, path, from } = operation
  if (typeof op !== 'string' || !verbs.includes(op)) throw wrong(`must have op: ${verbs.join(', ')}`)
  if (!isPointer(path)) throw wrong('must have a path that is a JSON Pointer, such as /name/0/given')
  if ((op === 'move' || op === 'copy') && !isPointer(from)) throw wrong('must have a from that is a JSON Pointer')
  if (['add', 'replace', 'test'].includes(op) && !Object.hasOwn(operation, 'value')) throw wrong('must have a value')
  return operation as Operation
}

/** A JSON Pointer (RFC 6901) that leads nowhere near an object's prototype. */
function isPointer(value: unknown): boolean {
  return typeof value === 'string' && /^(?:\/|$)/.test(value) && !/\/__proto__(?:\/|$)/.test(value)
}

function apply(work: Work, operation: Operation): void {
  const { op, path } = operation
  const place = placeOf(work, path)
  switch (op) {
    case 'add':
      return add(place, operation.value)
    case 'remove':
      if (path === '') throw new Error('the whole resource cannot be removed')
      remove(place)
      return
    case 'replace':
      read(place)
      place.holder[place.key] = operation.value
      return
    case 'move': {
      if (path.startsWith(`${operation.from}/`)) throw new Error('a value cannot be moved into itself')
      const value = remove(placeOf(work, operation.from))
      return add(placeOf(work, path), copy(work, value, depthOf(path)))
    }
    case 'copy':
      return add(place, copy(work, read(placeOf(work, operation.from)), depthOf(path)))
    case 'test':
      if (!isEqual(read(place), operation.value)) throw new Error('the value differs')
  }
}

/** The place of a value, present or new; in a list the key is an index, the list's length for `-`. */
interface Place {
  readonly holder: JsonObject
  readonly key: string
}

function placeOf({ root }: Work, path: string): Place {
  const keys = path.split('/').map(key => key.replaceAll('~1', '/').replaceAll('~0', '~'))
  let holder: unknown = root
  for (const key of keys.slice(0, -1)) holder = read({ holder: asHolder(holder), key })
  const last = keys.at(-1)!
  return { holder: asHolder(holder), key: Array.isArray(holder) && last === '-' ? String(holder.length) : last }
}

// Lists are addressed like objects: JavaScript's own index keys.
function asHolder(value: unknown): JsonObject {
  if (isObject(value) || Array.isArray(value)) return value as JsonObject
  throw new Error('the path continues below a value that has no members')
}

const indexShape = /^(?:0|[1-9]\d{0,8})$/

function read({ holder, key }: Place): unknown {
  if ((Array.isArray(holder) && !indexShape.test(key)) || !Object.hasOwn(holder, key))
    throw new Error('the path does not exist')
  return holder[key]
}

function add({ holder, key }: Place, value: unknown): void {
  if (!Array.isArray(holder)) {
    holder[key] = value
    return
  }
  if (!indexShape.test(key) || Number(key) > holder.length)
    throw new Error(`the index must be from 0 to ${holder.length}`)
  holder.splice(Number(key), 0, value)
}

function remove(place: Place): unknown {
  const { holder, key } = place
  const value = read(place)
  if (Array.isArray(holder)) holder.splice(Number(key), 1)
  else delete holder[key]
  return value
}

/** Levels at which a value stands whose place is named by this path. */
const depthOf = (path: string): number => path.split('/').length - 1

/** A deep copy, within the patch's budget; nothing becomes deeper than a body may be. */
function copy(work: Work, value: unknown, depth: number): unknown {
  if (++work.copied > mostCopied) throw new Error(`the patch copies more than ${mostCopied} values`)
  if (depth > bodyBounds.depth) throw new Error(`the resource would be nested deeper than ${bodyBounds.depth} levels`)
  if (Array.isArray(value)) return value.map(item => copy(work, item, depth + 1))
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, copy(work, member, depth + 1)]))
}

function isEqual(left: unknown, right: unknown): boolean {
  if (isJsonNumber(left) && isJsonNumber(right)) return numberOf(left) === numberOf(right)
  if (Array.isArray(left) && Array.isArray(right))
    return left.length === right.length && left.every((item, index) => isEqual(item, right[index]))
  if (!isObject(left) || !isObject(right)) return left === right
  const keys = Object.keys(left)
  return (
    keys.length === Object.keys(right).length &&
    keys.every(key => Object.hasOwn(right, key) && isEqual(left[key], right[key]))
  )
}
