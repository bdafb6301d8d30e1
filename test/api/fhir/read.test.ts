// Reading resources and their versions. https://hl7.org/fhir/R4/http.html#read
import { beforeAll, describe, expect, test } from 'vitest'
import { fhirCaller, issueOf } from '../../support/fhir.ts'
import { type Service, startService } from '../../support/service.ts'

let service: Service
const call = fhirCaller(() => service)

beforeAll(async () => {
  service = await startService()
  await call('PUT', 'Patient/ada', { body: { resourceType: 'Patient', id: 'ada', gender: 'female' } })
  await call('PUT', 'Patient/ada', {
    body: {
      resourceType: 'Patient',
      id: 'ada',
      text: { status: 'generated', div: '<div xmlns="http://www.w3.org/1999/xhtml">Ada</div>' },
      active: true,
      name: [{ family: 'Okoye' }],
      photo: [{ url: 'http://example.org/ada.png' }],
    },
  })
  await call('PUT', 'Patient/gone', { body: { resourceType: 'Patient', id: 'gone' } })
  await call('DELETE', 'Patient/gone')
})

describe('a read', () => {
  test('answers the resource with its version and time in headers and meta', async () => {
    const { status, headers, body } = await call('GET', 'Patient/ada')
    expect(status).toBe(200)
    expect(body).toMatchObject({ resourceType: 'Patient', id: 'ada', active: true, meta: { versionId: '2' } })
    expect(headers.get('etag')).toBe('W/"2"')
    expect(headers.get('last-modified')).toBe(new Date(body.meta.lastUpdated).toUTCString())
    expect(headers.get('content-type')).toBe('application/fhir+json; charset=utf-8')
  })

  test('of an id that never was answers 404', async () => {
    const { status, body } = await call('GET', 'Patient/nobody')
    expect(status).toBe(404)
    expect(body.resourceType).toBe('OperationOutcome')
    expect(issueOf(body)).toMatchObject({ code: 'not-found', diagnostics: 'There is no Patient/nobody.' })
  })

  test('of a deleted resource answers 410 with the version of the deletion', async () => {
    const { status, headers, body } = await call('GET', 'Patient/gone')
    expect(status).toBe(410)
    expect(issueOf(body).code).toBe('deleted')
    expect(headers.get('etag')).toBe('W/"2"')
  })

  test.each(['Nonsense/1', 'patient/ada', 'PATIENT/ada', 'DomainResource/ada', 'HumanName/ada'])(
    'of %s answers 404: there is no such type',
    async path => {
      const { status, body } = await call('GET', path)
      expect(status).toBe(404)
      expect(issueOf(body)).toMatchObject({ code: 'not-supported' })
      expect(issueOf(body).diagnostics).toContain(path.split('/')[0])
    },
  )

  test.each(['a_b', 'x'.repeat(65), 'x'.repeat(200), '%20', "1'--", 'ü'])(
    'of the malformed id %s answers 404 and says what an id is',
    async id => {
      const { status, body } = await call('GET', `Patient/${id}`)
      expect(status).toBe(404)
      expect(issueOf(body).diagnostics).toContain('an id has 1 to 64 letters, digits, hyphens and dots')
    },
  )

  test('ignores parameters that it does not know', async () => {
    const { status, body } = await call('GET', 'Patient/ada?_t=12345&shoe=42')
    expect(status).toBe(200)
    expect(body.id).toBe('ada')
  })

  test('by HEAD answers the same headers and no body', async () => {
    const get = await call('GET', 'Patient/ada')
    const { status, headers, text } = await call('HEAD', 'Patient/ada')
    expect(status).toBe(200)
    expect(text).toBe('')
    for (const name of ['etag', 'last-modified', 'content-type', 'content-length'])
      expect(headers.get(name)).toBe(get.headers.get(name))
  })

  test('echoes the id by which the caller knows the request', async () => {
    const { headers } = await call('GET', 'Patient/ada', { headers: { 'x-request-id': 'my-request-1' } })
    expect(headers.get('x-request-id')).toBe('my-request-1')
  })

  test('names the request itself when the caller does not', async () => {
    expect((await call('GET', 'Patient/ada')).headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
  })
})

describe('a read of parts', () => {
  const tag = [{ system: 'http://terminology.hl7.org/CodeSystem/v3-ObservationValue', code: 'SUBSETTED' }]

  test('keeps the elements of the summary and says that it is not the whole', async () => {
    const { status, body } = await call('GET', 'Patient/ada?_summary=true')
    expect(status).toBe(200)
    expect(Object.keys(body).sort()).toEqual(['active', 'id', 'meta', 'name', 'resourceType'])
    expect(body.meta.tag).toEqual(tag)
  })

  test('keeps the narrative only', async () => {
    const { body } = await call('GET', 'Patient/ada?_summary=text')
    expect(Object.keys(body).sort()).toEqual(['id', 'meta', 'resourceType', 'text'])
    expect(body.meta.tag).toEqual(tag)
  })

  test('keeps everything but the narrative', async () => {
    const { body } = await call('GET', 'Patient/ada?_summary=data')
    expect(Object.keys(body).sort()).toEqual(['active', 'id', 'meta', 'name', 'photo', 'resourceType'])
    expect(body.meta.tag).toEqual(tag)
  })

  test('keeps the elements that are asked for', async () => {
    const { body } = await call('GET', 'Patient/ada?_elements=photo,active')
    expect(Object.keys(body).sort()).toEqual(['active', 'id', 'meta', 'photo', 'resourceType'])
    expect(body.meta.tag).toEqual(tag)
  })

  test('keeps everything, without a tag, for _summary=false', async () => {
    expect((await call('GET', 'Patient/ada?_summary=false')).body.meta.tag).toBeUndefined()
  })

  test('refuses a summary that there is not', async () => {
    const { status, body } = await call('GET', 'Patient/ada?_summary=short')
    expect(status).toBe(400)
    expect(issueOf(body).diagnostics).toContain('_summary')
  })
})

describe('a conditional read', () => {
  test.each([
    ['the same version', 'W/"2"', 304],
    ['the same version among others', 'W/"1", W/"2"', 304],
    ['the same version as a strong tag', '"2"', 304],
    ['any version', '*', 304],
    ['another version', 'W/"1"', 200],
  ])('with If-None-Match of %s answers by it', async (_what, tag, expected) => {
    const { status, headers, text } = await call('GET', 'Patient/ada', { headers: { 'if-none-match': tag } })
    expect(status).toBe(expected)
    expect(headers.get('etag')).toBe('W/"2"')
    expect(text === '').toBe(expected === 304)
  })

  test('with If-Modified-Since answers 304 unless it changed since then', async () => {
    const { headers } = await call('GET', 'Patient/ada')
    const at = (since: string) => call('GET', 'Patient/ada', { headers: { 'if-modified-since': since } })
    expect((await at(headers.get('last-modified')!)).status).toBe(304)
    expect((await at('Sat, 01 Jan 2000 00:00:00 GMT')).status).toBe(200)
    expect((await at('yesterday')).status).toBe(200)
  })

  test('goes by If-None-Match where both are given', async () => {
    const headers = { 'if-none-match': 'W/"1"', 'if-modified-since': 'Fri, 01 Jan 2100 00:00:00 GMT' }
    expect((await call('GET', 'Patient/ada', { headers })).status).toBe(200)
  })
})

describe('a read of a version', () => {
  test('answers that version, with its tag', async () => {
    const { status, headers, body } = await call('GET', 'Patient/ada/_history/1')
    expect(status).toBe(200)
    expect(body).toMatchObject({ gender: 'female', meta: { versionId: '1' } })
    expect(headers.get('etag')).toBe('W/"1"')
    expect(headers.get('last-modified')).toBe(new Date(body.meta.lastUpdated).toUTCString())
  })

  test('answers the current version too', async () => {
    expect((await call('GET', 'Patient/ada/_history/2')).body).toEqual((await call('GET', 'Patient/ada')).body)
  })

  test('answers 410 for the version that is the deletion, and the version before it', async () => {
    const { status, body } = await call('GET', 'Patient/gone/_history/2')
    expect(status).toBe(410)
    expect(issueOf(body).code).toBe('deleted')
    expect((await call('GET', 'Patient/gone/_history/1')).status).toBe(200)
  })

  test.each(['3', '0', '01', 'abc', '1.5', '-1', '99999999999'])('answers 404 for version %s', async version => {
    const { status, body } = await call('GET', `Patient/ada/_history/${version}`)
    expect(status).toBe(404)
    expect(issueOf(body).code).toBe('not-found')
  })

  test('answers 404 for a version of what never was', async () => {
    expect((await call('GET', 'Patient/nobody/_history/1')).status).toBe(404)
  })

  test('by HEAD answers no body', async () => {
    const { status, text } = await call('HEAD', 'Patient/ada/_history/1')
    expect([status, text]).toEqual([200, ''])
  })
})
