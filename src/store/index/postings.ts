// Postings: the 64-bit hashes by which a resource is found. The index and the search both make them here.
import { hash32, hash64, uncachedHash64 } from '../../lib/hash.ts'

/** A search parameter of a type, with its numbers in the index. */
export interface ParamKey {
  /** `Observation.code` */
  readonly name: string
  /** Number of the parameter in the tables `span` and `word`. */
  readonly number: number
  /** What a reference posting is xor-ed with. */
  readonly salt: bigint
  /** The parameter has a value at all, or has none: answers `:missing`. */
  readonly present: bigint
  readonly absent: bigint
  /** A code regardless of its system, and of one system; the empty system stands for none. */
  readonly codes: (system: string, code: string) => readonly [code: bigint, ofSystem: bigint]
}

/** Pairs that are remembered, of all functions together, and letters of the longest of them. */
const mostRemembered = 50_000
const longestRemembered = 256
let count = 0
/** What each function remembers. */
const memories: Map<string, Map<string, unknown>>[] = []

/** The same function, which finds what it has made of two texts lately without hashing both again as one. */
function remembered<T>(make: (left: string, right: string) => T): (left: string, right: string) => T {
  const known = new Map<string, Map<string, T>>()
  memories.push(known)
  return (left, right) => {
    const found = known.get(right)?.get(left)
    if (found !== undefined) return found
    const made = make(left, right)
    if (left.length + right.length > longestRemembered) return made
    if (++count > mostRemembered) forgetAll()
    const ofRight = known.get(right) ?? new Map<string, T>()
    known.set(right, ofRight.set(left, made))
    return made
  }
}

/** All at once, so that many functions together remember no more than one may. */
function forgetAll(): void {
  for (const each of memories) each.clear()
  count = 0
}

const keys = new Map<string, ParamKey>()

/** The key of a parameter; the same object for the same parameter. */
export const paramKey = (type: string, code: string): ParamKey => namedKey(`${type}.${code}`)

/** The key of this name; the same object for the same name. */
export function namedKey(name: string): ParamKey {
  let key = keys.get(name)
  if (!key) keys.set(name, (key = newKey(name)))
  return key
}

const newKey = (name: string): ParamKey => ({
  ...{ name, number: hash32(name), salt: hash64(name), present: hash64(`${name}?`), absent: hash64(`${name}!`) },
  codes: remembered((system, code) => [hash64(`${name}=${code}`), hash64(`${name}=${system}|${code}`)]),
})

/** A code, regardless of its system. */
export const codePosting = (key: ParamKey, code: string): bigint => hash64(`${key.name}=${code}`)

/** A code of one system; the empty system stands for none. */
export const systemCodePosting = (key: ParamKey, system: string, code: string): bigint =>
  hash64(`${key.name}=${system}|${code}`)

/** Any code of a system. */
export const systemPosting = (key: ParamKey, system: string): bigint => hash64(`${key.name}=${system}|`)

/** A uri, unchanged. */
export const uriPosting = (key: ParamKey, uri: string): bigint => hash64(`${key.name}:${uri}`)

/** A uri that lies under `ancestor`, or is it: answers `:below`. */
export const belowPosting = (key: ParamKey, ancestor: string): bigint => hash64(`${key.name}>${ancestor}`)

/** Identifier of a logical reference: answers `:identifier`. */
export const identifierPosting = (key: ParamKey, system: string | undefined, value: string): bigint =>
  hash64(`${key.name}#${system === undefined ? value : `${system}|${value}`}`)

/** Identifier.type and value together: answers `:of-type`. */
export const ofTypePosting = (key: ParamKey, system: string, code: string, value: string): bigint =>
  hash64(`${key.name}%${system}|${code}|${value}`)

/**
 * The token of a composite for the column span.token, made like unitNumber, so that a search can name a code with or without its
 * system: all systems of one code are adjacent in the index.
 */
export const spanToken = (system: string, code: string): bigint => unitNumber(system, code)

/** The first and last spanToken of a code, regardless of its system. */
export function spanTokenRange(code: string): [bigint, bigint] {
  const high = BigInt(hash32(code)) << 32n
  return [BigInt.asIntN(64, high), BigInt.asIntN(64, high | 0xffff_ffffn)]
}

/** Two values of one element: answers composites without a range. */
export const pairPosting = (key: ParamKey, left: string, right: string): bigint =>
  hash64(`${key.name}$${left}$${right}`)

/** The display text of a code, folded: answers `:text` by way of the table `term`. */
export const textPosting = (key: ParamKey, folded: string): bigint => hash64(`${key.name}~${folded}`)

/**
 * A unit for the column span.unit: 32 bits of the code (or unit as written) above 32 bits of its system, so that a search can name
 * either.
 */
export const unitNumber = remembered((system, code) =>
  BigInt.asIntN(64, (BigInt(hash32(code)) << 32n) | BigInt(hash32(system) >>> 0)),
)

/** The upper half of unitNumber: the code alone. */
export const unitCode = (code: string): number => hash32(code)

/** The lower half of unitNumber, unsigned: the system alone. */
export const unitSystem = (system: string): number => hash32(system) >>> 0

/** A reference to a target (`Patient/1`, or an absolute URL) by a parameter; SQL undoes it with the same salt. */
export const refPosting = (key: ParamKey, target: string): bigint => hash64(target) ^ key.salt

/** The resource is in the compartment of some patient, by a parameter that the column `patient` does not hold. */
export const ofSomePatient: bigint = hash64('in the compartment of a Patient')

/** The hash of a resource by which references to it are found. */
export const selfHash = (type: string, id: string): bigint => hash64(`${type}/${id}`)

/** The same of a resource that is being written: it is not remembered, since a new id seldom recurs. */
export const writtenHash = (type: string, id: string): bigint => uncachedHash64(`${type}/${id}`)

/** Longer ones are found as they stand, not by what lies above them. */
const longestUri = 2048

/** Every address above a URL that ends before a slash, and the URL itself; a URN is no path, so nothing lies above it. */
export function ancestors(uri: string): string[] {
  if (uri.length > longestUri || !/^https?:\/\//.test(uri)) return []
  const trimmed = uri.replace(/\/+$/, '')
  const all = [trimmed]
  for (let at = trimmed.lastIndexOf('/'); at > 'https://'.length - 1; at = trimmed.lastIndexOf('/', at - 1))
    all.push(trimmed.slice(0, at))
  return all
}

/** A canonical with its version, and with that cut after each number: `url|1.2` and `url|1` lie above `url|1.2.3`. */
export function versionsAbove(canonical: string): string[] {
  const all = [canonical]
  if (canonical.length > longestUri) return all
  const bar = canonical.lastIndexOf('|')
  for (let at = canonical.lastIndexOf('.'); at > bar; at = canonical.lastIndexOf('.', at - 1))
    all.push(canonical.slice(0, at))
  return all
}
