import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { fhirCaller } from '../../support/fhir.ts'
import { type Service, startService } from '../../support/service.ts'
import { databaseOf, rowsOf } from '../../support/trail.ts'
import { allPages, type Call, clientOf, setClock, waited } from './support.ts'

const path = '/api/v1/connect/payments/reconciliation'
const own = 'https://health-interop.org/fhir'
let service: Service
let hospital: Call
const call = fhirCaller(() => service)

interface Payment {
  readonly id: string
  readonly paid: string
  readonly amount: string
  readonly fee?: string
  readonly currency?: string
  readonly feeCurrency?: string
  readonly outcome?: string
  readonly status?: string
  readonly organization?: string
}

/** As text, so that amounts are written with their digits. */
function payment({ id, paid, amount, fee, currency = 'XAF', feeCurrency = currency, ...more }: Payment): string {
  const { outcome = 'complete', status = 'active', organization = 'Organization/hospital' } = more
  const money = (value: string, of: string) => `{"value":${value},"currency":"${of}"}`
  const charge = `{"type":{"coding":[{"system":"${own}/CodeSystem/payment-detail","code":"fee"}]},"amount":${money(fee ?? '0', feeCurrency)}}`
  return `{"resourceType":"PaymentReconciliation","id":"${id}","status":"${status}","created":"2026-03-15T00:00:00Z",
    "requestor":{"reference":"${organization}"},"outcome":"${outcome}","paymentIssuer":{"display":"MTN MoMo"},
    "paymentIdentifier":{"value":"T-${id}"},"paymentDate":"${paid.slice(0, 10)}",
    ${paid.includes('T') ? `"extension":[{"url":"${own}/StructureDefinition/paid-at","valueDateTime":"${paid}"}],` : ''}
    ${fee === undefined ? '' : `"detail":[${charge}],`}
    "paymentAmount":${money(amount, currency)}}`
}

async function put(...payments: Payment[]): Promise<void> {
  for (const each of payments) {
    const headers = { 'content-type': 'application/fhir+json' }
    const { status, text } = await call('PUT', `PaymentReconciliation/${each.id}`, { body: payment(each), headers })
    expect(status, text).toBeLessThan(300)
  }
}

beforeAll(async () => {
  service = await startService()
  hospital = await clientOf(service, 'hospital', 'payments:reconciliation:read')
  await put(
    // The day in Douala begins at 23:00 UTC of the day before.
    { id: 'early', paid: '2026-03-13T23:00:00Z', amount: '0.10', fee: '0.01' },
    { id: 'noon', paid: '2026-03-14T12:00:00+01:00', amount: '0.20', fee: '0.02', outcome: 'partial' },
    { id: 'late', paid: '2026-03-14T22:59:59.999Z', amount: '15000', outcome: 'error' },
    { id: 'day-only', paid: '2026-03-14', amount: '1e2', outcome: 'queued' },
    { id: 'other-fee', paid: '2026-03-14T13:00:00Z', amount: '1', fee: '5', feeCurrency: 'EUR' },
    { id: 'euro', paid: '2026-03-14T09:00:00Z', amount: '10.50', currency: 'EUR' },
    { id: 'before', paid: '2026-03-13T22:59:59Z', amount: '7' },
    { id: 'after', paid: '2026-03-14T23:00:00Z', amount: '7' },
    { id: 'wrong', paid: '2026-03-14T12:00:00Z', amount: '7', status: 'entered-in-error' },
    { id: 'void', paid: '2026-03-14T12:00:00Z', amount: '7', status: 'cancelled' },
    { id: 'draft', paid: '2026-03-14T12:00:00Z', amount: '7', status: 'draft' },
    { id: 'rival', paid: '2026-03-14T12:00:00Z', amount: '7', organization: 'Organization/rival' },
    {
      ...{ id: 'elsewhere', paid: '2026-03-14T12:00:00Z', amount: '7' },
      organization: 'https://other.example.org/Organization/hospital',
    },
  )
})

afterEach(() => vi.useRealTimers())

const get = async (query: string, as = hospital) => {
  const { status, text, body } = await as('GET', `${path}?${query}`)
  expect(status, text).toBe(200)
  return body
}

const ids = (body: { data: { reconciliation_id: string }[] }) => body.data.map(each => each.reconciliation_id)

describe('the payments of a day', () => {
  test('are those of the own organisation, in the order in which they came, with exact sums', async () => {
    const body = await get('date=2026-03-14')
    expect({ ...body, data: ids(body) }).toEqual({
      date: '2026-03-14',
      currency: 'XAF',
      totals: {
        ...{ count: 5, gross: '15101.30', fees: '0.03', net: '15101.27' },
        ...{ matched: 2, unmatched: 2, disputed: 1 },
      },
      other_currencies: ['EUR'],
      data: ['early', 'day-only', 'noon', 'other-fee', 'late'],
      has_more: false,
      next_cursor: null,
    })
    expect(body.data[2]).toEqual({
      reconciliation_id: 'noon',
      transaction_reference: 'T-noon',
      provider: 'MTN MoMo',
      amount: '0.20',
      fee: '0.02',
      currency: 'XAF',
      status: 'unmatched',
      invoice_id: null,
      paid_at: '2026-03-14T11:00:00Z',
      external_reference: null,
    })
  })

  test('in another currency are asked for by themselves', async () => {
    const body = await get('date=2026-03-14&currency=EUR')
    expect([ids(body), body.currency, body.totals.gross, body.other_currencies]).toEqual([
      ['euro'],
      'EUR',
      '10.50',
      ['XAF'],
    ])
  })

  test('of another organisation are its own', async () => {
    const rival = await clientOf(service, 'rival', 'payments:reconciliation:read')
    expect(ids(await get('date=2026-03-14', rival))).toEqual(['rival'])
    const { next_cursor } = await get('date=2026-03-14&limit=1')
    const { status, body } = await rival('GET', `${path}?date=2026-03-14&limit=1&cursor=${next_cursor}`)
    expect([status, body.details[0].field]).toEqual([422, 'query.cursor'])
  })

  test('may be none', async () => {
    expect(await get('date=2020-02-29')).toEqual({
      date: '2020-02-29',
      currency: 'XAF',
      totals: { count: 0, gross: '0', fees: '0', net: '0', matched: 0, unmatched: 0, disputed: 0 },
      other_currencies: [],
      data: [],
      has_more: false,
      next_cursor: null,
    })
  })

  test('that have thousands of details each keep nobody else waiting', async () => {
    const depot = await clientOf(service, 'depot', 'payments:reconciliation:read')
    const detail = Array.from({ length: 4000 }, () => ({ type: { text: 'part' }, date: '2026-03-14' }))
    const entry = Array.from({ length: 20 }, (_, index) => {
      const one = payment({ id: `long-${index}`, paid: '2026-03-14', amount: '1', organization: 'Organization/depot' })
      const request = { method: 'PUT', url: `PaymentReconciliation/long-${index}` }
      return { resource: { ...JSON.parse(one), detail }, request }
    })
    const stored = await call('POST', '', { body: { resourceType: 'Bundle', type: 'transaction', entry } })
    expect(stored.status, stored.text).toBe(200)
    const { status, body, longest, whole } = await waited(() => depot('GET', `${path}?date=2026-03-14`))
    expect([status, body.data.length]).toEqual([200, 20])
    expect(longest).toBeLessThan(whole / 2)
  })

  test('come in pages, each with the totals of the day', async () => {
    const pick = (each: Record<string, unknown>) => each['reconciliation_id']
    const whole = await get('date=2026-03-14')
    for (const limit of [1, 2, 5])
      expect(await allPages(hospital, `${path}?date=2026-03-14&limit=${limit}`, pick)).toEqual(ids(whole))
    const { next_cursor, totals } = await get('date=2026-03-14&limit=2')
    expect(totals).toEqual(whole.totals)
    expect((await get(`date=2026-03-14&limit=2&cursor=${next_cursor}`)).totals).toEqual(whole.totals)
    for (const query of [`date=2026-03-15&cursor=${next_cursor}`, `date=2026-03-14&currency=EUR&cursor=${next_cursor}`])
      expect((await hospital('GET', `${path}?${query}`)).status).toBe(422)
  })

  test('follow every change at once', async () => {
    const total = async () => (await get('date=2026-01-05')).totals
    const changing = { id: 'changing', paid: '2026-01-05T12:00:00Z', amount: '3' }
    await put(changing)
    expect(await total()).toMatchObject({ count: 1, gross: '3' })
    await put({ ...changing, amount: '4' })
    expect(await total()).toMatchObject({ count: 1, gross: '4' })
    await put({ ...changing, status: 'cancelled' })
    expect(await total()).toMatchObject({ count: 0, gross: '0' })
    await put(changing)
    await call('DELETE', 'PaymentReconciliation/changing')
    expect(await total()).toMatchObject({ count: 0, gross: '0' })
  })

  test('add up exactly, where binary fractions would not', async () => {
    const amounts = ['9007199254740993', '0.1', '0.2', '-1', '123456789012345678901234567890.123456789']
    await put(...amounts.map((amount, at) => ({ id: `sum-${at}`, paid: `2026-01-06T12:00:0${at}Z`, amount })))
    expect((await get('date=2026-01-06')).totals.gross).toBe('123456789012354686100489308882.423456789')
  })

  test('of today are told until the day ends in the time zone of the service; tomorrow is refused', async () => {
    setClock('2026-03-14T22:59:59Z')
    expect((await hospital('GET', `${path}?date=2026-03-14`)).status).toBe(200)
    expect((await hospital('GET', `${path}?date=2026-03-15`)).status).toBe(422)
    setClock('2026-03-14T23:00:00Z')
    expect((await hospital('GET', `${path}?date=2026-03-15`)).status).toBe(200)
  })

  test('are those of the day in another time zone, where that is set', async () => {
    const tokyo = await startService({ TIME_ZONE: 'Asia/Tokyo' })
    const there = await clientOf(tokyo, 'hospital', 'payments:reconciliation:read')
    const headers = { 'content-type': 'application/fhir+json' }
    const body = payment({ id: 'p', paid: '2026-03-13T15:00:00Z', amount: '1' })
    await fhirCaller(() => tokyo)('PUT', 'PaymentReconciliation/p', { body, headers })
    expect((await there('GET', `${path}?date=2026-03-14`)).body.totals.count).toBe(1)
    expect((await there('GET', `${path}?date=2026-03-13`)).body.totals.count).toBe(0)
  })

  test('of which only the day is known are those of that day, west of Greenwich too', async () => {
    const guyana = await startService({ TIME_ZONE: 'America/Guyana' })
    const there = await clientOf(guyana, 'hospital', 'payments:reconciliation:read')
    for (const [id, paid] of [
      ['d', '2026-03-14'],
      ['m', '2026-03'],
    ] as const)
      await fhirCaller(() => guyana)('PUT', `PaymentReconciliation/${id}`, {
        body: payment({ id, paid, amount: '1' }),
        headers: { 'content-type': 'application/fhir+json' },
      })
    const on = async (date: string) => ids((await there('GET', `${path}?date=${date}`)).body)
    expect([await on('2026-03-13'), await on('2026-03-14')]).toEqual([[], ['d']])
    expect([await on('2026-02-28'), await on('2026-03-01')]).toEqual([[], ['m']])
  })

  test.each([
    ['', 'query.date is required.'],
    ['date=today', 'query.date must be a calendar date, such as 2026-03-14.'],
    ['date=2026-02-29', 'query.date must be a calendar date, such as 2026-03-14.'],
    ['date=0000-01-01', 'query.date must be a calendar date, such as 2026-03-14.'],
    ['date=2999-01-01', 'query.date must not be in the future.'],
    ['date=2026-03-14&limit=1.5', 'query.limit must be a whole number from 1 to 100.'],
    [
      'date=2026-03-14&organization_id=rival',
      'query.organization_id is not a known field; the fields are date, currency, limit, cursor.',
    ],
  ])('refuses "%s" and says why', async (query, message) => {
    const { status, body } = await hospital('GET', `${path}?${query}`)
    expect([status, body.error_code, body.message]).toEqual([422, 'VALIDATION_FAILED', message])
  })

  test('need their scope, which opens no FHIR, and are on record', async () => {
    const other = await clientOf(service, 'hospital', 'pharmacy:stock:read')
    expect((await other('GET', `${path}?date=2026-03-14`)).body.error_code).toBe('INSUFFICIENT_SCOPE')
    expect((await hospital('GET', 'PaymentReconciliation')).status).toBe(403)
    const { headers } = await hospital('GET', `${path}?date=2026-03-14&limit=2`)
    const rows = await rowsOf(await databaseOf(service), headers.get('x-request-id')!)
    expect(rows.map(row => [row.interaction, row.resource_type, row.resources])).toEqual([
      ['operation', 'PaymentReconciliation', 2],
    ])
  })
})
