// A FHIR interaction as one value: dispatch, routes, the CapabilityStatement and refusals are read from it.
// https://hl7.org/fhir/R4/http.html
import type { CapabilityStatementRestInteraction, CapabilityStatementRestResourceInteraction } from '@medplum/fhirtypes'
import type { Store } from '../store/store.ts'
import type { FhirReply, FhirRequest } from './request.ts'

/** The form of an address below the FHIR base; `member` is a resource type within a compartment. */
export type Address =
  | ''
  | '_search'
  | '_history'
  | 'metadata'
  | 'type'
  | 'type/_search'
  | 'type/_history'
  | 'type/id'
  | 'type/id/_history'
  | 'type/id/_history/version'
  | 'type/id/member'
  | 'type/id/member/_search'

export type Answer = (store: Store, request: FhirRequest) => Promise<FhirReply>

export interface Interaction {
  /** As the CapabilityStatement names it among those of a type. */
  readonly code?: CapabilityStatementRestResourceInteraction['code']
  /** As the CapabilityStatement names it among those of the whole system. */
  readonly systemCode?: CapabilityStatementRestInteraction['code']
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly at: Address
  readonly operationId: string
  readonly summary: string
  /** A Binary may be sent or read by its content instead of as a resource. */
  readonly hasContent?: true
  readonly answer: Answer
}
