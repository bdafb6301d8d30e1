// The CapabilityStatement as it is served: kept for each address by which the endpoint is called, until search parameters change.

import { type Base, fhirBase } from '../store/base.ts'
import type { SearchParams } from '../store/search-params/known.ts'
import { capabilityStatement } from './metadata.ts'
import type { Metadata } from './request.ts'

/** The statement for the address by which the service was called, without trailing slash. */
export type Capabilities = (baseUrl: string) => Metadata

/** Most addresses for which a statement is kept. */
const mostKept = 20

export interface CapabilityParts {
  readonly version: string
  readonly searchParams: () => SearchParams
  /** Of the data set. */
  readonly base: Base
}

export function createCapabilities({ version, searchParams, base }: CapabilityParts): Capabilities {
  const started = new Date()
  const kept = new Map<string, Metadata>()
  let params = searchParams()
  return baseUrl => {
    if (params !== searchParams()) kept.clear()
    params = searchParams()
    const known = kept.get(baseUrl)
    if (known) return known
    if (kept.size >= mostKept) kept.clear()
    const made = capabilityStatement({
      ...{ version, started, params },
      ...{ base: `${baseUrl}${fhirBase}`, endpoint: base.endpoint },
    })
    kept.set(baseUrl, made)
    return made
  }
}
