// A request in the log: who asked for what, and how it was answered. Nothing of what was sent or returned, and nothing of a patient.

/** A request that was answered. */
export interface LoggedRequest {
  /** When it came, in milliseconds. */
  readonly at: number
  readonly requestId: string
  /** True if the service made the request id, which nobody else can have sent before: a UUID of version 7, of the time at which the request came. */
  readonly isMade?: boolean
  /** A client, an agent or `user/…`; `patient` for any patient; empty: nobody proved who it is. */
  readonly clientId: string
  readonly organizationId: string
  readonly method: string
  /** The pattern of its route, never the path; empty: no route has the address. */
  readonly route: string
  /** Of a FHIR route; else empty. */
  readonly resourceType: string
  /** 499: the client left before the reply. */
  readonly status: number
  /** Empty unless it was refused or failed. */
  readonly errorCode: string
  readonly milliseconds: number
  /** Of the body as it was sent; undefined: not known. */
  readonly bytesIn: number | undefined
  readonly bytesOut: number | undefined
}
