// The documents by which clients configure themselves, the demo client, and what production refuses.
import { beforeAll, expect, test } from 'vitest'
import { openDatabase } from '../../src/db/database.ts'
import { createClient, listClients, revokeClient } from '../../src/identity/clients.ts'
import { demoScopes, ensureDemoClient, mustBeFitForProduction } from '../../src/identity/demo.ts'
import { demoClient } from '../../src/identity/demo-accounts.ts'
import { readConfig } from '../../src/lib/config.ts'
import { encryptionKey } from '../../src/lib/encryption.ts'
import { layoutOfRun } from '../support/database.ts'
import { signIn, useToken } from '../support/identity.ts'
import { testKey } from '../support/server.ts'
import { createTestDatabase, type Service, startService } from '../support/service.ts'

let service: Service
beforeAll(async () => {
  service = await startService()
})

const get = async (path: string) => {
  const response = await fetch(service.url + path)
  return {
    status: response.status,
    headers: response.headers,
    body: (await response.json()) as Record<string, unknown>,
  }
}

test('the RFC 8414 document names the endpoints under the issuer that tokens carry', async () => {
  const { status, body, headers } = await get('/.well-known/oauth-authorization-server')
  expect(status).toBe(200)
  expect(headers.get('cache-control')).toMatch(/^public, max-age=/)
  expect(body).toMatchObject({
    issuer: service.url,
    token_endpoint: `${service.url}/api/v1/connect/auth/token`,
    introspection_endpoint: `${service.url}/api/v1/connect/auth/introspect`,
    revocation_endpoint: `${service.url}/api/v1/connect/auth/revoke`,
    jwks_uri: `${service.url}/.well-known/jwks.json`,
    grant_types_supported: ['client_credentials'],
    response_types_supported: [],
    token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'private_key_jwt'],
    token_endpoint_auth_signing_alg_values_supported: ['RS384', 'ES384', 'RS256'],
    introspection_endpoint_auth_methods_supported: [
      'client_secret_basic',
      'client_secret_post',
      'private_key_jwt',
      'Bearer',
    ],
    introspection_endpoint_auth_signing_alg_values_supported: ['RS384', 'ES384', 'RS256'],
    revocation_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'private_key_jwt'],
    revocation_endpoint_auth_signing_alg_values_supported: ['RS384', 'ES384', 'RS256'],
  })
  expect(body['scopes_supported']).toHaveLength(22)
})

test('the SMART configuration describes a backend service', async () => {
  const { status, body } = await get('/api/fhir/R4/.well-known/smart-configuration')
  expect(status).toBe(200)
  expect(body).toMatchObject({
    token_endpoint: `${service.url}/api/v1/connect/auth/token`,
    grant_types_supported: ['client_credentials'],
    token_endpoint_auth_methods_supported: expect.arrayContaining(['private_key_jwt']),
    token_endpoint_auth_signing_alg_values_supported: expect.arrayContaining(['RS384', 'ES384']),
    capabilities: expect.arrayContaining(['client-confidential-asymmetric', 'permission-v2']),
  })
})

test('every route of identity is in the OpenAPI description, with the errors it gives', async () => {
  const { body } = await get('/openapi.json')
  const paths = body['paths'] as Record<string, Record<string, { responses: object }>>
  for (const path of ['token', 'introspect', 'revoke'].map(name => `/api/v1/connect/auth/${name}`))
    expect(Object.keys(paths[path]!['post']!.responses)).toEqual(
      expect.arrayContaining(['200', '400', '401', '429', '503']),
    )
  for (const path of [
    '/.well-known/jwks.json',
    '/.well-known/oauth-authorization-server',
    '/api/v1/sdk/token/introspect',
  ])
    expect(paths[path]!['get']).toBeDefined()
})

test('a local service knows the demo client, and its token opens the FHIR endpoint', async () => {
  const { status, body } = await signIn(service, 'demo-client', 'demo-secret-for-local-use-only')
  expect(status).toBe(200)
  expect(body.scope).toContain('system/*.cruds')
  expect((await useToken(service, body.access_token)).status).toBe(200)
  const search = await fetch(`${service.url}/api/fhir/R4/Patient`, {
    headers: { authorization: `Bearer ${body.access_token}` },
  })
  expect(search.status).toBe(200)
})

test('without a token, and with a bad one, the FHIR endpoint answers 401 with an OperationOutcome', async () => {
  for (const headers of [{}, { authorization: 'Bearer x.y.z' }] as Record<string, string>[]) {
    const response = await fetch(`${service.url}/api/fhir/R4/Patient`, { headers })
    expect(response.status).toBe(401)
    expect(response.headers.get('www-authenticate')).toMatch(/^Bearer /)
    expect(((await response.json()) as { resourceType: string }).resourceType).toBe('OperationOutcome')
  }
})

test('a token with few scopes is refused what they do not open', async () => {
  const { body } = await signIn(service, 'demo-client', 'demo-secret-for-local-use-only', {
    scope: 'system/Observation.rs',
  })
  const status = async (type: string) =>
    (await fetch(`${service.url}/api/fhir/R4/${type}`, { headers: { authorization: `Bearer ${body.access_token}` } }))
      .status
  expect([await status('Observation'), await status('Patient')]).toEqual([200, 403])
})

test('a local service has the demo client with all scopes, and leaves every other client as it is', async () => {
  const database = openDatabase(await createTestDatabase(), {
    poolSize: 3,
    statementTimeout: 10_000,
    layout: layoutOfRun(),
  })
  const run = (text: string) => database.query({ text, values: [] })
  const forget = async () => {
    await run(`delete from client_secret where client_id = '${demoClient.id}'`)
    await run(`delete from client where id = '${demoClient.id}'`)
  }
  const scopesOf = async () =>
    Object.fromEntries((await listClients(database)).map(({ id, scopes }) => [id, scopes] as const))
  await createClient(database, 'local', { id: 'other', name: 'Other', organizationId: 'a', scopes: ['labs:read'] })
  await run(`update client set scopes = '{labs:read}'`)
  await ensureDemoClient(database)
  expect(await scopesOf()).toEqual({ [demoClient.id]: demoScopes, other: ['labs:read'] })
  await forget()
  await Promise.all([ensureDemoClient(database), ensureDemoClient(database)])
  expect(await scopesOf()).toEqual({ [demoClient.id]: demoScopes, other: ['labs:read'] })
  await forget()
  await run(`alter table client add check (id <> '${demoClient.id}')`)
  await expect(ensureDemoClient(database)).rejects.toThrow()
  await database.end()
})

test('production refuses to start with the demo client, and without ENCRYPTION_KEY', async () => {
  const database = openDatabase(await createTestDatabase(), {
    poolSize: 2,
    statementTimeout: 10_000,
    layout: layoutOfRun(),
  })
  const production = readConfig({ ENVIRONMENT: 'production', ENCRYPTION_KEY: testKey })
  await mustBeFitForProduction(readConfig({ ENVIRONMENT: 'local' }), database)
  await expect(mustBeFitForProduction(production, database)).rejects.toThrow(/demo-client/)
  await expect(encryptionKey(readConfig({ ENVIRONMENT: 'production' }))).rejects.toThrow(/ENCRYPTION_KEY/)
  await revokeClient(database, demoClient.id)
  await mustBeFitForProduction(production, database)
  await database.end()
})

test('a bad ENCRYPTION_KEY is refused without showing it', () => {
  for (const key of ['short', 'x'.repeat(43)]) {
    const read = () => readConfig({ ENCRYPTION_KEY: `${key}!` })
    expect(read).toThrow(/ENCRYPTION_KEY is set, but must be 32 bytes/)
    expect(read).not.toThrow(key)
  }
})
