// Where clients find the endpoints for signing in (interface §2, RFC 8414).
export const paths = {
  token: '/api/v1/connect/auth/token',
  introspect: '/api/v1/connect/auth/introspect',
  revoke: '/api/v1/connect/auth/revoke',
  jwks: '/.well-known/jwks.json',
} as const
