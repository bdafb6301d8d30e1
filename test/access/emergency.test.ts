import { beforeAll, expect, test } from 'vitest'
import { consentOf } from '../support/consents.ts'
import { creatorBy, fhirCaller, issueOf, matchIds } from '../support/fhir.ts'
import { until } from '../support/process.ts'
import { type Service, startService } from '../support/service.ts'
import { databaseOf, pendingIn } from '../support/trail.ts'

let service: Service
const call = fhirCaller(() => service)
const store = creatorBy(call)

const reason = 'Unconscious after a road accident, allergies unknown'
const declared = { 'x-emergency-access': 'true', 'x-emergency-reason': reason, accept: 'application/json' }

let clients = 0
/** A client of its own, so that no window of another test is open to it. */
async function ambulance(...scopes: string[]) {
  const clientId = `ambulance-${++clients}`
  const token = await service.application.identity.tokens.mint(
    { clientId, organizationId: 'ambulance', consentExempt: false },
    scopes.length > 0 ? scopes : ['system/*.cruds', 'emergency:access'],
  )
  return (method: string, path: string, headers: Record<string, string> = declared, body?: unknown) =>
    call(method, path, { token, headers, body })
}

const reviews = async (patient: string): Promise<{ resource: Record<string, unknown> }[]> =>
  (await call('GET', `Task?patient=${patient}&code=emergency-access`)).body.entry ?? []

beforeAll(async () => {
  service = await startService()
  for (const id of ['ada', 'ben', 'cyd', 'dan', 'eve']) {
    await store(
      { resourceType: 'Patient', id, name: [{ family: id }] },
      {
        resourceType: 'Observation',
        id: `${id}-o`,
        status: 'final',
        code: { text: 'x' },
        subject: { reference: `Patient/${id}` },
      },
    )
  }
})

test('a declared emergency opens the record of one patient, and says on what basis', async () => {
  const ask = await ambulance()
  expect((await ask('GET', 'Observation/ada-o', {})).status).toBe(403)
  const { status, headers } = await ask('GET', 'Observation/ada-o')
  expect([status, headers.get('x-access-basis')]).toEqual([200, 'emergency'])
  expect(matchIds((await ask('GET', 'Observation?patient=ada')).body)).toEqual(['ada-o'])
  const { body } = await ask('GET', 'Patient/ada/$everything?_type=Patient,Observation,Task')
  expect(body.entry.map((each: { resource: { resourceType: string } }) => each.resource.resourceType)).toEqual([
    'Patient',
    'Observation',
  ])
  expect((await ask('GET', 'Observation/ada-o/_history')).body.entry).toHaveLength(1)
  expect((await ask('GET', 'Patient/ada/Observation')).body.entry).toHaveLength(1)
})

test('without the declaration the same client sees nothing, also while the window is open', async () => {
  const ask = await ambulance()
  expect((await ask('GET', 'Observation/ada-o')).status).toBe(200)
  expect((await ask('GET', 'Observation/ada-o', {})).status).toBe(403)
  expect(matchIds((await ask('GET', 'Observation?patient=ada', {})).body)).toEqual([])
})

test('it is reviewed: one task for an hour of one client and patient, however many requests come at once', async () => {
  const ask = await ambulance()
  const replies = await Promise.all(Array.from({ length: 10 }, () => ask('GET', 'Observation/ben-o')))
  expect(replies.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 200))
  const [task, ...more] = await reviews('ben')
  expect(more).toEqual([])
  expect(task!.resource).toMatchObject({
    status: 'requested',
    for: { reference: 'Patient/ben' },
    requester: { reference: 'Organization/ambulance' },
    reasonCode: { text: reason },
  })
  const database = await databaseOf(service)
  await database.query(`update emergency_access set ends_at = now() where patient_id = 'ben'`)
  expect((await ask('GET', 'Observation/ben-o')).status).toBe(200)
  expect(await reviews('ben')).toHaveLength(2)
  const formerly = await reviews('ada')
  expect((await ask('GET', 'Observation/ada-o')).status).toBe(200)
  expect(await reviews('ada')).toHaveLength(formerly.length + 1)
  const other = await ambulance()
  expect((await other('GET', 'Observation/ben-o')).status).toBe(200)
  expect(await reviews('ben')).toHaveLength(3)
})

interface Event {
  readonly type: { readonly code: string }
  readonly subtype: readonly { readonly code: string }[]
  readonly outcomeDesc?: string
  readonly purposeOfEvent: readonly { readonly coding: readonly { readonly code: string }[] }[]
}

test('the audit trail tells when it began and why, and every access of it as breaking the glass', async () => {
  const ask = await ambulance()
  await ask('GET', 'Observation/cyd-o')
  const { body } = await call('GET', `AuditEvent?patient=Patient/cyd&agent=ambulance-${clients}`)
  const events = (body.entry as { resource: Event }[]).map(each => each.resource)
  const codes = ({ purposeOfEvent }: Event) => purposeOfEvent.map(each => each.coding[0]!.code)
  expect(events).toHaveLength(2)
  const start = events.find(({ type }) => type.code === '110113')!
  expect(start.subtype[0]!.code).toBe('110127')
  expect(start.outcomeDesc).toBe(reason)
  for (const event of events) expect(codes(event)).toEqual(['BTG', 'ETREAT'])
})

test('that it began is told once, also if the trail could not be written when the record was opened', async () => {
  const database = await databaseOf(service)
  await call('PUT', 'Patient/eve', { body: { resourceType: 'Patient', id: 'eve' } })
  await database.query('alter table audit_row add constraint shut check (false) not valid')
  const ask = await ambulance()
  expect((await ask('GET', 'Patient/eve')).status).toBe(503)
  await database.query('alter table audit_row drop constraint shut')
  expect((await ask('GET', 'Patient/eve')).status).toBe(200)
  await until('it is told', async () => (await pendingIn(database)) === 0)
  const { rows } = await database.query(
    `select purpose, resource_id, query from audit_event where interaction = 'emergency' and patients = '{eve}'`,
  )
  expect(rows).toEqual([{ purpose: 'BTG', resource_id: 'eve', query: reason }])
})

test.each([
  ['GET', 'Observation?code=x', 400, 'MALFORMED_REQUEST'],
  ['GET', 'Observation?patient=ada,ben', 400, 'MALFORMED_REQUEST'],
  ['GET', 'Patient?name=ada', 400, 'MALFORMED_REQUEST'],
  ['GET', 'Patient/$everything', 400, 'MALFORMED_REQUEST'],
  ['DELETE', 'Observation/ada-o', 403, 'FORBIDDEN'],
  ['GET', 'Patient/nobody', 404, 'NOT_FOUND'],
])('%s %s in an emergency is refused', async (method, path, status, code) => {
  const reply = await (await ambulance())(method, path)
  expect([reply.status, reply.body.error_code]).toEqual([status, code])
})

test('a search for somebody who is not there opens nothing', async () => {
  expect((await (await ambulance())('GET', 'Observation?patient=nobody')).status).toBe(404)
  expect(await reviews('nobody')).toEqual([])
})

test('of somebody whose record was deleted nothing is opened, though a consent is left', async () => {
  await store({ resourceType: 'Patient', id: 'gone' }, consentOf('left-of-gone', 'gone', 'another'))
  expect((await call('DELETE', 'Patient/gone')).status).toBe(204)
  expect((await (await ambulance())('GET', 'Observation?patient=gone')).status).toBe(404)
  expect(await reviews('gone')).toEqual([])
})

test.each([
  [{ 'x-emergency-access': 'true' }, 403, 'EMERGENCY_REASON_REQUIRED'],
  [{ 'x-emergency-access': 'true', 'x-emergency-reason': 'urgent' }, 403, 'EMERGENCY_REASON_REQUIRED'],
  [{ 'x-emergency-access': 'perhaps', 'x-emergency-reason': reason }, 400, 'MALFORMED_REQUEST'],
  [{ 'x-emergency-reason': reason }, 403, 'CONSENT_REQUIRED'],
])('with %o it is no emergency', async (headers, status, code) => {
  const reply = await (await ambulance())('GET', 'Observation/ada-o', { accept: 'application/json', ...headers })
  expect([reply.status, reply.body.error_code]).toEqual([status, code])
})

test('a reason has 10 to 500 characters', async () => {
  const ask = await ambulance()
  const told = async (length: number) =>
    (await ask('GET', 'Observation/ada-o', { ...declared, 'x-emergency-reason': 'x'.repeat(length) })).status
  expect([await told(9), await told(10), await told(500), await told(501)]).toEqual([403, 200, 200, 403])
})

test.each([
  ['without a reason', { 'x-emergency-access': 'true' }],
  ['with a reason that is too short', { 'x-emergency-access': 'true', 'x-emergency-reason': 'urgent' }],
])('%s the refusal does not tell which ids exist', async (_name, headers) => {
  const ask = await ambulance()
  const told = async (path: string) => {
    const { status, body } = await ask('GET', path, { accept: 'application/json', ...headers })
    return [status, body.error_code, body.message]
  }
  const paths = [
    'Patient/ID',
    'Observation/ID',
    'Observation?patient=ID',
    'Patient/ID/$everything',
    'Patient/ID/_history',
  ]
  for (const path of paths)
    expect([path, ...(await told(path.replace('ID', 'ada')))]).toEqual([path, ...(await told(path.replace('ID', 'x')))])
})

test('the record-keeping system is not filtered, whatever it says that it asks for', async () => {
  const token = await service.application.identity.tokens.mint(
    { clientId: 'another-ehr', organizationId: 'ehr', consentExempt: true },
    ['system/*.rs', 'emergency:access'],
  )
  for (const headers of [{ 'x-purpose-of-use': 'research' }, declared]) {
    const { status, headers: told } = await call('GET', 'Observation/dan-o', { headers, token })
    expect([status, told.get('x-access-basis')]).toEqual([200, null])
  }
  expect(await reviews('dan')).toEqual([])
})

test('without the scope emergency:access nobody declares one', async () => {
  const reply = await (await ambulance('system/*.cruds'))('GET', 'Observation/ada-o')
  expect([reply.status, reply.body.error_code]).toEqual([403, 'INSUFFICIENT_SCOPE'])
  expect(issueOf(reply.body).diagnostics).toContain('emergency:access')
})

test('the scopes count as ever', async () => {
  const ask = await ambulance('system/Patient.rs', 'emergency:access')
  expect((await ask('GET', 'Patient/ada')).status).toBe(200)
  expect((await ask('GET', 'Observation/ada-o')).body.error_code).toBe('INSUFFICIENT_SCOPE')
})

test('a patient who refuses that, too, is not overridden', async () => {
  const refusal = consentOf('dan-refuses', 'dan', 'ambulance', { type: 'deny', actor: undefined })
  await store({ ...refusal, policy: [{ uri: 'https://profiles.ihe.net/ITI/PCF/Policy-deny' }] })
  const reply = await (await ambulance())('GET', 'Observation/dan-o')
  expect([reply.status, reply.body.error_code]).toEqual([403, 'CONSENT_REQUIRED'])
  expect(await reviews('dan')).toEqual([])
})

test('a consent for emergencies alone opens nothing else', async () => {
  const only = consentOf('eve-consents', 'eve', 'ambulance', {
    type: 'deny',
    provision: [
      { type: 'permit', purpose: [{ system: 'http://terminology.hl7.org/CodeSystem/v3-ActReason', code: 'BTG' }] },
    ],
  })
  await store({ ...only, policy: [{ uri: 'https://profiles.ihe.net/ITI/PCF/Policy-break-glass-only' }] })
  const ask = await ambulance()
  expect((await ask('GET', 'Observation/eve-o', {})).status).toBe(403)
  expect((await ask('GET', 'Observation/eve-o')).status).toBe(200)
})
