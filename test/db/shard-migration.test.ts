// The migration that gives each resource a bucket, on a database of the schema before it: everything is found as before.
import pg from 'pg'
import { expect, inject, test } from 'vitest'
import { openDatabase } from '../../src/db/database.ts'
import { migrate } from '../../src/db/migrate.ts'
import { createIndexer } from '../../src/store/index/entry.ts'
import { ofSomePatient } from '../../src/store/index/postings.ts'
import { typeNumber } from '../../src/store/type-number.ts'
import { baseOf } from '../support/base.ts'
import { onCleanup } from '../support/cleanup.ts'
import { fhirCaller, matchIds } from '../support/fhir.ts'
import { migrationsBefore } from '../support/former-schema.ts'
import { misplaced } from '../support/parts.ts'
import { type Service, startOn } from '../support/service.ts'

const indexer = createIndexer(baseOf('http://localhost'))

interface Body {
  readonly resourceType: string
  readonly id: string
  readonly [element: string]: unknown
}

const stamped = (resource: Body, version: number): Body => ({
  ...{
    resourceType: resource.resourceType,
    id: resource.id,
    meta: { versionId: String(version), lastUpdated: '2026-01-01T00:00:00.000Z' },
  },
  ...resource,
})

/** The postings that the version before had: of each parameter where it has a value, and none of what was thought of since. */
function formerTokens(type: string, tokens: readonly bigint[]): bigint[] {
  const posted = [...indexer.columns(type).usual].filter(key => !tokens.includes(key.absent)).map(key => key.present)
  const isNew = new Set([ofSomePatient, ...[...indexer.columns(type).usual].map(key => key.absent)])
  return [...tokens.filter(token => !isNew.has(token)), ...posted]
}

/** Stores a resource as the version before did. */
async function store(client: pg.Client, resource: Body, version = 1): Promise<void> {
  const body = JSON.stringify(stamped(resource, version))
  const entry = indexer.entry(JSON.parse(body))
  const type = typeNumber(resource.resourceType)
  const { rows } = await client.query<{ key: string }>(
    'insert into resource (updated_at, version, type, method, id, body) values (now(), $1, $2, 2, $3, $4) returning key',
    [version, type, resource.id, body],
  )
  const [{ key }] = rows as [{ key: string }]
  await client.query(
    `insert into search (key, self, patient, date, date_high, type, tokens, refs, texts, subject, author)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 0)`,
    [
      key,
      entry.self,
      entry.patient ?? null,
      entry.date,
      entry.dateHigh,
      type,
      formerTokens(resource.resourceType, entry.tokens),
      entry.refs,
      entry.texts,
      entry.subject,
    ],
  )
  for (const posting of entry.codes)
    await client.query('insert into coded (posting, date, key, subject, author) values ($1, $2, $3, $4, 0)', [
      posting,
      entry.date,
      key,
      entry.subject,
    ])
  for (const { low, high, token, unit, param } of entry.spans)
    await client.query('insert into span (low, high, token, unit, key, param) values ($1, $2, $3, $4, $5, $6)', [
      low,
      high,
      token,
      unit,
      key,
      param,
    ])
  for (const { param, folded, exact } of entry.words)
    await client.query('insert into word (key, param, folded, exact) values ($1, $2, $3, $4)', [
      key,
      param,
      folded,
      exact,
    ])
}

async function past(client: pg.Client, resource: Body, version: number, isDeletion = false): Promise<void> {
  const { subject } = indexer.entry(JSON.parse(JSON.stringify(stamped(resource, version))))
  await client.query(
    `insert into history (updated_at, version, type, method, id, body, subject, author) values (now(), $1, $2, $3, $4, $5, $6, 0)`,
    [
      version,
      typeNumber(resource.resourceType),
      isDeletion ? 4 : 2,
      resource.id,
      isDeletion ? null : JSON.stringify(stamped(resource, version)),
      subject,
    ],
  )
}

const to = (reference: string) => ({ reference })
const observation = (id: string, patient: string, value: number): Body => ({
  ...{
    resourceType: 'Observation',
    id,
    status: 'final',
    subject: to(`Patient/${patient}`),
    effectiveDateTime: '2026-02-03',
  },
  ...{
    code: { coding: [{ system: 'http://loinc.org', code: '718-7' }], text: 'blood' },
    valueQuantity: { value, unit: 'g' },
  },
})

test('resources, former versions and deletions of the schema before are in their buckets afterwards', async () => {
  const server = inject('server')
  const name = `former_${Date.now()}`
  const client = new pg.Client({ ...server, database: 'postgres' })
  await client.connect()
  await client.query(`create database ${name}`)
  await client.end()
  const database = openDatabase({ ...server, database: name }, { poolSize: 2, statementTimeout: 30_000 })
  onCleanup(() => database.end())
  await migrate(database, { folder: await migrationsBefore(37) })
  const beside = new pg.Client({ ...server, database: name })
  await beside.connect()
  onCleanup(() => beside.end())

  for (const id of ['ada', 'bob']) await store(beside, { resourceType: 'Patient', id, name: [{ family: `Of${id}` }] })
  await store(beside, { resourceType: 'Practitioner', id: 'doctor', name: [{ family: 'Fouda' }] })
  await store(beside, {
    resourceType: 'Group',
    id: 'both',
    type: 'person',
    actual: true,
    member: ['ada', 'bob'].map(id => ({ entity: to(`Patient/${id}`) })),
  })
  await store(beside, {
    ...{ resourceType: 'Group', id: 'staff', type: 'practitioner', actual: true },
    member: [{ entity: to('Practitioner/doctor') }],
  })
  await store(beside, observation('moved', 'bob', 2), 2)
  await past(beside, observation('moved', 'ada', 1), 1)
  await store(beside, { ...observation('nobody', '', 5), subject: undefined })
  for (const [resource, version] of [
    [observation('gone', 'ada', 1), 1],
    [{ resourceType: 'Organization', id: 'closed', name: 'Closed' }, 1],
  ] as const) {
    await past(beside, resource, version)
    await past(beside, resource, version + 1, true)
  }
  await migrate(database)
  expect(await misplaced(beside)).toEqual([])

  const service: Service = await startOn({ ...server, database: name })
  const call = fhirCaller(() => service)
  const found = async (query: string) => matchIds((await call('GET', query)).body).sort()
  expect(await found('Observation?patient=bob&code=718-7')).toEqual(['moved'])
  expect(await found('Observation?value-quantity=2')).toEqual(['moved'])
  expect(await found('Observation?subject:missing=true')).toEqual(['nobody'])
  expect(await found('Observation?subject:missing=false')).toEqual(['moved'])
  expect(await found('Observation?date:missing=true')).toEqual([])
  expect(await found('Patient?family=ofada')).toEqual(['ada'])
  expect(await found('Group?member=Patient/ada')).toEqual(['both'])
  expect(await found('Patient/$everything?_type=Group')).toEqual(['both'])
  expect((await call('GET', 'Observation/moved/_history')).body.entry).toHaveLength(2)
  expect((await call('GET', 'Observation/gone')).status).toBe(410)
  expect((await call('GET', 'Organization/closed/_history')).body.entry).toHaveLength(2)
  // What is stored from now on continues from there.
  const answers = [
    await call('PUT', 'Organization/closed', { body: { resourceType: 'Organization', id: 'closed', name: 'Open' } }),
    await call('PUT', 'Observation/gone', { body: observation('gone', 'bob', 3) }),
    await call('PUT', 'Observation/moved', { body: observation('moved', 'ada', 3) }),
    await call('POST', 'Patient', { body: { resourceType: 'Patient' } }),
  ]
  expect(answers.map(({ status, headers }) => [status, headers.get('etag')])).toEqual([
    ...[
      [201, 'W/"3"'],
      [201, 'W/"3"'],
      [200, 'W/"3"'],
      [201, 'W/"1"'],
    ],
  ])
  expect(await misplaced(beside)).toEqual([])
})
