// Bulk import through the door: files in the request, and files that are fetched.

import { existsSync, readdirSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { beforeAll, describe, expect, test } from 'vitest'
import { ended, linesOf, manifestOf, namesIn, ordered } from '../../../support/bulk.ts'
import { onCleanup } from '../../../support/cleanup.ts'
import { type Answer, type CallOptions, fhirCaller, issueOf } from '../../../support/fhir.ts'
import { until } from '../../../support/process.ts'
import { type Service, startService } from '../../../support/service.ts'
import { databaseOf, pendingIn } from '../../../support/trail.ts'

let service: Service
let other: Service
let files: { url: string; requests: string[] }
const call = fhirCaller(() => service)
const there = fhirCaller(() => other)
const ndjson = { 'content-type': 'application/fhir+ndjson' }
const text = (...lines: unknown[]): string =>
  lines.map(line => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n')
const patient = (id: string, more: object = {}) => ({ resourceType: 'Patient', id, ...more })

const tokenWith = (...scopes: string[]) =>
  service.application.identity.tokens.mint(
    { clientId: 'importer', organizationId: 'elsewhere', consentExempt: true },
    scopes,
  )

interface Outcome {
  readonly count: number
  readonly extension: { created: number; updated: number; unchanged: number; failed: number }
  /** Place and words of everything that was not stored. */
  readonly problems: string[]
}

const outcomesOf = async (manifest: Answer['body'], token = service.token) => {
  const errors = await linesOf(manifest.error, token)
  const problems = errors.map(each => each.issue[0].diagnostics as string).sort()
  return { manifest, outputs: manifest.output as Outcome[], problems }
}

async function imported(body: string | Uint8Array, options: CallOptions = {}): Promise<Outcome> {
  const manifest = await manifestOf(call, '$import', { body, ...options, headers: { ...ndjson, ...options.headers } })
  const { outputs, problems } = await outcomesOf(manifest, options.token)
  return { ...outputs[0]!, problems }
}

beforeAll(async () => {
  files = await serveFiles()
  service = await startService({
    BULK_IMPORT_ORIGINS: `${files.url},https://files.example.org`,
    BULK_IMPORT_BYTES: '2000000',
  })
  other = await startService({ MAX_BODY_BYTES: '1000000' })
})

/** A file server on this machine: what it serves is in the address. */
async function serveFiles(): Promise<{ url: string; requests: string[] }> {
  const requests: string[] = []
  const server = createServer((request, response) => {
    const url = new URL(request.url!, 'http://x')
    requests.push(url.pathname)
    const to = url.searchParams.get('to')
    if (to) return response.writeHead(302, { location: to }).end()
    if (url.pathname === '/absent.ndjson') return response.writeHead(404).end()
    if (url.pathname === '/huge.ndjson') return response.end(Buffer.alloc(2_000_001, 'x'))
    if (url.pathname === '/cut.ndjson')
      return response.writeHead(200, { 'content-length': '100' }).end('{', () => response.destroy())
    const body = text(patient(url.searchParams.get('id') ?? 'fetched'), patient('fetched-2'))
    response.end(url.pathname.endsWith('.gz') ? gzipSync(body) : body)
  })
  await new Promise<void>(done => server.listen(0, '127.0.0.1', done))
  onCleanup(() => new Promise(done => server.close(() => done())))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests }
}

describe('a file in the request', () => {
  test('is stored, under its ids and under new ones, and storing it again changes nothing', async () => {
    const body = text(patient('i1'), { resourceType: 'Basic', code: { text: 'without an id' } }, '', patient('i2'))
    const extension = { created: 3, updated: 0, unchanged: 0, failed: 0 }
    expect(await imported(body)).toMatchObject({ count: 3, extension, problems: [] })
    expect(await imported(body)).toMatchObject({ count: 3, extension: { ...extension, created: 0, unchanged: 3 } })
    expect((await call('GET', 'Patient/i2')).body.meta.versionId).toBe('1')
    expect((await call('GET', 'Basic')).body.entry).toHaveLength(1)
  })

  test('may be gzipped, with a header that says so or without', async () => {
    const body = gzipSync(text(patient('z1')))
    expect((await imported(body)).extension.created).toBe(1)
    expect((await imported(body, { headers: { 'content-encoding': 'gzip' } })).extension.unchanged).toBe(1)
  })

  test('is named in the manifest with its counts, and what was read of it is gone from the disk', async () => {
    const address = await ordered(call, '$import', { body: text(patient('m1')), headers: ndjson })
    const { body, headers } = await ended(call, address)
    expect(body).toMatchObject({
      request: `${service.url}/api/fhir/R4/$import`,
      requiresAccessToken: true,
      output: [{ input: 'body', count: 1, extension: { created: 1, updated: 0, unchanged: 0, failed: 0 } }],
      error: [],
    })
    expect(Date.parse(body.transactionTime)).toBeGreaterThan(0)
    expect(headers.get('expires')).toBeTruthy()
    const folder = join(service.dataDir, 'bulk', /bulk\/([^/]+)/.exec(address)![1]!)
    expect(readdirSync(folder)).toEqual([])
    expect((await call('DELETE', address)).status).toBe(202)
    expect(existsSync(folder)).toBe(false)
    expect((await call('GET', address)).status).toBe(404)
  })

  test('may hold Bundles, which are stored as they are', async () => {
    const entry = [{ request: { method: 'DELETE', url: 'Patient/i1' } }]
    const bundle = { resourceType: 'Bundle', id: 'kept', type: 'transaction', entry }
    expect((await imported(text(bundle))).extension.created).toBe(1)
    expect((await call('GET', 'Bundle/kept')).body.entry).toEqual(entry)
    expect((await call('GET', 'Patient/i1')).status).toBe(200)
  })

  test('the later of two lines with one id counts, and conditional references find what comes later', async () => {
    const body = text(
      patient('twice', { gender: 'male' }),
      {
        resourceType: 'Encounter',
        id: 'waits',
        status: 'finished',
        class: { code: 'AMB' },
        participant: [{ individual: { reference: 'Practitioner?identifier=http://x|late' } }],
      },
      patient('twice', { gender: 'female' }),
      { resourceType: 'Practitioner', id: 'late', identifier: [{ system: 'http://x', value: 'late' }] },
    )
    expect(await imported(body)).toMatchObject({ extension: { created: 3, updated: 1, failed: 0 }, problems: [] })
    expect((await call('GET', 'Patient/twice')).body.gender).toBe('female')
    expect((await call('GET', 'Encounter/waits')).body.participant[0].individual.reference).toBe('Practitioner/late')
  })

  test('no line overtakes an earlier one of its id that waits for what it refers to', async () => {
    const encounter = (status: string, reference: string) => ({
      ...{ resourceType: 'Encounter', id: 'overtaken', status, class: { code: 'AMB' } },
      participant: [{ individual: { reference } }],
    })
    const body = text(
      encounter('planned', 'Practitioner?identifier=http://x|later'),
      encounter('finished', 'Practitioner/later'),
      { resourceType: 'Practitioner', id: 'later', identifier: [{ system: 'http://x', value: 'later' }] },
    )
    expect(await imported(body)).toMatchObject({ extension: { created: 2, updated: 1, failed: 0 }, problems: [] })
    expect((await call('GET', 'Encounter/overtaken')).body.status).toBe('finished')
  })

  test('a line that waits is stored if the later one of its id cannot be', async () => {
    const encounter = (status: string, reference: string) => ({
      ...{ resourceType: 'Encounter', id: 'outlasted', status, class: { code: 'AMB' } },
      participant: [{ individual: { reference } }],
    })
    const body = text(
      encounter('planned', 'Practitioner?identifier=http://x|latest'),
      encounter('over', 'Practitioner/latest'),
      { resourceType: 'Practitioner', id: 'latest', identifier: [{ system: 'http://x', value: 'latest' }] },
    )
    const { extension, problems } = await imported(body)
    expect(extension).toEqual({ created: 2, updated: 0, unchanged: 0, failed: 1 })
    expect(problems[0]).toMatch(/^body:2: .*status/)
    expect((await call('GET', 'Encounter/outlasted')).body.status).toBe('planned')
  })
})

describe('what cannot be stored', () => {
  test('is reported with its line, and the rest goes on', async () => {
    const lines = [
      patient('ok-1'),
      '{"resourceType":"Patient","id":',
      patient('bad', { gender: 'unheard-of' }),
      '[1]',
      '{"resourceType":"Patiens","id":"x"}',
      patient('bad id!'),
      'null',
      `{"resourceType":"Patient","id":"deep","extension":${'['.repeat(5000)}${']'.repeat(5000)}}`,
      {
        resourceType: 'Encounter',
        id: 'dangling',
        status: 'finished',
        class: { code: 'AMB' },
        subject: { reference: 'Patient?identifier=nobody' },
      },
      patient('ok-2'),
    ]
    const body = Buffer.concat([
      Buffer.from(`${text(...lines)}\n`),
      Buffer.from([0x7b, 0xff, 0xfe, 0x0a]),
      Buffer.from(text(patient('ok-3'))),
    ])
    const { extension, problems } = await imported(body)
    expect(extension).toEqual({ created: 3, updated: 0, unchanged: 0, failed: 9 })
    expect(problems.map(each => Number(/^body:(\d+): ./.exec(each)![1])).sort((a, b) => a - b)).toEqual([
      2, 3, 4, 5, 6, 7, 8, 9, 11,
    ])
    expect(problems.find(each => each.startsWith('body:3:'))).toMatch(/gender.*unheard-of/)
    expect(problems.find(each => each.startsWith('body:5:'))).toBe('body:5: "Patiens" is not a resource type of R4')
    expect(problems.find(each => each.startsWith('body:6:'))).toMatch(/^body:6: "bad id!" is not an id: /)
    expect(problems.find(each => each.startsWith('body:11:'))).toBe('body:11: this is not valid UTF-8')
  })

  test('a line of 50 MB is passed over without being held', async () => {
    const body = Buffer.concat([
      Buffer.from(`${text(patient('before'))}\n{"resourceType":"Patient","id":"`),
      Buffer.alloc(50_000_000, 'x'),
      Buffer.from(`"}\n${text(patient('after'))}`),
    ])
    const manifest = await manifestOf(there, '$import', { body, headers: ndjson })
    const { outputs, problems } = await outcomesOf(manifest, other.token)
    expect(outputs[0]!.extension).toEqual({ created: 2, updated: 0, unchanged: 0, failed: 1 })
    expect(problems).toEqual(['body:2: the line is too long'])
  })

  test('types that the token does not open for writing are reported, line by line', async () => {
    const token = await tokenWith('system/Patient.cu')
    const { extension, problems } = await imported(
      text(patient('scoped'), { resourceType: 'Basic', code: { text: 'x' } }),
      { token },
    )
    expect(extension).toEqual({ created: 1, updated: 0, unchanged: 0, failed: 1 })
    expect(problems).toEqual(['body:2: the scopes do not permit writing Basic: system/Basic.u does'])
    const reader = await call('POST', '$import', {
      body: text(patient('x')),
      headers: ndjson,
      token: await tokenWith('system/*.rs'),
    })
    expect([reader.status, issueOf(reader.body).code]).toEqual([403, 'forbidden'])
  })

  test('a file beyond the limit is refused, whether it says its length or not, and leaves nothing behind', async () => {
    const count = () => readdirSync(join(service.dataDir, 'bulk')).length
    const before = count()
    const bomb = gzipSync(Buffer.alloc(2_000_001, ' '))
    for (const body of [bomb, gzipSync('x').subarray(0, 12)]) {
      const { status } = await call('POST', '$import', { body, headers: ndjson })
      expect(status).toBe(body === bomb ? 413 : 400)
    }
    expect(count()).toBe(before)
  })

  test('an empty file is an import of nothing; another kind of body is refused', async () => {
    expect((await imported('\n')).count).toBe(0)
    expect((await call('POST', '$import', { body: 'a,b', headers: { 'content-type': 'text/csv' } })).status).toBe(415)
  })
})

describe('files that are fetched', () => {
  const manifest = (...input: object[]) => ({ inputFormat: 'application/fhir+ndjson', input })

  test('come from an origin that is allowed, plain or gzipped, by manifest or Parameters', async () => {
    const input = [
      { type: 'Patient', url: `${files.url}/a.ndjson?id=f1` },
      { type: 'Patient', url: `${files.url}/b.ndjson.gz?id=f2` },
    ]
    const body = { ...manifest(...input), inputSource: 'https://source.example.org', storageDetail: { type: 'https' } }
    const first = await manifestOf(call, '$import', { body })
    expect((await outcomesOf(first)).outputs).toMatchObject([
      { inputUrl: input[0]!.url, input: 'a.ndjson', resourceType: 'Patient', count: 2 },
      { inputUrl: input[1]!.url, input: 'b.ndjson.gz', count: 2 },
    ])
    expect((await call('GET', 'Patient/f2')).body.meta.source).toBe('https://source.example.org')
    const parameter = [
      { name: 'inputFormat', valueString: 'application/fhir+ndjson' },
      {
        name: 'input',
        part: [
          { name: 'type', valueCode: 'Patient' },
          { name: 'url', valueUri: `${files.url}/c.ndjson?id=f3` },
        ],
      },
    ]
    await manifestOf(call, '$import', { body: { resourceType: 'Parameters', parameter } })
    expect((await call('GET', 'Patient/f3')).body.meta.source).toBeUndefined()
  })

  test('one that cannot be had is a problem of its own', async () => {
    const url = (path: string) => ({ url: `${files.url}${path}` })
    const elsewhere = encodeURIComponent('http://127.0.0.1:1/x.ndjson')
    const body = manifest(
      url('/absent.ndjson'),
      url('/huge.ndjson'),
      url('/cut.ndjson'),
      url(`/r.ndjson?to=${elsewhere}`),
      url(`/again.ndjson?to=/again.ndjson%3Fto=/x`),
      { type: 'Basic', ...url('/d.ndjson') },
      url('/e.ndjson?id=f4'),
    )
    const { outputs, problems } = await outcomesOf(await manifestOf(call, '$import', { body }))
    expect(outputs.map(each => [each.count, each.extension.failed])).toEqual([
      [0, 1],
      [0, 1],
      [0, 1],
      [0, 1],
      [2, 0],
      [0, 2],
      [2, 0],
    ])
    expect(problems).toEqual([
      `absent.ndjson:0: ${files.url} responded with 404 instead of the file.`,
      'cut.ndjson:0: The file is truncated or is not valid gzip.',
      'd.ndjson:1: this is a Patient, but the manifest declares the file as Basic',
      'd.ndjson:2: this is a Patient, but the manifest declares the file as Basic',
      'huge.ndjson:0: The file is larger than 2000000 bytes (BULK_IMPORT_BYTES).',
      'r.ndjson:0: Fetching files from http://127.0.0.1:1 is not permitted: the operator must add it to BULK_IMPORT_ORIGINS.',
    ])
  })

  test.each([
    ['https://elsewhere.example.org/x.ndjson', 403, /BULK_IMPORT_ORIGINS/],
    ['file:///etc/passwd', 403, /BULK_IMPORT_ORIGINS/],
    ['https://user:pass@files.example.org/x', 403, /user/],
    ['x.ndjson', 400, /absolute/],
  ])('%s is refused before anything is fetched', async (url, status, text) => {
    const before = files.requests.length
    const answer = await call('POST', '$import', { body: manifest({ url }) })
    expect([answer.status, files.requests.length]).toEqual([status, before])
    expect(issueOf(answer.body).diagnostics).toMatch(text)
  })

  test('a manifest that is none is refused with the member that is wrong', async () => {
    for (const [body, place] of [
      [{}, 'input'],
      [manifest(), 'input'],
      [{ ...manifest({ url: files.url }), inputFormat: 'text/csv' }, 'inputFormat'],
      [{ ...manifest({ url: files.url }), storageDetail: { type: 'aws-s3' } }, 'storageDetail'],
      [manifest({ type: 'Patiens', url: files.url }), 'input[0].type'],
    ] as const) {
      const answer = await call('POST', '$import', { body })
      expect([answer.status, issueOf(answer.body).expression]).toEqual([400, [place]])
    }
  })
})

test('what was exported can be imported elsewhere, and is the same there', async () => {
  const { output } = await manifestOf(call, '$export')
  const content = (await linesOf(output, service.token)).map(each => JSON.stringify(each))
  const manifest = await manifestOf(there, '$import', { body: content.join('\n'), headers: ndjson })
  expect((manifest as unknown as { output: Outcome[] }).output[0]!.count).toBe(content.length)
  const again = await manifestOf(there, '$export')
  const names = (await namesIn(again.output, other.token)).filter(name => !/\/(before|after)$/.test(name))
  expect(names).toEqual(await namesIn(output, service.token))
})

test('the audit trail tells each resource that an import stores, once and as what its client did, also after an outage', async () => {
  const database = await databaseOf(service)
  const token = await tokenWith('system/*.cruds')
  const lines = (from: number, to: number) =>
    text(...Array.from({ length: to - from }, (_, index) => patient(`told-${from + index}`)))
  await imported(lines(0, 450), { token })
  const parked = await call('POST', '$import', {
    body: lines(450, 700),
    token,
    headers: { ...ndjson, prefer: 'respond-async' },
  })
  expect(parked.status).toBe(202)
  await database.query('alter table audit_row add constraint shut check (false) not valid')
  await until('all are stored', async () => {
    const { rows } = await database.query(`select count(*)::int as count from resource where id like 'told-%'`)
    return rows[0].count === 700
  })
  await database.query('alter table audit_row drop constraint shut')
  await call('GET', 'Patient/told-1')
  await until('all are told', async () => (await pendingIn(database)) === 0)
  const { rows } = await database.query(
    `select count(*)::int, count(distinct resource_id)::int as ids, min(client_id) as client, min(organization_id) as organization,
       min(interaction) as interaction, bool_and(patients = array[resource_id]) as about
     from audit_event where resource_id like 'told-%' and action = 'U'`,
  )
  expect(rows).toEqual([
    { count: 700, ids: 700, client: 'importer', organization: 'elsewhere', interaction: 'update', about: true },
  ])
})
