// Creating resources. https://hl7.org/fhir/R4/http.html#create
import { beforeAll, describe, expect, test } from 'vitest'
import { fhirCaller, issueOf } from '../../support/fhir.ts'
import { type Service, startService } from '../../support/service.ts'

let service: Service
const call = fhirCaller(() => service)
const json = { 'content-type': 'application/fhir+json' }

beforeAll(async () => {
  service = await startService()
})

describe('a creation', () => {
  test('answers 201 with the resource, its address, version and time', async () => {
    const { status, headers, body } = await call('POST', 'Patient', { body: { resourceType: 'Patient', active: true } })
    expect(status).toBe(201)
    expect(body).toMatchObject({ resourceType: 'Patient', active: true, meta: { versionId: '1' } })
    expect(headers.get('location')).toBe(`${service.url}/api/fhir/R4/Patient/${body.id}/_history/1`)
    expect(headers.get('etag')).toBe('W/"1"')
    expect(headers.get('last-modified')).toBe(new Date(body.meta.lastUpdated).toUTCString())
    expect((await call('GET', headers.get('location')!)).body).toEqual(body)
  })

  test('gives an id of its own, whatever the resource says of id, version and time', async () => {
    const meta = { versionId: '77', lastUpdated: '1999-01-01T00:00:00Z', tag: [{ code: 'kept' }] }
    const { body } = await call('POST', 'Patient', { body: { resourceType: 'Patient', id: 'mine', meta } })
    expect(body.id).not.toBe('mine')
    expect(body.meta).toMatchObject({ versionId: '1', tag: [{ code: 'kept' }] })
    expect(body.meta.lastUpdated > '2020').toBe(true)
    expect((await call('GET', 'Patient/mine')).status).toBe(404)
  })

  test.each([
    ['return=minimal', undefined],
    ['return=representation', 'Patient'],
    ['return=OperationOutcome', 'OperationOutcome'],
    ['respond-async, return=minimal', undefined],
    ['return=everything', 'Patient'],
  ])('preferring %s answers by it', async (prefer, resourceType) => {
    const { status, headers, body } = await call('POST', 'Patient', {
      body: { resourceType: 'Patient' },
      headers: { ...json, prefer },
    })
    expect(status).toBe(201)
    expect(headers.get('location')).toContain('/Patient/')
    expect(headers.get('etag')).toBe('W/"1"')
    expect(body?.resourceType).toBe(resourceType)
    expect(headers.get('content-type')).toBe(resourceType ? 'application/fhir+json; charset=utf-8' : null)
  })
})

describe('a creation is refused with 400 and its reason', () => {
  test.each([
    ['no body at all', '', 'empty'],
    ['white space', '  ', 'not valid JSON'],
    ['half a JSON object', '{"resourceType":"Patient"', 'not valid JSON'],
    ['half a word', '{"resourceType":"Patient",\n "active":tru}', 'syntax error at line 2, column 11.'],
    ['a word that JSON lacks', '{"resourceType":undefined}', 'syntax error at line 1, column 17.'],
    ['a key without quotation marks', '{resourceType:"Patient"}', 'syntax error at line 1, column 2.'],
    ['half a word in a long text', `{"resourceType":"${'a'.repeat(100_000)}","active":tru}`, 'it cannot be read'],
    ['two JSON objects', '{"resourceType":"Patient"}{}', 'not valid JSON'],
    ['null', 'null', 'not a JSON object'],
    ['a number', '1', 'not a JSON object'],
    ['a text', '"Patient"', 'not a JSON object'],
    ['a list', '[{"resourceType":"Patient"}]', 'not a JSON object'],
    ['an object without a type', '{}', 'without resourceType'],
    ['a type that is no text', '{"resourceType":1}', 'without resourceType'],
    ['another type', '{"resourceType":"Observation"}', 'Observation'],
    ['an unknown element', '{"resourceType":"Patient","shoe":42}', 'shoe'],
    ['a value of the wrong kind', '{"resourceType":"Patient","active":"yes"}', 'active'],
    ['a code that does not exist', '{"resourceType":"Patient","gender":"f"}', 'gender'],
    ['a date that does not exist', '{"resourceType":"Patient","birthDate":"2023-02-29"}', 'birthDate'],
    ['a list where one value belongs', '{"resourceType":"Patient","birthDate":["2023"]}', 'birthDate'],
    ['an empty list', '{"resourceType":"Patient","name":[]}', 'name'],
    ['__proto__', '{"resourceType":"Patient","__proto__":{"active":true}}', '__proto__'],
    ['a NUL character', '{"resourceType":"Patient","name":[{"family":"a\\u0000"}]}', 'control character'],
    ['half a surrogate pair', '{"resourceType":"Patient","name":[{"family":"\\ud800"}]}', 'Unicode'],
    ['an id of 200 characters', `{"resourceType":"Patient","id":"${'a'.repeat(200)}"}`, 'id'],
  ])('for %s', async (_what, body, said) => {
    const { status, body: outcome } = await call('POST', 'Patient', { body, headers: json })
    expect(status).toBe(400)
    expect(outcome.resourceType).toBe('OperationOutcome')
    expect(outcome.issue[0].severity).toBe('error')
    expect(issueOf(outcome).diagnostics).toContain(said)
  })

  test('and every problem is named at once, with its place', async () => {
    const wrong = { resourceType: 'Patient', gender: 'f', birthDate: 'soon', contact: [{ shoe: 1 }] }
    const { body } = await call('POST', 'Patient', { body: wrong })
    const places = body.issue.map((issue: { expression: string[] }) => issue.expression[0])
    expect(places).toEqual(expect.arrayContaining(['Patient.gender', 'Patient.birthDate', 'Patient.contact[0].shoe']))
  })

  test.each([
    ['lists', `{"resourceType":"Patient","a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`],
    ['lists alone', `${'['.repeat(100_000)}${']'.repeat(100_000)}`],
    [
      'extensions',
      `{"resourceType":"Patient","extension":${'[{"url":"http://a","extension":'.repeat(20_000)}[]${'}]'.repeat(20_000)}}`,
    ],
    [
      'extensions around a decimal',
      `{"resourceType":"Patient","extension":${'[{"url":"http://a","extension":'.repeat(20_000)}[{"valueDecimal":1.0}]${'}]'.repeat(20_000)}}`,
    ],
  ])('for deeply nested %s', async (_what, body) => {
    const { status, body: outcome } = await call('POST', 'Patient', { body, headers: json })
    expect(status).toBe(400)
    expect(outcome.resourceType).toBe('OperationOutcome')
  })

  test('and nothing is left behind', async () => {
    const before = await call('GET', 'Patient?_summary=count&_total=accurate')
    await call('POST', 'Patient', { body: { resourceType: 'Patient', gender: 'f' } })
    const after = await call('GET', 'Patient?_summary=count&_total=accurate')
    expect(after.body.total).toBe(before.body.total)
  })
})

describe('what is stored comes back as it was sent', () => {
  const roundTrip = async (text: string) => {
    const created = await call('POST', /"resourceType":"(\w+)"/.exec(text)![1]!, { body: text, headers: json })
    expect(created.status, created.text).toBe(201)
    const read = await call('GET', created.headers.get('location')!)
    expect(read.text).toBe(created.text)
    return read.text.replace(/"id":"[^"]*","meta":\{[^}]*\},?/, '')
  }

  test.each([
    '1.00',
    '1e3',
    '1.0e-2',
    '0.0000001',
    '0.10',
    '-0',
    '12345678901234567890.123456789',
    '1E+400',
    '5',
    '0.5',
  ])('the decimal %s keeps its digits', async digits => {
    const text = `{"resourceType":"Observation","status":"final","code":{"text":"x"},"valueQuantity":{"value":${digits}}}`
    expect(await roundTrip(text)).toBe(text)
  })

  test.each(['0962', '0962-05', '1583-01-01', '9999-12-31'])('the date %s stays as it is', async date => {
    const text = `{"resourceType":"Patient","birthDate":"${date}"}`
    expect(await roundTrip(text)).toBe(text)
  })

  test.each(['2020-02-29T23:59:60Z', '2015-02-07T13:28:17.239+02:00', '2015-02-07T13:28:17.1234567-11:00'])(
    'the time %s keeps its zone and precision',
    async time => {
      const text = `{"resourceType":"Patient","deceasedDateTime":"${time}"}`
      expect(await roundTrip(text)).toBe(text)
    },
  )

  test('text of any language and plane stays as it is', async () => {
    const text =
      '{"resourceType":"Patient","name":[{"text":"Ωmega 漢字 🩺 e\u0301 é \u200f عربي \\"quoted\\" back\\\\slash"}]}'
    expect(await roundTrip(text)).toBe(text)
  })

  test('contained resources of several types stay as they are', async () => {
    const text =
      '{"resourceType":"Observation","contained":[{"resourceType":"Patient","id":"p","name":[{"family":"A"}]},{"resourceType":"Device","id":"d"}],' +
      '"status":"final","code":{"text":"x"},"subject":{"reference":"#p"},"device":{"reference":"#d"},"valueQuantity":{"value":1.50}}'
    expect(await roundTrip(text)).toBe(text)
  })

  test('extensions of primitives stay beside them', async () => {
    const text =
      '{"resourceType":"Patient","name":[{"given":["A",null],"_given":[null,{"extension":[{"url":"http://a","valueString":"b"}]}]}],"birthDate":"1970","_birthDate":{"id":"b"}}'
    expect(await roundTrip(text)).toBe(text)
  })

  test('a line break, a tab and an escaped slash are the same text afterwards', async () => {
    const { body } = await call('POST', 'Basic', {
      body: '{"resourceType":"Basic","code":{"text":"a\\nb\\tc\\/d"}}',
      headers: json,
    })
    expect((await call('GET', `Basic/${body.id}`)).body.code.text).toBe('a\nb\tc/d')
  })

  test('a body that begins with a byte order mark is read', async () => {
    const { status } = await call('POST', 'Patient', { body: '\ufeff{"resourceType":"Patient"}', headers: json })
    expect(status).toBe(201)
  })
})
