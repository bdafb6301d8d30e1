// An operation as one value: its name, where it stands, what it takes, and what it does (https://hl7.org/fhir/R4/operations.html).
import type { Store } from '../store/store.ts'
import type { FhirReply, FhirRequest } from './request.ts'

type Method = 'GET' | 'POST'

export interface Operation {
  /** Without the dollar sign. */
  readonly name: string
  readonly definition: string
  /** What identifies it in clients, where another type has an operation of the same name. */
  readonly id?: string
  /** The one type that has it; undefined: all. */
  readonly of: string | undefined
  /** How it is called on the type, and on one resource of it. */
  readonly onType: readonly Method[]
  readonly onInstance: readonly Method[]
  readonly summary: string
  /** See Route: for what sends patients' records, or takes its time. */
  readonly isRepeatable?: boolean
  /** What an address may carry, in words. */
  readonly takes: Readonly<Record<string, string>>
  readonly run: (store: Store, request: FhirRequest) => Promise<FhirReply>
}
