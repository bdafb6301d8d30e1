// Deleting resources. https://hl7.org/fhir/R4/http.html#delete
import { beforeAll, describe, expect, test } from 'vitest'
import { fhirCaller, issueOf, matchIds } from '../../support/fhir.ts'
import { type Service, startService } from '../../support/service.ts'

let service: Service
const call = fhirCaller(() => service)

beforeAll(async () => {
  service = await startService()
})

const put = (id: string, more: object = {}) =>
  call('PUT', `Patient/${id}`, { body: { resourceType: 'Patient', id, ...more } })
const found = async (query: string) => matchIds((await call('GET', `Patient?${query}`)).body).sort()

describe('a deletion', () => {
  test('answers 204 without body or content type', async () => {
    await put('bye')
    const { status, headers, text } = await call('DELETE', 'Patient/bye')
    expect(status).toBe(204)
    expect(text).toBe('')
    expect(headers.get('content-type')).toBeNull()
    expect(headers.get('etag')).toBe('W/"2"')
  })

  test('leaves nothing to be read or found, by any index', async () => {
    const more = {
      name: [{ family: 'Vanish' }],
      birthDate: '1970-01-01',
      identifier: [{ system: 'http://a', value: 'v' }],
      generalPractitioner: [{ reference: 'Practitioner/p' }],
    }
    await put('vanish', more)
    const queries = [
      'name=vanish',
      'birthdate=1970-01-01',
      'identifier=http://a|v',
      'general-practitioner=p',
      '_id=vanish',
    ]
    for (const query of queries) expect(await found(query)).toEqual(['vanish'])
    await call('DELETE', 'Patient/vanish')
    expect((await call('GET', 'Patient/vanish')).status).toBe(410)
    for (const query of queries) expect(await found(query)).toEqual([])
    expect((await call('GET', 'Patient?name=vanish&_total=accurate')).body.total).toBe(0)
  })

  test('of what others refer to is allowed: references are not enforced', async () => {
    await put('referred')
    const subject = { reference: 'Patient/referred' }
    await call('PUT', 'Basic/refers', { body: { resourceType: 'Basic', id: 'refers', code: { text: 'x' }, subject } })
    expect((await call('DELETE', 'Patient/referred')).status).toBe(204)
    expect((await call('GET', 'Basic/refers')).body.subject).toEqual(subject)
  })

  test('of what is deleted already answers 204 and makes no version', async () => {
    await put('twice')
    await call('DELETE', 'Patient/twice')
    expect((await call('DELETE', 'Patient/twice')).status).toBe(204)
    expect((await call('GET', 'Patient/twice/_history')).body.entry).toHaveLength(2)
  })

  test('of what never was answers 204 and leaves no trace', async () => {
    expect((await call('DELETE', 'Patient/never')).status).toBe(204)
    expect((await call('GET', 'Patient/never')).status).toBe(404)
    expect((await call('GET', 'Patient/never/_history')).status).toBe(404)
  })

  test('goes by If-Match', async () => {
    await put('kept')
    const stale = await call('DELETE', 'Patient/kept', { headers: { 'if-match': 'W/"2"' } })
    expect(stale.status).toBe(412)
    expect((await call('GET', 'Patient/kept')).status).toBe(200)
    expect((await call('DELETE', 'Patient/kept', { headers: { 'if-match': 'W/"1"' } })).status).toBe(204)
  })

  test('of a malformed id answers 404', async () => {
    expect((await call('DELETE', `Patient/${'x'.repeat(200)}`)).status).toBe(404)
  })

  test('of an unknown type answers 404', async () => {
    expect((await call('DELETE', 'Nonsense/1')).status).toBe(404)
  })

  test('by many at once happens once', async () => {
    await put('crowd')
    const replies = await Promise.all(Array.from({ length: 10 }, () => call('DELETE', 'Patient/crowd')))
    expect(replies.map(reply => reply.status)).toEqual(Array(10).fill(204))
    expect((await call('GET', 'Patient/crowd/_history')).body.entry).toHaveLength(2)
  })
})

describe('a conditional deletion', () => {
  test('that matches nothing answers 204', async () => {
    expect((await call('DELETE', 'Patient?identifier=nobody')).status).toBe(204)
  })

  test('that matches one deletes it', async () => {
    await put('one', { identifier: [{ value: 'one' }] })
    expect((await call('DELETE', 'Patient?identifier=one')).status).toBe(204)
    expect((await call('GET', 'Patient/one')).status).toBe(410)
  })

  test('that matches several answers 412 and deletes none', async () => {
    for (const id of ['a', 'b']) await put(id, { identifier: [{ value: 'several' }] })
    const { status, body } = await call('DELETE', 'Patient?identifier=several')
    expect(status).toBe(412)
    expect(issueOf(body).code).toBe('multiple-matches')
    expect(await found('identifier=several')).toEqual(['a', 'b'])
  })

  test.each([
    ['without a condition', 'Patient', 400],
    ['with an empty condition', 'Patient?', 400],
    ['with an unknown parameter', 'Patient?shoe=42', 400],
    ['with an unknown parameter beside a known one', 'Patient?identifier=several&shoe=42', 400],
    ['with nothing but a control', 'Patient?_count=1', 412],
    ['with an empty value', 'Patient?identifier=', 412],
    ['with nothing but commas', 'Patient?identifier=,', 412],
    ['with one of its values empty', 'Patient?name=&identifier=stays', 400],
    ['with a value of commas and spaces alone', 'Patient?name=,%20&identifier=stays', 400],
    ['with nothing but spaces', 'Patient?name=%20', 412],
  ])('%s is refused and deletes nothing', async (_what, path, expected) => {
    await put('stays', { identifier: [{ value: 'stays' }] })
    expect((await call('DELETE', path)).status).toBe(expected)
    expect((await call('GET', 'Patient/stays')).status).toBe(200)
  })
})
