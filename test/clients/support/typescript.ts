// The TypeScript client library under test: with a clock, chance and sleep of the test, and calls by the names of the contract.
import { readFileSync } from 'node:fs'
import { ServiceClient } from '../../../clients/typescript/src/client.ts'
import type { ClientOptions } from '../../../clients/typescript/src/options.ts'
import type { World } from '../../../clients/typescript/src/world.ts'

const folder = new URL('../../../clients/', import.meta.url)

/** A file of clients/vectors. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into vectors freely
export const vectors = (name: string): any => JSON.parse(readFileSync(new URL(`vectors/${name}.json`, folder), 'utf8'))

interface Parameter {
  readonly name: string
  readonly in: 'argument' | 'path' | 'query' | 'body'
  readonly type: string
  readonly required: boolean
  readonly wire?: string
}

interface Method {
  readonly method?: string
  readonly path?: string
  readonly type?: string
  readonly iterates?: string
  readonly required?: readonly string[]
  readonly returns: string
  readonly parameters?: readonly Parameter[] | null
}

interface Contract {
  readonly version: string
  readonly client: {
    readonly options: readonly {
      readonly name: string
      readonly required: boolean
      readonly languages?: readonly string[]
    }[]
    readonly callOptions: readonly string[]
    readonly properties: readonly string[]
    readonly methods: Readonly<Record<string, Method>>
  }
  readonly modules: Readonly<Record<string, Readonly<Record<string, Method>>>>
  readonly errors: {
    readonly properties: readonly string[]
    readonly classes: readonly { readonly name: string; readonly extends?: string }[]
  }
}

export const contract: Contract = JSON.parse(readFileSync(new URL('contract.json', folder), 'utf8'))

/** A world in which time passes when the test says so: what is slept counts. */
export function testWorld(): { waits: number[]; advance: (seconds: number) => void; world: World } {
  const waits: number[] = []
  let time = 1_000_000
  return {
    waits,
    advance: (seconds: number): void => void (time += seconds * 1000),
    world: {
      now: () => time,
      unixTime: () => 1_800_000_000 + time / 1000,
      random: () => 1,
      sleep: async milliseconds => {
        waits.push(milliseconds / 1000)
      },
    },
  }
}

const someOptions = { clientId: 'client-1', clientSecret: 'secret-of-client-1', environment: 'local' } as const

/** A client of this address in the world of a test. */
export const clientOf = (
  baseUrl: string,
  options: Partial<ClientOptions> = {},
  { world } = testWorld(),
): Promise<ServiceClient> => ServiceClient.createIn(world, { ...someOptions, baseUrl, ...options })

/** Options whose times are seconds, as the vectors have them, for TypeScript. */
export function milliseconds(options: Record<string, unknown> = {}): Record<string, unknown> {
  const times = ['timeout', 'maxRetryAfter']
  const scaled = Object.entries(options).map(([name, value]) => [
    name,
    times.includes(name) && typeof value === 'number' ? value * 1000 : value,
  ])
  return Object.fromEntries(scaled)
}

/** The parameters of a method in the order of TypeScript: positions, then those of the object of optional ones. */
export function signatureOf(module: string, name: string): { positions: Parameter[]; named: Parameter[] } {
  const method = contract.modules[module]![name]!
  const of = method.iterates ? contract.modules[module]![method.iterates]! : method
  const parameters = (of.parameters ?? []).map(each => ({
    ...each,
    required: each.required || (method.required ?? []).includes(each.name),
  }))
  const isPositional = (each: Parameter) => each.required || each.in !== 'query' || each.type === 'map'
  return { positions: parameters.filter(isPositional), named: parameters.filter(each => !isPositional(each)) }
}

/** Makes a call as the vectors name it: `records.list` with arguments by name. */
export function invoke(
  client: ServiceClient,
  call: string,
  given: Record<string, unknown> = {},
  options: Record<string, unknown> = {},
): unknown {
  const [module, name] = call.split('.') as [keyof Contract['modules'], string]
  const { positions, named } = signatureOf(module, name)
  const params = Object.fromEntries(named.filter(each => each.name in given).map(each => [each.name, given[each.name]]))
  const values = [...positions.map(each => given[each.name]), ...(named.length > 0 ? [params] : []), options]
  const methods = client[module as keyof ServiceClient] as unknown as Record<string, (...values: unknown[]) => unknown>
  return methods[name]!(...values)
}

/** The result of a call, or all that an iterator yields. */
export async function collected(outcome: unknown): Promise<unknown> {
  if (typeof outcome !== 'object' || outcome === null || !(Symbol.asyncIterator in outcome)) return outcome
  const found: unknown[] = []
  for await (const each of outcome as AsyncIterable<unknown>) found.push(each)
  return found
}
