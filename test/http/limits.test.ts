// Rate limits as clients meet them: the default policy, and those of classes of routes beside it.
import { beforeAll, describe, expect, test } from 'vitest'
import { createLimits, type Policy } from '../../src/http/limits.ts'
import { demoClient } from '../../src/identity/demo-accounts.ts'
import type { Failure } from '../../src/lib/failure.ts'
import { signIn, useToken } from '../support/identity.ts'
import { type Service, startService } from '../support/service.ts'

let service: Service
beforeAll(async () => {
  service = await startService({ RATE_LIMIT: '7', RATE_LIMIT_TOKEN: '2' })
})

describe('a route of a class', () => {
  test('tells both policies, the scarcest first in what is left, and answers 429 when its own is used up', async () => {
    const fetchToken = () => signIn(service, demoClient.id, demoClient.secret)
    const first = await fetchToken()
    expect(first.status).toBe(200)
    expect(first.headers.get('ratelimit-policy')).toBe('"default";q=7;w=60, "token";q=2;w=60')
    expect(first.headers.get('ratelimit')).toBe('"token";r=1;t=30, "default";r=6;t=9')
    expect((await fetchToken()).status).toBe(200)
    const refused = await fetchToken()
    expect(refused.status).toBe(429)
    expect(refused.body).toMatchObject({ error_code: 'RATE_LIMITED', error: 'temporarily_unavailable' })
    expect(refused.body.message).toContain('more than 2 token requests in a minute')
    expect(refused.headers.get('retry-after')).toBe(String(refused.body.retry_after))
    expect(refused.headers.get('ratelimit')).toMatch(/^"token";r=0;t=(\d+), "default";r=\d;t=\d+$/)
  })

  test('leaves other routes to the default policy, whose headers name no other', async () => {
    const answer = await useToken(service, service.token)
    expect(answer.status).toBe(200)
    expect(answer.headers.get('ratelimit-policy')).toBe('"default";q=7;w=60')
  })

  test.each(['/api/v1/connect/auth/token', '/api/v1/portal/session'])(
    'counts bodies that cannot be read by address, before anybody has proved who he is: %s',
    async path => {
      const few = await startService({ RATE_LIMIT: '3', RATE_LIMIT_TOKEN: '3' })
      const statuses: number[] = []
      for (let count = 0; count < 5; count++) {
        const headers = { 'content-type': 'application/json' }
        const answer = await fetch(few.url + path, { method: 'POST', headers, body: '{"a":' })
        expect(answer.headers.get('ratelimit')).toMatch(/"default";r=\d/)
        statuses.push(answer.status)
      }
      expect(statuses).toEqual([400, 400, 400, 429, 429])
    },
  )

  test('counts what proved nobody by address, and says so too', async () => {
    const answer = await useToken(service, 'nonsense')
    expect(answer.status).toBe(401)
    expect(answer.headers.get('ratelimit')).toMatch(/^"default";r=\d;t=\d+$/)
  })
})

test.each([
  ['GET', '/nothing/here', 404],
  ['GET', '/api/fhir/R4/Patient/a/b/c/d', 404],
  ['DELETE', '/healthz', 405],
  ['PATCH', '/api/fhir/R4', 405],
  ['GET', '/api/fhir/R4/Patient/%zz', 400],
])('%s %s, which no route answers, tells the limits and is counted by address', async (method, path, status) => {
  const few = await startService({ RATE_LIMIT: '2' })
  const statuses: number[] = []
  for (let count = 0; count < 3; count++) {
    const answer = await fetch(few.url + path, { method })
    expect(answer.headers.get('ratelimit-policy')).toBe('"default";q=2;w=60')
    expect(answer.headers.get('ratelimit')).toMatch(/^"default";r=\d;t=\d+$/)
    statuses.push(answer.status)
  }
  expect(statuses).toEqual([status, status, 429])
})

test('a request that one policy refuses counts for neither, and time gives both back', () => {
  let time = 0
  const limits = createLimits({ default: 3, lookup: 1, token: 1 }, () => time)
  const left = (limit?: 'lookup' | 'token'): Partial<Record<Policy, number>> => {
    try {
      const verdicts = limits.take('somebody', limit)
      return Object.fromEntries(verdicts.map(each => [each.policy, each.remaining]))
    } catch (error) {
      return { default: -(error as Failure).options.retryAfter! }
    }
  }
  expect(left('lookup')).toEqual({ default: 2, lookup: 0 })
  expect(left('lookup')).toEqual({ default: -60 })
  expect(left('token')).toEqual({ default: 1, token: 0 })
  expect(left()).toEqual({ default: 0 })
  for (const _ of [1, 2])
    expect(limits.look('somebody').map(({ policy, remaining, reset }) => [policy, remaining, reset])).toEqual([
      ['default', 0, 20],
      ['lookup', 0, 60],
      ['token', 0, 60],
    ])
  expect(limits.look('nobody').map(({ remaining, reset }) => [remaining, reset])).toEqual([
    [3, 0],
    [1, 0],
    [1, 0],
  ])
  expect(left()).toEqual({ default: -20 })
  time = 20_000
  expect(left()).toEqual({ default: 0 })
  time = 120_000
  expect(left('lookup')).toEqual({ default: 2, lookup: 0 })
  expect(() => limits.take('somebody else', 'lookup')).not.toThrow()
})
