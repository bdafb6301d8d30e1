// One call of the API, written for curl and with the three client libraries. The server writes the samples of a page with it, and the page
// those of what somebody has typed.

/** @typedef {import('./samples.d.ts').Call} Call */
/** @typedef {import('./samples.d.ts').LibraryParameter} LibraryParameter */

/** @param {Pick<Call, 'path' | 'values' | 'query'>} call */
export function addressOf(call) {
  const query = call.query.map(pair => pair.map(encodeURIComponent).join('=')).join('&')
  return pathOf(call) + (query === '' ? '' : `?${query}`)
}

/** @param {Pick<Call, 'path' | 'values'>} call */
const pathOf = ({ path, values }) =>
  path.replace(/\{(\w+)\}/g, (_, /** @type {string} */ name) => encodeURIComponent(values[name] ?? ''))

/**
 * @param {string} text
 * @returns {[string, string][]}
 */
export const headersIn = text =>
  text.split('\n').flatMap(line => {
    const [, name, value] = /^\s*([\w-]+)\s*:\s*(.*?)\s*$/.exec(line) ?? []
    return name === undefined || value === undefined ? [] : [[name, value]]
  })

/** @param {Call} call */
export function samplesOf(call) {
  const said = spoken(call)
  if (!said) return { curl: curl(call) }
  return { curl: curl(call), typescript: typescript(call, said), python: python(call, said), php: php(call, said) }
}

// curl

/** @param {string} text */
const quoted = text => `'${text.replaceAll("'", "'\\''")}'`

/** @type {Readonly<Record<import('./samples.d.ts').Proof, readonly string[]>>} */
const proofs = {
  token: ['-H "Authorization: Bearer $TOKEN"'],
  client: ['-u "$CLIENT_ID:$CLIENT_SECRET"'],
  agent: [
    '-H "X-Bridge-Agent-ID: $AGENT_ID"',
    '-H "X-Bridge-Agent-Key: $AGENT_KEY"',
    '-H "X-Bridge-Timestamp: $(date +%s)"',
  ],
  none: [],
}

/** @param {Call} call */
function curl(call) {
  const { method, headers, body, contentType, proof, baseUrl } = call
  return [
    `curl -sS${method === 'GET' ? '' : ` -X ${method}`} ${quoted(baseUrl + addressOf(call))}`,
    ...proofs[proof],
    ...headers.map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...(body !== undefined && contentType ? [`-H ${quoted(`Content-Type: ${contentType}`)}`] : []),
    ...(body === undefined ? [] : [`--data-binary ${quoted(body)}`]),
  ].join(' \\\n  ')
}

// What the libraries are asked for, before it is written in a language.

/**
 * @typedef {object} Said
 * @property {string[]} names of the module and the method; none of the first: `request`
 * @property {unknown[]} given arguments in order
 * @property {[string, unknown][]} named optional ones
 * @property {boolean} hasResult
 * @property {string | undefined} key of the header Idempotency-Key
 */

/**
 * Returns undefined for what the libraries do not send: other proofs, other bodies, headers that they set themselves.
 * @param {Call} call
 * @returns {Said | undefined}
 */
function spoken(call) {
  const { proof, body, contentType, headers } = call
  if (proof !== 'token' || headers.some(([name]) => name.toLowerCase() !== 'idempotency-key')) return undefined
  if (body !== undefined && !/[/+]json$/.test(contentType ?? '')) return undefined
  const parsed = body === undefined ? undefined : jsonOf(body)
  if (body !== undefined && parsed === undefined) return undefined
  const key = headers[0]?.[1]
  return byMethod(call, parsed, key) ?? byRequest(call, parsed, key)
}

/** @param {string} text */
function jsonOf(text) {
  try {
    return /** @type {unknown} */ (JSON.parse(text))
  } catch {
    return undefined
  }
}

/** @param {readonly (readonly [string, string])[]} pairs */
function mapOf(pairs) {
  /** @type {Record<string, string | string[]>} */
  const map = {}
  for (const [name, value] of pairs) {
    const known = map[name]
    map[name] = known === undefined ? value : [known, value].flat()
  }
  return map
}

/**
 * By the method that the libraries have for the operation, if it takes all of the call.
 * @param {Call} call
 * @param {unknown} body
 * @param {string | undefined} key
 * @returns {Said | undefined}
 */
function byMethod({ library, values, query, body: text }, body, key) {
  if (!library) return undefined
  const left = new Map(query)
  const members = new Map(Object.entries(isObject(body) ? body : {}))
  const isWhole = library.parameters.some(each => each.in === 'body' && each.type === 'object')
  /** @type {unknown[]} */
  const given = []
  /** @type {[string, unknown][]} */
  const named = []
  for (const each of library.parameters) {
    const wire = each.wire ?? each.name
    let value
    if (each.in === 'path') value = values[wire]
    else if (each.type === 'map') value = query.length > 0 ? mapOf(query) : undefined
    else if (each.in === 'query') value = typed(each, left.get(wire))
    else value = isWhole ? body : members.get(wire)
    if (each.type === 'map') left.clear()
    left.delete(wire)
    members.delete(wire)
    if (each.required && value === undefined) return undefined
    if (each.required) given.push(value)
    else if (value !== undefined) named.push([each.name, value])
  }
  const isRepeated = !hasMap(library) && new Set(query.map(([name]) => name)).size < query.length
  const takesBody = text === undefined || isWhole || (isObject(body) && members.size === 0)
  if (left.size > 0 || isRepeated || !takesBody) return undefined
  return { names: [library.module, library.method], given, named, hasResult: library.returns !== 'none', key }
}

/** @param {{ parameters: readonly LibraryParameter[] }} library */
const hasMap = ({ parameters }) => parameters.some(({ type }) => type === 'map')

/**
 * @param {LibraryParameter} parameter
 * @param {string | undefined} text
 */
const typed = ({ type }, text) => (type === 'integer' && text !== undefined ? Number(text) : text)

/**
 * @param {Call} call
 * @param {unknown} body
 * @param {string | undefined} key
 * @returns {Said}
 */
function byRequest(call, body, key) {
  /** @type {[string, unknown][]} */
  const named = []
  if (call.query.length > 0) named.push(['query', mapOf(call.query)])
  if (body !== undefined) named.push(['body', body])
  return { names: ['request'], given: [call.method, pathOf(call)], named, hasResult: true, key }
}

/**
 * @param {unknown} value
 * @returns {value is Record<string, unknown>}
 */
const isObject = value => typeof value === 'object' && value !== null && !Array.isArray(value)

// Values as literals of a language.

/**
 * @typedef {object} Language
 * @property {(text: string) => string} text
 * @property {(name: string) => string} key with what separates it from the value
 * @property {readonly [string, string]} object
 * @property {string} empty
 * @property {Readonly<Record<string, string>>} words
 * @property {number} indent
 */

/**
 * @param {unknown} value
 * @param {Language} language
 * @param {number} [depth] of the lines around it
 * @returns {string}
 */
function literal(value, language, depth = 0) {
  if (typeof value === 'string') return language.text(value)
  if (typeof value === 'number') return String(value)
  if (value === null || typeof value === 'boolean') return language.words[String(value)] ?? ''
  const isList = Array.isArray(value)
  const parts = isList
    ? value.map(each => literal(each, language, depth + 1))
    : Object.entries(/** @type {object} */ (value)).map(
        ([name, each]) => language.key(name) + literal(each, language, depth + 1),
      )
  const [open, close] = isList ? ['[', ']'] : language.object
  if (parts.length === 0) return isList ? '[]' : language.empty
  const line = `${open}${parts.join(', ')}${close}`
  if (line.length <= 60 && !line.includes('\n'))
    return language.indent === 2 && !isList ? `${open} ${parts.join(', ')} ${close}` : line
  const pad = ' '.repeat(language.indent * (depth + 1))
  return `${open}\n${parts.map(each => `${pad}${each},\n`).join('')}${' '.repeat(language.indent * depth)}${close}`
}

/** @type {Language} */
const js = {
  text: text => `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`,
  key: name => `${/^[A-Za-z_$][\w$]*$/.test(name) ? name : js.text(name)}: `,
  object: ['{', '}'],
  empty: '{}',
  words: { null: 'null', true: 'true', false: 'false' },
  indent: 2,
}

/** @type {Language} */
const py = {
  text: text => JSON.stringify(text).replaceAll('\u007f', '\\u007f'),
  key: name => `${py.text(name)}: `,
  object: ['{', '}'],
  empty: '{}',
  words: { null: 'None', true: 'True', false: 'False' },
  indent: 4,
}

/** @type {Language} */
const phpWords = {
  text: text => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`,
  key: name => `${phpWords.text(name)} => `,
  object: ['[', ']'],
  empty: 'new \\stdClass()',
  words: { null: 'null', true: 'true', false: 'false' },
  indent: 4,
}

// The libraries

/** @param {readonly [string, unknown][]} pairs */
const objectOf = pairs => Object.fromEntries(pairs)

/**
 * Whether optional parameters stand in an object of their own: those of the query, in TypeScript.
 * @param {Call} call
 * @param {string} name
 */
const isQuery = ({ library }, name) =>
  library?.parameters.some(each => each.name === name && each.in === 'query' && each.type !== 'map') === true

/**
 * @param {Call} call
 * @param {Said} said
 */
function typescript(call, said) {
  const options = said.names.length === 1 ? objectOf(said.named) : {}
  const params = said.names.length === 1 ? [] : said.named.filter(([name]) => isQuery(call, name))
  const others = said.names.length === 1 ? [] : said.named.filter(([name]) => !isQuery(call, name))
  if (said.key !== undefined) options['idempotencyKey'] = said.key
  const optional = (call.library?.parameters ?? []).filter(({ required }) => !required)
  /** @type {unknown[]} */
  const given = [...said.given, ...others.map(([, value]) => value)]
  const hasParams = optional.some(({ name }) => isQuery(call, name))
  const hasOptions = Object.keys(options).length > 0
  if (params.length > 0) given.push(objectOf(params))
  const written = given.map(each => literal(each, js))
  if (hasOptions && said.names.length === 2) {
    const missing =
      optional.length - others.length - (hasParams ? optional.filter(({ name }) => isQuery(call, name)).length : 0)
    for (let n = 0; n < missing; n++) written.push('undefined')
    if (hasParams && params.length === 0) written.push('{}')
  }
  if (hasOptions) written.push(literal(options, js))
  const line = `await client.${said.names.join('.')}(${written.join(', ')})`
  const base = call.environment === 'local' ? '' : `\n  baseUrl: ${js.text(call.baseUrl)},`
  return `import { ServiceClient } from 'health-interop'

const client = await ServiceClient.create({
  clientId: process.env['CLIENT_ID'] ?? '',
  clientSecret: process.env['CLIENT_SECRET'] ?? '',
  environment: ${js.text(call.environment)},${base}
})
${said.hasResult ? `const result = ${line}\nconsole.log(result)` : line}
`
}

/** @param {string} name */
const snake = name => name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)

/**
 * @param {Call} call
 * @param {Said} said
 */
function python(call, said) {
  const written = [
    ...said.given.map(each => literal(each, py)),
    ...said.named.map(([name, value]) => `${snake(name)}=${literal(value, py)}`),
    ...(said.key === undefined ? [] : [`idempotency_key=${py.text(said.key)}`]),
  ]
  const line = `client.${said.names.map(snake).join('.')}(${written.join(', ')})`
  const base = call.environment === 'local' ? '' : `\n    base_url=${py.text(call.baseUrl)},`
  return `import os

from health_interop import ServiceClient

client = ServiceClient(
    os.environ["CLIENT_ID"],
    os.environ["CLIENT_SECRET"],
    environment=${py.text(call.environment)},${base}
)
${said.hasResult ? `result = ${line}\nprint(result)` : line}
`
}

/**
 * @param {Call} call
 * @param {Said} said
 */
function php(call, said) {
  const isRequest = said.names.length === 1
  const options = isRequest ? objectOf(said.named) : {}
  if (said.key !== undefined) options['idempotencyKey'] = said.key
  const written = [
    ...said.given.map(each => literal(each, phpWords)),
    ...(isRequest ? [] : said.named.map(([name, value]) => `${name}: ${literal(value, phpWords)}`)),
    ...(Object.keys(options).length === 0 ? [] : [`${isRequest ? '' : 'options: '}${literal(options, phpWords)}`]),
  ]
  const line = `$client->${said.names.join('->')}(${written.join(', ')})`
  const base = call.environment === 'local' ? '' : `\n    baseUrl: ${phpWords.text(call.baseUrl)},`
  return `<?php

require 'vendor/autoload.php';

use HealthInterop\\ServiceClient;

$client = new ServiceClient(
    clientId: getenv('CLIENT_ID'),
    clientSecret: getenv('CLIENT_SECRET'),
    environment: ${phpWords.text(call.environment)},${base}
);
${said.hasResult ? `$result = ${line};\nprint_r($result);` : `${line};`}
`
}
