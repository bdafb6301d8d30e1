// Binary by its content and as a resource. https://hl7.org/fhir/R4/binary.html
import { randomBytes } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { demoClient } from '../../../src/identity/demo-accounts.ts'
import { fhirCaller, issueOf } from '../../support/fhir.ts'
import { type Service, startService } from '../../support/service.ts'

let service: Service
const call = fhirCaller(() => service)
const text = 'Glucose: 5.4 mmol/l'

beforeAll(async () => {
  service = await startService()
  const body = { resourceType: 'Binary', id: 'note', contentType: 'text/plain', data: btoa(text) }
  await call('PUT', 'Binary/note', { body })
})

/** The reply as bytes: what a Binary holds is seldom JSON. */
async function raw(method: string, path: string, headers: Record<string, string> = {}, body?: Uint8Array | string) {
  const response = await fetch(path.startsWith('http') ? path : `${service.url}/api/fhir/R4/${path}`, {
    method,
    headers: { authorization: `Bearer ${service.token}`, ...headers },
    ...(body === undefined ? {} : { body: body as string }),
  })
  const bytes = Buffer.from(await response.arrayBuffer())
  return { status: response.status, headers: response.headers, bytes, text: bytes.toString() }
}

const typeOf = (headers: Headers): string => headers.get('content-type')!.split(';')[0]!

describe('reading a Binary', () => {
  test.each<[accept: string, type: string]>([
    ['*/*', 'text/plain'],
    ['text/plain', 'text/plain'],
    ['text/*', 'text/plain'],
    ['image/png, text/plain;q=0.1', 'text/plain'],
    ['text/html, */*;q=0.1', 'text/plain'],
    ['application/fhir+json', 'application/fhir+json'],
    ['application/fhir+json; fhirVersion=4.0', 'application/fhir+json'],
    ['application/json', 'application/fhir+json'],
    ['application/fhir+json, */*;q=0.1', 'application/fhir+json'],
    ['application/fhir+json;q=0.1, text/plain', 'text/plain'],
  ])('with Accept: %s gives %s', async (accept, type) => {
    const answer = await raw('GET', 'Binary/note', { accept })
    expect([answer.status, typeOf(answer.headers)]).toEqual([200, type])
    if (type === 'text/plain') expect(answer.text).toBe(text)
    else expect(JSON.parse(answer.text)).toMatchObject({ resourceType: 'Binary', id: 'note', data: btoa(text) })
  })

  test('without Accept gives the content', async () => {
    const { get } = await import('node:http')
    const type = await new Promise<string | undefined>((done, failed) => {
      const options = { headers: { authorization: `Bearer ${service.token}` } }
      get(`${service.url}/api/fhir/R4/Binary/note`, options, response => {
        response.resume().on('end', () => done(response.headers['content-type']))
      }).on('error', failed)
    })
    expect(type).toBe('text/plain')
  })

  test.each(['image/png', 'application/fhir+xml', 'text/plain;q=0'])('with Accept: %s answers 406', async accept => {
    const answer = await raw('GET', 'Binary/note', { accept })
    expect(answer.status).toBe(406)
    expect(issueOf(JSON.parse(answer.text)).diagnostics).toContain('text/plain')
  })

  test('by _format gives the resource, whatever is accepted', async () => {
    for (const format of ['json', 'application/fhir%2Bjson']) {
      const answer = await raw('GET', `Binary/note?_format=${format}`, { accept: 'text/plain' })
      expect([answer.status, typeOf(answer.headers)]).toEqual([200, 'application/fhir+json'])
    }
    expect((await raw('GET', 'Binary/note?_format=xml')).status).toBe(406)
    const few = await raw('GET', 'Binary/note?_elements=contentType', { accept: 'application/fhir+json' })
    expect(JSON.parse(few.text).data).toBeUndefined()
    expect((await raw('GET', 'Binary/note?_elements=contentType')).text).toBe(text)
  })

  test.each(['application/pdf', '*/*', 'text/plain', 'application/fhir+json'])(
    'that is not there, or not any more, answers 404 and 410 with an OperationOutcome to Accept: %s',
    async accept => {
      const unknown = await raw('GET', 'Binary/nothing', { accept })
      expect([unknown.status, typeOf(unknown.headers)]).toEqual([404, 'application/fhir+json'])
      expect(JSON.parse(unknown.text).resourceType).toBe('OperationOutcome')
      await raw('PUT', 'Binary/gone', { 'content-type': 'text/plain' }, 'x')
      await raw('DELETE', 'Binary/gone')
      expect((await raw('GET', 'Binary/gone', { accept })).status).toBe(410)
    },
  )

  test('tells its version, and nothing to who has it already', async () => {
    const { headers } = await raw('GET', 'Binary/note')
    expect(headers.get('etag')).toBe('W/"1"')
    const conditions = [
      ['if-none-match', 'W/"1"'],
      ['if-modified-since', headers.get('last-modified')!],
    ] as const
    for (const [name, value] of conditions) {
      const again = await raw('GET', 'Binary/note', { [name]: value })
      expect([again.status, again.bytes.length]).toEqual([304, 0])
    }
  })

  test('by HEAD tells the same headers and no content', async () => {
    const head = await raw('HEAD', 'Binary/note')
    const shown = ['content-type', 'content-length', 'etag', 'accept-ranges', 'content-disposition']
    expect(shown.map(name => head.headers.get(name))).toEqual([
      'text/plain',
      String(text.length),
      'W/"1"',
      'bytes',
      'attachment; filename="note"',
    ])
    expect(head.bytes.length).toBe(0)
  })

  test('of one version gives the content of that version', async () => {
    await raw('PUT', 'Binary/versions', { 'content-type': 'text/plain' }, 'one')
    await raw('PUT', 'Binary/versions', { 'content-type': 'text/csv' }, 'two')
    const first = await raw('GET', 'Binary/versions/_history/1')
    expect([first.text, typeOf(first.headers)]).toEqual(['one', 'text/plain'])
    expect((await raw('GET', 'Binary/versions')).text).toBe('two')
  })

  test('in a batch, a search and a history gives the resource', async () => {
    const entry = [{ request: { method: 'GET', url: 'Binary/note' } }]
    const { body } = await call('POST', '', { body: { resourceType: 'Bundle', type: 'batch', entry } })
    expect(body.entry[0].resource.data).toBe(btoa(text))
    expect((await call('GET', 'Binary?_id=note')).body.entry[0].resource.data).toBe(btoa(text))
    expect((await call('GET', 'Binary/note/_history')).body.entry).toHaveLength(1)
  })
})

describe('what is asked for of the content', () => {
  test.each<[range: string, part: string, of: string]>([
    ['bytes=0-6', 'Glucose', '0-6/19'],
    ['bytes=9-', '5.4 mmol/l', '9-18/19'],
    ['bytes=-6', 'mmol/l', '13-18/19'],
    ['bytes=-100', text, '0-18/19'],
    ['bytes=10-10', '.', '10-10/19'],
    ['bytes=13-999', 'mmol/l', '13-18/19'],
  ])('%s', async (range, part, of) => {
    const answer = await raw('GET', 'Binary/note', { range })
    expect([answer.status, answer.text, answer.headers.get('content-range')]).toEqual([206, part, `bytes ${of}`])
    expect(answer.headers.get('content-length')).toBe(String(part.length))
  })

  test.each(['bytes=19-', 'bytes=500-600', 'bytes=-0'])('%s is not there: 416', async range => {
    const answer = await raw('GET', 'Binary/note', { range })
    expect([answer.status, answer.headers.get('content-range')]).toEqual([416, 'bytes */19'])
    expect(JSON.parse(answer.text).resourceType).toBe('OperationOutcome')
  })

  test.each(['bytes=0-1,3-4', 'lines=1-2', 'bytes=5-2', 'bytes=-', 'bytes=x'])(
    '%s is no range that is served: all of it',
    async range => {
      const answer = await raw('GET', 'Binary/note', { range })
      expect([answer.status, answer.text]).toEqual([200, text])
    },
  )

  test('all of it, where it has changed since (If-Range), and never a part of the resource', async () => {
    const range = 'bytes=0-6'
    const modified = (await raw('GET', 'Binary/note')).headers.get('last-modified')!
    expect((await raw('GET', 'Binary/note', { range, 'if-range': modified })).status).toBe(206)
    for (const other of ['W/"0"', 'Sat, 01 Jan 2000 00:00:00 GMT'])
      expect((await raw('GET', 'Binary/note', { range, 'if-range': other })).status).toBe(200)
    const resource = await raw('GET', 'Binary/note', { range, accept: 'application/fhir+json' })
    expect([resource.status, JSON.parse(resource.text).id]).toEqual([200, 'note'])
  })
})

describe('sending content', () => {
  test.each([
    'application/octet-stream',
    'application/pdf',
    'image/png',
    'application/x-www-form-urlencoded',
    'text/plain; charset=utf-8',
  ])('of type %s creates a Binary that gives it back', async type => {
    const bytes = randomBytes(1000)
    const created = await raw('POST', 'Binary', { 'content-type': type }, bytes)
    expect([created.status, created.text, created.headers.get('etag')]).toEqual([201, '', 'W/"1"'])
    const location = created.headers.get('location')!
    const read = await raw('GET', location.replace(/\/_history.*/, ''))
    expect([read.status, read.headers.get('content-type'), read.bytes.equals(bytes)]).toEqual([200, type, true])
  })

  test('of JSON that is no resource keeps it as it is, and a resource stays one', async () => {
    const json = '{ "glucose": 5.40 }'
    const created = await raw('POST', 'Binary', { 'content-type': 'application/json' }, json)
    const address = created.headers.get('location')!.replace(/\/_history.*/, '')
    const read = await raw('GET', address, { accept: 'application/json' })
    expect([read.headers.get('content-type'), read.text]).toEqual(['application/json', json])
    const resource = JSON.stringify({ resourceType: 'Binary', contentType: 'text/plain', data: btoa('as a resource') })
    for (const type of ['application/json', 'application/fhir+json']) {
      const { status, text: reply } = await raw('POST', 'Binary', { 'content-type': type }, resource)
      expect([status, JSON.parse(reply).data]).toEqual([201, btoa('as a resource')])
    }
    const patient = await raw('POST', 'Binary', { 'content-type': 'application/json' }, '{"resourceType":"Patient"}')
    expect(patient.status).toBe(400)
  })

  test('to an address of its own creates and replaces it, with If-Match, and as a resource where that is preferred', async () => {
    const type = { 'content-type': 'text/plain' }
    expect((await raw('PUT', 'Binary/own', type, 'one')).status).toBe(201)
    expect((await raw('PUT', 'Binary/own', { ...type, 'if-match': 'W/"9"' }, 'two')).status).toBe(412)
    const told = await raw('PUT', 'Binary/own', { ...type, prefer: 'return=representation' }, 'two')
    expect([told.status, JSON.parse(told.text).data]).toEqual([200, btoa('two')])
    const outcome = await raw('PUT', 'Binary/own', { ...type, prefer: 'return=OperationOutcome' }, 'three')
    expect(JSON.parse(outcome.text).resourceType).toBe('OperationOutcome')
  })

  test('with an Idempotency-Key happens once', async () => {
    const headers = { 'content-type': 'text/plain', 'idempotency-key': 'one-scan' }
    const [first, second] = [await raw('POST', 'Binary', headers, 'scan'), await raw('POST', 'Binary', headers, 'scan')]
    expect(second.headers.get('idempotent-replayed')).toBe('true')
    expect(second.headers.get('location')).toBe(first.headers.get('location'))
  })

  test.each<[what: string, headers: Record<string, string>, body: string, status: number]>([
    ['FHIR XML', { 'content-type': 'application/fhir+xml' }, '<Binary/>', 415],
    ['any type', { 'content-type': '*/*' }, 'x', 415],
    ['what is no type', { 'content-type': 'shoe' }, 'x', 415],
    ['nothing', { 'content-type': 'text/plain' }, '', 400],
    ['what is no reference', { 'content-type': 'text/plain', 'x-security-context': 'a patient' }, 'x', 400],
  ])('%s is refused', async (_what, headers, body, status) => {
    const answer = await raw('POST', 'Binary', headers, body)
    expect([answer.status, JSON.parse(answer.text).resourceType]).toEqual([status, 'OperationOutcome'])
  })

  test('is for Binary alone', async () => {
    expect((await raw('POST', 'Patient', { 'content-type': 'text/plain' }, 'x')).status).toBe(415)
    expect((await raw('PUT', 'Patient/x', { 'content-type': 'application/pdf' }, 'x')).status).toBe(415)
  })

  test('of several megabytes is kept whole, and a part of it can be read', async () => {
    const bytes = randomBytes(5_000_001)
    expect((await raw('PUT', 'Binary/large', { 'content-type': 'application/dicom' }, bytes)).status).toBe(201)
    expect((await raw('GET', 'Binary/large')).bytes.equals(bytes)).toBe(true)
    const part = await raw('GET', 'Binary/large', { range: 'bytes=3000001-3100000' })
    expect(part.bytes.equals(bytes.subarray(3_000_001, 3_100_001))).toBe(true)
  })

  test('larger than the limit is refused', async () => {
    const small = await startService({ MAX_BODY_BYTES: '2048' })
    const headers = { authorization: `Bearer ${small.token}`, 'content-type': 'application/pdf' }
    const send = (size: number) =>
      fetch(`${small.url}/api/fhir/R4/Binary`, { method: 'POST', headers, body: new Uint8Array(size) })
    expect([(await send(2048)).status, (await send(2049)).status]).toEqual([201, 413])
  })
})

test('an attachment leads to its content', async () => {
  const scan = randomBytes(2000)
  const created = await raw('POST', 'Binary', { 'content-type': 'application/pdf' }, scan)
  const url = created.headers.get('location')!.replace(/\/_history.*/, '')
  const body = {
    resourceType: 'DocumentReference',
    status: 'current',
    content: [{ attachment: { contentType: 'application/pdf', url: `Binary/${url.split('/').at(-1)}` } }],
  }
  const document = (await call('POST', 'DocumentReference', { body })).body
  const read = await raw('GET', document.content[0].attachment.url)
  expect([read.headers.get('content-type'), read.bytes.equals(scan)]).toEqual(['application/pdf', true])
})

test('no browser runs what a Binary holds', async () => {
  await raw('PUT', 'Binary/page', { 'content-type': 'text/html' }, '<script>alert(1)</script>')
  const { headers } = await raw('GET', 'Binary/page', { accept: 'text/html' })
  expect(headers.get('x-content-type-options')).toBe('nosniff')
  expect(headers.get('content-disposition')).toBe('attachment; filename="page"')
  expect(headers.get('content-security-policy')).toBe("sandbox; default-src 'none'; frame-ancestors 'none'")
  expect(headers.get('cache-control')).toBe('no-store')
})

describe('whose content it is', () => {
  const clinic = (scopes: string[], clientId = 'clinic') =>
    service.application.identity.tokens.mint({ clientId, organizationId: clientId, consentExempt: false }, scopes)

  beforeAll(async () => {
    await call('PUT', 'Patient/mia', { body: { resourceType: 'Patient', id: 'mia' } })
    const headers = { 'content-type': 'text/plain', 'x-security-context': 'Patient/mia' }
    expect((await raw('PUT', 'Binary/result', headers, 'secret result')).status).toBe(201)
  })

  test('is told by X-Security-Context, which becomes part of the resource', async () => {
    expect((await raw('GET', 'Binary/result')).headers.get('x-security-context')).toBe('Patient/mia')
    expect((await call('GET', 'Binary/result', { headers: { accept: 'application/fhir+json' } })).body).toMatchObject({
      securityContext: { reference: 'Patient/mia' },
    })
  })

  test('decides who sees it, as content like as a resource', async () => {
    const token = await clinic(['system/Binary.rs'])
    for (const accept of ['*/*', 'text/plain', 'application/fhir+json']) {
      const answer = await raw('GET', 'Binary/result', { accept, authorization: `Bearer ${token}` })
      expect([answer.status, answer.text.includes('secret')]).toEqual([403, false])
      expect(JSON.parse(answer.text).resourceType).toBe('OperationOutcome')
    }
    const history = await raw('GET', 'Binary/result/_history/1', { authorization: `Bearer ${token}` })
    expect([history.status, history.text.includes('secret')]).toEqual([403, false])
  })

  test('is read and written only with a scope for it', async () => {
    const authorization = `Bearer ${await clinic(['system/Patient.cruds'])}`
    expect((await raw('GET', 'Binary/result', { authorization })).status).toBe(403)
    const sent = await raw('POST', 'Binary', { authorization, 'content-type': 'text/plain' }, 'x')
    expect(sent.status).toBe(403)
  })

  test('is on record: who read it, and of whom it is', async () => {
    await raw('GET', 'Binary/result', { 'x-request-id': 'read-the-result' })
    const { body } = await call('GET', 'AuditEvent?entity:identifier=read-the-result')
    expect(body.entry).toHaveLength(1)
    const { action, outcome, entity, agent } = body.entry[0].resource
    expect([action, outcome, agent[0].who.identifier.value]).toEqual(['R', '0', demoClient.id])
    const named = entity.map((each: { what?: { reference?: string } }) => each.what?.reference)
    expect(named).toEqual(expect.arrayContaining(['Binary/result/_history/1', 'Patient/mia']))
  })
})
