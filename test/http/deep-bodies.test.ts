// However deeply a body is nested, and in whatever, no operation of the description fails by it.
import { beforeAll, expect, test } from 'vitest'
import { bodyBounds } from '../../src/lib/json-meter.ts'
import { type Service, startService } from '../support/service.ts'
import { type Callers, createCallers } from './bad-input/callers.ts'
import { type Operation, operationsOf } from './bad-input/description.ts'
import { store } from './bad-input/stored.ts'
import { createWire } from './bad-input/wire.ts'
import { mayCall } from './bad-input/world.ts'

let service: Service
let operations: Operation[]
let callers: Callers

beforeAll(async () => {
  service = await startService()
  await service.application.prepare()
  const document = await (await fetch(`${service.url}/openapi.json`)).json()
  operations = operationsOf(document).filter(each => each.body && each.method !== 'GET')
  callers = await createCallers(service, (await store(service)).patient)
}, 60_000)

const lists = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels)
const objects = (levels: number): string => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`
const mixed = (levels: number): string => `${'{"extension":['.repeat(levels / 2)}{"url":"x"}${']}'.repeat(levels / 2)}`
const { depth } = bodyBounds

const bodies: readonly [string, string][] = [
  ['lists without an end', '['.repeat(5000)],
  ['lists within the bound', lists(depth)],
  ['objects within the bound', objects(depth)],
  ['both, within the bound', mixed(depth - 2)],
  ['a resource with extensions in each other', `{"resourceType":"Basic","code":${mixed(depth - 4)}}`],
  ['items with lists', `{"items":${lists(depth - 2)},"resourceType":"Parameters","parameter":${lists(depth - 2)}}`],
  ['lists beyond it', lists(depth + 1)],
  ['objects beyond it', objects(20_000)],
  ['both, beyond it', mixed(20_000)],
]

test.each(bodies)(
  '%s: no operation answers with a status of 500 or above',
  async (_name, body) => {
    const wire = createWire(service.url)
    const failed: string[] = []
    for (const operation of operations) {
      const { method, path } = operation
      const caller = mayCall(operation)[0]!
      if (caller === 'patient' || caller === 'user') await callers.renew(caller)
      const type = operation.body!.types.find(each => each.includes('json')) ?? 'application/json'
      const headers = { 'content-type': type, ...callers.proofs[caller] }
      const target = path.replace('{type}', 'Basic').replaceAll(/\{\w+\}/g, 'deep')
      const { status, text } = await wire.send({
        ...{ method, target, headers, caller, isStray: false },
        body: Buffer.from(body),
      })
      if (status >= 500 || status === 0) failed.push(`${method} ${path}: ${status} ${text.slice(0, 200)}`)
    }
    wire.close()
    expect(operations.length).toBeGreaterThan(50)
    expect(failed).toEqual([])
  },
  60_000,
)

test('what is nested too deeply is refused before anything else looks at it, with the bound', async () => {
  const reply = await fetch(`${service.url}/api/v1/connect/pharmacy/stock`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${service.token}`, 'content-type': 'application/json' },
    body: '['.repeat(5000),
  })
  expect(reply.status).toBe(400)
  expect(await reply.json()).toMatchObject({
    error_code: 'MALFORMED_REQUEST',
    message: `The JSON is nested deeper than ${depth} levels.`,
  })
})

test('a patch makes no resource that is nested too deeply out of one that is not', async () => {
  const address = `${service.url}/api/fhir/R4/Basic/copied`
  const headers = { authorization: `Bearer ${service.token}` }
  const basic = { resourceType: 'Basic', id: 'copied', code: { text: 'x' }, extension: [{ url: 'urn:x:a' }] }
  const stored = await fetch(address, {
    method: 'PUT',
    headers: { ...headers, 'content-type': 'application/fhir+json' },
    body: JSON.stringify({ ...basic, extension: [{ url: 'urn:x:a', valueString: 'b' }] }),
  })
  expect(stored.status).toBe(201)
  for (const op of ['copy', 'move']) {
    const path = (levels: number) => `/extension${'/0/extension'.repeat(levels)}`
    const operations = Array.from({ length: 200 }, (_, index) =>
      op === 'copy'
        ? { op, from: '/extension', path: path(Math.min(index + 1, 40)) }
        : [
            { op: 'move', from: '/extension', path: '/code' },
            { op: 'add', path: '/extension', value: [{}] },
            { op: 'move', from: '/code', path: '/extension/0/extension' },
          ],
    ).flat()
    const { status } = await fetch(address, {
      method: 'PATCH',
      headers: { ...headers, 'content-type': 'application/json-patch+json' },
      body: JSON.stringify(operations),
    })
    expect(status).toBe(422)
  }
})
