// The pages about clients: who sees and makes them, what administrators alone grant, and what changes their secrets and keys.
import { generateKeyPairSync } from 'node:crypto'
import type pg from 'pg'
import { beforeAll, describe, expect, test } from 'vitest'
import { scopes } from '../../../src/access/scopes.ts'
import en from '../../../src/api/portal/texts/en.json' with { type: 'json' }
import { createClient, listClients, type NewClient } from '../../../src/identity/clients.ts'
import { type PortalUser, portalUser } from '../../support/portal.ts'
import { type Service, startService } from '../../support/service.ts'
import { databaseOf } from '../../support/trail.ts'

let service: Service
let trail: pg.Client
let developer: PortalUser
let administrator: PortalUser
let stranger: PortalUser

beforeAll(async () => {
  service = await startService()
  trail = await databaseOf(service)
  developer = await portalUser(service, ['developer'])
  administrator = await portalUser(service, ['administrator'], 'elsewhere')
  stranger = await portalUser(service, ['developer'], 'hospital-b')
})

const made = (more: Partial<NewClient> = {}) =>
  createClient(service.application.database, 'local', {
    ...{ name: 'Laboratory', organizationId: 'hospital-a', scopes: ['labs:read'] },
    ...more,
  })

/** The status of asking for a token. */
async function tokenStatus(id: string, secret: string): Promise<number> {
  const { status } = await fetch(`${service.url}/api/v1/connect/auth/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}` },
    body: new URLSearchParams({ grant_type: 'client_credentials' }),
  })
  return status
}

const secretIn = (text: string): string => /<code>(sk_test_\w{43})<\/code>/.exec(text)![1]!
const idIn = (text: string): string => /<code>(client_\w+)<\/code>/.exec(text)![1]!

/** What the audit trail has of the reply to a form. */
async function onRecord(answer: { readonly headers: Headers }) {
  const { rows } = await trail.query('select client_id, query, outcome from audit_event where request_id = $1', [
    answer.headers.get('x-request-id'),
  ])
  return rows.map(row => ({ ...row, query: new URL(row.query, service.url) }))
}

const namesOf = async (name: string) =>
  (await listClients(service.application.database)).filter(each => each.name === name)

describe('the list of clients', () => {
  test('shows those of the organisation with the risk of each scope, and administrators those of all', async () => {
    const { client, secret } = await made({ name: 'With risks', scopes: ['labs:read', 'labs:write'] })
    await made({ name: 'Of others', organizationId: 'hospital-b' })
    expect(await tokenStatus(client.id, secret!)).toBe(200)
    const { text } = await developer.get('/portal/clients')
    const row = text.slice(text.indexOf('With risks'), text.indexOf('</tr>', text.indexOf('With risks')))
    expect(row).toMatch(/<code>labs:read<\/code> <span class="risk medium">medium risk/)
    expect(row).toMatch(/<code>labs:write<\/code> <span class="risk high">high risk/)
    expect(row).toContain('<span class="state done">active')
    await expect.poll(async () => (await namesOf('With risks'))[0]!.lastUsedAt).toBeDefined()
    const later = (await developer.get('/portal/clients')).text
    expect(later.slice(later.indexOf('With risks')).match(/data-name="Last used"><div><time datetime/)).not.toBe(null)
    expect(text).not.toContain('Of others')
    expect((await stranger.get('/portal/clients')).text).not.toContain('With risks')
    expect((await administrator.get('/portal/clients')).text).toMatch(/With risks[\s\S]*Of others/)
  })

  test('is for developers and administrators', async () => {
    const officer = await portalUser(service, ['privacy_officer', 'informaticist'])
    const { client } = await made()
    for (const path of ['/portal/clients', `/portal/clients/${client.id}`])
      expect((await officer.get(path)).status).toBe(403)
    for (const path of ['', `/${client.id}/secret`, `/${client.id}/keys`, `/${client.id}/revoke`])
      expect((await officer.post(`/portal/clients${path}`, { sure: 'yes' })).status).toBe(403)
    expect((await officer.get('/portal')).text).not.toContain('href="/portal/clients"')
  })

  test('shows names that are markup as these names', async () => {
    const name = '<script>alert("1")</script>\'"><img src=x onerror=alert(1)>'
    const { client } = await made({ name })
    for (const path of ['/portal/clients', `/portal/clients/${client.id}`]) {
      const { text } = await developer.get(path)
      expect(text).toContain('&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&#39;&quot;&gt;&lt;img')
      expect(text).not.toMatch(/<img|<script>alert/)
    }
  })

  test('goes on on further pages', async () => {
    const user = await portalUser(service, ['developer'], 'many')
    for (let count = 0; count < 51; count++)
      await made({ id: `many-${String(count).padStart(2, '0')}`, organizationId: 'many', secret: null })
    const { text } = await user.get('/portal/clients')
    expect(text.match(/<code>many-\d+<\/code>/g)).toHaveLength(50)
    const next = /rel="next" href="([^"]+)"/.exec(text)![1]!
    expect(next).toBe('/portal/clients?after=many-49')
    const rest = (await user.get(next)).text
    expect([rest.match(/<code>many-\d+<\/code>/g), rest.includes('rel="next"')]).toEqual([
      ['<code>many-50</code>'],
      false,
    ])
  })

  test('has each scope in the words of the interface', () => {
    const words = en as Record<string, string>
    expect(Object.keys(scopes).map(each => [each, words[`scope.${each}`]])).toEqual(
      Object.entries(scopes).map(([each, { meaning }]) => [each, meaning]),
    )
  })
})

describe('a new client', () => {
  test('has a secret that is shown once and works at once; the audit trail has its scopes and its user', async () => {
    const form = new URLSearchParams({ name: 'Fresh', smart: 'system/Observation.rs', proof: 'secret' })
    for (const each of ['labs:read', 'consents:read']) form.append('scope', each)
    const answer = await developer.post('/portal/clients', form)
    const [id, secret] = [idIn(answer.text), secretIn(answer.text)]
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'no-store'])
    expect(answer.text).toContain(`curl ${service.url}/api/v1/connect/auth/token -u ${id} `)
    expect(await tokenStatus(id, secret)).toBe(200)
    expect(await onRecord(answer)).toEqual([
      { client_id: expect.stringMatching(/^user\/usr_/), outcome: 0, query: expect.anything() },
    ])
    const [{ query }] = (await onRecord(answer)) as [{ query: URL }]
    expect([query.pathname, Object.fromEntries(query.searchParams)]).toEqual([
      '/portal/clients',
      { client: id, organization: 'hospital-a', scopes: 'labs:read consents:read system/Observation.rs' },
    ])
    const shown = await developer.get(`/portal/clients/${id}`)
    expect(shown.text).toContain('system/Observation.rs')
    expect(shown.text).not.toContain('sk_test_')
  })

  test.each([
    ['labs:write', 'labs:write'],
    ['emergency:access', 'emergency:access'],
    ['system/Observation.c', 'system/Observation.c'],
    ['system/*.rs', 'system/*.rs'],
    ['system/Patient.write', 'system/Patient.write'],
    ['system/AuditEvent.rs', 'system/AuditEvent.rs'],
  ])('with %s is made by administrators alone, with a reason that the audit trail keeps', async scope => {
    const name = `Guarded ${scope}`
    const field: Record<string, string> = scope.startsWith('system/') ? { smart: scope } : { scope }
    const wish = { name, ...field, proof: 'secret', organization: 'hospital-a', reason: 'Agreed on 3 May, contract 7' }
    const refused = await developer.post('/portal/clients', wish)
    expect([refused.status, refused.text.includes(scope)]).toEqual([403, true])
    expect((await administrator.post('/portal/clients', { ...wish, reason: '         .' })).status).toBe(422)
    expect(await namesOf(name)).toEqual([])
    const answer = await administrator.post('/portal/clients', wish)
    expect(answer.status).toBe(200)
    const [{ query }] = (await onRecord(answer)) as [{ query: URL }]
    expect(Object.fromEntries(query.searchParams)).toEqual({
      ...{ client: idIn(answer.text), organization: 'hospital-a', scopes: scope, reason: wish.reason },
    })
  })

  test('offers developers no box for what administrators grant', async () => {
    const boxes = (text: string) => [...text.matchAll(/name="scope" value="([^"]+)" disabled/g)].map(([, name]) => name)
    expect(boxes((await developer.get('/portal/clients')).text)).toEqual(
      Object.keys(scopes).filter(each => ['High', 'Critical'].includes(scopes[each]!.risk)),
    )
    expect(boxes((await administrator.get('/portal/clients')).text)).toEqual([])
  })

  test('belongs to the own organisation, has a scope, and no scope that there is not', async () => {
    const wish = { name: 'Refused', scope: 'labs:read', proof: 'secret' }
    for (const [status, more] of [
      [403, { organization: 'hospital-b' }],
      [422, { scope: '' }],
      [422, { smart: 'labs:reed' }],
      [422, { name: '' }],
      [422, { name: 'a\nb' }],
      [422, { proof: 'trust' }],
      [422, { consentExempt: 'true' }],
    ] as const)
      expect([more, (await developer.post('/portal/clients', { ...wish, ...more })).status]).toEqual([more, status])
    const { scope: _, ...without } = wish
    expect((await developer.post('/portal/clients', without)).text).toContain('Choose at least one scope.')
    expect((await developer.post('/portal/clients', wish, { origin: 'https://evil.example' })).status).toBe(403)
    expect(await namesOf('Refused')).toEqual([])
  })

  test('that signs assertions has no secret', async () => {
    const { text } = await developer.post('/portal/clients', { name: 'Signs', scope: 'labs:read', proof: 'keys' })
    expect(text).not.toContain('sk_test_')
    expect((await namesOf('Signs'))[0]).toMatchObject({ id: idIn(text), secrets: [], consentExempt: false })
  })
})

describe('one client', () => {
  test('of another organisation is not there, to look at or to change; neither is one that there is not', async () => {
    const { client, secret } = await made()
    for (const id of [client.id, 'client_none']) {
      expect([id, (await stranger.get(`/portal/clients/${id}`)).status]).toEqual([id, 404])
      const forms = { secret: { overlap: '0' }, keys: { url: '', jwks: '' }, revoke: { sure: 'yes' } }
      for (const [name, fields] of Object.entries(forms))
        expect((await stranger.post(`/portal/clients/${id}/${name}`, fields)).status).toBe(404)
    }
    expect(await tokenStatus(client.id, secret!)).toBe(200)
  })

  test('gets a new secret, beside which the previous one remains valid for the time that is chosen', async () => {
    const { client, secret: first } = await made()
    const path = `/portal/clients/${client.id}`
    const answer = await developer.post(`${path}/secret`, { overlap: '3600', label: 'May <2026>' })
    const second = secretIn(answer.text)
    expect(answer.text).toContain('remains valid for 1 hour')
    expect([await tokenStatus(client.id, first!), await tokenStatus(client.id, second)]).toEqual([200, 200])
    const [{ query, client_id }] = (await onRecord(answer)) as [{ query: URL; client_id: string }]
    expect([query.pathname, client_id]).toEqual([`${path}/secret`, expect.stringMatching(/^user\//)])
    const shown = (await developer.get(path)).text
    expect(shown).toMatch(/<th scope="row">first<\/th>[\s\S]*data-name="Valid until"><time datetime=/)
    expect(shown).toMatch(/<th scope="row">May &lt;2026&gt;<\/th>[\s\S]*data-name="Valid until">no end/)
    const third = secretIn((await developer.post(`${path}/secret`, { overlap: '0' })).text)
    expect(await Promise.all([first!, second, third].map(each => tokenStatus(client.id, each)))).toEqual([
      401, 401, 200,
    ])
    expect((await developer.post(`${path}/secret`, { overlap: '99999999' })).status).toBe(422)
  })

  test.each([
    ['that consent does not filter', { consentExempt: true }],
    ['that overrides consent', { scopes: ['emergency:access'] }],
  ] as const)('%s gets secrets and keys from administrators alone; developers may end it', async (_, more) => {
    const { client } = await made(more)
    const path = `/portal/clients/${client.id}`
    expect((await developer.get(path)).text).not.toContain(`action="${path}/secret"`)
    expect((await developer.post(`${path}/secret`, { overlap: '0' })).status).toBe(403)
    expect((await developer.post(`${path}/keys`, { url: '', jwks: '' })).status).toBe(403)
    expect((await administrator.post(`${path}/secret`, { overlap: '0' })).status).toBe(200)
    expect((await developer.post(`${path}/revoke`, { sure: 'yes' })).status).toBe(303)
  })

  test('has public keys, or an address of them, that replace each other', async () => {
    const { client } = await made({ secret: null })
    const path = `/portal/clients/${client.id}`
    const keysOf = async () =>
      (await listClients(service.application.database, { id: client.id })).map(({ jwks, jwksUrl }) => [
        jwks?.keys.length,
        jwksUrl,
      ])[0]
    const pair = generateKeyPairSync('ec', { namedCurve: 'P-384' })
    const publicKey = { ...pair.publicKey.export({ format: 'jwk' }), kid: 'may-<b>' }
    const set = (url: string, jwks: string) => developer.post(`${path}/keys`, { url, jwks })
    expect((await set('', JSON.stringify({ keys: [publicKey] }))).status).toBe(303)
    expect((await developer.get(path)).text).toContain('<code>may-&lt;b&gt;</code> EC P-384')
    const privateKey = JSON.stringify({ keys: [pair.privateKey.export({ format: 'jwk' })] })
    for (const [url, jwks] of [
      ['', privateKey],
      ['', '{'],
      ['', 'null'],
      ['http://10.0.0.1/keys', ''],
      ['https://keys.example.org', '{"keys":[]}'],
    ] as const) {
      const { status, text } = await set(url, jwks)
      expect([jwks, status]).toEqual([jwks, 422])
      expect(text).not.toContain(pair.privateKey.export({ format: 'jwk' }).d)
    }
    expect(await keysOf()).toEqual([1, undefined])
    expect((await set('https://keys.example.org/jwks.json', '')).status).toBe(303)
    expect(await keysOf()).toEqual([undefined, 'https://keys.example.org/jwks.json'])
    expect((await set('', '')).status).toBe(303)
    expect((await developer.get(path)).text).toContain('This client has no public keys.')
  })

  test('is revoked for good, once that is confirmed', async () => {
    const { client, secret } = await made({ name: 'Ends' })
    const path = `/portal/clients/${client.id}`
    expect((await developer.post(`${path}/revoke`)).status).toBe(422)
    expect(await tokenStatus(client.id, secret!)).toBe(200)
    expect((await developer.post(`${path}/revoke`, { sure: 'yes' })).headers.get('location')).toBe(path)
    expect(await tokenStatus(client.id, secret!)).toBe(401)
    const { text } = await developer.get(path)
    expect(text).toContain('<span class="state revoked">revoked')
    expect(text).not.toMatch(/<form method="post" action="\/portal\/clients/)
    expect((await developer.post(`${path}/secret`, { overlap: '0' })).status).toBe(404)
  })
})
