// Every route below /api/v1/sdk, but the introspection of tokens.
import type { Route } from '../../http/route.ts'
import { consentRequestRoute } from './consent-request-route.ts'
import { patientFhirRoutes } from './fhir-routes.ts'
import type { SdkParts } from './parts.ts'
import { pushRoutes } from './push-routes.ts'
import { summaryRoute } from './summary-route.ts'

export function sdkRoutes(parts: SdkParts): Route[] {
  return [summaryRoute(parts), ...patientFhirRoutes(parts), ...pushRoutes(parts), consentRequestRoute(parts)]
}
