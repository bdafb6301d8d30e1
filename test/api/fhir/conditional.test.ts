// Creations and updates that depend on what a query matches. https://hl7.org/fhir/R4/http.html#ccreate
import { beforeAll, describe, expect, test } from 'vitest'
import { fhirCaller, issueOf, matchIds } from '../../support/fhir.ts'
import { type Service, startService } from '../../support/service.ts'

let service: Service
const call = fhirCaller(() => service)
const json = { 'content-type': 'application/fhir+json' }

beforeAll(async () => {
  service = await startService()
  for (const id of ['twin-1', 'twin-2']) await call('PUT', `Patient/${id}`, { body: patient('twin', id) })
})

function patient(value: string, id?: string) {
  return { resourceType: 'Patient', ...(id ? { id } : {}), identifier: [{ system: 'http://ids', value }] }
}

const create = (value: string, condition: string, prefer = '') =>
  call('POST', 'Patient', { body: patient(value), headers: { ...json, 'if-none-exist': condition, prefer } })
const found = async (value: string) => matchIds((await call('GET', `Patient?identifier=http://ids|${value}`)).body)

describe('a conditional creation', () => {
  test('that matches nothing creates', async () => {
    const { status, headers, body } = await create('c1', 'identifier=http://ids|c1')
    expect(status).toBe(201)
    expect(headers.get('location')).toContain(body.id)
  })

  test('that matches one answers it with 200 and creates nothing', async () => {
    const first = await create('c2', 'identifier=http://ids|c2')
    const { status, headers, body } = await create('c2', '?identifier=http://ids|c2')
    expect(status).toBe(200)
    expect(body).toEqual(first.body)
    expect(headers.get('etag')).toBe('W/"1"')
    expect(headers.get('location')).toBeNull()
    expect(await found('c2')).toHaveLength(1)
  })

  test('that matches several answers 412 and creates nothing', async () => {
    const { status, body } = await create('twin', 'identifier=http://ids|twin')
    expect(status).toBe(412)
    expect(issueOf(body)).toMatchObject({ code: 'multiple-matches' })
    expect(await found('twin')).toHaveLength(2)
  })

  test.each([
    ['about another type', 'Device?identifier=x', 400, 'Device'],
    ['empty', '', 400, 'If-None-Exist'],
    ['about an unknown parameter', 'shoe=42', 400, 'shoe'],
    ['without a criterion', '_count=1', 412, 'match everything'],
    ['without a value', 'identifier=', 412, 'match everything'],
    ['without one of its values', 'name=Refused&identifier=', 400, 'identifier of the condition has no value'],
    ['malformed', 'birthdate=soon', 400, 'birthdate'],
    ['with an unknown modifier', 'name:shoe=x', 400, ':shoe'],
  ])('whose condition is %s is refused', async (_what, condition, expected, said) => {
    const { status, body } = await create('refused', condition)
    expect(status).toBe(expected)
    expect(issueOf(body).diagnostics).toContain(said)
    expect(await found('refused')).toEqual([])
  })

  test('does not match what was deleted', async () => {
    const first = await create('c3', 'identifier=http://ids|c3')
    await call('DELETE', `Patient/${first.body.id}`)
    expect((await create('c3', 'identifier=http://ids|c3')).status).toBe(201)
  })

  test('by twenty at once creates exactly one resource', async () => {
    const replies = await Promise.all(Array.from({ length: 20 }, () => create('rush', 'identifier=http://ids|rush')))
    expect(replies.map(reply => reply.status).sort()).toEqual([...Array(19).fill(200), 201])
    expect(new Set(replies.map(reply => reply.body.id)).size).toBe(1)
    expect(await found('rush')).toHaveLength(1)
  })

  test('knows the same condition however it is written', async () => {
    const orders = [
      'Patient?active:missing=true&identifier=http://ids|order',
      '?identifier=http%3A%2F%2Fids%7Corder&active:missing=true',

      'identifier=http://ids|order&active:missing=true',
      'active:missing=true&identifier=http://ids|order',
    ]
    const replies = await Promise.all(Array.from({ length: 10 }, (_, n) => create('order', orders[n % 4]!)))
    expect(replies.filter(reply => reply.status === 201)).toHaveLength(1)
    expect(await found('order')).toHaveLength(1)
  })
})

describe('a conditional update', () => {
  const update = (value: string, id?: string, more: object = {}) =>
    call('PUT', `Patient?identifier=http://ids|${value}`, { body: { ...patient(value, id), ...more } })

  test('that matches nothing creates under a new id', async () => {
    const { status, headers, body } = await update('u1')
    expect(status).toBe(201)
    expect(headers.get('location')).toContain(`Patient/${body.id}/_history/1`)
    const history = await call('GET', `Patient/${body.id}/_history`)
    expect(history.body.entry[0].request.method).toBe('PUT')
  })

  test('with a resource that is not valid answers 400 and stores nothing', async () => {
    const { status, body } = await update('u0', undefined, { gender: 'x' })
    expect([status, issueOf(body).expression]).toEqual([400, ['Patient.gender']])
    expect(await found('u0')).toEqual([])
  })

  test('that matches nothing creates under the id that the resource has', async () => {
    const { status, body } = await update('u2', 'chosen')
    expect([status, body.id]).toEqual([201, 'chosen'])
  })

  test('that matches one updates it, with or without its id', async () => {
    const { body } = await update('u3')
    const again = await update('u3', undefined, { active: true })
    expect([again.status, again.body.id, again.body.meta.versionId]).toEqual([200, body.id, '2'])
    const named = await update('u3', body.id, { active: false })
    expect([named.status, named.body.meta.versionId]).toEqual([200, '3'])
  })

  test('that matches one of another id answers 400 and changes nothing', async () => {
    const { body } = await update('u4')
    const other = await update('u4', 'somebody-else', { active: true })
    expect([other.status, issueOf(other.body).code]).toEqual([400, 'invalid'])
    expect(issueOf(other.body).diagnostics).toContain('another id')
    expect((await call('GET', `Patient/${body.id}`)).body.active).toBeUndefined()
    expect((await call('GET', 'Patient/somebody-else')).status).toBe(404)
  })

  test('that matches several answers 412', async () => {
    const { status, body } = await update('twin')
    expect([status, issueOf(body).code]).toEqual([412, 'multiple-matches'])
  })

  test('without a condition answers 400', async () => {
    const { status, body } = await call('PUT', 'Patient', { body: patient('none') })
    expect(status).toBe(400)
    expect(issueOf(body).diagnostics).toContain('condition')
  })

  test('goes by If-Match', async () => {
    await update('u5')
    const headers = { ...json, 'if-match': 'W/"9"' }
    const stale = await call('PUT', 'Patient?identifier=http://ids|u5', { body: patient('u5'), headers })
    expect(stale.status).toBe(412)
  })

  test('by twenty at once creates one resource and updates it', async () => {
    const replies = await Promise.all(
      Array.from({ length: 20 }, (_, n) => update('uu', undefined, { multipleBirthInteger: n })),
    )
    expect(replies.map(reply => reply.status).sort()).toEqual([...Array(19).fill(200), 201])
    const [id, ...others] = await found('uu')
    expect(others).toEqual([])
    expect((await call('GET', `Patient/${id}`)).headers.get('etag')).toBe('W/"20"')
  })
})

describe('a conditional patch', () => {
  const patch = (value: string, change: object = { op: 'add', path: '/active', value: true }) =>
    call('PATCH', `Patient?identifier=http://ids|${value}`, {
      body: JSON.stringify([change]),
      headers: { 'content-type': 'application/json-patch+json' },
    })

  test('changes the one match', async () => {
    await create('p1', 'identifier=http://ids|p1')
    const { status, body } = await patch('p1')
    expect(status).toBe(200)
    expect(body).toMatchObject({ active: true, meta: { versionId: '2' } })
  })

  test('that matches nothing answers 404', async () => {
    const { status, body } = await patch('nobody')
    expect([status, issueOf(body).code]).toEqual([404, 'not-found'])
    expect(issueOf(body).diagnostics).toContain('No Patient matches the condition')
  })

  test('that matches several answers 412', async () => {
    const { status, body } = await patch('twin')
    expect([status, issueOf(body).code]).toEqual([412, 'multiple-matches'])
  })

  test('and a conditional deletion at once leave nothing deleted that the condition no longer matches', async () => {
    for (const value of ['d1', 'd2', 'd3', 'd4', 'd5']) {
      const { body } = await create(value, `identifier=http://ids|${value}`)
      const change = { op: 'replace', path: '/identifier/0/value', value: `not ${value}` }
      const [patched, removed] = await Promise.all([
        patch(value, change),
        call('DELETE', `Patient?identifier=http://ids|${value}`),
      ])
      const { status } = await call('GET', `Patient/${body.id}`)
      expect([
        [200, 204, 200],
        [404, 204, 410],
      ]).toContainEqual([patched.status, removed.status, status])
    }
  })
})

describe('what a condition led to', () => {
  const minimal = { ...json, prefer: 'return=minimal' }
  const told = (version: number) => expect.stringMatching(new RegExp(`/api/fhir/R4/Patient/[^/]+/_history/${version}$`))

  test('is told by the address of its version where the answer has no resource', async () => {
    const { body: first } = await create('told', 'identifier=http://ids|told')
    const query = 'Patient?identifier=http://ids|told'
    const found = await create('told', 'identifier=http://ids|told', 'return=minimal')
    expect([found.status, found.headers.get('location')]).toEqual([200, told(1)])
    const put = await call('PUT', query, { body: { ...patient('told'), active: true }, headers: minimal })
    expect([put.status, put.headers.get('location')]).toEqual([200, told(2)])
    const patched = await call('PATCH', query, {
      body: JSON.stringify([{ op: 'replace', path: '/active', value: false }]),
      headers: { ...minimal, 'content-type': 'application/json-patch+json' },
    })
    expect([patched.status, patched.headers.get('location')]).toEqual([200, told(3)])
    for (const { headers } of [found, put, patched]) expect(headers.get('location')).toContain(`/${first.id}/`)
  })

  test('is told alike where the answer is an OperationOutcome', async () => {
    await create('outcome', 'identifier=http://ids|outcome')
    const { headers } = await create('outcome', 'identifier=http://ids|outcome', 'return=OperationOutcome')
    expect(headers.get('location')).toEqual(told(1))
  })
})
