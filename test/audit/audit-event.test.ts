import { beforeAll, describe, expect, test } from 'vitest'
import { searchParams } from '../../src/definitions/r4.ts'
import { demoClient } from '../../src/identity/demo-accounts.ts'
import { fhirPathInvariants } from '../../src/store/validate/fhirpath-invariants.ts'
import { createValidator } from '../../src/store/validate.ts'
import { type Answer, creatorBy, fhirCaller, issueOf, linkOf, matchIds } from '../support/fhir.ts'
import { type Service, startService } from '../support/service.ts'

let service: Service
const call = fhirCaller(() => service)
const validate = createValidator({ invariants: fhirPathInvariants })
const profile = (name: string) => `https://profiles.ihe.net/ITI/BALP/StructureDefinition/IHE.BasicAudit.${name}`

/** The only AuditEvent that a search finds. */
async function only(query: string): Promise<Answer['body']> {
  const { body, text } = await call('GET', `AuditEvent?${query}`)
  expect(body.entry, text).toHaveLength(1)
  return body.entry[0].resource
}

const codes = (list: { type: { code?: string; coding?: { code: string }[] } }[]) =>
  list.map(({ type }) => type.code ?? type.coding![0]!.code)

beforeAll(async () => {
  service = await startService()
  const subject = { reference: 'Patient/amina' }
  await creatorBy(call)(
    { resourceType: 'Patient', id: 'amina' },
    { resourceType: 'Observation', id: 'pressure', status: 'final', code: { text: 'pressure' }, subject },
  )
})

test('a read is told in the shape of BALP, with client, server, token, request and patient', async () => {
  await call('GET', 'Observation/pressure', { headers: { 'x-request-id': 'the-request' } })
  const event = await only('action=R&entity=Observation/pressure')
  expect(validate(event, { type: 'AuditEvent' })).toEqual([])
  expect(event.meta.profile).toEqual([profile('PatientRead')])
  expect(event.id).toMatch(/^1-\d+$/)
  expect([event.action, event.outcome, event.subtype[0].code]).toEqual(['R', '0', 'read'])
  expect(codes(event.agent)).toEqual(['110152', '110153', 'PROV'])
  expect(event.agent[0].who.identifier.value).toBe(demoClient.id)
  expect(event.agent[0].policy[0]).toMatch(/^urn:ietf:params:oauth:jti:[A-Za-z0-9]{22}$/)
  expect(codes(event.entity)).toEqual(['XrequestId', '2', '1'])
  expect(event.entity[0].what.identifier.value).toBe('the-request')
  expect(event.entity[1].what.reference).toBe('Observation/pressure/_history/1')
  expect(event.entity[2].what.reference).toBe('Patient/amina')
  expect((await call('GET', `AuditEvent/${event.id}`)).body).toEqual(event)
})

test('a search is told with its query in base64; a deletion and a refusal in their own ways', async () => {
  await call('GET', 'Observation?patient=amina&code=zebra')
  const search = await only('action=E&patient=Patient/amina')
  expect(validate(search, { type: 'AuditEvent' })).toEqual([])
  expect(search.meta.profile).toEqual([profile('PatientQuery')])
  expect(Buffer.from(search.entity[1].query, 'base64').toString()).toBe('Observation?patient=amina&code=zebra')
  await call('DELETE', 'Observation/never')
  const deletion = await only('action=D')
  expect([deletion.meta.profile, codes(deletion.agent)]).toEqual([[profile('Delete')], ['110150', 'custodian', 'PROV']])
  await call('GET', 'Patient/amina', { token: 'nonsense' })
  const refusal = await only('outcome=4&patient=amina')
  expect(validate(refusal, { type: 'AuditEvent' })).toEqual([])
  expect([refusal.meta.profile, refusal.outcomeDesc, refusal.agent[0].who]).toEqual([
    undefined,
    'TOKEN_INVALID',
    { display: 'unknown' },
  ])
})

test('the trail is searched by date, agent, action, outcome and patient, newest first, page by page', async () => {
  const ids = async (query: string) => matchIds((await call('GET', `AuditEvent?${query}`)).body)
  for (let each = 0; each < 5; each++) await call('GET', 'Patient/amina')
  const all = await ids(`agent=${demoClient.id}&patient=amina&_count=100`)
  const sequence = (id: string) => Number(id.split('-')[1])
  expect(all.map(sequence)).toEqual(all.map(sequence).sort((a, b) => b - a))
  const pages: string[] = []
  let next: string | undefined = `AuditEvent?agent:identifier=${demoClient.id}&patient=amina&_count=3`
  for (; next; ) {
    const page: Answer = await call('GET', next)
    pages.push(...matchIds(page.body))
    next = linkOf(page.body, 'next')
  }
  expect(pages).toEqual(all)
  const now = new Date()
  expect(await ids(`patient=amina&date=lt${new Date(now.getTime() - 3_600_000).toISOString()}`)).toEqual([])
  expect(await ids(`patient=amina&date=ge${now.toISOString().slice(0, 10)}&agent=${demoClient.id}&_count=100`)).toEqual(
    all,
  )
  expect(await ids(`patient=amina&agent=somebody`)).toEqual([])
  expect(await ids('patient=amina&action=C,U&outcome=0')).toHaveLength(2)
  expect(await ids(`_id=${all[0]},${all[1]}`)).toEqual(all.slice(0, 2))
})

test('reading the trail is on record too', async () => {
  await call('GET', 'AuditEvent/1-1', { headers: { 'x-request-id': 'who-watches' } })
  const { body } = await call('GET', 'AuditEvent?entity=AuditEvent/1-1')
  expect(body.entry[0].resource.entity[0].what.identifier.value).toBe('who-watches')
})

test('nobody writes the trail, alone or in a bundle', async () => {
  const body = { resourceType: 'AuditEvent', id: '1-1' }
  for (const [method, path] of [
    ['POST', 'AuditEvent'],
    ['PUT', 'AuditEvent/1-1'],
    ['DELETE', 'AuditEvent/1-1'],
    ['DELETE', 'AuditEvent?_id=1-1'],
  ] as const) {
    const answer = await call(method, path, method === 'DELETE' ? {} : { body })
    expect([method, answer.status, answer.headers.get('allow')]).toEqual([method, 405, 'GET'])
  }
  const entry = [{ request: { method: 'DELETE', url: 'AuditEvent/1-1' } }]
  const bundle = { resourceType: 'Bundle', type: 'transaction', entry }
  expect((await call('POST', '', { body: bundle })).status).toBe(405)
  expect((await call('GET', 'AuditEvent/1-1')).status).toBe(200)
})

test('the trail is shown only to those whose scopes open it, and wrong questions are named', async () => {
  const { id: clientId, organizationId } = demoClient
  const token = await service.application.identity.tokens.mint({ clientId, organizationId, consentExempt: true }, [
    'patients:read',
  ])
  for (const path of ['AuditEvent', 'AuditEvent/1-1']) expect((await call('GET', path, { token })).status).toBe(403)
  expect((await call('GET', 'AuditEvent/absent')).status).toBe(404)
  for (const query of ['date=yesterday', '_sort=action', '_count=none', '_cursor=x', '_total=accurate', '_summary=x'])
    expect([query, (await call('GET', `AuditEvent?${query}`)).status]).toEqual([query, 400])
})

const handlings: Record<string, string>[] = [{}, { prefer: 'handling=lenient' }, { prefer: 'handling=strict' }]

test.each([
  'shoe=x',
  'patient.name=x',
  '_content=x',
  '_filter=action eq R',
  'constructor=x',
  'action:text=x',
  'date:not=2026',
])('the trail is never told unfiltered: %s is refused, whatever handling is preferred', async query => {
  for (const headers of handlings) {
    const { status, body } = await call('GET', `AuditEvent?${query}&_count=1`, { headers })
    expect([status, body.entry]).toEqual([400, undefined])
    expect(issueOf(body).diagnostics).toMatch(/cannot be searched by|is not supported on/)
  }
})

describe('every parameter of R4 finds what the trail is told as', () => {
  const seen = { 'x-request-id': 'find-me-again' }
  const told = (query: string) => ids(`${query}&entity:identifier=find-me-again&_count=100`)
  const ids = async (query: string) => matchIds((await call('GET', `AuditEvent?${query}`)).body)
  let all: string[]
  let event: { id: string; recorded: string; agent: { policy?: string[] }[] }

  beforeAll(async () => {
    await call('PUT', 'Patient/found', { body: { resourceType: 'Patient', id: 'found' } })
    for (const path of ['Patient/found', 'Observation?patient=found', 'Patient/nobody', 'Patient/found/_history'])
      await call('GET', path, { headers: seen })
    all = await ids('entity:identifier=find-me-again&_count=100')
    event = (await call('GET', `AuditEvent/${all.at(-1)}`)).body
  })

  const base = () => `${service.url}/api/fhir/R4`
  // How many of the four rows (a read, a search, a refusal and a history) each finds.
  test.each<[query: string | (() => string), count: number]>([
    ['entity=found', 3],
    ['entity=Patient/found', 3],
    [() => `entity=${base()}/Patient/found`, 3],
    ['entity:Patient=found', 3],
    ['entity=Observation/found', 0],
    ['entity=nobody', 1],
    ['entity:missing=true', 0],
    ['patient=found', 3],
    ['patient:missing=true', 0],
    ['type=rest', 4],
    ['type=http://terminology.hl7.org/CodeSystem/audit-event-type|rest', 4],
    ['type=http://other|rest', 0],
    ['type=110113', 0],
    ['subtype=read', 2],
    ['subtype=read,search-type', 3],
    ['subtype:not=read', 2],
    ['subtype=http://hl7.org/fhir/restful-interaction|history-instance', 1],
    ['action=E', 1],
    ['action:not=E', 3],
    ['outcome=4', 1],
    ['outcome=http://hl7.org/fhir/audit-event-outcome|0', 3],
    ['address=127.0', 4],
    ['address:exact=127.0', 0],
    ['address:contains=.0.0.1', 4],
    ['address=10.', 0],
    [() => `address=${base()}`, 4],
    [() => `agent=${demoClient.id}`, 4],
    [() => `agent:identifier=${demoClient.organizationId}`, 4],
    [() => `agent:identifier=${base()}`, 4],
    ['agent=Patient/found', 0],
    ['agent-name=x', 0],
    ['agent-name:missing=true', 4],
    ['agent-role=x', 0],
    ['altid=x', 0],
    ['site=x', 0],
    ['site:missing=false', 0],
    ['entity-name=x', 0],
    ['entity-role=24', 1],
    ['entity-role=http://terminology.hl7.org/CodeSystem/object-role|4', 3],
    ['entity-type=XrequestId', 4],
    ['entity-type=1', 4],
    ['policy=urn:ietf:params:oauth:jti:none', 0],
    [() => `policy=${event.agent[0]!.policy![0]}`, 4],
    ['source=Device/x', 0],
    [() => `source:identifier=${base()}`, 4],
    ['_tag=x', 0],
    ['_security=x', 0],
    ['_source=x', 0],
    [() => `_profile=${profile('PatientRead')}`, 1],
    [() => `_profile=${profile('PatientQuery')}`, 1],
    [() => `_id=${event.id}`, 1],
    [() => `date=${event.recorded}`, 1],
    ['date=lt2020', 0],
    ['date=ne2020', 4],
    ['date=ge2020&date=lt2021', 0],
    [() => `_lastUpdated=ge${event.recorded}`, 4],
  ])('%s', async (query, count) => {
    const asked = typeof query === 'string' ? query : query()
    expect((await told(asked)).length, asked).toBe(count)
  })

  test('and tells how many there are, where one page holds them', async () => {
    expect((await call('GET', 'AuditEvent?entity:identifier=find-me-again')).body.total).toBe(4)
    expect((await call('GET', 'AuditEvent?entity:identifier=find-me-again&_count=3')).body.total).toBeUndefined()
    expect((await call('GET', 'AuditEvent?entity:identifier=find-me-again&_total=none')).body.total).toBeUndefined()
  })

  test('none of R4 is missing, but for words', async () => {
    const { body } = await call('GET', 'metadata')
    const trail = body.rest[0].resource.find((each: { type: string }) => each.type === 'AuditEvent')
    const named = trail.searchParam.map((each: { name: string }) => each.name)
    expect([...searchParams('AuditEvent').keys()].filter(code => !named.includes(code)).sort()).toEqual([
      '_content',
      '_query',
      '_text',
    ])
  })
})

test('the CapabilityStatement says what the trail answers, and promises nothing more', async () => {
  const { body } = await call('GET', 'metadata')
  const trail = body.rest[0].resource.find((each: { type: string }) => each.type === 'AuditEvent')
  expect(trail.interaction).toEqual([{ code: 'read' }, { code: 'search-type' }])
  for (const { name } of trail.searchParam as { name: string }[]) {
    const value = { date: '2026', _lastUpdated: '2026', entity: 'Patient/1' }[name] ?? 'x'
    const answer = await call('GET', `AuditEvent?${name}=${value}`, { headers: { prefer: 'handling=strict' } })
    expect([name, answer.status]).toEqual([name, 200])
  }
  const promises = body.rest[0].resource.flatMap((each: { searchRevInclude?: string[] }) => each.searchRevInclude ?? [])
  expect(promises.filter((each: string) => each.startsWith('AuditEvent'))).toEqual([])
})
