// The portal: pages under /portal, and the session under /api/v1/portal (decisions §14).
import type { Route } from '../../http/route.ts'
import { agentListRoutes } from './agents/list.ts'
import { agentRoutes } from './agents/one.ts'
import type { AgentPageParts } from './agents/parts.ts'
import { assetRoute } from './assets.ts'
import type { AuditPageParts } from './audit/parts.ts'
import { auditSearchRoute } from './audit/search.ts'
import { verificationRoute } from './audit/verification.ts'
import { homePage } from './home.ts'
import { sessionRoutes } from './session-routes.ts'
import { type SignInParts, signInRoutes } from './sign-in.ts'

export interface PortalParts extends SignInParts, AgentPageParts, AuditPageParts {}

export const portalRoutes = (parts: PortalParts): Route[] => [
  ...sessionRoutes(parts.sessions, parts.isSecure),
  ...signInRoutes(parts),
  homePage,
  ...agentListRoutes(parts),
  ...agentRoutes(parts),
  auditSearchRoute(parts),
  verificationRoute(parts),
  assetRoute,
]
