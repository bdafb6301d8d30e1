// Changes that come at the same moment share a transaction, and each fares as if it had come alone.
import type pg from 'pg'
import { beforeAll, describe, expect, test } from 'vitest'
import { isOnCluster } from '../../support/citus.ts'
import { layoutOfRun } from '../../support/database.ts'
import { creatorBy, fhirCaller, many } from '../../support/fhir.ts'
import { actorOf } from '../../support/scenario.ts'
import { type Service, startService } from '../../support/service.ts'
import { databaseOf, expectToldOnce, rowsOf } from '../../support/trail.ts'
import { eventsOfRequest } from '../../support/webhooks.ts'

let service: Service
let database: pg.Client
const call = fhirCaller(() => service)

beforeAll(async () => {
  service = await startService()
  database = await databaseOf(service)
})

const observation = (id: string, text: string) => ({
  ...{ resourceType: 'Observation', id, status: 'final', code: { text } },
  subject: { reference: 'Patient/pat' },
})
const put = (id: string, text: string, headers: Record<string, string> = {}) =>
  call('PUT', `Observation/${id}`, {
    body: observation(id, text),
    headers: { 'content-type': 'application/fhir+json', ...headers },
  })

/** How many transactions wrote these resources as they are now. */
async function transactionsOf(prefix: string): Promise<number> {
  const { rows } = await database.query(
    'select count(distinct xmin::text)::integer as n from resource where id like $1',
    [`${prefix}-%`],
  )
  return rows[0].n
}

describe('changes of one moment', () => {
  test('that create, update and delete share transactions, and each is answered with its own', async () => {
    // What is sent in one turn over open connections arrives in one turn, however busy the machine is.
    await many(40, () => call('GET', 'metadata'))
    const created = await many(40, number => put(`all-${number}`, `first ${number}`))
    expect(created.map(({ status, body }) => [status, body.code.text])).toEqual(
      created.map((_, number) => [201, `first ${number}`]),
    )
    expect(await transactionsOf('all')).toBeLessThan(40)
    const changed = await many(40, number =>
      number % 2 ? put(`all-${number}`, `second ${number}`) : call('DELETE', `Observation/all-${number}`),
    )
    expect(changed.map(({ status }) => status)).toEqual(changed.map((_, number) => (number % 2 ? 200 : 204)))
    // Where tables are distributed, each current version is asked for at its place, so that their changes come one by one.
    if (layoutOfRun() === 'whole') expect(await transactionsOf('all')).toBeLessThan(20)
    const read = await many(40, number => call('GET', `Observation/all-${number}`))
    expect(read.map(({ status, body }) => [status, body.code?.text])).toEqual(
      read.map((_, number) => (number % 2 ? [200, `second ${number}`] : [410, undefined])),
    )
    const former = await many(40, number => call('GET', `Observation/all-${number}/_history/1`))
    expect(former.map(({ body }) => body.code.text)).toEqual(former.map((_, number) => `first ${number}`))
  })

  test('are found by what they hold now, and no longer by what they held', async () => {
    await many(20, number => put(`found-${number}`, 'red'))
    await many(20, number =>
      number < 15 ? put(`found-${number}`, 'blue') : call('DELETE', `Observation/found-${number}`),
    )
    const total = async (text: string) =>
      (await call('GET', `Observation?code:text=${text}&patient=pat&_summary=count&_total=accurate`)).body.total
    expect([await total('red'), await total('blue')]).toEqual([0, 15])
  })

  test('are on record each with its own request', async () => {
    const replies = await many(20, number => put(`told-${number}`, 'x', { 'x-request-id': `request-told-${number}` }))
    expect(replies.every(({ status }) => status === 201)).toBe(true)
    for (let number = 0; number < 20; number++) {
      const rows = await rowsOf(database, `request-told-${number}`)
      expect(rows.map(row => [row.interaction, row.resource_type, row.resource_id])).toEqual([
        ['update', 'Observation', `told-${number}`],
      ])
    }
    await expectToldOnce(database, 'Observation')
  })

  test('cause each its own event', async () => {
    const encounter = (id: string) => ({
      ...{ resourceType: 'Encounter', id, status: 'in-progress', class: { code: 'AMB' } },
      subject: { reference: 'Patient/pat' },
    })
    const replies = await many(12, number =>
      call('PUT', `Encounter/visit-${number}`, {
        body: encounter(`visit-${number}`),
        headers: { 'x-request-id': `request-visit-${number}` },
      }),
    )
    expect(replies.map(({ status }) => status)).toEqual(Array(12).fill(201))
    const events = await many(12, number => eventsOfRequest(service, `request-visit-${number}`))
    expect(events).toEqual(Array(12).fill(['encounter.created']))
  })

  test('of several clients have each their own author', async () => {
    const store = creatorBy(call)
    await store({ resourceType: 'Patient', id: 'shy' })
    const tokens = await Promise.all(['one', 'two'].map(each => actorOf(() => service, each, 'system/*.cruds').token()))
    const note = (id: string) => ({ ...observation(id, 'note'), subject: { reference: 'Patient/shy' } })
    const created = await many(20, number =>
      call('PUT', `Observation/own-${number}`, { body: note(`own-${number}`), token: tokens[number % 2]! }),
    )
    expect(created.map(({ status }) => status)).toEqual(Array(20).fill(201))
    const read = await many(40, number =>
      call('GET', `Observation/own-${number % 20}`, { token: tokens[number < 20 ? 0 : 1]! }),
    )
    const isOwn = (number: number) => number % 2 === (number < 20 ? 0 : 1)
    expect(read.map(({ status }) => status)).toEqual(read.map((_, number) => (isOwn(number) ? 200 : 403)))
    const taken = await many(20, number =>
      call('DELETE', `Observation/own-${number}`, { token: tokens[(number + 1) % 2]! }),
    )
    expect(taken.map(({ status }) => status)).toEqual(Array(20).fill(403))
  })
})

describe('of changes of one moment', () => {
  test('to one resource none is lost', async () => {
    await put('busy', 'start')
    const replies = await many(30, number => put('busy', `${number}`))
    expect(replies.map(({ status }) => status)).toEqual(Array(30).fill(200))
    expect(new Set(replies.map(({ headers }) => headers.get('etag'))).size).toBe(30)
    const { body } = await call('GET', 'Observation/busy/_history?_count=100')
    expect(
      body.entry.map((entry: { resource: { meta: { versionId: string } } }) => entry.resource.meta.versionId),
    ).toEqual(Array.from({ length: 31 }, (_, index) => String(31 - index)))
  })

  test('one that comes too late fails alone', async () => {
    await put('late', 'start')
    const replies = await many(30, number =>
      number % 3 ? put(`beside-${number}`, 'x') : put('late', `${number}`, { 'if-match': 'W/"1"' }),
    )
    expect(replies.filter((_, number) => number % 3).map(({ status }) => status)).toEqual(Array(20).fill(201))
    const late = replies.filter((_, number) => number % 3 === 0).map(({ status }) => status)
    expect(late.sort()).toEqual([200, ...Array(9).fill(412)])
  })

  // A cluster takes no triggers on tables that it has distributed.
  test.skipIf(isOnCluster())('one that is refused by the database fails alone, and leaves nothing', async () => {
    await database.query(`create function no_observation() returns trigger language plpgsql as $$
      begin if new.id = 'refused' then raise exception 'refused'; end if; return new; end $$`)
    await database.query(
      'create trigger no_observation before insert on resource for each row execute function no_observation()',
    )
    try {
      const replies = await many(20, number => put(number === 7 ? 'refused' : `accepted-${number}`, 'x'))
      expect(replies.map(({ status }) => status)).toEqual(replies.map((_, number) => (number === 7 ? 500 : 201)))
      expect((await call('GET', 'Observation/refused')).status).toBe(404)
      await expectToldOnce(database, 'Observation')
    } finally {
      await database.query('drop function no_observation cascade')
    }
  })

  test('one that waits for a lock holds up no other', async () => {
    await put('locked', 'start')
    const holder = await databaseOf(service)
    await holder.query('begin')
    await holder.query(`select 1 from directory where id = 'locked' for update`)
    const waiting = put('locked', 'later')
    const others = await many(20, number => put(`free-${number}`, 'x'))
    expect(others.map(({ status }) => status)).toEqual(Array(20).fill(201))
    await holder.query('commit')
    expect([(await waiting).status, (await call('GET', 'Observation/locked')).body.code.text]).toEqual([200, 'later'])
  })
})
