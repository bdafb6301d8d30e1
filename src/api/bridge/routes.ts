// The operations for Bridge agents (interface §4.6 and §5.2, decisions §13).
import type { Route } from '../../http/route.ts'
import { commandRoutes } from './command-routes.ts'
import { heartbeatRoute } from './heartbeat-route.ts'
import type { BridgeParts } from './parts.ts'
import { syncRoute } from './sync-route.ts'

export const bridgeRoutes = (parts: BridgeParts): Route[] => [
  heartbeatRoute(parts),
  syncRoute(parts),
  ...commandRoutes(parts),
]
