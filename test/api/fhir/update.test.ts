// Updating resources. https://hl7.org/fhir/R4/http.html#update
import { beforeAll, describe, expect, test } from 'vitest'
import { fhirCaller, issueOf, matchIds } from '../../support/fhir.ts'
import { type Service, startService } from '../../support/service.ts'

let service: Service
const call = fhirCaller(() => service)

beforeAll(async () => {
  service = await startService()
})

const put = (id: string, more: object = {}, headers: Record<string, string> = {}) =>
  call('PUT', `Patient/${id}`, {
    body: { resourceType: 'Patient', id, ...more },
    headers: { 'content-type': 'application/fhir+json', ...headers },
  })

describe('an update', () => {
  test('of an id that is free creates the resource under it', async () => {
    const { status, headers, body } = await put('new', { active: true })
    expect(status).toBe(201)
    expect(body).toMatchObject({ id: 'new', active: true, meta: { versionId: '1' } })
    expect(headers.get('location')).toBe(`${service.url}/api/fhir/R4/Patient/new/_history/1`)
    expect(headers.get('etag')).toBe('W/"1"')
  })

  test('of a resource makes its next version', async () => {
    await put('next', { active: true })
    const { status, headers, body } = await put('next', { active: false })
    expect(status).toBe(200)
    expect(body).toMatchObject({ active: false, meta: { versionId: '2' } })
    expect(headers.get('etag')).toBe('W/"2"')
    expect(headers.get('last-modified')).toBe(new Date(body.meta.lastUpdated).toUTCString())
    expect(headers.get('location')).toBeNull()
    expect((await call('GET', 'Patient/next/_history/1')).body.active).toBe(true)
  })

  test('that changes nothing makes no version', async () => {
    const first = await put('same', { active: true, name: [{ family: 'A' }] })
    const { status, headers, body } = await put('same', { active: true, name: [{ family: 'A' }] })
    expect(status).toBe(200)
    expect(headers.get('etag')).toBe('W/"1"')
    expect(body).toEqual(first.body)
    const again = await call('PUT', 'Patient/same', { body: first.body })
    expect(again.headers.get('etag')).toBe('W/"1"')
    expect((await call('GET', 'Patient/same/_history')).body.entry).toHaveLength(1)
  })

  test('that changes only the digits of a decimal makes a version', async () => {
    const text = (digits: string) =>
      `{"resourceType":"Observation","id":"digits","status":"final","code":{"text":"x"},"valueQuantity":{"value":${digits}}}`
    const headers = { 'content-type': 'application/fhir+json' }
    await call('PUT', 'Observation/digits', { body: text('1.0'), headers })
    const { status, headers: said } = await call('PUT', 'Observation/digits', { body: text('1.00'), headers })
    expect([status, said.get('etag')]).toEqual([200, 'W/"2"'])
  })

  test('of a deleted resource brings it back, and its versions go on', async () => {
    await put('back', { active: true })
    await call('DELETE', 'Patient/back')
    const { status, body } = await put('back', { active: true })
    expect(status).toBe(201)
    expect(body.meta.versionId).toBe('3')
    expect((await call('GET', 'Patient/back')).status).toBe(200)
  })

  test.each([
    ['return=minimal', undefined],
    ['return=OperationOutcome', 'OperationOutcome'],
  ])('preferring %s answers by it', async (prefer, resourceType) => {
    const { status, headers, body } = await put(resourceType ?? 'quiet', { active: true }, { prefer })
    expect(status).toBe(201)
    expect(headers.get('etag')).toBe('W/"1"')
    expect(body?.resourceType).toBe(resourceType)
  })

  test.each([
    ['without an id', { resourceType: 'Patient' }, 'The resource must have the id of the address, "here".'],
    [
      'of another id',
      { resourceType: 'Patient', id: 'there' },
      'The id of the resource must be the id of the address, "here".',
    ],
    ['of another type', { resourceType: 'Basic', id: 'here' }, 'The body is a Basic, but the address is for Patient.'],
    ['of no type', { id: 'here' }, 'The body is a resource without resourceType, but the address is for Patient.'],
    [
      'of a type that is no text',
      { resourceType: 1, id: 'here' },
      'The body is a resource without resourceType, but the address is for Patient.',
    ],
  ])('with a resource %s answers 400 and stores nothing', async (_what, body, diagnostics) => {
    const answer = await call('PUT', 'Patient/here', { body })
    expect([answer.status, answer.body.issue]).toEqual([
      400,
      [{ severity: 'error', code: 'invalid', diagnostics, details: expect.any(Object) }],
    ])
    expect((await call('GET', 'Patient/here')).status).toBe(404)
  })

  test('with a resource of which there is only something to warn stores it', async () => {
    const valueQuantity = { value: 1, unit: 'kilo', system: 'http://unitsofmeasure.org', code: 'kilo' }
    const body = { resourceType: 'Observation', id: 'kilo', status: 'final', code: { text: 'weight' }, valueQuantity }
    expect((await call('POST', 'Observation/$validate', { body })).body.issue).toMatchObject([{ severity: 'warning' }])
    expect((await call('PUT', 'Observation/kilo', { body })).status).toBe(201)
  })

  test.each(['A', 'a.b-c', '1', '0'.repeat(64), '...'])('takes the id %s', async id => {
    expect((await put(id)).status).toBe(201)
    expect((await call('GET', `Patient/${id}`)).body.id).toBe(id)
  })
})

describe('a search after an update', () => {
  const indexed = (value: string, date: string) => ({
    name: [{ family: value }],
    identifier: [{ value }],
    birthDate: date,
    deceasedDateTime: date,
    generalPractitioner: [{ reference: `Practitioner/${value}` }],
  })
  const queries = (value: string, date: string) => [
    `name=${value}`,
    `identifier=${value}`,
    `birthdate=${date}`,
    `death-date=${date}`,
    `general-practitioner=${value}`,
  ]
  const found = async (query: string) => matchIds((await call('GET', `Patient?${query}`)).body)

  test('finds the new values and no longer the old ones', async () => {
    await put('moved', indexed('before', '1950-01-01'))
    for (const query of queries('before', '1950-01-01')) expect(await found(query)).toEqual(['moved'])
    await put('moved', indexed('after', '1960-01-01'))
    for (const query of queries('before', '1950-01-01')) expect(await found(query)).toEqual([])
    for (const query of queries('after', '1960-01-01')) expect(await found(query)).toEqual(['moved'])
    await put('moved')
    for (const query of queries('after', '1960-01-01')) expect(await found(query)).toEqual([])
  })
})

describe('an update is refused', () => {
  const send = (path: string, body: unknown) => call('PUT', path, { body })

  test.each([
    ['without an id in the resource', 'Patient/p', { resourceType: 'Patient' }, 'must have the id of the address'],
    [
      'with another id than its address',
      'Patient/p',
      { resourceType: 'Patient', id: 'q' },
      'The id of the resource must be the id of the address',
    ],
    ['with another type than its address', 'Patient/p', { resourceType: 'Device', id: 'p' }, 'Device'],
    ['with an id of 65 characters', `Patient/${'a'.repeat(65)}`, { resourceType: 'Patient', id: 'a'.repeat(65) }, 'id'],
    ['with an underscore in the id', 'Patient/a_b', { resourceType: 'Patient', id: 'a_b' }, 'id'],
    ['with a list as its body', 'Patient/p', [], 'not a JSON object'],
    ['with an invalid resource', 'Patient/p', { resourceType: 'Patient', id: 'p', gender: 'x' }, 'gender'],
  ])('%s', async (_what, path, body, said) => {
    const { status, body: outcome } = await send(path, body)
    expect(status).toBe(400)
    expect(issueOf(outcome).diagnostics).toContain(said)
    expect((await call('GET', 'Patient/p')).status).toBe(404)
  })
})

describe('a part of a resource', () => {
  const whole = { resourceType: 'Patient', id: 'whole', gender: 'female', name: [{ family: 'Whole' }] }

  /** The Patient without its gender, as a client reads it. */
  const readPart = async () => {
    await call('PUT', 'Patient/whole', { body: whole })
    return (await call('GET', 'Patient/whole?_elements=name')).body
  }

  const refused = (status: number, body: unknown) => {
    expect([status, issueOf(body).code, issueOf(body).expression]).toEqual([422, 'business-rule', ['Patient.meta.tag']])
    expect(issueOf(body).diagnostics).toContain('tagged SUBSETTED')
  }

  test('is not stored in place of the whole, in any way', async () => {
    const part = await readPart()
    const entry = (method: string, url: string) => ({ resource: part, request: { method, url } })
    const transaction = { resourceType: 'Bundle', type: 'transaction', entry: [entry('PUT', 'Patient/whole')] }
    for (const [method, path, body] of [
      ['PUT', 'Patient/whole', part],
      ['PUT', 'Patient?_id=whole', part],
      ['POST', 'Patient', part],
      ['POST', '', transaction],
    ] as const) {
      const answer = await call(method, path, { body })
      refused(answer.status, answer.body)
    }
    const batch = await call('POST', '', { body: { ...transaction, type: 'batch' } })
    expect(batch.body.entry[0].response.status).toMatch(/^422/)
    const { body } = await call('GET', 'Patient/whole')
    expect([body.meta.versionId, body.gender]).toEqual(['1', 'female'])
    expect((await call('GET', 'Patient?family=Whole')).body.total).toBe(1)
  })

  test('is not made of the whole by a patch', async () => {
    await readPart()
    const tag = { system: 'http://terminology.hl7.org/CodeSystem/v3-ObservationValue', code: 'SUBSETTED' }
    const { status, body } = await call('PATCH', 'Patient/whole', {
      body: JSON.stringify([{ op: 'add', path: '/meta/tag', value: [tag] }]),
      headers: { 'content-type': 'application/json-patch+json' },
    })
    refused(status, body)
  })

  test('is stored without its tag, by who means it', async () => {
    const { meta: _meta, ...part } = await readPart()
    expect((await call('PUT', 'Patient/whole', { body: part })).status).toBe(200)
    expect((await call('GET', 'Patient/whole')).body.gender).toBeUndefined()
  })
})

describe('If-Match', () => {
  test('of the current version lets the update through', async () => {
    await put('match', { active: true })
    expect((await put('match', { active: false }, { 'if-match': 'W/"1"' })).status).toBe(200)
    expect((await put('match', { active: true }, { 'if-match': '"2"' })).status).toBe(200)
  })

  test('of another version answers 412 and says which one is current', async () => {
    await put('stale', { active: true })
    const { status, body } = await put('stale', { active: false }, { 'if-match': 'W/"7"' })
    expect(status).toBe(412)
    expect(issueOf(body)).toMatchObject({ code: 'conflict' })
    expect(issueOf(body).diagnostics).toContain('version 1')
    expect((await call('GET', 'Patient/stale')).body.active).toBe(true)
  })

  test('of a resource that is not there answers 412 and creates nothing', async () => {
    expect((await put('void', {}, { 'if-match': 'W/"1"' })).status).toBe(412)
    expect((await call('GET', 'Patient/void')).status).toBe(404)
  })

  test.each(['1', 'W/1', '"one"', 'W/"1', '*'])('that is no tag of ours (%s) answers 400', async tag => {
    const { status, body } = await put('match', {}, { 'if-match': tag })
    expect(status).toBe(400)
    expect(issueOf(body).diagnostics).toContain('If-Match')
  })
})

describe('If-None-Match: *', () => {
  test('creates what is not there', async () => {
    expect((await put('only-new', {}, { 'if-none-match': '*' })).status).toBe(201)
  })

  test('answers 412 where something is there, and leaves it', async () => {
    await put('taken', { active: true })
    const { status, body } = await put('taken', { active: false }, { 'if-none-match': '*' })
    expect(status).toBe(412)
    expect(issueOf(body).code).toBe('conflict')
    expect((await call('GET', 'Patient/taken')).body.active).toBe(true)
  })
})

describe('updates at the same time', () => {
  const versionsOf = async (id: string): Promise<string[]> => {
    const { body } = await call('GET', `Patient/${id}/_history?_count=100`)
    return body.entry.map((entry: { resource: { meta: { versionId: string } } }) => entry.resource.meta.versionId)
  }
  const expected = (count: number) => Array.from({ length: count }, (_, index) => String(count - index))

  test('of one resource make consecutive versions, and none is lost', async () => {
    await put('busy', { multipleBirthInteger: 100 })
    const replies = await Promise.all(Array.from({ length: 20 }, (_, n) => put('busy', { multipleBirthInteger: n })))
    expect(replies.map(reply => reply.status)).toEqual(Array(20).fill(200))
    expect(new Set(replies.map(reply => reply.headers.get('etag'))).size).toBe(20)
    expect(await versionsOf('busy')).toEqual(expected(21))
  })

  test('of an id that is free create it once and update it then', async () => {
    const replies = await Promise.all(Array.from({ length: 20 }, (_, n) => put('rush', { multipleBirthInteger: n })))
    expect(replies.map(reply => reply.status).sort()).toEqual([...Array(19).fill(200), 201])
    expect(await versionsOf('rush')).toEqual(expected(20))
  })

  test('with the same If-Match let exactly one through', async () => {
    await put('race', { multipleBirthInteger: 100 })
    const replies = await Promise.all(
      Array.from({ length: 10 }, (_, n) => put('race', { multipleBirthInteger: n }, { 'if-match': 'W/"1"' })),
    )
    expect(replies.map(reply => reply.status).sort()).toEqual([200, ...Array(9).fill(412)])
    expect(await versionsOf('race')).toEqual(['2', '1'])
  })

  test('with If-None-Match: * let exactly one through', async () => {
    const replies = await Promise.all(
      Array.from({ length: 10 }, (_, n) => put('first', { multipleBirthInteger: n }, { 'if-none-match': '*' })),
    )
    expect(replies.map(reply => reply.status).sort()).toEqual([201, ...Array(9).fill(412)])
  })
})
