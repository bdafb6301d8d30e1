// Why the signature of a delivery does or does not match: tries what usually goes wrong, one thing at a time.
import { isObject, parseJson } from '../lib/json.ts'
import { signatureHeaders, signingKey } from './signature.ts'

/** X-Service-Signature, or the headers of Standard Webhooks. */
type SignatureScheme = 'service' | 'standard'

/**
 * What was found. Of those that begin with `body-`, `secret-`, `time-` or `id-` the signature matches once that one thing is as it was
 * signed.
 */
type SignatureVerdict =
  | 'valid'
  | 'missing'
  | 'malformed'
  | 'too-old'
  | 'in-the-future'
  | 'body-end'
  | 'body-format'
  | 'secret-spaces'
  | 'secret-prefix'
  | 'time-changed'
  | 'id-changed'
  | 'wrong'

export interface Examined {
  readonly scheme: SignatureScheme
  readonly verdict: SignatureVerdict
  /** Which of the signatures matches, from 1; absent: none. */
  readonly place?: number
  /** How many signatures the header holds. */
  readonly count: number
  /** Seconds since it was signed; negative: in the future. */
  readonly age?: number
}

/** What a receiver has of a delivery. */
export interface Delivered {
  /** A header a line, as `Name: value`. */
  readonly headers: string
  readonly body: string
  readonly secret: string
  /** The present time in milliseconds. */
  readonly now: number
}

/** Seconds that clocks may differ. */
const tolerance = 300
/** Characters of a header that are read. */
const longestLine = 2000

/** Examines both signatures of a delivery. */
export function examine({ headers, body, secret, now }: Delivered): Examined[] {
  const sent = headersIn(headers)
  // Forms end lines as mail does; what the service sends has no line ends.
  const given = { body: body.replaceAll('\r\n', '\n'), secret }
  return (['service', 'standard'] as const).map(scheme => {
    const claim = claims[scheme](sent)
    if (typeof claim === 'string') return { scheme, verdict: claim, count: 0 }
    const age = Math.floor(now / 1000) - claim.seconds
    const found = matching(scheme, claim, { ...given, ...claim }, sent)
    const { length: count } = claim.signatures
    if (!found) return { scheme, verdict: 'wrong', count, age }
    return { scheme, verdict: found.verdict === 'valid' ? timely(age) : found.verdict, place: found.place, count, age }
  })
}

const timely = (age: number): SignatureVerdict =>
  age > tolerance ? 'too-old' : age < -tolerance ? 'in-the-future' : 'valid'

interface Claim {
  readonly id: string
  readonly seconds: number
  readonly signatures: readonly string[]
}

/** What a signature is made of. */
interface Signed {
  readonly id: string
  readonly seconds: number
  readonly body: string
  readonly secret: string
}

type Sent = ReadonlyMap<string, string>

/** Reads headers as programs print them: `Name: value`, with marks or quotes around. */
function headersIn(text: string): Sent {
  const lines = text
    .split('\n')
    .map(line => line.slice(0, longestLine))
    .map(line => /^[\s<>"']*([A-Za-z-]+)["']?\s*:\s*["']?(.*?)["',\s]*$/.exec(line))
  return new Map(lines.flatMap(found => (found ? [[found[1]!.toLowerCase(), found[2]!] as const] : [])))
}

const claims: Readonly<Record<SignatureScheme, (sent: Sent) => Claim | 'missing' | 'malformed'>> = {
  service(sent) {
    const header = sent.get('x-service-signature')
    if (header === undefined) return 'missing'
    const parts = header.split(',').map(part => part.trim())
    const [seconds] = parts.flatMap(part => /^t=(\d{1,12})$/.exec(part)?.[1] ?? [])
    const signatures = parts.filter(part => /^v1=[0-9a-f]{64}$/.test(part))
    if (seconds === undefined || signatures.length === 0) return 'malformed'
    return { id: sent.get('webhook-id') ?? '', seconds: Number(seconds), signatures }
  },
  standard(sent) {
    const [header, id, seconds] = ['signature', 'id', 'timestamp'].map(name => sent.get(`webhook-${name}`))
    if (header === undefined || id === undefined || seconds === undefined) return 'missing'
    const signatures = header.split(' ').filter(part => /^v1,[A-Za-z0-9+/]{43}=$/.test(part))
    if (!/^\d{1,12}$/.test(seconds) || signatures.length === 0) return 'malformed'
    return { id, seconds: Number(seconds), signatures }
  },
}

/** Returns the first of the usual mistakes without which a signature matches. */
function matching(
  scheme: SignatureScheme,
  { signatures }: Claim,
  given: Signed,
  sent: Sent,
): { readonly verdict: SignatureVerdict; readonly place: number } | undefined {
  for (const [verdict, changed] of suspects(scheme, given, sent)) {
    const place = signatures.indexOf(signatureOf(scheme, { ...given, ...changed })) + 1
    if (place > 0) return { verdict, place }
  }
  return undefined
}

function suspects(
  scheme: SignatureScheme,
  { body, secret }: Signed,
  sent: Sent,
): (readonly [SignatureVerdict, Partial<Signed>])[] {
  const json = parsed(body)
  const other = claims[scheme === 'service' ? 'standard' : 'service'](sent)
  const bare = secret.trim()
  return [
    ['valid', {}],
    ['body-end', { body: body.trim() }],
    ['body-end', { body: `${body}\n` }],
    ['body-format', { body: json === undefined ? body : JSON.stringify(json) }],
    ['secret-spaces', { secret: bare }],
    ['secret-prefix', { secret: bare.startsWith('whsec_') ? bare.slice('whsec_'.length) : `whsec_${bare}` }],
    ...(typeof other === 'string' ? [] : [['time-changed', { seconds: other.seconds }] as const]),
    ...(isObject(json) && typeof json['id'] === 'string' ? [['id-changed', { id: json['id'] }] as const] : []),
  ]
}

function signatureOf(scheme: SignatureScheme, { id, seconds, body, secret }: Signed): string {
  const headers = signatureHeaders([signingKey(secret)], id, seconds, body)
  return scheme === 'service' ? headers['X-Service-Signature']!.split(',')[1]! : headers['webhook-signature']!
}

function parsed(text: string): unknown {
  try {
    return parseJson(text)
  } catch {
    return undefined
  }
}
