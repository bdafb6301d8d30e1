// What an organisation owns is changed by its clients and by exempt clients; others are refused, by whichever door they come.
import { beforeAll, describe, expect, test } from 'vitest'
import { linesOf, manifestOf } from '../support/bulk.ts'
import { type Answer, fhirCaller } from '../support/fhir.ts'
import { bundleOf, entryOf, type Party, partyOf, patchHeaders } from '../support/parties.ts'
import { type Service, startService } from '../support/service.ts'
import { databaseOf, rowsOf } from '../support/trail.ts'

let service: Service
let clinic: Party
let colleague: Party
let rival: Party
const call = fhirCaller(() => service)

const owned: readonly { readonly resourceType: string; readonly id: string; readonly [more: string]: unknown }[] = [
  { resourceType: 'Location', id: 'room', status: 'active', name: 'Room' },
  { resourceType: 'Organization', id: 'supplier', active: true, name: 'Supplier' },
  { resourceType: 'Practitioner', id: 'nurse', active: true },
  { resourceType: 'Questionnaire', id: 'form', status: 'active', url: 'http://clinic.example/form' },
  {
    resourceType: 'SearchParameter',
    id: 'floor',
    url: 'http://clinic.example/floor',
    name: 'Floor',
    status: 'active',
    description: 'x',
    code: 'floor',
    base: ['Location'],
    type: 'string',
    expression: 'Location.description',
  },
]
/** What takes each of them out of use. */
const off: Readonly<Record<string, object>> = {
  Location: { status: 'inactive' },
  Organization: { active: false },
  Practitioner: { active: false },
  Questionnaire: { status: 'retired' },
  SearchParameter: { status: 'retired' },
}
const refusedFor = (answer: Answer, owner: string) => {
  expect(answer.status, answer.text).toBe(403)
  expect(answer.text).toContain('"code":"forbidden"')
  expect(answer.text).toContain(`Organization/${owner}`)
}
const versionOf = async (path: string): Promise<string> => (await call('GET', path)).body.meta.versionId

beforeAll(async () => {
  service = await startService()
  clinic = await partyOf(service, 'clinic')
  colleague = await partyOf(service, 'clinic')
  rival = await partyOf(service, 'rival')
  for (const each of owned)
    expect((await clinic.call('PUT', `${each.resourceType}/${each.id}`, { body: each })).status).toBe(201)
  const kept = { resourceType: 'Location', id: 'kept', name: 'Kept by the exempt client' }
  expect((await call('PUT', 'Location/kept', { body: kept })).status).toBe(201)
})

describe.each(owned)('a $resourceType of another organisation', resource => {
  const path = `${resource.resourceType}/${resource.id}`
  const query = `${resource.resourceType}?_id=${resource.id}`
  const replaced = { ...resource, ...off[resource.resourceType] }
  const patch = [{ op: 'add', path: '/language', value: 'fr' }]
  const fhirPatch = {
    resourceType: 'Parameters',
    parameter: [
      {
        name: 'operation',
        part: [
          { name: 'type', valueCode: 'add' },
          { name: 'path', valueString: resource.resourceType },
          { name: 'name', valueString: 'language' },
          { name: 'value', valueCode: 'fr' },
        ],
      },
    ],
  }
  const doors: [string, () => Promise<Answer>][] = [
    ['PUT', () => rival.call('PUT', path, { body: replaced })],
    ['PUT of what is stored already', () => rival.call('PUT', path, { body: resource })],
    ['PUT with If-Match', () => rival.call('PUT', path, { body: replaced, headers: { 'if-match': 'W/"1"' } })],
    ['conditional PUT', () => rival.call('PUT', query, { body: replaced })],
    ['JSON Patch', () => rival.call('PATCH', path, { body: JSON.stringify(patch), headers: patchHeaders })],
    [
      'conditional JSON Patch',
      () => rival.call('PATCH', query, { body: JSON.stringify(patch), headers: patchHeaders }),
    ],
    ['FHIRPath Patch', () => rival.call('PATCH', path, { body: fhirPatch })],
    ['DELETE', () => rival.call('DELETE', path)],
    ['conditional DELETE', () => rival.call('DELETE', query)],
    [
      'PUT in a transaction',
      () => rival.call('POST', '', { body: bundleOf('transaction', entryOf('PUT', path, replaced)) }),
    ],
    [
      'conditional PUT in a transaction',
      () => rival.call('POST', '', { body: bundleOf('transaction', entryOf('PUT', query, replaced)) }),
    ],
    [
      'PATCH in a transaction',
      () => rival.call('POST', '', { body: bundleOf('transaction', entryOf('PATCH', path, fhirPatch)) }),
    ],
    [
      'DELETE in a transaction',
      () => rival.call('POST', '', { body: bundleOf('transaction', entryOf('DELETE', path)) }),
    ],
    [
      'conditional DELETE in a transaction',
      () => rival.call('POST', '', { body: bundleOf('transaction', entryOf('DELETE', query)) }),
    ],
  ]

  test.each(doors)('is not changed by %s', async (_, door) => {
    refusedFor(await door(), 'clinic')
    expect(await versionOf(path)).toBe('1')
  })

  test.each([
    ['PUT', entryOf('PUT', path, replaced)],
    ['PATCH', entryOf('PATCH', path, fhirPatch)],
    ['DELETE', entryOf('DELETE', path)],
  ])('is not changed by %s in a batch', async (_, entry) => {
    const { status, body } = await rival.call('POST', '', { body: bundleOf('batch', entry) })
    expect([status, body.entry[0].response.status.slice(0, 3)]).toEqual([200, '403'])
    expect(await versionOf(path)).toBe('1')
  })

  test('is not changed by an import', async () => {
    const body = JSON.stringify(replaced)
    const headers = { 'content-type': 'application/fhir+ndjson' }
    const manifest = await manifestOf(call, '$import', { body, headers, token: rival.token })
    const [outcome] = await linesOf(manifest.error, rival.token)
    expect(outcome.issue[0].diagnostics).toContain('Organization/clinic')
    expect(await versionOf(path)).toBe('1')
  })

  test('is read and found by everybody', async () => {
    expect((await rival.call('GET', path)).status).toBe(200)
    expect((await rival.call('GET', query)).body.total ?? 1).toBe(1)
  })
})

test('a refusal is on record, and no event tells of it', async () => {
  const database = await databaseOf(service)
  const events = async () => (await database.query('select count(*)::int as count from event_outbox')).rows[0].count
  const before = await events()
  const { headers } = await rival.call('DELETE', 'Location/room')
  const rows = await rowsOf(database, headers.get('x-request-id')!)
  expect(rows.map(row => [row.interaction, row.resource_type, row.resource_id, row.outcome, row.resources])).toEqual([
    ['delete', 'Location', 'room', 4, 0],
  ])
  expect(await events()).toBe(before)
})

describe('the owner', () => {
  const path = 'Location/ward'
  const ward = { resourceType: 'Location', id: 'ward', name: 'Ward' }

  test('is the organisation: another client of it changes and deletes what a colleague wrote', async () => {
    expect((await clinic.call('PUT', path, { body: ward })).status).toBe(201)
    expect((await colleague.call('PUT', path, { body: { ...ward, name: 'West ward' } })).status).toBe(200)
    const patch = [{ op: 'replace', path: '/name', value: 'East ward' }]
    const patched = await colleague.call('PATCH', path, { body: JSON.stringify(patch), headers: patchHeaders })
    expect(patched.status).toBe(200)
    expect((await colleague.call('DELETE', path)).status).toBe(204)
  })

  test('alone creates again what was deleted under its id', async () => {
    refusedFor(await rival.call('PUT', path, { body: ward }), 'clinic')
    refusedFor(await rival.call('POST', '', { body: bundleOf('transaction', entryOf('PUT', path, ward)) }), 'clinic')
    expect((await clinic.call('PUT', path, { body: ward })).status).toBe(201)
  })

  test('stays, whoever changes the resource: after an exempt client it is still the owner', async () => {
    expect((await call('PUT', path, { body: { ...ward, name: 'Corrected' } })).status).toBe(200)
    refusedFor(await rival.call('PUT', path, { body: ward }), 'clinic')
    expect((await clinic.call('PUT', path, { body: ward })).status).toBe(200)
  })

  test('of what an exempt client wrote is no client: only exempt clients change it', async () => {
    const kept = { resourceType: 'Location', id: 'kept', name: 'Renamed' }
    for (const each of [clinic, rival]) {
      const answer = await each.call('PUT', 'Location/kept', { body: kept })
      expect([answer.status, answer.text.includes('exempt')]).toEqual([403, true])
    }
    expect((await call('PUT', 'Location/kept', { body: kept })).status).toBe(200)
  })

  test('is named in place of the author by an element', async () => {
    const named = {
      resourceType: 'Location',
      id: 'given',
      managingOrganization: { reference: `${service.url}/api/fhir/R4/Organization/clinic` },
    }
    expect((await call('PUT', 'Location/given', { body: named })).status).toBe(201)
    refusedFor(await rival.call('DELETE', 'Location/given'), 'clinic')
    expect((await clinic.call('PUT', 'Location/given', { body: { ...named, name: 'Given' } })).status).toBe(200)
  })

  test('of an entry for a registered organisation is that organisation, whoever recorded it', async () => {
    const entry = { resourceType: 'Organization', id: 'clinic', name: 'Clinic' }
    expect((await call('PUT', 'Organization/clinic', { body: entry })).status).toBe(201)
    refusedFor(await rival.call('PUT', 'Organization/clinic', { body: entry }), 'clinic')
    expect((await clinic.call('PUT', 'Organization/clinic', { body: { ...entry, alias: ['C'] } })).status).toBe(200)
  })

  test('does not change hands in part of a transaction: nothing of it is stored', async () => {
    const own = { resourceType: 'Location', id: 'rivals-own', name: 'Own' }
    const entries = [entryOf('PUT', 'Location/rivals-own', own), entryOf('DELETE', 'Practitioner/nurse')]
    refusedFor(await rival.call('POST', '', { body: bundleOf('transaction', ...entries) }), 'clinic')
    expect((await call('GET', 'Location/rivals-own')).status).toBe(404)
  })
})

test('a refused request leaves its Idempotency-Key free, and the same key refuses again', async () => {
  const body = bundleOf('transaction', entryOf('DELETE', 'Location/room'))
  const headers = { 'idempotency-key': 'delete-of-another' }
  refusedFor(await rival.call('POST', '', { body, headers }), 'clinic')
  refusedFor(await rival.call('POST', '', { body, headers }), 'clinic')
  expect((await clinic.call('GET', 'Location/room')).status).toBe(200)
})
