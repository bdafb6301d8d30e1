// openid-client, unmodified: discovery, client credentials, introspection, revocation.
import * as openid from 'openid-client'
import { beforeAll, expect, test } from 'vitest'
import { newClient, type Process, startProcess, useToken } from '../support/identity.ts'

let service: Process
let client: { id: string; secret: string }

beforeAll(async () => {
  service = await startProcess()
  client = await newClient(service)
})

const discover = (authentication?: openid.ClientAuth) =>
  openid.discovery(new URL(service.url), client.id, client.secret, authentication, {
    algorithm: 'oauth2',
    execute: [openid.allowInsecureRequests],
  })

test.each([
  ['client_secret_post', openid.ClientSecretPost],
  ['client_secret_basic', openid.ClientSecretBasic],
] as const)(
  'it discovers the service and gets, introspects and revokes a token by %s',
  async (_method, authenticate) => {
    const config = await discover(authenticate(client.secret))
    expect(config.serverMetadata().issuer).toBe(service.url)
    const tokens = await openid.clientCredentialsGrant(config, { scope: 'labs:read' })
    expect(tokens).toMatchObject({ token_type: 'bearer', expires_in: 3600, scope: 'labs:read' })
    expect(await openid.tokenIntrospection(config, tokens.access_token)).toMatchObject({
      active: true,
      client_id: client.id,
      scope: 'labs:read',
    })
    await openid.tokenRevocation(config, tokens.access_token)
    expect(await openid.tokenIntrospection(config, tokens.access_token)).toEqual({ active: false })
    expect((await useToken(service, tokens.access_token)).status).toBe(401)
  },
)

test('it understands a refusal', async () => {
  const config = await discover(openid.ClientSecretPost(client.secret))
  await expect(openid.clientCredentialsGrant(config, { scope: 'labs:write' })).rejects.toMatchObject({
    error: 'invalid_scope',
    error_description: expect.stringContaining('labs:write'),
  })
  const wrong = await discover(openid.ClientSecretBasic('wrong'))
  await expect(openid.clientCredentialsGrant(wrong)).rejects.toMatchObject({ status: 401 })
})
