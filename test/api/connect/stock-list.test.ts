import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { fhirCaller } from '../../support/fhir.ts'
import { type Service, startService } from '../../support/service.ts'
import { databaseOf, rowsOf } from '../../support/trail.ts'
import { allPages, type Call, clientOf, setClock } from './support.ts'

const path = '/api/v1/connect/pharmacy/stock'
let service: Service
let reader: Call
let pharmacy: Call

const artesunate = {
  facility_id: 'pharmacie-a',
  medication_code: 'P01BE03',
  code_system: 'ATC',
  name: 'Artésunate injectable',
  form: 'flacon',
  strength: '60 mg',
  quantity_on_hand: 38,
  unit: 'flacon',
  reorder_level: 20,
  batches: [
    { lot_number: 'AS-1', expiry_date: '2026-03-20', quantity: 12 },
    { lot_number: 'AS-2', expiry_date: '2027-11-30', quantity: 26 },
  ],
  updated_at: '2026-03-14T07:00:00+01:00',
}

const item = (medication_code: string, more: object = {}) => ({
  facility_id: 'pharmacie-b',
  medication_code,
  code_system: 'ATC',
  name: `Medicine ${medication_code}`,
  quantity_on_hand: 10,
  unit: 'tablet',
  updated_at: '2026-03-14T07:00:00+01:00',
  ...more,
})

const codes = async (query: string): Promise<string[]> => {
  const { body, text, status } = await reader('GET', `${path}?${query}`)
  expect(status, text).toBe(200)
  return body.data.map((each: { medication_code: string }) => each.medication_code)
}

async function report(call: Call, items: object[]): Promise<void> {
  const { status, text } = await call('PUT', path, { items })
  expect(status, text).toBe(200)
}

beforeAll(async () => {
  service = await startService()
  reader = await clientOf(service, 'ministry', 'pharmacy:stock:read')
  pharmacy = await clientOf(service, 'pharmacie-b', 'pharmacy:write')
  await report(await clientOf(service, 'pharmacie-a', 'pharmacy:write'), [artesunate])
})

afterEach(() => vi.useRealTimers())

describe('the stock of a facility', () => {
  test('is told with every field; status and nearest expiry are worked out', async () => {
    setClock('2026-03-15T12:00:00Z')
    const { status, body } = await reader('GET', `${path}?facility_id=pharmacie-a`)
    expect(status).toBe(200)
    expect(body).toEqual({
      data: [
        { ...artesunate, stock_status: 'in_stock', nearest_expiry: '2026-03-20', updated_at: '2026-03-14T06:00:00Z' },
      ],
      has_more: false,
      next_cursor: null,
    })
  })

  test('is less by a batch from the day after its last on, though nothing was written', async () => {
    const told = async () => {
      const [first] = (await reader('GET', `${path}?facility_id=pharmacie-a`)).body.data
      return [first.quantity_on_hand, first.stock_status, first.nearest_expiry]
    }
    // 22:59:59 UTC is the last second of the day in Douala.
    setClock('2026-03-20T22:59:59Z')
    expect(await told()).toEqual([38, 'in_stock', '2026-03-20'])
    setClock('2026-03-20T23:00:00Z')
    expect(await told()).toEqual([26, 'in_stock', '2027-11-30'])
    setClock('2027-12-01T12:00:00Z')
    expect(await told()).toEqual([0, 'out_of_stock', null])
    expect(await codes('facility_id=pharmacie-a&stock_status=out_of_stock')).toEqual(['P01BE03'])
  })

  test.each([
    ['without batches stands as reported', { quantity_on_hand: 0.3 }, [0.3, 'in_stock', null]],
    [
      'without batches keeps the expiry that was reported',
      { nearest_expiry: '2020-01-01' },
      [10, 'in_stock', '2020-01-01'],
    ],
    ['at its reorder level is low', { reorder_level: 10 }, [10, 'low', null]],
    ['of nothing is out of stock', { quantity_on_hand: 0 }, [0, 'out_of_stock', null]],
    ['has the status that was reported', { stock_status: 'low' }, [10, 'low', null]],
    [
      'counts what is in no batch, and no batch that has expired',
      { quantity_on_hand: 1.3, batches: [{ lot_number: 'x', expiry_date: '2026-01-31', quantity: 0.1 }] },
      [1.2, 'in_stock', null],
    ],
    [
      'left out the expired batch already where the others are as many as it has',
      {
        batches: [
          { lot_number: 'x', expiry_date: '2026-01-31', quantity: 5 },
          { lot_number: 'y', expiry_date: '2027-01-31', quantity: 10 },
        ],
      },
      [10, 'in_stock', '2027-01-31'],
    ],
    [
      'is out of stock when all has expired, whatever status was reported',
      { stock_status: 'in_stock', batches: [{ lot_number: 'x', expiry_date: '2026-01-31', quantity: 10 }] },
      [0, 'out_of_stock', null],
    ],
    [
      'expires first when the facility says so, or its batches do',
      { nearest_expiry: '2026-12-31', batches: [{ lot_number: 'x', expiry_date: '2027-01-31', quantity: 1 }] },
      [10, 'in_stock', '2026-12-31'],
    ],
  ])('%s', async (_name, more, expected) => {
    setClock('2026-03-15T12:00:00Z')
    const updated_at = new Date(Date.parse('2026-03-14') + unique * 1000).toISOString()
    await report(pharmacy, [item('X1', { ...more, updated_at })])
    const [told] = (await reader('GET', `${path}?facility_id=pharmacie-b&medication_code=X1`)).body.data
    expect([told.quantity_on_hand, told.stock_status, told.nearest_expiry]).toEqual(expected)
    unique++
  })
  let unique = 1

  test('vanishes with its resource', async () => {
    const call = fhirCaller(() => service)
    await report(pharmacy, [item('GONE')])
    expect(await codes('medication_code=GONE')).toEqual(['GONE'])
    const found = await call('GET', 'Basic?identifier=pharmacie-b%5C%7CATC%5C%7CGONE')
    expect(found.body.entry).toHaveLength(1)
    expect((await call('DELETE', `Basic/${found.body.entry[0].resource.id}`)).status).toBe(204)
    expect(await codes('medication_code=GONE')).toEqual([])
  })

  test('that somebody wrote as FHIR is listed if it can be told', async () => {
    const call = fhirCaller(() => service)
    const code = { coding: [{ system: 'http://hl7.org/fhir/fhir-types', code: 'InventoryItem' }] }
    for (const extension of [
      [{ url: 'http://hl7.org/fhir/5.0/StructureDefinition/extension-InventoryItem.code', valueString: 'no code' }],
      [{ url: 'https://health-interop.org/fhir/StructureDefinition/stock-quantity-on-hand', valueQuantity: {} }],
    ]) {
      const subject = { reference: 'Organization/strange' }
      const { status } = await call('POST', 'Basic', { body: { resourceType: 'Basic', code, subject, extension } })
      expect(status).toBeLessThan(500)
    }
    expect(await codes('facility_id=strange')).toEqual([])
  })
})

describe('the list', () => {
  beforeAll(async () => {
    const many = Array.from({ length: 25 }, (_, index) => item(`L${String(index).padStart(2, '0')}`))
    await report(
      await clientOf(service, 'pharmacie-c', 'pharmacy:write'),
      many.map((each, index) => ({
        ...each,
        facility_id: 'pharmacie-c',
        code_system: index < 5 ? 'other' : 'ATC',
        name: index === 7 ? 'Crème à l’œil 100 %' : each.name,
        stock_status: index === 9 ? 'out_of_stock' : 'in_stock',
        nearest_expiry: index === 11 ? '2026-06-30' : null,
      })),
    )
  })

  test.each([
    ['code_system=other', ['L00', 'L01', 'L02', 'L03', 'L04']],
    ['medication_code=L08', ['L08']],
    ['stock_status=out_of_stock', ['L09']],
    ['q=creme%20A%20L', ['L07']],
    ['q=00%20%25', ['L07']],
    ['q=%25', ['L07']],
    ['q=MEDICINE%20L1&stock_status=in_stock&limit=2', ['L10', 'L11']],
    ['q=nowhere', []],
    ['expiring_before=2026-07-01', ['L11']],
    ['expiring_before=2026-06-30', []],
  ])('is narrowed by %s', async (query, expected) => {
    expect(await codes(`facility_id=pharmacie-c&${query}`)).toEqual(expected)
  })

  test('comes in pages that hold every item once, in order', async () => {
    const pick = (each: Record<string, unknown>) => `${each['code_system']} ${each['medication_code']}`
    const whole = (await reader('GET', `${path}?facility_id=pharmacie-c&limit=100`)).body
    expect(whole.has_more).toBe(false)
    for (const limit of ['', '&limit=1', '&limit=7', '&limit=25'])
      expect(await allPages(reader, `${path}?facility_id=pharmacie-c${limit}`, pick)).toEqual(whole.data.map(pick))
    expect((await reader('GET', `${path}?facility_id=pharmacie-c`)).body.data).toHaveLength(20)
  })

  test('goes on where it ended, whatever was added or deleted before', async () => {
    const here = await clientOf(service, 'pharmacie-d', 'pharmacy:write')
    const at = (code: string) => item(code, { facility_id: 'pharmacie-d' })
    await report(here, [at('C'), at('E')])
    const first = (await reader('GET', `${path}?facility_id=pharmacie-d&limit=1`)).body
    await report(here, [at('A'), at('D')])
    const next = (await reader('GET', `${path}?facility_id=pharmacie-d&limit=1&cursor=${first.next_cursor}`)).body
    expect([first, next].map(({ data }) => data[0].medication_code)).toEqual(['C', 'D'])
  })

  test('refuses a cursor that was changed, or is of another list', async () => {
    const { next_cursor } = (await reader('GET', `${path}?facility_id=pharmacie-c&limit=3`)).body
    const other = next_cursor.at(-1) === 'A' ? 'B' : 'A'
    for (const query of [
      `facility_id=pharmacie-c&cursor=${next_cursor.slice(0, -1)}${other}`,
      `facility_id=pharmacie-c&cursor=${next_cursor}A`,
      `facility_id=pharmacie-c&cursor=x${next_cursor}`,
      `facility_id=pharmacie-b&cursor=${next_cursor}`,
      `facility_id=pharmacie-c&stock_status=low&cursor=${next_cursor}`,
      'cursor=%20',
      'cursor=e30',
    ]) {
      const { status, body } = await reader('GET', `${path}?${query}`)
      expect([query, status, body.error_code, body.details[0].field]).toEqual([
        query,
        422,
        'VALIDATION_FAILED',
        'query.cursor',
      ])
    }
  })

  test.each([
    ['limit=0', 'query.limit must be a whole number from 1 to 100.'],
    ['limit=101', 'query.limit must be a whole number from 1 to 100.'],
    ['limit=ten', 'query.limit must be a whole number from 1 to 100.'],
    ['stock_status=plenty', 'query.stock_status must be one of in_stock, low, out_of_stock.'],
    ['code_system=atc', 'query.code_system must be one of ATC, RxNorm, SNOMED, other.'],
    ['expiring_before=2026-02-30', 'query.expiring_before must be a calendar date, such as 2026-03-14.'],
    ['q=%20', 'query.q must contain a letter or digit.'],
    ['facility=x', 'query.facility is not a known field; did you mean `facility_id`?'],
  ])('refuses %s and says why', async (query, message) => {
    const { status, body } = await reader('GET', `${path}?${query}`)
    expect([status, body.status, body.error_code, body.message]).toEqual([422, 'error', 'VALIDATION_FAILED', message])
  })

  test('needs its scope, which opens nothing else', async () => {
    const none = await clientOf(service, 'ministry', 'pharmacy:write')
    expect((await none('GET', path)).body.error_code).toBe('INSUFFICIENT_SCOPE')
    expect((await reader('PUT', path, artesunate)).body.error_code).toBe('INSUFFICIENT_SCOPE')
    for (const address of ['Basic', 'Basic?code=InventoryItem', 'Basic/x', 'Organization', 'Location'])
      expect([(await reader('GET', address)).status, address]).toEqual([403, address])
  })

  test('is on record, with what was asked and how much was told', async () => {
    const database = await databaseOf(service)
    const { headers } = await reader('GET', `${path}?facility_id=pharmacie-c&limit=3`)
    const rows = await rowsOf(database, headers.get('x-request-id')!)
    expect(
      rows.map(({ interaction, resource_type, query, resources, outcome }) => ({
        interaction,
        resource_type,
        query,
        resources,
        outcome,
      })),
    ).toEqual([
      {
        interaction: 'operation',
        resource_type: 'Basic',
        query: 'api/v1/connect/pharmacy/stock?facility_id=pharmacie-c&limit=3',
        resources: 3,
        outcome: 0,
      },
    ])
  })
})
