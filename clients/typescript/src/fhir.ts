// FHIR R4 resources, as far as this library looks into them. Bring your own types: `client.fhir.read<Patient>(…)`.

/** Any FHIR resource type, such as those of @medplum/fhirtypes or @types/fhir. */
export interface AnyResource<T extends string = string> {
  readonly resourceType: T
  readonly id?: string
}

/** A FHIR resource whose elements are not declared. */
export interface FhirResource<T extends string = string> extends AnyResource<T> {
  readonly meta?: { readonly versionId?: string; readonly lastUpdated?: string; readonly [element: string]: unknown }
  readonly [element: string]: unknown
}

/** One entry of a page. */
export interface BundleEntry<R extends AnyResource = FhirResource> {
  readonly fullUrl?: string
  readonly resource?: R
  /** `match` for what was searched for, `include` for what it refers to. */
  readonly search?: { readonly mode?: 'match' | 'include' | 'outcome'; readonly score?: number }
}

/** One page of a search. */
export interface Bundle<R extends AnyResource = FhirResource> {
  readonly resourceType: 'Bundle'
  readonly type: string
  readonly total?: number
  readonly link?: readonly { readonly relation: string; readonly url: string }[]
  readonly entry?: readonly BundleEntry<R>[]
}

/** The value of a parameter; a list repeats the parameter, null and undefined leave it out. */
export type SearchValue = string | number | boolean | null | undefined

/** Search parameters of FHIR, such as `{ status: 'active', date: ['ge2026-01-01', 'lt2026-02-01'] }`. */
export type SearchParams = Readonly<Record<string, SearchValue | readonly SearchValue[]>>
