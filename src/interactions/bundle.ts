// Bundles written as text around the stored bodies, which are neither parsed nor copied before they are sent (https://hl7.org/fhir/R4/bundle.html).
import { Failure } from '../lib/failure.ts'
import { uuidv7 } from '../lib/ids.ts'
import type { Piece, Pieces } from '../lib/pieces.ts'
import { StoredText } from '../lib/stored-text.ts'
import type { Hit } from '../store/search/hit.ts'
import type { Version } from '../store/versions.ts'
import type { FhirReply } from './request.ts'

export interface Link {
  readonly relation: 'self' | 'first' | 'next' | 'previous'
  readonly url: string
}

const text = JSON.stringify

/** An entry: JSON of a resource, if it has one, and what stands before and after it. */
interface Entry {
  readonly before: string
  readonly resource: Piece | Pieces
  readonly after: string
}

function bundle(type: string, fields: readonly string[], entries: readonly Entry[]): Pieces {
  const start = `{"resourceType":"Bundle","id":"${uuidv7()}","meta":{"lastUpdated":"${new Date().toISOString()}"},"type":"${type}"${fields.map(field => `,${field}`).join('')}`
  if (entries.length === 0) return [`${start}}`]
  const pieces: Piece[] = []
  let between = `${start},"entry":[`
  for (const { before, resource, after } of entries) {
    pieces.push(between, before)
    if (typeof resource === 'string' || resource instanceof StoredText) pieces.push(resource)
    else for (const piece of resource) pieces.push(piece)
    between = `${after},`
  }
  pieces.push(`${between.slice(0, -1)}]}`)
  return pieces
}

const totalField = (total: number | undefined): string[] => (total === undefined ? [] : [`"total":${total}`])

/** Most characters of a link to another page: the address and headers of a request take 16 kB together. */
const longestLink = 15_000

/** @throws Failure MALFORMED_REQUEST if the link to another page of a search is longer than a request can be. */
export function mustBeFollowed(links: readonly Link[]): void {
  const [link] = links.filter(({ relation, url }) => relation !== 'self' && url.length > longestLink)
  if (!link) return
  const message = `The search has more matches than a page, and the link to the others would have ${link.url.length} characters; ${longestLink} can be followed. Search for fewer values at a time, or send a larger _count (at most 1000).`
  throw new Failure('MALFORMED_REQUEST', message, {
    issue: 'too-long',
    details: [{ field: '_count', code: 'too-long', message }],
  })
}

const linkField = (links: readonly Link[]): string => `"link":${text(links)}`

/** A page of search results; `outcome` is an OperationOutcome as JSON. */
export function searchset(
  base: string,
  matches: readonly Hit[],
  included: readonly Hit[],
  links: readonly Link[],
  total: number | undefined,
  outcome: string | undefined,
): Pieces {
  // Neither a type nor an id holds anything that JSON would escape.
  const start = `{"fullUrl":${text(base).slice(0, -1)}/`
  const entry = (mode: string) => {
    const after = `,"search":{"mode":"${mode}"}}`
    return (hit: Hit): Entry => ({
      before: `${start}${hit.type}/${hit.id}","resource":`,
      resource: hit.body,
      after,
    })
  }
  const entries = [...matches.map(entry('match')), ...included.map(entry('include'))]
  if (outcome)
    entries.push({
      before: `{"fullUrl":"urn:uuid:${uuidv7()}","resource":`,
      resource: outcome,
      after: ',"search":{"mode":"outcome"}}',
    })
  return bundle('searchset', [...totalField(total), linkField(links)], entries)
}

/** People who may be the one in question, the likeliest first, with how sure that is. */
export function matchset(
  base: string,
  matches: readonly { readonly id: string; readonly grade: string; readonly score: number; readonly body: Piece }[],
): Pieces {
  const entries = matches.map(({ id, grade, score, body }): Entry => {
    const extension = [{ url: 'http://hl7.org/fhir/StructureDefinition/match-grade', valueCode: grade }]
    const search = text({ extension, mode: 'match', score })
    const before = `{"fullUrl":${text(`${base}/Patient/${id}`)},"resource":`
    return { before, resource: body, after: `,"search":${search}}` }
  })
  return bundle('searchset', [`"total":${matches.length}`], entries)
}

/** The outcome entry of a page: what was not done as it was asked, and what is held back; undefined if there is nothing to say. */
export function warningOutcome(warnings: readonly string[], withheld: readonly string[] = []): string | undefined {
  const issueOf = (code: string) => (message: string) => ({
    severity: 'warning',
    code,
    details: { text: message },
    diagnostics: message,
  })
  const issue = [...warnings.map(issueOf('not-supported')), ...withheld.map(issueOf('suppressed'))]
  return issue.length > 0 ? JSON.stringify({ resourceType: 'OperationOutcome', issue }) : undefined
}

/** A page of history: what was done to each resource, newest first. */
export function historyBundle(
  base: string,
  versions: readonly Version[],
  links: readonly Link[],
  total: number | undefined,
): Pieces {
  return bundle(
    'history',
    [...totalField(total), linkField(links)],
    versions.map(version => historyEntry(base, version)),
  )
}

function historyEntry(base: string, { type, id, version, method, updatedAt, body }: Version): Entry {
  const url = method === 'POST' ? type : `${type}/${id}`
  const status = method === 'DELETE' ? '204 No Content' : method === 'POST' || version === 1 ? '201 Created' : '200 OK'
  const request = { method, url }
  const response = { status, etag: `W/"${version}"`, lastModified: updatedAt.toISOString() }
  const before = `{"fullUrl":${text(`${base}/${type}/${id}`)}`
  const after = `,"request":${text(request)},"response":${text(response)}}`
  return body === null ? { before, resource: '', after } : { before: `${before},"resource":`, resource: body, after }
}

const reasons: Readonly<Record<number, string>> = {
  200: 'OK',
  201: 'Created',
  204: 'No Content',
  304: 'Not Modified',
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  406: 'Not Acceptable',
  409: 'Conflict',
  410: 'Gone',
  412: 'Precondition Failed',
  413: 'Content Too Large',
  415: 'Unsupported Media Type',
  422: 'Unprocessable Content',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
}

/** The answer to a batch or transaction, entry by entry in the order of the request. */
export function responseBundle(
  kind: 'batch' | 'transaction',
  base: string,
  replies: readonly (FhirReply & { isOutcome?: boolean })[],
): Pieces {
  return bundle(
    `${kind}-response`,
    [],
    replies.map(reply => responseEntry(base, reply)),
  )
}

function responseEntry(
  base: string,
  { status, body, version, updatedAt, location, isOutcome }: FhirReply & { isOutcome?: boolean },
): Entry {
  const response = text({
    status: `${status} ${reasons[status] ?? ''}`.trim(),
    location: location && `${base}/${location}`,
    etag: version === undefined ? undefined : `W/"${version}"`,
    lastModified: updatedAt?.toISOString(),
  })
  if (body === undefined) return { before: `{"response":${response}}`, resource: '', after: '' }
  if (isOutcome) return { before: `{"response":${response.slice(0, -1)},"outcome":`, resource: body, after: '}}' }
  return { before: '{"resource":', resource: body, after: `,"response":${response}}` }
}
