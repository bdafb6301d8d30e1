import { beforeAll, describe, expect, test } from 'vitest'
import { fhirCaller } from '../../support/fhir.ts'
import { type Service, startService } from '../../support/service.ts'
import { databaseOf, rowsOf } from '../../support/trail.ts'
import { type Call, clientOf, waited } from './support.ts'

const path = '/api/v1/connect/pharmacy/stock'
let service: Service
let hospital: Call
const call = fhirCaller(() => service)

const item = (more: object = {}) => ({
  facility_id: 'hospital',
  medication_code: 'J01CA04',
  code_system: 'ATC',
  name: 'Amoxicilline',
  quantity_on_hand: 100,
  unit: 'capsule',
  updated_at: '2026-03-14T07:00:00+01:00',
  ...more,
})

const stored = async (code: string) =>
  (await hospital('GET', `${path}?medication_code=${encodeURIComponent(code)}`)).body.data
const basics = async (): Promise<number> => (await call('GET', 'Basic?_summary=count')).body.total

beforeAll(async () => {
  service = await startService()
  hospital = await clientOf(service, 'hospital', 'pharmacy:write', 'pharmacy:stock:read')
  const resources = [
    { resourceType: 'Organization', id: 'ward', partOf: { reference: 'Organization/clinic' } },
    {
      resourceType: 'Organization',
      id: 'clinic',
      partOf: { reference: `${service.url}/api/fhir/R4/Organization/hospital` },
    },
    { resourceType: 'Organization', id: 'round', partOf: { reference: 'Organization/about' } },
    { resourceType: 'Organization', id: 'about', partOf: { reference: 'Organization/round' } },
    {
      resourceType: 'Organization',
      id: 'elsewhere',
      partOf: { reference: 'https://other.example.org/Organization/hospital' },
    },
    { resourceType: 'Organization', id: 'rival' },
    { resourceType: 'Location', id: 'counter', managingOrganization: { reference: 'Organization/ward' } },
    { resourceType: 'Location', id: 'kiosk', managingOrganization: { reference: 'Organization/rival' } },
    { resourceType: 'Location', id: 'rival', managingOrganization: { reference: 'Organization/hospital' } },
    { resourceType: 'Location', id: 'nowhere' },
  ]
  for (const { resourceType, id, ...more } of resources) {
    const body = { resourceType, id, ...(resourceType === 'Organization' ? { name: id } : {}), ...more }
    expect((await call('PUT', `${resourceType}/${id}`, { body })).status).toBe(201)
  }
})

describe('a report', () => {
  test('is stored as Basic, in the name of the client, and told back', async () => {
    const sent = item({ medication_code: 'NEW', nearest_expiry: '2030-01-31', quantity_on_hand: 12.5 })
    const { status, body, headers } = await hospital('PUT', path, sent)
    expect([status, body]).toEqual([
      200,
      { data: [{ facility_id: 'hospital', code_system: 'ATC', medication_code: 'NEW', status: 'accepted' }] },
    ])
    expect(await stored('NEW')).toEqual([
      {
        ...sent,
        updated_at: '2026-03-14T06:00:00Z',
        form: null,
        strength: null,
        reorder_level: null,
        stock_status: 'in_stock',
        batches: null,
      },
    ])
    const [entry] = (await call('GET', 'Basic?identifier=hospital%5C%7CATC%5C%7CNEW')).body.entry
    expect(entry.resource).toMatchObject({
      identifier: [{ system: `${service.url}/fhir/NamingSystem/stock-item`, value: 'hospital|ATC|NEW' }],
      subject: { reference: 'Organization/hospital' },
      author: { reference: 'Organization/hospital' },
    })
    const rows = await rowsOf(await databaseOf(service), headers.get('x-request-id')!)
    expect(rows.map(row => [row.interaction, row.outcome, row.resources])).toEqual([['create', 0, 1]])
  })

  test('replaces the one before, unless that is newer; the same again changes nothing', async () => {
    const at = (hour: string, quantity_on_hand: number) =>
      item({ medication_code: 'AGAIN', updated_at: `2026-03-14T${hour}:00:00Z`, quantity_on_hand })
    const outcome = async (sent: object) => (await hospital('PUT', path, sent)).body.data[0].status
    expect(await outcome(at('09', 9))).toBe('accepted')
    expect(await outcome(at('09', 9))).toBe('unchanged')
    expect(await outcome(at('08', 8))).toBe('stale')
    expect((await stored('AGAIN')).map((each: { quantity_on_hand: number }) => each.quantity_on_hand)).toEqual([9])
    expect(await outcome(at('10', 10))).toBe('accepted')
    expect((await stored('AGAIN')).map((each: { quantity_on_hand: number }) => each.quantity_on_hand)).toEqual([10])
    // The same moment in another time zone is not older.
    expect(await outcome({ ...at('10', 11), updated_at: '2026-03-14T12:00:00+02:00' })).toBe('accepted')
  })

  test('of several items says what came of each, in their order', async () => {
    const items = [
      item({ medication_code: 'AGAIN', updated_at: '2020-01-01T00:00:00Z' }),
      item({ medication_code: 'a|b,c$d\\e' }),
      item({ medication_code: 'a|b,c$d\\e', code_system: 'other' }),
    ]
    const outcomes = async () =>
      (await hospital('PUT', path, { items })).body.data.map((each: { status: string }) => each.status)
    expect(await outcomes()).toEqual(['stale', 'accepted', 'accepted'])
    expect(await outcomes()).toEqual(['stale', 'unchanged', 'unchanged'])
    expect(await stored('a|b,c$d\\e')).toHaveLength(2)
  })

  test('keeps numbers as they were written', async () => {
    const text = JSON.stringify(item({ medication_code: 'DIGITS', quantity_on_hand: 'HERE' })).replace(
      '"HERE"',
      '12.50',
    )
    const { status } = await hospital('PUT', path, text)
    expect(status).toBe(200)
    expect((await hospital('GET', `${path}?medication_code=DIGITS`)).text).toContain('"quantity_on_hand":12.5,')
  })

  test('replaces what was written as FHIR under the same identifier; two such are refused', async () => {
    await hospital('PUT', path, item({ medication_code: 'TWICE' }))
    const [entry] = (await call('GET', 'Basic?identifier=hospital%5C%7CATC%5C%7CTWICE')).body.entry
    const { id: _id, meta: _meta, ...copy } = entry.resource
    await call('POST', 'Basic', { body: copy })
    const { status, body } = await hospital('PUT', path, item({ medication_code: 'TWICE', quantity_on_hand: 1 }))
    expect([status, body.error_code]).toEqual([409, 'CONFLICT'])
    expect(body.message).toMatch(/^Basic\/\S+ and Basic\/\S+ both have the identifier hospital\|ATC\|TWICE/)
  })
})

describe('many at a time', () => {
  test('20 clients that report the same new items at once leave one resource for each, the newest', async () => {
    const before = await basics()
    const codes = Array.from({ length: 10 }, (_, index) => `RACE${index}`)
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, client) => {
        const items = codes.map(medication_code =>
          item({
            medication_code,
            quantity_on_hand: client,
            updated_at: new Date(1_773_478_800_000 + client).toISOString(),
          }),
        )
        return hospital('PUT', path, { items: client % 2 ? items : items.reverse() })
      }),
    )
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200))
    expect(await basics()).toBe(before + 10)
    for (const code of codes) {
      const found = await stored(code)
      expect(found.map((each: { quantity_on_hand: number }) => each.quantity_on_hand)).toEqual([19])
    }
  })

  test('500 items are taken; 501 are not, and none of them is stored', async () => {
    const items = Array.from({ length: 501 }, (_, index) => item({ medication_code: `MANY${index}` }))
    const before = await basics()
    const { status, body } = await hospital('PUT', path, { items })
    expect([status, body.details[0].field]).toEqual([422, 'items'])
    expect(await basics()).toBe(before)
    expect((await hospital('PUT', path, { items: items.slice(1) })).status).toBe(200)
    expect(await basics()).toBe(before + 500)
  })
})

test('a report of 150 medicines with 500 batches each keeps nobody else waiting for a second', async () => {
  const lastDay = (index: number) => new Date(Date.UTC(2027, 0, 1 + index)).toISOString().slice(0, 10)
  const batches = Array.from({ length: 500 }, (_, index) => ({
    lot_number: `L${index}`,
    expiry_date: lastDay(499 - index),
    quantity: 1,
  }))
  const items = Array.from({ length: 150 }, (_, index) =>
    item({ medication_code: `BATCHES${index}`, quantity_on_hand: 500, batches }),
  )
  const reported = await waited(() => hospital('PUT', path, { items }))
  expect(reported.status).toBe(200)
  expect(reported.longest).toBeLessThan(1000)
  const [first] = await stored('BATCHES0')
  expect([first.quantity_on_hand, first.nearest_expiry]).toEqual([500, '2027-01-01'])

  const listed = await waited(() =>
    hospital('GET', `${path}?facility_id=hospital&expiring_before=2028-01-01&limit=100`),
  )
  expect([listed.status, listed.body.data.length]).toEqual([200, 100])
  expect(listed.longest).toBeLessThan(listed.whole / 2)
})

describe('what is wrong', () => {
  test('is told with its place, all at once, and nothing is stored', async () => {
    const before = await basics()
    const { unit: _unit, ...unitless } = item({ medication_code: 'W3' })
    const items = [
      item({ medication_code: 'W0' }),
      item({ medication_code: 'W1', quantity_on_hand: -1 }),
      item({ medication_code: 'W2', colour: 'red', batches: [{ lot_number: 'x', quantity: 'many' }] }),
      unitless,
    ]
    const { status, body } = await hospital('PUT', path, { items })
    expect([status, body.error_code]).toEqual([422, 'VALIDATION_FAILED'])
    const fields = body.details.map((each: { field: string }) => each.field)
    expect(fields).toEqual(
      expect.arrayContaining([
        'items.1.quantity_on_hand',
        'items.2.colour',
        'items.2.batches.0.quantity',
        'items.3.unit',
      ]),
    )
    expect(await basics()).toBe(before)
  })

  test.each([
    ['an item twice', { items: [item(), item()] }, 'items.1.medication_code'],
    ['a moment in the future', item({ updated_at: '2999-01-01T00:00:00Z' }), 'updated_at'],
    ['a moment that is none', item({ updated_at: '2026-02-31T25:00:00Z' }), 'updated_at'],
    ['a code that is too long', item({ medication_code: 'x'.repeat(201) }), 'medication_code'],
    ['a code of spaces', item({ medication_code: '  ' }), 'medication_code'],
    ['a code of spaces in a list', { items: [item(), item({ medication_code: '  ' })] }, 'items.1.medication_code'],
    ['an empty list', { items: [] }, 'items'],
    ['a list and more', { items: [item()], facility_id: 'hospital' }, 'facility_id'],
    ['a text', '"stock"', ''],
    ['a list without a name', [item()], ''],
    ['too many batches', item({ batches: Array(501).fill({ lot_number: 'x', quantity: 1 }) }), 'batches'],
  ])('%s is refused', async (_name, sent, field) => {
    const { status, body } = await hospital('PUT', path, sent)
    expect([status, body.error_code, body.details[0].field]).toEqual([422, 'VALIDATION_FAILED', field])
  })
})

describe('a client reports', () => {
  test.each([
    ['for its own organisation', 'hospital', 200],
    ['for what is part of it', 'clinic', 200],
    ['for what is part of that', 'ward', 200],
    ['for a location that one of these manages', 'counter', 200],
    ['not for another organisation', 'rival', 403],
    ['not for a location that another one manages', 'kiosk', 403],
    ['not for a location that nobody manages', 'nowhere', 403],
    ['not for organisations that are part of each other', 'round', 403],
    ['not for a part of an organisation of another server', 'elsewhere', 403],
    ['not for what nobody knows', 'unknown', 403],
  ])('%s', async (_name, facility_id, expected) => {
    const before = await basics()
    const { status, body } = await hospital('PUT', path, {
      items: [item({ medication_code: 'F1' }), item({ facility_id })].slice(facility_id === 'hospital' ? 1 : 0),
    })
    expect(status).toBe(expected)
    if (expected === 200) {
      const found = await hospital('GET', `${path}?facility_id=${facility_id}&medication_code=J01CA04`)
      expect(found.body.data.map((each: { facility_id: string }) => each.facility_id)).toEqual([facility_id])
      return
    }
    expect(body).toMatchObject({
      error_code: 'FORBIDDEN',
      details: [{ field: 'items.1.facility_id', code: 'forbidden', message: 'is not a facility of your organisation' }],
    })
    expect(await basics()).toBe(before)
  })

  test('of a location a Basic that is about the location', async () => {
    const [entry] = (await call('GET', 'Basic?identifier=counter%5C%7CATC%5C%7CJ01CA04')).body.entry
    expect(entry.resource.subject).toEqual({ reference: 'Location/counter' })
  })

  test('with the scope for it only, which opens nothing else', async () => {
    const reader = await clientOf(service, 'hospital', 'pharmacy:stock:read')
    expect((await reader('PUT', path, item())).status).toBe(403)
    const writer = await clientOf(service, 'hospital', 'pharmacy:write')
    expect((await writer('GET', path)).status).toBe(403)
    for (const address of ['Basic', 'Organization/hospital', 'Location'])
      expect([(await writer('GET', address)).status, address]).toEqual([403, address])
    const basic = { resourceType: 'Basic', code: { text: 'x' } }
    expect((await writer('POST', '/api/fhir/R4/Basic', basic)).status).toBe(403)
  })
})

test('stock that an earlier version stored under the code system of R5 is listed, and the next report gives it the own one', async () => {
  const code = 'V03AX01'
  const systems = async (): Promise<string[]> => {
    const { body } = await call('GET', `Basic?identifier=${encodeURIComponent(`hospital\\|ATC\\|${code}`)}`)
    return body.entry.map(
      (each: { resource: { code: { coding: [{ system: string }] } } }) => each.resource.code.coding[0].system,
    )
  }
  expect((await hospital('PUT', path, item({ medication_code: code }))).status).toBe(200)
  expect(await systems()).toEqual(['https://health-interop.org/fhir/CodeSystem/basic-kind'])
  const { body } = await call('GET', `Basic?identifier=${encodeURIComponent(`hospital\\|ATC\\|${code}`)}`)
  const { resource } = body.entry[0]
  const earlier = { coding: [{ system: 'http://hl7.org/fhir/fhir-types', code: 'InventoryItem' }] }
  expect((await call('PUT', `Basic/${resource.id}`, { body: { ...resource, code: earlier } })).status).toBe(200)
  expect(await stored(code)).toMatchObject([{ medication_code: code, quantity_on_hand: 100 }])
  const later = item({ medication_code: code, quantity_on_hand: 7, updated_at: '2026-03-14T08:00:00+01:00' })
  expect((await hospital('PUT', path, later)).status).toBe(200)
  expect(await stored(code)).toMatchObject([{ medication_code: code, quantity_on_hand: 7 }])
  expect(await systems()).toEqual(['https://health-interop.org/fhir/CodeSystem/basic-kind'])
})
