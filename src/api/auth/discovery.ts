// The documents by which clients configure themselves: RFC 8414 metadata and the keys that verify our tokens (RFC 7517).

import { scopes } from '../../access/scopes.ts'
import { open, type Route, reply, route } from '../../http/route.ts'
import { assertionAlgorithms } from '../../identity/assertion.ts'
import { authMethods } from '../../identity/credentials.ts'
import type { Identity } from '../../identity/identity.ts'
import { paths } from '../../identity/paths.ts'
import { Type } from '../../lib/schema.ts'

/** Returns what the RFC 8414 document and SMART's have in common. @param address at which the endpoints are */
export function commonMetadata(address: string) {
  return {
    token_endpoint: address + paths.token,
    introspection_endpoint: address + paths.introspect,
    revocation_endpoint: address + paths.revoke,
    grant_types_supported: ['client_credentials'],
    token_endpoint_auth_methods_supported: [...authMethods],
    token_endpoint_auth_signing_alg_values_supported: [...assertionAlgorithms],
  }
}

const Jwk = Type.Object(
  {
    kty: Type.String({ examples: ['RSA'] }),
    use: Type.String({ examples: ['sig'] }),
    alg: Type.String({ examples: ['RS256'] }),
    kid: Type.String({ description: 'The key id, an RFC 7638 thumbprint.' }),
    n: Type.String(),
    e: Type.String(),
  },
  { $id: 'Jwk' },
)

const Jwks = Type.Object({ keys: Type.Array(Jwk) }, { $id: 'Jwks' })

const texts = Type.Array(Type.String())

const OAuthServerMetadata = Type.Object(
  {
    issuer: Type.String(),
    token_endpoint: Type.String(),
    introspection_endpoint: Type.String(),
    revocation_endpoint: Type.String(),
    jwks_uri: Type.String(),
    grant_types_supported: texts,
    response_types_supported: texts,
    scopes_supported: texts,
    token_endpoint_auth_methods_supported: texts,
    token_endpoint_auth_signing_alg_values_supported: texts,
    introspection_endpoint_auth_methods_supported: texts,
    introspection_endpoint_auth_signing_alg_values_supported: texts,
    revocation_endpoint_auth_methods_supported: texts,
    revocation_endpoint_auth_signing_alg_values_supported: texts,
  },
  { $id: 'OAuthServerMetadata' },
)

const cached = { 'cache-control': 'public, max-age=3600' }
const discovery = { method: 'GET', tag: 'Discovery', access: open } as const

/** GET /.well-known/jwks.json. Verifiers may keep it for an hour; a key is in it a day before it signs. */
export function jwksRoute({ keys }: Identity): Route {
  return route({
    ...discovery,
    path: paths.jwks,
    operationId: 'jwks',
    summary: 'Get the public keys that verify access tokens',
    replies: { 200: Jwks },
    handle: () => reply(200, keys.published, cached),
  })
}

/**
 * GET /.well-known/oauth-authorization-server: the issuer is that of the data set's tokens, the endpoints are where the document was
 * asked for (docs/decisions/0055-data-set-identity.md).
 */
export function metadataRoute({ issuer, at }: Identity): Route {
  const algorithms = [...assertionAlgorithms]
  const metadata = (address: string) => ({
    issuer,
    ...commonMetadata(address),
    jwks_uri: address + paths.jwks,
    response_types_supported: [],
    scopes_supported: Object.keys(scopes),
    introspection_endpoint_auth_methods_supported: [...authMethods, 'Bearer'],
    introspection_endpoint_auth_signing_alg_values_supported: algorithms,
    revocation_endpoint_auth_methods_supported: [...authMethods],
    revocation_endpoint_auth_signing_alg_values_supported: algorithms,
  })
  return route({
    ...discovery,
    path: '/.well-known/oauth-authorization-server',
    operationId: 'oauthServerMetadata',
    summary: 'Get the OAuth 2.0 authorization server metadata (RFC 8414)',
    replies: { 200: OAuthServerMetadata },
    handle: ({ baseUrl }) => reply(200, metadata(at(baseUrl)), cached),
  })
}
