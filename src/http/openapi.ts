// The OpenAPI 3.1 description, read from the routes: the schemas that check requests are the ones published.
import type { TSchema } from 'typebox'
import { sessionCookie } from '../identity/cookies.ts'
import { fhirBase } from '../store/base.ts'
import { type DescribedEvent, webhooksOf } from './openapi-events.ts'
import { refusalsOf, refusalTexts } from './refusals.ts'
import { open, type Route, reply, route } from './route.ts'

export interface OpenApiOptions {
  /** Version of the interface. */
  readonly version: string
  readonly baseUrl: string
  /** What subscribers are sent. */
  readonly events: readonly DescribedEvent[]
}

type Json = Record<string, unknown>

const errorShape: Json = {
  type: 'object',
  required: ['status', 'error_code', 'message'],
  properties: {
    status: { type: 'string', const: 'error' },
    error_code: { type: 'string', description: 'A stable code for programs.', examples: ['VALIDATION_FAILED'] },
    message: { type: 'string', description: 'What is wrong, where, and what to do.' },
    request_id: { type: 'string', description: 'The id of the request. Include it when you report a problem.' },
    details: {
      type: 'array',
      items: {
        type: 'object',
        properties: { field: { type: 'string' }, code: { type: 'string' }, message: { type: 'string' } },
      },
    },
    retry_after: { type: 'integer', description: 'Seconds to wait before the next request.' },
  },
}

const outcomeShape: Json = {
  type: 'object',
  description: 'A FHIR OperationOutcome. With Accept: application/json it also has status, error_code and message.',
  required: ['resourceType', 'issue'],
  properties: {
    resourceType: { type: 'string', const: 'OperationOutcome' },
    issue: { type: 'array', items: { type: 'object' } },
  },
}

const keyHeader: Json = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'A unique key for the operation, such as a UUID. A retry with the same key within 24 hours returns the first reply, with `Idempotent-Replayed: true`, and is not processed again.',
  schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[ -~]*$' },
}

/** The header of a repeatable route, whose work is done again each time. */
const idleKeyHeader: Json = {
  ...keyHeader,
  description: 'Accepted and ignored: this operation is safe to repeat and is processed every time.',
}

const successTexts: Readonly<Record<number, string>> = {
  200: 'Success',
  201: 'Created',
  202: 'Accepted',
  204: 'Done, without content',
  206: 'Partial content',
  304: 'Not modified',
}

/** Builds the document. */
export function openApiDocument(all: readonly Route[], options: OpenApiOptions): Json {
  const routes = all.filter(({ page }) => !page)
  const schemas: Json = { Error: errorShape, OperationOutcome: outcomeShape }
  const responses: Json = {}
  const paths: Record<string, Json> = {}
  for (const each of routes) {
    const path = (paths[each.path] ??= {})
    path[each.method.toLowerCase()] = operation(each, { schemas, responses })
  }
  const webhooks = webhooksOf(options.events, schema => published(schema, schemas))
  const tags = [...new Set(routes.map(each => each.tag))].sort()
  return {
    openapi: '3.1.0',
    info: {
      title: 'health-interop',
      version: options.version,
      summary: 'Healthcare interoperability API: FHIR R4, Connect, SDK, Bridge and webhooks.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: options.baseUrl }],
    tags: tags.map(name => ({ name, description: tagTexts[name] ?? name })),
    paths,
    webhooks,
    components: {
      schemas: used(schemas, { paths, webhooks, responses }),
      responses,
      parameters: { IdempotencyKey: keyHeader, IdleIdempotencyKey: idleKeyHeader },
      securitySchemes: usedSchemes(paths),
    },
  }
}

const tagTexts: Readonly<Record<string, string>> = {
  Billing: 'Reconciled payments.',
  'Blood Bank': 'Blood bank inventory.',
  Pharmacy: 'Pharmacy stock.',
  FHIR: 'The FHIR R4 REST API, for all resource types.',
  'Bulk Data': 'Asynchronous export and import of NDJSON files.',
  Connect: 'OAuth 2.0 access tokens, Health IDs, consents, patient records and webhooks.',
  Mobile: 'Device enrolment, consents and access log for patients.',
  Portal: 'Sign-in and sessions of portal users.',
  SDK: 'Operations for the client libraries.',
  Discovery: 'Metadata and keys for automatic client configuration.',
  'Operational Flow': 'Health checks, metrics and demo data.',
  API: 'The OpenAPI description of this API.',
}

/** A component that no route refers to would only be noise. */
function used(schemas: Json, paths: Json): Json {
  const text = JSON.stringify([paths, schemas])
  return Object.fromEntries(Object.entries(schemas).filter(([name]) => text.includes(`"#/components/schemas/${name}"`)))
}

function usedSchemes(paths: Json): Json {
  const text = JSON.stringify(paths)
  return Object.fromEntries(Object.entries(securitySchemes).filter(([name]) => text.includes(`"${name}":[`)))
}

const securitySchemes: Json = {
  BearerAuth: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description: 'An access token (RS256 JWT) from POST /api/v1/connect/auth/token.',
  },
  ClientId: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Client-ID',
    description: 'The id of the integration client, sent with X-Client-Secret.',
  },
  ClientSecret: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Client-Secret',
    description: 'The secret of the integration client, sent with X-Client-ID.',
  },
  MobileToken: {
    type: 'http',
    scheme: 'bearer',
    description: 'An opaque patient token with the prefix `pat_`, from POST /api/v1/mobile/enrol.',
  },
  SdkToken: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description: 'The access token of an SDK client: the same token as for BearerAuth.',
  },
  SessionAuth: {
    type: 'apiKey',
    in: 'cookie',
    name: sessionCookie,
    description: 'The cookie of a portal session, from POST /api/v1/portal/session.',
  },
  BridgeAgentId: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Bridge-Agent-ID',
    description: 'The id of the Bridge agent, sent with X-Bridge-Agent-Key and X-Bridge-Timestamp.',
  },
  BridgeAgentKey: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Bridge-Agent-Key',
    description: 'The key of the Bridge agent, with the prefix `bak_`.',
  },
  BridgeTimestamp: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Bridge-Timestamp',
    description: 'The Unix time in seconds by the clock of the agent, at most 300 seconds from that of the service.',
  },
  ClientBasic: {
    type: 'http',
    scheme: 'basic',
    description: 'The id and secret of the integration client (RFC 6749 §2.3.1).',
  },
}

/** The interface names the access token of SDK operations by itself (§5); it is the same token. */
function securityOf({ access, tag }: Route): Json[] {
  const scopes = [...access.scopes]
  if (access.scheme === 'bearer') return [{ BearerAuth: scopes }, ...(tag === 'SDK' ? [{ SdkToken: scopes }] : [])]
  if (access.scheme === 'patient') return [{ MobileToken: [] }]
  if (access.scheme === 'session') return [{ SessionAuth: [] }]
  if (access.scheme === 'agent') return [{ BridgeAgentId: [], BridgeAgentKey: [], BridgeTimestamp: [] }]
  const client = [{ ClientBasic: [] }, { ClientId: [], ClientSecret: [] }, {}]
  if (access.scheme === 'client') return client
  if (access.scheme === 'client-or-bearer') return [{ BearerAuth: [] }, ...client]
  return [{}]
}

/** What several operations refer to, by name. */
interface Components {
  readonly schemas: Json
  readonly responses: Json
}

function operation(each: Route, { schemas, responses: shared }: Components): Json {
  const content = (schema: TSchema, type: string): Json => ({ [type]: { schema: published(schema, schemas) } })
  const bytes: Json = { '*/*': { schema: {} } }
  const produces = each.produces ?? 'application/json'
  const isFhir = each.path.startsWith(fhirBase)
  const responses: Json = {}
  for (const [status, schema] of Object.entries(each.replies)) {
    responses[status] = {
      description: successTexts[Number(status)] ?? refusalTexts[Number(status)]!.text,
      ...(schema || status === '206'
        ? { content: { ...(schema ? content(schema, produces) : {}), ...(each.givesBytes ? bytes : {}) } }
        : {}),
    }
    if (!schema && Number(status) >= 400) responses[status] = refusal(Number(status), isFhir, shared)
  }
  const isKept = each.method === 'POST' && !each.isRepeatable
  for (const status of refusalsOf(each, isFhir)) responses[status] ??= refusal(status, isFhir, shared)
  const body = each.body
  return {
    operationId: each.operationId,
    summary: each.summary,
    ...(each.description ? { description: each.description } : {}),
    tags: [each.tag],
    security: securityOf(each),
    parameters: [
      ...parameters(each.params, 'path', schemas),
      ...parameters(each.query, 'query', schemas),
      ...(each.method === 'POST'
        ? [{ $ref: `#/components/parameters/${isKept ? 'IdempotencyKey' : 'IdleIdempotencyKey'}` }]
        : []),
    ],
    ...(body
      ? {
          requestBody: {
            required: !each.bodyOptional,
            content: Object.assign(
              {},
              ...(each.consumes ?? ['application/json']).map(type => content(body, type)),
              each.takesBytes ? bytes : {},
            ),
          },
        }
      : {}),
    responses,
  }
}

/** A refusal in the words of its surface: one component for all operations that may refuse so. */
function refusal(status: number, isFhir: boolean, responses: Json): Json {
  const { name, text } = refusalTexts[status]!
  const component = isFhir ? `Fhir${name}` : name
  responses[component] = {
    description: text,
    content: {
      [isFhir ? 'application/fhir+json' : 'application/json']: {
        schema: { $ref: `#/components/schemas/${isFhir ? 'OperationOutcome' : 'Error'}` },
      },
    },
  }
  return { $ref: `#/components/responses/${component}` }
}

/** A schema as it is published: one with an $id becomes a named component. */
function published(schema: TSchema, schemas: Json): Json {
  const { $id, ...plain } = JSON.parse(JSON.stringify(schema)) as Json & { $id?: string }
  if (!$id) return plain
  schemas[$id] = plain
  return { $ref: `#/components/schemas/${$id}` }
}

function parameters(schema: TSchema | undefined, place: 'path' | 'query', schemas: Json): Json[] {
  const { properties = {}, required = [] } = (schema ?? {}) as {
    properties?: Record<string, TSchema>
    required?: string[]
  }
  return Object.entries(properties).map(([name, property]) => {
    const { description, ...rest } = published(property, schemas)
    return {
      name,
      in: place,
      required: place === 'path' || required.includes(name),
      ...(description ? { description } : {}),
      schema: rest,
    }
  })
}

/** GET /openapi.json. The document is built once. */
export function openApiRoute(routes: readonly Route[], options: OpenApiOptions): Route {
  let text: string | undefined
  const self: Route = route({
    method: 'GET',
    path: '/openapi.json',
    tag: 'API',
    operationId: 'openapi',
    summary: 'Get the OpenAPI 3.1 description of this API',
    access: open,
    replies: { 200: null },
    handle() {
      text ??= JSON.stringify(openApiDocument([...routes, self], options))
      return reply(200, text, { 'cache-control': 'public, max-age=60' })
    },
  })
  return self
}
