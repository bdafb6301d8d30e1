// SMART App Launch discovery, for backend services (https://hl7.org/fhir/smart-app-launch/conformance.html).

import { scopes } from '../../access/scopes.ts'
import { open, type Route, reply, route } from '../../http/route.ts'
import type { Identity } from '../../identity/identity.ts'
import { Type } from '../../lib/schema.ts'
import { fhirBase } from '../../store/base.ts'
import { commonMetadata } from './discovery.ts'

const SmartConfiguration = Type.Object(
  {
    token_endpoint: Type.String(),
    grant_types_supported: Type.Array(Type.String()),
    capabilities: Type.Array(Type.String()),
  },
  { $id: 'SmartConfiguration', description: 'The SMART configuration, as SMART App Launch 2 defines it.' },
)

/** GET /api/fhir/R4/.well-known/smart-configuration */
export function smartRoute({ at }: Identity): Route {
  const configuration = (address: string) => ({
    ...commonMetadata(address),
    scopes_supported: ['system/*.cruds', 'system/*.rs', ...Object.keys(scopes)],
    response_types_supported: [],
    // Required of every server (SMART App Launch 2, conformance), though there is no authorization endpoint to use it at.
    code_challenge_methods_supported: ['S256'],
    capabilities: ['client-confidential-asymmetric', 'client-confidential-symmetric', 'permission-v1', 'permission-v2'],
  })
  return route({
    method: 'GET',
    path: `${fhirBase}/.well-known/smart-configuration`,
    tag: 'Discovery',
    operationId: 'smartConfiguration',
    summary: 'Get the SMART App Launch configuration',
    access: open,
    replies: { 200: SmartConfiguration },
    handle: ({ baseUrl }) => reply(200, configuration(at(baseUrl)), { 'cache-control': 'public, max-age=3600' }),
  })
}
