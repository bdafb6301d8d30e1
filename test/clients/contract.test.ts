// clients/contract.json against what the service serves: each method is an operation with these parameters, and no operation is missing.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { membersOf } from '../../src/store/search/sql-compartment.ts'

interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'body' | 'argument'
  readonly type: string
  readonly required: boolean
  readonly wire?: string
  readonly schema?: string
}
interface Method {
  readonly summary: string
  readonly method?: string
  readonly path?: string
  readonly parameters: readonly Parameter[] | null
  readonly returns: string
  readonly iterates?: string
  readonly type?: string
}
interface Schema {
  readonly $ref?: string
  readonly properties?: Readonly<Record<string, unknown>>
  readonly required?: readonly string[]
}
interface Operation {
  readonly tags: readonly string[]
  readonly operationId: string
  readonly parameters?: readonly { readonly name?: string; readonly in?: string; readonly required?: boolean }[]
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> }
  readonly responses: Readonly<Record<string, unknown>>
}

const read = (path: string) => JSON.parse(readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8'))
const contract = read('clients/contract.json')
const openapi = read('docs/openapi.json')
const modules: Readonly<Record<string, { readonly methods?: Readonly<Record<string, Method>> }>> = contract.modules
const paths: Readonly<Record<string, Readonly<Record<string, Operation>>>> = openapi.paths

const methods = Object.entries(modules).flatMap(([module, all]) =>
  Object.entries(all.methods ?? all).map(([name, method]) => [`${module}.${name}`, method as Method] as const),
)
const requests = methods.filter(([, { path }]) => path !== undefined)

/** A path as the routes write it: the contract spells types out that the routes take as a parameter. */
function operationOf({ method, path, type }: Method): Operation | undefined {
  const served = type === undefined ? path! : path!.replace(`/fhir/${type}`, '/fhir/{type}')
  return paths[served]?.[method!.toLowerCase()]
}

const wire = ({ wire, name }: Parameter): string => wire ?? name
const among = ({ parameters }: Method, place: Parameter['in']): readonly Parameter[] =>
  (parameters ?? []).filter(each => each.in === place)

describe.each(requests)('%s', (_name, method) => {
  const operation = operationOf(method)

  test('is an operation of the service', () => {
    expect(operation?.operationId).toBeTruthy()
  })

  test('takes the parameters of its address, and only query members that the operation has', () => {
    const inPath = [...method.path!.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
    expect(among(method, 'path').map(wire)).toEqual(inPath)
    const known = (operation?.parameters ?? []).filter(each => each.in === 'query')
    const named = among(method, 'query').filter(each => each.type !== 'map')
    expect(known.map(each => each.name)).toEqual(expect.arrayContaining(named.map(wire)))
    const needed = known.filter(each => each.required).map(each => each.name)
    expect(named.filter(each => each.required).map(wire)).toEqual(expect.arrayContaining(needed))
  })

  test('sends the body that the operation takes', () => {
    const schema = operation?.requestBody?.content['application/json']?.schema
    const body = among(method, 'body')
    const [whole] = body
    if (whole?.schema !== undefined) expect(schema?.$ref).toBe(`#/components/schemas/${whole.schema}`)
    else if (body.length > 0) {
      const taken: Schema = schema?.$ref ? openapi.components.schemas[schema.$ref.split('/').at(-1)!] : (schema ?? {})
      expect(Object.keys(taken.properties ?? {})).toEqual(expect.arrayContaining(body.map(wire)))
      expect(body.filter(each => each.required).map(wire)).toEqual(expect.arrayContaining([...(taken.required ?? [])]))
    } else expect(schema?.required ?? []).toEqual([])
  })
})

test('every operation of Connect and the SDK is a method, but for those on tokens that the libraries call themselves', () => {
  const called = new Set(requests.map(([, method]) => operationOf(method)?.operationId))
  const missing = Object.values(paths)
    .flatMap(each => Object.values(each))
    .filter(({ tags }) => tags.some(tag => tag === 'Connect' || tag === 'SDK'))
    .map(({ operationId }) => operationId)
    .filter(id => !called.has(id))
  expect(missing.toSorted()).toEqual(['connectIntrospect', 'connectRevoke', 'connectToken', 'requestConsent'])
})

test('every type of the patient compartment has a method', () => {
  const types = methods.flatMap(([, { type }]) => type ?? [])
  expect(types.toSorted()).toEqual(membersOf('Patient').filter(type => type !== 'Patient'))
})

test('an iterator takes the parameters of a method of its module', () => {
  for (const [name, { iterates }] of methods)
    if (iterates !== undefined) {
      const [module] = name.split('.')
      expect(Object.keys(modules[module!]!.methods ?? modules[module!]!)).toContain(iterates)
    }
})

test('the table of options in clients/README.md names those of the contract, in its order', () => {
  const text = readFileSync(new URL('../../clients/README.md', import.meta.url), 'utf8')
  const [, section = ''] = /^## Create a client\n([\s\S]*?)^## /m.exec(text)!
  const cells = [...section.matchAll(/^\| (`.*?) \|/gm)].map(([, cell]) => cell!)
  const named = cells.flatMap(cell => [...cell.matchAll(/`(\w+)`/g)].map(([, name]) => name))
  expect(named).toEqual(contract.client.options.map(({ name }: { name: string }) => name))
})

interface Key {
  readonly name: string
  readonly options: Readonly<Record<'baseUrl' | 'clientId' | 'clientSecret', string>> & {
    readonly scopes: readonly string[]
  }
  readonly key: string
}
const keys: readonly Key[] = read('clients/vectors/token-cache.json').keys

test.for(keys)('the key in a token cache of $name is the SHA-256 of its options', ({ options, key }) => {
  const { baseUrl, clientId, clientSecret, scopes } = options
  const text = JSON.stringify([baseUrl, clientId, clientSecret, scopes.join(' ')])
  expect(key).toBe(`health-interop.token.${createHash('sha256').update(text).digest('hex')}`)
})

test('no two keys in a token cache are the same', () => {
  expect(new Set(keys.map(({ key }) => key)).size).toBe(keys.length)
})

test.each(['typescript', 'python', 'php'])(
  'the README of %s says that a token cache is as private as the secret',
  language => {
    const text = readFileSync(new URL(`../../clients/${language}/README.md`, import.meta.url), 'utf8')
    expect(text).toContain('keep the cache as private as the client secret')
  },
)
