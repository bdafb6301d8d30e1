// Which media types and FHIR versions are taken and given. https://hl7.org/fhir/R4/http.html#mime-type
import { beforeAll, describe, expect, test } from 'vitest'
import { fhirCaller, issueOf } from '../../support/fhir.ts'
import { type Service, startService } from '../../support/service.ts'

let service: Service
const call = fhirCaller(() => service)

beforeAll(async () => {
  service = await startService()
  await call('PUT', 'Patient/ada', { body: { resourceType: 'Patient', id: 'ada' } })
})

const accepting = (accept: string, path = 'Patient/ada') => call('GET', path, { headers: { accept } })

describe('Accept', () => {
  test.each([
    'application/fhir+json',
    'application/json',
    'text/json',
    '*/*',
    'application/*',
    'APPLICATION/FHIR+JSON',
    'application/fhir+json; fhirVersion=4.0',
    'application/fhir+json;charset=utf-8',
    'application/fhir+xml, application/fhir+json;q=0.5',
    'text/html, */*;q=0.1',
  ])('%s is answered with FHIR JSON in UTF-8', async accept => {
    const { status, headers, body } = await accepting(accept)
    expect(status).toBe(200)
    expect(headers.get('content-type')).toBe('application/fhir+json; charset=utf-8')
    expect(body.id).toBe('ada')
  })

  test.each([
    'application/fhir+xml',
    'text/plain',
    'text/html',
    'image/png',
    'application/fhir+json; fhirVersion=3.0',
    'application/fhir+json; fhirVersion=5.0',
    'application/fhir+json;q=0',
  ])('%s is answered with 406 and an outcome', async accept => {
    const { status, body } = await accepting(accept)
    expect(status).toBe(406)
    expect(body.resourceType).toBe('OperationOutcome')
    expect(issueOf(body).code).toBe('not-supported')
  })
})

describe('_format', () => {
  test.each(['json', 'application/json', 'application/fhir+json', 'application/fhir%2Bjson', 'text/json'])(
    '%s wins over an Accept that cannot be met',
    async format => {
      const { status, body } = await accepting('application/fhir+xml', `Patient/ada?_format=${format}`)
      expect(status).toBe(200)
      expect(body.id).toBe('ada')
    },
  )

  test.each(['xml', 'application/fhir+xml', 'ttl', 'html', 'nonsense'])(
    '%s is refused although the Accept could be met',
    async format => {
      for (const path of [`Patient/ada?_format=${format}`, `Patient?_format=${format}`, `metadata?_format=${format}`])
        expect((await accepting('application/fhir+json', path)).status).toBe(406)
    },
  )
})

describe('_format of a search by POST', () => {
  const search = (path: string, body: string, accept = 'application/fhir+json') =>
    call('POST', path, { body, headers: { 'content-type': 'application/x-www-form-urlencoded', accept } })

  test.each(['Patient/_search', 'AuditEvent/_search', '_search'])('is refused alike in the body: %s', async path => {
    expect((await search(path, '_type=Patient&_format=xml')).status).toBe(406)
  })

  test('wins over an Accept that cannot be met', async () => {
    expect((await search('Patient/_search', '_format=json', 'application/fhir+xml')).status).toBe(200)
  })
})

describe('_format of an entry', () => {
  const entry = ['Patient/ada?_format=xml', 'Patient?_format=xml', 'Patient/ada?_format=json'].map(url => ({
    request: { method: 'GET', url },
  }))

  test('is refused in a batch as anywhere', async () => {
    const { body } = await call('POST', '', { body: { resourceType: 'Bundle', type: 'batch', entry } })
    const statuses = body.entry.map(({ response }: { response: { status: string } }) => response.status)
    expect(statuses).toEqual(['406 Not Acceptable', '406 Not Acceptable', '200 OK'])
  })

  test('is refused with the whole of a transaction', async () => {
    const { status } = await call('POST', '', { body: { resourceType: 'Bundle', type: 'transaction', entry } })
    expect(status).toBe(406)
  })
})

describe('Content-Type', () => {
  const send = (type: string) =>
    call('POST', 'Patient', { body: '{"resourceType":"Patient"}', headers: { 'content-type': type } })

  test.each(['application/fhir+json', 'application/json', 'text/json', 'application/fhir+json; fhirVersion=4.0'])(
    '%s is taken',
    async type => {
      expect((await send(type)).status).toBe(201)
    },
  )

  test.each(['application/fhir+xml', 'text/plain', 'application/octet-stream', 'multipart/form-data'])(
    '%s is refused with 415 and the types that are taken',
    async type => {
      const { status, headers, body } = await send(type)
      expect(status).toBe(415)
      expect(issueOf(body).diagnostics).toContain('application/fhir+json')
      expect(headers.get('accept')).toContain('application/fhir+json')
    },
  )

  test('of another FHIR version is refused with 415', async () => {
    const { status, body } = await send('application/fhir+json; fhirVersion=3.0')
    expect(status).toBe(415)
    expect(issueOf(body).diagnostics).toContain('FHIR version')
  })

  test('of a search by POST must be a form', async () => {
    const { status } = await call('POST', 'Patient/_search', { body: {} })
    expect(status).toBe(415)
  })

  test('of a patch must be a patch', async () => {
    const headers = { 'content-type': 'application/xml-patch+xml' }
    expect((await call('PATCH', 'Patient/ada', { body: '<diff/>', headers })).status).toBe(415)
  })
})

test('text beyond ASCII is taken and given as UTF-8', async () => {
  const family = 'Gaëtan Ωmega 漢字 🩺 Ö'
  const created = await call('POST', 'Patient', { body: { resourceType: 'Patient', name: [{ family }] } })
  expect((await call('GET', `Patient/${created.body.id}`)).body.name[0].family).toBe(family)
})
