// The CapabilityStatement as it is served: kept for each address by which the endpoint is called, until search parameters change.
import { fhirBase } from '../http/failures.ts'
import type { SearchParams } from '../store/search-params/known.ts'
import { capabilityStatement, type Metadata } from './metadata.ts'

/** The statement for the address by which the service was called, without trailing slash. */
export type Capabilities = (baseUrl: string) => Metadata

/** Most addresses for which a statement is kept. */
const mostKept = 20

export function createCapabilities(version: string, searchParams: () => SearchParams): Capabilities {
  const started = new Date()
  const kept = new Map<string, Metadata>()
  let params = searchParams()
  return baseUrl => {
    if (params !== searchParams()) kept.clear()
    params = searchParams()
    const known = kept.get(baseUrl)
    if (known) return known
    if (kept.size >= mostKept) kept.clear()
    const made = capabilityStatement({ base: `${baseUrl}${fhirBase}`, issuer: baseUrl, version, started, params })
    kept.set(baseUrl, made)
    return made
  }
}
