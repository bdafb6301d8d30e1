// The TypeScript client library makes of every vector what it should: signatures, Health IDs, waits, errors, requests, pages.
import { describe, expect, test } from 'vitest'
import { ValidationError, WebhookSignatureError } from '../../clients/typescript/src/errors.ts'
import type { Bundle } from '../../clients/typescript/src/fhir.ts'
import { normalizeHealthId } from '../../clients/typescript/src/health-id.ts'
import type { ClientOptions } from '../../clients/typescript/src/options.ts'
import { rateLimitOf } from '../../clients/typescript/src/rate-limit.ts'
import { errorOf } from '../../clients/typescript/src/response.ts'
import { retryAfterOf, waitBefore } from '../../clients/typescript/src/retry.ts'
import { parseAt, type RawBody, type SignatureHeader, verifyAt } from '../../clients/typescript/src/signature.ts'
import type { Transport, TransportRequest } from '../../clients/typescript/src/transport.ts'
import { parseEvent, signTestPayload, verifySignature } from '../../clients/typescript/src/webhooks.ts'
import { clientOf, collected, invoke, milliseconds, vectors } from './support/typescript.ts'

const ofHeaders = (pairs: Record<string, string | null>): Headers =>
  new Headers(Object.entries(pairs).filter((pair): pair is [string, string] => pair[1] !== null))

interface Signed {
  readonly name: string
  readonly body?: string
  readonly bodyBase64?: string
  readonly bodyParsed?: unknown
  readonly header: SignatureHeader
  readonly secret: string
  readonly now: number
  readonly tolerance?: number
  readonly reason: string | null
  readonly event?: unknown
}

const bodyOf = ({ body, bodyBase64, bodyParsed }: Signed): RawBody =>
  body ?? (bodyBase64 === undefined ? (bodyParsed as RawBody) : new Uint8Array(Buffer.from(bodyBase64, 'base64')))

describe('a signature', () => {
  const { verify, parseEvent: parse, signTestPayload: sign } = vectors('signatures')

  test.for(verify as Signed[])('$name', async vector => {
    const { now, header, secret, tolerance = 300, reason } = vector
    const verified = verifyAt(now, bodyOf(vector), header, secret, tolerance)
    if (reason === null) expect(await verified).toBeUndefined()
    else await expect(verified).rejects.toMatchObject({ name: 'WebhookSignatureError', reason, errorCode: null })
  })

  test.for(parse as Signed[])('$name', async vector => {
    const { now, header, secret, tolerance = 300, reason, event } = vector
    const parsed = parseAt(now, bodyOf(vector), header, secret, tolerance)
    if (reason === null) expect(await parsed).toEqual(event)
    else await expect(parsed).rejects.toMatchObject({ reason })
  })

  test.for(
    sign as { name: string; payload: string; secret: string; timestamp: number; body: string; header: string }[],
  )('$name', async ({ payload, secret, timestamp, body, header }) => {
    expect(await signTestPayload(payload, secret, timestamp)).toEqual({ body, header })
  })

  test('of now is accepted by the clock of the machine, and one of an hour ago is not', async () => {
    const secret = 'whsec_of-a-test'
    const event = { id: 'evt_1', type: 'consent.revoked' }
    const fresh = await signTestPayload(event, secret)
    await verifySignature(Buffer.from(fresh.body), fresh.header, secret)
    expect(await parseEvent(new TextEncoder().encode(fresh.body).buffer, fresh.header, secret)).toEqual(event)
    const old = await signTestPayload(event, secret, Math.floor(Date.now() / 1000) - 3600)
    await expect(verifySignature(old.body, old.header, secret)).rejects.toBeInstanceOf(WebhookSignatureError)
    await verifySignature(old.body, old.header, secret, 4000)
  })
})

describe('a Health ID', () => {
  const { valid, invalid } = vectors('health-ids')

  test.for(valid as { name: string; input: string; canonical: string }[])('$name', ({ input, canonical }) => {
    expect(normalizeHealthId(input)).toBe(canonical)
  })

  test.for(invalid as { name: string; input: string }[])('$name', ({ input }) => {
    expect(() => normalizeHealthId(input)).toThrow(expect.objectContaining({ errorCode: 'INVALID_HEALTH_ID' }))
  })
})

type Wait = { name: string; retry: number; random: number; retryAfter: number | null; wait: number }
test.for(vectors('backoff').vectors as Wait[])('$name', ({ retry, random, retryAfter, wait }) => {
  expect(waitBefore(retry, random, retryAfter)).toBeCloseTo(wait, 9)
})

type After = { name: string; header: string | null; date: string | null; seconds: number | null }
test.for(vectors('retry-after').vectors as After[])('Retry-After: $name', ({ header, date, seconds }) => {
  expect(retryAfterOf(ofHeaders({ 'retry-after': header, date }))).toBe(seconds)
})

type Budget = { name: string; policy: string | null; limit: string | null; expected: object | null }
test.for(vectors('rate-limit').vectors as Budget[])('rate limit: $name', ({ policy, limit, expected }) => {
  expect(rateLimitOf(ofHeaders({ 'ratelimit-policy': policy, ratelimit: limit }))).toEqual(expected)
})

interface Failed {
  readonly name: string
  readonly status: number
  readonly headers: Record<string, string>
  readonly text: string
  readonly expected: { readonly class: string } & Record<string, unknown>
}
test.for(vectors('errors').vectors as Failed[])('an error: $name', ({ status, headers, text, expected }) => {
  const { class: name, ...facts } = expected
  const error = errorOf(status, ofHeaders(headers), text, 1)
  expect({ ...error, message: error.message }).toMatchObject({ name, status, ...facts })
  expect(error.constructor.name).toBe(name)
})

interface Sent extends TransportRequest {
  readonly url: URL
}

/** A transport that keeps what it gets, and answers with these pages; the last one repeats. */
function recorder(pages: readonly object[] = [{}]): { transport: Transport; sent: Sent[] } {
  const sent: Sent[] = []
  const transport: Transport = async (address, request) => {
    const url = new URL(address)
    if (url.pathname.endsWith('/auth/token')) return Response.json({ access_token: 'token-1', expires_in: 3600 })
    sent.push({ ...request, url })
    return Response.json(pages[Math.min(sent.length, pages.length) - 1])
  }
  return { transport, sent }
}

const address = 'https://hie.example.org'

interface Request {
  readonly name: string
  readonly call: string
  readonly arguments: Record<string, unknown>
  readonly options?: Record<string, unknown>
  readonly expected: {
    readonly method: string
    readonly path: string
    readonly query: readonly (readonly [string, string])[]
    readonly headers: Record<string, string>
    readonly absentHeaders: readonly string[]
    readonly hasIdempotencyKey: boolean
    readonly body: unknown
  }
}

describe('a request', () => {
  const { requests, invalid, options } = vectors('requests')
  const utf8 = (value: string): string => Buffer.from(value, 'latin1').toString('utf8')
  const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

  test.for(requests as Request[])('$name', async ({ call, arguments: given, options: callOptions, expected }) => {
    const { transport, sent } = recorder()
    await invoke(await clientOf(address, { transport, userAgent: 'app/1' }), call, given, milliseconds(callOptions))
    const [{ method, url, headers, body, redirect }] = sent as [Sent]
    expect(method).toBe(expected.method)
    expect(url.origin + url.pathname).toBe(address + expected.path)
    expect([...url.searchParams]).toEqual(expected.query)
    expect(body === undefined ? null : JSON.parse(body)).toEqual(expected.body)
    for (const [name, value] of Object.entries(expected.headers)) expect(utf8(headers[name] ?? '')).toBe(value)
    for (const name of expected.absentHeaders) expect(headers).not.toHaveProperty(name)
    const key = callOptions?.['idempotencyKey'] ?? expect.stringMatching(uuid)
    expect(headers['idempotency-key']).toEqual(expected.hasIdempotencyKey ? key : undefined)
    expect(headers).toMatchObject({
      authorization: 'Bearer token-1',
      'user-agent': 'health-interop-typescript/1.2.0 app/1',
    })
    expect(redirect).toBe('manual')
  })

  type Refused = { name: string; call: string; arguments: object; options?: object; errorCode: string }
  test.for(invalid as Refused[])(
    'is not made: $name',
    async ({ call, arguments: given, options: callOptions, errorCode }) => {
      const { transport, sent } = recorder()
      const client = await clientOf(address, { transport })
      const made = (async () => collected(await invoke(client, call, { ...given }, { ...callOptions })))()
      await expect(made).rejects.toMatchObject({ name: 'ValidationError', errorCode, status: null, attempts: 0 })
      expect(sent).toEqual([])
    },
  )

  test.for(['//elsewhere.example/x', '/\\elsewhere.example/x', 'https://elsewhere.example/x', 'x', '/a\nb', ''])(
    'leaves the service for no path: %j',
    async path => {
      const { transport, sent } = recorder()
      const client = await clientOf(address, { transport })
      await expect(client.request('GET', path)).rejects.toBeInstanceOf(ValidationError)
      expect(sent).toEqual([])
    },
  )

  test.for(options as { name: string; options: Record<string, unknown>; valid: boolean }[])(
    'of a client with $name',
    async ({ options: given, valid }) => {
      const { transport } = recorder()
      const left = Object.entries(milliseconds(given)).map(([name, value]) => [name, value ?? undefined])
      const created = clientOf(address, { transport, ...(Object.fromEntries(left) as Partial<ClientOptions>) })
      if (valid) expect((await created).lastResponse).toBeNull()
      else await expect(created).rejects.toMatchObject({ name: 'ValidationError', errorCode: 'INVALID_OPTION' })
    },
  )
})

describe('pages', () => {
  const { links, bundles, lists } = vectors('paging')
  const idsOf = (found: unknown): unknown => (found as { id: string }[]).map(({ id }) => id)

  test.for(links as { name: string; link: string; path: string | null }[])('$name', async ({ link, path }) => {
    const page = { resourceType: 'Bundle', type: 'searchset', link: [{ relation: 'next', url: link }] } as const
    const { transport, sent } = recorder([{ resourceType: 'Bundle' }])
    const client = await clientOf(address, { transport })
    const all = collected(client.fhir.iterate(page))
    if (path === null) await expect(all).rejects.toMatchObject({ reason: 'invalid_response' })
    else expect(await all).toEqual([])
    expect(sent.map(({ url }) => url.href)).toEqual(path === null ? [] : [address + path])
  })

  type Bundles = {
    name: string
    arguments: Record<string, unknown>
    pages: Bundle[]
    ids: string[]
    requests: string[]
  }
  test.for(bundles as Bundles[])('$name', async ({ arguments: given, pages, ids, requests }) => {
    const { transport, sent } = recorder(pages)
    const client = await clientOf(address, { transport })
    expect(idsOf(await collected(invoke(client, 'fhir.searchAll', given)))).toEqual(ids)
    expect(sent.slice(1).map(({ url }) => url.pathname + url.search)).toEqual(requests)
    const following = recorder(pages.length > 1 ? pages.slice(1) : [{}])
    const other = await clientOf(address, { transport: following.transport })
    expect(idsOf(await collected(other.fhir.iterate(pages[0]!)))).toEqual(ids)
    expect(following.sent.length).toBe(requests.length)
  })

  type Lists = { name: string; call: string; arguments: object; pages: object[]; ids: string[]; queries: string[][][] }
  test.for(lists as Lists[])('$name', async ({ call, arguments: given, pages, ids, queries }) => {
    const { transport, sent } = recorder(pages)
    expect(idsOf(await collected(invoke(await clientOf(address, { transport }), call, { ...given })))).toEqual(ids)
    expect(sent.map(({ url }) => [...url.searchParams].toSorted())).toEqual(queries.map(each => each.toSorted()))
  })

  test('are fetched when they are needed', async () => {
    const next = { resourceType: 'Bundle', link: [{ relation: 'next', url: '/api/x' }] }
    const { transport, sent } = recorder([{ ...next, entry: [{ resource: { resourceType: 'Patient', id: '1' } }] }])
    for await (const _ of (await clientOf(address, { transport })).fhir.searchAll('Patient')) break
    expect(sent.length).toBe(1)
  })
})
