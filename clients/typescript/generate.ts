// Writes src/generated: the types of requests and replies from docs/openapi.json, and a method for each FHIR type of the
// contract. `node clients/typescript/generate.ts` writes them; a test compares.
import { readFileSync, writeFileSync } from 'node:fs'

interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly allOf?: readonly Schema[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: boolean | Schema
  readonly items?: Schema
  readonly description?: string
  readonly format?: string
  readonly default?: unknown
}

interface Operation {
  readonly summary: string
  readonly parameters?: readonly { name?: string; in?: string; description?: string; schema?: Schema }[]
  readonly requestBody?: { content: Readonly<Record<string, { schema: Schema }>> }
  readonly responses: Readonly<Record<string, { content?: Readonly<Record<string, { schema: Schema }>> }>>
}

interface Parameter {
  readonly name: string
  readonly in: string
  readonly required: boolean
  readonly type: string
  readonly wire?: string
}

interface Method {
  readonly summary: string
  readonly method?: string
  readonly path?: string
  readonly type?: string
  readonly parameters?: readonly Parameter[] | null
}

const root = new URL('../../', import.meta.url)
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8')

const description = JSON.parse(read('docs/openapi.json')) as {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Schema> }
}
const contract = JSON.parse(read('clients/contract.json')) as {
  version: string
  modules: Record<string, Record<string, Method>>
}
const schemas = description.components.schemas

/** Types that stand in src/fhir.ts. */
const ownTypes = new Set(['FhirResource', 'FhirBundle'])

/** The text of each generated file, by its name. */
export function generated(): Record<string, string> {
  return { 'types.ts': types(), 'fhir-types.ts': fhirTypes(), 'version.ts': version() }
}

const header = (what: string): string => `// ${what} Written by generate.ts.\n`

const version = (): string =>
  `${header('The version of the interface.')}export const version = ${quoted(contract.version)}\n`

function types(): string {
  const methods = Object.entries(contract.modules).flatMap(([module, each]) =>
    Object.entries(each).map(([name, method]) => ({ module, name, method })),
  )
  const params = methods.map(({ module, name, method }) => paramsOf(module, name, method)).filter(text => text !== '')
  const events = Object.keys(schemas).filter(name => name.endsWith('Event'))
  const named = reached([...methods.flatMap(({ method }) => schemasOf(method)), ...events])
  return [
    header('Requests, replies and events of the interface.'),
    ...named.map(name => declared(name, schemas[name]!)),
    `/** An event of a webhook: compare \`type\` to learn what \`data\` holds. */\nexport type WebhookEvent =\n${events.map(each => `  | ${each}`).join('\n')}\n`,
    ...params,
  ].join('\n')
}

const operationOf = ({ method, path }: Method): Operation | undefined =>
  path === undefined ? undefined : description.paths[path]?.[method!.toLowerCase()]

/** The names of the schemas of a method's request and reply. */
function schemasOf(method: Method): string[] {
  const operation = operationOf(method)
  const success = Object.entries(operation?.responses ?? {}).filter(([status]) => status.startsWith('2'))
  return [operation?.requestBody, ...success.map(([, reply]) => reply)]
    .map(each => each?.content?.['application/json']?.schema.$ref)
    .filter(each => each !== undefined)
    .map(nameOf)
}

/** These and all that they name, once each, in alphabetical order. */
function reached(names: readonly string[]): string[] {
  const found = new Set(names.filter(name => !ownTypes.has(name)))
  for (const name of found)
    for (const [, other] of JSON.stringify(schemas[name]).matchAll(/#\/components\/schemas\/(\w+)/g))
      if (!ownTypes.has(other!)) found.add(other!)
  return [...found].sort()
}

const nameOf = (reference: string): string => reference.split('/').at(-1)!
const quoted = (text: unknown): string =>
  typeof text === 'string' ? `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'` : JSON.stringify(text)

function declared(name: string, schema: Schema): string {
  const doc = comment(schema.description, '')
  return schema.properties && !schema.anyOf
    ? `${doc}export interface ${name} ${typeOf(schema, '')}\n`
    : `${doc}export type ${name} = ${typeOf(schema, '')}\n`
}

function comment(text: string | undefined, indent: string): string {
  return text ? `${indent}/** ${text.replaceAll('*/', '* /').replaceAll('\n', ' ')} */\n` : ''
}

function typeOf(schema: Schema, indent: string): string {
  if (schema.$ref) return ownTypes.has(nameOf(schema.$ref)) ? 'Readonly<Record<string, unknown>>' : nameOf(schema.$ref)
  if (schema.const !== undefined) return quoted(schema.const)
  if (schema.enum) return schema.enum.map(quoted).join(' | ')
  const choices = schema.anyOf ?? schema.oneOf
  if (choices && !schema.properties) return [...new Set(choices.map(each => typeOf(each, indent)))].join(' | ')
  if (schema.allOf) return schema.allOf.map(each => typeOf(each, indent)).join(' & ')
  if (Array.isArray(schema.type)) return schema.type.map(type => typeOf({ ...schema, type }, indent)).join(' | ')
  if (schema.type === 'array') return `readonly ${grouped(typeOf(schema.items ?? {}, indent))}[]`
  if (schema.type === 'object' || schema.properties) return objectType(schema, indent)
  if (schema.type === 'integer') return 'number'
  return (schema.type as string | undefined) ?? 'unknown'
}

const grouped = (type: string): string => (/^[\w.]+$|^\{[\s\S]*\}$/.test(type) ? type : `(${type})`)

function objectType(schema: Schema, indent: string): string {
  const inner = `${indent}  `
  const lines = Object.entries(schema.properties ?? {}).map(([name, property]) => {
    const mark = schema.required?.includes(name) ? '' : '?'
    const key = /^[A-Za-z_]\w*$/.test(name) ? name : quoted(name)
    return `${comment(property.description, inner)}${inner}readonly ${key}${mark}: ${typeOf(property, inner)}\n`
  })
  const others = schema.additionalProperties
  if (lines.length > 0) return `{\n${lines.join('')}${indent}}`
  return others === false
    ? 'Record<string, never>'
    : `Readonly<Record<string, ${typeof others === 'object' ? typeOf(others, indent) : 'unknown'}>>`
}

/** The optional parameters of a query, as one object. */
function paramsOf(module: string, name: string, method: Method): string {
  const optional = (method.parameters ?? []).filter(
    each => each.in === 'query' && !each.required && each.type !== 'map',
  )
  if (optional.length === 0) return ''
  const lines = optional.map(each => {
    const wire = each.wire ?? each.name
    const declared = operationOf(method)?.parameters?.find(parameter => parameter.name === wire)
    const type = each.type === 'integer' ? 'number' : typeOf(declared?.schema ?? { type: 'string' }, '  ')
    return `${comment(declared?.description ?? declared?.schema?.description, '  ')}  readonly ${each.name}?: ${type}\n`
  })
  const title = module[0]!.toUpperCase() + module.slice(1) + name[0]!.toUpperCase() + name.slice(1)
  return `/** Optional parameters of \`${module}.${name}\`. */\nexport interface ${title}Params {\n${lines.join('')}}\n`
}

function fhirTypes(): string {
  const methods = Object.entries(contract.modules['fhir']!).filter(([, { type }]) => type !== undefined)
  return `${header('A method for each type of FHIR resources about a patient.')}import type { AnyResource, Bundle, FhirResource, SearchParams } from '../fhir.ts'
import type { CallOptions } from '../options.ts'

/** \`patientSearch\` under the names of the types. */
export abstract class FhirByType {
  abstract patientSearch<R extends AnyResource = FhirResource>(
    healthId: string,
    type: R['resourceType'],
    filters?: SearchParams,
    options?: CallOptions,
  ): Promise<Bundle<R>>
${methods.map(([name, method]) => fhirMethod(name, method)).join('')}}
`
}

const fhirMethod = (name: string, { summary, type }: Method): string => `
  /** ${summary}, as a page of ${type} resources. Filters are the search parameters of FHIR. */
  ${name}<R extends AnyResource<'${type}'> = FhirResource<'${type}'>>(
    healthId: string,
    filters?: SearchParams,
    options?: CallOptions,
  ): Promise<Bundle<R>> {
    return this.patientSearch<R>(healthId, '${type}' as R['resourceType'], filters, options)
  }
`

if (import.meta.main)
  for (const [name, text] of Object.entries(generated()))
    writeFileSync(new URL(`clients/typescript/src/generated/${name}`, root), text)
