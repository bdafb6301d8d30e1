// What pharmacies and blood banks have: decisions of the interface's open points, §3.

import type { Route } from '../../../http/route.ts'
import type { ConnectParts } from '../parts.ts'
import { bloodRoute } from './blood-route.ts'
import { stockRoutes } from './stock-routes.ts'

export const inventoryRoutes = (parts: ConnectParts): Route[] => [...stockRoutes(parts), bloodRoute(parts)]
