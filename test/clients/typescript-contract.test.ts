// The TypeScript client library exposes what clients/contract.json names, and nothing else.
import { globSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { generated } from '../../clients/typescript/generate.ts'
import { ServiceClient } from '../../clients/typescript/src/client.ts'
import * as index from '../../clients/typescript/src/index.ts'
import * as webhooks from '../../clients/typescript/src/webhooks.ts'
import { clientOf, collected, contract, invoke, signatureOf } from './support/typescript.ts'

const folder = resolve(import.meta.dirname, '../../clients/typescript')
const read = (path: string): string => readFileSync(join(folder, path), 'utf8')

const healthId = 'CM-TQYE-6SRK-YQ6S'
const sent: { method: string; path: string }[] = []
const client = await clientOf('https://hie.example.org', {
  transport: async (url, { method }) => {
    sent.push({ method, path: new URL(url).pathname })
    return Response.json({ access_token: 'token-1', expires_in: 3600, data: [], has_more: false })
  },
})

/** Public names of an object: its own and those of its classes. */
function namesOf(value: object): string[] {
  const names = new Set<string>()
  for (let each = value; each !== Object.prototype; each = Object.getPrototypeOf(each))
    for (const name of Object.getOwnPropertyNames(each)) if (name !== 'constructor') names.add(name)
  return [...names].sort()
}

test.for(Object.entries(generated()))('src/generated/%s is what generate.ts writes', ([name, text]) => {
  expect(read(`src/generated/${name}`)).toBe(text)
})

test('the version is that of the contract', () => {
  expect(JSON.parse(read('package.json'))).toMatchObject({ name: 'health-interop', version: contract.version })
})

test('a client has the modules, methods and properties of the contract', () => {
  const { methods, properties } = contract.client
  expect(namesOf(client)).toEqual([...Object.keys(contract.modules), ...Object.keys(methods), ...properties].sort())
  expect(Object.getOwnPropertyNames(ServiceClient).filter(name => /^create$/.test(name))).toEqual(['create'])
})

const methods = Object.entries(contract.modules).flatMap(([module, each]) =>
  Object.entries(each).map(([name, method]) => ({ call: `${module}.${name}`, module, name, method })),
)

test.for(Object.keys(contract.modules))('%s has the methods of the contract', module => {
  const object = client[module as keyof ServiceClient] as object
  expect(namesOf(object)).toEqual(Object.keys(contract.modules[module]!).sort())
})

/** An argument that a request can be made of. */
const sample = (name: string, type: string): unknown =>
  type === 'healthId' ? healthId : type === 'list' ? [] : type === 'object' || type === 'map' ? {} : `some-${name}`

test.for(methods.filter(({ method }) => method.path !== undefined || method.iterates !== undefined))(
  '$call sends the request of the contract',
  async ({ call, module, name, method }) => {
    const { positions, named } = signatureOf(module, name)
    const given = Object.fromEntries([...positions, ...named].map(each => [each.name, sample(each.name, each.type)]))
    sent.length = 0
    await collected(await invoke(client, call, given))
    const target = method.iterates ? contract.modules[module]![method.iterates]! : method
    const path = (target.path ?? '').replace('{health_id}', call === 'healthIds.verify' ? 'some-healthId' : healthId)
    const filled = path.replace(/\{(\w+)\}/g, (_, wire) => {
      const parameter = positions.find(each => (each.wire ?? each.name) === wire)!
      return `some-${parameter.name}`
    })
    expect(sent).toEqual([{ method: target.method, path: filled }])
  },
)

describe('the parameters of', () => {
  const source = globSync('src/{modules,generated}/*.ts', { cwd: folder }).map(path => [path, read(path)] as const)
  const files: Record<string, string> = { healthIds: 'health-ids' }

  /** The names of a method's parameters, as the source declares them. */
  function declared(module: string, name: string): string[] {
    const isFhir = module === 'fhir' && contract.modules[module]![name]!.type !== undefined
    const path = isFhir ? 'src/generated/fhir-types.ts' : `src/modules/${files[module] ?? module}.ts`
    const text = source.find(([file]) => file === path)![1]
    const start = new RegExp(`^  (?:async )?\\*?${name}(?:<[^(]*>)?\\(`, 'm').exec(text)!
    const [, list = ''] = /^([\s\S]*?)\n?\s*\): ?/.exec(text.slice(start.index + start[0].length))!
    return [...list.matchAll(/(?:^|, |\n\s*)(\w+)\??(?:: | = )/g)].map(([, parameter]) => parameter!)
  }

  const isOfReceiver = ({ module, name }: { module: string; name: string }): boolean =>
    module === 'webhooks' && name in webhooks

  test.for(methods.filter(each => !isOfReceiver(each)))(
    '$call are those of the contract',
    ({ module, name, method }) => {
      const { positions, named } = signatureOf(module, name)
      const isLocal = method.path === undefined && method.returns === 'string'
      const last = [...(named.length > 0 ? ['params'] : []), ...(isLocal ? [] : ['options'])]
      expect(declared(module, name)).toEqual([...positions.map(each => each.name), ...last])
    },
  )

  test.for(methods.filter(isOfReceiver))('$call are those of the contract', ({ module, name }) => {
    const [, list = ''] = new RegExp(`^export async function ${name}\\(([\\s\\S]*?)\\n\\)`, 'm').exec(
      read('src/webhooks.ts'),
    )!
    const names = [...list.matchAll(/^ {2}(\w+)/gm)].map(([, each]) => each)
    expect(names).toEqual(signatureOf(module, name).positions.map(each => each.name))
  })
})

/** The members of an interface of src/options.ts. */
function membersOf(name: string): string[] {
  const [, body = ''] = new RegExp(`export interface ${name} \\{([\\s\\S]*?)\\n\\}`).exec(read('src/options.ts'))!
  return [...body.matchAll(/^ {2}readonly (\w+\??):/gm)].map(([, member]) => member!)
}

test('the options of a client and of a call are those of the contract, and a signal', () => {
  const { callOptions } = contract.client
  const options = contract.client.options.filter(({ languages }) => languages?.includes('typescript') ?? true)
  expect(membersOf('ClientOptions')).toEqual(options.map(({ name, required }) => (required ? name : `${name}?`)))
  expect(membersOf('CallOptions')).toEqual([...callOptions.map(name => `${name}?`), 'signal?'])
})

describe('the package exports', () => {
  const { classes, properties } = contract.errors
  const errors = ['ServiceError', ...classes.map(({ name }) => name)]

  test('the client, the errors and responseOf', () => {
    expect(Object.keys(index).sort()).toEqual([...errors, 'ServiceClient', 'responseOf'].sort())
  })

  test('for receivers the functions that need no client, and their errors', () => {
    const functions = methods.filter(
      ({ module, name }) => module === 'webhooks' && /Signature|Event$|Payload/.test(name),
    )
    const names = functions.map(({ name }) => name)
    expect(Object.keys(webhooks).sort()).toEqual([...names, 'ServiceError', 'WebhookSignatureError'].sort())
  })

  test.for(classes)('$name, which derives as the contract says', ({ name, extends: base = 'ServiceError' }) => {
    const exported = new Map<string, unknown>(Object.entries(index))
    const [type, parent] = [exported.get(name), exported.get(base)]
    expect(Object.getPrototypeOf(type)).toBe(parent)
    const error = new (type as new (...values: unknown[]) => Error)('x', 'x', 'x')
    const own = Object.getOwnPropertyNames(error).filter(each => each !== 'stack' && each !== 'name')
    const reason = 'reason' in error ? ['reason'] : []
    expect(own.sort()).toEqual([...properties, ...reason].sort())
  })
})
