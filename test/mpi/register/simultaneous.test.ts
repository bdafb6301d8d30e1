// Patients that change at the same moment: they share a transaction, and the register, consents and events follow each of them.
import type pg from 'pg'
import { beforeAll, expect, test } from 'vitest'
import { mint } from '../../../src/lib/health-id.ts'
import { healthIdSystem } from '../../api/connect/support.ts'
import { consentOf } from '../../support/consents.ts'
import { layoutOfRun } from '../../support/database.ts'
import { creatorBy, fhirCaller, many } from '../../support/fhir.ts'
import { actorOf } from '../../support/scenario.ts'
import { type Service, startService } from '../../support/service.ts'
import { databaseOf, expectToldOnce, rowsOf } from '../../support/trail.ts'
import { eventsOfRequest } from '../../support/webhooks.ts'

let service: Service
let database: pg.Client
const call = fhirCaller(() => service)
const store = creatorBy(call)

beforeAll(async () => {
  service = await startService()
  database = await databaseOf(service)
  // What is sent in one turn over open connections arrives in one turn, however busy the machine is.
  await many(40, () => call('GET', 'metadata'))
})

const patient = (id: string, more: object = {}) => ({ resourceType: 'Patient', id, ...more })
const holding = (value: string) => ({ identifier: [{ use: 'official', system: healthIdSystem(service), value }] })
const named = (family: string) => ({ name: [{ family, given: ['Ada'] }] })
const put = (id: string, more: object, requestId = `request-${id}`) =>
  call('PUT', `Patient/${id}`, {
    body: patient(id, more),
    headers: { 'content-type': 'application/fhir+json', 'x-request-id': requestId },
  })

/** The patients of a prefix that the register holds, each with the Health ID under which it is known. */
async function registered(prefix: string): Promise<Record<string, string | null>> {
  const { rows } = await database.query('select patient, health_id from person where patient like $1', [`${prefix}-%`])
  return Object.fromEntries(rows.map(row => [row.patient, row.health_id]))
}

test('they share transactions, and each is found by what it is now', async () => {
  const healthIds = Array.from({ length: 30 }, () => mint('CM'))
  const created = await many(30, number => put(`all-${number}`, { ...named('Bello'), ...holding(healthIds[number]!) }))
  expect(created.map(({ status }) => status)).toEqual(Array(30).fill(201))
  const { rows } = await database.query(
    `select count(distinct xmin::text)::integer as n from resource where id like 'all-%'`,
  )
  // Where tables are distributed, each current version is asked for at its place, so that changes come one by one.
  if (layoutOfRun() === 'whole') expect(rows[0].n).toBeLessThan(20)
  const changed = await many(30, number =>
    number % 3
      ? put(`all-${number}`, { ...named('Eto'), ...holding(healthIds[number]!) })
      : call('DELETE', `Patient/all-${number}`),
  )
  expect(changed.map(({ status }) => status)).toEqual(changed.map((_, number) => (number % 3 ? 200 : 204)))
  expect(await registered('all')).toEqual(
    Object.fromEntries(
      healthIds.map((value, number) => [`all-${number}`, value]).filter((_, number) => number % 3 !== 0),
    ),
  )
  const total = async (family: string) =>
    (await call('GET', `Patient?family=${family}&_summary=count&_total=accurate`)).body.total
  expect([await total('Bello'), await total('Eto')]).toEqual([0, 20])
})

test('each is on record with its own request, and causes its own event', async () => {
  const replies = await many(12, number => put(`told-${number}`, named('Abena')))
  expect(replies.map(({ status }) => status)).toEqual(Array(12).fill(201))
  for (let number = 0; number < 12; number++) {
    const rows = await rowsOf(database, `request-told-${number}`)
    expect(rows.map(row => [row.interaction, row.resource_type, row.resource_id])).toEqual([
      ['update', 'Patient', `told-${number}`],
    ])
    expect(await eventsOfRequest(service, `request-told-${number}`)).toEqual(['patient.created'])
  }
  await expectToldOnce(database, 'Patient')
})

test('one that claims the Health ID of another, or one that is none, fails alone and leaves nothing', async () => {
  const taken = mint('CM')
  await store(patient('holder', holding(taken)))
  const bad: Record<number, string> = { 4: taken, 11: 'CM-0000-0000-0000' }
  const replies = await many(20, number =>
    put(`claim-${number}`, { ...named('Ngo'), ...holding(bad[number] ?? mint('CM')) }),
  )
  expect(replies.map(({ status }) => status)).toEqual(
    replies.map((_, number) => (number === 4 ? 409 : number === 11 ? 422 : 201)),
  )
  expect(replies[4]!.body.issue[0]).toMatchObject({ code: 'duplicate' })
  for (const number of [4, 11]) {
    expect((await call('GET', `Patient/claim-${number}`)).status).toBe(404)
    expect(await eventsOfRequest(service, `request-claim-${number}`)).toEqual([])
  }
  expect(Object.keys(await registered('claim'))).toHaveLength(18)
})

test('of those that claim one Health ID only one gets it', async () => {
  const wanted = mint('CM')
  const replies = await many(10, number => put(`race-${number}`, holding(wanted)))
  const statuses = replies.map(({ status }) => status).sort()
  expect(statuses).toEqual([201, ...Array(9).fill(409)])
  expect(Object.values(await registered('race'))).toEqual([wanted])
})

test('those that become one person are open to each other’s consents, and closed again once they are parted', async () => {
  const ids = Array.from({ length: 6 }, (_, number) => [`old-${number}`, `kept-${number}`] as const)
  for (const [old, kept] of ids)
    await store(
      patient(old),
      patient(kept),
      {
        resourceType: 'Flag',
        id: `flag-${old}`,
        status: 'active',
        code: { text: 'x' },
        subject: { reference: `Patient/${old}` },
      },
      consentOf(`of-${kept}`, kept, 'clinic'),
    )
  const token = await actorOf(() => service, 'clinic', 'system/*.rs').token()
  const readable = () => many(6, async number => (await call('GET', `Flag/flag-old-${number}`, { token })).status)
  const link = (type: string, id: string) => ({ link: [{ type, other: { reference: `Patient/${id}` } }] })
  expect(await readable()).toEqual(Array(6).fill(403))
  const joined = await many(12, number => {
    const [old, kept] = ids[number >> 1]!
    return number % 2 ? put(kept, link('replaces', old)) : put(old, link('replaced-by', kept))
  })
  expect(joined.map(({ status }) => status)).toEqual(Array(12).fill(200))
  expect(await readable()).toEqual(Array(6).fill(200))
  const parted = await many(12, number => {
    const [old, kept] = ids[number >> 1]!
    return put(number % 2 ? kept : old, {})
  })
  expect(parted.map(({ status }) => status)).toEqual(Array(12).fill(200))
  expect(await readable()).toEqual(Array(6).fill(403))
})
