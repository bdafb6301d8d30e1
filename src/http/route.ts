// A route is one value: what it answers to, who may call it, what it takes and what it gives.
// Dispatch, checks and the OpenAPI description are all read from it.
import type { IncomingHttpHeaders } from 'node:http'
import type { Static, TObject, TSchema } from 'typebox'
import type { Caller } from '../access/caller.ts'
import type { Proofs, Scheme } from '../access/scheme.ts'
import type { Failure } from '../lib/failure.ts'
import type { Pieces } from '../lib/pieces.ts'
import type { Limit } from './limits.ts'

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** `scopes`: the caller needs one of them; empty: any caller (the store checks each FHIR interaction itself). */
export interface Access<Proved extends Scheme = Scheme> {
  readonly scheme: Proved
  readonly scopes: readonly string[]
}

export const open: Access<'open'> = { scheme: 'open', scopes: [] }

/** Needs an access token that carries one of the scopes; none named: any valid token. */
export function bearer(...scopes: string[]): Access<'bearer'> {
  return { scheme: 'bearer', scopes }
}

/** Needs the client's own credentials: HTTP Basic, X-Client-ID and X-Client-Secret, body members, or private_key_jwt. */
export const clientCredentials: Access<'client'> = { scheme: 'client', scopes: [] }

/** Takes the client's own credentials as well as an access token. */
export const clientOrBearer: Access<'client-or-bearer'> = { scheme: 'client-or-bearer', scopes: [] }

/** Needs a patient's own token, `pat_…`, which POST /api/v1/mobile/enrol gives. */
export const patientToken: Access<'patient'> = { scheme: 'patient', scopes: [] }

/** Needs the cookie of a portal session; what changes something must come from the service's own pages. */
export const session: Access<'session'> = { scheme: 'session', scopes: [] }

/** Needs the id and the key of a Bridge agent, and the time by its clock. */
export const agentKey: Access<'agent'> = { scheme: 'agent', scopes: [] }

export interface RouteRequest<Params, Query, Body, Who = Caller> {
  readonly method: string
  /** The path as it was sent, without query. */
  readonly path: string
  readonly params: Params
  /** Checked query members; `search` is the same, raw and in order. */
  readonly query: Query
  readonly search: URLSearchParams
  readonly headers: IncomingHttpHeaders
  /** The checked body: JSON as written, or a form's fields. Undefined when there is none. */
  readonly body: Body
  /** Media type of the body, lower-case, without parameters. */
  readonly contentType: string | undefined
  /** The caller that the access of the route proves; undefined on open routes. */
  readonly caller: Who
  /** Address by which the service was called, without trailing slash; BASE_URL, or as a trusted proxy says. */
  readonly baseUrl: string
  readonly requestId: string
  /** Address of the client's socket. */
  readonly remoteAddress: string
  /** Aborted when the client disconnects. Statements on the caller's share of the database end by themselves. */
  readonly signal: AbortSignal
}

export interface Reply {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  /**
   * The body that is kept for an Idempotency-Key, where that is less than what is sent; null: no body is kept, so the
   * request is done again.
   */
  readonly kept?: string | Pieces | null
  /** A string, Encoded, Buffer or Readable is sent as it stands, anything else as JSON; undefined sends nothing. */
  readonly body?: unknown
}

/** Builds a reply; with a body and no content type it is JSON. */
export function reply(status: number, body?: unknown, headers?: Readonly<Record<string, string>>): Reply {
  return { status, body, headers }
}

type Inferred<Schema> = Schema extends TSchema ? Static<Schema> : undefined

export interface RouteDefinition<
  Params extends TObject | undefined,
  Query extends TObject | undefined,
  Body extends TSchema | undefined,
  Proved extends Scheme,
> {
  readonly method: Method
  /** `/a/{name}`; the parameters in braces are those of `params`. */
  readonly path: string
  /** True if its address is one of those of a route with parameters, which takes the other methods there. */
  readonly sharesAddress?: true
  /** Groups the operation in the documentation. */
  readonly tag: string
  /** Unique name for generated clients, lowerCamelCase. */
  readonly operationId: string
  /** One line: what a caller receives from it. */
  readonly summary: string
  readonly description?: string
  readonly access: Access<Proved>
  /** The class by whose stricter quota its requests are counted beside the default one. */
  readonly limit?: Limit
  readonly params?: Params
  readonly query?: Query
  readonly body?: Body
  /** Media types the body may have; default application/json. */
  readonly consumes?: readonly string[]
  /** Largest body of this route, where that is less than MAX_BODY_BYTES. */
  readonly maxBodyBytes?: number
  /** Most values (objects, lists, texts, numbers) of a JSON body, by the parameters of the path, where those are fewer than of any body. */
  readonly maxValues?: (params: Readonly<Record<string, string>>) => number
  /** Media types of a body that the handler reads itself, as a Readable, and bounds itself; of `consumes` the others are read before. */
  readonly streams?: readonly string[]
  /**
   * True for a body, by the parameters of its address and its media type, that is handed over as it was sent, as a Buffer; its type
   * need not be one of `consumes`.
   */
  readonly takesBytes?: (params: Readonly<Record<string, string>>, mediaType: string | undefined) => boolean
  /** True if replies may be of any media type beside `produces`. */
  readonly givesBytes?: boolean
  /** True if the handler checks the body itself, with better words: then the schema is for the description only. */
  readonly checksOwnBody?: boolean
  /** True if the body may be left out. */
  readonly bodyOptional?: boolean
  /**
   * True for a POST that may as well be done twice and whose reply is not to be kept: with an Idempotency-Key too it is simply
   * done again.
   */
  readonly isRepeatable?: boolean
  /**
   * Returns the key by which a request is done once although it has no Idempotency-Key, from its checked body; for bodies that carry an id
   * of their own.
   */
  readonly onceBy?: (body: Inferred<Body>) => string
  /** Replies by status, with the schema of the body, or null for none. */
  readonly replies: Readonly<Record<number, TSchema | null>>
  /** Statuses of refusals that do not follow from the rest of the route (refusals.ts). */
  readonly refusals?: readonly number[]
  /** Media type of the replies; default application/json. */
  readonly produces?: string
  /** True if it reports to a caller about itself only: the audit trail records nothing of it. */
  readonly isAboutCaller?: true
  /**
   * True if the audit trail records it under the patient that it names, though it takes no token: it gives access to a
   * record.
   */
  readonly givesAccess?: true
  /** For what browsers show: the description of the API leaves it out, and `failure` shows failures as a page. */
  readonly page?: { readonly failure?: (failure: Failure, asked: Asked) => Reply }
  /** Puts a failure of the route in the words of the specification that the route follows. */
  readonly failure?: (failure: Failure) => Failure
  handle(
    request: RouteRequest<Inferred<Params>, Inferred<Query>, Inferred<Body>, Proofs[Proved]>,
  ): Reply | Promise<Reply>
}

/** The request that a failure answers. */
export interface Asked {
  readonly method: string
  readonly path: string
  /** Without question mark. */
  readonly query: string
  readonly headers: IncomingHttpHeaders
  readonly requestId: string
}

/** A route of any shape, as dispatch and the documentation see it. */
export type Route = {
  [Proved in Scheme]: RouteDefinition<TObject | undefined, TObject | undefined, TSchema | undefined, Proved>
}[Scheme]

/** Declares a route; the types of params, query and body follow from their schemas, that of the caller from the access. */
export function route<
  Params extends TObject | undefined = undefined,
  Query extends TObject | undefined = undefined,
  Body extends TSchema | undefined = undefined,
  Proved extends Scheme = Scheme,
>(definition: RouteDefinition<Params, Query, Body, Proved>): Route {
  return definition as unknown as Route
}

/** Returns a header; of one that was sent several times, its values with commas between (RFC 9110 §5.3). */
export const headerOf = ({ headers }: { readonly headers: IncomingHttpHeaders }, name: string): string | undefined => {
  const value = headers[name]
  return Array.isArray(value) ? value.join(', ') : value
}
