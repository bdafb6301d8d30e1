// The pages of the request log: what an organisation finds there, what is never in it, and what each error code asks for.
import { beforeAll, describe, expect, test } from 'vitest'
import en from '../../../src/api/portal/texts/en.json' with { type: 'json' }
import { createClient } from '../../../src/identity/clients.ts'
import { failureCodes } from '../../../src/lib/failure.ts'
import { fhirCaller } from '../../support/fhir.ts'
import { type PortalUser, portalUser } from '../../support/portal.ts'
import { type Service, startBeside, startService } from '../../support/service.ts'
import { databaseOf } from '../../support/trail.ts'

let service: Service
let developer: PortalUser
let stranger: PortalUser
let administrator: PortalUser
let token: string
const call = fhirCaller(() => service)
const named = (id: string) => ({ token, headers: { 'x-request-id': id } })

beforeAll(async () => {
  service = await startService({ RATE_LIMIT_LOOKUP: '2' })
  developer = await portalUser(service, ['developer'])
  stranger = await portalUser(service, ['developer'], 'hospital-b')
  administrator = await portalUser(service, ['administrator'], 'elsewhere')
  const { database, identity } = service.application
  const client = { id: 'laboratory', name: '<b>Laboratory</b>', organizationId: 'hospital-a', scopes: ['system/*.rs'] }
  await createClient(database, 'local', client)
  token = await identity.tokens.mint({ clientId: client.id, organizationId: 'hospital-a', consentExempt: false }, [
    'system/*.rs',
  ])
})

/** The rows of the table, as text. */
const rowsIn = (text: string): string[] =>
  [...text.matchAll(/<tr><td.*?<\/tr>/gs)].map(([row]) =>
    row
      .replaceAll(/<[^>]+>/g, ' ')
      .replaceAll(/\s+/g, ' ')
      .trim(),
  )

const linkIn = (text: string): string => /href="(\/portal\/requests\/[0-9a-f-]{36})"/.exec(text)![1]!

test('a request is found by its id, with its route, client, status and duration, and without what it named', async () => {
  await call('GET', 'Patient/somebody-of-note?_elements=name', named('found-by-id'))
  const { text } = await developer.get('/portal/requests?request=found-by-id')
  expect(rowsIn(text)).toEqual([
    expect.stringMatching(
      /GET \/api\/fhir\/R4\/\{type\}\/\{id\} Patient &lt;b&gt;Laboratory&lt;\/b&gt; 404 NOT_FOUND [\d.]+ ms$/,
    ),
  ])
  expect(text).not.toMatch(/somebody-of-note|_elements/)
  const one = await developer.get(linkIn(text))
  expect(one.text).toContain(en['errors.NOT_FOUND'])
  expect(one.text).toContain('href="/portal/clients/laboratory"')
  expect(one.text).toContain('/api/fhir/R4/{type}/{id}')
  expect(one.text).not.toMatch(/somebody-of-note|_elements|\/portal\/audit/)
})

test('a request that its client did not name is found by the id of its answer, and its repeats by the id that they share', async () => {
  const { headers } = await call('GET', 'Patient/unnamed', { token })
  const own = headers.get('x-request-id')!
  expect(rowsIn((await developer.get(`/portal/requests?request=${own}`)).text)).toHaveLength(1)
  expect((await developer.get(`/portal/requests/${own}`)).text).toContain(own)
  for (let n = 0; n < 2; n++) await call('GET', 'Patient/unnamed', named(own))
  expect(rowsIn((await developer.get(`/portal/requests?request=${own}`)).text)).toHaveLength(3)
})

test('an administrator follows it to the audit trail, another organisation does not find it', async () => {
  await call('GET', 'Patient', named('own-alone'))
  const { text } = await administrator.get('/portal/requests?request=own-alone')
  expect((await administrator.get(linkIn(text))).text).toContain('href="/portal/audit?request=own-alone"')
  expect(rowsIn((await stranger.get('/portal/requests?request=own-alone')).text)).toEqual([])
  expect((await stranger.get(linkIn(text))).status).toBe(404)
  expect((await developer.get('/portal/requests/nothing')).status).toBe(404)
})

test('filters say which requests, alone and together', async () => {
  await call('GET', 'Patient', named('filter-good'))
  await call('POST', 'Patient', { ...named('filter-refused'), body: { resourceType: 'Patient' } })
  await call('GET', '/nowhere', named('filter-nowhere'))
  const ids = async (query: string) =>
    (await developer.get(`/portal/requests?client=laboratory&${query}`)).text.match(/filter-\w+/g) ?? []
  const counted = async (query: string, of = developer) =>
    rowsIn((await of.get(`/portal/requests?client=laboratory&${query}`)).text).length
  expect(await counted('request=filter-refused&status=4&code=INSUFFICIENT_SCOPE&method=POST')).toBe(1)
  for (const other of [
    'status=2',
    'code=NOT_FOUND',
    'method=PUT',
    'route=/api',
    'type=Observation',
    'to=2020-01-01T00:00',
  ])
    expect([other, await counted(`request=filter-refused&${other}`)]).toEqual([other, 0])
  const route = encodeURIComponent('/api/fhir/R4/{type}')
  expect(await counted(`request=filter-good&route=${route}&type=Patient&status=2&from=2020-01-01T00:00`)).toBe(1)
  expect(await ids('request=filter-good')).toContain('filter-good')
  expect((await developer.get('/portal/requests?from=2026-02-30T00:00')).status).toBe(422)
  expect((await developer.get('/portal/requests?code=NONE')).status).toBe(422)
})

test('pages follow each other, and keep their filters', async () => {
  for (let n = 0; n < 52; n++) await call('GET', 'Patient', named(`page-of-${n}`))
  const first = await developer.get('/portal/requests?client=laboratory&status=2')
  expect(rowsIn(first.text)).toHaveLength(50)
  const next = /rel="next" href="([^"]+)"/.exec(first.text)![1]!.replaceAll('&amp;', '&')
  const second = await developer.get(next)
  expect(next).toContain('client=laboratory&status=2&after=')
  expect(rowsIn(second.text).length).toBeGreaterThanOrEqual(2)
  expect(second.text).not.toContain('rel="next"')
})

test('who sent nothing that proves who it is has no organisation, and is seen by administrators alone', async () => {
  await call('GET', 'Patient', { token: 'wrong', headers: { 'x-request-id': 'unproved-1' } })
  await call('GET', '/nowhere', { headers: { 'x-request-id': 'unproved-2' } })
  const seen = async (id: string) => rowsIn((await administrator.get(`/portal/requests?request=${id}`)).text).join()
  expect(await seen('unproved-1')).toContain('not signed in 401')
  expect(await seen('unproved-2')).toMatch(/GET \(no such address\) not signed in 404 NOT_FOUND/)
  expect(rowsIn((await developer.get('/portal/requests?request=unproved-1')).text)).toEqual([])
})

test('a request id that names a patient is replaced before anything is written', async () => {
  const { headers } = await call('GET', 'Patient', named('visit.CM-TQYE-6SRK-YQ6S'))
  expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
  expect((await call('GET', 'Patient', named('visit.CM-TQYE-6SRK-YQ6T'))).headers.get('x-request-id')).toContain('YQ6T')
})

test('no column holds a path, a query or a body', async () => {
  const secret = 'Ngono-Essomba'
  await call('GET', `Patient?family=${secret}`, named('holds-query'))
  await call('POST', 'Patient', { ...named('holds-body'), body: { resourceType: 'Patient', id: secret } })
  await call('GET', `${secret}/${secret}`, named('holds-path'))
  await service.application.requestLog.flush()
  const database = await databaseOf(service)
  const { rows } = await database.query(
    `select request_log::text as line from request_log where request_id like 'holds-%'`,
  )
  expect(rows).toHaveLength(3)
  expect(rows.map(({ line }) => line).join()).not.toContain(secret)
})

test('requests that another process answered are found too', async () => {
  const other = await startBeside(service)
  const headers = { authorization: `Bearer ${token}`, 'x-request-id': 'of-another-process' }
  expect((await fetch(`${other.url}/api/fhir/R4/Patient`, { headers })).status).toBe(200)
  await other.stop()
  expect(rowsIn((await developer.get('/portal/requests?request=of-another-process')).text)).toHaveLength(1)
})

test('what was dropped is said on the page', async () => {
  const database = await databaseOf(service)
  expect((await developer.get('/portal/requests')).text).not.toContain('too busy')
  await database.query(`insert into request_gap values
    ((lpad(to_hex((extract(epoch from now()) * 1000)::bigint), 12, '0') || '70008000000000000001')::uuid, now(), 'hospital-a', 1234)`)
  expect((await developer.get('/portal/requests')).text).toContain('too busy to write them: 1,234')
  expect((await stranger.get('/portal/requests')).text).not.toContain('too busy')
})

describe('limits', () => {
  const lookup = () => call('GET', '/api/v1/connect/patients/verify/CM-TQYE-6SRK-YQ6S', { token: lookupToken })
  let lookupToken: string

  beforeAll(async () => {
    const { database, identity } = service.application
    const client = {
      id: 'reception',
      name: '<i>Reception</i>',
      organizationId: 'hospital-c',
      scopes: ['health_id:verify'],
    }
    await createClient(database, 'local', client)
    const by = { clientId: client.id, organizationId: 'hospital-c', consentExempt: false }
    lookupToken = await identity.tokens.mint(by, client.scopes)
    for (let n = 0; n < 5; n++) await lookup()
  })

  /** The cells of each row of a table that has this text before it. */
  const cells = (text: string): string[][] =>
    [...text.matchAll(/<tr><th scope="row">(.*?)<\/tr>/gs)].map(([, row]) =>
      row!
        .split('</t')
        .map(each => each.replaceAll(/<[^>]*>?|^[dh]>\s*/g, '').trim())
        .filter(each => each !== ''),
    )

  test('show what each client used and has left, and who was refused with what', async () => {
    const own = await portalUser(service, ['developer'], 'hospital-c')
    const { text } = await own.get('/portal/limits')
    expect(text).toContain('&lt;i&gt;Reception&lt;/i&gt;')
    const [all, lookups, tokens, refused] = cells(text)
    expect(all).toEqual(['All requests', '100,000,000', '2', expect.any(String), expect.any(String)])
    expect(lookups).toEqual(['Looking patients up', '2', '2', '0', expect.stringMatching(/^one more in \d+ seconds$/)])
    expect(tokens).toEqual(['Access tokens', '100,000,000', '0', '100,000,000', 'it is full'])
    expect(refused!.slice(0, 3)).toEqual(['reception', 'GET /api/v1/connect/patients/verify/{health_id}', '3'])
    const link = /href="(\/portal\/requests\?client=reception[^"]+)"/.exec(text)![1]!.replaceAll('&amp;', '&')
    expect(rowsIn((await own.get(link)).text)).toHaveLength(3)
  })

  test('are those of the organisation, for developers; administrators see all', async () => {
    expect((await stranger.get('/portal/limits')).text).not.toContain('eception')
    expect((await administrator.get('/portal/limits')).text).toContain('reception')
    const officer = await portalUser(service, ['privacy_officer'])
    expect((await officer.get('/portal/limits')).status).toBe(403)
  })

  test('looking counts nothing', async () => {
    const own = await portalUser(service, ['developer'], 'hospital-c')
    const seen = async () => cells((await own.get('/portal/limits')).text)[1]!.slice(0, 4)
    expect(await seen()).toEqual(await seen())
  })
})

describe('error codes', () => {
  test('each one has advice, and no advice is for a code that there is not', async () => {
    const advised = Object.keys(en).filter(each => each.startsWith('errors.'))
    expect(advised.map(each => each.slice('errors.'.length)).sort()).toEqual(Object.keys(failureCodes).sort())
    const { text } = await developer.get('/portal/requests/errors')
    for (const [code, { status }] of Object.entries(failureCodes))
      expect(text).toMatch(new RegExp(`id="${code}".*\\s.*>${status}<`))
  })

  test('are for developers', async () => {
    const officer = await portalUser(service, ['privacy_officer'])
    for (const path of ['/portal/requests', '/portal/requests/errors', '/portal/requests/x'])
      expect((await officer.get(path)).status).toBe(403)
    expect((await officer.get('/portal')).text).not.toContain('/portal/requests')
  })
})
