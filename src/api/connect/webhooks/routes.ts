// Webhooks: the events that a client subscribes to, and the results of their deliveries (interface §2.13, §4.5, §6).
import type { Route } from '../../../http/route.ts'
import type { ConnectParts } from '../parts.ts'
import { deliveryRoutes } from './delivery-routes.ts'
import { eventTypesRoute } from './event-types-route.ts'
import { subscriptionRoutes } from './subscription-routes.ts'

export const webhookRoutes = (parts: ConnectParts): Route[] => [
  ...subscriptionRoutes(parts),
  ...deliveryRoutes(parts),
  eventTypesRoute(),
]
