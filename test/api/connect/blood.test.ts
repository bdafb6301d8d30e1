import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { fhirCaller } from '../../support/fhir.ts'
import { type Service, startService } from '../../support/service.ts'
import { databaseOf, rowsOf } from '../../support/trail.ts'
import { allPages, type Call, clientOf, setClock } from './support.ts'

const path = '/api/v1/connect/blood-bank/inventory'
const own = 'https://health-interop.org/fhir/StructureDefinition'
let service: Service
let reader: Call
const call = fhirCaller(() => service)

interface Unit {
  readonly id: string
  readonly facility: string
  readonly group: string
  readonly component: string
  readonly expires: string
  readonly status?: string
  readonly updated?: string
}

const unit = ({ id, facility, group, component, expires, status = 'available', updated }: Unit) => ({
  resourceType: 'BiologicallyDerivedProduct',
  id,
  productCode: { text: component },
  status: status === 'available' ? 'available' : 'unavailable',
  extension: [
    {
      url: 'http://hl7.org/fhir/5.0/StructureDefinition/extension-BiologicallyDerivedProduct.expirationDate',
      valueDateTime: expires,
    },
    { url: `${own}/blood-group`, valueCode: group },
    { url: `${own}/facility`, valueReference: { reference: facility } },
    { url: `${own}/blood-unit-updated-at`, valueDateTime: updated ?? '2026-03-01T08:00:00Z' },
    ...(status === 'available' || status === 'unknown' ? [] : [{ url: `${own}/blood-unit-status`, valueCode: status }]),
  ],
})

async function put(...units: Unit[]): Promise<void> {
  for (const each of units) {
    const { status, text } = await call('PUT', `BiologicallyDerivedProduct/${each.id}`, { body: unit(each) })
    expect(status, text).toBeLessThan(300)
  }
}

const red = { facility: 'Organization/bank-a', group: 'O-', component: 'packed_red_cells' }
const platelets = { facility: 'Organization/bank-a', group: 'O-', component: 'platelets' }

beforeAll(async () => {
  service = await startService()
  reader = await clientOf(service, 'ministry', 'blood:inventory:read')
  await put(
    { ...red, id: 'a1', expires: '2026-04-12T23:59:59+01:00' },
    { ...red, id: 'a2', expires: '2026-04-10T12:00:00Z', updated: '2026-03-05T08:00:00+01:00' },
    { ...red, id: 'a3', expires: '2026-04-20T12:00:00Z', status: 'reserved' },
    { ...red, id: 'a4', expires: '2026-03-01T12:00:00Z' },
    ...['quarantined', 'issued', 'transfused', 'discarded', 'unknown'].map(status => ({
      ...{ ...red, id: `a-${status}`, expires: '2026-04-20T12:00:00Z', status },
    })),
    { ...platelets, id: 'p1', expires: '2026-03-15T10:00:00Z' },
    { ...platelets, id: 'p2', expires: '2026-03-15T10:00:01Z', status: 'reserved' },
    { ...red, id: 'b1', facility: 'Location/bank-b', group: 'AB+', expires: '2026-03-20' },
    { ...red, id: 'c1', facility: 'https://other.example.org/Organization/bank-c', expires: '2027-03-20T00:00:00Z' },
    { ...red, id: 'c2', group: 'O', expires: '2027-03-20T00:00:00Z' },
    { ...red, id: 'c3', component: 'plasma', expires: '2027-03-20T00:00:00Z' },
  )
})

afterEach(() => vi.useRealTimers())

const get = async (query = '') => {
  const { status, text, body } = await reader('GET', `${path}${query}`)
  expect(status, text).toBe(200)
  return body
}

describe('the inventory', () => {
  test('counts by facility, group and component what can be given out, and in all', async () => {
    setClock('2026-03-14T12:00:00Z')
    expect(await get()).toEqual({
      data: [
        {
          facility_id: 'bank-a',
          blood_group: 'O-',
          component: 'packed_red_cells',
          units_available: 2,
          units_reserved: 1,
          nearest_expiry: '2026-04-10T12:00:00.000Z',
          updated_at: '2026-03-05T07:00:00.000Z',
        },
        {
          facility_id: 'bank-a',
          blood_group: 'O-',
          component: 'platelets',
          units_available: 1,
          units_reserved: 1,
          nearest_expiry: '2026-03-15T10:00:00.000Z',
          updated_at: '2026-03-01T08:00:00.000Z',
        },
        {
          facility_id: 'bank-b',
          blood_group: 'AB+',
          component: 'packed_red_cells',
          units_available: 1,
          units_reserved: 0,
          // A unit of which only the day is known may be used until its end in Douala.
          nearest_expiry: '2026-03-20T23:00:00.000Z',
          updated_at: '2026-03-01T08:00:00.000Z',
        },
      ],
      totals: {
        units_available: 4,
        units_reserved: 2,
        by_group_and_component: [
          { blood_group: 'AB+', component: 'packed_red_cells', units_available: 1, units_reserved: 0 },
          { blood_group: 'O-', component: 'packed_red_cells', units_available: 2, units_reserved: 1 },
          { blood_group: 'O-', component: 'platelets', units_available: 1, units_reserved: 1 },
        ],
      },
      has_more: false,
      next_cursor: null,
    })
  })

  test('loses a unit in the second in which it expires, though nothing is written', async () => {
    const counted = async () => {
      const { data } = await get('?component=platelets')
      return data.map((each: Record<string, unknown>) => [
        each['units_available'],
        each['units_reserved'],
        each['nearest_expiry'],
      ])
    }
    setClock('2026-03-15T09:59:59.999Z')
    expect(await counted()).toEqual([[1, 1, '2026-03-15T10:00:00.000Z']])
    setClock('2026-03-15T10:00:00Z')
    expect(await counted()).toEqual([[0, 1, null]])
    setClock('2026-03-15T10:00:01Z')
    expect(await get('?component=platelets')).toEqual({
      data: [],
      totals: { units_available: 0, units_reserved: 0, by_group_and_component: [] },
      has_more: false,
      next_cursor: null,
    })
  })

  test('follows every change of a unit at once', async () => {
    setClock('2026-03-14T12:00:00Z')
    const facility = 'Organization/bank-d'
    const counted = async () => {
      const { totals } = await get('?facility_id=bank-d')
      return [totals.units_available, totals.units_reserved]
    }
    const fresh = { ...red, id: 'd1', facility, expires: '2026-04-20T12:00:00Z' }
    await put(fresh)
    expect(await counted()).toEqual([1, 0])
    await put({ ...fresh, status: 'reserved' })
    expect(await counted()).toEqual([0, 1])
    await put({ ...fresh, status: 'issued' })
    expect(await counted()).toEqual([0, 0])
    await put(fresh)
    expect((await call('DELETE', 'BiologicallyDerivedProduct/d1')).status).toBe(204)
    expect(await counted()).toEqual([0, 0])
  })

  test('does not count a unit that is unavailable, though its extension still says available', async () => {
    setClock('2026-03-14T12:00:00Z')
    const made = unit({ ...red, id: 'e1', facility: 'Organization/bank-e', expires: '2026-04-20T12:00:00Z' })
    const extension = [...made.extension, { url: `${own}/blood-unit-status`, valueCode: 'available' }]
    for (const [status, available] of [
      ['available', 1],
      ['unavailable', 0],
    ]) {
      await call('PUT', 'BiologicallyDerivedProduct/e1', { body: { ...made, status, extension } })
      const { totals } = await get('?facility_id=bank-e')
      expect([totals.units_available, totals.units_reserved]).toEqual([available, 0])
    }
  })

  test.each([
    ['facility_id=bank-b', [1, 0]],
    ['blood_group=O-', [3, 2]],
    ['blood_group=AB%2B', [1, 0]],
    ['component=platelets&blood_group=O-', [1, 1]],
    ['facility_id=nowhere', [0, 0]],
  ])('is narrowed by %s, totals too', async (query, expected) => {
    setClock('2026-03-14T12:00:00Z')
    const { totals } = await get(`?${query}`)
    expect([totals.units_available, totals.units_reserved]).toEqual(expected)
  })

  test('comes in pages, each with the totals of all', async () => {
    setClock('2026-03-14T12:00:00Z')
    const pick = (each: Record<string, unknown>) => [each['facility_id'], each['blood_group'], each['component']]
    const whole = await get()
    expect(await allPages(reader, `${path}?limit=1`, pick)).toEqual(whole.data.map(pick))
    const first = await get('?limit=1')
    expect(first.totals).toEqual(whole.totals)
    expect((await get(`?limit=1&cursor=${first.next_cursor}`)).totals).toEqual(whole.totals)
    const { status, body } = await reader('GET', `${path}?component=platelets&cursor=${first.next_cursor}`)
    expect([status, body.details[0].field]).toEqual([422, 'query.cursor'])
  })

  test.each([
    [
      'component=plasma',
      'query.component must be one of whole_blood, packed_red_cells, platelets, fresh_frozen_plasma, cryoprecipitate.',
    ],
    ['blood_group=AB+', 'query.blood_group must be one of A+, A-, B+, B-, AB+, AB-, O+, O-.'],
    ['limit=-1', 'query.limit must be a whole number from 1 to 100.'],
    ['group=O-', 'query.group is not a known field; did you mean `blood_group`?'],
  ])('refuses %s and says what there is', async (query, message) => {
    const { status, body } = await reader('GET', `${path}?${query}`)
    expect([status, body.error_code, body.message]).toEqual([422, 'VALIDATION_FAILED', message])
  })

  test('needs its scope, which opens no FHIR, and is on record', async () => {
    const other = await clientOf(service, 'ministry', 'pharmacy:stock:read')
    expect((await other('GET', path)).body.error_code).toBe('INSUFFICIENT_SCOPE')
    expect((await reader('GET', 'BiologicallyDerivedProduct')).status).toBe(403)
    setClock('2026-03-14T12:00:00Z')
    const { headers } = await reader('GET', path)
    const rows = await rowsOf(await databaseOf(service), headers.get('x-request-id')!)
    expect(rows.map(row => [row.interaction, row.resource_type, row.resources])).toEqual([
      ['operation', 'BiologicallyDerivedProduct', 6],
    ])
  })
})
