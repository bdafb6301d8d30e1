// The schemes by which a request proves its sender, and the credentials that it brings (interface §5).
import type { AgentCaller, Caller, PatientCaller, UserCaller } from './caller.ts'

/**
 * How a caller authenticates, and the kind of caller that results: `open` none, `bearer` a client by its access token,
 * `client` a client by its own credentials, `client-or-bearer` a client by either, `patient` a patient by their token,
 * `session` a user of the portal by a cookie, `agent` a
 * Bridge agent by its key.
 */
export interface Proofs {
  readonly open: undefined
  readonly bearer: Caller
  readonly client: Caller
  readonly 'client-or-bearer': Caller
  readonly patient: PatientCaller
  readonly session: UserCaller
  readonly agent: AgentCaller
}

export type Scheme = keyof Proofs

/** What a request brings to prove its sender. */
export interface Credentials {
  readonly method: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** The body of a form or JSON object, for clients that send their credentials there. */
  readonly body: unknown
  readonly remoteAddress: string
  /** Address by which the service was called. */
  readonly baseUrl: string
}

/** The schemes that identify a caller. */
export type ProvingScheme = Exclude<Scheme, 'open'>

/**
 * Authenticates a caller by one scheme. @throws Failure UNAUTHENTICATED, INVALID_CLIENT, TOKEN_…, FORBIDDEN or
 * AUTH_THROTTLED.
 */
type Authenticate<Proved extends ProvingScheme> = (credentials: Credentials) => Promise<Proofs[Proved]> | Proofs[Proved]

/** The authenticators, by scheme of access. */
export type Authenticators = { readonly [Proved in ProvingScheme]: Authenticate<Proved> }
