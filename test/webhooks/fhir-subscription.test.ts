// R4 Subscriptions with a rest-hook (https://hl7.org/fhir/R4/subscription.html).
import { beforeAll, describe, expect, test } from 'vitest'
import { turnOffEnded } from '../../src/webhooks/ended.ts'
import { consentOf } from '../support/consents.ts'
import { creatorBy, fhirCaller, issueOf } from '../support/fhir.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { type Service, startBeside, startService } from '../support/service.ts'
import { client, quiet, type Somebody, settled } from '../support/webhooks.ts'

let service: Service
let app: Somebody
const call = fhirCaller(() => service)
const store = creatorBy(call)
let number = 0

beforeAll(async () => {
  service = await startService()
  app = await client(service, 'app', { scopes: ['system/*.cruds'], consentExempt: true })
})

const wish = (receiver: Receiver, criteria: string, channel: object = {}) => ({
  resourceType: 'Subscription',
  status: 'requested',
  reason: 'to be told',
  criteria,
  channel: { type: 'rest-hook', endpoint: receiver.url, ...channel },
})
const asJson = { payload: 'application/fhir+json' }

const subscribe = async (who: Somebody, criteria: string, channel: object = {}) => {
  const receiver = await startReceiver()
  const { status, text, body } = await call('POST', 'Subscription', {
    body: wish(receiver, criteria, channel),
    token: who.token,
  })
  expect(status, text).toBe(201)
  return { receiver, body, id: body.id as string }
}

const flag = (more: object = {}) => ({
  resourceType: 'Flag',
  id: `flag-${++number}`,
  status: 'active',
  code: { text: 'falls' },
  subject: { reference: 'Patient/somebody' },
  ...more,
})

describe('a Subscription', () => {
  test('that is requested is active from the moment it is stored', async () => {
    const { body } = await subscribe(app, 'Flag?subject=Patient/nobody')
    expect(body.status).toBe('active')
    expect((await call('GET', `Subscription/${body.id}`)).body.status).toBe('active')
  })

  test('is told of what its criteria find: by word alone, or by the resource at its place below the endpoint', async () => {
    const word = await subscribe(app, 'Flag?subject=Patient/told')
    const whole = await subscribe(app, 'Flag?subject=Patient/told', {
      ...asJson,
      header: ['Authorization: Bearer of-the-app', 'X-Own: 1'],
    })
    const [found, other] = [flag({ subject: { reference: 'Patient/told' } }), flag()]
    await store(found, other)
    const changed = { ...found, code: { text: 'falls often' } }
    await quiet(service)
    expect((await call('PUT', `Flag/${found.id}`, { body: changed })).status).toBe(200)
    await quiet(service)
    expect(
      (await call('PUT', `Flag/${found.id}`, { body: { ...changed, subject: { reference: 'Patient/other' } } })).status,
    ).toBe(200)
    await quiet(service)
    expect(word.receiver.received.map(({ method, path, body }) => [method, path, body])).toEqual([
      ['POST', '/hooks', ''],
      ['POST', '/hooks', ''],
    ])
    expect(whole.receiver.received.map(({ method, path }) => [method, path])).toEqual([
      ['PUT', `/hooks/Flag/${found.id}`],
      ['PUT', `/hooks/Flag/${found.id}`],
    ])
    const [first] = whole.receiver.received
    expect(first!.headers).toMatchObject({
      authorization: 'Bearer of-the-app',
      'x-own': '1',
      'content-type': 'application/fhir+json; charset=utf-8',
    })
    expect(first!.event).toMatchObject({ ...found, meta: { versionId: '1' } })
  })

  test('is told of changes that another process makes, from its creation on', async () => {
    const beside = await startBeside(service)
    const { receiver } = await subscribe(app, 'Basic', asJson)
    const byOther = fhirCaller(() => beside)
    expect(
      (await byOther('PUT', 'Basic/other', { body: { resourceType: 'Basic', id: 'other', code: { text: 'x' } } }))
        .status,
    ).toBe(201)
    expect((await receiver.until(1))[0]!.path).toBe('/hooks/Basic/other')
    await beside.stop()
  })

  test('is told of all that a transaction changes, each resource once', async () => {
    const { receiver } = await subscribe(app, 'Flag?subject=Patient/bundled', asJson)
    const flags = Array.from({ length: 20 }, () => flag({ subject: { reference: 'Patient/bundled' } }))
    const entry = flags.map(resource => ({ resource, request: { method: 'PUT', url: `Flag/${resource.id}` } }))
    const { status } = await call('POST', '', { body: { resourceType: 'Bundle', type: 'transaction', entry } })
    expect(status).toBe(200)
    await receiver.until(20)
    await quiet(service)
    expect(receiver.received.map(({ path }) => path).sort()).toEqual(flags.map(({ id }) => `/hooks/Flag/${id}`).sort())
  })

  test('is told of nothing that its client could not find', async () => {
    await store(consentOf('c-seen', 'seen', 'clinic'))
    const clinic = await client(service, 'clinic')
    const { receiver } = await subscribe(clinic, 'Flag', asJson)
    const [seen, hidden] = [
      flag({ subject: { reference: 'Patient/seen' } }),
      flag({ subject: { reference: 'Patient/hidden' } }),
    ]
    await store(seen, hidden)
    await quiet(service)
    expect(receiver.received.map(({ path }) => path)).toEqual([`/hooks/Flag/${seen.id}`])
  })

  test('ends when it is switched off, deleted, or over', async () => {
    const [off, gone] = [await subscribe(app, 'Flag'), await subscribe(app, 'Flag')]
    const over = await startReceiver()
    const ended = { ...wish(over, 'Flag'), end: '2020-01-01T00:00:00Z' }
    expect((await call('POST', 'Subscription', { body: ended, token: app.token })).status).toBe(201)
    const switched = { body: { ...off.body, status: 'off' }, token: app.token }
    expect((await call('PUT', `Subscription/${off.id}`, switched)).status).toBe(200)
    expect((await call('DELETE', `Subscription/${gone.id}`)).status).toBe(204)
    await store(flag())
    await quiet(service)
    expect([off.receiver, gone.receiver, over].map(({ received }) => received.length)).toEqual([0, 0, 0])
  })

  test('is turned off when its time is over, and says so', async () => {
    const [over, later] = [await startReceiver(), await startReceiver()]
    const made = async (receiver: Receiver, end: string) =>
      (await call('POST', 'Subscription', { body: { ...wish(receiver, 'Flag'), end }, token: app.token })).body
    const [ended, lasting] = [await made(over, '2020-01-01T00:00:00Z'), await made(later, '2999-01-01T00:00:00Z')]
    expect([ended.status, lasting.status]).toEqual(['active', 'active'])
    const statusOf = async ({ id }: { id: string }) => (await call('GET', `Subscription/${id}`)).body.status
    // A process looks as it starts, and each minute from then on.
    await startBeside(service)
    await settled(
      'the status to be off',
      () => statusOf(ended),
      status => status === 'off',
    )
    expect(await statusOf(lasting)).toBe('active')
  })

  test('stays on if its owner gives it more time at the moment at which it would be turned off', async () => {
    const receiver = await startReceiver()
    const asked = { ...wish(receiver, 'Flag'), end: '2020-01-01T00:00:00Z' }
    const { id } = (await call('POST', 'Subscription', { body: asked, token: app.token })).body
    const { database, storeFor } = service.application
    await turnOffEnded(database, caller => {
      const store = storeFor(caller)
      const read = async (type: string, name: string) => {
        const body = { ...asked, id, end: '2999-01-01T00:00:00Z' }
        if (name === id) expect((await call('PUT', `Subscription/${id}`, { body, token: app.token })).status).toBe(200)
        return store.read(type, name)
      }
      return { ...store, read }
    })
    expect((await call('GET', `Subscription/${id}`)).body).toMatchObject({
      status: 'active',
      end: '2999-01-01T00:00:00Z',
    })
  })

  test('is told of its own type alone, also where another type has the same id', async () => {
    const [flags, basics] = [await subscribe(app, 'Flag', asJson), await subscribe(app, 'Basic', asJson)]
    const entry = [flag({ id: 'same' }), { resourceType: 'Basic', id: 'same', code: { text: 'x' } }].map(resource => ({
      resource,
      request: { method: 'PUT', url: `${resource.resourceType}/same` },
    }))
    for (const order of [entry, entry.toReversed()]) {
      const bundle = { resourceType: 'Bundle', type: 'transaction', entry: order }
      expect((await call('POST', '', { body: bundle })).status).toBe(200)
      await quiet(service)
      await call('DELETE', 'Flag/same')
      await call('DELETE', 'Basic/same')
      await quiet(service)
    }
    for (const [{ receiver }, type] of [
      [flags, 'Flag'],
      [basics, 'Basic'],
    ] as const)
      expect(receiver.received.map(({ path }) => path)).toEqual(Array(2).fill(`/hooks/${type}/same`))
  })

  test('is never told of what happened while it was off, or over', async () => {
    const off = await subscribe(app, 'Flag')
    const over = await startReceiver()
    const ended = { ...wish(over, 'Flag'), end: '2020-01-01T00:00:00Z' }
    const { body: made } = await call('POST', 'Subscription', { body: ended, token: app.token })
    const put = async (body: { id: string }) =>
      expect((await call('PUT', `Subscription/${body.id}`, { body, token: app.token })).status).toBe(200)
    await put({ ...off.body, status: 'off' })
    await store(flag())
    await quiet(service)
    const { end: _end, ...endless } = made
    await put({ ...off.body, status: 'requested' })
    await put({ ...endless, status: 'requested' })
    await quiet(service)
    expect([off.receiver.received.length, over.received.length]).toEqual([0, 0])
    await store(flag())
    await quiet(service)
    expect([off.receiver.received.length, over.received.length]).toEqual([1, 1])
  })

  test('whose receiver is gone says so in its status, and can be requested anew', async () => {
    const { receiver, id } = await subscribe(app, 'Flag')
    receiver.answer(410)
    await store(flag())
    const read = async () => (await call('GET', `Subscription/${id}`)).body
    const failed = await settled('the status to be error', read, ({ status }) => status === 'error')
    expect(failed.error).toBe('the receiver responded with 410 Gone')
    receiver.answer(200)
    const requested = { ...failed, status: 'requested' }
    const { body } = await call('PUT', `Subscription/${id}`, { body: requested, token: app.token })
    expect([body.status, body.error]).toEqual(['active', undefined])
    await store(flag())
    await receiver.until(2)
  })

  test('is nobody’s to see but whoever made it, and the record-keeping system', async () => {
    const { id } = await subscribe(await client(service, 'mine'), 'Flag')
    const { token } = await client(service, 'mine')
    expect((await call('GET', `Subscription/${id}`, { token })).status).toBe(403)
    expect((await call('DELETE', `Subscription/${id}`, { token })).status).toBe(403)
  })

  test('is changed by the client that made it alone: what is sent to one is not diverted to another', async () => {
    const { receiver, body, id } = await subscribe(app, 'Flag')
    const other = await startReceiver()
    const diverted = { ...body, status: 'requested', channel: { ...body.channel, endpoint: other.url } }
    const refused = await call('PUT', `Subscription/${id}`, { body: diverted })
    expect([refused.status, issueOf(refused.body).diagnostics]).toEqual([
      403,
      expect.stringContaining('Only the client that created a Subscription'),
    ])
    await store(flag())
    await quiet(service)
    expect([receiver.received.length, other.received.length]).toEqual([1, 0])
  })

  test('whose criteria cannot be searched by any more says so in its status', async () => {
    const parameter = {
      resourceType: 'SearchParameter',
      id: 'flag-words',
      url: 'https://example.org/SearchParameter/flag-words',
      name: 'FlagWords',
      status: 'active',
      description: 'What a flag says',
      base: ['Flag'],
      code: 'words',
      type: 'string',
      expression: 'Flag.code.text',
    }
    await store(parameter)
    const { receiver, id } = await subscribe(app, 'Flag?words=falls')
    expect((await call('DELETE', `SearchParameter/${parameter.id}`)).status).toBe(204)
    await store(flag())
    const read = async () => (await call('GET', `Subscription/${id}`)).body
    const failed = await settled('the status to be error', read, ({ status }) => status === 'error')
    expect(failed.error).toMatch(/^its criteria are not a valid search: .*words/)
    expect(receiver.received).toEqual([])
  })

  test('keeps the headers that it sends out of the tables of deliveries', async () => {
    const { id } = await subscribe(app, 'Flag', { header: ['Authorization: Bearer very-secret'] })
    const [row] = await service.application.database.query<{ row: string; secrets: Buffer }>({
      text: 'select to_jsonb(p)::text as row, secrets from webhook_endpoint p where id = $1',
      values: [`Subscription/${id}`],
    })
    expect(row!.row + row!.secrets.toString('latin1')).not.toContain('very-secret')
  })
})

describe('what cannot be done is refused, and leaves nothing', () => {
  test.each([
    ['another channel', { channel: { type: 'email', endpoint: 'mailto:a@example.org' } }, 'Subscription.channel.type'],
    ['no endpoint', { channel: { type: 'rest-hook' } }, 'Subscription.channel.endpoint'],
    [
      'a private endpoint',
      { channel: { type: 'rest-hook', endpoint: 'https://10.0.0.1/' } },
      'Subscription.channel.endpoint',
    ],
    [
      'plain http',
      { channel: { type: 'rest-hook', endpoint: 'http://example.org/' } },
      'Subscription.channel.endpoint',
    ],
    [
      'XML',
      { channel: { type: 'rest-hook', endpoint: 'https://example.org/', payload: 'application/fhir+xml' } },
      'Subscription.channel.payload',
    ],
    [
      'a header that is not its own',
      { channel: { type: 'rest-hook', endpoint: 'https://example.org/', header: ['Host: other'] } },
      'Subscription.channel.header[0]',
    ],
    [
      'two headers in one',
      { channel: { type: 'rest-hook', endpoint: 'https://example.org/', header: ['A: b\nC: d'] } },
      'Subscription.channel.header[0]',
    ],
    ['criteria of no type', { criteria: 'Nothing?x=1' }, 'Subscription.criteria'],
    ['criteria by an unknown parameter', { criteria: 'Flag?colour=red' }, 'Subscription.criteria'],
  ])('%s', async (_case, more, field) => {
    const before = (await call('GET', 'Subscription?_summary=count')).body.total
    const receiver = await startReceiver()
    const { status, body } = await call('POST', 'Subscription', {
      body: { ...wish(receiver, 'Flag'), ...more },
      token: app.token,
    })
    expect(status, JSON.stringify(body)).toBe(422)
    expect(issueOf(body).expression).toEqual([field])
    expect((await call('GET', 'Subscription?_summary=count')).body.total).toBe(before)
  })

  test('criteria on a type that the client may not search', async () => {
    const narrow = await client(service, 'narrow', { scopes: ['system/Subscription.cruds', 'system/Flag.rs'] })
    const receiver = await startReceiver()
    const { status, body } = await call('POST', 'Subscription', {
      body: wish(receiver, 'Condition'),
      token: narrow.token,
    })
    expect([status, issueOf(body).code]).toEqual([403, 'forbidden'])
  })
})
