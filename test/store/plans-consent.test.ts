// How reads and searches are answered for a client that sees by consent: the condition costs each row one look-up at most, and
// whoever sees little does not wait for all the rest.

import { beforeAll, describe, expect, test } from 'vitest'
import { byConsent } from '../../src/access/consent/visibility.ts'
import { type Database, openDatabase } from '../../src/db/database.ts'
import { hash64 } from '../../src/lib/hash.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import { createLog } from '../../src/lib/log.ts'
import { authorHash, keysWrittenBy } from '../../src/store/author.ts'
import { createStore } from '../../src/store/bind.ts'
import { createIndexer } from '../../src/store/index/entry.ts'
import type { Created } from '../../src/store/row-arrays.ts'
import { insert } from '../../src/store/rows.ts'
import { plan as planOf } from '../../src/store/search/plan.ts'
import { createIndexing } from '../../src/store/search-params/reindex.ts'
import { makeSketch } from '../../src/store/sketch.ts'
import type { Store } from '../../src/store/store.ts'
import { typeNumber } from '../../src/store/type-number.ts'
import { baseOf } from '../support/base.ts'
import { onCleanup } from '../support/cleanup.ts'
import { layoutOfRun } from '../support/database.ts'
import { explaining, type PlanNode, planFor } from '../support/plans.ts'
import { until } from '../support/process.ts'
import { createTestDatabase } from '../support/service.ts'

const base = baseOf('http://localhost')
const indexer = createIndexer(base)
const patients = 1500
const observations = 12_000

const stores: Record<string, Store> = {}
let plan: PlanNode[] = []
let keptPlan: (text: string) => Promise<PlanNode[]>

const patient = (number: number): JsonObject => ({
  resourceType: 'Patient',
  id: `p${number}`,
  name: [{ family: `family${number % 50}` }],
})

const observation = (number: number): JsonObject => ({
  resourceType: 'Observation',
  id: `o${number}`,
  status: 'final',
  code: { coding: [{ system: 'http://loinc.org', code: number % 2 ? 'common' : `code${number % 40}` }] },
  subject: { reference: `Patient/p${number % patients}` },
  effectiveDateTime: new Date(Date.UTC(2015, 0, 1) + ((number * 7919) % observations) * 21_600_000).toISOString(),
})

function row(resource: JsonObject): Created {
  const [type, id] = [String(resource['resourceType']), String(resource['id'])]
  const body = JSON.stringify(resource)
  return {
    type: typeNumber(type),
    id,
    version: 1,
    method: 1,
    updatedAt: new Date(0),
    body,
    entry: indexer.entry(resource),
    author: authorHash('ehr'),
    owner: null,
    isFresh: true,
    former: 0,
  }
}

/** The first patients have opened their records, each by several grants; everybody has to organisations that nobody asks for. */
async function grant(database: Database, organization: string, count: number): Promise<void> {
  await database.query({
    text: `insert into consent_grant (patient, organization, starts_at, ends_at, types, consent)
      select self, $1::bigint, '-infinity', 'infinity', types::smallint[], 'c' from (
        select self from search where type = $2 order by key limit $3) opened, (values (null), ('{1}'), ('{2}')) of(types)`,
    values: [hash64(`Organization/${organization}`), typeNumber('Patient'), count],
  })
}

/** Vacuums the tables until all of their rows are visible to all, which another look at the database can delay: indexes alone answer then. */
async function vacuumed(database: Database, ...tables: string[]): Promise<void> {
  for (let tries = 0; tries < 50; tries++) {
    await database.query({ text: `vacuum analyze ${tables.join(', ')}`, values: [] })
    const partly = await database.query({
      text: 'select from pg_class where relname = any($1::text[]) and relallvisible < relpages',
      values: [tables],
    })
    if (partly.length === 0) return
    await new Promise(done => setTimeout(done, 100))
  }
  throw new Error('some rows stay invisible to others')
}

beforeAll(async () => {
  const database = openDatabase(await createTestDatabase(), {
    poolSize: 2,
    statementTimeout: 30_000,
    layout: layoutOfRun(),
  })
  onCleanup(() => database.end())
  const all = [
    ...Array.from({ length: patients }, (_, number) => row(patient(number))),
    ...Array.from({ length: observations }, (_, number) => row(observation(number))),
  ]
  // Somebody else wrote nearly everything.
  for (let from = 0; from < all.length; from += 1500)
    await insert(database, all.slice(from, from + 1500), { epoch: 1, notes: [] })
  await database.query({ text: 'update resource set updated_at = to_timestamp(key / 1024)', values: [] })
  // Each has a former version as well.
  await database.query({
    text: `insert into history (updated_at, version, type, method, shard, id, body, subject, author, about)
      select r.updated_at, 0, r.type, 1, shard, r.id, r.body, s.subject, s.author, s.about from resource r join search s using (shard, key)`,
    values: [],
  })
  for (const [organization, count] of [
    ['few', 5],
    ['some', 75],
    ['many', patients],
    ['a', patients],
    ['b', patients],
  ] as const)
    await grant(database, organization, count)
  await vacuumed(database, 'resource', 'history', 'search', 'word', 'term', 'span', 'coded', 'consent_grant')
  const indexing = createIndexing({ database, indexer, base, log: createLog('silent') })
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
  const explained = explaining(database, nodes => plan.push(...nodes))
  for (const organizationId of ['few', 'many'])
    stores[organizationId] = createStore({ ...parts, database: explained })({
      may: () => true,
      party: { organizationId },
      visibility: viewOf(organizationId),
    })
  await untilOthersEnded(database)
  const sketch = await makeSketch(database, viewOf('some'))
  stores['some'] = createStore({ ...parts, database: explained, sketchFor: () => sketch })({
    may: () => true,
    party: { organizationId: 'some' },
    visibility: viewOf('some'),
  })
  keptPlan = text => planFor(database, text)
})

/** Waits until no transaction runs that is older than the grants, in any database: what such a one adds is not in a sketch. */
async function untilOthersEnded(database: Database): Promise<void> {
  const [now] = await database.query<{ xid: string }>({ text: 'select pg_current_xact_id()::text as xid', values: [] })
  await until(
    'older transactions have ended',
    async () => {
      const text = 'select pg_snapshot_xmin(pg_current_snapshot()) > $1::xid8 as have'
      return (await database.query<{ have: boolean }>({ text, values: [now!.xid] }))[0]!.have
    },
    30,
  )
}

const viewOf = (organizationId: string) => byConsent({ clientId: 'app', organizationId, purpose: '' })

async function search(organization: string, type: string, query: string): Promise<number> {
  plan = []
  const store = stores[organization]!
  const { matches, total } = await store.search(store.parse(type.split(','), new URLSearchParams(query), true))
  return total ?? matches.length
}

const indexes = (): string[] => [...new Set(plan.flatMap(node => node['Index Name'] ?? []))].sort()

/** Nothing is read from end to end, and no more rows are looked at than there are to be seen, or than fill a page. */
function expectBounded(most: number): void {
  expect(plan.filter(node => node['Node Type'] === 'Seq Scan').map(node => node['Relation Name'])).toEqual([])
  const looked = plan.filter(node => ['search', 'history', 'consent_grant'].includes(node['Relation Name'] ?? ''))
  expect(looked.length).toBeGreaterThan(0)
  for (const node of looked) expect(node['Actual Rows'] * node['Actual Loops']).toBeLessThanOrEqual(most)
}

describe('a client with few grants looks through their patients alone', () => {
  test.each([
    ['Observation', 'code=common&_sort=-date', 16, 'search_patient'],
    ['Observation', '_sort=-date', 20, 'search_patient'],
    ['Observation', '', 20, 'search_patient'],
    ['Observation', 'code=nowhere', 0, 'search_patient'],
    ['Observation', '_summary=count', 40, 'search_patient'],
    ['Patient', '', 5, 'search_subject'],
    ['Patient', 'name=family1', 1, 'search_subject'],
    ['Patient', '_sort=family', 5, 'search_subject'],
    ['Patient,Observation', '', 20, 'search_patient'],
    ['Patient,Observation', '_sort=-_lastUpdated', 20, 'search_patient'],
  ])('%s?%s', async (type, query, found, index) => {
    expect(await search('few', type, query)).toBe(found)
    expect(indexes()).toContain(index)
    expectBounded(100)
  })
})

describe('a client with many grants asks for those of the rows it looks at', () => {
  test.each([
    ['Observation', 'code=common&_sort=-date', 20, 'coded_newest'],
    ['Observation', '_sort=-date', 20, 'search_date'],
    ['Patient', 'name=family1', 20, 'word_folded'],
    ['Observation', 'patient=p7&code=common', 8, 'search_posting'],
    ['Observation', 'patient=p7', 8, 'search_patient'],
    ['Observation', 'patient=p7&_summary=count', 8, 'search_patient'],
    ['Observation', 'patient=p7&_include=Observation:patient', 8, 'search_self'],
    ['Observation', 'patient.name=family7', 20, 'word_folded'],
    ['Patient,Observation', '', 20, 'search_date'],
    ['Patient,Observation', '_sort=-_lastUpdated', 20, 'resource_updated'],
    ['Patient,Observation', '_sort=_id', 20, 'directory_id'],
    ['Observation', '_sort=-_lastUpdated', 20, 'resource_updated'],
  ])('%s?%s', async (type, query, found, index) => {
    expect(await search('many', type, query)).toBe(found)
    expect(indexes()).toEqual(expect.arrayContaining([index, 'consent_grant_find']))
    expectBounded(400)
  })

  test('and reads all of them once to count very many rows', async () => {
    expect(await search('many', 'Observation', '_summary=count')).toBe(observations)
    const probes = plan.filter(node => node['Relation Name'] === 'consent_grant')
    expect(Math.max(...probes.map(node => node['Actual Loops']))).toBeLessThanOrEqual(501)
  })
})

describe('a client with a sketch passes over what it may not see by an index alone', () => {
  const rowsOf = (table: string): number =>
    plan
      .filter(node => node['Relation Name'] === table && node['Node Type'] !== 'Index Only Scan')
      .reduce((sum, node) => sum + node['Actual Rows'] * node['Actual Loops'], 0)

  test.each([
    ['code=common&_sort=-date', 'coded_newest'],
    ['', 'search_date'],
    ['date=ge2015-02&_sort=-date', 'search_date'],
    ['', 'search_date', 'Observation,Encounter'],
  ])('Observation?%s', async (query, index, types = 'Observation') => {
    expect(await search('some', types, query)).toBe(20)
    expect(plan.find(node => node['Index Name'] === index)?.['Node Type']).toBe('Index Only Scan')
    expect(rowsOf('search')).toBeLessThanOrEqual(40)
    expect(rowsOf('consent_grant')).toBeLessThanOrEqual(40)
    expectBounded(1000)
  })

  test('and counts by indexes alone where grants are for whole records', async () => {
    expect(await search('some', 'Observation', '_summary=count')).toBe(75 * 8)
    expect(plan.find(node => node['Index Name'] === 'search_date')?.['Node Type']).toBe('Index Only Scan')
    const probes = plan.filter(node => node['Relation Name'] === 'consent_grant')
    expect(Math.max(...probes.map(node => node['Actual Loops']))).toBe(1)
    expect(rowsOf('search')).toBe(0)
  })
})

describe('one plan is kept for all values', () => {
  test.each([
    ['name=family1', 'word_folded'],
    ['family=family1&given:exact=ann', 'word_folded'],
    ['_sort=family', 'word_folded'],
    ['identifier=urn:x|1', 'search_posting'],
  ])('of Patient?%s', async (query, index) => {
    const request = stores['many']!.parse(['Patient'], new URLSearchParams(query), true)
    const seeing = { visibility: viewOf('many'), maySee: () => true, party: { organizationId: 'many' } }
    const step = planOf(request, { indexer, base, ...seeing, maxIncluded: 1000 }).find(({ name }) =>
      name.includes('kept plan'),
    )
    const { text, isFixed } = step!.statement()
    expect(isFixed).toBe(true)
    plan = await keptPlan(text)
    expect(indexes()).toEqual(expect.arrayContaining([index, 'consent_grant_find']))
    expect(plan.filter(node => node['Node Type'] === 'Seq Scan')).toEqual([])
  })
})

test('what a client wrote is read along search_author, by the plan for a client who wrote nearly everything as well', async () => {
  plan = await keptPlan(`select ${keysWrittenBy('$1::bigint', '$2::smallint[]', 500)}`)
  const looked = plan.filter(node => node['Relation Name'] === 'search')
  expect(looked.map(node => [node['Node Type'], node['Index Name']])).toEqual([['Index Scan', 'search_author']])
  expect(plan.filter(node => /Sort/.test(node['Node Type']))).toEqual([])
})

describe('the history of everything', () => {
  test.each([
    ['few', undefined, 90, ['history_subject', 'search_patient', 'search_subject']],
    ['few', 'Observation', 80, ['history_subject', 'search_patient']],
    ['many', undefined, 101, ['history_updated', 'resource_updated']],
    ['many', 'Patient', 101, ['history_updated', 'resource_updated']],
    ['many', 'Observation', 101, ['history_updated', 'resource_updated']],
  ])(
    'of a client with %s grants (type %s) holds what it may see, along its own indexes',
    async (organization, type, found, used) => {
      plan = []
      const { versions } = await stores[organization]!.history({ ...(type ? { type } : {}), count: 100 })
      expect(versions).toHaveLength(found)
      expect(versions.every(({ body }) => body !== null)).toBe(true)
      expect(indexes()).toEqual(expect.arrayContaining(used))
      expectBounded(500)
    },
  )

  test.each([
    ['few', undefined, 45, ['history_subject', 'search_patient', 'search_subject']],
    ['many', undefined, 101, ['history_updated', 'resource_updated']],
    ['many', 'Observation', 101, ['history_updated', 'resource_updated']],
  ])(
    'at a moment, of a client with %s grants (type %s), passes no more former versions than were made beside the page',
    async (organization, type, found, used) => {
      plan = []
      const at = { low: 86_400_000, high: 86_400_000 }
      const { versions } = await stores[organization]!.history({ ...(type ? { type } : {}), at, count: 100 })
      expect(versions).toHaveLength(found)
      expect(versions.every(({ version }) => version === 1)).toBe(true)
      expect(indexes()).toEqual(expect.arrayContaining(used))
      expectBounded(500)
    },
  )
})

test('everything about all patients reads what few grants open, and no more', async () => {
  plan = []
  const dates = { start: undefined, end: undefined, since: undefined, types: ['Patient', 'Observation'] }
  const { matches } = await stores['few']!.everything({ patient: undefined, ...dates, count: 50, after: undefined })
  expect(matches).toHaveLength(45)
  expect(indexes()).toEqual(expect.arrayContaining(['search_patient', 'search_subject']))
  expectBounded(100)
})

describe.each(['few', 'many'])('with %s grants', organization => {
  test('a read is one statement, by the directory', async () => {
    plan = []
    await stores[organization]!.read('Observation', 'o1')
    expect(indexes()).toEqual([
      'consent_grant_find',
      'consent_grant_patient',
      'directory_id',
      'resource_key',
      'search_key',
    ])
    expect(plan.filter(node => node['Relation Name'] === 'resource')).toHaveLength(1)
    expectBounded(3)
  })

  test('everything about a patient walks along search_patient', async () => {
    plan = []
    const dates = { start: undefined, end: undefined, since: undefined, types: undefined }
    const { matches } = await stores[organization]!.everything({ patient: 'p1', ...dates, count: 50, after: undefined })
    expect(matches).toHaveLength(9)
    expect(indexes()).toContain('search_patient')
    expectBounded(100)
  })
})
