// The FHIR endpoint and the naming systems of this data set under every address that it has or had
// (docs/decisions/0055-data-set-identity.md).
import { type JsonObject, withTexts } from '../lib/json.ts'

/** The path of the FHIR endpoint below every address of the service. */
export const fhirBase = '/api/fhir/R4'

/** The meaning of texts that name this data set by an address. */
export interface Base {
  /** The prefix of the systems of the data set's identifiers; it never changes. */
  readonly origin: string
  /** Its FHIR endpoint below the origin: a name of the data set, whether or not something answers there now. */
  readonly endpoint: string
  /** The data set's naming system of a name, such as `health-id`. */
  naming(name: string): string
  /** `Patient/1` of an absolute reference below the data set's FHIR endpoint; undefined for every other text. */
  own(reference: string): string | undefined
  /** True for a URL that is an address of the data set, or lies below one. */
  covers(url: string): boolean
  /** A naming system of the data set as it is written today, whichever of its addresses it begins with; other systems unchanged. */
  system(uri: string): string
  /** A resource with such systems; the same object if it has none that is written otherwise. */
  withSystems(resource: JsonObject): JsonObject
  /** The same with one more address of the service, for a request that came by it: nothing of it may be remembered. */
  at(address: string): Base
  /** The resource as it may be stored: without the address that `at` added. */
  kept(resource: JsonObject): JsonObject
}

export interface BaseParts {
  readonly origin: string
  /** Addresses of the service, without trailing slash; the origin is one of them. */
  readonly addresses: Iterable<string>
  /** Path of the FHIR endpoint below each address. */
  readonly path: string
}

const naming = '/fhir/NamingSystem/'
const loopback = ['localhost', '127.0.0.1', '[::1]']

/** The base of a data set. */
export function createBase({ origin, addresses, path }: BaseParts): Base {
  const known = new Set([origin, ...addresses].flatMap(formsOf))
  const below = `${path}/`
  const ownBy = (is: (address: string) => boolean, reference: string): string | undefined => {
    const end = reference.startsWith('http') ? reference.indexOf(below) : -1
    return end > 0 && is(reference.slice(0, end)) ? reference.slice(end + below.length) : undefined
  }
  const systemBy = (is: (address: string) => boolean, uri: string): string => {
    const end = uri.indexOf(naming)
    return end > 0 && is(uri.slice(0, end)) ? origin + uri.slice(end) : uri
  }
  const isKnown = (address: string): boolean => known.has(address)
  const system = (uri: string): string => systemBy(isKnown, uri)
  const base: Base = {
    origin,
    endpoint: origin + path,
    naming: name => origin + naming + name,
    own: reference => ownBy(isKnown, reference),
    covers: url => [...known].some(address => isWithin(address, url)),
    system,
    withSystems: resource =>
      known.size === 1 ? resource : withTexts(resource, (text, name) => (name === 'system' ? system(text) : text)),
    at(address) {
      if (isKnown(address)) return base
      const isAsked = (each: string): boolean => each === address
      return {
        ...base,
        own: reference => base.own(reference) ?? ownBy(isAsked, reference),
        covers: url => base.covers(url) || isWithin(address, url),
        system: uri => systemBy(isAsked, system(uri)),
        kept: resource =>
          withTexts(resource, (text, name) => {
            if (name === 'reference') return ownBy(isAsked, text) ?? text
            return name === 'system' ? systemBy(isAsked, text) : text
          }),
      }
    },
    kept: resource => resource,
  }
  return base
}

const isWithin = (address: string, url: string): boolean => url === address || url.startsWith(`${address}/`)

/** Every way to write an address: the names of the own machine are one. */
export function formsOf(address: string): string[] {
  const url = URL.parse(address)
  if (!url || !loopback.includes(url.hostname)) return [address]
  const rest = address.slice(address.indexOf('://') + 3 + url.hostname.length)
  return loopback.map(name => `${url.protocol}//${name}${rest}`)
}

/** The base of what is read without regard to where references lead. */
export const nowhere: Base = createBase({ origin: 'urn:nowhere', addresses: [], path: '/' })
