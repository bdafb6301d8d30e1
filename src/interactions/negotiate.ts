// Content negotiation: JSON of FHIR 4.0 in every name that clients give it (https://hl7.org/fhir/R4/http.html#mime-type).
import { Failure } from '../lib/failure.ts'

export const fhirJson = 'application/fhir+json'

/** Media types of a resource in a request's body. */
export const resourceTypesTaken = [fhirJson, 'application/json', 'text/json']
export const patchTypesTaken = ['application/json-patch+json', ...resourceTypesTaken]

const accepted = new Set([...resourceTypesTaken, '*/*', 'application/*', 'text/*', 'json'])

/**
 * Checks that the answer may be FHIR JSON; _format wins over Accept.
 * @throws Failure NOT_ACCEPTABLE if neither allows it, or another FHIR version is wanted.
 */
export function mustAcceptJson(accept: string | undefined, format: string | null): void {
  const wanted = format ?? accept
  if (!wanted) return
  if (offersOf(wanted).some(offer => accepted.has(offer.type) && offer.version === '4.0' && offer.weight > 0)) return
  throw new Failure('NOT_ACCEPTABLE', `This server supports ${fhirJson} (FHIR 4.0) only.`)
}

/** True for a name of FHIR JSON. */
export const isFhirJson = (type: string): boolean => type === 'json' || resourceTypesTaken.includes(type)

/** The media types of an Accept header or of _format, in their order. */
export const offersOf = (text: string): Offer[] => text.split(',').map(readOffer)

interface Offer {
  readonly type: string
  /** Of FHIR. */
  readonly version: string
  readonly weight: number
}

/** @throws Failure UNSUPPORTED_MEDIA_TYPE for a body of another FHIR version. */
export function mustBeR4(contentType: string | undefined): void {
  if (contentType && readOffer(contentType).version !== '4.0')
    throw new Failure('UNSUPPORTED_MEDIA_TYPE', 'The body has another FHIR version: this server supports 4.0 only.')
}

function readOffer(text: string): Offer {
  const [type, ...params] = text.split(';').map(part => part.trim())
  const named = Object.fromEntries(
    params.map(param => param.split('=', 2).map(word => word?.trim().replace(/^"|"$/g, '') ?? '')),
  )
  // In a query a plus sign stands for a space.
  return {
    type: type!.toLowerCase().replace('fhir json', 'fhir+json'),
    version: named['fhirVersion'] ?? '4.0',
    weight: Number(named['q'] ?? 1),
  }
}
