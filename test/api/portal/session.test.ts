// Sessions of the portal: who gets one, how long it lasts, and that no page of somebody else's can use it.
import { beforeAll, describe, expect, test } from 'vitest'
import { createUser, disableUser } from '../../../src/identity/users.ts'
import { randomText } from '../../../src/lib/ids.ts'
import { type Answer, type Process, startProcess } from '../../support/identity.ts'
import { startService } from '../../support/service.ts'

let service: Process
beforeAll(async () => {
  service = await startProcess()
})

const path = '/api/v1/portal/session'

interface Person {
  readonly email: string
  readonly password: string
}

/** Somebody for one test. */
async function person(): Promise<Person> {
  const email = `${randomText(12).toLowerCase()}@hospital.example`
  const { password } = await createUser(service.database, { email, organizationId: 'hospital-a', roles: ['developer'] })
  return { email, password }
}

async function send(
  method: string,
  headers: Record<string, string>,
  body?: object,
  to: string = service.url,
): Promise<Answer> {
  const type: Record<string, string> = body ? { 'content-type': 'application/json' } : {}
  const response = await fetch(to + path, {
    method,
    headers: { ...type, ...headers },
    body: body && JSON.stringify(body),
  })
  const text = await response.text()
  return { status: response.status, headers: response.headers, body: text === '' ? undefined : JSON.parse(text) }
}

const signIn = ({ email, password }: Person, headers: Record<string, string> = {}) =>
  send('POST', headers, { email, password })

const cookieOf = ({ headers }: Answer): string => /^service_session=[^;]*/.exec(headers.get('set-cookie') ?? '')![0]

async function cookie(of: Person): Promise<string> {
  return cookieOf(await signIn(of))
}

const whoAmI = (cookie: string) => send('GET', { cookie })

describe('signing in', () => {
  test('tells who one is, and sets a cookie that scripts cannot read and other sites cannot send', async () => {
    const somebody = await person()
    const answer = await signIn({ ...somebody, email: ` ${somebody.email.toUpperCase()} ` })
    expect(answer.status).toBe(201)
    expect(answer.body).toEqual({
      user_id: expect.stringMatching(/^usr_/),
      email: somebody.email,
      organization_id: 'hospital-a',
      roles: ['developer'],
    })
    expect(answer.headers.get('set-cookie')).toMatch(
      /^service_session=[0-9A-Za-z]{43}; HttpOnly; SameSite=Strict; Path=\/; Max-Age=43200$/,
    )
    const me = await whoAmI(cookieOf(answer))
    expect({ status: me.status, body: me.body }).toEqual({ status: 200, body: answer.body })
  })

  test('sets a cookie for TLS only, everywhere but locally', async () => {
    const sandbox = await startService({ ENVIRONMENT: 'sandbox' })
    const { database } = sandbox.application
    const { password } = await createUser(database, { email: 'a@b.example', organizationId: 'x', roles: ['developer'] })
    const answer = await send('POST', {}, { email: 'a@b.example', password }, sandbox.url)
    expect(answer.headers.get('set-cookie')).toMatch(/; Secure$/)
  })

  test('gives a new id each time, whatever cookie it came with', async () => {
    const somebody = await person()
    const first = await cookie(somebody)
    const planted = `service_session=${'x'.repeat(43)}`
    const second = cookieOf(await signIn(somebody, { cookie: planted }))
    expect(new Set([first, second, planted]).size).toBe(3)
    expect((await whoAmI(planted)).status).toBe(401)
  })

  test('keeps no secret: neither the password nor the id of the session', async () => {
    const somebody = await person()
    const id = (await cookie(somebody)).slice('service_session='.length)
    const rows = await service.database.query<{ row: string }>({
      text: `select to_jsonb(u)::text || to_jsonb(s)::text as row
        from portal_user u join portal_session s on s.user_id = u.id where email = $1`,
      values: [somebody.email],
    })
    expect(rows[0]!.row).toContain('$argon2id$v=19$m=19456,t=2,p=1$')
    expect(rows[0]!.row).not.toContain(somebody.password)
    expect(rows[0]!.row).not.toContain(id)
  })

  test('somebody unknown, a wrong password and a disabled user cost one hash each and are answered alike', async () => {
    const [known, disabled] = [await person(), await person()]
    await disableUser(service.database, disabled.email)
    const told = []
    const odd = { email: 'no\0body@hospital.example', password: '\0' }
    for (const tried of [odd, { email: 'no@body.example', password: 'x' }, { ...known, password: 'x' }, disabled]) {
      const before = service.hashes()
      const { status, body } = await signIn(tried)
      told.push(JSON.stringify([status, body.error_code, body.message, service.hashes() - before]))
    }
    expect(new Set(told).size).toBe(1)
    expect(JSON.parse(told[0]!)).toMatchObject([401, 'UNAUTHENTICATED', expect.any(String), 1])
  })

  test('is throttled after ten failures: 429 with Retry-After for the right password too, until time has passed', async () => {
    const somebody = await person()
    for (let times = 0; times < 10; times++) expect((await signIn({ ...somebody, password: 'wrong' })).status).toBe(401)
    const before = service.hashes()
    const answer = await signIn(somebody)
    expect(answer.status).toBe(429)
    expect(answer.body.error_code).toBe('AUTH_THROTTLED')
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(service.hashes()).toBe(before)
    expect((await signIn(await person())).status).toBe(201)
    service.advance(7)
    expect((await signIn(somebody)).status).toBe(201)
  })
})

describe('a session', () => {
  test('ends after 30 minutes without a request', async () => {
    const held = await cookie(await person())
    for (let times = 0; times < 3; times++) {
      service.advance(29 * 60)
      expect((await whoAmI(held)).status).toBe(200)
    }
    service.advance(30 * 60)
    const answer = await whoAmI(held)
    expect(answer.status).toBe(401)
    expect(answer.body.error_code).toBe('TOKEN_EXPIRED')
  })

  test('ends after 12 hours, however busy it was', async () => {
    const held = await cookie(await person())
    for (let minutes = 0; minutes < 12 * 60 - 20; minutes += 20) {
      service.advance(20 * 60)
      expect((await whoAmI(held)).status).toBe(200)
    }
    service.advance(20 * 60)
    expect((await whoAmI(held)).body.error_code).toBe('TOKEN_EXPIRED')
  })

  test('ends by signing out, which clears the cookie and ends no other session', async () => {
    const somebody = await person()
    const [one, other] = [await cookie(somebody), await cookie(somebody)]
    const answer = await send('DELETE', { cookie: one })
    expect(answer.status).toBe(204)
    expect(answer.headers.get('set-cookie')).toBe('service_session=; HttpOnly; SameSite=Strict; Path=/; Max-Age=0')
    expect((await whoAmI(one)).status).toBe(401)
    expect((await whoAmI(other)).status).toBe(200)
  })

  test('is noted as used once a minute', async () => {
    const somebody = await person()
    const held = await cookie(somebody)
    const begun = service.now()
    for (const [seconds, noted] of [
      [59, 0],
      [1, 60_000],
    ] as const) {
      service.advance(seconds)
      expect((await whoAmI(held)).status).toBe(200)
      const rows = await service.database.query<{ at: Date }>({
        text: 'select last_seen_at as at from portal_session s join portal_user u on u.id = s.user_id where email = $1',
        values: [somebody.email],
      })
      expect(rows).toEqual([{ at: new Date(begun + noted) }])
    }
  })

  test('is one of twenty at most: the next one ends the oldest', async () => {
    const somebody = await person()
    const held: string[] = []
    for (let times = 0; times < 21; times++) {
      held.push(await cookie(somebody))
      service.advance(times % 2)
    }
    const statuses = await Promise.all([held[0]!, held[1]!, held[20]!].map(async each => (await whoAmI(each)).status))
    expect(statuses).toEqual([401, 200, 200])
  })

  test('ends at once with its user', async () => {
    const [somebody, other] = [await person(), await person()]
    const [held, others] = [await cookie(somebody), await cookie(other)]
    expect(await disableUser(service.database, somebody.email.toUpperCase())).toBe(1)
    expect((await whoAmI(held)).status).toBe(401)
    expect((await signIn(somebody)).status).toBe(401)
    expect((await whoAmI(others)).status).toBe(200)
  })

  test('is not proved by nothing, by a made-up cookie, by two that differ, or by a token: 401 says how to sign in', async () => {
    const held = await cookie(await person())
    for (const headers of [
      {},
      { cookie: 'service_session=' },
      { cookie: `service_session=${'x'.repeat(43)}` },
      { cookie: `${held}; service_session=other` },
      { authorization: `Bearer ${held}` },
    ] as Record<string, string>[]) {
      const answer = await send('GET', headers)
      expect(answer.status).toBe(401)
      expect(answer.body.message).toMatch(/^(Sign in with POST \/api\/v1\/portal\/session|The session does not exist)/)
      expect(answer.headers.get('www-authenticate')).toContain('cookie-name="service_session"')
    }
    expect((await whoAmI(`theme=dark; ${held}`)).status).toBe(200)
  })
})

describe('pages of other origins', () => {
  const foreign: Record<string, string>[] = [
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
  ]

  test.each(foreign)('can neither sign out nor in: %j', async headers => {
    const somebody = await person()
    const held = await cookie(somebody)
    const refused = await send('DELETE', { ...headers, cookie: held })
    expect(refused.status).toBe(403)
    expect(refused.body).toMatchObject({ error_code: 'FORBIDDEN' })
    expect((await whoAmI(held)).status).toBe(200)
    const signedIn = await signIn(somebody, headers)
    expect(signedIn.status).toBe(403)
    expect(signedIn.headers.get('set-cookie')).toBe(null)
  })

  test('are not the own pages, which can', async () => {
    const own = { origin: service.url, 'sec-fetch-site': 'same-origin' }
    const answer = await signIn(await person(), own)
    expect(answer.status).toBe(201)
    expect((await send('DELETE', { ...own, cookie: cookieOf(answer) })).status).toBe(204)
  })

  test('are never allowed to read what a cookie shows, nor a reply that sets one', async () => {
    const somebody = await person()
    const answer = await signIn(somebody, { origin: service.url })
    const me = await send('GET', { origin: 'https://evil.example', cookie: cookieOf(answer) })
    for (const { headers } of [answer, me]) {
      expect(headers.get('access-control-allow-origin')).toBe(null)
      expect(headers.get('access-control-allow-credentials')).toBe(null)
    }
    const preflight = await send('OPTIONS', {
      origin: 'https://evil.example',
      'access-control-request-method': 'DELETE',
    })
    expect(preflight.headers.get('access-control-allow-credentials')).toBe(null)
  })
})
