// Access tokens: given to clients (RFC 6749 §4.4), described (RFC 7662) and revoked (RFC 7009).

import { covers, firstSpelling, unknownScopes } from '../../access/scopes.ts'
import { bearer, clientCredentials, clientOrBearer, type Route, reply, route } from '../../http/route.ts'
import { bearerToken } from '../../identity/authenticate.ts'
import { assertionType } from '../../identity/credentials.ts'
import type { Identity } from '../../identity/identity.ts'
import { tokenLifetime, type Verified } from '../../identity/tokens.ts'
import { Failure } from '../../lib/failure.ts'
import { Type } from '../../lib/schema.ts'
import { formOrJson, inOAuthWords, maxOAuthBody, membersOf, oauthErrors, oauthFailure } from './oauth.ts'

const credentialMembers = {
  client_id: Type.Optional(
    Type.String({ description: 'The id of the integration client.', examples: ['demo-client'] }),
  ),
  client_secret: Type.Optional(
    Type.String({ description: 'The secret of the integration client.', examples: ['demo-secret-for-local-use-only'] }),
  ),
  client_assertion_type: Type.Optional(Type.String({ description: `For private_key_jwt: ${assertionType}` })),
  client_assertion: Type.Optional(
    Type.String({ description: 'For private_key_jwt: a JWT signed with a registered key (RS384, ES384 or RS256).' }),
  ),
}

const TokenRequest = Type.Object(
  {
    grant_type: Type.String({ description: 'Must be client_credentials.', examples: ['client_credentials'] }),
    ...credentialMembers,
    scope: Type.Optional(
      Type.String({ description: 'The requested scopes, separated by spaces. Default: all scopes of the client.' }),
    ),
  },
  { $id: 'TokenRequest', description: 'The credentials can be sent in headers instead.' },
)

const TokenResponse = Type.Object(
  {
    access_token: Type.String({ description: 'The access token, a JWT signed with RS256.' }),
    token_type: Type.Literal('Bearer'),
    expires_in: Type.Integer({ description: 'The lifetime of the token in seconds.', examples: [tokenLifetime] }),
    scope: Type.String({ description: 'The granted scopes, separated by spaces.' }),
  },
  { $id: 'TokenResponse' },
)

const TokenReference = Type.Object(
  {
    token: Type.String({ description: 'The access token.' }),
    token_type_hint: Type.Optional(Type.String({ description: 'Accepted and ignored: all tokens are access tokens.' })),
    ...credentialMembers,
  },
  { $id: 'TokenReference' },
)

const IntrospectionResponse = Type.Object(
  {
    active: Type.Boolean({ description: 'True if the token is valid. If false, no other field is present.' }),
    token_type: Type.Optional(Type.String()),
    scope: Type.Optional(Type.String()),
    client_id: Type.Optional(Type.String()),
    sub: Type.Optional(Type.String()),
    aud: Type.Optional(Type.String()),
    iss: Type.Optional(Type.String()),
    exp: Type.Optional(Type.Integer()),
    iat: Type.Optional(Type.Integer()),
    jti: Type.Optional(Type.String()),
  },
  { $id: 'IntrospectionResponse' },
)

const SdkIntrospection = Type.Object(
  {
    active: Type.Boolean(),
    scopes: Type.Array(Type.String()),
    client_id: Type.String(),
    expires_at: Type.String({ format: 'date-time' }),
  },
  { $id: 'SdkIntrospection' },
)

// A kept reply would be a secret at rest, and a second token does no harm.
const oauth = {
  tag: 'Connect',
  consumes: formOrJson,
  maxBodyBytes: maxOAuthBody,
  failure: inOAuthWords,
  isRepeatable: true,
} as const

/** POST /api/v1/connect/auth/token */
export function tokenRoute({ tokens }: Identity): Route {
  return route({
    ...oauth,
    method: 'POST',
    path: '/api/v1/connect/auth/token',
    operationId: 'connectToken',
    summary: 'Exchange client credentials for an access token',
    description:
      'OAuth 2.0 client credentials grant. Send the credentials in the body (JSON or form), with HTTP Basic, in X-Client-ID and X-Client-Secret, or as a signed client_assertion. The token is valid for one hour.',
    access: clientCredentials,
    limit: 'token',
    body: TokenRequest,
    replies: { 200: TokenResponse, ...oauthErrors },
    async handle({ body, caller }) {
      const request = membersOf(TokenRequest, body)
      if (request.grant_type !== 'client_credentials')
        throw oauthFailure('unsupported_grant_type', 'grant_type must be client_credentials.')
      const granted = narrowed(caller.scopes, request.scope)
      const token = await tokens.mint(caller, granted)
      return reply(
        200,
        { access_token: token, token_type: 'Bearer', expires_in: tokenLifetime, scope: granted.join(' ') },
        // Cache-Control: no-store stands on every reply that names no other; RFC 6749 §5.1 wants this beside it.
        { pragma: 'no-cache' },
      )
    },
  })
}

/** The scopes asked for, by their first spelling. @throws Failure invalid_scope naming every one that the client does not have. */
function narrowed(held: readonly string[], wanted: string | undefined): readonly string[] {
  const asked = [...new Set((wanted ?? '').split(' ').filter(Boolean).map(firstSpelling))]
  if (asked.length === 0) return held
  const unknown = unknownScopes(asked)
  if (unknown) throw oauthFailure('invalid_scope', unknown)
  const missing = asked.filter(name => !covers(held, name))
  if (missing.length > 0)
    throw oauthFailure('invalid_scope', `The client does not have the scope ${missing.join(' ')}.`)
  return asked
}

/** POST /api/v1/connect/auth/introspect */
export function introspectRoute({ tokens }: Identity): Route {
  return route({
    ...oauth,
    method: 'POST',
    path: '/api/v1/connect/auth/introspect',
    operationId: 'connectIntrospect',
    summary: 'Introspect an access token',
    description:
      'Implements RFC 7662. Returns only { "active": false } for a token that is expired, revoked, forged or issued to another organisation.',
    access: clientOrBearer,
    body: TokenReference,
    replies: { 200: IntrospectionResponse, ...oauthErrors },
    async handle({ body, caller }) {
      const { token } = membersOf(TokenReference, body)
      const verified = await attempt(() => tokens.verify(token))
      if (verified?.claims.organization_id !== caller.organizationId) return reply(200, { active: false })
      const { scope, client_id, sub, aud, iss, exp, iat, jti } = verified.claims
      return reply(200, { active: true, token_type: 'Bearer', scope, client_id, sub, aud, iss, exp, iat, jti })
    },
  })
}

/** POST /api/v1/connect/auth/revoke */
export function revokeRoute({ tokens, revocations }: Identity): Route {
  return route({
    ...oauth,
    method: 'POST',
    path: '/api/v1/connect/auth/revoke',
    operationId: 'connectRevoke',
    summary: 'Revoke an access token',
    description: 'Implements RFC 7009. Invalid tokens get the same reply as revoked ones.',
    access: clientCredentials,
    body: TokenReference,
    replies: { 200: Type.Object({}), ...oauthErrors },
    async handle({ body, caller }) {
      const { token } = membersOf(TokenReference, body)
      const verified = await attempt(() => tokens.verify(token))
      if (verified && verified.claims.client_id !== caller.clientId)
        throw oauthFailure('unauthorized_client', 'The token was issued to another client.')
      if (verified) {
        const { jti, client_id, exp } = verified.claims
        await revocations.revoke({ jti, clientId: client_id, expires: exp * 1000 })
      }
      return reply(200, {})
    },
  })
}

/** GET /api/v1/sdk/token/introspect */
export function sdkIntrospectRoute({ tokens }: Identity): Route {
  return route({
    method: 'GET',
    path: '/api/v1/sdk/token/introspect',
    tag: 'SDK',
    operationId: 'sdkTokenIntrospect',
    summary: 'Introspect the access token of the request',
    access: bearer(),
    isAboutCaller: true,
    replies: { 200: SdkIntrospection },
    async handle({ headers }) {
      const { claims, caller } = await tokens.verify(bearerToken(headers))
      return reply(200, {
        active: true,
        scopes: caller.scopes,
        client_id: claims.client_id,
        expires_at: new Date(claims.exp * 1000).toISOString(),
      })
    },
  })
}

/** What a token proves, or undefined if it proves nothing. */
async function attempt(verify: () => Verified | Promise<Verified>): Promise<Verified | undefined> {
  try {
    return await verify()
  } catch (error) {
    if (error instanceof Failure && error.status === 401) return undefined
    throw error
  }
}
