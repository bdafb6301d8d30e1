// What a patient decides by telephone counts from the next request on, and nobody else's consents can be decided.
import { beforeAll, describe, expect, test } from 'vitest'
import { archiveDue } from '../../../src/audit/archive/make.ts'
import { sealingKey } from '../../../src/audit/chain.ts'
import { issueCode } from '../../../src/identity/enrolment.ts'
import { consentOf } from '../../support/consents.ts'
import { type Answer, fhirCaller } from '../../support/fhir.ts'
import { portalUser } from '../../support/portal.ts'
import { testKey } from '../../support/server.ts'
import { type Service, startService } from '../../support/service.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { endPeriod } from '../../support/trail.ts'
import { type Call, clientOf, connectCaller } from '../connect/support.ts'

let service: Service
let clinic: Call
const call = fhirCaller(() => service)
const { resolve } = connectCaller(() => service)

beforeAll(async () => {
  service = await startService()
  clinic = await clientOf(service, 'clinic', 'consents:write', 'consents:read', 'system/*.rs')
})

let people = 0

/** Somebody who is registered and has enrolled a telephone. */
async function enrolled() {
  const number = ++people
  const { body } = await resolve({
    first_name: `Telephoning${'abcdefgh'[number % 8]}`,
    last_name: `Patient${number}${'xyzw'[number % 4]}`,
    date_of_birth: `195${number % 10}-0${1 + (number % 9)}-07`,
    sex: 'male',
  })
  const { health_id: healthId, patient_id: patient } = body
  const { code } = await issueCode(service.application.database, patient, Date.now())
  const reply = await call('POST', '/api/v1/mobile/enrol', {
    body: JSON.stringify({ health_id: healthId, code }),
    headers: { 'content-type': 'application/json' },
  })
  const phone = (method: string, path: string, sent?: object): Promise<Answer> =>
    call(method, `/api/v1/mobile/${path}`, {
      token: reply.body.token,
      headers: { 'content-type': 'application/json' },
      ...(sent ? { body: JSON.stringify(sent) } : {}),
    })
  return { healthId, patient, phone, at: (name: string) => `/api/v1/connect/patient/${healthId}/consent/${name}` }
}

describe('a patient', () => {
  test('sees what is asked for, gives it and takes it back', async () => {
    const { patient, phone, at } = await enrolled()
    const sees = async () => (await clinic('GET', `/api/fhir/R4/Patient/${patient}`)).status
    const { body: asked } = await clinic('POST', at('request'), { consent_type: 'full_record', purpose: 'treatment' })
    expect((await phone('GET', 'consents')).body).toEqual({ data: [asked], has_more: false })
    expect(await sees()).toBe(403)

    const given = await phone('POST', `consents/${asked.consent_id}/grant`, { expires_at: '2090-01-01T00:00:00Z' })
    expect(given.status).toBe(200)
    expect(given.body).toMatchObject({
      status: 'active',
      expires_at: '2090-01-01T00:00:00Z',
      organization_id: 'clinic',
    })
    expect(await sees()).toBe(200)

    expect((await phone('POST', `consents/${asked.consent_id}/revoke`)).body.status).toBe('revoked')
    expect(await sees()).toBe(403)
    const { body } = await call('GET', `Provenance?target=Consent/${asked.consent_id}`)
    const agents = body.entry.map(
      (each: { resource: { agent: { who: { reference: string } }[] } }) => each.resource.agent[0]!.who.reference,
    )
    expect(agents.sort()).toEqual(['Organization/clinic', `Patient/${patient}`, `Patient/${patient}`])
  })

  test('sees what was asked for last first', async () => {
    const { phone, at } = await enrolled()
    const asked: string[] = []
    for (const consent_type of ['vitals', 'lab_results', 'prescriptions'])
      asked.unshift((await clinic('POST', at('request'), { consent_type })).body.consent_id)
    const { data } = (await phone('GET', 'consents')).body
    expect(data.map(({ consent_id }: { consent_id: string }) => consent_id)).toEqual(asked)
    expect((await phone('POST', `consents/${asked[2]}/deny`)).body.status).toBe('denied')
    const { data: after } = (await phone('GET', 'consents')).body
    expect(after.map(({ consent_id }: { consent_id: string }) => consent_id)).toEqual([asked[2], asked[0], asked[1]])
  })

  test('finds and ends a consent however many consents others have written', async () => {
    const { patient, phone, at } = await enrolled()
    const { body: given } = await clinic('POST', at('grant'), { consent_type: 'full_record' })
    const others = Array.from({ length: 1010 }, (_, index) => ({
      resource: {
        ...consentOf('', patient, 'other', {}, { status: index % 2 ? 'proposed' : 'inactive' }),
        id: undefined,
      },
      request: { method: 'POST', url: 'Consent' },
    }))
    const flood = await call('POST', '', { body: { resourceType: 'Bundle', type: 'transaction', entry: others } })
    expect(flood.status).toBe(200)
    const { data, has_more } = (await phone('GET', 'consents')).body
    expect([data.length, has_more, data.at(-1).consent_id]).toEqual([1011, false, given.consent_id])
    expect((await clinic('GET', at('status'))).body).toMatchObject({ status: 'active', consent_id: given.consent_id })
    expect((await clinic('POST', at('revoke'))).body).toMatchObject({ status: 'revoked', consent_id: given.consent_id })
    expect((await clinic('GET', `/api/fhir/R4/Patient/${patient}`)).status).toBe(403)
    const { body: again } = await clinic('POST', at('grant'), { consent_type: 'full_record' })
    expect((await phone('POST', `consents/${again.consent_id}/revoke`)).body.status).toBe('revoked')
  })

  test('is not flooded: a client has at most a hundred consents that are requested or in force', async () => {
    const { patient, phone } = await enrolled()
    const flood = await clientOf(service, 'flood', 'consents:write', 'system/Consent.cruds')
    const send = (count: number, status: string) =>
      flood('POST', '/api/fhir/R4', {
        resourceType: 'Bundle',
        type: 'transaction',
        entry: Array.from({ length: count }, () => ({
          resource: { ...consentOf('', patient, 'flood', {}, { status }), id: undefined },
          request: { method: 'POST', url: 'Consent' },
        })),
      })
    const refused = await send(101, 'proposed')
    expect([refused.status, refused.body.issue[0].code]).toEqual([409, 'too-costly'])
    expect((await phone('GET', 'consents')).body.data).toEqual([])
    expect((await send(100, 'proposed')).status).toBe(200)
    expect((await send(1, 'proposed')).status).toBe(409)
    expect((await send(1, 'inactive')).status).toBe(200)
    const [{ consent_id: id }] = (await phone('GET', 'consents')).body.data
    expect((await flood('DELETE', `/api/fhir/R4/Consent/${id}`)).status).toBe(204)
  })

  test('cannot give what was asked for until a time that is over', async () => {
    const { patient, phone } = await enrolled()
    const period = { start: '2020-01-01T00:00:00Z', end: '2020-02-01T00:00:00Z' }
    const late = consentOf(`late-${patient}`, patient, 'clinic', { period }, { status: 'proposed' })
    expect((await call('PUT', `Consent/${late.id}`, { body: late })).status).toBe(201)
    expect((await phone('GET', 'consents')).body.data).toMatchObject([{ consent_id: late.id, status: 'expired' }])
    const { status, body } = await phone('POST', `consents/${late.id}/grant`)
    expect([status, body.error_code]).toEqual([409, 'CONFLICT'])
  })

  test('refuses what is asked for', async () => {
    const { phone, at } = await enrolled()
    const { body: asked } = await clinic('POST', at('request'), { consent_type: 'vitals' })
    expect((await phone('POST', `consents/${asked.consent_id}/deny`)).body.status).toBe('denied')
    expect((await clinic('GET', at('status'))).body.status).toBe('denied')
  })

  test('does not agree to what the telephone cannot show, but may refuse it', async () => {
    const { patient, phone } = await enrolled()
    const code = [{ coding: [{ system: 'http://loinc.org', code: '75622-1' }] }]
    const untold = consentOf(`untold-${patient}`, patient, 'clinic', { code }, { status: 'proposed' })
    expect((await call('PUT', `Consent/${untold.id}`, { body: untold })).status).toBe(201)
    const [shown] = (await phone('GET', 'consents')).body.data
    expect(shown).toMatchObject({ consent_id: untold.id, status: 'pending', consent_type: null })
    const { status, body } = await phone('POST', `consents/${untold.id}/grant`)
    expect([status, body.error_code, body.message]).toEqual([
      409,
      'CONFLICT',
      'This consent covers parts of the record that cannot be shown here, so it cannot be granted here: the organisation must request it with consent/request.',
    ])
    expect((await clinic('GET', `/api/fhir/R4/Patient/${patient}`)).status).toBe(403)
    expect((await phone('POST', `consents/${untold.id}/deny`)).body.status).toBe('denied')
  })

  test('answers only what waits for an answer', async () => {
    const { phone, at } = await enrolled()
    const { body: given } = await clinic('POST', at('grant'), { consent_type: 'full_record' })
    for (const answer of ['grant', 'deny']) {
      const reply = await phone('POST', `consents/${given.consent_id}/${answer}`)
      expect([reply.status, reply.body.error_code]).toEqual([409, 'CONFLICT'])
    }
  })

  test('who opens the record to one organisation ends what that one had for emergencies alone, and nothing of another', async () => {
    const { phone, at } = await enrolled()
    const hospital = await clientOf(service, 'hospital', 'consents:write', 'consents:read')
    const only = { consent_type: 'emergency_only' }
    const { body: before } = await clinic('POST', at('grant'), only)
    const { body: former } = await clinic('POST', at('revoke'))
    expect(former.consent_id).toBe(before.consent_id)
    const { body: part } = await clinic('POST', at('grant'), { consent_type: 'vitals' })
    const [{ body: own }, { body: others }] = [
      await clinic('POST', at('grant'), only),
      await hospital('POST', at('grant'), only),
    ]
    const { body: asked } = await clinic('POST', at('request'), { consent_type: 'full_record' })
    expect((await phone('POST', `consents/${asked.consent_id}/grant`)).body.status).toBe('active')
    const { data } = (await phone('GET', 'consents')).body
    const statusOf = (id: string) => data.find((each: { consent_id: string }) => each.consent_id === id).status
    expect([own, others, part].map(({ consent_id }) => statusOf(consent_id))).toEqual(['revoked', 'active', 'active'])
    expect(data).toContainEqual(former)
    expect((await call('GET', `Consent/${own.consent_id}`)).body.extension).toContainEqual(
      expect.objectContaining({ valueCode: 'revoked' }),
    )
  })

  test('cannot answer for somebody else', async () => {
    const [ada, ben] = [await enrolled(), await enrolled()]
    const { body: asked } = await clinic('POST', ada.at('request'), { consent_type: 'full_record' })
    const reply = await ben.phone('POST', `consents/${asked.consent_id}/grant`)
    expect([reply.status, reply.body.error_code]).toEqual([404, 'NOT_FOUND'])
    expect((await clinic('GET', ada.at('status'))).body.status).toBe('pending')
    expect((await ben.phone('GET', 'consents')).body.data).toEqual([])
  })

  test.each([
    [{ expires_at: '2001-01-01T00:00:00Z' }, 422],
    [{ expires_at: 'soon' }, 422],
    [{ consent_type: 'full_record' }, 422],
  ])('who sends %o is told what is wrong', async (sent, status) => {
    const { phone, at } = await enrolled()
    const { body: asked } = await clinic('POST', at('request'), { consent_type: 'full_record' })
    expect((await phone('POST', `consents/${asked.consent_id}/grant`, sent)).status).toBe(status)
    expect((await clinic('GET', at('status'))).body.status).toBe('pending')
  })

  test('has no access to anything else with the token, nor a client to this', async () => {
    const { phone, patient } = await enrolled()
    expect((await phone('GET', `../../fhir/R4/Patient/${patient}`)).status).toBe(401)
    expect((await clinic('GET', '/api/v1/mobile/consents')).status).toBe(401)
  })
})

describe('the access log', () => {
  test('goes on, however many rows requests with one id leave', async () => {
    const { patient, phone } = await enrolled()
    const nosy = await service.application.identity.tokens.mint(
      { clientId: 'nosy-app', organizationId: 'nosy', consentExempt: false },
      ['system/*.rs'],
    )
    const entry = Array.from({ length: 800 }, () => ({ request: { method: 'GET', url: `Patient/${patient}` } }))
    const headers = { 'x-request-id': 'always-the-same' }
    const body = { resourceType: 'Bundle', type: 'batch', entry }
    for (let sent = 0; sent < 3; sent++)
      expect((await call('POST', '', { token: nosy, headers, body })).status).toBe(200)
    const seen: string[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { body: page }: Answer = await phone('GET', `access-log?limit=100${cursor}`)
      seen.push(...page.data.map((each: { client_id: string }) => each.client_id))
      expect(page.has_more).toBe(page.next_cursor !== null)
      cursor = page.next_cursor && `&cursor=${encodeURIComponent(page.next_cursor)}`
    }
    const others = seen.filter(client => client !== 'nosy-app')
    expect(seen[0]).toBe('nosy-app')
    expect(others.length).toBeGreaterThan(0)
  })

  test('tells who looked, when and whether it was an emergency, and nothing of others', async () => {
    const { patient, phone } = await enrolled()
    const name = 'Ambulance of Douala'
    await call('PUT', 'Organization/ambulance', { body: { resourceType: 'Organization', id: 'ambulance', name } })
    const token = await service.application.identity.tokens.mint(
      { clientId: 'ambulance-app', organizationId: 'ambulance', consentExempt: false },
      ['system/*.rs', 'emergency:access'],
    )
    const reason = 'Collapsed at work, history unknown'
    await call('GET', `Patient/${patient}`, { token })
    await call('GET', `Patient/${patient}`, {
      token,
      headers: { 'x-emergency-access': 'true', 'x-emergency-reason': reason },
    })
    const { status, body } = await phone('GET', 'access-log')
    expect(status).toBe(200)
    const theirs = body.data.filter((each: { organization_id: string }) => each.organization_id === 'ambulance')
    expect(theirs).toEqual([
      {
        at: expect.any(String),
        organization_id: 'ambulance',
        organization_name: 'Ambulance of Douala',
        client_id: 'ambulance-app',
        action: expect.stringMatching(/^(read|emergency_access)$/),
        resource_type: 'Patient',
        purpose: 'BTG',
        reason: expect.toSatisfy(value => value === null || value === reason),
        outcome: 'done',
      },
      expect.objectContaining({ purpose: 'BTG', outcome: 'done' }),
      expect.objectContaining({ action: 'read', outcome: 'refused', purpose: 'TREAT' }),
    ])
    expect(theirs.map((each: { reason: string | null }) => each.reason).filter(Boolean)).toEqual([reason])
  })

  test('tells who looked at a record that was merged with the own one, before the merge and after it', async () => {
    const { patient, phone } = await enrolled()
    const { patient: former } = await enrolled()
    const reader = async (clientId: string) =>
      service.application.identity.tokens.mint({ clientId, organizationId: 'archive', consentExempt: true }, [
        'system/*.rs',
      ])
    const looked = async () =>
      (await phone('GET', 'access-log')).body.data
        .map((each: { client_id: string }) => each.client_id)
        .filter((each: string) => each.startsWith('looks-'))
    await call('GET', `Patient/${former}`, { token: await reader('looks-before') })
    expect(await looked()).toEqual([])
    const merged = await call('POST', 'Patient/$merge', {
      body: {
        resourceType: 'Parameters',
        parameter: [
          { name: 'source-patient', valueReference: { reference: `Patient/${former}` } },
          { name: 'target-patient', valueReference: { reference: `Patient/${patient}` } },
        ],
      },
    })
    expect(merged.status, merged.text).toBe(200)
    await call('GET', `Patient/${former}`, { token: await reader('looks-after') })
    expect(await looked()).toEqual(['looks-after', 'looks-before'])
  })

  test('says of a look in the portal who it was, and that it was no treatment', async () => {
    const { patient, phone } = await enrolled()
    const administrator = await portalUser(service, ['administrator'], 'ministry')
    expect((await administrator.get(`/portal/resources/Patient/${patient}`)).status).toBe(200)
    const [entry] = (await phone('GET', 'access-log')).body.data
    expect(entry).toMatchObject({ action: 'read', organization_id: 'ministry', purpose: null, outcome: 'done' })
    expect(entry.client_id).toMatch(/^user\/usr_/)
  })

  test('says up to when accesses are archived, on its last page', async () => {
    const { patient, phone } = await enrolled()
    const complete = (await phone('GET', 'access-log')).body
    expect(complete).toMatchObject({ has_more: false, archived_until: null })
    await endPeriod(service)
    const folder = await temporaryFolder('archive')
    const { database } = service.application
    await archiveDue({ database, key: sealingKey(Buffer.from(testKey, 'base64')), folder }, 0, () => {})
    for (const _ of [1, 2]) await call('GET', `Patient/${patient}`)
    const { data, archived_until } = (await phone('GET', 'access-log')).body
    expect(archived_until >= complete.data[0].at).toBe(true)
    expect(data).toHaveLength(2)
    expect(data.every(({ at }: { at: string }) => at > archived_until)).toBe(true)
    expect((await phone('GET', 'access-log?limit=1')).body).toMatchObject({ has_more: true, archived_until: null })
  })

  test('shows the telephones that were enrolled, and who tried to enrol one with a wrong code', async () => {
    const { healthId, patient, phone } = await enrolled()
    const wrong = { health_id: healthId, code: '0000-0000-0000' }
    const refused = await call('POST', '/api/v1/mobile/enrol', {
      body: JSON.stringify(wrong),
      headers: { 'content-type': 'application/json' },
    })
    expect(refused.status).toBe(401)
    const { data } = (await phone('GET', 'access-log')).body
    const enrolments = data.filter(({ action }: { action: string }) => action === 'enrolled')
    const none = { organization_id: null, organization_name: null, client_id: '', resource_type: null, purpose: null }
    const entry = { ...none, at: expect.any(String), action: 'enrolled', reason: null }
    expect(enrolments).toEqual([
      { ...entry, outcome: 'refused' },
      { ...entry, outcome: 'done' },
    ])
    const { body } = await call('GET', `AuditEvent?patient=${patient}&outcome=4`)
    expect(JSON.stringify(body)).not.toContain(wrong.code)
  })

  test('shows one entry for a grant, however many resources it wrote', async () => {
    const { phone, at } = await enrolled()
    const before = (await phone('GET', 'access-log')).body.data.length
    expect((await clinic('POST', at('grant'), { consent_type: 'full_record' })).status).toBe(201)
    const { data } = (await phone('GET', 'access-log')).body
    expect(data.length).toBe(before + 1)
    expect(data[0]).toMatchObject({ organization_id: 'clinic', organization_name: null, outcome: 'done' })
    expect([data[0].action, data[0].resource_type]).toEqual([expect.stringMatching(/^(created|updated)$/), 'Consent'])
  })

  test('comes in pages that hold each access once', async () => {
    const { patient, phone } = await enrolled()
    for (let time = 0; time < 5; time++) await call('GET', `Patient/${patient}`)
    const all: string[] = []
    let cursor = ''
    do {
      const { body } = await phone('GET', `access-log?limit=2${cursor}`)
      all.push(
        ...body.data
          .filter((each: { client_id: string }) => each.client_id === 'demo-client')
          .map((each: { at: string }) => each.at),
      )
      cursor = body.has_more ? `&cursor=${body.next_cursor}` : ''
    } while (cursor)
    expect(all.length).toBeGreaterThanOrEqual(5)
    expect(all).toEqual([...all].sort().reverse())
  })
})
