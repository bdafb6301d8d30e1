// The portal: pages under /portal, and the session under /api/v1/portal (decisions §14).
import type { Route } from '../../http/route.ts'
import { agentListRoutes } from './agents/list.ts'
import { agentRoutes } from './agents/one.ts'
import type { AgentPageParts } from './agents/parts.ts'
import { assetRoute } from './assets.ts'
import { auditSearchRoute } from './audit/search.ts'
import { verificationRoute } from './audit/verification.ts'
import { clientActions } from './clients/credentials.ts'
import { clientListRoutes } from './clients/list.ts'
import { clientPage } from './clients/one.ts'
import type { ClientPageParts } from './clients/parts.ts'
import { consoleList } from './console/list.ts'
import { operationRoutes } from './console/one.ts'
import { type ConsolePageParts, createOperations } from './console/parts.ts'
import { searchHelp } from './console/search-help.ts'
import { tokenAction } from './console/token.ts'
import { duplicateList } from './duplicates/list.ts'
import { duplicateRoutes } from './duplicates/one.ts'
import type { DuplicatePageParts } from './duplicates/parts.ts'
import { type EmergencyPageParts, emergencyRoutes } from './emergencies/queue.ts'
import { homePage } from './home.ts'
import { type LimitPageParts, limitsPage } from './limits/limits.ts'
import { operationsPage } from './operations/overview.ts'
import type { OperationPageParts } from './operations/parts.ts'
import { resetRoute } from './operations/reset.ts'
import { patientFindRoutes } from './patients/find.ts'
import { patientRoute } from './patients/one.ts'
import type { PatientPageParts } from './patients/parts.ts'
import { errorCatalogue } from './requests/errors.ts'
import { requestList } from './requests/list.ts'
import { requestPage } from './requests/one.ts'
import type { RequestPageParts } from './requests/parts.ts'
import { everythingPage } from './resources/everything.ts'
import { resourceHistory } from './resources/history.ts'
import { resourcePage } from './resources/one.ts'
import type { ResourcePageParts } from './resources/parts.ts'
import { resourceSearch } from './resources/search.ts'
import { resourceTypesPage } from './resources/types.ts'
import { sessionRoutes } from './session-routes.ts'
import { type SignInParts, signInRoutes } from './sign-in.ts'
import { webhookActions } from './webhooks/actions.ts'
import { eventCatalogue } from './webhooks/events.ts'
import { webhookList } from './webhooks/list.ts'
import { webhookPage } from './webhooks/one.ts'
import type { WebhookPageParts } from './webhooks/parts.ts'
import { replayRoutes } from './webhooks/replays.ts'
import { signatureRoutes } from './webhooks/signature.ts'
import { consentTypesFile } from './workbench/consent-types.ts'
import { editorRoutes } from './workbench/editor.ts'
import { fileRoutes } from './workbench/file.ts'
import { mapHistoryRoutes } from './workbench/history.ts'
import { mapListRoutes } from './workbench/list.ts'
import { liveRoutes } from './workbench/live.ts'
import { matchingFile } from './workbench/matching.ts'
import type { WorkbenchPageParts } from './workbench/parts.ts'
import { conceptMapRoute } from './workbench/tables.ts'

export interface PortalParts
  extends SignInParts,
    AgentPageParts,
    PatientPageParts,
    DuplicatePageParts,
    ResourcePageParts,
    OperationPageParts,
    EmergencyPageParts,
    ClientPageParts,
    WebhookPageParts,
    RequestPageParts,
    LimitPageParts,
    ConsolePageParts,
    WorkbenchPageParts {}

export const portalRoutes = (parts: PortalParts): Route[] => [
  ...sessionRoutes(parts.sessions, parts.isSecure),
  ...signInRoutes(parts),
  homePage,
  ...agentListRoutes(parts),
  ...agentRoutes(parts),
  ...patientFindRoutes(parts),
  patientRoute(parts),
  resourceTypesPage,
  resourceSearch(parts),
  everythingPage(parts),
  resourceHistory(parts),
  resourcePage(parts),
  duplicateList(parts),
  ...duplicateRoutes(parts),
  ...emergencyRoutes(parts),
  auditSearchRoute(parts),
  verificationRoute(parts),
  ...clientListRoutes(parts),
  clientPage(parts),
  ...clientActions(parts),
  webhookList(parts),
  eventCatalogue,
  ...signatureRoutes(parts),
  webhookPage(parts),
  ...webhookActions(parts),
  ...replayRoutes(parts),
  requestList(parts),
  errorCatalogue,
  requestPage(parts),
  limitsPage(parts),
  ...consoleRoutes(parts),
  operationsPage(parts),
  resetRoute(parts),
  ...mapListRoutes(parts),
  conceptMapRoute(parts),
  ...mapHistoryRoutes(parts),
  ...editorRoutes(parts),
  ...liveRoutes(parts),
  ...fileRoutes(parts, matchingFile(parts.matchingInForce)),
  ...fileRoutes(parts, consentTypesFile(parts.consentTypes)),
  assetRoute,
]

function consoleRoutes(parts: ConsolePageParts): Route[] {
  const operations = createOperations(parts)
  return [consoleList(parts, operations), searchHelp(parts), tokenAction(parts), ...operationRoutes(parts, operations)]
}
