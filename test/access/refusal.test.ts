// A refusal stands until its author, the patient or an exempt client ends it, whichever door somebody else tries.
import { beforeAll, describe, expect, test } from 'vitest'
import { demoClient } from '../../src/identity/demo-accounts.ts'
import { issueCode } from '../../src/identity/enrolment.ts'
import { mint as mintHealthId } from '../../src/lib/health-id.ts'
import { healthIdSystem } from '../api/connect/support.ts'
import { ended, ordered } from '../support/bulk.ts'
import { consentOf, ofType } from '../support/consents.ts'
import { type Answer, creatorBy, fhirCaller } from '../support/fhir.ts'
import { type Service, startService } from '../support/service.ts'
import { databaseOf, rowsOf } from '../support/trail.ts'

let service: Service
const tokens: Record<string, string> = {}
const call = fhirCaller(() => service)
const store = creatorBy(call)
const json = { accept: 'application/json', 'content-type': 'application/json' }
const scopes = ['system/*.cruds', 'consents:read', 'consents:write', 'patient:diagnostics:read']

const hiv = '75622-1'
const coded = (code: string) => [{ coding: [{ system: 'http://loinc.org', code }] }]
const actor = (...ids: string[]) => ids.flatMap(id => consentOf('', '', id).provision.actor)

beforeAll(async () => {
  service = await startService()
  const mint = (clientId: string, organizationId: string) =>
    service.application.identity.tokens.mint({ clientId, organizationId, consentExempt: false }, scopes)
  tokens['a'] = await mint('clinic-a-app', 'clinic-a')
  tokens['a2'] = await mint('clinic-a-lab', 'clinic-a')
  tokens['b'] = await mint('clinic-b-app', 'clinic-b')
})

interface Person {
  readonly id: string
  readonly healthId: string
  /** Sends a Connect operation as a client: `at('a', 'revoke')`. */
  readonly at: (client: string, operation: string, body?: object, headers?: object) => Promise<Answer>
  /** What a client sees of: the HIV result, another result, the condition. */
  readonly seen: (client: string) => Promise<boolean[]>
}

let people = 0
async function person(): Promise<Person> {
  const id = `person-${++people}`
  const healthId = mintHealthId('CM')
  const subject = { reference: `Patient/${id}` }
  const observation = (name: string, code: string) => ({
    ...{ resourceType: 'Observation', id: `${id}-${name}`, status: 'final', subject },
    code: coded(code)[0],
  })
  const identifier = [{ use: 'official', system: healthIdSystem(service), value: healthId }]
  await store(
    { resourceType: 'Patient', id, active: true, identifier },
    observation('hiv', hiv),
    observation('hb', '718-7'),
    { resourceType: 'Condition', id: `${id}-condition`, subject, code: { text: 'x' } },
  )
  const paths = [`Observation/${id}-hiv`, `Observation/${id}-hb`, `Condition/${id}-condition`]
  return {
    id,
    healthId,
    at: (client, operation, body = {}, headers = {}) =>
      call(operation === 'status' ? 'GET' : 'POST', `/api/v1/connect/patient/${healthId}/consent/${operation}`, {
        token: tokens[client],
        headers: { ...json, ...headers },
        ...(operation === 'status' ? {} : { body: JSON.stringify(body) }),
      }),
    seen: client =>
      Promise.all(paths.map(async path => (await call('GET', path, { token: tokens[client] })).status === 200)),
  }
}

/** Permitted except for one code; refused except for one type; as the record-keeping system writes them. */
const butHiv = (of: Person, ...organizations: string[]) =>
  consentOf(`${of.id}-but`, of.id, organizations[0]!, {
    actor: actor(...organizations),
    provision: [{ type: 'deny', code: coded(hiv) }],
  })
const onlyConditions = (of: Person, organization: string) =>
  consentOf(`${of.id}-only`, of.id, 'x', {
    type: 'deny',
    actor: undefined,
    provision: [{ type: 'permit', actor: actor(organization), ...ofType('Condition') }],
  })

const full = { consent_type: 'full_record' }
const refusedBy = ({ status, body }: Answer) => [status, body.error_code]
const version = async (path: string) => (await call('GET', path)).body.meta.versionId

describe('a Consent that holds a refusal of another author', () => {
  test('is not ended by the clinic that it permits: the HIV result stays closed', async () => {
    const ada = await person()
    await store(butHiv(ada, 'clinic-a'))
    expect(await ada.seen('a')).toEqual([false, true, true])
    const reply = await ada.at('a', 'revoke', {}, { 'x-request-id': `revoke-${ada.id}` })
    expect(refusedBy(reply)).toEqual([409, 'CONFLICT'])
    for (const who of ['The patient', 'organisation that recorded', 'consent-exempt'])
      expect(reply.body.message).toContain(who)
    expect(reply.body.details[0].field).toBe(`Consent/${ada.id}-but`)
    expect(await version(`Consent/${ada.id}-but`)).toBe('1')
    const rows = await rowsOf(await databaseOf(service), `revoke-${ada.id}`)
    expect(rows.map(row => [row.interaction, row.outcome])).toEqual([['operation', 4]])
    expect((await ada.at('a', 'grant', full)).status).toBe(201)
    expect(await ada.seen('a')).toEqual([false, true, true])
  })

  test('is not ended by it either when it was deleted and recorded once more', async () => {
    const ada = await person()
    const path = `Consent/${ada.id}-but`
    await store(butHiv(ada, 'clinic-a'))
    expect((await call('DELETE', path)).status).toBe(204)
    expect((await call('PUT', path, { body: butHiv(ada, 'clinic-a') })).status).toBe(201)
    expect(refusedBy(await ada.at('a', 'revoke'))).toEqual([409, 'CONFLICT'])
    expect(await ada.seen('a')).toEqual([false, true, true])
  })

  test('is the own one of a clinic that records the same once more after it was deleted', async () => {
    const ada = await person()
    const body = butHiv(ada, 'clinic-a')
    await store(body)
    expect((await call('DELETE', `Consent/${body.id}`)).status).toBe(204)
    expect((await call('PUT', `Consent/${body.id}`, { token: tokens['a'], body })).status).toBe(201)
    expect(await ada.seen('a')).toEqual([false, true, true])
    expect((await ada.at('a2', 'revoke')).status).toBe(200)
  })

  test('that has run out is ended by it, since it refuses nothing any more', async () => {
    const ada = await person()
    const over = { type: 'deny', code: coded(hiv), period: { end: '2020-01-01' } }
    await store(consentOf(`${ada.id}-over`, ada.id, 'clinic-a', { provision: [over] }))
    expect(await ada.seen('a')).toEqual([true, true, true])
    expect((await ada.at('a', 'revoke')).body.status).toBe('revoked')
    expect(await ada.seen('a')).toEqual([false, false, false])
  })

  test('that refuses everybody else is not ended by whom it permits, so that nobody can grant the rest', async () => {
    const ben = await person()
    await store(onlyConditions(ben, 'clinic-a'))
    expect(await ben.seen('a')).toEqual([false, false, true])
    expect(refusedBy(await ben.at('a', 'revoke'))).toEqual([409, 'CONFLICT'])
    expect((await ben.at('a', 'grant', full)).status).toBe(201)
    expect(refusedBy(await ben.at('b', 'grant', full))).toEqual([409, 'CONFLICT'])
    expect([await ben.seen('a'), await ben.seen('b')]).toEqual([
      [false, false, true],
      [false, false, false],
    ])
  })

  test('keeps a revocation from ending the rest: either all permissions end, or none', async () => {
    const cleo = await person()
    await store(butHiv(cleo, 'clinic-a'))
    const { body } = await cleo.at('a', 'grant', { consent_type: 'diagnoses' })
    expect(refusedBy(await cleo.at('a', 'revoke'))).toEqual([409, 'CONFLICT'])
    expect((await call('GET', `Consent/${body.consent_id}`)).body.status).toBe('active')
  })

  test('ends by an exempt client, and by the patient', async () => {
    const dan = await person()
    await store(butHiv(dan, 'clinic-a'))
    const { code } = await issueCode(service.application.database, dan.id, Date.now())
    const enrolled = await call('POST', '/api/v1/mobile/enrol', {
      headers: json,
      body: JSON.stringify({ health_id: dan.healthId, code }),
    })
    const { token } = enrolled.body
    const path = `/api/v1/mobile/consents/${dan.id}-but/revoke`
    expect((await call('POST', path, { token, headers: json })).status).toBe(200)
    expect(await dan.seen('a')).toEqual([false, false, false])
    const eve = await person()
    await store(butHiv(eve, 'clinic-a'))
    expect((await call('DELETE', `Consent/${eve.id}-but`)).status).toBe(204)
    expect((await eve.at('a', 'grant', full)).status).toBe(201)
    expect(await eve.seen('a')).toEqual([true, true, true])
  })

  test('is not ended by way of a merge', async () => {
    const [one, other] = [await person(), await person()]
    await store(butHiv(one, 'clinic-a'))
    const parameter = [
      { name: 'source-patient', valueReference: { reference: `Patient/${one.id}` } },
      { name: 'target-patient', valueReference: { reference: `Patient/${other.id}` } },
    ]
    const merged = await call('POST', 'Patient/$merge', { body: { resourceType: 'Parameters', parameter } })
    expect(merged.status).toBe(200)
    for (const each of [one, other]) {
      expect(refusedBy(await each.at('a', 'revoke'))).toEqual([409, 'CONFLICT'])
      expect((await each.at('a', 'grant', full)).status).toBe(201)
      expect((await each.seen('a'))[0]).toBe(false)
    }
  })

  test('is neither renewed nor replaced by a grant of the same type', async () => {
    const flo = await person()
    const typed = (type: string) => ({
      extension: [{ url: 'https://health-interop.org/fhir/StructureDefinition/consent-type', valueCode: type }],
    })
    const own = { ...butHiv(flo, 'clinic-a'), ...typed('full_record') }
    await store(own)
    const { status, body } = await flo.at('a', 'grant', full)
    expect([status, body.consent_id === own.id]).toEqual([201, false])
    expect(await version(`Consent/${own.id}`)).toBe('1')
    expect(await flo.seen('a')).toEqual([false, true, true])
    const gus = await person()
    await store({ ...consentOf(`${gus.id}-btg`, gus.id, 'clinic-a', { type: 'deny' }), ...typed('emergency_only') })
    expect(refusedBy(await gus.at('a', 'grant', full))).toEqual([409, 'CONFLICT'])
    expect(await gus.seen('a')).toEqual([false, false, false])
  })
})

describe('a refusal that another party puts into the Consent of a client', () => {
  const patch = JSON.stringify([{ op: 'replace', path: '/status', value: 'inactive' }])
  const patched = { accept: 'application/json', 'content-type': 'application/json-patch+json' }
  const bundle = (request: object, resource?: object) => ({
    body: { resourceType: 'Bundle', type: 'transaction', entry: [{ request, ...(resource && { resource }) }] },
    headers: { accept: 'application/json' },
  })

  /** Created by the clinic, changed by the record-keeping system. */
  async function narrowed(): Promise<{ who: Person; url: string; wider: object }> {
    const who = await person()
    const own = consentOf(`${who.id}-own`, who.id, 'clinic-a')
    const url = `Consent/${own.id}`
    expect((await call('PUT', url, { token: tokens['a'], body: own })).status).toBe(201)
    const body = { ...butHiv(who, 'clinic-a'), id: own.id }
    expect((await call('PUT', url, { body })).status).toBe(200)
    expect(await who.seen('a')).toEqual([false, true, true])
    return { who, url, wider: own }
  }

  test.each<[string, (url: string, wider: object) => Parameters<typeof call>]>([
    ['PUT', (url, wider) => ['PUT', url, { body: wider, headers: { accept: 'application/json' } }]],
    [
      'PUT with If-Match',
      (url, body) => ['PUT', url, { body, headers: { 'if-match': 'W/"2"', accept: 'application/json' } }],
    ],
    [
      'a conditional PUT',
      (url, wider) => ['PUT', url.replace('/', '?_id='), { body: wider, headers: { accept: 'application/json' } }],
    ],
    ['PATCH', url => ['PATCH', url, { body: patch, headers: patched }]],
    ['a conditional PATCH', url => ['PATCH', url.replace('/', '?_id='), { body: patch, headers: patched }]],
    ['DELETE', url => ['DELETE', url, { headers: { accept: 'application/json' } }]],
    ['a conditional DELETE', url => ['DELETE', url.replace('/', '?_id='), { headers: { accept: 'application/json' } }]],
    ['a transaction that changes it', (url, wider) => ['POST', '', bundle({ method: 'PUT', url }, wider)]],
    ['a transaction that deletes it', url => ['POST', '', bundle({ method: 'DELETE', url })]],
  ])('is not ended by the client that created the Consent, by %s', async (_name, request) => {
    const { who, url, wider } = await narrowed()
    const [method, path, options] = request(url, wider)
    const reply = await call(method, path, { token: tokens['a'], ...options })
    expect(refusedBy(reply)).toEqual([409, 'CONFLICT'])
    expect(await who.seen('a')).toEqual([false, true, true])
  })

  test('is not ended by $import, and not moved to another patient', async () => {
    const { who, url, wider } = await narrowed()
    const headers = { 'content-type': 'application/fhir+ndjson' }
    const address = await ordered(call, '$import', { token: tokens['a'], body: JSON.stringify(wider), headers })
    expect((await ended(call, address, { token: tokens['a'] })).body.output[0]).toMatchObject({ count: 0 })
    const moved = {
      ...butHiv(who, 'clinic-a'),
      id: url.slice(8),
      patient: { reference: `Patient/${(await person()).id}` },
    }
    expect(
      refusedBy(await call('PUT', url, { token: tokens['a'], body: moved, headers: { accept: 'application/json' } })),
    ).toEqual([409, 'CONFLICT'])
    expect(await who.seen('a')).toEqual([false, true, true])
  })

  test('so is that the record stays closed in emergencies, which a client does not take back with its own permission', async () => {
    const ida = await person()
    const uri = 'https://profiles.ihe.net/ITI/PCF/Policy-deny'
    const closed = consentOf(`${ida.id}-closed`, ida.id, 'clinic-a', {}, { policy: [{ uri }] })
    const open = { ...closed, policy: [{ uri: 'https://profiles.ihe.net/ITI/PCF/Policy-basic-normal' }] }
    const put = (accept: string) =>
      call('PUT', `Consent/${closed.id}`, { token: tokens['a'], body: open, headers: { accept } })
    expect((await put('application/json')).status).toBe(201)
    expect((await call('PUT', `Consent/${closed.id}`, { body: closed })).status).toBe(200)
    const { status, body } = await put('application/json')
    const message = expect.stringMatching(/contains a refusal that another party recorded/)
    expect([status, body]).toEqual([
      409,
      expect.objectContaining({
        ...{ error_code: 'CONFLICT', message },
        details: [{ field: `Consent/${closed.id}`, code: 'business-rule', message }],
      }),
    ])
    expect((await put('application/fhir+json')).body.issue[0].code).toBe('business-rule')
    expect((await call('GET', `Consent/${closed.id}`)).body.policy).toEqual([{ uri }])
  })

  test('so is a permission: the client neither widens it nor takes from it what is for others', async () => {
    const [ada, ben] = [await person(), await person()]
    const body = (of: Person, ids: string[], more: object = {}) =>
      consentOf(`${of.id}-own`, of.id, 'x', { actor: actor(...ids), ...more })
    const put = (of: Person, written: object, token?: string) =>
      call('PUT', `Consent/${of.id}-own`, {
        body: written,
        headers: { accept: 'application/json' },
        ...(token && { token }),
      })
    for (const each of [ada, ben]) expect((await put(each, body(each, ['clinic-a']), tokens['a'])).status).toBe(201)
    expect((await put(ada, body(ada, ['clinic-a', 'clinic-b'], ofType('Observation')))).status).toBe(200)
    expect((await put(ben, body(ben, ['clinic-a'], ofType('Observation')))).status).toBe(200)
    const [taken, widened] = [
      await put(ada, body(ada, ['clinic-a'], ofType('Observation')), tokens['a']),
      await put(ben, body(ben, ['clinic-a']), tokens['a']),
    ]
    expect([refusedBy(taken), refusedBy(widened)]).toEqual(Array(2).fill([409, 'CONFLICT']))
    expect(taken.body.message).toContain('rules that another party recorded')
    expect([await ada.seen('b'), await ben.seen('a')]).toEqual(Array(2).fill([true, true, false]))
  })

  test('outweighs what that client records elsewhere, however particular that is, and when another Consent is deleted', async () => {
    const [{ who }, other] = [await narrowed(), await narrowed()]
    expect((await call('DELETE', other.url)).status).toBe(204)
    const recorded = await (await databaseOf(service)).query({
      text: `select consent from consent_recorder where 'Consent/' || consent = any($1)`,
      values: [[other.url, `Consent/${who.id}-own`]],
    })
    expect(recorded.rows).toEqual([{ consent: `${who.id}-own` }])
    const particular = { type: 'permit', ...ofType('Observation'), code: coded(hiv) }
    const body = consentOf(`${who.id}-deep`, who.id, 'clinic-a', {
      provision: [{ type: 'deny', code: coded('x'), provision: [particular] }],
    })
    expect((await call('PUT', `Consent/${who.id}-deep`, { token: tokens['a'], body })).status).toBe(201)
    expect(await who.seen('a')).toEqual([false, true, true])
  })
})

describe('a Consent that permits several organisations', () => {
  test('stays as it is when its recorder, one of these, grants the same again', async () => {
    const ivy = await person()
    const type = 'https://health-interop.org/fhir/StructureDefinition/consent-type'
    const both = consentOf(`${ivy.id}-both`, ivy.id, 'x', { actor: actor(demoClient.organizationId, 'clinic-b') })
    await store({ ...both, extension: [{ url: type, valueCode: 'full_record' }] })
    const path = `/api/v1/connect/patient/${ivy.healthId}/consent/grant`
    const granted = await call('POST', path, { headers: json, body: JSON.stringify({ consent_type: 'full_record' }) })
    expect([granted.status, granted.body.status]).toEqual([201, 'active'])
    expect(granted.body.consent_id).not.toBe(both.id)
    expect(await ivy.seen('b')).toEqual([true, true, true])
    expect((await call('GET', `Consent/${both.id}`)).body.meta.versionId).toBe('1')
  })

  test('loses the permission of the one that revokes, and keeps that of the other', async () => {
    const hal = await person()
    const { id, ...rest } = consentOf(`${hal.id}-both`, hal.id, 'x', { actor: actor('clinic-a', 'clinic-b') })
    await store({ ...rest, id })
    for (const client of ['a', 'b'])
      expect((await hal.at(client, 'status')).body).toMatchObject({
        ...{ status: 'active', consent_id: id, organization_id: client === 'a' ? 'clinic-a' : 'clinic-b' },
      })
    const reply = await hal.at('b', 'revoke')
    expect([reply.status, reply.body]).toMatchObject([200, { status: 'revoked', organization_id: 'clinic-b' }])
    const [part] = (await hal.at('b', 'status')).body.consent_id === reply.body.consent_id ? [reply.body] : []
    expect(part.revoked_at).toMatch(/^20/)
    expect((await call('GET', `Consent/${part.consent_id}`)).body).toMatchObject({
      status: 'inactive',
      extension: expect.arrayContaining([expect.objectContaining({ valueCode: 'revoked' })]),
    })
    expect([await hal.seen('a'), await hal.seen('b')]).toEqual([
      [true, true, true],
      [false, false, false],
    ])
    expect((await hal.at('b', 'status')).body).toMatchObject({ status: 'revoked', organization_id: 'clinic-b' })
    const told = await (await databaseOf(service)).query({
      text: `select event, audience from event where patients = $1
        union all select event, audience from event_outbox where patients = $1 and event <> '' order by 1`,
      values: [hal.id],
    })
    expect(told.rows.filter(({ event }) => event === 'consent.revoked')).toEqual([
      { event: 'consent.revoked', audience: '["clinic-b"]' },
    ])
    const refused = await call('GET', `Observation/${hal.id}-hb`, { token: tokens['b'], headers: json })
    expect(refused.body.error_code).toBe('CONSENT_REVOKED')
    expect((await hal.at('a', 'status')).body).toMatchObject({ status: 'active', consent_id: id })
    expect((await hal.at('a', 'revoke')).status).toBe(200)
    expect(await hal.seen('a')).toEqual([false, false, false])
    expect((await call('GET', `Consent/${id}`)).body.status).toBe('inactive')
  })

  test('that a part of it is for one alone loses that part', async () => {
    const ida = await person()
    const part = { type: 'permit', actor: actor('clinic-b'), ...ofType('Observation') }
    await store(consentOf(`${ida.id}-parts`, ida.id, 'clinic-a', { ...ofType('Condition'), provision: [part] }))
    expect(await ida.seen('b')).toEqual([true, true, false])
    expect((await ida.at('b', 'revoke')).status).toBe(200)
    expect([await ida.seen('a'), await ida.seen('b')]).toEqual([
      [false, false, true],
      [false, false, false],
    ])
  })

  test('that permits another only within the own part is left as it is: without an actor it would be for everybody', async () => {
    const nia = await person()
    const part = { type: 'permit', actor: actor('clinic-b'), ...ofType('Observation') }
    await store(consentOf(`${nia.id}-within`, nia.id, 'clinic-a', { ...ofType('Condition'), provision: [part] }))
    expect(refusedBy(await nia.at('a', 'revoke'))).toEqual([409, 'CONFLICT'])
    expect([await nia.seen('a'), await nia.seen('b')]).toEqual([
      [false, false, true],
      [true, true, false],
    ])
  })

  test('by whom it is kept instead of by actor, loses one keeper', async () => {
    const jan = await person()
    const organization = ['clinic-a', 'clinic-b'].map(each => ({ reference: `Organization/${each}` }))
    await store(consentOf(`${jan.id}-kept`, jan.id, 'x', { actor: undefined }, { organization }))
    expect((await jan.at('a', 'revoke')).status).toBe(200)
    expect([await jan.seen('a'), await jan.seen('b')]).toEqual([
      [false, false, false],
      [true, true, true],
    ])
  })

  test('that is only asked for is rejected by nobody for the others', async () => {
    const kim = await person()
    const body = consentOf(
      `${kim.id}-asked`,
      kim.id,
      'x',
      { actor: actor('clinic-a', 'clinic-b') },
      { status: 'proposed' },
    )
    await store(body)
    expect(refusedBy(await kim.at('a', 'deny'))).toEqual([409, 'CONFLICT'])
    expect((await call('GET', `Consent/${body.id}`)).body.status).toBe('proposed')
  })
})

describe('what an organisation recorded itself', () => {
  test('a refusal included, another client of it ends by Connect', async () => {
    const leo = await person()
    const body = butHiv(leo, 'clinic-a')
    expect((await call('PUT', `Consent/${body.id}`, { token: tokens['a'], body })).status).toBe(201)
    expect((await leo.at('a2', 'revoke')).status).toBe(200)
    expect(await leo.seen('a')).toEqual([false, false, false])
    expect((await leo.at('a', 'grant', full)).status).toBe(201)
    expect(await leo.seen('a')).toEqual([true, true, true])
  })

  test('stays its own when the record-keeping system changes something else of it', async () => {
    const leo = await person()
    const body = butHiv(leo, 'clinic-a')
    expect((await call('PUT', `Consent/${body.id}`, { token: tokens['a'], body })).status).toBe(201)
    const dated = { ...body, dateTime: '2026-03-01' }
    expect((await call('PUT', `Consent/${body.id}`, { body: dated })).status).toBe(200)
    expect((await leo.at('a2', 'revoke')).status).toBe(200)
  })

  test('a consent for emergencies alone, another client of it replaces', async () => {
    const mia = await person()
    expect((await mia.at('a', 'grant', { consent_type: 'emergency_only' })).status).toBe(201)
    expect((await mia.at('a2', 'grant', full)).status).toBe(201)
    expect(await mia.seen('a')).toEqual([true, true, true])
  })
})
