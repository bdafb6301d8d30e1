// Pages of the portal without a browser: who gets them, what keeps others out, and what hostile texts become.
import { beforeAll, describe, expect, test } from 'vitest'
import { createAgent } from '../../../src/identity/agents.ts'
import { demoUser } from '../../../src/identity/demo-accounts.ts'
import { ask, type PortalUser, portalUser } from '../../support/portal.ts'
import { type Service, startService } from '../../support/service.ts'
import { databaseOf } from '../../support/trail.ts'

let service: Service
let developer: PortalUser
let informaticist: PortalUser

beforeAll(async () => {
  service = await startService()
  developer = await portalUser(service, ['developer'])
  informaticist = await portalUser(service, ['informaticist'])
})

const signIn = (fields: Record<string, string>, headers: Record<string, string> = { origin: service.url }) =>
  ask(`${service.url}/portal/sign-in`, { method: 'POST', body: new URLSearchParams(fields), headers })

describe('signing in', () => {
  test('is where a page leads that needs it, and leads back to that page', async () => {
    const { status, headers } = await ask(`${service.url}/portal/agents?x=1`)
    expect([status, headers.get('location')]).toEqual([303, '/portal/sign-in?next=%2Fportal%2Fagents%3Fx%3D1'])
    const page = await ask(service.url + headers.get('location')!)
    expect(page.text).toContain('name="next" value="/portal/agents?x=1"')
    const { email, password } = developer
    const done = await signIn({ email, password, next: '/portal/agents?x=1' })
    expect([done.status, done.headers.get('location')]).toEqual([303, '/portal/agents?x=1'])
    expect(done.headers.get('set-cookie')).toMatch(/^service_session=[^;]+; HttpOnly; SameSite=Strict; Path=\//)
  })

  test.each([
    'https://evil.example/',
    '//evil.example',
    '/portal//evil',
    '/\\evil.example',
    '/api/v1',
    'javascript:alert(1)',
  ])('never leads elsewhere: %s', async next => {
    const { email, password } = developer
    expect((await signIn({ email, password, next })).headers.get('location')).toBe('/portal')
  })

  test('with a wrong password shows the form again, and says no more than that', async () => {
    const { status, text, headers } = await signIn({ email: developer.email, password: 'wrong' })
    expect([status, headers.get('set-cookie')]).toEqual([401, null])
    expect(text).toContain('The e-mail address or the password is not right.')
    expect(await signIn({ email: 'nobody@example.org', password: 'wrong' })).toMatchObject({ status: 401, text })
  })

  test('does not work from a page of another origin', async () => {
    const { email, password } = developer
    const { status, headers } = await signIn({ email, password }, { origin: 'https://evil.example' })
    expect([status, headers.get('set-cookie')]).toEqual([403, null])
  })

  test('takes one click for the demo user of a local service, and none is offered elsewhere', async () => {
    await service.application.prepare()
    expect((await ask(`${service.url}/portal/sign-in`)).text).toContain(demoUser.email)
    expect((await signIn({ ...demoUser })).status).toBe(303)
    const sandbox = await startService({ ENVIRONMENT: 'sandbox', BASE_URL: 'https://fhir.example.org' })
    expect((await ask(`${sandbox.url}/portal/sign-in`)).text).not.toContain(demoUser.email)
  })

  test('ends with signing out', async () => {
    const { email, password } = developer
    const { headers } = await signIn({ email, password })
    const cookie = /^service_session=[^;]+/.exec(headers.get('set-cookie')!)![0]
    const out = await ask(`${service.url}/portal/sign-out`, {
      method: 'POST',
      headers: { cookie, origin: service.url },
    })
    expect([out.status, out.headers.get('location')]).toEqual([303, '/portal/sign-in'])
    expect((await ask(`${service.url}/portal`, { headers: { cookie } })).headers.get('location')).toMatch(/sign-in/)
  })
})

describe('a page', () => {
  test('runs nothing but scripts of the service, stands in no frame, and is stored nowhere', async () => {
    const { headers, text } = await developer.get('/portal')
    const policy = headers.get('content-security-policy')!
    for (const rule of [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "form-action 'self'",
      "base-uri 'none'",
      "frame-ancestors 'none'",
    ])
      expect(policy.split('; ')).toContain(rule)
    expect(policy).not.toContain('unsafe')
    expect(headers.get('cache-control')).toBe('no-store')
    expect(headers.get('referrer-policy')).toBe('same-origin')
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(text).not.toMatch(/<script(?![^>]*src=)|\son\w+=|style="/)
  })

  test('reads in French for those who prefer it, by the browser or by choice', async () => {
    expect((await developer.get('/portal/agents', { 'accept-language': 'fr-CM,fr;q=0.9' })).text).toContain(
      '<html lang="fr">',
    )
    const chosen = await ask(`${service.url}/portal/language?to=fr&back=/portal/agents`)
    expect([chosen.status, chosen.headers.get('location')]).toEqual([303, '/portal/agents'])
    const cookie = `${developer.cookie}; ${chosen.headers.get('set-cookie')!.split(';')[0]}`
    expect((await developer.get('/portal/agents', { cookie })).text).toContain('Agents Bridge')
    expect((await ask(`${service.url}/portal/language?to=fr&back=//evil`)).headers.get('location')).toBe('/portal')
  })

  test('that there is not, or that a role may not see, is a page that says so', async () => {
    const refused = await informaticist.get('/portal/agents')
    expect([refused.status, refused.headers.get('content-type')]).toEqual([403, 'text/html; charset=utf-8'])
    expect(refused.text).toContain('developer or privacy_officer')
    expect(refused.text).toContain(refused.headers.get('x-request-id'))
    expect((await developer.get('/portal/agents/agt_none')).status).toBe(404)
    expect((await informaticist.get('/portal')).text).not.toContain('href="/portal/agents"')
  })

  test('loads files that browsers keep for good, compressed, and none beside them', async () => {
    const { text } = await developer.get('/portal')
    const files = [...text.matchAll(/(?:href|src)="(\/portal\/assets\/[^"]+)"/g)].map(([, path]) => path!)
    expect(files).toHaveLength(3)
    for (const path of files) {
      const { status, headers } = await ask(service.url + path, { headers: { 'accept-encoding': 'br' } })
      expect([status, headers.get('content-encoding')]).toEqual([200, 'br'])
      expect(headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
    }
    for (const path of [
      files[0]!.replace(/[^/]+$/, 'package.json'),
      files[0]!.replace(/assets\/\w+/, 'assets/000000000000'),
    ])
      expect((await ask(service.url + path)).status).toBe(404)
  })

  test('serves the libraries of its scripts as modules that import each other by address', async () => {
    const { text } = await developer.get('/portal')
    const [, base] = /href="(\/portal\/assets\/\w+\/)portal\.css"/.exec(text)!
    const waiting = ['codemirror-view.js', 'codemirror-autocomplete.js', 'codemirror-lang-json.js', 'uplot.js']
    const seen = new Set(waiting)
    for (const name of waiting) {
      const served = await ask(service.url + base + name)
      expect([name, served.status, served.headers.get('content-type')]).toEqual([
        name,
        200,
        'text/javascript; charset=utf-8',
      ])
      for (const [, , from] of served.text.matchAll(/^(import|export)\b[\w\s{},*$]*from\s*['"]([^'"]+)['"]/gm)) {
        expect(from).toMatch(/^\.\/[\w-]+\.js$/)
        const file = from!.slice(2)
        if (!seen.has(file)) waiting.push(file)
        seen.add(file)
      }
    }
    expect(seen).toContain('style-mod.js')
    expect((await ask(`${service.url + base}uplot.css`)).status).toBe(200)
  })

  test('is in no description of the API', async () => {
    const { paths } = (await (await fetch(`${service.url}/openapi.json`)).json()) as { paths: object }
    expect(Object.keys(paths).filter(path => path.startsWith('/portal'))).toEqual([])
  })
})

describe('Bridge agents', () => {
  test('are created with a key that is shown once, by developers for their organisation alone', async () => {
    const made = await developer.post('/portal/agents', { name: 'Ward 7', facility: 'ward-7' })
    const [, id] = /<code>(agt_\w+)<\/code>/.exec(made.text)!
    expect(made.text).toMatch(/<code>bak_\w+/)
    const shown = await developer.get(`/portal/agents/${id}`)
    expect(shown.text).toContain('never heard')
    expect(shown.text).not.toContain('bak_')
    const elsewhere = { name: 'x', facility: 'y', organization: 'hospital-b' }
    expect((await developer.post('/portal/agents', elsewhere)).status).toBe(403)
    const other = await portalUser(service, ['developer'], 'hospital-b')
    expect((await other.get('/portal/agents')).text).not.toContain(id)
    expect((await other.get(`/portal/agents/${id}`)).status).toBe(404)
    expect((await other.post(`/portal/agents/${id}/commands`, { type: 'rotate_key' })).status).toBe(404)
    const administrator = await portalUser(service, ['administrator'], 'elsewhere')
    expect((await administrator.get('/portal/agents')).text).toContain(id)
  })

  test('with names that are scripts are shown with these names', async () => {
    const name = '<script>alert("1")</script>\'"><img src=x onerror=alert(1)>'
    await developer.post('/portal/agents', { name, facility: 'ward-8' })
    const { text } = await developer.get('/portal/agents')
    expect(text).toContain('&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&#39;&quot;&gt;&lt;img')
    expect(text).not.toMatch(/<img|<script>alert/)
  })

  test('get commands by a form, which is on record with the user; a privacy officer looks and asks nothing', async () => {
    const { agent } = await createAgent(service.application.database, {
      ...{ name: 'asked', facilityId: 'ward-9', organizationId: 'hospital-a' },
    })
    const path = `/portal/agents/${agent.id}/commands`
    const done = await developer.post(path, { type: 'rotate_key' })
    expect([done.status, done.headers.get('location')]).toEqual([303, `/portal/agents/${agent.id}`])
    expect((await developer.get(`/portal/agents/${agent.id}`)).text).toMatch(
      /Rotate the key<\/td>\s*<td[^>]*><span class="state pending">/,
    )
    const trail = await databaseOf(service)
    const { rows } = await trail.query('select client_id, query, outcome from audit_event where request_id = $1', [
      done.headers.get('x-request-id'),
    ])
    await trail.end()
    expect(rows).toEqual([
      { client_id: expect.stringMatching(/^user\/usr_/), query: expect.stringContaining(path.slice(1)), outcome: 0 },
    ])
    const officer = await portalUser(service, ['privacy_officer'])
    expect((await officer.get(`/portal/agents/${agent.id}`)).text).not.toContain(
      '<form method="post" action="/portal/agents',
    )
    expect((await officer.post(path, { type: 'rotate_key' })).status).toBe(403)
    expect((await developer.post(path, { type: 'send_hl7v2' })).status).toBe(422)
    expect((await developer.post(path, { type: 'rotate_key' }, { origin: 'https://evil.example' })).status).toBe(403)
  })
})
