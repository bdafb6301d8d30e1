// How the statements that carry the load are answered: along which indexes, without reading or sorting whole tables.

import { beforeAll, describe, expect, test } from 'vitest'
import { type Database, openDatabase } from '../../src/db/database.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import { createLog } from '../../src/lib/log.ts'
import { createStore } from '../../src/store/bind.ts'
import { createIndexer } from '../../src/store/index/entry.ts'
import { serviceParty } from '../../src/store/principal.ts'
import type { Created } from '../../src/store/row-arrays.ts'
import { insert } from '../../src/store/rows.ts'
import { plan as planOf } from '../../src/store/search/plan.ts'
import { withoutDate } from '../../src/store/search/undated.ts'
import { createIndexing, type Indexing } from '../../src/store/search-params/reindex.ts'
import type { Store } from '../../src/store/store.ts'
import { typeNumber } from '../../src/store/type-number.ts'
import { baseOf } from '../support/base.ts'
import { onCleanup } from '../support/cleanup.ts'
import { layoutOfRun } from '../support/database.ts'
import { explaining, type PlanNode, planFor } from '../support/plans.ts'
import { createTestDatabase } from '../support/service.ts'

const base = baseOf('http://localhost')
const indexer = createIndexer(base)
const patients = 1500
const observations = 12_000
const organizations = 30
const everyone = { may: () => true, party: serviceParty }

let store: Store
let indexing: Indexing
let database: Database
let plan: PlanNode[] = []

const syllables = ['ka', 'lo', 'mi', 'ra', 'te', 'su', 'po', 'ne', 'vi', 'da', 'ro', 'ma', 'li']
const name = (number: number): string =>
  [7, 11, 3, 5].map(step => syllables[Math.floor(number * step) % syllables.length]).join('') + number.toString(36)

const patient = (number: number): JsonObject => ({
  resourceType: 'Patient',
  id: `p${number}`,
  name: [{ family: name(number), given: [name(number + 31)] }],
  gender: number % 10 === 3 ? 'female' : 'male',
  address: [{ state: 'Adamawa', city: number % 300 === 3 ? 'Yola' : 'Mubi' }],
})

// Half of the observations have one code, a twelve-hundredth the rare one; a six-hundredth lasts for years, a quarter has a value, and three are amended.
const observation = (number: number): JsonObject => ({
  resourceType: 'Observation',
  id: `o${number}`,
  status: number % 4000 === 1 ? 'amended' : 'final',
  code: {
    coding: [
      { system: 'http://loinc.org', code: number % 1200 === 7 ? 'rare' : number % 2 ? 'common' : `code${number % 40}` },
    ],
    text: number % 3000 === 0 ? 'a most unusual finding' : 'an ordinary finding',
  },
  subject: { reference: `Patient/p${number % (patients / 10)}` },
  ...effective(number),
  ...(number % 4 === 3 && { valueQuantity: { value: number % 1300 === 7 ? 4000 + number : number % 100, unit: 'mg' } }),
})

function effective(number: number): JsonObject {
  const start = new Date(Date.UTC(2015, 0, 1) + ((number * 7919) % observations) * 21_600_000).toISOString()
  return number % 600 === 8 ? { effectivePeriod: { start, end: '2030-06-01' } } : { effectiveDateTime: start }
}

function row(resource: JsonObject): Created {
  const [type, id] = [String(resource['resourceType']), String(resource['id'])]
  const body = JSON.stringify(resource)
  const entry = indexer.entry(resource)
  return {
    type: typeNumber(type),
    id,
    version: 1,
    method: 1,
    updatedAt: new Date(0),
    body,
    entry,
    author: 0n,
    owner: null,
    isFresh: true,
    former: 0,
  }
}

async function fill(database: Database): Promise<void> {
  const all = [
    ...Array.from({ length: patients }, (_, number) => row(patient(number))),
    ...Array.from({ length: observations }, (_, number) => row(observation(number))),
    ...Array.from({ length: organizations }, (_, number) => row({ resourceType: 'Organization', id: `c${number}` })),
  ]
  for (let from = 0; from < all.length; from += 1500)
    await insert(database, all.slice(from, from + 1500), { epoch: 1, notes: [] })
  await database.query({ text: 'vacuum analyze resource, search, word, term, span, coded', values: [] })
}

beforeAll(async () => {
  database = openDatabase(await createTestDatabase(), { poolSize: 2, statementTimeout: 30_000, layout: layoutOfRun() })
  onCleanup(() => database.end())
  await fill(database)
  const explained = explaining(database, nodes => plan.push(...nodes))
  indexing = createIndexing({ database: explained, indexer, base, log: createLog('silent') })
  const parts = {
    indexer,
    indexing,
    projections: [],
    registered: async () => new Set<string>(),
    follower: { note: async () => undefined },
    base,
    validate: () => [],
    now: () => new Date(),
    searchParameters: { perClient: 10, all: 10 },
    defaultCount: 20,
    maxCount: 1000,
    maxIncluded: 1000,
    searched: () => {},
  }
  store = createStore({ ...parts, database: explained })(everyone)
})

async function search(type: string, query: string): Promise<number> {
  plan = []
  const { matches } = await store.search(store.parse(type.split(','), new URLSearchParams(query), true))
  return matches.length
}

const indexes = (): string[] => [...new Set(plan.flatMap(node => node['Index Name'] ?? []))].sort()

/** Nothing is read from end to end, and no more is sorted than a few pages hold. */
function expectBounded(most = 200): void {
  const whole = plan.filter(node => node['Node Type'] === 'Seq Scan' && node['Actual Loops'] > 0)
  expect(whole.map(node => node['Relation Name'])).toEqual([])
  for (const node of plan.filter(each => each['Node Type'].includes('Sort')))
    expect(node['Actual Rows'] * node['Actual Loops']).toBeLessThanOrEqual(most)
  const scanned = plan.filter(node => node['Relation Name'] !== undefined).map(node => node['Actual Rows'])
  expect(Math.max(...scanned)).toBeLessThanOrEqual(1001)
}

describe('a search walks', () => {
  test.each([
    [
      'a patient and a code together',
      'Observation',
      'patient=p7&code=http://loinc.org|common&_sort=-date',
      'search_posting',
    ],
    ['the newest of a patient', 'Observation', 'patient=p7&_sort=-date', 'search_patient'],
    ['the newest of a frequent code', 'Observation', 'code=http://loinc.org|common&_sort=-date', 'coded_newest'],
    ['the newest of a rare code', 'Observation', 'code=rare&_sort=-date', 'coded_newest'],
    ['the newest of a month', 'Observation', 'date=2016-03&_sort=-date', 'search_date'],
    ['what refers to a patient', 'Patient', '_has:Observation:patient:code=rare', 'search_self'],
    ['what a patient of a name has', 'Observation', `patient.name=${name(12)}`, 'search_patient'],
    ['what a patient of no name has', 'Observation', 'patient.name=nowhere', 'word_folded'],
    ['the oldest', 'Observation', '_sort=date', 'search_date'],
    ['the oldest of a status, up to a date', 'Observation', 'status=final&date=lt2020&_sort=date', 'search_date'],
    ['the last changes', 'Observation', '_sort=-_lastUpdated', 'resource_updated'],
    ['the first changes from a moment on', 'Observation', '_lastUpdated=ge1970&_sort=_lastUpdated', 'resource_updated'],
    ['all by their ids', 'Observation', '_sort=_id', 'directory_id'],
    ['those of a status by their ids', 'Observation', 'status=final&_sort=-_id', 'directory_id'],
    ['the lowest values', 'Observation', '_sort=value-quantity', 'span_low'],
    ['the highest values', 'Observation', '_sort=-value-quantity', 'span_high'],
    ['a frequent code of very many patients', 'Observation', 'code=common&patient.gender=male', 'coded_newest'],
    ['letters within a name', 'Patient', `name:contains=${name(1234).slice(5)}&_sort=family`, 'term_grams'],
    ['the beginning of a name', 'Patient', `name=${name(1234)}`, 'word_folded'],
    ['everybody by family name', 'Patient', '_sort=family', 'word_folded'],
    ['everybody from the last name on', 'Patient', '_sort=-family', 'word_folded'],
    ['everybody by family and given name', 'Patient', '_sort=family,given', 'word_folded'],
    ['everybody by family name, then by id', 'Patient', '_sort=-family,_id', 'word_folded'],
    ['the highest values, the newest first', 'Observation', '_sort=-value-quantity,-date', 'span_high'],
    ['a rare word', 'Observation', '_content=unusual', 'search_text'],
    ['a word that is nowhere', 'Observation', '_content=nowhere', 'search_text'],
    ['the newest of a word that nearly all have', 'Observation', '_content=ordinary&_sort=-date', 'search_date'],
    ['a text beside a code', 'Observation', 'code:text=unusual', 'search_posting'],
    ['a text that is nowhere', 'Observation', 'code:text=nowhere', 'term_posting'],
    ['neighbouring words', 'Observation', '_content="most unusual"', 'search_text'],
    ['the newest of two types', 'Observation,Patient', '', 'search_date'],
    ['those of two types up to a date', 'Encounter,Observation', 'date=lt2030&_sort=-date', 'search_date'],
    ['the last changes of two types', 'Observation,Patient', '_sort=-_lastUpdated', 'resource_updated'],
    ['two types by their ids', 'Observation,Patient', '_sort=_id', 'directory_id'],
    ['the newest of two codes', 'Observation', 'code=rare,common&_sort=-date', 'coded_newest'],
    ['a filter of two codes', 'Observation', '_filter=code eq rare or code eq common', 'coded_newest'],
    ['a filter of two parameters', 'Observation', '_filter=code eq rare or status eq amended', 'search_posting'],
    ['a filter beside a patient', 'Observation', 'patient=p7&_filter=not (code eq common)', 'search_patient'],
  ])('%s', async (_what, type, query, index) => {
    const found = await search(type, query)
    expect(found > 0).toBe(!query.includes('nowhere'))
    expect(indexes()).toContain(index)
    expectBounded()
  })

  test('the one place of a patient where undated results are, for records by date', async () => {
    plan = []
    const newest = [
      ['patient', 'p7'],
      ['status', 'final'],
      ['_sort', '-_lastUpdated'],
    ] as const
    const bounds = { since: '2020-01-01', until: undefined }
    expect(await store.search(withoutDate(store.parse(['Observation'], newest, true), bounds))).toMatchObject({
      matches: [],
    })
    expect(indexes()).toContain('search_patient')
    expect(indexes()).not.toContain('search_posting')
    const read = plan.filter(node => node['Relation Name']?.startsWith('search')).map(node => node['Actual Rows'])
    expect(Math.max(...read)).toBe(0)
  })

  test('the newest thousand of two types for those of a status', async () => {
    expect(await search('Encounter,Observation', 'status=final&_sort=-date')).toBeGreaterThan(0)
    expect(indexes()).toContain('search_date')
    expectBounded(1000)
  })

  test.each([
    ['the beginning of a name', 'Patient', `name=${name(1234)}`, 'word_folded'],
    ['two names', 'Patient', `family=${name(1234)}&given:exact=${name(1265)}`, 'word_folded'],
    ['everybody by family name', 'Patient', '_sort=family', 'word_folded'],
    ['an identifier', 'Patient', 'identifier=urn:x|1', 'search_posting'],
    ['what has changed at some time', 'Patient', '_lastUpdated=ge1970&gender=male', 'resource_updated'],
    ['all by their ids', 'Patient', '_sort=_id', 'directory_id'],
    ['the youngest', 'Patient', '_sort=-birthdate', 'span_high'],
    [
      'a patient and a code together, between two dates',
      'Observation',
      'patient=p7&code=common&date=ge2015&date=le2029',
      'search_posting',
    ],
  ])('%s by a plan that is kept for all values', async (_what, type, query, index) => {
    const request = store.parse([type], new URLSearchParams(query), true)
    const seen = { visibility: undefined, maySee: () => true, party: serviceParty }
    const [step] = planOf(request, { indexer, base, ...seen, maxIncluded: 1000 })
    const { text, isFixed } = step!.statement()
    expect(isFixed).toBe(true)
    plan = await planFor(database, text)
    expect(indexes()).toContain(index)
    expect(plan.filter(node => node['Node Type'] === 'Seq Scan')).toEqual([])
  })

  test('a patient and a code together, with no use for the index of dates, which knows nothing of either', () => {
    const request = store.parse(
      ['Observation'],
      new URLSearchParams('patient=p7&code=common&date=ge2015&date=le2029'),
      true,
    )
    const seen = { visibility: undefined, maySee: () => true, party: serviceParty }
    const [step] = planOf(request, { indexer, base, ...seen, maxIncluded: 1000 })
    expect(step!.statement().text).not.toMatch(/\bs\.date (<|>|between)/)
  })

  test('what it includes by keys', async () => {
    expect(await search('Observation', 'patient=p7&_count=20&_include=Observation:patient')).toBe(20)
    expect(indexes()).toEqual(expect.arrayContaining(['search_patient', 'search_self', 'resource_key']))
    expectBounded()
  })
})

describe('a search finds the few of many by looking at few:', () => {
  test.each([
    ['after a date', 'date=gt2030-05-31', 20],
    ['after all dates', 'date=gt2031', 0],
    ['from a date on', 'date=ge2030-05', 20],
    ['about a date', 'date=ap2060', 0],
    ['before all dates', 'date=eb2014', 0],
    ['of a code, after a date', 'code=common&date=gt2030-05-31', 0],
    ['of two codes, after a date', 'code=common,code8&date=gt2030-05-31', 20],
    ['of a status, after a date', 'status=final&date=gt2030-05-31', 20],
    ['above a value', 'value-quantity=gt4000', 10],
    ['above all values', 'value-quantity=gt100000', 0],
    ['below all values', 'value-quantity=lt-1', 0],
    ['of a value', 'value-quantity=4007', 1],
    ['of a value that is nowhere', 'value-quantity=99.5', 0],
    ['of a value and a unit', 'value-quantity=4007||mg', 1],
    ['about a value', 'value-quantity=ap5000', 1],
    ['of a status, above a value', 'status=final&value-quantity=gt4000', 10],
    ['of a frequent code and a rare status', 'code=common&status=amended', 3],
    ['of two codes and a rare status', 'code=common,code8&status=amended', 3],
    ['of a rare status', 'status=amended', 3],
    ['of one of many statuses, most of which none has', 'status=amended,corrected,registered,preliminary', 3],
    ['not of the status that nearly all have', 'status:not=final', 3],
    ['not of a status that few have', 'status:not=amended', 20],
    ['of any other status, by a filter', '_filter=status ne final', 3],
    ['of a frequent code, not of the frequent status', 'code=common&status:not=final', 3],
    ['after a date, not of the frequent status', 'status:not=final&date=gt2015', 3],
    [
      'of no status but that of nearly all, by a filter, after a date',
      '_filter=not (status eq final) and date gt 2015',
      3,
    ],
    ['of a frequent status, after a date that few are behind', 'status=final&date=gt2030-05-31', 20],
    ['of very many patients', 'patient.gender=male', 20],
    ['of very many patients, of two codes', 'code=common,code8&patient.gender=male', 20],
    ['of no patient', 'patient.gender=other', 0],
    ['of a frequent code, of no patient', 'code=common&patient.gender=other', 0],
    ['of a patient among very many', 'patient=p8&patient.gender=male', 20],
    ['of a patient who is not among very many', 'patient=p13&patient.gender=male', 0],
    ['of patients who have what is nowhere', 'patient._has:Observation:patient:date=gt2031', 0],
  ])('%s', async (_what, query, count) => {
    expect(await search('Observation', `${query}&_count=20`)).toBe(count)
    expect(mostLookedAt()).toBeLessThanOrEqual(1100)
  })

  test('the highest values of a status', async () => {
    expect(await search('Observation', 'status=final&_sort=-value-quantity&_count=20')).toBe(20)
    expect(indexes()).toContain('span_high')
  })

  test.each([
    ['status', [1, 4001, 8001], 1100],
    ['-status', [], 1100],
    ['status,-date', [1, 4001, 8001], 1100],
    ['-status&date=lt2020', [], 1100],
    ['-status&patient.gender=male', [], 1100],
    // All of the code are found first, up to a thousand: in so small a table, by reading it.
    ['status&code=common', [1, 4001, 8001], 4000],
  ])('the first by a code of which R4 gives all: %s', async (sort, rare, most) => {
    const request = store.parse(['Observation'], new URLSearchParams(`_sort=${sort}&_count=20`), true)
    plan = []
    const { matches, next } = await store.search(request)
    const ids = matches.map(({ id }) => id)
    expect(ids).toHaveLength(20)
    expect(ids.slice(0, rare.length).toSorted()).toEqual(rare.map(number => `o${number}`).toSorted())
    expect(mostLookedAt()).toBeLessThanOrEqual(most)
    plan = []
    const following = await store.search({ ...request, cursor: next })
    expect(following.matches).toHaveLength(20)
    expect(following.matches.filter(({ id }) => ids.includes(id))).toEqual([])
    expect(mostLookedAt()).toBeLessThanOrEqual(most)
    plan = []
    const former = await store.search({ ...request, cursor: following.previous })
    expect(former.matches.map(({ id }) => id)).toEqual(ids)
  })

  test.each([
    ['a frequent code', 'code=common&_lastUpdated=ge1970', 20],
    ['a status', 'status=final&_lastUpdated=ge1970&_lastUpdated=lt1980', 20],
    ['dates after all others', 'date=gt2031&_lastUpdated=ge1970', 0],
    ['a code that has not changed', 'code=common&_lastUpdated=gt1980', 0],
  ])('what has changed at some time, of %s', async (_what, query, count) => {
    expect(await search('Observation', `${query}&_count=20`)).toBe(count)
    expect(mostLookedAt()).toBeLessThanOrEqual(3001)
  })

  test('the newest of very many who have a string, and all of few', async () => {
    const found = async (query: string): Promise<string[]> => {
      const request = store.parse(['Patient'], new URLSearchParams(query), true)
      plan = []
      return (await store.search(request)).matches.map(({ id }) => id)
    }
    const women = Array.from({ length: patients }, (_, number) => number).filter(number => number % 10 === 3)
    const newest = (numbers: readonly number[]): string[] => numbers.map(number => `p${number}`).reverse()
    expect(await found('address-state=Adamawa&gender=female&_count=20')).toEqual(newest(women).slice(0, 20))
    expect(await found('address-state=Ada&address-city=Mubi&_count=2')).toEqual(['p1499', 'p1498'])
    const ofYola = newest(women.filter(number => number % 300 === 3))
    expect(await found('address-state=Adamawa&address-city=yol')).toEqual(ofYola)
    expect(await found('address-city=Yola&gender=female')).toEqual(ofYola)
    expect(mostLookedAt()).toBeLessThanOrEqual(50)
    expect(await found('address-city=Yola&gender=male')).toEqual([])
    expect(await found('address-city:exact=yola')).toEqual([])
  })

  test('patients after what refers to them', async () => {
    expect(await search('Patient', '_has:Observation:patient:date=gt2031')).toBe(0)
    expect(await search('Patient', '_has:Observation:patient:value-quantity=gt4000')).toBe(3)
    expect(mostLookedAt()).toBeLessThanOrEqual(1100)
  })
})

/** Rows that some part of a statement looked at, whether they matched or not. */
const mostLookedAt = (): number =>
  Math.max(
    ...plan
      .filter(node => node['Relation Name'] !== undefined)
      .map(node => (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops']),
  )

describe('a search through very many resources finds', () => {
  const dates = new Map(
    Array.from({ length: observations }, (_, number) => [`o${number}`, (number * 7919) % observations]),
  )
  const newest = (numbers: readonly number[]): string[] =>
    numbers.map(number => `o${number}`).sort((one, other) => dates.get(other)! - dates.get(one)!)
  const all = Array.from({ length: observations }, (_, number) => number)
  const isOfMale = (number: number): boolean => number % 10 !== 3

  test.each<[what: string, query: string, matches: (number: number) => boolean]>([
    ['what is of them', 'patient.gender=male', isOfMale],
    ['the same by another parameter', 'subject:Patient.gender=male', isOfMale],
    ['a code', 'code=code8&patient.gender=male', number => number % 40 === 8 && isOfMale(number)],
    ['a frequent code', 'code=common&patient.gender=female', number => number % 10 === 3 && number % 1200 !== 7],
    ['a rare code', 'code=rare&patient.gender=male', number => number % 1200 === 7],
  ])('%s', async (_what, query, matches) => {
    const request = store.parse(['Observation'], new URLSearchParams(`${query}&_count=150`), true)
    const found = (await store.search(request)).matches.map(({ id }) => id)
    expect(found).toEqual(newest(all.filter(matches)).slice(0, 150))
    const { total } = await store.search(
      store.parse(['Observation'], new URLSearchParams(`${query}&_summary=count`), true),
    )
    expect(total).toBe(all.filter(matches).length)
  })

  test('patients', async () => {
    const request = store.parse(
      ['Patient'],
      new URLSearchParams('_has:Observation:patient:code=common&_count=500'),
      true,
    )
    const found = (await store.search(request)).matches.map(({ id }) => id)
    const having = new Set(all.filter(number => number % 2 && number % 1200 !== 7).map(number => `p${number % 150}`))
    expect([...found].sort()).toEqual([...having].sort())
  })
})

describe('a new search parameter', () => {
  test('of dates is added to the index, and no row of search is written again', async () => {
    const places = async () =>
      database.query({
        text: `select md5(string_agg(s.ctid::text, ' ' order by s.key)) as places from search s where type = $1`,
        values: [typeNumber('Observation')],
      })
    const before = await places()
    plan = []
    const given = { status: 'active', url: 'https://example.org/own', name: 'Own', description: 'Own.' }
    const of = { code: 'own', type: 'date', expression: 'Observation.effective', base: ['Observation'] }
    await store.update('SearchParameter', 'own', { resourceType: 'SearchParameter', id: 'own', ...given, ...of }, {})
    while (indexer.params.own('Observation').some(param => !param.isReady)) await indexing.settle()
    const read = plan.filter(node => node['Node Type'] === 'Seq Scan').map(node => node['Relation Name'])
    expect(read).not.toContain('search')
    expect(read).not.toContain('resource')
    expect(await places()).toEqual(before)
    expect(await search('Observation', 'own=gt2000')).toBe(20)
    expect(await search('Observation', 'own=gt2100')).toBe(0)
    expect(await search('Observation', 'own:missing=false&_count=1000')).toBe(1000)
    expect(await search('Observation', 'own:missing=true')).toBe(0)
    const compared = plan.map(node => (node['Rows Removed by Join Filter'] ?? 0) * node['Actual Loops'])
    expect(Math.max(...compared)).toBeLessThanOrEqual(observations)
  })
})

describe('a read walks', () => {
  test('one resource by the directory', async () => {
    plan = []
    await store.read('Observation', 'o7')
    expect(indexes()).toEqual(['directory_id', 'resource_key'])
    expectBounded()
  })

  test('everything about a patient along search_patient', async () => {
    plan = []
    const after = undefined
    const dates = { start: undefined, end: undefined, since: undefined, types: undefined }
    const { matches } = await store.everything({ patient: 'p7', ...dates, count: 50, after })
    expect(matches).toHaveLength(50)
    expect(indexes()).toContain('search_patient')
    expectBounded()
  })

  test('what lies outside of compartments, and works out once for each what may refer to it', async () => {
    plan = []
    const after = { part: 'outside', key: 0 } as const
    const dates = { start: undefined, end: undefined, since: undefined, types: undefined }
    const { matches } = await store.everything({ patient: undefined, ...dates, count: 50, after })
    expect(matches).toEqual([])
    const ways = plan.filter(node => node['Node Type'] === 'Function Scan' && node['Actual Loops'] > 1)
    expect(ways).toHaveLength(1)
    // Other tests of this file define search parameters, which lie outside as well.
    expect(ways[0]!['Actual Loops']).toBeLessThan(2 * organizations)
    expect(indexes()).toContain('search_posting')
    expectBounded()
  })
})
