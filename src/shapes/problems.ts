// The errors of a schema for a value, in words that state what the sender should send instead.
import type { TSchema } from 'typebox'
import type { FailureDetail } from '../lib/failure.ts'
import { didYouMean, nearestName } from '../lib/nearest.ts'

/** An error as typebox reports it: where in the value, where in the schema, and against which keyword. */
interface SchemaError {
  readonly keyword: string
  readonly instancePath: string
  readonly schemaPath: string
  readonly params: object
  readonly message: string
}

/** What is read of a schema. */
interface Node {
  readonly type?: string
  readonly properties?: Readonly<Record<string, Node>>
  readonly examples?: readonly unknown[]
  readonly anyOf?: readonly Node[]
  readonly enum?: readonly unknown[]
  readonly format?: string
}

/**
 * The errors as details, each with the field and what is expected of it.
 * @param place put before the name of each field: empty for a body, `query` or `path` otherwise.
 */
export function problemsOf(schema: TSchema, errors: Iterable<SchemaError>, place: string): FailureDetail[] {
  return withoutAlternatives([...errors]).flatMap(error => detailsOf(schema as Node, error, place))
}

/**
 * Each alternative of a union reports errors of its own. Those with more than a type error stay; where there are none, the one
 * error of the union suffices.
 */
function withoutAlternatives(all: readonly SchemaError[]): readonly SchemaError[] {
  return all
    .filter(error => error.keyword === 'anyOf')
    .reduce((left, union) => {
      const isInner = (error: SchemaError): boolean => error.schemaPath.startsWith(`${union.schemaPath}/anyOf/`)
      const tellsMore = (error: SchemaError): boolean =>
        isInner(error) && (error.keyword !== 'type' || error.instancePath !== union.instancePath)
      return left.some(tellsMore)
        ? left.filter(error => error !== union && (!isInner(error) || tellsMore(error)))
        : left.filter(error => !isInner(error))
    }, all)
}

function detailsOf(root: Node, error: SchemaError, place: string): FailureDetail[] {
  const names = stepsOf(error.instancePath)
  const at = [place, ...names].filter(part => part !== '').join('.')
  const params = error.params as { requiredProperties?: string[]; allowedValues?: unknown[] }
  const node = nodeAt(root, error.schemaPath)
  switch (error.keyword) {
    case 'required':
      return (params.requiredProperties ?? []).map(name => ({
        field: at ? `${at}.${name}` : name,
        code: 'required',
        message: 'is required',
      }))
    // Each member that is not known is an error of its own, before the one that names them all.
    case 'additionalProperties':
      return []
    case 'boolean':
      return [
        { field: at, code: 'unknown', message: unknownField(names.at(-1) ?? '', Object.keys(node?.properties ?? {})) },
      ]
    case 'enum':
      return [{ field: at, code: 'enum', message: `must be one of ${params.allowedValues?.join(', ')}` }]
  }
  return [{ field: at, code: error.keyword, message: expected(error, node) }]
}

/** So many fields are listed where no name is near. */
const mostListed = 12

function unknownField(name: string, known: readonly string[]): string {
  const listed = known.length > 0 && known.length <= mostListed ? `; the fields are ${known.join(', ')}` : ''
  return `is not a known field${didYouMean(nearestName(name, known), listed)}`
}

const formats: Readonly<Record<string, string>> = {
  date: 'must be a date, YYYY-MM-DD, for example 2026-03-14',
  'date-time': 'must be a date and time with a time zone, for example 2026-03-14T09:30:00Z',
  uri: 'must be an absolute URL, for example https://example.org/hook',
  email: 'must be an e-mail address',
  uuid: 'must be a UUID',
}

function expected({ keyword, params, message }: SchemaError, node: Node | undefined): string {
  const { limit, type } = params as { limit?: number; type?: string }
  const example = node?.examples?.[0]
  switch (keyword) {
    case 'format':
      return formats[node?.format ?? ''] ?? message
    case 'pattern':
      return example === undefined ? message : `${message}, for example ${String(example)}`
    case 'minLength':
      return limit === 1 ? 'must not be empty' : `must have at least ${limit} characters`
    case 'maxLength':
      return `must have at most ${limit} characters`
    case 'type':
      return `must be ${article(String(type))}`
    case 'anyOf':
      return `must be ${node?.anyOf?.map(alternative).join(' or ')}`
  }
  return message
}

function alternative(node: Node): string {
  if (node.enum) return `one of ${node.enum.join(', ')}`
  const format = formats[node.format ?? '']?.replace(/^must be |, for example.*$/g, '')
  return format ?? article(node.type ?? 'value')
}

const article = (type: string): string => (type === 'null' ? type : `${/^[aeio]/.test(type) ? 'an' : 'a'} ${type}`)

const stepsOf = (path: string): string[] =>
  path
    .split('/')
    .slice(1)
    .map(step => step.replaceAll('~1', '/').replaceAll('~0', '~'))

/** The schema that an error speaks of; for an unknown member, the schema of the object around it. */
function nodeAt(root: Node, path: string): Node | undefined {
  let node: unknown = root
  for (const step of stepsOf(path.replace(/^#/, ''))) {
    if (step === 'additionalProperties') break
    node = (node as Readonly<Record<string, unknown>> | undefined)?.[step]
  }
  return node as Node | undefined
}
