// Resources that are about another patient than before: they go with all their versions to the bucket of that patient
// (docs/decisions/0095-shard.md), and nobody misses them on the way.
import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { system } from '../../../src/access/caller.ts'
import { hash64 } from '../../../src/lib/hash.ts'
import { shardOf } from '../../../src/store/index/shard.ts'
import { typeNumber } from '../../../src/store/type-number.ts'
import { fhirCaller, matchIds } from '../../support/fhir.ts'
import { misplaced } from '../../support/parts.ts'
import { type Service, startService } from '../../support/service.ts'
import { databaseOf, expectToldOnce } from '../../support/trail.ts'

let service: Service
const call = fhirCaller(() => service)

const observation = (id: string, patient: string, more: object = {}) => ({
  ...{ resourceType: 'Observation', id, status: 'final', subject: { reference: `Patient/${patient}` } },
  code: { coding: [{ system: 'http://loinc.org', code: '718-7' }], text: 'blood count' },
  ...{ effectiveDateTime: '2026-03-04', valueQuantity: { value: 12, unit: 'g/dL' }, ...more },
})

let changes = 0
/** Each says something new. */
const put = (id: string, patient: string, more: object = {}) =>
  call('PUT', `Observation/${id}`, { body: observation(id, patient, { note: [{ text: String(++changes) }], ...more }) })

const found = async (query: string): Promise<string[]> => matchIds((await call('GET', `Observation?${query}`)).body)

const versionsOf = async (id: string): Promise<string[]> => {
  const { body } = await call('GET', `Observation/${id}/_history?_count=1000`)
  return body.entry.map((entry: { response: { etag: string } }) => entry.response.etag)
}

/** The buckets in which rows of an Observation lie. */
async function bucketsOf(id: string): Promise<number[]> {
  const database = await databaseOf(service)
  const { rows } = await database.query<{ shard: number }>(
    `select distinct shard from (
      select shard, type, id from resource union all select shard, type, id from history union all select shard, type, id from directory
    ) all_rows where type = $1 and id = $2`,
    [typeNumber('Observation'), id],
  )
  return rows.map(({ shard }) => shard)
}

const bucketOf = (patient: string): number => shardOf(hash64(`Patient/${patient}`))

beforeAll(async () => {
  service = await startService()
  for (const id of ['ada', 'bob', 'eve']) await call('PUT', `Patient/${id}`, { body: { resourceType: 'Patient', id } })
  expect(new Set(['ada', 'bob', 'eve'].map(bucketOf)).size).toBe(3)
})

describe('a resource that is about another patient than before', () => {
  test('is found by that one alone, with all its versions, in one bucket', async () => {
    expect((await put('corrected', 'ada')).status).toBe(201)
    expect((await put('corrected', 'ada', { status: 'amended' })).status).toBe(200)
    expect((await put('corrected', 'bob')).headers.get('etag')).toBe('W/"3"')
    expect(await found('patient=ada')).toEqual([])
    for (const query of [
      '',
      '&code=718-7',
      '&code:text=blood',
      '&value-quantity=gt5',
      '&_content=count',
      '&date=2026-03-04',
    ])
      expect(await found(`patient=bob${query}`), query).toEqual(['corrected'])
    expect(await versionsOf('corrected')).toEqual(['W/"3"', 'W/"2"', 'W/"1"'])
    expect((await call('GET', 'Observation/corrected/_history/1')).body.subject.reference).toBe('Patient/ada')
    expect(await bucketsOf('corrected')).toEqual([bucketOf('bob')])
  })

  test('moves on, is changed and is deleted like any other', async () => {
    await put('wandering', 'ada')
    for (const patient of ['bob', 'eve', 'ada', 'ada', 'eve'])
      expect((await put('wandering', patient)).status).toBe(200)
    expect((await call('DELETE', 'Observation/wandering')).status).toBe(204)
    expect((await call('GET', 'Observation/wandering')).status).toBe(410)
    expect(await versionsOf('wandering')).toHaveLength(7)
    expect(await bucketsOf('wandering')).toEqual([bucketOf('eve')])
  })

  test('takes its former versions along when it is created again after its deletion', async () => {
    await put('returning', 'ada')
    await call('DELETE', 'Observation/returning')
    const { status, headers } = await put('returning', 'bob')
    expect([status, headers.get('etag')]).toEqual([201, 'W/"3"'])
    expect(await versionsOf('returning')).toEqual(['W/"3"', 'W/"2"', 'W/"1"'])
    expect(await bucketsOf('returning')).toEqual([bucketOf('bob')])
  })

  test('moves in a transaction with others', async () => {
    for (const id of ['one', 'two']) await put(id, 'ada')
    const entry = [
      { resource: observation('one', 'bob'), request: { method: 'PUT', url: 'Observation/one' } },
      { resource: observation('two', 'eve'), request: { method: 'PUT', url: 'Observation/two' } },
      { resource: observation('three', 'eve'), request: { method: 'PUT', url: 'Observation/three' } },
    ]
    const { body } = await call('POST', '', { body: { resourceType: 'Bundle', type: 'transaction', entry } })
    expect(body.entry.map(({ response }: { response: { status: string } }) => response.status)).toEqual([
      ...['200 OK', '200 OK', '201 Created'],
    ])
    expect(await found('patient=eve&_sort=_id')).toEqual(expect.arrayContaining(['three', 'two']))
    expect(await bucketsOf('one')).toEqual([bucketOf('bob')])
  })

  test('stays where it is if its change is refused', async () => {
    await put('held', 'ada')
    const { status } = await call('PUT', 'Observation/held', {
      body: observation('held', 'bob'),
      headers: { 'if-match': 'W/"7"' },
    })
    expect(status).toBe(412)
    expect(await bucketsOf('held')).toEqual([bucketOf('ada')])
  })
})

describe('while many clients move one resource', () => {
  const patients = ['ada', 'bob', 'eve']

  test('no change fails with 5xx, none is lost, and no version is given twice', async () => {
    await put('contested', 'ada')
    const answers = await Promise.all(
      Array.from({ length: 8 }, async (_, client) => {
        const statuses: number[] = []
        for (let round = 0; round < 15; round++)
          statuses.push((await put('contested', patients[(client + round) % 3]!)).status)
        return statuses
      }),
    )
    const statuses = answers.flat()
    expect(statuses.filter(status => status !== 200 && status !== 409)).toEqual([])
    const versions = await versionsOf('contested')
    expect(new Set(versions).size).toBe(versions.length)
    expect(versions).toHaveLength(1 + statuses.filter(status => status === 200).length)
  })

  test('readers always find it', async () => {
    await put('watched', 'ada')
    let isOver = false
    const moving = (async () => {
      for (let round = 1; round < 60; round++) await put('watched', patients[round % 3]!)
      isOver = true
    })()
    const statuses: number[] = []
    while (!isOver) statuses.push((await call('GET', 'Observation/watched')).status)
    await moving
    expect(new Set(statuses)).toEqual(new Set([200]))
  })

  test('a deletion is never acknowledged without being made', async () => {
    let deletions = 0
    for (let round = 0; round < 20; round++) {
      await put('doomed', patients[round % 3]!)
      const [moved, deleted] = await Promise.all([
        put('doomed', patients[(round + 1) % 3]!),
        call('DELETE', 'Observation/doomed'),
      ])
      expect([200, 201, 409]).toContain(moved.status)
      expect([204, 409]).toContain(deleted.status)
      const { body } = await call('GET', 'Observation/doomed/_history?_count=1000')
      const methods = body.entry.map(({ request }: { request: { method: string } }) => request.method)
      if (deleted.status === 204) deletions += 1
      expect(methods.filter((method: string) => method === 'DELETE')).toHaveLength(deletions)
    }
  })
})

test('an export that listed it before it moved holds it as it is then', async () => {
  await put('listed', 'ada')
  const exporting = service.application.storeFor(system).exporting()
  const job = randomUUID()
  const scope = { job, of: 'everything', types: ['Observation'], filters: [] } as const
  await exporting.list(scope, 1000, async () => {}, new AbortController().signal)
  // Twice, so that the row number of the list is not that of the last move.
  for (const patient of ['bob', 'eve']) await put('listed', patient)
  const slice = await exporting.next(job)
  const bodies: { id: string }[] = []
  for await (const some of exporting.bodies(slice!)) bodies.push(...some.map(body => JSON.parse(String(body))))
  expect(bodies.filter(({ id }) => id === 'listed')).toMatchObject([{ subject: { reference: 'Patient/eve' } }])
  expect(bodies).toHaveLength(slice!.size)
  const { database } = service.application
  await database.transaction(on => exporting.forget(on, [job]))
})

test('every row is in the bucket of its patient, and the trail tells of each version once', async () => {
  const database = await databaseOf(service)
  expect(await misplaced(database)).toEqual([])
  expect(await expectToldOnce(database, 'Observation')).toBeGreaterThan(50)
})
