// Whatever is sent, the answer is one of the interface's, and nothing is half done.
import { beforeAll, describe, expect, test } from 'vitest'
import { demoInventory } from '../../../src/demo/inventory.ts'
import type { JsonObject } from '../../../src/lib/json.ts'
import { dice } from '../../fml/mutate.ts'
import { type Answer, fhirCaller } from '../../support/fhir.ts'
import { rounds } from '../../support/rounds.ts'
import { type Service, startService } from '../../support/service.ts'
import { databaseOf } from '../../support/trail.ts'
import { type Call, clientOf } from './support.ts'

type Roll = (bound: number) => number

interface Parameter {
  readonly name: string
  readonly in: string
}

const lists = ['pharmacy/stock', 'blood-bank/inventory', 'payments/reconciliation'].map(
  each => `/api/v1/connect/${each}`,
)
const stockPath = lists[0]!
let service: Service
let client: Call
// biome-ignore lint/suspicious/noExplicitAny: the test looks freely into the document
let document: any
const call = fhirCaller(() => service)

beforeAll(async () => {
  service = await startService()
  await service.application.prepare()
  client = await clientOf(
    service,
    'demo-organization',
    ...['pharmacy:write', 'pharmacy:stock:read', 'blood:inventory:read', 'payments:reconciliation:read'],
  )
  document = (await call('GET', '/openapi.json')).body
})

const junk: readonly unknown[] = [
  ...['', ' ', '0', '-1', '1e9', '101', '99999999999999999999', 'null', '%', '\u0001', '\ud800', '𝔘', 'x'.repeat(5000)],
  ...["' or 1=1 --", '$1', '{}', '[]', '2026-02-30', '0000-01-01', '9999-12-31', '2026-03-14', '10000-01-01', '\u0000'],
  ...[
    '2026-03-14T00:00:00Z',
    '9999-12-31T23:59:60-14:00',
    '0001-01-01T00:00:00+14:00',
    'ATC',
    'low',
    'O+',
    'platelets',
    'XAF',
  ],
  ...[0, -1, 1.5, 1e300, 2 ** 53, null, true, [], {}, [[]], ['x'], { url: 'x' }, [null], { value: null }],
]

const pick = <T>(roll: Roll, all: readonly T[]): T => all[roll(all.length)]!

function mustBeTold({ status, body }: Answer, sent: string): void {
  expect(status, sent).toBeLessThan(500)
  if (status < 400) return
  const isShaped =
    body.status === 'error' && /^[A-Z_]+$/.test(body.error_code) && body.message !== '' && body.request_id
  expect(Boolean(isShaped), `${sent}: ${JSON.stringify(body)}`).toBe(true)
}

describe('queries made at random of what the description names', () => {
  test.each(lists)('%s', async path => {
    const roll = dice(path.length)
    const resolve = (each: Partial<Parameter> & { $ref?: string }): Partial<Parameter> =>
      each.$ref ? document.components.parameters[each.$ref.split('/').at(-1)!] : each
    const parameters: Partial<Parameter>[] = document.paths[path].get.parameters.map(resolve)
    const names = parameters.filter(each => each.in === 'query').map(each => each.name!)
    expect(names).toContain('cursor')
    let told = 0
    for (let round = 0; round < rounds(40, 120); round++) {
      const query = new URLSearchParams(path.endsWith('reconciliation') && roll(3) ? { date: '2026-02-10' } : {})
      for (let count = roll(4); count > 0; count--) {
        const name = roll(12) === 0 ? String(pick(roll, junk)) : pick(roll, names)
        query.append(name, String(pick(roll, junk)))
      }
      const answer = await client('GET', `${path}?${query}`)
      mustBeTold(answer, `${path}?${query}`)
      if (answer.status === 200) told++
    }
    expect(told).toBeGreaterThan(0)
  })

  test('cursors with one character changed are never taken', async () => {
    const query = { [lists[2]!]: 'date=2026-02-10&limit=1' }
    for (const path of lists) {
      const asked = `${path}?${query[path] ?? 'limit=1'}`
      const { next_cursor } = (await client('GET', asked)).body
      for (let at = 0; at < next_cursor.length; at += 3) {
        const other = next_cursor[at] === 'A' ? 'B' : 'A'
        const changed = next_cursor.slice(0, at) + other + next_cursor.slice(at + 1)
        expect([(await client('GET', `${asked}&cursor=${changed}`)).status, at]).toEqual([422, at])
      }
    }
  })
})

/** A copy in which something has become something else, is gone, or is there twice. */
function spoiled(roll: Roll, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || roll(6) === 0) return pick(roll, junk)
  if (Array.isArray(value)) {
    const at = roll(value.length + 1)
    if (roll(3) === 0) return [...value.slice(0, at), ...value.slice(Math.max(0, at - 1))]
    return value.map((each, index) => (index === at ? spoiled(roll, each) : each))
  }
  const copy: JsonObject = { ...value }
  const name = pick(roll, [...Object.keys(copy), 'x', '__proto__', 'items'])
  if (roll(5) === 0) delete copy[name]
  else Object.defineProperty(copy, name, { value: spoiled(roll, copy[name]), enumerable: true, configurable: true })
  return copy
}

const item = (roll: Roll): JsonObject => ({
  facility_id: pick(roll, ['demo-organization', 'hopital-central-yaounde']),
  medication_code: `R${roll(20)}`,
  code_system: pick(roll, ['ATC', 'RxNorm', 'SNOMED', 'other']),
  name: 'Anything',
  form: null,
  strength: '5 mg',
  quantity_on_hand: roll(100) / 8,
  unit: 'tablet',
  reorder_level: roll(50),
  stock_status: pick(roll, ['in_stock', null]),
  nearest_expiry: pick(roll, ['2027-01-31', null]),
  batches: [{ lot_number: 'L', expiry_date: '2027-01-31', quantity: roll(100) }],
  updated_at: `2026-03-${10 + roll(19)}T07:00:00+01:00`,
})

describe('bodies made at random', () => {
  test('reports that are refused leave nothing behind, and those that are taken are told', async () => {
    const roll = dice(7)
    const database = await databaseOf(service)
    const versions = async (): Promise<number> =>
      (await database.query('select (select count(*) from resource) + (select count(*) from history) as n')).rows[0].n
    const seen = new Map<number, number>()
    for (let round = 0; round < rounds(40, 120); round++) {
      const items = Array.from({ length: 1 + roll(3) }, () => item(roll))
      const body = spoiled(roll, roll(4) ? { items } : items[0]!)
      const before = await versions()
      const answer = await client('PUT', stockPath, JSON.stringify(body))
      mustBeTold(answer, JSON.stringify(body))
      seen.set(answer.status, (seen.get(answer.status) ?? 0) + 1)
      if (answer.status !== 200) expect(await versions(), JSON.stringify(body)).toBe(before)
      else
        for (const { facility_id, medication_code, code_system } of answer.body.data) {
          const query = new URLSearchParams({ facility_id, medication_code, code_system })
          expect((await client('GET', `${stockPath}?${query}`)).body.data, JSON.stringify(body)).toHaveLength(1)
        }
    }
    expect([...seen.keys()].sort()).toEqual(expect.arrayContaining([200, 422]))
  })

  test('resources that are stored as FHIR, whatever is in them, never break a list', async () => {
    const roll = dice(11)
    const owners = { hospital: 'hopital-central-yaounde', organization: 'demo-organization' }
    const models = demoInventory(`${service.url}/fhir/NamingSystem`, owners, new Date())
    let stored = 0
    const count = rounds(60, 200)
    for (let round = 0; round < count; round++) {
      const { id: _id, resourceType, ...rest } = pick(roll, models)
      const body = { ...(spoiled(roll, rest) as object), resourceType }
      const { status, text } = await call('POST', String(resourceType), { body })
      expect(status, `${JSON.stringify(body)}: ${text}`).toBeLessThan(500)
      if (status === 201) stored++
    }
    expect(stored).toBeGreaterThan(count / 8)
    for (const path of lists) {
      const query = path.endsWith('reconciliation') ? 'date=2026-02-10&limit=100' : 'limit=100'
      const { status, text } = await client('GET', `${path}?${query}`)
      expect(status, text).toBe(200)
    }
  })
})
