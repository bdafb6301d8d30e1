// The pages about webhooks: what arrives where, what is asked for by forms, the catalogue of events, and the signature debugger.
import { createHmac } from 'node:crypto'
import type pg from 'pg'
import { beforeAll, describe, expect, test } from 'vitest'
import { eventTypes } from '../../../src/events/event-types.ts'
import { createLog } from '../../../src/lib/log.ts'
import { type PortalUser, portalUser } from '../../support/portal.ts'
import { until } from '../../support/process.ts'
import { type Service, startService } from '../../support/service.ts'
import { databaseOf } from '../../support/trail.ts'
import { client, type Subscriber, subscriber } from '../../support/webhooks.ts'

let service: Service
let trail: pg.Client
let developer: PortalUser
let administrator: PortalUser
let stranger: PortalUser

beforeAll(async () => {
  service = await startService()
  trail = await databaseOf(service)
  developer = await portalUser(service, ['developer'])
  administrator = await portalUser(service, ['administrator'], 'elsewhere')
  stranger = await portalUser(service, ['developer'], 'hospital-b')
})

const subscribed = async (organization = 'hospital-a', events = ['encounter.created', 'lab_result.released']) =>
  subscriber(await client(service, organization), events)

const pageOf = ({ id }: Subscriber): string => `/portal/webhooks/${id}`
const testEvent = (to: Subscriber, type = 'encounter.created') => developer.post(`${pageOf(to)}/test`, { type })

describe('the list of subscriptions', () => {
  test('shows those of the clients of the organisation, and administrators those of all', async () => {
    const [own, other] = [await subscribed(), await subscribed('hospital-b')]
    const { text } = await developer.get('/portal/webhooks')
    expect(text).toContain(`<a href="/portal/webhooks/${own.id}">${own.receiver.url}</a>`)
    expect(text).toContain('<code>lab_result.released</code>')
    expect(text).not.toContain(other.id)
    expect((await stranger.get('/portal/webhooks')).text).not.toContain(own.id)
    const all = (await administrator.get('/portal/webhooks')).text
    expect([all.includes(own.id), all.includes(other.id)]).toEqual([true, true])
  })

  test('has none of FHIR Subscriptions, whose criteria can name patients', async () => {
    const owner = await client(service, 'hospital-a')
    const { status, body } = await owner.call('POST', 'Subscription', {
      ...{ resourceType: 'Subscription', status: 'requested', reason: 'x', criteria: 'Flag?subject=Patient/nobody' },
      channel: { type: 'rest-hook', endpoint: 'http://127.0.0.1:9/flags' },
    })
    expect(status).toBe(201)
    expect((await developer.get('/portal/webhooks')).text).not.toContain('/flags')
    expect((await developer.get(`/portal/webhooks/${body.id}`)).status).toBe(404)
  })

  test('goes on on further pages', async () => {
    const user = await portalUser(service, ['developer'], 'many')
    const who = await client(service, 'many')
    for (let count = 0; count < 51; count++) await subscriber(who, ['encounter.created'])
    const { text } = await user.get('/portal/webhooks')
    expect(text.match(/<th scope="row">/g)).toHaveLength(50)
    const rest = (await user.get(/rel="next" href="([^"]+)"/.exec(text)![1]!)).text
    expect([rest.match(/<th scope="row">/g)?.length, rest.includes('rel="next"')]).toEqual([1, false])
  })

  test('is for developers and administrators, like all pages of the section', async () => {
    const officer = await portalUser(service, ['privacy_officer', 'informaticist'])
    const own = await subscribed()
    for (const path of ['', `/${own.id}`, '/events', '/signature'])
      expect([path, (await officer.get(`/portal/webhooks${path}`)).status]).toEqual([path, 403])
    expect((await officer.get(`${pageOf(own)}/replays`)).status).toBe(403)
    for (const name of ['test', 'status', 'secret', 'replay', 'replays'])
      expect((await officer.post(`${pageOf(own)}/${name}`)).status).toBe(403)
    expect((await officer.post('/portal/webhooks/signature')).status).toBe(403)
  })
})

describe('one subscription', () => {
  test('of another organisation is not there, to look at or to change', async () => {
    const own = await subscribed()
    expect((await stranger.get(pageOf(own))).status).toBe(404)
    const forms = {
      test: { type: 'encounter.created' },
      status: { status: 'disabled' },
      secret: { overlap: '0' },
      replay: { event: 'evt_1' },
      replays: { from: '2026-01-01T00:00' },
    }
    for (const [name, fields] of Object.entries(forms))
      expect([name, (await stranger.post(`${pageOf(own)}/${name}`, fields)).status]).toEqual([name, 404])
    expect((await own.read()).status).toBe('active')
    expect(own.receiver.received).toEqual([])
  })

  test('receives a test event, whose attempt is shown with status, time and reply; the form is on record', async () => {
    const own = await subscribed()
    own.receiver.answer(response => void response.writeHead(202).end('<script>alert(1)</script>'))
    const answer = await testEvent(own, 'lab_result.released')
    expect([answer.status, answer.headers.get('location')]).toEqual([303, pageOf(own)])
    const [{ event }] = (await own.receiver.until(1)) as unknown as [{ event: { type: string; meta: object } }]
    expect(event).toMatchObject({ type: 'lab_result.released', meta: { test: 'true', organization_id: 'hospital-a' } })
    await own.attempted(1)
    const { text } = await developer.get(pageOf(own))
    expect(text).toMatch(/<code>lab_result.released<\/code>[\s\S]*<span class="state done">delivered[\s\S]*\d+ ms/)
    expect(text).toContain('<strong>202</strong>')
    expect(text).toContain('&lt;script&gt;alert(1)&lt;/script&gt;')
    expect(text).not.toContain('<script>alert')
    const { rows } = await trail.query('select client_id, query from audit_event where request_id = $1', [
      answer.headers.get('x-request-id'),
    ])
    expect(rows).toEqual([
      { client_id: expect.stringMatching(/^user\/usr_/), query: expect.stringContaining(`${own.id}/test`) },
    ])
    expect((await testEvent(own, 'consent.revoked')).status).toBe(422)
  })

  test('that fails says why and when it is tried again, and offers no replay until then', async () => {
    const own = await subscribed()
    own.receiver.answer(500)
    await testEvent(own)
    await own.attempted(1)
    // The attempt is on record a moment before its subscription fails.
    await until('the subscription fails', async () => (await developer.get(pageOf(own))).text.includes('failing:'))
    const { text } = await developer.get(pageOf(own))
    expect(text).toMatch(
      /failing: 1 attempt<[\s\S]*failed, is repeated[\s\S]*<strong>500<\/strong>[\s\S]*Next attempt:/,
    )
    expect(text).not.toContain('>Replay<')
    expect((await developer.get('/portal/webhooks')).text).toContain('failing: 1 attempt<')
  })

  test('is sent an event once more, and attempts are found by the event', async () => {
    const own = await subscribed()
    await testEvent(own)
    await testEvent(own)
    const [first] = (await own.attempted(2)) as [{ event_id: string }]
    const event = first.event_id
    const answer = await developer.post(`${pageOf(own)}/replay`, { event })
    expect(answer.headers.get('location')).toBe(pageOf(own))
    await own.attempted(3)
    const { text } = await developer.get(`${pageOf(own)}?event=${event}`)
    expect(text.match(/<td data-name="Attempt">/g)).toHaveLength(2)
    expect(text.match(new RegExp(`name="event" value="${event}"><button`, 'g'))).toHaveLength(2)
    expect((await developer.post(`${pageOf(own)}/replay`, { event: 'evt_none' })).status).toBe(404)
    expect((await developer.get(`${pageOf(own)}?event=%27x`)).status).toBe(422)
  })

  test('of which there are more than a page goes on on the next, each attempt once', async () => {
    const own = await subscribed()
    for (let count = 0; count < 52; count++) await testEvent(own)
    await own.attempted(52)
    const eventsIn = (text: string) => [...text.matchAll(/<small>(evt_\w+)<\/small>/g)].map(([, id]) => id)
    const { text } = await developer.get(pageOf(own))
    const rest = (await developer.get(/rel="next" href="([^"]+)"/.exec(text)![1]!.replaceAll('&amp;', '&'))).text
    expect([eventsIn(text).length, eventsIn(rest).length, rest.includes('rel="next"')]).toEqual([50, 2, false])
    expect(new Set([...eventsIn(text), ...eventsIn(rest)]).size).toBe(52)
  })

  test('is disabled and enabled; what waits is sent then', async () => {
    const own = await subscribed()
    await developer.post(`${pageOf(own)}/status`, { status: 'disabled' })
    expect((await own.read()).status).toBe('disabled')
    const { text } = await developer.get(pageOf(own))
    expect(text).toContain('<span class="state failed">disabled')
    expect(text).not.toContain('Send a test event')
    expect((await testEvent(own)).status).toBe(409)
    await developer.post(`${pageOf(own)}/status`, { status: 'active' })
    expect((await testEvent(own)).status).toBe(303)
    await own.attempted(1)
    expect((await developer.post(`${pageOf(own)}/status`, { status: 'paused' })).status).toBe(422)
  })

  test('gets a new secret, shown once, beside which the previous one signs for the time that is chosen', async () => {
    const own = await subscribed()
    const answer = await developer.post(`${pageOf(own)}/secret`, { overlap: '3600' })
    const secret = /<code>(whsec_[^<]+)<\/code>/.exec(answer.text)![1]!
    expect([answer.headers.get('cache-control'), secret === own.secret]).toEqual(['no-store', false])
    expect((await developer.get(pageOf(own))).text).not.toContain('whsec_')
    await testEvent(own)
    const [got] = await own.receiver.until(1)
    const header = String(got!.headers['x-service-signature'])
    const time = /^t=(\d+)/.exec(header)![1]!
    const signed = [secret, own.secret].map(
      each => `v1=${createHmac('sha256', each).update(`${time}.${got!.body}`).digest('hex')}`,
    )
    expect(header).toBe(`t=${time},${signed.join(',')}`)
    expect((await developer.post(`${pageOf(own)}/secret`, { overlap: '5' })).status).toBe(422)
  })
})

describe('sending many events again', () => {
  const since = 'from=2020-01-01T00:00'

  test('is sent more than a thousand events in parts, each event once', async () => {
    const own = await subscribed()
    await trail.query(
      `with made as (
          insert into event (id, event, type, resource_id, version, audience, patient, patients, request_id, body)
          select 'evt_00' || lpad(n::text, 30, '0'), 'x', 1, 'r', 1, '[]', '', '', '', '{}' from generate_series(1, 1001) n returning id
        )
        insert into webhook_attempt (endpoint, event, delivery, attempt, outcome, started_at, milliseconds)
        select p.key, made.id, gen_random_uuid(), 1, 'delivered', '2026-01-02T00:00:00Z', 1 from made, webhook_endpoint p where p.id = $1`,
      [own.id],
    )
    const wish = { state: 'all', from: '2026-01-01T00:00', to: '2026-01-03T00:00' }
    const begun = await developer.post(`${pageOf(own)}/replays`, wish)
    expect(begun.status).toBe(303)
    const { text } = await developer.get(begun.headers.get('location')!)
    expect(text).toContain('One event would be sent again.')
    const [after] = /(?<=name="after" value=")[^"]+/.exec(text)!
    expect((await developer.post(`${pageOf(own)}/replays`, { ...wish, after })).headers.get('location')).toBe(
      `${pageOf(own)}/replays`,
    )
    const { rows } = await trail.query(
      `select array_agg(cardinality(r.events) order by r.id) as parts from webhook_replay r join webhook_endpoint p on p.key = r.endpoint
        where p.id = $1`,
      [own.id],
    )
    expect(rows).toEqual([{ parts: [1000, 1] }])
  })

  test('begins with a count, sends them once, and says what has come of them', async () => {
    const own = await subscribed()
    await testEvent(own)
    await testEvent(own)
    await own.attempted(2)
    const path = `${pageOf(own)}/replays`
    expect((await developer.get(path)).text).not.toContain('would be sent again')
    const missed = (await developer.get(`${path}?${since}`)).text
    expect(missed).toContain('0 events would be sent again')
    expect(missed).not.toContain(`<form method="post" action="${path}"`)
    const preview = (await developer.get(`${path}?state=delivered&${since}`)).text
    expect(preview).toContain('2 events would be sent again')
    expect(preview).toContain('<input type="hidden" name="state" value="delivered">')
    expect((await own.attempts()).length).toBe(2)
    const answer = await developer.post(path, { state: 'delivered', from: '2020-01-01T00:00', to: '' })
    expect([answer.status, answer.headers.get('location')]).toEqual([303, path])
    await own.attempted(4)
    const { text } = await developer.get(path)
    const cells = [...text.matchAll(/data-name="(Events|Arrived|Still tried|Did not arrive)"><div>(.*?)<\/div>/g)]
    expect(cells.map(([, name, value]) => [name, value!.replaceAll(/<[^>]+>/g, '')])).toEqual([
      ['Events', '2'],
      ['Arrived', '2'],
      ['Still tried', '0'],
      ['Did not arrive', '0'],
    ])
    expect(text).toContain(developer.email)
    const { rows } = await trail.query('select client_id, query, outcome from audit_event where request_id = $1', [
      answer.headers.get('x-request-id'),
    ])
    expect(rows).toEqual([
      {
        client_id: expect.stringMatching(/^user\/usr_/),
        query: expect.stringContaining('state=delivered'),
        outcome: 0,
      },
    ])
  })

  test('of another organisation is refused, and so is a span that is none', async () => {
    const own = await subscribed()
    const path = `${pageOf(own)}/replays`
    expect((await stranger.get(`${path}?${since}`)).status).toBe(404)
    expect((await developer.get(`${path}?from=yesterday`)).status).toBe(422)
    expect((await developer.get(`${path}?state=lost&${since}`)).status).toBe(422)
    expect((await developer.post(path, { state: 'all' })).status).toBe(422)
    expect((await developer.post(path, { state: 'all', from: '2020-01-01T00:00' })).status).toBe(409)
    await developer.post(`${pageOf(own)}/status`, { status: 'disabled' })
    expect((await developer.get(`${path}?${since}`)).text).toContain('The subscription is disabled')
  })
})

test('the catalogue has each event with its schema and an example that shows what it carries', async () => {
  const { text } = await developer.get('/portal/webhooks/events')
  for (const [type, { description }] of Object.entries(eventTypes)) {
    const start = text.indexOf(`<section id="${type}">`)
    const section = text.slice(start, text.indexOf('</section>', start))
    expect([type, start > 0, section.includes(description)]).toEqual([type, true, true])
    expect(section).toContain(`&quot;type&quot;: &quot;${type}&quot;`)
    expect(section).toContain('https://json-schema.org/draft/2020-12/schema')
  }
})

describe('the signature debugger', () => {
  const path = '/portal/webhooks/signature'

  async function delivery() {
    const own = await subscribed()
    await testEvent(own)
    const [got] = await own.receiver.until(1)
    const headers = Object.entries(got!.headers)
      .filter(([name]) => name.startsWith('webhook-') || name === 'x-service-signature')
      .map(([name, value]) => `${name}: ${value}`)
      .join('\n')
    return { headers, body: got!.body, secret: own.secret }
  }

  test('finds a delivery right, says which signature matches, and names what was changed', async () => {
    const sent = await delivery()
    const right = await developer.post(path, sent)
    expect(right.text.match(/Body, time and secret are those that were signed/g)).toHaveLength(2)
    expect(right.text).toContain('Signature 1 of 1 matches.')
    for (const [more, words] of [
      [{ body: JSON.stringify(JSON.parse(sent.body), null, 2) }, 'formatted again'],
      [{ body: sent.body.replace('encounter.created', 'encounter.closed') }, 'No signature matches'],
      [{ secret: `whsec_${Buffer.alloc(32).toString('base64')}` }, 'secret of another subscription'],
      [{ headers: sent.headers.replace(/webhook-id: .*/, 'webhook-id: evt_1') }, 'webhook-id is not the id'],
      [{ headers: 'content-type: application/json' }, 'headers of this signature are missing'],
    ] as const)
      expect([words, (await developer.post(path, { ...sent, ...more })).text.includes(words)]).toEqual([words, true])
  })

  test('stores nothing that is pasted, shows no secret again, and markup as text', async () => {
    const fields = { headers: 'x: <b>1', body: '</textarea><img src=x>', secret: 'whsec_pasted-secret' }
    const answer = await developer.post(path, fields)
    expect(answer.text).toContain('&lt;/textarea&gt;&lt;img src=x&gt;</textarea>')
    expect(answer.text).not.toContain('pasted-secret')
    expect(answer.headers.get('cache-control')).toBe('no-store')
    const { rows } = await trail.query('select to_jsonb(e)::text as row from audit_event e where request_id = $1', [
      answer.headers.get('x-request-id'),
    ])
    expect(rows).toHaveLength(1)
    expect(rows[0].row).not.toMatch(/pasted|img|<b>/)
    const kept = await trail.query(
      "select to_jsonb(i)::text as row from idempotency i where to_jsonb(i)::text ~ 'pasted'",
    )
    expect(kept.rows).toEqual([])
  })

  test('logs nothing that is pasted', async () => {
    const lines: string[] = []
    const noisy = await startService({}, createLog('debug', { write: line => void lines.push(line) }))
    const user = await portalUser(noisy, ['developer'])
    await user.post(path, { headers: 'x: PASTED', body: 'PASTED', secret: 'PASTED' })
    await user.post(path, { headers: 'x: PASTED', body: 'PASTED', secret: 'PASTED', more: 'PASTED' })
    expect(lines.some(line => line.includes('/portal/webhooks/signature'))).toBe(true)
    expect(lines.filter(line => line.includes('PASTED'))).toEqual([])
  })
})
