// The SMART configuration as a backend service reads it, and as the API description shows it.
import { expect, test } from 'vitest'
import { scopes } from '../../src/access/scopes.ts'
import { smartRoute } from '../../src/api/auth/smart.ts'
import { openApiDocument } from '../../src/http/openapi.ts'
import type { Identity } from '../../src/identity/identity.ts'

const path = '/api/fhir/R4/.well-known/smart-configuration'
const route = smartRoute({ at: baseUrl => `${baseUrl}/known` } as Identity)

test('whoever asks is told how to sign in under the address by which it asks, and for what', async () => {
  const auth = 'https://fhir.example.org/known/api/v1/connect/auth'
  expect(await route.handle({ baseUrl: 'https://fhir.example.org' } as never)).toEqual({
    status: 200,
    headers: { 'cache-control': 'public, max-age=3600' },
    body: {
      token_endpoint: `${auth}/token`,
      introspection_endpoint: `${auth}/introspect`,
      revocation_endpoint: `${auth}/revoke`,
      grant_types_supported: ['client_credentials'],
      token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'private_key_jwt'],
      token_endpoint_auth_signing_alg_values_supported: ['RS384', 'ES384', 'RS256'],
      scopes_supported: ['system/*.cruds', 'system/*.rs', ...Object.keys(scopes)],
      response_types_supported: [],
      code_challenge_methods_supported: ['S256'],
      capabilities: [
        'client-confidential-asymmetric',
        'client-confidential-symmetric',
        'permission-v1',
        'permission-v2',
      ],
    },
  })
})

test('the API description names what a configuration has at least', () => {
  const document = openApiDocument([route], { version: '1', baseUrl: '', events: [] })
  expect(document).toMatchObject({
    paths: {
      [path]: {
        get: {
          ...{ operationId: 'smartConfiguration', tags: ['Discovery'], security: [{}] },
          responses: {
            200: { content: { 'application/json': { schema: { $ref: '#/components/schemas/SmartConfiguration' } } } },
          },
        },
      },
    },
    components: {
      schemas: {
        SmartConfiguration: { required: ['token_endpoint', 'grant_types_supported', 'capabilities'] },
      },
    },
  })
})
