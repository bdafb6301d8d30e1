// Transactions: all entries of a bundle or none (https://hl7.org/fhir/R4/http.html#transaction). Plan first (ids, targets,
// references), then deletions, conditions, one set-based write, and the reads last.
import { Failure, type FailureDetail } from '../lib/failure.ts'
import { uuidv7 } from '../lib/ids.ts'
import { isObject, type JsonObject, parseJson } from '../lib/json.ts'
import { cutAt } from '../lib/text.ts'
import { type Condition, conditionName, lockConditions, onlyMatch } from './conditional.ts'
import { lockCurrent } from './current.ts'
import { mustBeId } from './ids.ts'
import { applyPatch, type Patch } from './patch/patch.ts'
import { createPause } from './pause.ts'
import { read } from './read.ts'
import { conditionalReferences, type Links, resolveLinks } from './references.ts'
import { inTransaction, mustBeAllowed, type Session } from './session.ts'
import { type Change, type Written, write } from './write.ts'

/** One entry of a transaction, its URL taken apart. */
export interface TransactionEntry {
  readonly fullUrl: string | undefined
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly type: string
  /** Absent for a creation and for conditional requests. */
  readonly id: string | undefined
  /** Search part of the URL, or If-None-Exist of a creation; what the request is conditional on. */
  readonly query: string | undefined
  readonly resource: unknown
  readonly patch?: Patch
  readonly ifMatch?: number
  readonly createOnly?: boolean
  /** For a PUT: returns what a stored resource becomes; absent: it is replaced. */
  readonly merge?: (stored: JsonObject, sent: JsonObject) => JsonObject
}

/** A planned write. */
interface Plan {
  readonly entry: TransactionEntry
  readonly index: number
  /** Undefined while a condition has not been looked up. */
  id: string | undefined
  fresh: boolean
  /** A conditional creation whose resource exists already, or a deletion that found nothing. */
  isDone: boolean
}

/** The result of one entry; a read entry has none and is answered by `readEntry`. */
export type EntryResult<Reply> = { readonly written: Written | undefined } | { readonly reply: Reply }

const mostEntries = 20_000

/**
 * Applies the entries atomically.
 * @param readEntry answers a GET entry within the transaction, after every write.
 * @throws Failure for the first problem; nothing is changed then.
 */
export async function transact<Reply>(
  session: Session,
  entries: readonly TransactionEntry[],
  readEntry: (session: Session, entry: TransactionEntry, index: number) => Promise<Reply>,
): Promise<EntryResult<Reply>[]> {
  if (entries.length > mostEntries)
    throw new Failure('PAYLOAD_TOO_LARGE', `A transaction must have at most ${mostEntries} entries.`)
  for (const entry of entries) allow(session, entry)
  checkFast(entries)
  return inTransaction(session, async inner => {
    const plans = entries.flatMap((entry, index) => (isRead(entry) ? [] : [planOf(entry, index)]))
    const written = await applyWrites(inner, plans)
    const results: EntryResult<Reply>[] = []
    for (const [index, entry] of entries.entries())
      results.push(isRead(entry) ? { reply: await readEntry(inner, entry, index) } : { written: written.get(index) })
    return results
  })
}

const isRead = (entry: TransactionEntry): boolean => entry.method === 'GET' || entry.method === 'HEAD'

function planOf(entry: TransactionEntry, index: number): Plan {
  const creates = entry.method === 'POST' && entry.query === undefined
  return { entry, index, id: creates ? uuidv7() : entry.id, fresh: creates, isDone: false }
}

function allow(session: Session, entry: TransactionEntry): void {
  const { method, type, query } = entry
  if (isRead(entry)) return
  mustBeAllowed(session, type, method === 'POST' ? 'c' : method === 'DELETE' ? 'd' : 'u')
  if (query !== undefined) mustBeAllowed(session, type, 's')
}

/** Checks what needs no database before one is kept waiting: addresses and ids that entries share. */
function checkFast(entries: readonly TransactionEntry[]): void {
  const seen = new Map<string, number>()
  for (const [index, entry] of entries.entries()) {
    if (isRead(entry)) continue
    if (entry.id !== undefined) mustBeId(entry.id)
    if (entry.method === 'PUT' && entry.id !== undefined) {
      if (!isObject(entry.resource) || entry.resource['id'] !== entry.id)
        throw at(index, 'structure', `its resource must have the id of its address, "${entry.id}"`)
    }
    if (entry.id === undefined) continue
    const name = `${entry.type}/${entry.id}`
    const other = seen.get(name)
    if (other !== undefined)
      throw at(
        index,
        'duplicate',
        `it changes ${name}, which entry ${other} already changes: each resource must occur once`,
      )
    seen.set(name, index)
  }
  const urls = new Set<string>()
  for (const [index, entry] of entries.entries()) {
    if (isRead(entry) || !entry.fullUrl || entry.method === 'DELETE' || entry.method === 'PATCH') continue
    if (urls.has(entry.fullUrl)) throw at(index, 'duplicate', 'another entry has the same fullUrl')
    urls.add(entry.fullUrl)
  }
}

function at(index: number, code: string, message: string): Failure {
  return new Failure('MALFORMED_REQUEST', `Entry ${index} of the bundle: ${message}.`, {
    details: [{ field: `Bundle.entry[${index}]`, code, message: `Entry ${index} of the bundle: ${message}.` }],
  })
}

async function applyWrites(session: Session, plans: Plan[]): Promise<Map<number, Written | undefined>> {
  const deletions = plans.filter(plan => plan.entry.method === 'DELETE')
  const others = plans.filter(plan => plan.entry.method !== 'DELETE')
  await lockConditions(session, plans.flatMap(conditionOf))
  await lockResources(session, plans)
  const results = new Map<number, Written | undefined>()
  await applyDeletions(session, deletions, results)
  await lookUp(session, others, results)
  const links = await linksOf(session, others)
  const changes: { plan: Plan; change: Change }[] = []
  for (const plan of others) if (!plan.isDone) changes.push({ plan, change: await changeOf(session, plan, links) })
  mustDiffer(changes, results)
  await validateAll(session, changes)
  const written = await write(
    session,
    changes.map(each => each.change),
  )
  changes.forEach(({ plan }, position) => results.set(plan.index, written[position]))
  return results
}

/** Locks what is named by id before anything is changed, in one order for all: transactions wait instead of deadlocking. */
async function lockResources(session: Session, plans: readonly Plan[]): Promise<void> {
  const named = plans.flatMap(({ entry: { type, id } }) => (id === undefined ? [] : [{ type, id }]))
  if (named.length > 0) await lockCurrent(session, named)
}

function conditionOf({ entry }: Plan): Condition[] {
  return entry.query === undefined ? [] : [{ type: entry.type, query: entry.query }]
}

async function applyDeletions(
  session: Session,
  deletions: readonly Plan[],
  results: Map<number, Written | undefined>,
): Promise<void> {
  const changes: Change[] = []
  const indexes: number[] = []
  for (const { entry, index } of deletions) {
    const { type, query, ifMatch } = entry
    const id = query === undefined ? entry.id : await onlyMatch(session, { type, query })
    if (id === undefined || changes.some(change => change.type === type && change.id === id)) {
      results.set(index, undefined)
      continue
    }
    changes.push({ method: 'DELETE', type, id, ifMatch, condition: query })
    indexes.push(index)
  }
  if (changes.length === 0) return
  const written = await write(session, changes)
  written.forEach((result, position) => results.set(indexes[position]!, result))
}

/** Searches that are asked together. */
const mostSearches = 100

/** Returns what each condition matches, in order. */
async function* matched(
  session: Session,
  plans: readonly Plan[],
): AsyncGenerator<{ plan: Plan; condition: Condition; match: string | undefined }> {
  const conditional = plans.flatMap(plan => conditionOf(plan).map(condition => ({ plan, condition })))
  for (let from = 0; from < conditional.length; from += mostSearches) {
    const some = conditional.slice(from, from + mostSearches)
    const matches = await Promise.all(some.map(({ condition }) => onlyMatch(session, condition)))
    for (const [position, each] of some.entries()) yield { ...each, match: matches[position] }
  }
}

/** Finds the resource of each conditional entry. */
async function lookUp(
  session: Session,
  plans: readonly Plan[],
  results: Map<number, Written | undefined>,
): Promise<void> {
  const creating = new Set<string>()
  for await (const { plan, condition, match } of matched(session, plans)) {
    const { entry, index } = plan
    if (match === undefined && creating.has(conditionName(condition)))
      throw at(index, 'duplicate', 'another entry creates with the same condition')
    if (match === undefined) creating.add(conditionName(condition))
    if (entry.method === 'PATCH' && match === undefined)
      throw new Failure('NOT_FOUND', `Entry ${index} of the bundle: nothing matches its condition.`)
    if (entry.method === 'POST' && match !== undefined) {
      const { version, updatedAt, body } = await read(session.on, entry.type, match)
      results.set(index, { type: entry.type, id: match, version, updatedAt, body, outcome: 'unchanged' })
      plan.isDone = true
    }
    const given =
      isObject(entry.resource) && entry.method === 'PUT' ? (entry.resource['id'] as string | undefined) : undefined
    if (match !== undefined && given !== undefined && given !== match)
      throw at(index, 'invalid', 'its condition matches a resource with another id')
    if (given !== undefined) mustBeId(given)
    plan.id = match ?? given ?? uuidv7()
    plan.fresh = match === undefined && given === undefined
  }
}

/** Most different references such as `Patient?identifier=x` of one bundle: each is a search. */
const mostConditions = 2000

/**
 * Returns the target of each placeholder of the bundle: fullUrls lead to the resources they became, conditional references to their
 * matches.
 */
async function linksOf(session: Session, plans: readonly Plan[]): Promise<Links> {
  const links = new Map<string, string>()
  for (const { entry, id } of plans) {
    if (entry.fullUrl && id !== undefined && entry.method !== 'PATCH') links.set(entry.fullUrl, `${entry.type}/${id}`)
  }
  const wanted = new Set(plans.flatMap(({ entry, isDone }) => (isDone ? [] : conditionalReferences(entry.resource))))
  if (wanted.size > mostConditions)
    throw new Failure('VALIDATION_FAILED', `The bundle has more than ${mostConditions} conditional references.`, {
      issue: 'too-costly',
      details: [
        { field: 'Bundle.entry', code: 'too-costly', message: `${wanted.size} are too many: split the bundle.` },
      ],
    })
  for (const reference of wanted) {
    const [type, query] = cutAt(reference, '?')
    mustBeAllowed(session, type, 's')
    const id = await onlyMatch(session, { type, query })
    if (id === undefined)
      throw new Failure('PRECONDITION_FAILED', `No ${type} matches a conditional reference of the bundle.`, {
        issue: 'not-found',
      })
    links.set(reference, `${type}/${id}`)
  }
  return links
}

async function changeOf(session: Session, { entry, id, fresh, index }: Plan, links: Links): Promise<Change> {
  const { type, ifMatch, createOnly } = entry
  if (entry.method === 'PATCH') {
    const current = await read(session.on, type, id!, { lock: true })
    return {
      method: 'PATCH',
      type,
      id: id!,
      resource: applyPatch(parseJson(current.body) as JsonObject, entry.patch!),
      ifMatch: ifMatch ?? current.version,
      condition: entry.query,
    }
  }
  if (!isObject(entry.resource)) throw at(index, 'required', 'it has no resource')
  if (entry.resource['resourceType'] !== type)
    throw at(index, 'invalid', `its resource must be a ${type}, as its address says`)
  const resource = resolveLinks(entry.resource, links, entry.fullUrl)
  if (entry.method === 'PUT' && entry.merge && !fresh) {
    const current = await read(session.on, type, id!, { lock: true })
    const merged = entry.merge(parseJson(current.body) as JsonObject, resource)
    return { method: 'PUT', type, id: id!, resource: merged, ifMatch: current.version, condition: entry.query }
  }
  const method = entry.method === 'POST' ? 'POST' : 'PUT'
  return { method, type, id: id!, resource, fresh, ifMatch, createOnly, condition: entry.query }
}

/** Conditions may have led two entries to one resource. */
function mustDiffer(
  changes: readonly { plan: Plan; change: Change }[],
  done: ReadonlyMap<number, Written | undefined>,
): void {
  const deleted = [...done.values()].filter(written => written?.outcome === 'deleted')
  const seen = new Set(deleted.map(written => `${written!.type}/${written!.id}`))
  for (const { plan, change } of changes) {
    const name = `${change.type}/${change.id}`
    if (seen.has(name)) throw at(plan.index, 'duplicate', `another entry changes ${name} too`)
    seen.add(name)
  }
}

/** Others are answered between the entries. */
async function validateAll(session: Session, changes: readonly { plan: Plan; change: Change }[]): Promise<void> {
  const details: FailureDetail[] = []
  const pause = createPause()
  for (const { plan, change } of changes) {
    await pause.after(change.resource)
    for (const issue of session.validate(change.resource)) {
      if (issue.severity !== 'error' || details.length >= 100) continue
      const place = issue.expression.replace(/^[A-Za-z]+/, `Bundle.entry[${plan.index}].resource`)
      details.push({ field: place, code: issue.code, message: `Entry ${plan.index}: ${issue.diagnostics}` })
    }
  }
  if (details.length === 0) return
  const code = details[0]!.code === 'too-costly' ? 'VALIDATION_FAILED' : 'MALFORMED_REQUEST'
  throw new Failure(code, `The bundle is not valid: ${details[0]!.message}`, { details })
}
