// Batch and transaction: each entry goes through the same interactions as a request of its own (https://hl7.org/fhir/R4/http.html#transaction).
import { isResourceType } from '../definitions/r4.ts'
import { Failure, type FailureDetail } from '../lib/failure.ts'
import { isObject, type JsonObject } from '../lib/json.ts'
import { operationOutcome } from '../lib/operation-outcome.ts'
import { cutAt } from '../lib/text.ts'
import type { Base } from '../store/base.ts'
import { references } from '../store/references.ts'
import { mustStartOver } from '../store/session.ts'
import type { Store } from '../store/store.ts'
import type { TransactionEntry } from '../store/transaction/entries.ts'
import type { Written } from '../store/write/next-version.ts'
import { responseBundle } from './bundle.ts'
import { interact } from './interact.ts'
import { mustAcceptJson } from './negotiate.ts'
import { type FhirReply, type FhirRequest, isCreateOnly, versionOf } from './request.ts'
import { creationCondition, foundReply, patchOf, removedReply, writtenReply } from './resource.ts'

const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'])

interface BundleEntry {
  readonly fullUrl: string | undefined
  readonly resource: unknown
  readonly request: FhirRequest
}

/**
 * Answers POST on the base address.
 * @param report called with each internal error, so that it is logged.
 */
export async function processBundle(
  store: Store,
  outer: FhirRequest,
  report: (error: unknown) => void,
): Promise<FhirReply> {
  const bundle = outer.body
  if (!isObject(bundle) || bundle['resourceType'] !== 'Bundle')
    throw new Failure('MALFORMED_REQUEST', 'POST to the base address requires a Bundle of type batch or transaction.')
  const type = bundle['type']
  if (type !== 'batch' && type !== 'transaction')
    throw new Failure(
      'MALFORMED_REQUEST',
      `The Bundle's type must be batch or transaction, not ${JSON.stringify(type) ?? 'absent'}.`,
      { issue: 'value' },
    )
  const entries = bundle['entry'] ?? []
  if (!Array.isArray(entries)) throw new Failure('MALFORMED_REQUEST', 'Bundle.entry must be an array.')
  return type === 'batch' ? batch(store, outer, entries, report) : transaction(store, outer, entries)
}

const mostBatchEntries = 2000

async function batch(
  store: Store,
  outer: FhirRequest,
  entries: unknown[],
  report: (error: unknown) => void,
): Promise<FhirReply> {
  if (entries.length > mostBatchEntries)
    throw new Failure('PAYLOAD_TOO_LARGE', `A batch must have at most ${mostBatchEntries} entries.`)
  const fullUrls = new Set(
    entries.flatMap(entry =>
      isObject(entry) && typeof entry['fullUrl'] === 'string' && entry['fullUrl'].startsWith('urn:')
        ? [entry['fullUrl']]
        : [],
    ),
  )
  if (store.isPart && entries.length > 1) mustDefineNothing(entries, store.base)
  const replies: EntryReply[] = []
  for (const [index, entry] of entries.entries()) {
    try {
      const read = readEntry(entry, index, outer, store.base)
      mustStandAlone(read, fullUrls)
      const reply = await store.separately(own => interact(own, read.request))
      replies.push({ ...reply, isRead: isReading(read.request), showsStored: showsStored(read.request) })
    } catch (error) {
      const failure =
        error instanceof Failure
          ? error
          : new Failure('INTERNAL_ERROR', 'An internal error occurred.', { cause: error })
      // What may go well the next time is not to be kept as the answer.
      if (store.isPart && (mustStartOver(error) || failure.status >= 500)) throw error
      if (failure.status >= 500) report(error)
      replies.push({ status: failure.status, body: JSON.stringify(operationOutcome(failure)), isOutcome: true })
    }
  }
  return replyOf('batch', store, outer, replies)
}

type EntryReply = FhirReply & {
  readonly isOutcome?: boolean
  readonly isRead?: boolean
  /** The body of a change has what was stored before, and not only what the caller sent. */
  readonly showsStored?: boolean
}

const showsStored = ({ method, prefer }: FhirRequest): boolean =>
  method === 'PATCH' && prefer.return === 'representation'

const isReading = ({ method, segments }: FhirRequest): boolean =>
  method === 'GET' || method === 'HEAD' || (method === 'POST' && /^[$_]/.test(segments.at(-1) ?? ''))

/**
 * The replies of all entries. What is kept of them for an Idempotency-Key holds nothing that was read, by a patch either: consents, or
 * an emergency, may have opened that then and not when the request is repeated.
 */
function replyOf(
  kind: 'batch' | 'transaction',
  store: Store,
  { base }: FhirRequest,
  replies: readonly EntryReply[],
): FhirReply {
  const body = responseBundle(kind, base, replies)
  const wasRead = ({ isRead = false, kept }: EntryReply): boolean => isRead || kept === null
  if (!store.isPart || !replies.some(each => wasRead(each) || each.showsStored)) return { status: 200, body }
  const kept = replies.map((each): EntryReply => {
    if (wasRead(each)) return { status: each.status, isOutcome: true, body: notKept }
    return each.showsStored ? { ...each, body: undefined } : each
  })
  return { status: 200, body, kept: responseBundle(kind, base, kept) }
}

const notKept = JSON.stringify({
  resourceType: 'OperationOutcome',
  issue: [
    {
      severity: 'information',
      code: 'suppressed',
      diagnostics: 'The result of this read is not stored for replays of the request: read it again.',
    },
  ],
})

/**
 * A write uses the search parameters that are defined, and those that a transaction writes are not defined while it
 * lasts.
 * @throws Failure MALFORMED_REQUEST if an entry changes a SearchParameter.
 */
function mustDefineNothing(entries: readonly unknown[], base: Base): void {
  const defines = (entry: unknown): boolean => {
    const request = isObject(entry) ? entry['request'] : undefined
    if (!isObject(request) || request['method'] === 'GET' || request['method'] === 'HEAD') return false
    return /^SearchParameter\b/.test(localPath(String(request['url']), base))
  }
  if (!entries.some(defines)) return
  throw new Failure(
    'MALFORMED_REQUEST',
    'With an Idempotency-Key, a batch runs as one transaction, which cannot change a SearchParameter together with other resources: send the SearchParameter in a separate request.',
  )
}

/** Entries of a batch know nothing of each other, so a placeholder of one cannot be used by another (http.html#brules). */
function mustStandAlone({ resource, fullUrl }: BundleEntry, fullUrls: ReadonlySet<string>): void {
  if (fullUrls.size === 0 || !isObject(resource)) return
  if (!references(resource).some(reference => reference !== fullUrl && fullUrls.has(reference))) return
  throw new Failure(
    'MALFORMED_REQUEST',
    'The resource refers to another entry of the batch: send the bundle as a transaction.',
  )
}

async function transaction(store: Store, outer: FhirRequest, entries: unknown[]): Promise<FhirReply> {
  const read = entries.map((entry, index) => readEntry(entry, index, outer, store.base))
  const planned = read.map((entry, index) => transactionEntry(entry, index))
  const results = await store.transaction(planned, (inner, _entry, index) => interact(inner, read[index]!.request))
  const replies = results.map((result, index) =>
    'reply' in result
      ? { ...result.reply, isRead: true }
      : { ...replyFor(read[index]!, result.written), showsStored: showsStored(read[index]!.request) },
  )
  return replyOf('transaction', store, outer, replies)
}

function replyFor({ request }: BundleEntry, written: Written | undefined): FhirReply {
  if (request.method === 'DELETE' || written === undefined) return removedReply(written)
  const reply = writtenReply(request, written)
  return request.method === 'POST' ? foundReply(reply, written) : reply
}

function wrong(index: number, message: string, code = 'invalid'): Failure {
  const detail: FailureDetail = {
    field: `Bundle.entry[${index}]`,
    code,
    message: `Entry ${index} of the bundle ${message}.`,
  }
  return new Failure('MALFORMED_REQUEST', detail.message, { details: [detail] })
}

function readEntry(entry: unknown, index: number, outer: FhirRequest, base: Base): BundleEntry {
  if (!isObject(entry)) throw wrong(index, 'is not an object', 'structure')
  const request = entry['request']
  if (!isObject(request)) throw wrong(index, 'has no request', 'required')
  const { method, url } = request
  if (typeof method !== 'string' || !methods.has(method))
    throw wrong(index, `must have a request.method of ${[...methods].join(', ')}`)
  if (typeof url !== 'string') throw wrong(index, 'must have a request.url', 'required')
  const [path, query] = cutAt(localPath(url, base), '?')
  const segments = path!
    .split('/')
    .filter(Boolean)
    .map(segment => decoded(segment, index))
  decoded(query, index)
  const search = new URLSearchParams(query)
  mustAcceptJson(undefined, search.get('_format'))
  const text = (name: string): string | undefined =>
    typeof request[name] === 'string' ? (request[name] as string) : undefined
  const { body, contentType } = bodyOf(entry['resource'], method)
  return {
    fullUrl: typeof entry['fullUrl'] === 'string' ? entry['fullUrl'] : undefined,
    resource: entry['resource'],
    request: {
      method,
      segments,
      search,
      body,
      contentType,
      ifMatch: text('ifMatch'),
      ifNoneMatch: text('ifNoneMatch'),
      ifModifiedSince: text('ifModifiedSince'),
      ifNoneExist: text('ifNoneExist'),
      prefer: outer.prefer,
      memory: outer.memory,
      base: outer.base,
      maps: outer.maps,
      people: outer.people,
      trail: outer.trail,
      capabilities: outer.capabilities,
    },
  }
}

function localPath(url: string, base: Base): string {
  return base.own(url) ?? url.replace(/^\//, '')
}

function decoded(segment: string, index: number): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    throw wrong(index, 'has a request.url with a broken percent escape')
  }
}

/** A JSON Patch travels in a bundle as a Binary (https://hl7.org/fhir/R4/http.html#patch). */
function bodyOf(resource: unknown, method: string): { body: unknown; contentType: string | undefined } {
  if (method !== 'PATCH' || !isObject(resource) || resource['resourceType'] !== 'Binary')
    return { body: resource, contentType: undefined }
  try {
    const body: unknown = JSON.parse(Buffer.from(String(resource['data'] ?? ''), 'base64').toString('utf8'))
    return { body, contentType: String(resource['contentType'] ?? '') }
  } catch {
    throw new Failure('MALFORMED_REQUEST', 'The Binary of a PATCH entry must contain a JSON Patch.')
  }
}

function transactionEntry({ fullUrl, resource, request }: BundleEntry, index: number): TransactionEntry {
  const method = request.method as TransactionEntry['method']
  const [type, id, extra] = request.segments
  const isRead = method === 'GET' || method === 'HEAD'
  if (isRead) return { fullUrl, method, type: type ?? '', id, query: undefined, resource: undefined }
  if (type === undefined || !isResourceType(type) || extra !== undefined)
    throw wrong(index, `has a request.url that does not support ${method}`)
  const query = request.search.toString() || undefined
  if (method === 'POST' && id !== undefined)
    throw wrong(index, 'creates a resource, so its request.url must be a resource type only')
  if (method !== 'POST' && (id === undefined) === (query === undefined))
    throw wrong(index, 'must have an id or a condition in its request.url')
  return {
    fullUrl,
    method,
    type,
    id,
    query: method === 'POST' ? creationCondition(request) : query,
    resource: resource as JsonObject,
    patch: method === 'PATCH' ? patchOf(request.body, request.contentType) : undefined,
    ifMatch: versionOf(request.ifMatch, 'ifMatch'),
    createOnly: isCreateOnly(request.ifNoneMatch),
  }
}
