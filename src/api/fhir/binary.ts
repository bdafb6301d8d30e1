// Binary by its content: bytes of any media type are sent and read as they are, beside the resource as FHIR JSON
// (https://hl7.org/fhir/R4/binary.html).
import { Readable } from 'node:stream'
import { parseBody } from '../../http/body.ts'
import type { Reply } from '../../http/route.ts'
import { fhirJson, isFhirJson, offersOf } from '../../interactions/negotiate.ts'
import type { FhirRequest } from '../../interactions/request.ts'
import { Failure } from '../../lib/failure.ts'
import { isObject } from '../../lib/json.ts'
import type { Request } from './route-shapes.ts'

/** True for bodies that are bytes: those sent to Binary, but for the resource as FHIR JSON. */
export const isContent = ({ type }: Readonly<Record<string, string>>, mediaType: string | undefined): boolean =>
  type === 'Binary' && mediaType !== undefined && mediaType !== fhirJson

/** True for `Binary/1` and `Binary/1/_history/2`, which are answered by content. */
export function isContentRead({ method, segments }: Pick<FhirRequest, 'method' | 'segments'>): boolean {
  const [type, id, history, version] = segments
  if (type !== 'Binary' || id === undefined || /^[_$]/.test(id) || !['GET', 'HEAD'].includes(method)) return false
  return segments.length === 2 || (segments.length === 4 && history === '_history' && version !== undefined)
}

const token = "[\\w!#$&^.+'*`|~%-]+"
const mediaTypeShape = new RegExp(`^${token}/${token}(?: ?; ?${token}=(?:${token}|"[ !#-\\[\\]-~]*"))*$`)
const longestType = 200

/**
 * What was sent as content, as the resource that it becomes; JSON that is a resource already stays one.
 * @throws Failure UNSUPPORTED_MEDIA_TYPE, MALFORMED_REQUEST
 */
export function uploaded({ body, contentType, headers, params }: Request): { resource: unknown; isContent: boolean } {
  const bytes = body as Buffer
  if (contentType !== undefined && isFhirJson(contentType)) {
    const resource = parseBody(bytes, contentType)
    if (isObject(resource) && resource['resourceType'] !== undefined) return { resource, isContent: false }
  }
  const given = (headers['content-type'] ?? '').trim().replace(/\s+/g, ' ')
  if (given.length > longestType || !mediaTypeShape.test(given) || given.startsWith('*') || /^[^;]*\/\*/.test(given))
    throw new Failure(
      'UNSUPPORTED_MEDIA_TYPE',
      'The Content-Type of a Binary must be a media type, such as application/pdf.',
    )
  if (/^application\/(fhir\+xml|xml\+fhir)\b/.test(given))
    throw new Failure('UNSUPPORTED_MEDIA_TYPE', `FHIR XML is not supported: send the resource as ${fhirJson}.`)
  const { id } = params as { id?: string }
  const context = headers['x-security-context']
  const resource = {
    resourceType: 'Binary',
    ...(id === undefined ? {} : { id }),
    contentType: given,
    ...(context === undefined ? {} : { securityContext: { reference: String(context) } }),
    data: bytes.toString('base64'),
  }
  return { resource, isContent: true }
}

/** A Binary as it is stored. */
interface Stored {
  readonly contentType?: string
  readonly data?: string
  readonly securityContext?: { readonly reference?: string }
}

/**
 * The reply with the content of a Binary; undefined if the caller asks for the resource.
 * @param headers of the reply to a read: version and time
 * @param body the resource as JSON
 * @throws Failure NOT_ACCEPTABLE, RANGE_NOT_SATISFIABLE
 */
export function contentReply(
  { method, headers: asked, search }: Request,
  id: string,
  headers: Readonly<Record<string, string>>,
  body: string,
): Reply | undefined {
  const { contentType = 'application/octet-stream', data = '', securityContext } = JSON.parse(body) as Stored
  if (wantsResource(asked.accept, search.get('_format'), contentType)) return undefined
  const base64 = /\s/.test(data) ? data.replace(/\s+/g, '') : data
  const length = lengthOf(base64)
  const isUnchanged = asked['if-range'] === undefined || asked['if-range'] === headers['last-modified']
  const range = method === 'GET' && isUnchanged ? rangeOf(asked.range, length) : undefined
  const [first, last] = range ?? [0, length - 1]
  const context = securityContext?.reference
  return {
    status: range ? 206 : 200,
    headers: {
      ...headers,
      'content-type': mediaTypeShape.test(contentType) ? contentType : 'application/octet-stream',
      'content-length': String(last - first + 1),
      'accept-ranges': 'bytes',
      vary: 'Accept',
      // Whatever it is, no browser runs it: the address of a Binary is that of the service.
      'content-disposition': `attachment; filename="${id}"`,
      'content-security-policy': "sandbox; default-src 'none'; frame-ancestors 'none'",
      ...(context !== undefined && /^[!-~]+$/.test(context) ? { 'x-security-context': context } : {}),
      ...(range ? { 'content-range': `bytes ${first}-${last}/${length}` } : {}),
    },
    body: Readable.from(decoded(base64, first, last), { objectMode: false }),
  }
}

/** FHIR JSON where it is asked for by name; the content for its own type, for any type, and where nothing is asked for. */
function wantsResource(accept: string | undefined, format: string | null, contentType: string): boolean {
  const own = contentType.split(';')[0]!.trim().toLowerCase()
  const offers = offersOf(format ?? accept ?? '*/*').filter(offer => offer.weight > 0)
  for (const { type, version } of offers.toSorted((one, other) => other.weight - one.weight)) {
    if (type === fhirJson && version === '4.0') return true
    if (type === own || type === '*/*' || (type.endsWith('/*') && own.startsWith(type.slice(0, -1)))) return false
    if (isFhirJson(type) && version === '4.0') return true
  }
  throw new Failure(
    'NOT_ACCEPTABLE',
    `The content of this Binary is ${own}: accept that type, or ${fhirJson} for the resource.`,
  )
}

const lengthOf = (base64: string): number =>
  Math.floor((base64.length * 3) / 4) - (base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0)

/**
 * The first and last byte of a range (RFC 9110 §14); undefined for no range, several, or what is none: then all is sent.
 * @throws Failure RANGE_NOT_SATISFIABLE
 */
function rangeOf(header: string | undefined, length: number): [number, number] | undefined {
  const [, from, to] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header ?? '') ?? []
  if (from === undefined || to === undefined || (from === '' && to === '')) return undefined
  const first = from === '' ? Math.max(0, length - Number(to)) : Number(from)
  const last = from === '' || to === '' ? length - 1 : Math.min(Number(to), length - 1)
  if (from !== '' && to !== '' && Number(to) < Number(from)) return undefined
  if (first <= last) return [first, last]
  throw new Failure('RANGE_NOT_SATISFIABLE', `The content has ${length} bytes: request a range within them.`, {
    headers: { 'content-range': `bytes */${length}` },
  })
}

/** Bytes that are decoded at a time; a multiple of three, as base64 goes. */
const piece = 48 * 1024

function* decoded(base64: string, first: number, last: number): Generator<Buffer> {
  for (let at = first - (first % 3); at <= last; at += piece) {
    const bytes = Buffer.from(base64.slice((at / 3) * 4, ((at + piece) / 3) * 4), 'base64')
    yield bytes.subarray(Math.max(0, first - at), Math.min(bytes.length, last + 1 - at))
  }
}
