// The TypeScript client library in conversations with the scripted server, and what it does when a caller gives up.
import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import { ServiceError, TransportError } from '../../clients/typescript/src/errors.ts'
import type { LogRecord } from '../../clients/typescript/src/log.ts'
import { responseOf } from '../../clients/typescript/src/response.ts'
import type { World } from '../../clients/typescript/src/world.ts'
import { onCleanup } from '../support/cleanup.ts'
import { startScriptedServer } from './support/scripted-server.ts'
import { clientOf, collected, invoke, milliseconds, testWorld, vectors } from './support/typescript.ts'

const server = await startScriptedServer()
onCleanup(() => server.close())

interface Received {
  readonly method: string
  readonly path: string
  readonly headers: Record<string, string>
  readonly body: string
}

/** Opens a scenario of the vectors, or a script of one test. */
async function open(script: string | object): Promise<{ url: string; received: () => Promise<Received[]> }> {
  const [path, body] = typeof script === 'string' ? [`scenarios/${script}`] : ['scripts', JSON.stringify(script)]
  const reply = await fetch(`${server.url}/${path}`, { method: 'POST', body })
  const { url, received } = (await reply.json()) as { url: string; received: string }
  return { url, received: async () => (await (await fetch(received)).json()) as Received[] }
}

const tokenPath = '/api/v1/connect/auth/token'

describe('a conversation', () => {
  test.for(vectors('scenarios').scenarios as Scenario[])('$name', async scenario => {
    const { url, received } = await open(scenario.id)
    const { waits, advance, world } = testWorld()
    const log: LogRecord[] = []
    const { expected } = scenario
    const outcome = await settled(async () => {
      const options = { ...milliseconds(scenario.options), logger: (record: LogRecord) => void log.push(record) }
      const client = await clientOf(url, options, { waits, advance, world })
      const results = []
      for (const call of scenario.calls) {
        advance(call.advance ?? 0)
        const once = async () => collected(await invoke(client, call.call, call.arguments, milliseconds(call.options)))
        results.push(...(await Promise.all(Array.from({ length: scenario.concurrent ?? 1 }, once))))
      }
      if (expected.lastResponse) expect(client.lastResponse).toMatchObject(expected.lastResponse)
      if (expected.lastResponse) expect(responseOf(results[0] as object)).toMatchObject(expected.lastResponse)
      return results
    })
    if (expected.error) expectError(outcome, expected.error)
    else for (const result of outcome as unknown[]) expect(result ?? null).toEqual(expected.result)
    expect(waits).toEqual(expected.waits)
    expectRequests(await received(), expected)
    expectLog(log, await received())
  })
})

/** The outcome of work: what it gives, or what it throws. */
const settled = (work: () => Promise<unknown>): Promise<unknown> => work().catch((error: unknown) => error)

function expectError(thrown: unknown, { class: name, ...facts }: NonNullable<Expected['error']>): void {
  expect(thrown).toBeInstanceOf(ServiceError)
  expect(thrown).toMatchObject({ name, ...facts })
  expect(String(thrown) + JSON.stringify(thrown)).not.toMatch(/secret-of|token-\d/)
}

function expectRequests(received: readonly Received[], expected: Expected): void {
  if (expected.requests) expect(received.map(({ method, path }) => `${method} ${path}`)).toEqual(expected.requests)
  const calls = received.filter(({ path }) => path !== tokenPath)
  if (expected.tokenRequests) expect(received.length - calls.length).toBe(expected.tokenRequests)
  if (expected.tokens)
    expect(calls.map(({ headers }) => headers['authorization'])).toEqual(expected.tokens.map(each => `Bearer ${each}`))
  const keys = new Set(calls.map(({ headers }) => headers['idempotency-key']))
  if (expected.sameKey !== undefined) expect(keys.size === 1).toBe(expected.sameKey)
  if (expected.bodies) expect(calls.map(({ body }) => JSON.parse(body))).toEqual(expected.bodies)
}

/** One record per request, which tells nothing but what it may. */
function expectLog(log: readonly LogRecord[], received: readonly Received[]): void {
  expect(log.length).toBe(received.length)
  const names = ['attempt', 'durationMs', 'error', 'method', 'path', 'requestId', 'status']
  for (const record of log) expect(Object.keys(record).sort()).toEqual(names)
  expect(JSON.stringify(log)).not.toMatch(/secret-of|token-\d|CM-|whs_1|Ngọc/)
}

interface Scenario {
  readonly id: string
  readonly name: string
  readonly options?: Record<string, unknown>
  readonly calls: readonly {
    readonly call: string
    readonly arguments: Record<string, unknown>
    readonly options?: Record<string, unknown>
    readonly advance?: number
  }[]
  readonly concurrent?: number
  readonly expected: Expected
}

interface Expected {
  readonly requests: readonly string[] | null
  readonly waits: readonly number[]
  readonly result?: unknown
  readonly error?: { readonly class: string } & Record<string, unknown>
  readonly tokens?: readonly string[]
  readonly tokenRequests?: number
  readonly sameKey?: boolean
  readonly bodies?: readonly unknown[]
  readonly lastResponse?: Record<string, unknown>
}

describe('a caller who gives up', () => {
  test('ends a call with the reason of the signal, and nothing is sent again', async () => {
    const { url, received } = await open({ replies: [{ action: 'silent' }] })
    const client = await clientOf(url)
    const controller = new AbortController()
    const call = client.tokens.introspect({ signal: controller.signal })
    while ((await received()).length < 2) await null
    controller.abort(new Error('enough'))
    await expect(call).rejects.toThrow('enough')
    expect((await received()).length).toBe(2)
  })

  test('before the call sends nothing', async () => {
    const { url, received } = await open('plain')
    const client = await clientOf(url)
    await expect(client.tokens.introspect({ signal: AbortSignal.abort(new Error('early')) })).rejects.toThrow('early')
    expect((await received()).length).toBe(1)
  })

  test('ends the wait for a retry', async () => {
    const { url, received } = await open('retries-run-out')
    const controller = new AbortController()
    const { world } = testWorld()
    const sleep: World['sleep'] = async (_, signal) => {
      controller.abort(new Error('no patience'))
      signal?.throwIfAborted()
    }
    const client = await clientOf(url, {}, { ...testWorld(), world: { ...world, sleep } })
    await expect(client.tokens.introspect({ signal: controller.signal })).rejects.toThrow('no patience')
    expect((await received()).length).toBe(2)
  })

  test('of a token that many wait for leaves the others their token', async () => {
    const { url } = await open('plain')
    const { advance, ...others } = testWorld()
    const client = await clientOf(url, {}, { advance, ...others })
    advance(3600)
    const controller = new AbortController()
    const [impatient, patient] = [client.tokens.introspect({ signal: controller.signal }), client.tokens.introspect()]
    controller.abort(new Error('enough'))
    await expect(impatient).rejects.toThrow('enough')
    expect(await patient).toEqual({ active: true })
  })
})

test('a logger that throws does not break a call', async () => {
  const { url } = await open('plain')
  const logger = () => {
    throw new Error('disk full')
  }
  expect(await (await clientOf(url, { logger })).tokens.introspect()).toEqual({ active: true })
})

test('paths are logged with placeholders', async () => {
  const { url } = await open('plain')
  const paths: string[] = []
  const client = await clientOf(url, { logger: ({ path }) => void paths.push(path) })
  await client.patients.getSummary('CM-TQYE-6SRK-YQ6S')
  await client.fhir.patientSearch('CM-TQYE-6SRK-YQ6S', 'Condition')
  await client.fhir.read('Patient', 'abc')
  await client.healthIds.verify('anything')
  await client.request('GET', '/api/v1/connect/patient/cm-tqye-6srk-yq6s/records?type=all')
  await client.request('GET', '/api/fhir/R4/Patient/abc/_history/2')
  expect(paths.slice(1)).toEqual([
    '/api/v1/sdk/patients/{health_id}/summary',
    '/api/v1/sdk/patients/{health_id}/fhir/Condition',
    '/api/fhir/R4/Patient/{id}',
    '/api/v1/connect/patients/verify/{health_id}',
    '/api/v1/connect/patient/{health_id}/records',
    '/api/fhir/R4/Patient/{id}/_history/{id}',
  ])
})

test('an error of a transport of its own is told without its text', async () => {
  const { url } = await open('plain')
  const transport = () => Promise.reject(new Error('POST with secret-of-client-1 failed'))
  const thrown = await clientOf(url, { transport, maxRetries: 0 }).catch((error: unknown) => error)
  expect(thrown).toBeInstanceOf(TransportError)
  expect(JSON.stringify(thrown) + String(thrown) + (thrown as Error).stack).not.toContain('secret-of')
})

test('a connection that is refused is told by its code', async () => {
  await expect(clientOf('http://127.0.0.1:1', { maxRetries: 0 })).rejects.toThrow(/ECONNREFUSED|bad port|connection/)
})

test('what is told of a response is shown whole, in JSON and on a terminal', async () => {
  const headers = { 'x-request-id': 'req-00000001', 'ratelimit-policy': '"a";q=9;w=1', ratelimit: '"a";r=8;t=1' }
  const { url } = await open({ replies: [{ status: 200, headers, body: {} }] })
  const client = await clientOf(url)
  await client.tokens.introspect()
  const rateLimit = { limit: 9, remaining: 8, reset: 1 }
  const whole = { status: 200, requestId: 'req-00000001', rateLimit, retries: 0, replayed: false }
  expect(JSON.parse(JSON.stringify(client.lastResponse))).toEqual(whole)
  expect(inspect(client.lastResponse)).toBe(inspect(whole))
})

test('a client shown on a terminal or as JSON shows no secret and no token', async () => {
  const { url } = await open('plain')
  const client = await clientOf(url)
  await client.tokens.introspect()
  expect(inspect(client, { depth: 9, showHidden: true }) + JSON.stringify(client)).not.toMatch(/secret-of|token-\d/)
})
