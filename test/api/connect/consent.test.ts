import { afterEach, beforeAll, describe, expect, inject, test, vi } from 'vitest'
import { areWaiting, barrier } from '../../support/concurrency.ts'
import { consentOf, ofType } from '../../support/consents.ts'
import { fhirCaller } from '../../support/fhir.ts'
import { type Service, startService } from '../../support/service.ts'
import { databaseOf, rowsOf } from '../../support/trail.ts'
import { type Call, clientOf, connectCaller, setClock } from './support.ts'

let service: Service
let clinic: Call
let other: Call
const fhir = fhirCaller(() => service)
const { resolve } = connectCaller(() => service)

const scopes = ['consents:read', 'consents:write', 'patient:diagnostics:read', 'system/*.rs'] as const

beforeAll(async () => {
  service = await startService()
  clinic = await clientOf(service, 'clinic', ...scopes)
  other = await clientOf(service, 'other-clinic', ...scopes)
})

afterEach(() => vi.useRealTimers())

let people = 0
/** Somebody new, registered by nobody's client: the Health ID and the id of the Patient. */
async function somebody(): Promise<{ healthId: string; patient: string; at: (operation: string) => string }> {
  const number = ++people
  const { body } = await resolve({
    first_name: `Consenting${'abcdefghij'[number % 10]}${number}`,
    last_name: `Person${number}`,
    date_of_birth: `19${String(40 + (number % 50)).padStart(2, '0')}-0${1 + (number % 9)}-11`,
    sex: 'female',
  })
  const healthId = body.health_id as string
  return { healthId, patient: body.patient_id, at: name => `/api/v1/connect/patient/${healthId}/consent/${name}` }
}

const none = {
  consent_id: null,
  consent_type: null,
  purpose: null,
  scopes: null,
  granted_at: null,
  expires_at: null,
  request_expires_at: null,
  revoked_at: null,
  organization_id: 'clinic',
}

describe('consent as it stands', () => {
  test('is none for whom nobody ever asked', async () => {
    const { healthId, at } = await somebody()
    const { status, body } = await clinic('GET', at('status'))
    expect(status).toBe(200)
    expect(body).toEqual({ ...none, health_id: healthId, status: 'none' })
  })

  test('goes from asked for to given to taken back, and each organisation sees its own', async () => {
    const { healthId, patient, at } = await somebody()
    const asked = await clinic('POST', at('request'), { consent_type: 'full_record', purpose: 'treatment' })
    expect(asked.status).toBe(202)
    expect(asked.body).toMatchObject({ health_id: healthId, status: 'pending', consent_type: 'full_record' })
    expect((await clinic('GET', `/api/fhir/R4/Patient/${patient}`)).status).toBe(403)

    const given = await clinic('POST', at('grant'), { consent_type: 'full_record' })
    expect(given.status).toBe(201)
    expect(given.body).toMatchObject({ status: 'active', consent_id: asked.body.consent_id, organization_id: 'clinic' })
    expect((await clinic('GET', at('status'))).body).toMatchObject({
      status: 'active',
      consent_id: asked.body.consent_id,
    })
    expect((await clinic('GET', `/api/fhir/R4/Patient/${patient}`)).status).toBe(200)
    expect((await other('GET', at('status'))).body.status).toBe('none')
    expect((await other('GET', `/api/fhir/R4/Patient/${patient}`)).status).toBe(403)

    const back = await clinic('POST', at('revoke'))
    expect(back.status).toBe(200)
    expect(back.body).toMatchObject({ status: 'revoked', revoked_at: expect.any(String) })
    const refused = await clinic('GET', `/api/fhir/R4/Patient/${patient}`)
    expect([refused.status, refused.body.issue[0].diagnostics]).toEqual([
      403,
      expect.stringContaining('revoked the consent'),
    ])
    const others = await other('GET', `/api/fhir/R4/Patient/${patient}`)
    expect([others.status, others.body.issue[0].diagnostics]).toEqual([
      403,
      expect.stringContaining('has not consented'),
    ])
    expect((await clinic('GET', at('status'))).body.status).toBe('revoked')
  })

  test('is what is in force, else what is asked for, whatever came to an end since', async () => {
    const { at } = await somebody()
    const post = (operation: string, consent_type?: string) =>
      clinic('POST', at(operation), consent_type && { consent_type })
    const standing = async () => {
      const { body } = await clinic('GET', at('status'))
      return [body.status, body.consent_type]
    }
    await post('request', 'summary')
    await post('grant', 'lab_results')
    expect(await standing()).toEqual(['active', 'lab_results'])
    await post('request', 'full_record')
    expect(await standing()).toEqual(['active', 'lab_results'])
    await post('revoke')
    expect((await standing())[0]).toBe('pending')
    await post('grant', 'lab_results')
    expect((await post('deny')).status).toBe(200)
    expect(await standing()).toEqual(['active', 'lab_results'])
  })

  test('keeps what others wrote of it when it is taken back, and says once why and when it ended', async () => {
    const { at, patient } = await somebody()
    const own = 'https://health-interop.org/fhir/StructureDefinition'
    const form = { url: 'http://clinic.example/form', valueString: '7b' }
    const reason = { url: `${own}/consent-end-reason`, valueCode: 'expired' }
    const time = { url: `${own}/consent-revoked-at`, valueDateTime: '2020-01-01T00:00:00Z' }
    const path = `Consent/form-${patient}`
    const body = consentOf(path.slice(8), patient, 'clinic', {}, { extension: [reason, form, time] })
    expect((await fhir('PUT', path, { body })).status).toBe(201)
    const { revoked_at } = (await clinic('POST', at('revoke'))).body
    expect((await fhir('GET', path)).body).toMatchObject({
      status: 'inactive',
      extension: [form, { ...reason, valueCode: 'revoked' }, { ...time, valueDateTime: revoked_at }],
    })
  })

  test('is not taken back as it was before a change of the same moment, and says to try again', async () => {
    const { at, patient } = await somebody()
    const body = consentOf(`both-${patient}`, patient, 'clinic')
    expect((await fhir('PUT', `Consent/${body.id}`, { body })).status).toBe(201)
    const database = await databaseOf(service)
    const { lift } = await barrier({ ...inject('server'), database: service.database }, 'consent_grant')
    const changed = fhir('PUT', `Consent/${body.id}`, { body: { ...body, dateTime: '2026-03-01' } })
    await areWaiting(database, 1)
    const back = clinic('POST', at('revoke'))
    await areWaiting(database, 2)
    await lift()
    expect((await changed).status).toBe(200)
    expect(await back).toMatchObject({ status: 409, body: { error_code: 'CONFLICT' } })
    expect((await back).body.message).toContain('try again')
    expect((await fhir('GET', `Consent/${body.id}`)).body).toMatchObject({ status: 'active', dateTime: '2026-03-01' })
  })

  test('is refused when the patient refuses what was asked for', async () => {
    const { at } = await somebody()
    await clinic('POST', at('request'), { consent_type: 'lab_results' })
    expect((await clinic('POST', at('deny'))).body.status).toBe('denied')
    expect((await clinic('GET', at('status'))).body).toMatchObject({ status: 'denied', consent_type: 'lab_results' })
  })

  test('is for no purpose in particular where it opens nothing but emergencies, and refused like any other', async () => {
    const { at } = await somebody()
    const { body } = await clinic('POST', at('request'), { consent_type: 'emergency_only' })
    expect([body.status, body.purpose]).toEqual(['pending', null])
    expect((await clinic('POST', at('deny'))).body).toMatchObject({ status: 'denied', consent_type: 'emergency_only' })
  })

  test('runs out by itself', async () => {
    const { at, patient } = await somebody()
    await clinic('POST', at('grant'), {
      consent_type: 'full_record',
      expires_at: new Date(Date.now() + 1200).toISOString(),
    })
    expect((await clinic('GET', at('status'))).body.status).toBe('active')
    await vi.waitFor(async () => expect((await clinic('GET', at('status'))).body.status).toBe('expired'), 5000)
    const { body } = await clinic('GET', `/api/fhir/R4/Patient/${patient}`)
    expect(body.issue[0].diagnostics).toContain('has expired')
  })

  test('holds for a year if nobody says how long', async () => {
    const { at } = await somebody()
    setClock('2026-03-01T10:00:00Z')
    const { body } = await clinic('POST', at('grant'), { consent_type: 'summary' })
    expect(body.granted_at).toBe('2026-03-01T10:00:00.000Z')
    expect(body.expires_at).toBe('2027-03-01T10:00:00.000Z')
  })
})

describe('asking and granting', () => {
  test('asking again for the same changes nothing', async () => {
    const { at, patient } = await somebody()
    const [first, second] = [
      await clinic('POST', at('request'), { consent_type: 'vitals' }),
      await clinic('POST', at('request'), { consent_type: 'vitals' }),
    ]
    expect(second.body).toEqual(first.body)
    const { body } = await fhir('GET', `Consent?patient=${patient}`)
    expect(body.entry).toHaveLength(1)
  })

  test.each([
    [{ requested_scopes: ['labs:read', 'documents:read'] }],
    [{ scopes: ['labs:read', 'documents:read'] }],
    [{ requested_scopes: ['labs:read', 'documents:read'], scopes: ['documents:read', 'labs:read'] }],
  ])('a request names its scopes by %o', async named => {
    const { at } = await somebody()
    const { status, body } = await clinic('POST', at('request'), { purpose: 'treatment', ...named })
    expect([status, body.scopes]).toEqual([202, ['labs:read', 'documents:read']])
  })

  test('ten grants at once come to one consent', async () => {
    const { at, patient } = await somebody()
    const replies = await Promise.all(
      Array.from({ length: 10 }, () => clinic('POST', at('grant'), { consent_type: 'full_record' })),
    )
    expect(new Set(replies.map(each => each.status))).toEqual(new Set([201]))
    expect((await fhir('GET', `Consent?patient=${patient}`)).body.entry).toHaveLength(1)
  })

  test('a consent for emergencies alone gives way to a wider one', async () => {
    const { at, patient } = await somebody()
    const first = await clinic('POST', at('grant'), { consent_type: 'emergency_only' })
    expect((await clinic('GET', `/api/fhir/R4/Patient/${patient}`)).status).toBe(403)
    const second = await clinic('POST', at('grant'), { consent_type: 'full_record' })
    expect(second.body.consent_id).toBe(first.body.consent_id)
    expect((await clinic('GET', `/api/fhir/R4/Patient/${patient}`)).status).toBe(200)
  })

  test('what the record-keeping system asks for is answered under its id, unless it holds a refusal', async () => {
    const { at, patient } = await somebody()
    const recorded = async (body: { id: string }, ...statuses: string[]) => {
      for (const status of statuses)
        expect((await fhir('PUT', `Consent/${body.id}`, { body: { ...body, status } })).status).toBeLessThan(300)
    }
    await recorded(consentOf(`asked-${patient}`, patient, 'clinic'), 'active', 'proposed')
    const given = await clinic('POST', at('grant'), { consent_type: 'full_record' })
    expect([given.status, given.body.consent_id]).toEqual([201, `asked-${patient}`])

    const { at: of, patient: second } = await somebody()
    const { body: only } = await clinic('POST', of('grant'), { consent_type: 'emergency_only' })
    const { body: written } = await fhir('GET', `Consent/${only.consent_id}`)
    expect((await fhir('DELETE', `Consent/${only.consent_id}`)).status).toBe(204)
    await recorded({ ...written, id: `closed-${second}` }, 'active', 'proposed')
    const again = await clinic('POST', of('grant'), { consent_type: 'emergency_only' })
    expect(again.status).toBe(201)
    expect(again.body.consent_id).not.toBe(`closed-${second}`)
  })

  test('a permission that cannot be told here is taken back, unless a refusal stands in it', async () => {
    const { at, patient } = await somebody()
    const labelled = (id: string, more: object) =>
      consentOf(`${id}-${patient}`, patient, 'clinic', { securityLabel: [{ code: 'N' }], ...more })
    const refusal = { provision: [{ type: 'deny', ...ofType('Condition') }] }
    const statusOf = async (id: string) => (await fhir('GET', `Consent/${id}-${patient}`)).body.status
    expect((await fhir('PUT', `Consent/but-${patient}`, { body: labelled('but', refusal) })).status).toBe(201)
    expect((await clinic('POST', at('revoke'))).status).toBe(409)
    expect((await fhir('PUT', `Consent/mere-${patient}`, { body: labelled('mere', {}) })).status).toBe(201)
    expect((await clinic('POST', at('revoke'))).body.status).toBe('revoked')
    expect([await statusOf('but'), await statusOf('mere')]).toEqual(['active', 'inactive'])
  })

  test('what is asked for is refused, also if it would open nothing', async () => {
    const { at, patient } = await somebody()
    const asked = consentOf(`asked-${patient}`, patient, 'clinic', { type: 'deny' }, { status: 'proposed' })
    expect((await fhir('PUT', `Consent/${asked.id}`, { body: asked })).status).toBe(201)
    expect((await clinic('POST', at('deny'))).body.status).toBe('denied')
    expect((await fhir('GET', `Consent/${asked.id}`)).body.status).toBe('rejected')
  })

  test('a Consent that cannot be told as one consent is left out', async () => {
    const { at, patient } = await somebody()
    const url = 'https://health-interop.org/fhir/StructureDefinition/consent-type'
    const extension = ['vitals', 'documents'].map(valueCode => ({ url, valueCode }))
    const twofold = consentOf(`twofold-${patient}`, patient, 'clinic', {}, { extension })
    expect((await fhir('PUT', `Consent/${twofold.id}`, { body: twofold })).status).toBe(201)
    expect((await clinic('GET', at('status'))).body).toMatchObject({ status: 'none', consent_id: null })
  })

  test('what was entered in error is as if there were none', async () => {
    const { at, patient } = await somebody()
    const wrong = consentOf(`wrong-${patient}`, patient, 'clinic', {}, { status: 'entered-in-error' })
    expect((await fhir('PUT', `Consent/${wrong.id}`, { body: wrong })).status).toBe(201)
    expect((await clinic('GET', at('status'))).body).toMatchObject({ status: 'none', consent_id: null })
  })

  test('scopes narrow the whole record', async () => {
    const { at, patient } = await somebody()
    await clinic('POST', at('grant'), { consent_type: 'full_record', scopes: ['labs:read'] })
    expect((await clinic('GET', `/api/fhir/R4/Patient/${patient}`)).status).toBe(403)
    expect((await clinic('GET', `/api/fhir/R4/Observation?patient=${patient}`)).status).toBe(200)
    expect((await clinic('GET', at('status'))).body.scopes).toEqual(['labs:read'])
  })

  test('without a purpose is for treatment, and opens nothing for another purpose', async () => {
    const { at, patient } = await somebody()
    const { token } = await fhirToken()
    const read = (purpose: string) =>
      fhir('GET', `Patient/${patient}`, { token, headers: { 'x-purpose-of-use': purpose } })
    expect((await clinic('POST', at('grant'), { consent_type: 'full_record' })).body.purpose).toBe('treatment')
    expect([(await read('treatment')).status, (await read('research')).status]).toEqual([200, 403])
    await clinic('POST', at('grant'), { consent_type: 'research' })
    expect([(await read('treatment')).status, (await read('research')).status]).toEqual([200, 200])
  })

  test('is on record: a version, who recorded it and how the patient agreed, and a row of the trail', async () => {
    const { at, patient } = await somebody()
    const { headers, body } = await clinic('POST', at('grant'), {
      consent_type: 'full_record',
      verification_method: 'in_person',
    })
    const id = body.consent_id
    expect((await fhir('GET', `Consent/${id}`)).body.provision.actor[0].reference.reference).toBe('Organization/clinic')
    const provenance = await fhir('GET', `Provenance?target=Consent/${id}`)
    expect(provenance.body.entry[0].resource).toMatchObject({
      agent: [{ who: { reference: 'Organization/clinic' } }],
      reason: [{ text: expect.stringContaining('in_person') }],
    })
    const rows = await rowsOf(await databaseOf(service), headers.get('x-request-id')!)
    expect(rows.map(row => [row.resource_type, row.interaction, row.outcome])).toContainEqual(['Consent', 'update', 0])
    expect(rows.every(row => row.patients.includes(patient))).toBe(true)
  })

  test('with an Idempotency-Key it is done once', async () => {
    const { at, patient } = await somebody()
    const token = (await fhirToken()).token
    const headers = { 'idempotency-key': `grant-${patient}`, 'content-type': 'application/json' }
    const send = () =>
      fhir('POST', at('grant'), { token, headers, body: JSON.stringify({ consent_type: 'full_record' }) })
    const [first, second] = [await send(), await send()]
    expect(second.headers.get('idempotent-replayed')).toBe('true')
    expect(second.body).toEqual(first.body)
    expect((await fhir('GET', `Consent/${first.body.consent_id}/_history`)).body.entry).toHaveLength(1)
  })
})

const fhirToken = async () => ({
  token: await service.application.identity.tokens.mint(
    { clientId: 'keyed', organizationId: 'clinic', consentExempt: false },
    scopes,
  ),
})

describe('what makes no sense is refused, and nothing is stored', () => {
  test.each([
    [{ consent_type: 'full_recrod' }, 'consent_type', 'did you mean'],
    [{ consent_type: 'everything' }, 'consent_type', 'full_record, summary'],
    [{}, 'consent_type', 'required'],
    [{ consent_type: 'full_record', expires_at: '2020-01-01T00:00:00Z' }, 'expires_at', 'future'],
    [{ consent_type: 'full_record', expires_at: '2999-01-01T00:00:00Z' }, 'expires_at', '100 years'],
    [{ consent_type: 'full_record', expires_at: 'tomorrow' }, 'expires_at', ''],
    [{ consent_type: 'full_record', expires_at: '2016-12-31T23:59:60Z' }, 'expires_at', 'date and time'],
    [{ consent_type: 'full_record', expires_at: '2030-12-31T23:59:60Z' }, 'expires_at', 'date and time'],
    [{ consent_type: 'full_record', scopes: ['lab:read'] }, 'scopes.0', 'not a scope'],
    [{ consent_type: 'full_record', scopes: ['webhooks:manage'] }, 'scopes', 'no read access'],
    [{ consent_type: 'full_record', verification_method: 'guess' }, 'verification_method', ''],
    [{ consent_type: 'full_record', organization_id: 'another' }, 'organization_id', 'not a known field'],
  ])('%o', async (body, field, said) => {
    const { at, patient } = await somebody()
    const reply = await clinic('POST', at('grant'), body)
    expect(reply.status).toBe(422)
    expect(reply.body).toMatchObject({ status: 'error', error_code: 'VALIDATION_FAILED' })
    expect(reply.body.details[0].field).toBe(field)
    expect(JSON.stringify(reply.body)).toContain(said)
    expect((await fhir('GET', `Consent?patient=${patient}`)).body.entry).toBeUndefined()
  })

  test.each([
    [{ requested_scopes: ['labs:read'], scopes: ['documents:read'] }, 'scopes', 'other scopes'],
    [{ requested_scopes: ['lab:read'] }, 'requested_scopes.0', 'not a scope'],
    [{ requested_scopes: ['webhooks:manage'] }, 'requested_scopes', 'no read access'],
  ])('a request with %o', async (body, field, said) => {
    const { at, patient } = await somebody()
    const reply = await clinic('POST', at('request'), body)
    expect([reply.status, reply.body.error_code, reply.body.details[0].field]).toEqual([
      422,
      'VALIDATION_FAILED',
      field,
    ])
    expect(JSON.stringify(reply.body)).toContain(said)
    expect((await fhir('GET', `Consent?patient=${patient}`)).body.entry).toBeUndefined()
  })

  test('a refusal that others recorded is not granted away', async () => {
    const { patient, at } = await somebody()
    const refusal = consentOf(`no-${patient}`, patient, 'clinic', { type: 'deny' })
    expect((await fhir('PUT', `Consent/no-${patient}`, { body: refusal })).status).toBe(201)
    expect((await other('POST', at('grant'), { consent_type: 'lab_results' })).status).toBe(201)
    const reply = await clinic('POST', at('grant'), { consent_type: 'lab_results' })
    expect([reply.status, reply.body.error_code]).toEqual([409, 'CONFLICT'])
    expect((await fhir('GET', `Consent?patient=${patient}&_total=accurate`)).body.total).toBe(2)
    expect((await clinic('GET', at('status'))).body).toMatchObject({ status: 'denied' })
    expect((await fhir('DELETE', `Consent/no-${patient}`)).status).toBe(204)
    expect((await clinic('POST', at('grant'), { consent_type: 'lab_results' })).status).toBe(201)
  })

  test.each([
    ['GET', 'status', 'CM-TQYE-6SRK-YQ6T', 422, 'INVALID_HEALTH_ID'],
    ['GET', 'status', 'CM-9C1T-3NR9-A9HC', 404, 'PATIENT_NOT_FOUND'],
    ['POST', 'revoke', 'CM-9C1T-3NR9-A9HC', 404, 'PATIENT_NOT_FOUND'],
    ['GET', 'status', 'nobody', 422, 'INVALID_HEALTH_ID'],
  ])('%s consent/%s of %s', async (method, operation, healthId, status, code) => {
    const reply = await clinic(method, `/api/v1/connect/patient/${healthId}/consent/${operation}`)
    expect([reply.status, reply.body.error_code]).toEqual([status, code])
  })

  test('there is nothing to take back or to refuse', async () => {
    const { at } = await somebody()
    for (const operation of ['revoke', 'deny']) {
      const reply = await clinic('POST', at(operation))
      expect([reply.status, reply.body.error_code]).toEqual([409, 'CONFLICT'])
    }
  })

  test('a client without the scope may neither look nor record', async () => {
    const { at } = await somebody()
    const labs = await clientOf(service, 'clinic', 'labs:read')
    expect((await labs('GET', at('status'))).body.error_code).toBe('INSUFFICIENT_SCOPE')
    const reader = await clientOf(service, 'clinic', 'consents:read')
    expect((await reader('GET', at('status'))).status).toBe(200)
    expect((await reader('POST', at('grant'), { consent_type: 'full_record' })).body.error_code).toBe(
      'INSUFFICIENT_SCOPE',
    )
  })
})
