// Transactions: all entries or none, references between them resolved. https://hl7.org/fhir/R4/http.html#trules
import { beforeAll, describe, expect, test } from 'vitest'
import { type Answer, fhirCaller, issueOf, matchIds } from '../../support/fhir.ts'
import { type Service, startService } from '../../support/service.ts'

let service: Service
const call = fhirCaller(() => service)
const transact = (...entry: unknown[]) =>
  call('POST', '', { body: { resourceType: 'Bundle', type: 'transaction', entry } })

beforeAll(async () => {
  service = await startService()
})

const patient = (more: object = {}) => ({ resourceType: 'Patient', ...more })
const tagged = (value: string, more: object = {}) => patient({ identifier: [{ value }], ...more })
const basic = (reference: string, more: object = {}) => ({
  resourceType: 'Basic',
  code: { text: 'x' },
  subject: { reference },
  ...more,
})
const post = (resource: { resourceType: string }, fullUrl?: string, more: object = {}) => ({
  fullUrl,
  resource,
  request: { method: 'POST', url: resource.resourceType, ...more },
})
const put = (resource: { resourceType: string; id?: string }, more: object = {}, fullUrl?: string) => ({
  fullUrl,
  resource,
  request: { method: 'PUT', url: `${resource.resourceType}/${resource.id}`, ...more },
})
const remove = (url: string) => ({ request: { method: 'DELETE', url } })
const get = (url: string) => ({ request: { method: 'GET', url } })
const statuses = ({ body }: Answer) =>
  body.entry.map((entry: { response: { status: string } }) => entry.response.status)
const found = async (value: string) => matchIds((await call('GET', `Patient?identifier=${value}`)).body)

const urn = (n: number) => `urn:uuid:61ebe359-bfdc-4613-8bf2-c5e30094${String(n).padStart(4, '0')}`

describe('a transaction', () => {
  test('answers every entry in its place', async () => {
    await call('PUT', 'Patient/t-old', { body: patient({ id: 't-old' }) })
    const answer = await transact(
      get('Patient/t-put'),
      put(patient({ id: 't-put' }) as never),
      post(patient()),
      remove('Patient/t-old'),
      get('Patient?_id=t-put,t-old'),
    )
    expect(answer.status).toBe(200)
    expect(answer.body).toMatchObject({ resourceType: 'Bundle', type: 'transaction-response' })
    expect(statuses(answer)).toEqual(['200 OK', '201 Created', '201 Created', '204 No Content', '200 OK'])
    expect(answer.body.entry[2].response).toMatchObject({ etag: 'W/"1"' })
    expect(answer.body.entry[2].response.location).toMatch(/\/Patient\/[^/]+\/_history\/1$/)
  })

  test('reads after it wrote, whatever the order of its entries', async () => {
    const { body } = await transact(get('Patient?identifier=read-last'), post(tagged('read-last')))
    expect(body.entry[0].resource.entry).toHaveLength(1)
  })

  test('deletes before it creates', async () => {
    await transact(post(tagged('replaced')))
    const answer = await transact(
      post(tagged('replaced'), undefined, { ifNoneExist: 'identifier=replaced' }),
      remove('Patient?identifier=replaced'),
    )
    expect(statuses(answer)).toEqual(['201 Created', '204 No Content'])
    expect(await found('replaced')).toEqual([answer.body.entry[0].resource.id])
  })

  test('with nothing in it answers nothing', async () => {
    const { status, body } = await transact()
    expect(status).toBe(200)
    expect(body.entry).toBeUndefined()
  })

  test('patches, by id and by condition', async () => {
    await transact(put(tagged('to-patch', { id: 'to-patch' }) as never))
    const data = Buffer.from(JSON.stringify([{ op: 'add', path: '/active', value: true }])).toString('base64')
    const resource = { resourceType: 'Binary', contentType: 'application/json-patch+json', data }
    const byId = await transact({ request: { method: 'PATCH', url: 'Patient/to-patch' }, resource })
    expect(byId.body.entry[0]).toMatchObject({
      resource: { active: true },
      response: { status: '200 OK', etag: 'W/"2"' },
    })
    const byQuery = await transact({ request: { method: 'PATCH', url: 'Patient?identifier=to-patch' }, resource })
    expect(byQuery.body.entry[0].response.etag).toBe('W/"2"')
  })

  test('honours Prefer for all entries', async () => {
    const body = { resourceType: 'Bundle', type: 'transaction', entry: [post(patient())] }
    const headers = { 'content-type': 'application/fhir+json', prefer: 'return=minimal' }
    const answer = await call('POST', '', { body: JSON.stringify(body), headers })
    expect(answer.body.entry[0].resource).toBeUndefined()
    expect(answer.body.entry[0].response.status).toBe('201 Created')
  })

  test('without resources in its answer tells which each condition led to', async () => {
    for (const id of ['told-post', 'told-put', 'told-patch']) await transact(put(tagged(id, { id }) as never))
    const data = Buffer.from(JSON.stringify([{ op: 'add', path: '/active', value: true }])).toString('base64')
    const entry = [
      post(tagged('told-post'), undefined, { ifNoneExist: 'identifier=told-post' }),
      {
        resource: tagged('told-put', { active: true }),
        request: { method: 'PUT', url: 'Patient?identifier=told-put' },
      },
      {
        resource: { resourceType: 'Binary', contentType: 'application/json-patch+json', data },
        request: { method: 'PATCH', url: 'Patient?identifier=told-patch' },
      },
    ]
    for (const type of ['transaction', 'batch']) {
      const headers = { 'content-type': 'application/fhir+json', prefer: 'return=minimal' }
      const answer = await call('POST', '', { body: JSON.stringify({ resourceType: 'Bundle', type, entry }), headers })
      expect(statuses(answer)).toEqual(['200 OK', '200 OK', '200 OK'])
      const places = answer.body.entry.map((each: { response: { location: string } }) => each.response.location)
      expect(places).toEqual([
        expect.stringMatching(/\/api\/fhir\/R4\/Patient\/told-post\/_history\/1$/),
        expect.stringMatching(/\/api\/fhir\/R4\/Patient\/told-put\/_history\/2$/),
        expect.stringMatching(/\/api\/fhir\/R4\/Patient\/told-patch\/_history\/2$/),
      ])
    }
  })
})

describe('references within a transaction', () => {
  test('by urn:uuid lead to what was created, in both directions and in any place', async () => {
    const div = `<div xmlns="http://www.w3.org/1999/xhtml"><a href="${urn(1)}">x</a><img src="${urn(2)}"/></div>`
    const { body } = await transact(
      post(
        basic(urn(2), {
          text: { status: 'generated', div },
          extension: [
            { url: 'http://a', valueUri: urn(2) },
            { url: 'http://b', valueReference: { reference: urn(2) } },
          ],
        }),
        urn(1),
      ),
      post(patient({ link: [{ other: { reference: urn(3) }, type: 'seealso' }] }), urn(2)),
      post(patient({ link: [{ other: { reference: urn(2) }, type: 'seealso' }] }), urn(3)),
    )
    const [first, second, third] = body.entry.map(
      (entry: { resource: { resourceType: string; id: string } }) => entry.resource,
    )
    const ref = ({ resourceType, id }: { resourceType: string; id: string }) => `${resourceType}/${id}`
    expect(first.subject.reference).toBe(ref(second))
    expect(first.extension).toEqual([
      { url: 'http://a', valueUri: ref(second) },
      { url: 'http://b', valueReference: { reference: ref(second) } },
    ])
    expect(first.text.div).toContain(`href="${ref(first)}"`)
    expect(first.text.div).toContain(`src="${ref(second)}"`)
    expect(second.link[0].other.reference).toBe(ref(third))
    expect(third.link[0].other.reference).toBe(ref(second))
    expect(matchIds((await call('GET', `Basic?subject=${ref(second)}`)).body)).toEqual([first.id])
  })

  test('keep their fragment', async () => {
    const { body } = await transact(
      post(patient(), urn(1)),
      post({
        resourceType: 'Basic',
        code: { text: 'x' },
        extension: [{ url: 'http://a', valueUri: `${urn(1)}#part` }],
      } as never),
    )
    expect(body.entry[1].resource.extension[0].valueUri).toBe(`Patient/${body.entry[0].resource.id}#part`)
  })

  test('relative to a RESTful fullUrl lead to the entry that has that address', async () => {
    const { body } = await transact(
      post(patient({ id: 'p9' }), 'http://elsewhere.org/fhir/Patient/p9'),
      post(basic('Patient/p9'), 'http://elsewhere.org/fhir/Basic/b9'),
      post(basic('Patient/p9'), 'http://other.org/fhir/Basic/b9'),
    )
    expect(body.entry[1].resource.subject.reference).toBe(`Patient/${body.entry[0].resource.id}`)
    expect(body.entry[2].resource.subject.reference).toBe('Patient/p9')
  })

  test('lead to what a conditional creation found', async () => {
    const first = await transact(post(tagged('known')))
    const { body } = await transact(
      post(tagged('known'), urn(1), { ifNoneExist: 'identifier=known' }),
      post(basic(urn(1))),
    )
    expect(body.entry[0].response.status).toBe('200 OK')
    expect(body.entry[1].resource.subject.reference).toBe(`Patient/${first.body.entry[0].resource.id}`)
  })

  test('lead to what a conditional update created', async () => {
    const update = {
      fullUrl: urn(1),
      resource: tagged('cond-put'),
      request: { method: 'PUT', url: 'Patient?identifier=cond-put' },
    }
    const { body } = await transact(update, post(basic(urn(1))))
    expect(body.entry[1].resource.subject.reference).toBe(`Patient/${body.entry[0].resource.id}`)
  })

  test('leave identifiers alone that only look alike', async () => {
    const identifier = [{ system: 'urn:ietf:rfc:3986', value: urn(1) }]
    const { body } = await transact(post(patient({ identifier }), urn(1)))
    expect(body.entry[0].resource.identifier).toEqual(identifier)
  })

  test('by a fullUrl that is a canonical URL lead to what was created, and the URL stays', async () => {
    const url = 'http://example.org/fhir/ValueSet/my-vs'
    const system = 'http://example.org/fhir/CodeSystem/my-cs'
    const valueSet = {
      ...{ resourceType: 'ValueSet', url, status: 'draft', compose: { include: [{ system }] } },
      extension: [{ url, valueUri: url }],
    }
    const codeSystem = { resourceType: 'CodeSystem', url: system, status: 'draft', content: 'fragment', valueSet: url }
    const { body } = await transact(
      post(valueSet, url),
      post(codeSystem, system),
      post(
        basic(url, {
          extension: [
            { url, valueCanonical: url },
            { url, extension: [{ url, valueAttachment: { url } }] },
          ],
        }),
      ),
    )
    const [stored, coded, last] = body.entry.map((entry: { resource: object }) => entry.resource)
    const { id: _id, meta: _meta, ...sent } = stored
    expect(sent).toEqual(valueSet)
    expect(coded).toMatchObject(codeSystem)
    const there = `ValueSet/${stored.id}`
    expect(last.subject.reference).toBe(there)
    expect(last.extension).toEqual([
      { url, valueCanonical: url },
      { url, extension: [{ url, valueAttachment: { url: there } }] },
    ])
  })

  test('by URL lead to what was created from elements of type uri and url', async () => {
    const url = 'http://elsewhere.org/fhir/Patient/p8'
    const { body } = await transact(
      post(patient(), url),
      post(basic(url, { extension: [{ url, valueUri: url }], identifier: [{ system: url, value: '1' }] })),
    )
    const there = `Patient/${body.entry[0].resource.id}`
    expect(body.entry[1].resource).toMatchObject({
      subject: { reference: there },
      extension: [{ url, valueUri: there }],
      identifier: [{ system: url }],
    })
  })

  test('leave texts, codes, systems and UUIDs alone that only look alike', async () => {
    const looksAlike = {
      name: [{ family: urn(1), _family: { extension: [{ url: urn(1), valueString: urn(1) }] } }],
      address: [{ line: [urn(1)] }],
      maritalStatus: { coding: [{ system: urn(1), code: urn(1), display: urn(1) }] },
      extension: [
        { url: 'http://a', valueString: urn(1) },
        { url: 'http://b', valueAnnotation: { text: urn(1) } },
        { url: 'http://c', valueUuid: urn(1) },
        { url: 'http://d', valueOid: 'urn:oid:1.2.3' },
      ],
    }
    const task = {
      ...{ resourceType: 'Task', status: 'draft', intent: 'order', focus: { reference: urn(1) } },
      input: [
        { type: { text: 'x' }, valueUuid: urn(1) },
        { type: { text: 'x' }, valueUrl: urn(1) },
      ],
    }
    const { body } = await transact(post(patient(looksAlike), urn(1)), post(task), post(patient(), 'urn:oid:1.2.3'))
    const [first, second] = body.entry.map((entry: { resource: object }) => entry.resource)
    expect(first).toMatchObject(looksAlike)
    const there = `Patient/${first.id}`
    expect(second.focus.reference).toBe(there)
    expect(second.input).toEqual([
      { type: { text: 'x' }, valueUuid: urn(1) },
      { type: { text: 'x' }, valueUrl: there },
    ])
  })

  test('in contained resources and beside primitives lead to what was created', async () => {
    const more = {
      contained: [{ resourceType: 'Media', id: 'm', status: 'completed', content: { url: urn(1) } }],
      extension: [{ url: 'http://a', valueReference: { reference: '#m' } }],
      created: '2020-01-01',
      _created: { extension: [{ url: 'http://a', valueUri: urn(1) }] },
    }
    const { body } = await transact(post(patient(), urn(1)), post(basic(urn(1), more)))
    const there = `Patient/${body.entry[0].resource.id}`
    expect(body.entry[1].resource).toMatchObject({
      contained: [{ content: { url: there } }],
      _created: { extension: [{ valueUri: there }] },
    })
  })

  test('in the narrative lead to what was created, however they are quoted', async () => {
    const links = `<a href='${urn(1)}'>x</a><a href = "${urn(1)}#part">y</a><img alt="z" src= '${urn(1)}'/>`
    const text = { status: 'generated', div: `<div xmlns="http://www.w3.org/1999/xhtml">${links}</div>` }
    const { status, body } = await transact(post(patient(), urn(1)), post(basic(urn(1), { text })))
    expect(status).toBe(200)
    const there = `Patient/${body.entry[0].resource.id}`
    expect(body.entry[1].resource.text.div).toContain(links.replaceAll(urn(1), there))
  })

  describe('in a patch', () => {
    const fhirPatch = (name: string, value: object) => ({
      resourceType: 'Parameters',
      parameter: [
        {
          name: 'operation',
          part: [
            { name: 'type', valueCode: 'add' },
            { name: 'path', valueString: 'Basic' },
            { name: 'name', valueString: name },
            { name: 'value', ...value },
          ],
        },
      ],
    })
    const jsonPatch = (...operations: object[]) => ({
      resourceType: 'Binary',
      contentType: 'application/json-patch+json',
      data: Buffer.from(JSON.stringify(operations)).toString('base64'),
    })
    const patch = (id: string, resource: object, more: object = {}) => ({
      request: { method: 'PATCH', url: `Basic/${id}` },
      resource,
      ...more,
    })
    const bare = (id: string, more: object = {}) => ({ resourceType: 'Basic', id, code: { text: 'x' }, ...more })

    test.each([
      ['of FHIRPath', fhirPatch('subject', { valueReference: { reference: urn(1) } })],
      ['of JSON', jsonPatch({ op: 'add', path: '/subject', value: { reference: urn(1) } })],
      [
        'of JSON that names the text alone',
        jsonPatch(
          { op: 'add', path: '/subject', value: { display: 'x' } },
          { op: 'add', path: '/subject/reference', value: urn(1) },
        ),
      ],
    ])('%s lead to what was created', async (what, resource) => {
      const id = `patched-${what.replaceAll(' ', '-')}`
      await transact(put(bare(id)))
      const { status, body } = await transact(patch(id, resource), post(patient(), urn(1)))
      expect(status).toBe(200)
      const there = `Patient/${body.entry[1].resource.id}`
      expect(body.entry[0].resource.subject.reference).toBe(there)
      expect(matchIds((await call('GET', `Basic?subject=${there}`)).body)).toEqual([id])
    })

    test('lead to an entry relative to the fullUrl, and leave what was stored before', async () => {
      const author = { reference: 'http://elsewhere.org/fhir/Patient/p7' }
      await transact(put(bare('patched-relative', { author })))
      const added = fhirPatch('subject', { valueReference: { reference: 'Patient/p6' } })
      const { body } = await transact(
        patch('patched-relative', added, { fullUrl: 'http://elsewhere.org/fhir/Basic/patched-relative' }),
        post(patient(), 'http://elsewhere.org/fhir/Patient/p6'),
        post(patient(), author.reference),
      )
      expect(body.entry[0].resource.subject.reference).toBe(`Patient/${body.entry[1].resource.id}`)
      expect(body.entry[0].resource.author).toEqual(author)
    })

    test('by query lead to the one match', async () => {
      await transact(put(tagged('patch-asked', { id: 'patch-asked' }) as never), put(bare('patched-query')))
      const added = fhirPatch('subject', { valueReference: { reference: 'Patient?identifier=patch-asked' } })
      const { body } = await transact(patch('patched-query', added))
      expect(body.entry[0].resource.subject.reference).toBe('Patient/patch-asked')
      const missing = jsonPatch({
        op: 'add',
        path: '/author',
        value: { reference: 'Patient?identifier=nobody-at-all' },
      })
      expect((await transact(patch('patched-query', missing))).status).toBe(412)
    })
  })

  test('refers by a search to what it creates itself, through several types and in any order', async () => {
    const { status, body } = await transact(
      post(basic('Patient?identifier=made-here')),
      post({
        resourceType: 'Patient',
        identifier: [{ value: 'made-here' }],
        managingOrganization: { reference: 'Organization?identifier=clinic-here' },
        link: [{ type: 'seealso', other: { reference: 'Patient?identifier=also-here' } }],
      } as never),
      post({ resourceType: 'Organization', identifier: [{ value: 'clinic-here' }] } as never),
      post(tagged('also-here')),
    )
    expect([status, body.issue]).toEqual([200, undefined])
    const [record, person, clinic, other] = body.entry.map(
      (entry: { response: { location: string } }) => /([A-Z]\w+\/[^/]+)\/_history/.exec(entry.response.location)![1],
    )
    expect((await call('GET', record)).body.subject.reference).toBe(person)
    expect((await call('GET', person)).body).toMatchObject({
      meta: { versionId: '1' },
      managingOrganization: { reference: clinic },
      link: [{ other: { reference: other } }],
    })
  })

  test('refers by a search to what it changes to match', async () => {
    await call('PUT', 'Patient/renamed', { body: tagged('before', { id: 'renamed' }) })
    const { body } = await transact(
      post(basic('Patient?identifier=after')),
      put(tagged('after', { id: 'renamed' }) as never),
    )
    const [, path] = /(Basic\/[^/]+)\/_history/.exec(body.entry[0].response.location)!
    expect((await call('GET', path!)).body.subject.reference).toBe('Patient/renamed')
  })

  const place = (value: string, inside: string[] = []) => ({
    resourceType: 'Location',
    identifier: [{ value }],
    ...(inside[0] && { partOf: { reference: `Location?identifier=${inside[0]}` } }),
  })

  test('refers by searches along a hierarchy that it creates, in any order', async () => {
    const { status, body } = await transact(
      post(place('h-bed', ['h-room'])),
      post(place('h-room', ['h-ward'])),
      post(place('h-ward', ['h-house'])),
      post(place('h-house')),
    )
    expect([status, body.issue]).toEqual([200, undefined])
    const beds = await call(
      'GET',
      'Location?identifier=h-bed&partof:Location.partof:Location.partof.identifier=h-house',
    )
    expect(matchIds(beds.body)).toHaveLength(1)
  })

  test('refers by a search to nobody where a hierarchy has no top, or comes to have two', async () => {
    const circle = await transact(post(place('c-1', ['c-2'])), post(place('c-2', ['c-1'])))
    expect([circle.status, issueOf(circle.body).code]).toEqual([412, 'not-found'])
    await transact(post(place('two-house')))
    const two = await transact(post(place('two-ward', ['two-house'])), post(place('two-house', ['two-ward'])))
    expect([two.status, issueOf(two.body).code]).toEqual([412, 'multiple-matches'])
    expect(matchIds((await call('GET', 'Location?identifier=two-ward,c-1,c-2')).body)).toEqual([])
  })

  test('refers by a search to nobody where what it creates makes two', async () => {
    await call('PUT', 'Patient/only-one', { body: tagged('one-of-two', { id: 'only-one' }) })
    const { status, body } = await transact(post(basic('Patient?identifier=one-of-two')), post(tagged('one-of-two')))
    expect([status, issueOf(body).code]).toEqual([412, 'multiple-matches'])
    expect(await found('one-of-two')).toEqual(['only-one'])
  })

  test('by query lead to the one match', async () => {
    await transact(put(tagged('asked', { id: 'asked' }) as never))
    const { body } = await transact(post(basic('Patient?identifier=asked')))
    expect(body.entry[0].resource.subject.reference).toBe('Patient/asked')
  })

  test('by query fail the transaction unless there is exactly one match', async () => {
    for (const id of ['many-1', 'many-2']) await transact(put(tagged('many', { id }) as never))
    const none = await transact(post(tagged('left')), post(basic('Patient?identifier=nobody-at-all')))
    expect([none.status, issueOf(none.body).code]).toEqual([412, 'not-found'])
    const many = await transact(post(tagged('left')), post(basic('Patient?identifier=many')))
    expect([many.status, issueOf(many.body).code]).toEqual([412, 'multiple-matches'])
    expect(await found('left')).toEqual([])
  })

  test('that are conditional lead each to its own match, however many there are', async () => {
    const names = Array.from({ length: 205 }, (_, number) => `crowd-${number}`)
    await transact(...names.map(id => put(tagged(id, { id }) as never)))
    const asking = names.map(name => post(basic(`Patient?identifier=${name}`)))
    const { status, body } = await transact(...asking)
    expect(status).toBe(200)
    const references = body.entry.map((entry: { resource: { subject: unknown } }) => entry.resource.subject)
    expect(references).toEqual(names.map(name => ({ reference: `Patient/${name}` })))
    const last = await transact(post(tagged('left')), ...asking, post(basic('Patient?identifier=crowd-none')))
    expect([last.status, issueOf(last.body).code]).toEqual([412, 'not-found'])
    expect(await found('left')).toEqual([])
  })
})

describe('a transaction whose last entry is bad leaves nothing behind', () => {
  test.each<[string, unknown, number]>([
    ['an invalid resource', post(patient({ gender: 'x' })), 400],
    [
      'a resource of another type than its address',
      { resource: patient(), request: { method: 'POST', url: 'Device' } },
      400,
    ],
    ['a creation without a resource', { request: { method: 'POST', url: 'Patient' } }, 400],
    ['a stale If-Match', put(patient({ id: 'atomic', active: true }) as never, { ifMatch: 'W/"9"' }), 412],
    ['an If-Match that is none', put(patient({ id: 'atomic' }) as never, { ifMatch: 'one' }), 400],
    [
      'a condition with several matches',
      { resource: patient(), request: { method: 'PUT', url: 'Patient?identifier=double' } },
      412,
    ],
    ['a deletion with several matches', remove('Patient?identifier=double'), 412],
    ['a deletion without a condition', remove('Patient'), 400],
    [
      'a patch of what is not there',
      { resource: { resourceType: 'Parameters' }, request: { method: 'PATCH', url: 'Patient/nobody' } },
      404,
    ],
    ['a read of what is not there', get('Patient/nobody'), 404],
    ['a malformed search', get('Patient?birthdate=soon'), 400],
    ['an unknown type', { resource: { resourceType: 'Shoe' }, request: { method: 'POST', url: 'Shoe' } }, 400],
    ['an unknown method', { request: { method: 'FETCH', url: 'Patient' } }, 400],
    ['no request', {}, 400],
    ['null', null, 400],
    [
      'an update without an id in the resource',
      { resource: patient(), request: { method: 'PUT', url: 'Patient/x' } },
      400,
    ],
    ['an id that is none', put(patient({ id: 'a_b' }) as never), 400],
    ['a NUL in its address', remove('Patient/%00'), 400],
    ['a NUL in its condition', { resource: patient(), request: { method: 'PUT', url: 'Patient?name=%00' } }, 400],
    ['a broken escape', get('Patient?name=%zz'), 400],
    [
      'a reference whose condition lacks one of its values',
      {
        resource: {
          resourceType: 'Basic',
          code: { text: 'x' },
          subject: { reference: 'Patient?identifier=&_id=atomic' },
        },
        request: { method: 'POST', url: 'Basic' },
      },
      400,
    ],
    ['an empty If-None-Exist', post(patient(), undefined, { ifNoneExist: '' }), 400],
  ])('for %s', async (_what, bad, expected) => {
    for (const id of ['double-1', 'double-2', 'double-3'])
      await call('PUT', `Patient/${id}`, { body: tagged('double', { id }) })
    await call('PUT', 'Patient/atomic', { body: patient({ id: 'atomic' }) })
    const { status, body } = await transact(
      post(tagged('nothing-left')),
      put(patient({ id: 'nothing-left' }) as never),
      remove('Patient/double-1'),
      bad,
    )
    expect(status).toBe(expected)
    expect(body.resourceType).toBe('OperationOutcome')
    expect(await found('nothing-left')).toEqual([])
    expect((await call('GET', 'Patient/nothing-left')).status).toBe(404)
    expect((await call('GET', 'Patient/double-1')).status).toBe(200)
    expect((await call('GET', 'Patient/atomic')).headers.get('etag')).toBe('W/"1"')
  })

  test('and names the entry', async () => {
    const { body } = await transact(post(patient()), post(patient({ gender: 'x' })))
    expect(issueOf(body).expression).toEqual(['Bundle.entry[1].resource.gender'])
    const other = await transact(post(patient()), {})
    expect(issueOf(other.body).expression).toEqual(['Bundle.entry[1]'])
  })

  test('and refuses __proto__ also where references are replaced', async () => {
    const body = `{"resourceType":"Bundle","type":"transaction","entry":[{"fullUrl":"${urn(1)}","request":{"method":"POST","url":"Patient"},
      "resource":{"resourceType":"Patient","__proto__":{"active":true}}}]}`
    const answer = await call('POST', '', { body, headers: { 'content-type': 'application/fhir+json' } })
    expect(answer.status).toBe(400)
    expect(issueOf(answer.body).diagnostics).toContain('__proto__')
  })

  test('and refuses deep nesting', async () => {
    const body = `{"resourceType":"Bundle","type":"transaction","entry":[{"fullUrl":"${urn(1)}","request":{"method":"POST","url":"Patient"},
      "resource":{"resourceType":"Patient","a":${'['.repeat(50_000)}${']'.repeat(50_000)}}}]}`
    const answer = await call('POST', '', { body, headers: { 'content-type': 'application/fhir+json' } })
    expect(answer.status).toBe(400)
    expect(issueOf(answer.body).code).toBe('too-costly')
  })
})

describe('the same resource twice in a transaction is refused with 400', () => {
  test.each([
    ['two updates', [put(patient({ id: 'd' }) as never), put(patient({ id: 'd', active: true }) as never)]],
    ['an update and a deletion', [put(patient({ id: 'd' }) as never), remove('Patient/d')]],
    ['two entries with one fullUrl', [post(patient(), urn(1)), post(patient(), urn(1))]],
  ])('%s', async (_what, entries) => {
    const { status, body } = await transact(...entries)
    expect([status, issueOf(body).code]).toEqual([400, 'duplicate'])
    expect((await call('GET', 'Patient/d')).status).toBe(404)
  })

  test('by two conditions that lead to one resource', async () => {
    await transact(put(patient({ id: 'cd', identifier: [{ value: 'cd1' }, { value: 'cd2' }] }) as never))
    const update = (value: string) => ({
      resource: tagged(value),
      request: { method: 'PUT', url: `Patient?identifier=${value}` },
    })
    const { status, body } = await transact(update('cd1'), update('cd2'))
    expect([status, issueOf(body).code]).toEqual([400, 'duplicate'])
  })

  test('by a condition that leads to what is deleted', async () => {
    await transact(put(tagged('dd', { id: 'dd' }) as never))
    const update = { resource: tagged('dd', { id: 'dd' }), request: { method: 'PUT', url: 'Patient/dd' } }
    const { status, body } = await transact(remove('Patient?identifier=dd'), update)
    expect([status, issueOf(body).code]).toEqual([400, 'duplicate'])
    expect((await call('GET', 'Patient/dd')).headers.get('etag')).toBe('W/"1"')
  })

  test('by one condition that creates twice', async () => {
    const create = () => post(tagged('cc'), undefined, { ifNoneExist: 'identifier=cc' })
    const { status } = await transact(create(), create())
    expect(status).toBe(400)
    expect(await found('cc')).toEqual([])
  })
})

describe('transactions at the same time', () => {
  const both = (n: number, ids: string[]) => ids.map(id => put(patient({ id, multipleBirthInteger: n }) as never))

  test('on the same resources in opposite order all succeed', async () => {
    await transact(...both(100, ['x', 'y']))
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) => transact(...both(n, n % 2 ? ['x', 'y'] : ['y', 'x']))),
    )
    expect(answers.map(answer => answer.status)).toEqual(Array(20).fill(200))
    for (const id of ['x', 'y']) expect((await call('GET', `Patient/${id}`)).headers.get('etag')).toBe('W/"21"')
    const [x, y] = await Promise.all(['x', 'y'].map(id => call('GET', `Patient/${id}`)))
    expect(x!.body.multipleBirthInteger).toBe(y!.body.multipleBirthInteger)
  })

  test('creating the same ids in opposite order all succeed', async () => {
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, n) => transact(...both(n, n % 2 ? ['nx', 'ny'] : ['ny', 'nx']))),
    )
    expect(answers.map(answer => answer.status)).toEqual(Array(10).fill(200))
    expect((await call('GET', 'Patient/nx')).headers.get('etag')).toBe('W/"10"')
  })

  test('deleting and updating each other’s resources never fail with 5xx', async () => {
    await transact(...both(0, ['m', 'n']))
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        n % 2 ? transact(remove('Patient/m'), ...both(n, ['n'])) : transact(remove('Patient/n'), ...both(n, ['m'])),
      ),
    )
    expect(answers.filter(({ status }) => status !== 200 && status !== 409)).toEqual([])
  })

  test('creating and deleting one id never use a version twice', async () => {
    const put = () => call('PUT', 'Patient/again', { body: { resourceType: 'Patient', id: 'again' } })
    const answers = await Promise.all(
      Array.from({ length: 8 }, async (_, n) => {
        const statuses: number[] = []
        for (let round = 0; round < 40; round++)
          statuses.push((await (n % 2 ? put() : call('DELETE', 'Patient/again'))).status)
        return statuses
      }),
    )
    expect(answers.flat().filter(status => ![200, 201, 204, 409].includes(status))).toEqual([])
    const { body } = await call('GET', 'Patient/again/_history?_count=1000')
    const versions = body.entry.map((entry: { response: { etag: string } }) => entry.response.etag)
    expect(new Set(versions).size).toBe(versions.length)
  })

  test('with the same conditions in opposite order create each resource once', async () => {
    const create = (value: string) => post(tagged(value), undefined, { ifNoneExist: `identifier=${value}` })
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) => transact(...(n % 2 ? ['ca', 'cb'] : ['cb', 'ca']).map(create))),
    )
    expect(answers.map(answer => answer.status)).toEqual(Array(20).fill(200))
    expect(await found('ca')).toHaveLength(1)
    expect(await found('cb')).toHaveLength(1)
  })
})
