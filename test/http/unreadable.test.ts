// What cannot be read as HTTP is answered all the same, with what was wrong and what to do.
import { once } from 'node:events'
import { connect } from 'node:net'
import { beforeAll, describe, expect, test } from 'vitest'
import { type Service, startService } from '../support/service.ts'

let service: Service
beforeAll(async () => {
  service = await startService()
})

/** Sends bytes as they are; the status, the headers and the parsed body of what comes back. */
async function send(bytes: Buffer | string): Promise<{ status: number; head: string; body: Record<string, unknown> }> {
  const socket = connect(Number(new URL(service.url).port), '127.0.0.1')
  const chunks: Buffer[] = []
  socket.on('data', chunk => chunks.push(chunk))
  socket.write(bytes)
  await once(socket, 'close')
  const [head = '', body = ''] = Buffer.concat(chunks).toString('utf8').split('\r\n\r\n')
  return { status: Number(head.split(' ')[1]), head, body: JSON.parse(body) }
}

describe('what is no HTTP', () => {
  test('a letter that is not percent-encoded', async () => {
    const { status, head, body } = await send('GET /api/fhir/R4/Patient?name=Zoé HTTP/1.1\r\nHost: x\r\n\r\n')
    expect(status).toBe(400)
    expect(head).toContain('application/fhir+json')
    expect(body).toMatchObject({ resourceType: 'OperationOutcome', issue: [{ severity: 'error' }] })
    expect(JSON.stringify(body)).toContain('percent-encoded')
    expect(JSON.stringify(body)).not.toContain('Zo')
  })

  test('on the base of the FHIR surface, whatever query follows it', async () => {
    const { status, head, body } = await send('GET /api/fhir/R4?name=Zoé HTTP/1.1\r\nHost: x\r\n\r\n')
    expect(status).toBe(400)
    expect(head).toContain('application/fhir+json')
    expect(body).toMatchObject({ resourceType: 'OperationOutcome' })
  })

  test('HTTP/1.1 that does not say for which host it is', async () => {
    const own = await send('GET /readyz HTTP/1.1\r\n\r\n')
    expect(own.status).toBe(400)
    expect(own.body).toMatchObject({ status: 'error', error_code: 'MALFORMED_REQUEST' })
    expect(own.body['message']).toContain('Host')
    expect(own.head.toLowerCase()).toContain(`x-request-id: ${own.body['request_id']}`)
    const { body } = await send('GET /api/fhir/R4/metadata?_format=json HTTP/1.1\r\n\r\n')
    expect(body).toMatchObject({ resourceType: 'OperationOutcome' })
    expect((await send('GET /readyz HTTP/1.0\r\n\r\n')).status).toBe(200)
  })

  test.each([
    ['two hosts', 'GET /readyz HTTP/1.1\r\nHost: a.example\r\nHost: b.example\r\n\r\n', 'must not be repeated'],
    [
      'the same host twice',
      'GET /readyz HTTP/1.1\r\nHost: a.example\r\nhost: a.example\r\n\r\n',
      'must not be repeated',
    ],
    ['a host that is none', 'GET /readyz HTTP/1.1\r\nHost: a.example/x y\r\n\r\n', 'host name'],
    [
      'another host in the address',
      'GET http://b.example/readyz HTTP/1.1\r\nHost: a.example\r\n\r\n',
      'differs from the header Host',
    ],
    [
      'another port in the address',
      'GET http://a.example:81/readyz HTTP/1.1\r\nHost: a.example\r\n\r\n',
      'differs from the header Host',
    ],
    ['an address that is neither', 'GET ftp://a.example/readyz HTTP/1.1\r\nHost: a.example\r\n\r\n', 'must be a path'],
    ['HTTP/0.9', 'GET /readyz\r\n\r\n', 'HTTP/1.1'],
    ['HTTP/2 in the line', 'GET /readyz HTTP/2.0\r\nHost: a.example\r\n\r\n', 'HTTP'],
  ])('%s', async (_name, bytes, words) => {
    const { status, head, body } = await send(bytes)
    expect(status).toBe(400)
    expect(body).toMatchObject({ status: 'error', error_code: 'MALFORMED_REQUEST', details: [] })
    expect(body['message']).toContain(words)
    expect(head.toLowerCase()).toContain(`x-request-id: ${body['request_id']}`)
  })

  test('another host in the address of the FHIR surface, in its own words', async () => {
    const { status, head, body } = await send(
      'GET http://b.example/api/fhir/R4/metadata HTTP/1.1\r\nHost: a.example\r\n\r\n',
    )
    expect(status).toBe(400)
    expect(head).toContain('application/fhir+json')
    expect(body).toMatchObject({ resourceType: 'OperationOutcome' })
  })

  test('the same host in the address is taken, as HTTP asks', async () => {
    const line = 'GET http://A.example/readyz?x=1 HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\n\r\n'
    expect((await send(line)).status).toBe(200)
  })

  test('an address that is too long', async () => {
    const { status, body } = await send(
      `GET /api/fhir/R4/Patient?_id=${'x'.repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`,
    )
    expect(status).toBe(400)
    expect(JSON.stringify(body)).toContain('use POST to _search')
  })

  test('anything else, in the shape of the other interfaces', async () => {
    const { status, head, body } = await send(Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x0d, 0x0a, 0x0d, 0x0a]))
    expect(status).toBe(400)
    expect(head.toLowerCase()).toContain('x-request-id: ')
    expect(body).toMatchObject({ status: 'error', error_code: 'MALFORMED_REQUEST' })
  })

  test('an expectation that nobody has heard of is none', async () => {
    const { status, body } = await send(
      'GET /api/v1/sdk/token/introspect HTTP/1.1\r\nHost: x\r\nExpect: miracles\r\nConnection: close\r\n\r\n',
    )
    expect({ status, code: body['error_code'] }).toEqual({ status: 401, code: 'UNAUTHENTICATED' })
  })

  test('does not disturb those who come after', async () => {
    await send('nonsense\r\n\r\n')
    expect((await fetch(`${service.url}/readyz`)).status).toBe(200)
  })
})
