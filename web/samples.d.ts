// What one call of the API is, and how it is written for curl and with the three client libraries.

/** A parameter of a method of the client libraries, as clients/contract.json has it. */
export interface LibraryParameter {
  readonly name: string
  readonly in: string
  readonly type: string
  readonly required: boolean
  /** Its name in the request, where that differs. */
  readonly wire?: string
}

/** The method of the client libraries that does an operation. */
export interface LibraryMethod {
  readonly module: string
  readonly method: string
  readonly returns: string
  readonly parameters: readonly LibraryParameter[]
}

/** How the sender of a call is proved. */
export type Proof = 'token' | 'client' | 'agent' | 'none'

export interface Call {
  readonly method: string
  /** The pattern: `/a/{name}`. */
  readonly path: string
  /** Values of the parameters in braces. */
  readonly values: Readonly<Record<string, string>>
  readonly query: readonly (readonly [string, string])[]
  readonly headers: readonly (readonly [string, string])[]
  readonly body?: string | undefined
  readonly contentType?: string | undefined
  readonly proof: Proof
  readonly baseUrl: string
  readonly environment: string
  /** Absent: the libraries do it by `request`. */
  readonly library?: LibraryMethod | undefined
}

export interface Samples {
  readonly curl: string
  /** Absent where the libraries cannot send the call. */
  readonly typescript?: string
  readonly python?: string
  readonly php?: string
}

/** Path and query of a call. */
export function addressOf(call: Pick<Call, 'path' | 'values' | 'query'>): string

/** The headers that a text names, one a line. */
export function headersIn(text: string): [string, string][]

export function samplesOf(call: Call): Samples
