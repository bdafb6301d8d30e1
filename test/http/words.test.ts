// What a caller reads who has made a slip: what was wrong, where, and what was probably meant.

import { readdirSync, readFileSync } from 'node:fs'
import { get } from 'node:http'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { demoClient } from '../../src/identity/demo-accounts.ts'
import { connectCaller } from '../api/connect/support.ts'
import { fhirCaller } from '../support/fhir.ts'
import { type Service, startService } from '../support/service.ts'

let service: Service
const call = fhirCaller(() => service)
const { resolve } = connectCaller(() => service)

beforeAll(async () => {
  service = await startService()
})

const connect = (path: string) => call('GET', `/api/v1/connect/${path}`)

describe('a field that is not known', () => {
  test('is answered with the name that is near', async () => {
    const { status, body } = await connect('pharmacy/stock?stok_status=low')
    expect(status).toBe(422)
    expect(body.message).toBe('query.stok_status is not a known field; did you mean `stock_status`?')
  })

  test('is answered with the name that it abbreviates, beside the fields that are missing', async () => {
    const { status, body } = await resolve({ first_name: 'Ngo', last_name: 'Bell', dob: '1990-01-01' } as never)
    expect(status).toBe(422)
    expect(body.message).toBe('dob is not a known field; did you mean `date_of_birth`?')
    expect(body.details).toEqual([
      { field: 'dob', code: 'unknown', message: 'is not a known field; did you mean `date_of_birth`?' },
      { field: 'date_of_birth', code: 'required', message: 'is required without health_id' },
    ])
  })

  test('is answered with the fields that there are, where no name is near', async () => {
    const { body } = await connect('payments/reconciliation?date=2026-03-14&day=1')
    expect(body.message).toMatch(/^query\.day is not a known field; the fields are .*date/)
  })
})

test('a date in another form is answered with the form that is meant', async () => {
  const { body } = await resolve({ first_name: 'Ngo', last_name: 'Bell', date_of_birth: '1.2.1990' })
  expect(body.message).toBe('date_of_birth must be a date, YYYY-MM-DD, for example 2026-03-14.')
})

test('a body that is not an object is answered in one sentence', async () => {
  const { body } = await resolve([] as never)
  expect(body.details).toEqual([expect.objectContaining({ message: 'must be an object' })])
})

describe('a scope that does not exist', () => {
  test.each([
    ['patient:reed', 'There is no scope patient:reed; did you mean `patients:read`?'],
    ['system/Pateint.rs', 'There is no scope system/Pateint.rs; did you mean `system/Patient.rs`?'],
    ['everything', 'There is no scope everything.'],
  ])('is answered with the scope that is near: %s', async (scope, message) => {
    const { id: client_id, secret: client_secret } = demoClient
    const sent = { grant_type: 'client_credentials', client_id, client_secret, scope }
    const response = await fetch(`${service.url}/api/v1/connect/auth/token`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(sent),
    })
    const body = await response.json()
    expect([response.status, body.error, body.message]).toEqual([400, 'invalid_scope', message])
  })
})

test('a consent type that does not exist is answered with the type that is near and with all of them', async () => {
  const { body: person } = await resolve({ first_name: 'Ada', last_name: 'Ngono', date_of_birth: '1988-04-04' })
  const { body } = await call('POST', `/api/v1/connect/patient/${person.health_id}/consent/grant`, {
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ consent_type: 'lab_result' }),
  })
  expect(body.message).toMatch(
    /^consent_type is not a consent type; did you mean `lab_results`\? There are full_record, .*research\.$/,
  )
})

test.each([
  ['/api/v1/connect/pharmacy/stock', 'shorten them.'],
  ['/api/fhir/R4/Patient', 'shorten them. For a long search, use POST to _search.'],
])('headers that are too long are answered with advice that fits the address: %s', async (path, advice) => {
  const text = await new Promise<string>((done, fail) => {
    get(`${service.url}${path}`, { headers: { 'x-long': 'a'.repeat(20_000) } }, async response => {
      let all = ''
      for await (const chunk of response) all += chunk
      done(all)
    }).on('error', fail)
  })
  expect(text).toContain(advice)
  expect(text.includes('_search')).toBe(path.startsWith('/api/fhir'))
})

describe('the root of the address', () => {
  test('says where everything is', async () => {
    const response = await fetch(`${service.url}/`)
    expect(response.status).toBe(200)
    expect(await response.json()).toMatchObject({
      service: 'health-interop',
      fhir: `${service.url}/api/fhir/R4`,
      description: `${service.url}/openapi.json`,
    })
  })

  test('is a page for a browser, in which nothing of the request is markup', async () => {
    const response = await fetch(`${service.url}/`, { headers: { accept: 'text/html,*/*' } })
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(response.headers.get('content-security-policy')).toBe("default-src 'none'")
    expect(await response.text()).toContain(`<a href="${service.url}/openapi.json">`)
    const page = await new Promise<string>((done, fail) => {
      get(`${service.url}/`, { headers: { accept: 'text/html', host: '"><script>' } }, async answer => {
        let all = ''
        for await (const chunk of answer) all += chunk
        done(all)
      }).on('error', fail)
    })
    expect(page).not.toContain('<script>')
  })
})

test('a reply that is no stored resource ends with a line, so that a terminal shows its prompt on the next one', async () => {
  for (const path of ['/', '/healthz', '/api/v1/connect/nothing'])
    expect(await (await fetch(service.url + path)).text()).toMatch(/\}\n$/)
})

/** Words that plain technical English does without. */
const archaic =
  /\b(?:whoever|whom|whomever|somebody|nobody|anew|told|tells|what there is|be it|those who|he|his|him)\b/i

interface Text {
  readonly at: string
  readonly text: string
}

/** Summaries and descriptions of the OpenAPI document; `search` parameters are described in the words of FHIR. */
function textsOf(node: unknown, at = ''): Text[] {
  if (typeof node !== 'object' || node === null) return []
  return Object.entries(node).flatMap(([name, value]) =>
    (name === 'summary' || name === 'description') && typeof value === 'string'
      ? [{ at, text: value }]
      : textsOf(value, `${at}/${name}`),
  )
}

describe('the OpenAPI document is plain technical English', () => {
  type Described = Record<string, Record<string, Record<string, { readonly summary: string }>>>
  const served = async () => (await (await fetch(`${service.url}/openapi.json`)).json()) as Described

  test('summaries and descriptions hold no archaic words', async () => {
    const texts = textsOf(await served())
    expect(texts.length).toBeGreaterThan(1000)
    expect(texts.filter(({ text }) => archaic.test(text))).toEqual([])
  })

  test('the summary of an operation is an imperative', async () => {
    const { paths = {} } = await served()
    const summaries = Object.values(paths).flatMap(path => Object.values(path).map(({ summary }) => summary))
    expect(summaries.length).toBeGreaterThan(80)
    expect(summaries.filter(summary => !verbs.has(summary.split(/[ ,;]/)[0]!))).toEqual([])
    expect(summaries.filter(summary => summary.endsWith('.'))).toEqual([])
  })
})

const verbs: ReadonlySet<string> = new Set(
  `Acknowledge Cancel Check Create Delete Deny Download End Enrol Exchange Expand Export Find Get Grant Import Introspect List Look Merge
  Patch Process Push Read Record Replay Report Request Restore Revoke Rotate Search Send Store Transform Translate Update Validate
  Verify`.split(/\s+/),
)

/** Every text of the sources that has more than one word: messages, help, log lines; comments, SQL and lists of codes aside. */
function literals(isRead = (_file: string): boolean => true): Text[] {
  const source = join(import.meta.dirname, '../../src')
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter(name => name.endsWith('.ts'))
  return files.filter(isRead).flatMap(at => {
    const code = readFileSync(join(source, at), 'utf8').replace(/^\s*(?:\/\/|\/?\*).*$/gm, '')
    const found = code.match(/'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`/g) ?? []
    return found
      .map(each => each.slice(1, -1).replace(/\$\{[^}]*\}/g, '…'))
      .filter(text => text.includes(' ') && !sql.test(text) && !codes.test(text))
      .map(text => ({ at, text }))
  })
}

const sql = /\b(?:select|insert into|update \w+ set|delete from|join \w+ \w+ on|and \(|or \(| is null)\b/
const codes = /^(?:[a-z]{2} )+(?:[a-z]{2})?\s*$/

test('messages, help and log lines hold no archaic words', () => {
  const texts = literals()
  expect(texts.length).toBeGreaterThan(2000)
  // The account is called so.
  const odd = texts.filter(({ text }) => archaic.test(text.replaceAll('`nobody`', '')))
  expect(odd).toEqual([])
})

/** Forms in which text, code and data do what only people do, or in which a sentence hides what to write instead. */
const figurative =
  /\b(?:stands?|says?|said|speaks?|goes on|(?:means|says|ends|closes|makes) nothing|known here|(?:is|are) written|written like|in the end|likewise|save in|whatever|is no [a-z]|looks at)\b/i

describe('what an author of maps reads is plain technical English', () => {
  test('messages about maps and expressions hold no figurative forms', () => {
    const texts = literals(file => /^(?:fml|fhirpath|mapping|commands\/map)\//.test(file))
    expect(texts.length).toBeGreaterThan(400)
    expect(texts.filter(({ text }) => figurative.test(text) || archaic.test(text))).toEqual([])
  })

  test('texts in the data of the maps hold none either', () => {
    const folder = join(import.meta.dirname, '../../mappings')
    const files = readdirSync(folder).filter(name => name.endsWith('.json') && !name.endsWith('.examples.json'))
    const texts = files.flatMap(at =>
      [
        ...readFileSync(join(folder, at), 'utf8').matchAll(/"(?:why|title|meaning|description)": "((?:[^"\\]|\\.)*)"/g),
      ].map(([, text]) => ({ at, text: text! })),
    )
    expect(texts.length).toBeGreaterThan(40)
    expect(texts.filter(({ text }) => figurative.test(text) || archaic.test(text))).toEqual([])
  })

  test.each([
    'this brace closes nothing',
    'the structure `A` is not known here',
    'a map is written like `map`',
    'a name stands in backticks',
    'nobody reads this',
  ])('such a form is found: %s', text => expect(figurative.test(text) || archaic.test(text)).toBe(true))
})
