// Every route below /api/v1/connect, but those that give out tokens.
import type { Route } from '../../http/route.ts'
import { consentRoutes } from './consent-routes.ts'
import { consentTypesRoute } from './consent-types-route.ts'
import { healthIdRoutes } from './health-id-routes.ts'
import { inventoryRoutes } from './inventory/routes.ts'
import type { ConnectParts } from './parts.ts'
import { paymentRoutes } from './payments/routes.ts'
import { recordsRoute } from './records-route.ts'
import { webhookRoutes } from './webhooks/routes.ts'

export function connectRoutes(parts: ConnectParts): Route[] {
  return [
    ...healthIdRoutes(parts),
    consentTypesRoute(parts),
    ...consentRoutes(parts),
    recordsRoute(parts),
    ...inventoryRoutes(parts),
    ...paymentRoutes(parts),
    ...webhookRoutes(parts),
  ]
}
