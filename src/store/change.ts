// Create, update, patch and delete, plain and conditional: what each reads from the store before it writes.
// https://hl7.org/fhir/R4/http.html#create
import { Failure } from '../lib/failure.ts'
import { uuidv7 } from '../lib/ids.ts'
import { isObject, type JsonObject, parseJson } from '../lib/json.ts'
import { lockConditions, onlyMatch } from './conditional.ts'
import { isOutdated } from './epoch.ts'
import { applyPatch, type Patch } from './patch/patch.ts'
import { read } from './read.ts'
import { inTransaction, isRaceLost, mustBeAllowed, type Session } from './session.ts'
import { readSeen } from './sight.ts'
import type { Change, Written } from './write/next-version.ts'
import { isSingle, needsTransaction, write } from './write/write.ts'

export interface Preconditions {
  /** Version that must be current (If-Match). */
  readonly ifMatch?: number
  /** Nothing may exist yet (If-None-Match: *). */
  readonly createOnly?: boolean
}

/**
 * Checks a resource on its way in.
 * @throws Failure MALFORMED_REQUEST naming every element that is wrong, VALIDATION_FAILED naming the one that is too large.
 */
function mustBeValid(session: Session, resource: unknown, type: string): asserts resource is JsonObject {
  if (!isObject(resource)) throw new Failure('MALFORMED_REQUEST', 'The body is not a JSON object.')
  if (resource['resourceType'] !== type) {
    const given =
      typeof resource['resourceType'] === 'string' ? `a ${resource['resourceType']}` : 'a resource without resourceType'
    throw new Failure('MALFORMED_REQUEST', `The body is ${given}, but the address is for ${type}.`, {
      issue: 'invalid',
    })
  }
  const errors = session.validate(resource).filter(issue => issue.severity === 'error')
  if (errors.length === 0) return
  const isCostly = errors[0]!.code === 'too-costly'
  throw new Failure(
    isCostly ? 'VALIDATION_FAILED' : 'MALFORMED_REQUEST',
    `The ${type} is not valid: ${errors[0]!.diagnostics}`,
    { details: errors.map(issue => ({ field: issue.expression, code: issue.code, message: issue.diagnostics })) },
  )
}

async function one(session: Session, change: Change): Promise<Written> {
  const [written] = await write(session, [change])
  return written!
}

/**
 * Makes one change: without a transaction of its own where it needs none, and in one if another writer was faster, so that both
 * come about, one after the other.
 */
async function single(session: Session, change: Change): Promise<Written> {
  if (isSingle(session) && !needsTransaction(session, change.type))
    try {
      return await one(session, change)
    } catch (error) {
      if (!isRaceLost(error) && !isOutdated(error)) throw error
    }
  return inTransaction(session, inner => one(inner, change))
}

/** Creates a resource under a new id; with `ifNoneExist` only if that query matches nothing, else answers the match. */
export async function create(
  session: Session,
  type: string,
  resource: unknown,
  ifNoneExist?: string,
): Promise<Written> {
  mustBeAllowed(session, type, 'c')
  mustBeValid(session, resource, type)
  const change: Change = { method: 'POST', type, id: uuidv7(), resource, fresh: true }
  if (ifNoneExist === undefined) return single(session, change)
  mustBeAllowed(session, type, 's')
  return inTransaction(session, async inner => {
    const id = await matched(inner, type, ifNoneExist)
    return id === undefined ? one(inner, { ...change, condition: ifNoneExist }) : found(inner, type, id)
  })
}

/** Returns the id of the one match, if there is one. No other caller acts on the same query until the transaction ends. */
async function matched(session: Session, type: string, query: string): Promise<string | undefined> {
  const condition = { type, query }
  await lockConditions(session, [condition])
  return onlyMatch(session, condition)
}

async function found(session: Session, type: string, id: string): Promise<Written> {
  const { version, updatedAt, body } = await read(session.on, type, id)
  return { type, id, version, updatedAt, body, outcome: 'unchanged' }
}

/** Replaces a resource, or creates it under the id given. @throws Failure PRECONDITION_FAILED, MALFORMED_REQUEST. */
export async function update(
  session: Session,
  type: string,
  id: string,
  resource: unknown,
  preconditions: Preconditions,
): Promise<Written> {
  mustBeAllowed(session, type, 'u')
  mustBeValid(session, resource, type)
  if (resource['id'] === undefined)
    throw new Failure('MALFORMED_REQUEST', `The resource must have the id of the address, "${id}".`, {
      issue: 'invalid',
    })
  if (resource['id'] !== id)
    throw new Failure('MALFORMED_REQUEST', `The id of the resource must be the id of the address, "${id}".`, {
      issue: 'invalid',
    })
  return single(session, { method: 'PUT', type, id, resource, ...preconditions })
}

/** Replaces what the query matches: nothing creates, several fail (https://hl7.org/fhir/R4/http.html#cond-update). */
export async function updateWhere(
  session: Session,
  type: string,
  query: string,
  resource: unknown,
  preconditions: Preconditions,
): Promise<Written> {
  mustBeAllowed(session, type, 'u')
  mustBeAllowed(session, type, 's')
  mustBeValid(session, resource, type)
  const given = resource['id'] as string | undefined
  return inTransaction(session, async inner => {
    const id = await matched(inner, type, query)
    if (id !== undefined && given !== undefined && given !== id) {
      throw new Failure('MALFORMED_REQUEST', `The condition matches ${type}/${id}, but the resource has another id.`, {
        issue: 'invalid',
      })
    }
    return one(inner, {
      method: 'PUT',
      type,
      id: id ?? given ?? uuidv7(),
      resource,
      condition: query,
      ...preconditions,
    })
  })
}

/** Changes parts of a resource. @throws Failure VALIDATION_FAILED if the patch does not apply, NOT_FOUND, GONE, PRECONDITION_FAILED. */
export async function patch(
  session: Session,
  type: string,
  id: string,
  patch: Patch,
  preconditions: Preconditions,
  condition?: string,
): Promise<Written> {
  mustBeAllowed(session, type, 'u')
  return inTransaction(session, async inner => {
    const current = await readSeen(inner, type, id, { lock: true })
    if (preconditions.ifMatch !== undefined && preconditions.ifMatch !== current.version) {
      throw new Failure(
        'PRECONDITION_FAILED',
        `${type}/${id} is at version ${current.version}, not ${preconditions.ifMatch} (If-Match).`,
      )
    }
    const resource = applyPatch(parseJson(current.body) as JsonObject, patch)
    if (resource['id'] !== id || resource['resourceType'] !== type)
      throw new Failure('VALIDATION_FAILED', 'A patch cannot change the id or the type of a resource.')
    mustBeValid(inner, resource, type)
    return one(inner, { method: 'PATCH', type, id, resource, ifMatch: current.version, condition })
  })
}

/** Changes parts of the one resource that the query matches. */
export async function patchWhere(
  session: Session,
  type: string,
  query: string,
  changes: Patch,
  preconditions: Preconditions,
): Promise<Written> {
  mustBeAllowed(session, type, 'u')
  mustBeAllowed(session, type, 's')
  return inTransaction(session, async inner => {
    const id = await matched(inner, type, query)
    if (id === undefined) throw new Failure('NOT_FOUND', `No ${type} matches the condition.`)
    return patch(inner, type, id, changes, preconditions, query)
  })
}

/** Deletes a resource; one that is absent or deleted already stays so (https://hl7.org/fhir/R4/http.html#delete). */
export async function remove(
  session: Session,
  type: string,
  id: string,
  preconditions: Preconditions,
): Promise<Written> {
  mustBeAllowed(session, type, 'd')
  return single(session, { method: 'DELETE', type, id, ...preconditions })
}

/** Deletes the one resource that the query matches, if there is one. */
export async function removeWhere(
  session: Session,
  type: string,
  query: string,
  preconditions: Preconditions,
): Promise<Written | undefined> {
  mustBeAllowed(session, type, 'd')
  mustBeAllowed(session, type, 's')
  return inTransaction(session, async inner => {
    const id = await matched(inner, type, query)
    return id === undefined ? undefined : one(inner, { method: 'DELETE', type, id, condition: query, ...preconditions })
  })
}
