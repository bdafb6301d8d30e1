import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { eventTypes } from '../../src/events/event-types.ts'
import { type Service, startService } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

let service: Service
let text: string
// biome-ignore lint/suspicious/noExplicitAny: the test looks freely into the document
let document: any

beforeAll(async () => {
  service = await startService()
  text = await (await fetch(`${service.url}/openapi.json`)).text()
  document = JSON.parse(text)
})

test('the description is OpenAPI 3.1.0 of interface version 1.2.0', () => {
  expect({ openapi: document.openapi, version: document.info.version }).toEqual({ openapi: '3.1.0', version: '1.2.0' })
})

test('redocly lint has nothing to object to by its recommended rules', async () => {
  const folder = await temporaryFolder('openapi')
  await writeFile(join(folder, 'openapi.json'), text)
  expect(await redocly(folder)).toEqual({ code: 0, problems: [] })
})

/** Runs the real command; it neither looks for updates nor reports its use. */
function redocly(folder: string): Promise<{ code: number; problems: string[] }> {
  const command = resolve(import.meta.dirname, '../../node_modules/.bin/redocly')
  const env = { PATH: process.env['PATH'], REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }
  return new Promise(done => {
    execFile(command, ['lint', 'openapi.json', '--format=json'], { cwd: folder, env }, (error, out) => {
      const { problems } = JSON.parse(out.slice(out.indexOf('{'))) as {
        problems: { ruleId: string; message: string; location: { pointer?: string }[] }[]
      }
      done({
        code: error ? 1 : 0,
        problems: problems.map(problem => `${problem.ruleId}: ${problem.message} at ${problem.location[0]?.pointer}`),
      })
    })
  })
}

/** Pages are for people. */
const operations = () => service.application.routes.filter(({ page }) => !page)

test('every route that is served is described, and nothing else', () => {
  const described = Object.entries(document.paths as Record<string, object>).flatMap(([path, methods]) =>
    Object.keys(methods).map(method => `${method.toUpperCase()} ${path}`),
  )
  const served = operations().map(route => `${route.method} ${route.path}`)
  expect(described.sort()).toEqual(served.sort())
})

test('every type of events is described as a webhook', () => {
  expect(Object.keys(document.webhooks)).toEqual(Object.keys(eventTypes))
  const { schema } = document.webhooks['lab_result.released'].post.requestBody.content['application/json']
  const { properties } = document.components.schemas[schema.$ref.split('/').at(-1)]
  expect(Object.keys(properties.data.properties)).toEqual(
    expect.arrayContaining(['health_id', 'lab_result_id', 'test_name', 'flagged', 'facility_id']),
  )
})

test('every POST takes an Idempotency-Key, and nothing else does', () => {
  const { parameters } = document.components
  const keyed = Object.entries(document.paths as Record<string, Record<string, { parameters: { $ref?: string }[] }>>)
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { parameters: all }]) => ({ path, method, all })),
    )
    .filter(({ all }) => all.some(({ $ref }) => parameters[$ref?.split('/').at(-1) ?? '']?.name === 'Idempotency-Key'))
  const posts = operations().filter(route => route.method === 'POST')
  expect(keyed.map(each => `${each.method.toUpperCase()} ${each.path}`).sort()).toEqual(
    posts.map(route => `POST ${route.path}`).sort(),
  )
})

test('an operation names the statuses that it may refuse with, as they follow from its route', () => {
  const statuses = (method: string, path: string) =>
    Object.keys(document.paths[path][method].responses)
      .map(Number)
      .filter(status => status >= 400)
  const always = [400, 429, 500, 503]
  const fhir = '/api/fhir/R4'
  expect(statuses('get', '/healthz')).toEqual(always)
  expect(statuses('get', `${fhir}/{type}/{id}`)).toEqual(
    expect.arrayContaining([...always, 401, 403, 404, 406, 410, 416, 422]),
  )
  expect(statuses('put', `${fhir}/{type}/{id}`)).toEqual(
    expect.arrayContaining([...always, 401, 403, 404, 405, 406, 408, 409, 410, 412, 413, 415]),
  )
  expect(statuses('post', `${fhir}/Patient/$match`)).not.toContain(409)
  const lists = statuses('get', '/api/v1/connect/webhooks/subscriptions')
  expect([lists.includes(404), lists.includes(410), lists.includes(413)]).toEqual([false, false, false])
  expect(statuses('delete', '/api/v1/connect/webhooks/subscriptions/{subscription_id}')).toContain(404)
})

test('every operation has an id of its own, a summary and a tag that is explained', () => {
  const operations = Object.values(
    document.paths as Record<string, Record<string, { operationId: string; summary: string; tags: string[] }>>,
  ).flatMap(path => Object.values(path))
  expect(new Set(operations.map(operation => operation.operationId)).size).toBe(operations.length)
  const tags = new Set(document.tags.map((tag: { name: string }) => tag.name))
  expect(operations.filter(operation => !operation.summary || !operation.tags.every(tag => tags.has(tag)))).toEqual([])
})
