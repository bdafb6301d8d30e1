// Bodies: what the description asks for, or what FHIR takes, as it should be or spoiled.
import type { Operation } from './description.ts'
import { pair, queryOf } from './queries.ts'
import { badTexts, generated, pick, type Roll, spoiled } from './values.ts'
import type { World } from './world.ts'

interface Body {
  readonly body: Buffer | undefined
  readonly type: string | undefined
}

const none: Body = { body: undefined, type: undefined }

export function bodyOf(operation: Operation, world: World, roll: Roll, isWrong: boolean): Body {
  const { body, isFhir } = operation
  if (!body) return isWrong ? { body: Buffer.from('{"x":1}'), type: 'application/json' } : none
  if (isWrong && roll(20) === 0) return { body: undefined, type: pick(roll, [undefined, body.types[0]]) }
  const type = pick(roll, body.types)
  const isForm = type === 'application/x-www-form-urlencoded'
  const good =
    isFhir && !isForm ? resourceOf(type, operation, world, roll) : generated(body.schema, '', roll, world.pool)
  const value = isWrong ? spoiled(good, roll) : good
  const text = isForm ? formOf(value, operation, world, roll, isWrong) : textOf(value, type)
  const told = isWrong && roll(15) === 0 ? pick(roll, oddTypes) : type
  return { body: isWrong && roll(6) === 0 ? oddBytes(text, roll) : Buffer.from(text), type: told }
}

const textOf = (value: unknown, type: string): string =>
  type.includes('ndjson')
    ? `${JSON.stringify(value)}\n${JSON.stringify({ ...(value as object), id: 'a' })}`
    : (JSON.stringify(value) ?? '')

const oddTypes = [
  'text/plain',
  'application/xml',
  'multipart/form-data; boundary=x',
  'application/json; charset=utf-16',
  'APPLICATION/JSON',
  ';',
  'a',
  'image/png',
]

/** A text as bytes that are not quite it. */
function oddBytes(text: string, roll: Roll): Buffer {
  const at = roll(text.length + 1)
  const first = text.indexOf('{') + 1
  return pick(roll, [
    () => Buffer.from(text.slice(0, at)),
    () => Buffer.from(`\ufeff${text}`),
    () => Buffer.from(text, 'utf16le'),
    () =>
      Buffer.concat([
        Buffer.from(text.slice(0, at)),
        Buffer.from([0xff, 0xfe, 0xc0, 0x80]),
        Buffer.from(text.slice(at)),
      ]),
    () => Buffer.from(`${text.slice(0, at)}\0${text.slice(at)}`),
    () => Buffer.from(`${text}${text}`),
    () => Buffer.from(`${text.slice(0, first)}"resourceType":"Patient","id":1,${text.slice(first)}`),
    () => Buffer.from('['.repeat(20_000)),
    () => Buffer.from('not json at all'),
    () => Buffer.from(' '),
    () => Buffer.from(text.replace(/"[^"]*"/, '1e400')),
    () => Buffer.from(`[${'1,'.repeat(30_000)}1]`),
  ])()
}

function formOf(value: unknown, operation: Operation, world: World, roll: Roll, isWrong: boolean): string {
  if (operation.isFhir) return queryOf(operation, world, roll, isWrong)
  const entries = typeof value === 'object' && value !== null ? Object.entries(value) : [['x', value]]
  return entries
    .map(([name, each]) =>
      pair(String(name), typeof each === 'object' ? JSON.stringify(each) : String(each), roll, isWrong),
    )
    .join('&')
}

/** What FHIR takes of that type: a resource as it was seen, a bundle or parameters made of such, or a patch. */
function resourceOf(media: string, operation: Operation, { pool, type, id }: World, roll: Roll): unknown {
  const seen = (): Record<string, unknown> =>
    JSON.parse(pick(roll, pool.get(`${type}`) ?? pool.get('any resource') ?? ['{}']))
  if (media.includes('json-patch') || (operation.method === 'PATCH' && roll(2) === 0)) return patchOf(roll)
  const isOperation = operation.path.includes('$') || operation.method === 'PATCH'
  if (operation.path.endsWith('R4')) {
    const entry = Array.from({ length: 1 + roll(4) }, () => entryOf(seen(), roll))
    return { resourceType: 'Bundle', type: pick(roll, ['batch', 'transaction', 'transaction', 'collection']), entry }
  }
  if (!isOperation || roll(3) === 0) return { ...seen(), ...(id === undefined ? {} : { id }) }
  const parameter = Array.from({ length: 1 + roll(3) }, () => ({
    name: pick(roll, parameterNames),
    ...parameterValue(seen(), roll),
  }))
  return { resourceType: 'Parameters', parameter }
}

const patched = [
  '/status',
  '/name/0/given/0',
  '/-',
  '/meta',
  '',
  '/a~2',
  '/contained/0',
  'x',
  '/birthDate',
  '/identifier/-',
  '/id',
  '/note',
]

const patchOf = (roll: Roll): unknown =>
  Array.from({ length: 1 + roll(2) }, () => {
    const op = pick(roll, ['add', 'add', 'replace', 'remove', 'move', 'copy', 'test', 'x'])
    return {
      op,
      path: pick(roll, patched),
      from: pick(roll, patched),
      value: pick<unknown>(roll, ['1990-01-01', 'final', [{ text: 'x' }], ...badTexts]),
    }
  })

function entryOf(resource: Record<string, unknown>, roll: Roll): unknown {
  const { resourceType: type, id } = resource
  const method = pick(roll, ['POST', 'PUT', 'GET', 'DELETE', 'PATCH'])
  const url =
    method === 'POST'
      ? type
      : pick(roll, [`${type}/${id}`, `${type}?_id=${id}`, `${type}?`, '', `${type}/${id}/_history`, 'metadata'])
  return {
    fullUrl: pick(roll, [undefined, `urn:uuid:${'0'.repeat(8)}-0000-4000-8000-00000000000${roll(10)}`]),
    resource,
    request: { method, url },
  }
}

const parameterNames = [
  'resource',
  'source',
  'target',
  'source-patient',
  'target-patient',
  'url',
  'code',
  'system',
  'operation',
  'count',
  '_type',
  'onlyCertainMatches',
  'input',
  'valueSet',
  'coding',
]

const parameterValue = (resource: Record<string, unknown>, roll: Roll): object =>
  pick(roll, [
    { resource },
    { valueReference: { reference: `${resource['resourceType']}/${resource['id']}` } },
    { valueString: pick(roll, badTexts) },
    { valueUri: pick(roll, badTexts) },
    { valueInteger: roll(2000) - 5 },
    { valueBoolean: true },
    { valueCode: 'x' },
    { valueCoding: { system: 'http://loinc.org', code: '1' } },
    {
      part: [
        { name: 'type', valueCode: pick(roll, ['add', 'delete', 'insert', 'move']) },
        { name: 'path', valueString: 'Patient.name' },
      ],
    },
  ])
