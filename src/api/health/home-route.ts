// What stands at the root of the address: where everything is, as JSON, or as a page for a browser.

import { open, type Route, reply, route } from '../../http/route.ts'
import { Type } from '../../lib/schema.ts'

const link = (description: string) => Type.String({ description })

const Home = Type.Object(
  {
    service: Type.String(),
    version: Type.String(),
    fhir: link('Base URL of the FHIR R4 API.'),
    capability_statement: link('The CapabilityStatement of the FHIR R4 API.'),
    connect: link('Base URL of the Connect API.'),
    description: link('The OpenAPI description of this API.'),
    authorization_server: link('The OAuth 2.0 authorization server metadata (RFC 8414).'),
    health: link('The readiness check.'),
  },
  { $id: 'Home', description: 'The entry points of the service.' },
)

/** GET /: the addresses of the service. */
export function homeRoute(version: string): Route {
  return route({
    method: 'GET',
    path: '/',
    tag: 'Discovery',
    operationId: 'home',
    summary: 'List the entry points of the service',
    access: open,
    replies: { 200: Home },
    handle({ baseUrl, headers }) {
      const addresses = {
        fhir: `${baseUrl}/api/fhir/R4`,
        capability_statement: `${baseUrl}/api/fhir/R4/metadata`,
        connect: `${baseUrl}/api/v1/connect`,
        description: `${baseUrl}/openapi.json`,
        authorization_server: `${baseUrl}/.well-known/oauth-authorization-server`,
        health: `${baseUrl}/readyz`,
      }
      const vary = { vary: 'accept' }
      if (!headers.accept?.includes('text/html'))
        return reply(200, { service: 'health-interop', version, ...addresses }, vary)
      return reply(200, pageOf(version, addresses), {
        ...vary,
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': "default-src 'none'",
      })
    },
  })
}

function pageOf(version: string, addresses: Readonly<Record<string, string>>): string {
  const items = Object.entries(addresses).map(
    ([name, address]) => `<li>${name.replaceAll('_', ' ')}: <a href="${escaped(address)}">${escaped(address)}</a></li>`,
  )
  return `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>health-interop</title>
<h1>health-interop ${escaped(version)}</h1>
<ul>
${items.join('\n')}
</ul>
</html>
`
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

// The address comes from the request's Host header, so it is untrusted text.
const escaped = (text: string): string => text.replace(/[&<>"]/g, character => entities[character]!)
