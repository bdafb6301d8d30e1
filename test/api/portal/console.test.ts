// The API console: its operations and samples, the short token and who gets it for what, and the help for searches.
import type pg from 'pg'
import { beforeAll, describe, expect, test } from 'vitest'
import { createClient, type NewClient, revokeClient } from '../../../src/identity/clients.ts'
import { fhirCaller } from '../../support/fhir.ts'
import { type PortalUser, portalUser } from '../../support/portal.ts'
import { type Service, startService } from '../../support/service.ts'
import { databaseOf, rowsOf } from '../../support/trail.ts'

let service: Service
let trail: pg.Client
let developer: PortalUser
let stranger: PortalUser
let administrator: PortalUser
const call = fhirCaller(() => service)

beforeAll(async () => {
  service = await startService()
  trail = await databaseOf(service)
  developer = await portalUser(service, ['developer'])
  stranger = await portalUser(service, ['developer'], 'hospital-b')
  administrator = await portalUser(service, ['administrator'], 'elsewhere')
})

const made = async (more: Partial<NewClient> = {}): Promise<string> => {
  const wish = {
    name: 'Ward',
    organizationId: 'hospital-a',
    scopes: ['system/Patient.rs', 'labs:read', 'emergency:access'],
  }
  return (await createClient(service.application.database, 'local', { ...wish, ...more })).client.id
}

const path = '/portal/console/token'
const tokenIn = (text: string): string => /<code data-token[^>]*>([^<]+)<\/code>/.exec(text)![1]!
const claimsOf = (token: string) => JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString())

describe('the token', () => {
  test('acts as the client, with the scopes that are named, for 15 minutes', async () => {
    const client = await made()
    const { text, headers } = await developer.post(path, { client, scopes: 'system/Patient.r' })
    expect(headers.get('cache-control')).toBe('no-store')
    const token = tokenIn(text)
    const claims = claimsOf(token)
    expect([claims.client_id, claims.organization_id, claims.scope]).toEqual([client, 'hospital-a', 'system/Patient.r'])
    expect(claims.exp - claims.iat).toBe(900)
    expect((await call('GET', 'Patient/nobody', { token })).status).toBe(404)
    expect((await call('GET', 'Patient', { token })).status).toBe(403)
  })

  test('is on record with its user, and each access with it names it', async () => {
    const client = await made()
    const answer = await developer.post(path, { client, scopes: '' })
    const token = tokenIn(answer.text)
    const { jti, scope } = claimsOf(token)
    expect(scope).toBe('system/Patient.rs labs:read')
    const [row, ...more] = await rowsOf(trail, answer.headers.get('x-request-id')!)
    expect(more).toEqual([])
    expect(row).toMatchObject({ client_id: expect.stringMatching(/^user\/usr_/), outcome: 0 })
    expect(Object.fromEntries(new URL(row!.query, service.url).searchParams)).toEqual({
      client,
      scopes: scope,
      token: jti,
    })
    expect(JSON.stringify(row)).not.toContain(token)
    const { headers } = await call('GET', 'Patient', { token })
    const [access] = await rowsOf(trail, headers.get('x-request-id')!)
    expect([access!.client_id, access!.token_id]).toEqual([client, jti])
  })

  test('has no scope that the client does not have, and none that there is not', async () => {
    const client = await made()
    for (const [scopes, words] of [
      ['labs:write', 'The client does not have the scope labs:write.'],
      ['system/Patient.rs system/Observation.rs', 'does not have the scope system/Observation.rs'],
      ['labs:reed', 'There is no scope labs:reed'],
    ] as const) {
      const { status, text } = await developer.post(path, { client, scopes })
      expect([status, text.includes(words)]).toEqual([422, true])
    }
  })

  test('of a client that consent does not bind, or with scopes of critical risk, is for administrators', async () => {
    const exempt = await made({ consentExempt: true })
    const client = await made()
    expect((await developer.post(path, { client: exempt, scopes: '' })).status).toBe(403)
    expect((await developer.post(path, { client, scopes: 'emergency:access' })).status).toBe(403)
    expect(claimsOf(tokenIn((await administrator.post(path, { client: exempt })).text)).consent_exempt).toBe(true)
    expect((await administrator.post(path, { client, scopes: 'emergency:access' })).text).toContain('data-token')
    const critical = await made({ scopes: ['emergency:access'] })
    expect((await administrator.post(path, { client: critical })).status).toBe(422)
  })

  test('is not given for a client of others or one that is revoked, to other roles, or to pages of other origins', async () => {
    const client = await made()
    expect((await stranger.post(path, { client })).status).toBe(404)
    const officer = await portalUser(service, ['privacy_officer', 'informaticist'])
    expect((await officer.post(path, { client })).status).toBe(403)
    expect((await developer.post(path, { client }, { origin: 'https://evil.example' })).status).toBe(403)
    const token = tokenIn((await developer.post(path, { client })).text)
    await revokeClient(service.application.database, client)
    expect((await developer.post(path, { client })).status).toBe(409)
    expect((await developer.get('/portal/console')).text).not.toContain(client)
    await expect.poll(async () => (await call('GET', 'Patient/nobody', { token })).status).toBe(401)
  })
})

describe('an operation', () => {
  test('is listed by its tag with those of Connect, SDK, Bridge and FHIR, and no others', async () => {
    const { text } = await developer.get('/portal/console')
    for (const id of ['verifyHealthId', 'patientSummary', 'bridgeSync', 'searchType'])
      expect(text).toContain(`href="/portal/console/${id}"`)
    expect(text).not.toMatch(/portalSignIn|mobileEnrol|resetDemo/)
    expect((await developer.get('/portal/console/mobileEnrol')).status).toBe(404)
    expect((await developer.get('/portal/console/constructor')).status).toBe(404)
  })

  test('shows what it takes and gives, its scopes, and its samples', async () => {
    const { text } = await developer.get('/portal/console/grantConsent')
    expect(text).toContain('<code>consents:write</code>')
    expect(text).toContain('name="path.health_id"')
    expect(text).toContain('&quot;consent_type&quot;: &quot;full_record&quot;')
    expect(text).toContain(`curl -sS -X POST &#39;${service.url}/api/v1/connect/patient/`)
    expect(text).toMatch(
      /client\.consents\.grant\([\s\S]*client\.consents\.grant\([\s\S]*\$client-&gt;consents-&gt;grant\(/,
    )
  })

  test('without scripts shows the samples of what was typed, as text, and no part of it in an address', async () => {
    const typed = { 'path.type': 'Patient', more: 'name=<b>x</b>', headers: 'If-Match: <i>', 'query._count': '5' }
    const { status, text, headers } = await developer.post('/portal/console/searchType', typed)
    expect([status, headers.get('location')]).toEqual([200, null])
    expect(text).toContain('/api/fhir/R4/Patient?_count=5&amp;name=%3Cb%3Ex%3C%2Fb%3E')
    expect(text).toContain('If-Match: &lt;i&gt;')
    expect(text).not.toMatch(/<[bi]>/)
    const [row] = await rowsOf(trail, headers.get('x-request-id')!)
    expect(row!.query).not.toMatch(/count|name/)
  })

  test('is for developers', async () => {
    const officer = await portalUser(service, ['privacy_officer', 'informaticist'])
    for (const each of ['', '/search', '/searchType'])
      expect((await officer.get(`/portal/console${each}`)).status).toBe(403)
  })

  test('has a sample that the service accepts as it stands', async () => {
    const { text } = await developer.get('/portal/console')
    const ids = [...text.matchAll(/console\/(\w+)" data-inside lang/g)].map(([, id]) => id!)
    const refused: unknown[] = []
    for (const id of ids) {
      const page = (await developer.get(`/portal/console/${id}`)).text
      const { method, path: pattern, proof } = JSON.parse(unescaped(/data-call="([^"]+)"/.exec(page)![1]!))
      if (proof !== 'token' || method === 'DELETE') continue
      const address = /curl -sS(?: -X \w+)? &#39;([^&]*(?:&amp;[^&]*)*)&#39;/.exec(page)![1]!
      const body = /<textarea name="body"[^>]*>\n([^<]*)<\/textarea>/.exec(page)?.[1]
      const type = /<select name="type"><option selected>([^<]+)/.exec(page)?.[1]
      const { status, text: answer } = await call(method, unescaped(address).slice(service.url.length), {
        ...(body !== undefined && { body: unescaped(body), headers: { 'content-type': type! } }),
      })
      if ([400, 405, 406, 415, 422].includes(status) || status >= 500)
        refused.push([id, pattern, status, answer.slice(0, 200)])
    }
    expect(refused).toEqual([])
  })
})

const unescaped = (text: string): string =>
  text
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')

describe('the help for searches', () => {
  test('has each parameter of the type with its modifiers, comparators and an example', async () => {
    const { text } = await developer.get('/portal/console/search?type=Observation')
    const rows = [...text.matchAll(/<tr><th scope="row">(.*?)<\/tr>/gs)].map(([, row]) =>
      row!.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' '),
    )
    const of = (name: string) => rows.find(each => each.trim().startsWith(`${name} `))
    expect(of('code')).toMatch(/token .*:not .*:in .*code=http:\/\/loinc\.org\|8480-6/)
    expect(of('date')).toMatch(/date .*:missing eq ne gt .*date=ge2026-01-01/)
    expect(of('patient')).toMatch(/reference Patient .*patient=Patient\/example/)
    expect(text).toContain('<code>Observation:patient</code>')
    expect(text).toContain('<code>DiagnosticReport:result</code>')
    expect(rows.length).toBeGreaterThan(30)
  })

  test('has parameters that clients defined, and none of a type that there is not', async () => {
    const { status } = await call('PUT', 'SearchParameter/shoe', {
      body: {
        ...{
          resourceType: 'SearchParameter',
          id: 'shoe',
          url: 'https://example.org/SearchParameter/shoe',
          name: 'Shoe',
        },
        ...{
          status: 'active',
          code: 'shoe-size',
          base: ['Patient'],
          type: 'string',
          expression: 'Patient.name.suffix',
        },
        description: '<b>Size</b>',
      },
    })
    expect(status).toBe(201)
    const { text } = await developer.get('/portal/console/search')
    expect(text).toContain('<code>shoe-size</code>')
    expect(text).toContain('&lt;b&gt;Size&lt;/b&gt;')
    expect((await developer.get('/portal/console/search?type=Shoe')).status).toBe(404)
  })
})
