// The samples of the console: each operation's call for curl and with the client libraries is code that is right, whatever is typed.
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import description from '../../../docs/openapi.json' with { type: 'json' }
import { type Description, type Operation, operationsOf } from '../../../src/api/portal/console/operations.ts'
import { laidOut } from '../../../web/json-text.js'
import { addressOf, type Call, headersIn, samplesOf } from '../../../web/samples.js'

const run = promisify(execFile)
const root = join(import.meta.dirname, '../../..')
const operations = operationsOf(description as unknown as Description)

const callOf = (operation: Operation, more: Partial<Call> = {}): Call => {
  const { method, path, proof, fixed, fields, body, library } = operation
  const given = (place: string) =>
    fields.filter(each => each.in === place && each.sample !== '').map(each => [each.name, each.sample] as const)
  return {
    ...{ method, path, proof, baseUrl: 'https://fhir.example.org', environment: 'sandbox', headers: [], library },
    ...{
      values: { ...fixed, ...Object.fromEntries(given('path')) },
      query: [...given('query'), ...new URLSearchParams(operation.more)],
    },
    ...(body && { body: body.sample, contentType: body.types[0] }),
    ...more,
  }
}

const named = (id: string): Operation => operations.find(each => each.id === id)!

/** Texts that a language might read as something else. */
const hostile = [`it's "so" $HOME \`id\` \\ \\' %s`, 'line\nnext \u2028 é 😀', `'; rm -rf / #`, '{$x} <?= 1 ?> {{y}}']

const calls: readonly Call[] = [
  ...operations.map(each => callOf(each)),
  ...operations.filter(each => each.body && !each.body.isRequired).map(each => callOf(each, { body: undefined })),
  callOf(named('verifyHealthId'), { headers: [['Idempotency-Key', 'key-1']] }),
  callOf(named('patientRecords'), {
    query: [
      ['type', 'vitals'],
      ['limit', '5'],
    ],
    headers: [['Idempotency-Key', 'k']],
  }),
  callOf(named('patientRecords'), { headers: [['Idempotency-Key', 'k']] }),
  callOf(named('createWebhookSubscription'), {
    body: JSON.stringify({
      callback_url: 'https://a.example',
      subscribed_events: ['consent.revoked'],
      description: hostile[0],
    }),
    headers: [['Idempotency-Key', 'k']],
  }),
  callOf(named('createWebhookSubscription'), { headers: [['Idempotency-Key', 'k']] }),
  callOf(named('rotateWebhookSecret'), { body: undefined, headers: [['Idempotency-Key', 'k']] }),
  callOf(named('searchType'), {
    query: [
      ['name', hostile[0]!],
      ['date', 'ge2026'],
      ['date', 'lt2027'],
    ],
  }),
  callOf(named('searchType'), { environment: 'local' }),
  ...hostile.map(text =>
    callOf(named('pushLabResult'), {
      body: JSON.stringify({ health_id: 'CM-TQYE-6SRK-YQ6S', test_name: text, result_value: text }),
    }),
  ),
  ...hostile.map(text =>
    callOf(named('create'), { body: JSON.stringify({ [text]: [text, null, true, 1.5, [], {}, { [text]: {} }] }) }),
  ),
]

test('every operation of Connect, SDK, Bridge and FHIR has its samples', () => {
  expect(operations.length).toBeGreaterThan(100)
  for (const operation of operations) {
    const { curl, typescript, python, php } = samplesOf(callOf(operation))
    expect([operation.id, curl.startsWith('curl ')]).toEqual([operation.id, true])
    const isForm = /_search$|\$import$/.test(operation.path)
    const isSent = operation.proof === 'token' && !isForm
    const written = [typescript, python, php].map(each => each !== undefined)
    expect([operation.id, ...written]).toEqual([operation.id, isSent, isSent, isSent])
  }
})

test('operations are called by the methods that the libraries have for them, others by request', () => {
  const written = (id: string, more: Partial<Call> = {}) => samplesOf(callOf(named(id), more)).typescript
  expect(written('verifyHealthId')).toContain("client.healthIds.verify('CM-TQYE-6SRK-YQ6S')")
  expect(written('searchCondition')).toContain("client.fhir.search('Condition')")
  expect(
    written('listReconciledPayments', {
      query: [
        ['date', '2026-01-31'],
        ['limit', '5'],
      ],
    }),
  ).toContain("client.payments.reconciliation('2026-01-31', { limit: 5 })")
  expect(written('create')).toContain("client.request('POST', '/api/fhir/R4/Patient', {")
  // More than the method takes.
  expect(written('verifyHealthId', { query: [['x', '1']] })).toContain(
    "client.request('GET', '/api/v1/connect/patients/verify/",
  )
  const python = samplesOf(callOf(named('listWebhookAttempts'), { query: [['event_id', 'evt_1']] })).python
  expect(python).toContain('client.webhooks.attempts("whs_1", event_id="evt_1")')
  const php = samplesOf(callOf(named('listPharmacyStock'), { query: [['facility_id', 'ward-7']] })).php
  expect(php).toContain("$client->inventory->pharmacyStock(facilityId: 'ward-7')")
})

test.each([
  ['a body that is no JSON', { body: '{' }],
  ['a form', { body: 'a=b', contentType: 'application/x-www-form-urlencoded' }],
  ['headers that the libraries set themselves', { headers: [['Accept', 'text/plain']] as const }],
  ['the credentials of an agent', { proof: 'agent' }],
] as const)('%s has no sample with the libraries', (_, more) => {
  expect(Object.keys(samplesOf(callOf(named('create'), more)))).toEqual(['curl'])
})

test('values are part of an address as they are', () => {
  expect(addressOf({ path: '/a/{x}/$y', values: { x: '/ä?' }, query: [['q&', '= ']] })).toBe(
    '/a/%2F%C3%A4%3F/$y?q%26=%3D%20',
  )
  expect(headersIn(' If-Match:  W/"1" \nno header\nx:\n')).toEqual([
    ['If-Match', 'W/"1"'],
    ['x', ''],
  ])
})

test('JSON is laid out without changing a number or a text', () => {
  expect(laidOut('{"a":1.00,"b":[{"c":"x: {,} \\"y\\""},[],{}],"n":12345678901234567890}')).toBe(`{
  "a": 1.00,
  "b": [
    {
      "c": "x: {,} \\"y\\""
    },
    [],
    {}
  ],
  "n": 12345678901234567890
}`)
  expect([laidOut('1'), laidOut('not {json'), laidOut('[]')]).toEqual(['1', 'not {json', '[]'])
})

describe('the samples are read by', () => {
  test('a shell, which gives curl exactly the call', async () => {
    const script = `curl() { printf '%s\\0' "$@"; printf '\\1\\0'; }\nTOKEN=t CLIENT_ID=c CLIENT_SECRET=s AGENT_ID=a AGENT_KEY=k\n`
    const { stdout } = await run('bash', ['-c', script + calls.map(each => samplesOf(each).curl).join('\n')], {
      maxBuffer: 1e7,
    })
    const all = stdout.split('\x01\0').slice(0, -1)
    expect(all).toHaveLength(calls.length)
    for (const [index, call] of calls.entries()) {
      const given = all[index]!.split('\0').slice(0, -1)
      expect(given).toContain(call.baseUrl + addressOf(call))
      expect([call.method, given.includes('-X') ? given[given.indexOf('-X') + 1] : 'GET']).toEqual([
        call.method,
        call.method,
      ])
      expect(given.includes('--data-binary') ? given[given.indexOf('--data-binary') + 1] : undefined).toBe(call.body)
      if (call.proof === 'token') expect(given).toContain('Authorization: Bearer t')
    }
  })

  test('TypeScript, with the types of the library', async () => {
    const folder = await mkdtemp(join(root, 'node_modules/.samples-'))
    try {
      const written = calls.map(each => samplesOf(each).typescript).filter(each => each !== undefined)
      await Promise.all(written.map((text, index) => writeFile(join(folder, `sample-${index}.ts`), text)))
      const compilerOptions = {
        module: 'esnext',
        moduleResolution: 'bundler',
        target: 'es2024',
        strict: true,
        noEmit: true,
        allowImportingTsExtensions: true,
        skipLibCheck: true,
        types: ['node'],
        lib: ['es2024', 'dom', 'dom.iterable'],
        erasableSyntaxOnly: true,
        paths: { 'health-interop': ['../../clients/typescript/src/index.ts'] },
      }
      await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }))
      const { stdout } = await run(join(root, 'node_modules/.bin/tsc'), ['-p', folder]).catch(
        (error: { stdout: string }) => error,
      )
      expect(stdout.replaceAll(/sample-(\d+)\.ts/g, (_, index: string) => `\n${written[Number(index)]}\n`)).toBe('')
    } finally {
      await rm(folder, { recursive: true })
    }
  })

  const program = (name: string): string | undefined =>
    (process.env['PATH'] ?? '')
      .split(':')
      .map(each => join(each, name))
      .find(existsSync)

  test.skipIf(!program('python3'))('Python', async () => {
    const texts = JSON.stringify(calls.map(each => samplesOf(each).python).filter(each => each !== undefined))
    const check = 'import ast, json, sys\nfor text in json.load(sys.stdin): ast.parse(text)'
    const child = run('python3', ['-c', check])
    child.child.stdin!.end(texts)
    expect((await child).stderr).toBe('')
  })

  test.skipIf(!program('php'))('PHP', async () => {
    const texts = JSON.stringify(calls.map(each => samplesOf(each).php).filter(each => each !== undefined))
    const check = 'foreach (json_decode(stream_get_contents(STDIN)) as $text) token_get_all($text, TOKEN_PARSE);'
    const child = run('php', ['-r', check])
    child.child.stdin!.end(texts)
    const { stdout, stderr } = await child
    expect(stdout + stderr).toBe('')
  })
})
