// The operations of the OpenAPI description, with every reference in it followed.
import { Compile, type Validator } from 'typebox/compile'

/** A JSON Schema, read as it stands. */
export interface Schema {
  readonly type?: string
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly Schema[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly minItems?: number
  readonly maxItems?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly pattern?: string
  readonly format?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly exclusiveMinimum?: number
  readonly examples?: readonly unknown[]
}

interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required?: boolean
  readonly schema: Schema
}

interface Reply {
  readonly types: readonly string[]
  readonly fits: ((body: unknown) => string | undefined) | undefined
}

export interface Operation {
  readonly method: string
  readonly path: string
  readonly isFhir: boolean
  /** Names of the security schemes that it takes; empty if anybody may call. */
  readonly schemes: readonly string[]
  readonly scopes: readonly string[]
  readonly parameters: readonly Parameter[]
  readonly body: { readonly types: readonly string[]; readonly schema: Schema } | undefined
  readonly replies: ReadonlyMap<number, Reply>
}

type Json = Record<string, unknown>

interface Described {
  readonly security: readonly Record<string, readonly string[]>[]
  readonly parameters: readonly Parameter[]
  readonly requestBody?: { readonly content: Record<string, { readonly schema: Schema }> }
  readonly responses: Record<string, { readonly content?: Record<string, { readonly schema: Schema }> }>
}

/** Every operation, in the order of the description. */
export function operationsOf(document: Json): Operation[] {
  const paths = document['paths'] as Record<string, Record<string, unknown>>
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) =>
      operationOf(method.toUpperCase(), path, followed(described, document) as Described),
    ),
  )
}

function operationOf(method: string, path: string, described: Described): Operation {
  const schemes = described.security.flatMap(each => Object.keys(each))
  const contents = Object.entries(described.requestBody?.content ?? {})
  return {
    method,
    path,
    isFhir: path.startsWith('/api/fhir/R4'),
    schemes,
    scopes: described.security.flatMap(each => Object.values(each).flat()),
    parameters: described.parameters,
    body: contents[0] && { types: contents.map(([type]) => type), schema: contents[0][1].schema },
    replies: new Map(
      Object.entries(described.responses).map(([status, { content = {} }]) => [Number(status), replyOf(content)]),
    ),
  }
}

function replyOf(content: Record<string, { readonly schema: Schema }>): Reply {
  const schema = Object.values(content)[0]?.schema
  return { types: Object.keys(content), fits: schema && checkerOf(schema) }
}

/** Says where a body does not fit, or nothing. */
function checkerOf(schema: Schema): (body: unknown) => string | undefined {
  let validator: Validator | undefined
  return body => {
    validator ??= Compile(schema as object) as Validator
    if (validator.Check(body)) return undefined
    return validator
      .Errors(body)
      .map(({ instancePath, message, params }) => `${instancePath || '/'} ${message} ${JSON.stringify(params)}`)
      .join('; ')
  }
}

/** The same with what is referred to in place of the reference; names of components are left out. */
function followed(value: unknown, document: Json): unknown {
  if (Array.isArray(value)) return value.map(each => followed(each, document))
  if (typeof value !== 'object' || value === null) return value
  const { $ref, $id: _name, ...rest } = value as Json
  if (typeof $ref !== 'string')
    return Object.fromEntries(Object.entries(rest).map(([k, v]) => [k, followed(v, document)]))
  let target: unknown = document
  for (const step of $ref.split('/').slice(1)) target = (target as Json)[step]
  return followed(target, document)
}
