// Transactions: all entries of a bundle or none (https://hl7.org/fhir/R4/http.html#transaction). Plan first (ids, targets,
// references), then deletions, conditions, one set-based write, and the reads last.
import { Failure, type FailureDetail } from '../../lib/failure.ts'
import { isObject, type JsonObject, parseJson } from '../../lib/json.ts'
import { lockConditions } from '../conditional.ts'
import { lockCurrent } from '../current.ts'
import { applyPatch } from '../patch/patch.ts'
import { createPause } from '../pause.ts'
import { read } from '../read.ts'
import { type Links, resolveLinks } from '../references.ts'
import { inTransaction, type Session } from '../session.ts'
import { type Change, nameOf, type Written } from '../write/next-version.ts'
import { write } from '../write/write.ts'
import { allow, at, checkFast, isRead, type PlannedWrite, planOf, type TransactionEntry } from './entries.ts'
import { conditionOf, inTurns, lookUp, lookUpDeletions } from './targets.ts'

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

async function applyWrites(session: Session, plans: PlannedWrite[]): Promise<Map<number, Written | undefined>> {
  const deletions = plans.filter(plan => plan.entry.method === 'DELETE')
  const others = plans.filter(plan => plan.entry.method !== 'DELETE')
  await lockConditions(session, plans.flatMap(conditionOf))
  await lockResources(session, plans)
  const results = new Map<number, Written | undefined>()
  await applyDeletions(session, deletions, results)
  await lookUp(session, others, results)
  mustDiffer(others, results)
  for await (const { plans: turn, links } of inTurns(session, others)) {
    const changes: { plan: PlannedWrite; change: Change }[] = []
    for (const plan of turn) changes.push({ plan, change: await changeOf(session, plan, links) })
    await validateAll(session, changes)
    const written = await write(
      session,
      changes.map(each => each.change),
    )
    turn.forEach(({ index }, position) => results.set(index, written[position]))
  }
  return results
}

/** Locks what is named by id before anything is changed, in one order for all: transactions wait instead of deadlocking. */
async function lockResources(session: Session, plans: readonly PlannedWrite[]): Promise<void> {
  const named = plans.flatMap(({ entry: { type, id } }) => (id === undefined ? [] : [{ type, id }]))
  if (named.length > 0) await lockCurrent(session, named)
}

async function applyDeletions(
  session: Session,
  deletions: readonly PlannedWrite[],
  results: Map<number, Written | undefined>,
): Promise<void> {
  await lookUpDeletions(session, deletions)
  const changes: Change[] = []
  const indexes: number[] = []
  const named = new Set<string>()
  for (const { entry, index, id } of deletions) {
    const { type, query, ifMatch } = entry
    if (id === undefined || named.has(nameOf({ type, id }))) {
      results.set(index, undefined)
      continue
    }
    named.add(nameOf({ type, id }))
    changes.push({ method: 'DELETE', type, id, ifMatch, condition: query })
    indexes.push(index)
  }
  if (changes.length === 0) return
  const written = await write(session, changes)
  written.forEach((result, position) => results.set(indexes[position]!, result))
}

async function changeOf(session: Session, { entry, id, fresh, index }: PlannedWrite, links: Links): Promise<Change> {
  const { type, ifMatch, createOnly } = entry
  if (entry.method === 'PATCH') {
    const current = await read(session.on, type, id!, { lock: true })
    const patched = applyPatch(parseJson(current.body) as JsonObject, entry.patch!)
    return {
      method: 'PATCH',
      type,
      id: id!,
      resource: resolveLinks(patched, links, entry.fullUrl, current.body),
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
    const merged = await entry.merge(parseJson(current.body) as JsonObject, resource)
    return { method: 'PUT', type, id: id!, resource: merged, ifMatch: current.version, condition: entry.query }
  }
  const method = entry.method === 'POST' ? 'POST' : 'PUT'
  return { method, type, id: id!, resource, fresh, ifMatch, createOnly, condition: entry.query }
}

/** Conditions may have led two entries to one resource. */
function mustDiffer(plans: readonly PlannedWrite[], done: ReadonlyMap<number, Written | undefined>): void {
  const deleted = [...done.values()].filter(written => written?.outcome === 'deleted')
  const seen = new Set(deleted.map(written => nameOf(written!)))
  for (const { entry, id, index, isDone } of plans) {
    if (isDone) continue
    const name = nameOf({ type: entry.type, id: id! })
    if (seen.has(name)) throw at(index, 'duplicate', `another entry changes ${name} too`)
    seen.add(name)
  }
}

/** Others are answered between the entries. */
async function validateAll(
  session: Session,
  changes: readonly { plan: PlannedWrite; change: Change }[],
): Promise<void> {
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
