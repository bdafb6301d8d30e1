// What cannot be answered is refused with an OperationOutcome, whatever is thrown at the service.
// https://hl7.org/fhir/R4/http.html#Status-Codes
import { beforeAll, describe, expect, test } from 'vitest'
import { type Answer, fhirCaller, issueOf, matchIds } from '../../support/fhir.ts'
import { type Service, startService } from '../../support/service.ts'

let service: Service
const call = fhirCaller(() => service)
const form = { 'content-type': 'application/x-www-form-urlencoded' }

beforeAll(async () => {
  service = await startService()
  const body = {
    resourceType: 'Patient',
    id: 'ada',
    name: [{ family: "O'Hara; drop table resource; --" }],
    identifier: [{ system: 'http://ids', value: "1' or '1'='1" }],
  }
  await call('PUT', 'Patient/ada', { body })
})

function expectRefusal({ status, headers, body, text }: Answer, expected: number): void {
  expect(status, text).toBe(expected)
  expect(headers.get('content-type')).toBe('application/fhir+json; charset=utf-8')
  expect(body).toMatchObject({ resourceType: 'OperationOutcome', issue: [{ severity: 'error' }] })
  expect(issueOf(body).diagnostics.length).toBeGreaterThan(5)
}

describe('an address that leads nowhere answers 404', () => {
  test.each([
    'Nonsense',
    'patient',
    'Patient/a/b',
    'Patient/ada/_shoe',
    'Patient/ada/_history/1/x',
    'metadata/x',
    '$shoe',
    'Patient/$shoe',
    '_shoe',
    'Patient//ada',
  ])('%s', async path => expectRefusal(await call('GET', path), 404))
})

describe('a method that an address does not take answers 405 and those that it takes', () => {
  test.each([
    ['POST', 'Patient/ada', 'GET'],
    ['POST', 'Patient/ada/_history', 'GET'],
    ['PUT', 'Patient/ada/_history/1', 'GET'],
    ['DELETE', '', 'GET'],
    ['GET', 'Patient/_search', 'POST'],
    ['POST', 'metadata', 'GET'],
    ['PUT', 'metadata', 'GET'],
    ['PATCH', 'metadata', 'GET'],
    ['DELETE', 'metadata', 'GET'],
    ['PUT', '_history', 'GET'],
    ['PUT', '_search', 'POST'],
    ['DELETE', 'Patient/_history', 'GET'],
    ['PUT', '$export', 'GET, POST'],
    ['DELETE', '$import', 'POST'],
    ['PUT', 'Patient/$export', 'GET, POST'],
    ['DELETE', 'Group/g/$export', 'GET, POST'],
    ['PUT', 'Patient/$everything', 'GET, POST'],
  ])('%s %s', async (method, path, allowed) => {
    const answer = await call(method, path, ['PUT', 'POST', 'PATCH'].includes(method) ? { body: {} } : {})
    expectRefusal(answer, 405)
    expect(answer.headers.get('allow')).toContain(allowed)
  })
})

describe('at an address of its own, a method that it does not take answers 405 before the body is looked at', () => {
  test.each([
    ['metadata', 'GET'],
    ['.well-known/smart-configuration', 'GET'],
    ['_history', 'GET'],
    ['_search', 'POST'],
    ['$import', 'POST'],
    ['$export', 'GET, POST'],
    ['Patient/$export', 'GET, POST'],
    ['Patient/$everything', 'GET, POST'],
    ['Patient/%24match', 'POST'],
    ['Patient/_search', 'POST'],
    ['Patient/_history', 'GET'],
    ['Observation/$validate', 'POST'],
  ])('%s takes %s only', async (path, allowed) => {
    const others = ['POST', 'PUT', 'PATCH', 'DELETE'].filter(method => !allowed.includes(method))
    for (const method of others)
      for (const body of method === 'DELETE' ? [undefined] : [undefined, 'no JSON']) {
        const answer = await call(method, path, body === undefined ? {} : { body })
        expectRefusal(answer, 405)
        expect(answer.headers.get('allow')?.split(', ').toSorted().join(', '), method).toBe(allowed)
      }
  })

  test('types with a search that is described on its own still take what every type takes', async () => {
    const body = { resourceType: 'Encounter', id: 'own', status: 'planned', class: { code: 'AMB' } }
    expect((await call('PUT', 'Encounter/own', { body })).status).toBe(201)
    expectRefusal(await call('POST', 'Encounter'), 400)
    expectRefusal(await call('PATCH', 'Encounter'), 400)
    expect((await call('DELETE', 'Encounter?_id=own')).status).toBe(204)
  })
})

describe('text that is none is refused with 400', () => {
  const broken = ['%', '%zz', '%E0%A4', '%ff', '%00']

  test.each(broken)('%s in the path', async text => expectRefusal(await call('GET', `Patient/${text}`), 400))
  test.each(broken)('%s in the query', async text => expectRefusal(await call('GET', `Patient?name=${text}`), 400))
  test.each(broken)('%s in a form', async text => {
    expectRefusal(await call('POST', 'Patient/_search', { body: `name=${text}`, headers: form }), 400)
  })
  test.each(broken)('%s in the address of a deletion', async text => {
    expectRefusal(await call('DELETE', `Patient/${text}`), 400)
    expectRefusal(await call('DELETE', `Patient?name=${text}`), 400)
  })

  test('%00 in every type of parameter', async () => {
    const queries = [
      'Patient?name',
      'Patient?identifier',
      'Patient?birthdate',
      'Patient?general-practitioner',
      'Patient?_id',
    ]
    const more = [
      'RiskAssessment?probability',
      'Observation?value-quantity',
      'ValueSet?url',
      'Observation?code-value-string',
    ]
    for (const query of [
      ...queries,
      ...more,
      'Patient?_sort',
      'Patient?_elements',
      'Patient?_include',
      'Patient?_cursor',
    ])
      expectRefusal(await call('GET', `${query}=a%00`), 400)
  })

  test('%00 in If-None-Exist', async () => {
    const headers = { 'content-type': 'application/fhir+json', 'if-none-exist': 'name=%00' }
    expectRefusal(await call('POST', 'Patient', { body: { resourceType: 'Patient' }, headers }), 400)
  })

  test('bytes that are no UTF-8', async () => {
    const body = new Uint8Array([...Buffer.from('{"resourceType":"Patient","language":"'), 0xff, ...Buffer.from('"}')])
    expectRefusal(await call('POST', 'Patient', { body, headers: { 'content-type': 'application/fhir+json' } }), 400)
  })

  test('what claims to be gzip', async () => {
    const headers = { 'content-type': 'application/fhir+json', 'content-encoding': 'gzip' }
    expectRefusal(await call('POST', 'Patient', { body: 'not gzip', headers }), 400)
  })
})

describe('SQL is only text', () => {
  const texts = [
    "'",
    "' or 1=1 --",
    "'; drop table resource; --",
    '"',
    '\\',
    '$1',
    '{}',
    '%25',
    '_',
    ';',
    '/*',
    "\\'",
    '$$',
    ':x',
    '?',
  ]

  test.each([
    ['string', 'Patient?name='],
    ['exact string', 'Patient?name:exact='],
    ['contained string', 'Patient?name:contains='],
    ['token', 'Patient?identifier='],
    ['token text', 'Patient?identifier:text='],
    ['reference', 'Patient?general-practitioner='],
    ['reference identifier', 'Patient?general-practitioner:identifier='],
    ['uri', 'ValueSet?url='],
    ['uri below', 'ValueSet?url:below='],
    ['composite', 'Observation?code-value-concept=a$'],
    ['composite string', 'Observation?code-value-string=a$'],
    ['id', 'Patient?_id='],
    ['tag', 'Patient?_tag='],
    ['chain', 'Observation?patient.name='],
    ['reverse chain', 'Patient?_has:Observation:patient:code='],
    ['sort', 'Patient?_sort='],
    ['elements', 'Patient?_elements='],
  ])('in a %s', async (_kind, query) => {
    for (const text of texts) {
      const { status, body } = await call('GET', `${query}${text === '%25' ? text : encodeURIComponent(text)}`)
      expect([200, 400]).toContain(status)
      expect(body.resourceType).toBe(status === 200 ? 'Bundle' : 'OperationOutcome')
    }
  })

  test.each([
    ['date', 'Patient?birthdate='],
    ['number', 'RiskAssessment?probability='],
    ['quantity', 'Observation?value-quantity='],
    ['time of change', 'Patient?_lastUpdated='],
    ['composite quantity', 'Observation?code-value-quantity=a$'],
    ['type', '?_type='],
    ['count', 'Patient?_count='],
    ['total', 'Patient?_total='],
    ['include', 'Patient?_include='],
    ['cursor', 'Patient?_cursor='],
  ])('in a %s, where it is refused', async (_kind, query) => {
    for (const text of texts)
      expectRefusal(await call('GET', `${query}${text === '%25' ? text : encodeURIComponent(text)}`), 400)
  })

  test('and is found as such', async () => {
    expect(matchIds((await call('GET', `Patient?family=${encodeURIComponent("o'hara; drop")}`)).body)).toEqual(['ada'])
    expect(matchIds((await call('GET', `Patient?identifier=${encodeURIComponent("1' or '1'='1")}`)).body)).toEqual([
      'ada',
    ])
    expect((await call('GET', 'Patient/ada')).status).toBe(200)
  })
})

describe('too much is refused with 400', () => {
  const search = (body: string) => call('POST', 'Patient/_search', { body, headers: form })

  test('more than 10,000 values', async () => {
    const ids = Array.from({ length: 10_001 }, (_, n) => n)
    expectRefusal(await search(`_id=${ids.join()}`), 400)
    expect((await search(`_id=${ids.slice(1).join()}`)).status).toBe(200)
  })

  test('more than 10,000 values in several parameters', async () => {
    const values = Array.from({ length: 5001 }, (_, n) => n).join()
    expectRefusal(await search(`_id=${values}&identifier=${values}`), 400)
  })

  test('hundreds of parameters', async () => {
    expectRefusal(await search(Array.from({ length: 200 }, (_, n) => `name=x${n}`).join('&')), 400)
  })

  test('thousands of values of every kind are answered', async () => {
    const list = (value: (n: number) => string) => Array.from({ length: 3000 }, (_, n) => value(n)).join()
    const posts: [string, string][] = [
      ['Patient', `name=${list(n => `x${n}`)}`],
      ['Patient', `birthdate=${list(n => String(1000 + n))}`],
      ['Patient', `identifier=${list(n => `s|${n}`)}`],
      ['Observation', `value-quantity=${list(n => `${n}||mg`)}`],
      ['Observation', `subject=${list(n => `Patient/${n}`)}`],
      ['Observation', `patient.name=${list(n => `x${n}`)}`],
    ]
    for (const [type, body] of posts)
      expect((await call('POST', `${type}/_search`, { body, headers: form })).status).toBe(200)
  })

  test('a body beyond the limit', async () => {
    const small = await startService({ MAX_BODY_BYTES: '1024' })
    const answer = await fetch(`${small.url}/api/fhir/R4/Patient`, {
      method: 'POST',
      headers: { authorization: `Bearer ${small.token}`, 'content-type': 'application/fhir+json' },
      body: JSON.stringify({ resourceType: 'Patient', name: [{ family: 'x'.repeat(2000) }] }),
    })
    expect(answer.status).toBe(413)
    expect(await answer.json()).toMatchObject({ resourceType: 'OperationOutcome', issue: [{ code: 'too-long' }] })
  })
})

describe('an outcome', () => {
  test('carries the error codes of the other interfaces too where plain JSON is accepted', async () => {
    const { body } = await call('GET', 'Patient/nobody', { headers: { accept: 'application/json' } })
    expect(body).toMatchObject({ resourceType: 'OperationOutcome', error_code: 'NOT_FOUND', status: 'error' })
  })

  test('does not repeat what a body that cannot be read holds', async () => {
    const body = '{"resourceType":"Patient","name":[{"family":"Secret" oops'
    const { text } = await call('POST', 'Patient', { body, headers: { 'content-type': 'application/fhir+json' } })
    expect(text).not.toContain('Secret')
  })
})

describe('a browser of another origin', () => {
  test('is told before what it may send', async () => {
    const response = await fetch(`${service.url}/api/fhir/R4/Patient`, {
      method: 'OPTIONS',
      headers: { origin: 'http://app.example', 'access-control-request-method': 'PUT' },
    })
    expect(response.status).toBe(204)
    expect(response.headers.get('access-control-allow-origin')).toBe('*')
    expect(response.headers.get('access-control-allow-methods')).toContain('PUT')
    for (const name of ['authorization', 'content-type', 'if-match', 'if-none-exist', 'prefer'])
      expect(response.headers.get('access-control-allow-headers')).toContain(name)
  })

  test('may read the headers that matter, also of a refusal', async () => {
    for (const path of ['Patient/ada', 'Patient/nobody']) {
      const { headers } = await call('GET', path, { headers: { origin: 'http://app.example' } })
      expect(headers.get('access-control-allow-origin')).toBe('*')
      for (const name of ['etag', 'location', 'last-modified', 'x-request-id'])
        expect(headers.get('access-control-expose-headers')).toContain(name)
    }
  })
})

describe('what was sent is quoted in part only, of whatever size it is', () => {
  test('a type of a hundred thousand letters', async () => {
    const answer = await call('POST', 'Patient', { body: { resourceType: 'x'.repeat(100_000) } })
    expectRefusal(answer, 400)
    expect(issueOf(answer.body).diagnostics).toMatch(/xxx…$/)
    expect(answer.text.length).toBeLessThan(5000)
  })

  test('a member with such a name, where the answer has the other shape', async () => {
    const { status, body, text } = await call('POST', '/api/v1/connect/patients/resolve', {
      body: JSON.stringify({ ['y'.repeat(30_000)]: 1 }),
      headers: { 'content-type': 'application/json' },
    })
    expect({ status, code: body.error_code }).toEqual({ status: 422, code: 'VALIDATION_FAILED' })
    expect(body.message).toMatch(/^y+…$/)
    expect(text.length).toBeLessThan(5000)
  })

  test('nine hundred members that nobody knows', async () => {
    const members = Array.from({ length: 900 }, (_, index) => [`x${index}`, 1])
    const { status, body } = await call('POST', '/api/v1/connect/patients/resolve', {
      body: JSON.stringify(Object.fromEntries(members)),
      headers: { 'content-type': 'application/json' },
    })
    expect(status).toBe(422)
    expect(body.details).toHaveLength(200)
  })
})
