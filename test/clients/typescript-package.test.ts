// The package of the TypeScript client library as a program gets it: its files, its types, its samples, and one whole story.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Running, run } from '../support/process.ts'
import { startStory, told } from './support/story.ts'
import { type Installed, installPackage } from './support/typescript-package.ts'
import { startReceiver } from './support/typescript-receiver.ts'
import { tell } from './support/typescript-story.ts'

let installed: Installed
beforeAll(async () => {
  installed = await installPackage()
})

type Package = typeof import('../../clients/typescript/src/index.ts')

const load = async (): Promise<Package> => (await import(join(installed.package, 'dist/esm/index.js'))) as Package

test('the package has code, types, a README, a licence and no dependencies', () => {
  expect(readdirSync(installed.package).sort()).toEqual(['LICENSE', 'README.md', 'dist', 'package.json'])
  expect(readdirSync(join(installed.package, 'dist')).sort()).toEqual(['cjs', 'esm'])
  const description = JSON.parse(readFileSync(join(installed.package, 'package.json'), 'utf8'))
  expect(Object.keys(description).filter(name => /dependencies/i.test(name))).toEqual([])
})

test('the README links to nothing that the package lacks', () => {
  const text = readFileSync(join(installed.package, 'README.md'), 'utf8')
  const targets = [...text.matchAll(/\]\(([^)#]+)/g)].map(([, target]) => target!)
  expect(targets.filter(target => !/^https:/.test(target) && !existsSync(join(installed.package, target)))).toEqual([])
})

test('publint finds nothing to better', async () => {
  expect(await installed.tool('publint', ['--strict', '--pack', 'false'], installed.package)).toContain('All good!')
})

test('every way of importing finds code and types', async () => {
  const [archive] = readdirSync(installed.program).filter(name => name.endsWith('.tgz'))
  expect(await installed.tool('attw', [archive!])).toContain('No problems found')
})

/** Runs a program of a few lines beside the package. */
async function runProgram(name: string, text: string): Promise<string> {
  writeFileSync(join(installed.program, name), text)
  return (await installed.tool('node', [name])).trim()
}

const check = `
const made = async () => {
  const { body, header } = await signTestPayload({ id: 'evt_1', type: 'consent.revoked' }, 'whsec_x')
  return (await parseEvent(body, header, 'whsec_x')).type
}
const refused = ServiceClient.create({}).catch(error => error instanceof ValidationError && error.errorCode)
Promise.all([made(), refused]).then(all => console.log(all.join(' ')))
`

test('an ES module imports it', async () => {
  const head = `import { ServiceClient, ValidationError } from 'health-interop'
import { parseEvent, signTestPayload } from 'health-interop/webhooks'`
  expect(await runProgram('program.mjs', head + check)).toBe('consent.revoked INVALID_OPTION')
})

test('a CommonJS module requires it', async () => {
  const head = `const { ServiceClient, ValidationError } = require('health-interop')
const { parseEvent, signTestPayload } = require('health-interop/webhooks')`
  expect(await runProgram('program.cjs', head + check)).toBe('consent.revoked INVALID_OPTION')
})

test('types are strict: of requests, replies, events, and of the resources that a caller brings', async () => {
  const text = `
import type { Condition, Patient } from '@medplum/fhirtypes'
import type { ServiceClient } from 'health-interop'
import { parseEvent } from 'health-interop/webhooks'

export async function uses(client: ServiceClient): Promise<void> {
  const { status } = await client.healthIds.resolve({ first_name: 'A', last_name: 'B', date_of_birth: '1990-02-03' })
  const known: 'found' | 'created' | 'not_found' = status
  const patient = await client.fhir.read<Patient>('Patient', '1')
  const family: string | undefined = patient.name?.[0]?.family
  for await (const condition of client.fhir.iterate(await client.fhir.conditions<Condition>('x'))) condition.code?.text
  for await (const result of client.records.listAll('x', 'lab_results')) console.log(result.test_name, known, family)
  const bare = await client.fhir.observations('x', { status: 'final' })
  const type: 'Observation' | undefined = bare.entry?.[0]?.resource?.resourceType
  const event = await parseEvent('', type, 'whsec_x')
  if (event.type === 'lab_result.released') console.log(event.data.flagged)
  // @ts-expect-error: a property that no reply has
  ;(await client.consents.status('x')).nothing
  // @ts-expect-error: a field of another type
  await client.records.pushLabResult({ health_id: 'x', test_name: 'y', result_value: 6.8 })
  // @ts-expect-error: an event that does not exist
  await client.webhooks.subscribe('https://x.example', ['lab_result.relased'])
  // @ts-expect-error: a condition is no patient
  await client.fhir.conditions<Patient>('x')
}
`
  writeFileSync(join(installed.program, 'types.ts'), text)
  expect(
    await installed.tool('tsc', [...strict, 'types.ts', 'samples/express.ts', 'samples/koa.ts']).catch(outputOf),
  ).toBe('')
}, 60_000)

const strict = [
  '--noEmit',
  '--strict',
  '--module',
  'nodenext',
  '--target',
  'es2022',
  '--exactOptionalPropertyTypes',
  '--types',
  'node',
]
const outputOf = (error: { stdout?: string }): string => error.stdout ?? String(error)

describe.each(['express', 'koa'])('the receiver with %s', name => {
  const secret = 'whsec_of-a-test'
  let receiver: Running & { readonly url: string }
  beforeAll(async () => {
    receiver = await startReceiver(installed, name, { WEBHOOK_SECRET: secret, PORT: '0' })
  })
  afterAll(async () => {
    receiver.child.kill()
    await receiver.ended
  })

  const deliver = async (body: string, header?: string) => {
    const headers = { 'content-type': 'application/json', ...(header ? { 'X-Service-Signature': header } : {}) }
    const reply = await fetch(receiver.url, { method: 'POST', headers, body })
    return [reply.status, await reply.json()]
  }

  test('accepts what was signed, and does it once', async () => {
    const { signTestPayload } = await load().then(async () => import(join(installed.package, 'dist/esm/webhooks.js')))
    const event = { id: 'evt_1', type: 'patient.updated', data: { name: 'Ngọc  Ánh' } }
    const { body, header } = await signTestPayload(event, secret)
    const first = await deliver(body, header)
    expect([first, await deliver(body, header)]).toEqual([first, [200, { received: true }]])
    expect(receiver.output().match(/patient\.updated/g)).toHaveLength(1)
  })

  test('answers 400 to what was not, with the reason', async () => {
    expect(await deliver('{}')).toEqual([400, { error: 'missing_header' }])
    const stale = `t=1,v1=${'0'.repeat(64)}`
    expect(await deliver('{}', stale)).toEqual([400, { error: 'no_match' }])
  })
})

describe('against the service', () => {
  let begun: Awaited<ReturnType<typeof startStory>>
  beforeAll(async () => {
    begun = await startStory()
  })

  test('the story: a patient, a consent, a push, a webhook, a revocation', async () => {
    const { clientId, clientSecret, baseUrl } = begun.story
    const { ServiceClient } = await load()
    const client = await ServiceClient.create({ clientId, clientSecret, baseUrl, environment: 'local' })
    expect(await tell(client, begun.story, installed)).toEqual(told)
  })

  test('every snippet of the README runs, and its types are right', async () => {
    const { clientId, clientSecret, baseUrl, receiverUrl } = begun.story
    const file = join(installed.program, 'readme.ts')
    const text = programOf(readFileSync(join(installed.package, 'README.md'), 'utf8'))
    writeFileSync(file, text.replaceAll('https://hospital.example.org/webhooks', receiverUrl))
    const environment = { CLIENT_ID: clientId, CLIENT_SECRET: clientSecret, BASE_URL: baseUrl }
    const running = run(file, [], { ...environment, WEBHOOK_SECRET: 'whsec_of-the-readme' })
    expect(await running.ended, running.output()).toBe(0)
    expect(running.output()).toMatch(/^Jeanne \[.*\]$/m)
    expect(running.output()).toMatch(/^(DiagnosticReport|Observation)\/\S+ \[ 'evt_/m)
    expect(running.output()).toMatch(/^keep the secret of whs_/m)
    expect(running.output()).toMatch(/^result-1 true\n200\nconsent\.revoked$/m)
    expect(await installed.tool('tsc', [...strict, 'readme.ts']).catch(outputOf)).toBe('')
  })
})

/** The snippets of a README as one program: imports first, then the first snippet, then each other one in a scope of its own. */
function programOf(markdown: string): string {
  const snippets = [...markdown.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, text]) => text!)
  const imported = new Map<string, Set<string>>()
  const bodies = snippets.map(text =>
    text
      .replaceAll(/^import \{ (.*) \} from '(.*)'\n/gm, (_, names: string, from: string) => {
        imported.set(from, new Set([...(imported.get(from) ?? []), ...names.split(', ')]))
        return ''
      })
      .replace(/^export async function receive[\s\S]*^}$/m, each => `${each.replace('export ', '')}\n${receiving}`),
  )
  const imports = [...imported].map(([from, names]) => `import { ${[...names].join(', ')} } from '${from}'\n`)
  const [first = '', ...others] = bodies
  return [...imports, redis, first, ...others.map(text => `{\n${text}}\n`)].join('')
}

/** In place of a client of Redis. */
const redis = `
const stored = new Map<string, string>()
const redis = {
  get: async (key: string) => stored.get(key) ?? null,
  set: async (key: string, value: string, { EX }: { EX: number }) => void (EX > 0 && stored.set(key, value)),
}
`

const receiving = `
const data = { health_id: null, lab_result_id: 'result-1', test_name: null, flagged: true, facility_id: null }
const signed = await signTestPayload({ id: 'evt_2', type: 'lab_result.released', data }, process.env.WEBHOOK_SECRET!)
const headers = { 'X-Service-Signature': signed.header }
console.log((await receive(new Request('http://localhost/', { method: 'POST', headers, body: signed.body }))).status)
`
