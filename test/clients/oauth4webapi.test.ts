// oauth4webapi, unmodified: every way to authenticate, and a resource server that checks our tokens by our published keys.
import { exportJWK } from 'jose'
import * as oauth from 'oauth4webapi'
import { beforeAll, expect, test } from 'vitest'
import { rotateKeys } from '../../src/identity/keys.ts'
import { eventually, newClient, type Process, startProcess } from '../support/identity.ts'
import { testKey } from '../support/server.ts'

const insecure = { [oauth.allowInsecureRequests]: true }

let service: Process
let server: oauth.AuthorizationServer
let client: oauth.Client & { secret: string }

beforeAll(async () => {
  service = await startProcess()
  const issuer = new URL(service.url)
  server = await oauth.processDiscoveryResponse(
    issuer,
    await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...insecure }),
  )
  const { id, secret } = await newClient(service)
  client = { client_id: id, secret }
})

async function tokenBy(who: oauth.Client, authentication: oauth.ClientAuth): Promise<string> {
  const response = await oauth.clientCredentialsGrantRequest(server, who, authentication, {}, insecure)
  return (await oauth.processClientCredentialsResponse(server, who, response)).access_token
}

// The library takes the token from the request of a resource server, and the audience from its owner.
async function validate(token: string): Promise<oauth.JWTAccessTokenClaims> {
  const request = new Request(`${service.url}/resource`, { headers: { authorization: `Bearer ${token}` } })
  return oauth.validateJwtAccessToken(server, request, service.url, insecure)
}

test.each([
  ['client_secret_basic', oauth.ClientSecretBasic],
  ['client_secret_post', oauth.ClientSecretPost],
])('a token by %s is a valid RFC 9068 access token', async (_method, authenticate) => {
  expect(await validate(await tokenBy(client, authenticate(client.secret)))).toMatchObject({
    client_id: client.client_id,
    sub: client.client_id,
    aud: service.url,
  })
})

test.each(['RS256', 'ES384'])('a token by private_key_jwt with %s is valid, asked for again and again', async alg => {
  const { privateKey, publicKey } = await oauth.generateKeyPair(alg, { extractable: true })
  const jwks = { keys: [{ ...(await exportJWK(publicKey)), kid: 'k1' }] }
  const { id } = await newClient(service, { jwks, secret: null })
  const authentication = oauth.PrivateKeyJwt({ key: privateKey, kid: 'k1' })
  for (let times = 0; times < 3; times++)
    expect((await validate(await tokenBy({ client_id: id }, authentication))).client_id).toBe(id)
})

test('a resource server keeps accepting tokens when the keys rotate', async () => {
  const before = await tokenBy(client, oauth.ClientSecretBasic(client.secret))
  await validate(before)
  const { kid } = service.identity.keys.active()
  await rotateKeys(service.database, Buffer.from(testKey, 'base64'))
  await eventually(async () => service.identity.keys.active().kid !== kid)
  await validate(await tokenBy(client, oauth.ClientSecretBasic(client.secret)))
  await validate(before)
})

test('a wrong secret is an error that it can read', async () => {
  const request = tokenBy(client, oauth.ClientSecretPost('wrong'))
  await expect(request).rejects.toBeInstanceOf(oauth.WWWAuthenticateChallengeError)
})
