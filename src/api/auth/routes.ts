// Every route of identity.
import type { Route } from '../../http/route.ts'
import type { Identity } from '../../identity/identity.ts'
import { jwksRoute, metadataRoute } from './discovery.ts'
import { smartRoute } from './smart.ts'
import { introspectRoute, revokeRoute, sdkIntrospectRoute, tokenRoute } from './token-routes.ts'

/** Tokens, their introspection and revocation, and the discovery documents. */
export function identityRoutes(identity: Identity): Route[] {
  return [tokenRoute, introspectRoute, revokeRoute, sdkIntrospectRoute, jwksRoute, metadataRoute, smartRoute].map(
    make => make(identity),
  )
}
