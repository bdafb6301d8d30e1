// What sends one request: fetch, or what a caller puts in its place.

/** A request as the library hands it over: the second argument of `fetch`. */
export interface TransportRequest {
  readonly method: string
  readonly headers: Record<string, string>
  readonly body?: string
  readonly redirect: 'manual'
  readonly signal: AbortSignal
}

/** Headers of a response; names in any case. */
export interface Headers {
  get(name: string): string | null
}

/** A response: what the library reads of that of `fetch`. */
export interface TransportResponse {
  readonly status: number
  readonly headers: Headers
  text(): Promise<string>
}

/**
 * Sends one request and gives the response, whatever its status; rejects if there is none. `fetch` is one. Redirects are
 * not to be followed, and the signal is to be heeded.
 */
export type Transport = (url: string, request: TransportRequest) => Promise<TransportResponse>

/** The fetch of the platform, looked up at each call, so that what replaces it later counts. */
export const platformTransport: Transport = (url, request) => fetch(url, request)
