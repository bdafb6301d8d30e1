// verify and search: what a Health ID on a card is worth, and who holds it (decisions §3).
import { beforeAll, describe, expect, test } from 'vitest'
import { mint } from '../../../src/lib/health-id.ts'
import { consentOf, ofType } from '../../support/consents.ts'
import { type Service, startService } from '../../support/service.ts'
import { databaseOf, rowsOf } from '../../support/trail.ts'
import { connectCaller, healthIdSystem } from './support.ts'

let service: Service
let healthId: string
let patientId: string
const { call, resolve, search, verify } = connectCaller(() => service)
const token = (...scopes: string[]): Promise<string> =>
  service.application.identity.tokens.mint(
    { clientId: 'demo-client', organizationId: 'clinic', consentExempt: false },
    scopes,
  )

beforeAll(async () => {
  service = await startService()
  const zoe = { first_name: 'Zoé Aïcha', last_name: "N'Diaye", date_of_birth: '1988-11-03', sex: 'female' }
  const { body } = await resolve({ ...zoe, phone_number: '+237 6 99 88 77 42' })
  healthId = body.health_id
  patientId = body.patient_id
})

test('a registered Health ID is verified, with enough of the person to compare', async () => {
  for (const written of [healthId, healthId.toLowerCase().replaceAll('-', '')]) {
    const { status, body } = await verify(written)
    expect(status).toBe(200)
    expect(body).toEqual({
      health_id: healthId,
      valid: true,
      checksum_valid: true,
      registered: true,
      status: 'verified',
      patient: { first_name: 'Zoé Aïcha', last_name_initial: 'N', birth_year: 1988, sex: 'female' },
    })
  }
})

test('one that nobody holds, and one that cannot be, are told apart', async () => {
  const unknown = mint('CM')
  const none = { valid: false, registered: false }
  expect((await verify(unknown)).body).toEqual({
    health_id: unknown,
    ...none,
    checksum_valid: true,
    status: 'not_registered',
  })
  const slip = healthId.slice(0, -1) + (healthId.endsWith('7') ? '8' : '7')
  const wrong = { ...none, checksum_valid: false, status: 'invalid_checksum' }
  expect((await verify(slip)).body).toEqual({ health_id: slip, ...wrong })
  for (const text of ['hello', 'x'.repeat(2000), '../../etc', '💉'])
    expect(await verify(text)).toMatchObject({ status: 200, body: wrong })
})

test('search tells who holds it, and of the telephone two digits', async () => {
  const { status, body } = await search(healthId.toLowerCase())
  expect(status).toBe(200)
  expect(body).toEqual({
    data: [
      {
        health_id: healthId,
        first_name: 'Zoé Aïcha',
        last_name: "N'Diaye",
        date_of_birth: '1988-11-03',
        sex: 'female',
        phone_masked: '**********42',
        redacted: false,
      },
    ],
    has_more: false,
  })
})

describe('to whom nobody opened the record, search tells less', () => {
  const shown = async (clientId: string, organizationId: string, headers: Record<string, string> = {}) => {
    const minted = await service.application.identity.tokens.mint({ clientId, organizationId, consentExempt: false }, [
      ...['patient:profile:read', 'emergency:access'],
    ])
    const { status, body } = await call('GET', `/api/v1/connect/patient/search?health_id=${healthId}`, {
      ...{ token: minted, headers },
    })
    return [status, body.data[0]]
  }
  const who = { first_name: 'Zoé Aïcha', sex: 'female' }
  const less = { ...who, last_name: 'N.', date_of_birth: '1988', phone_masked: null, redacted: true }
  const all = {
    ...who,
    last_name: "N'Diaye",
    date_of_birth: '1988-11-03',
    phone_masked: '**********42',
    redacted: false,
  }
  const about = (consent: string, organization: string, provision: object = {}) =>
    call('PUT', `Consent/${consent}`, { body: consentOf(consent, patientId, organization, provision) })

  test('without consent, and by a consent that does not open the Patient', async () => {
    expect(await shown('app', 'nobody')).toEqual([200, { health_id: healthId, ...less }])
    await about('labs', 'laboratory', ofType('Observation'))
    expect(await shown('app', 'laboratory')).toEqual([200, { health_id: healthId, ...less }])
    await about('refused', 'refused', { type: 'deny' })
    expect(await shown('app', 'refused')).toEqual([200, { health_id: healthId, ...less }])
  })

  test('and all with consent, until it is revoked; to its author; in an emergency', async () => {
    await about('all', 'clinic')
    expect(await shown('app', 'clinic')).toEqual([200, { health_id: healthId, ...all }])
    await call('DELETE', 'Consent/all')
    expect(await shown('app', 'clinic')).toEqual([200, { health_id: healthId, ...less }])
    expect(await shown('demo-client', 'clinic')).toEqual([200, { health_id: healthId, ...all }])
    const headers = { 'x-emergency-access': 'true', 'x-emergency-reason': 'Unconscious after a road accident' }
    expect(await shown('app', 'ambulance', headers)).toEqual([200, { health_id: healthId, ...all }])
    expect((await call('GET', `Task?patient=${patientId}&code=emergency-access`)).body.entry).toHaveLength(1)
  })

  test('nothing is left of a name or a date that is not there', async () => {
    const bare = mint('CM')
    const identifier = [{ use: 'official', system: healthIdSystem(service), value: bare }]
    await call('PUT', 'Patient/bare', { body: { resourceType: 'Patient', id: 'bare', active: true, identifier } })
    const minted = await token('patient:profile:read')
    const stranger = await service.application.identity.tokens.mint(
      { clientId: 'app', organizationId: 'nobody', consentExempt: false },
      ['patient:profile:read'],
    )
    for (const each of [stranger, minted]) {
      const [data] = (await search(bare, each)).body.data
      expect(data).toMatchObject({ last_name: null, date_of_birth: null, phone_masked: null })
    }
  })
})

test('search for nobody is 404, for what cannot be a Health ID 422, and without one 422', async () => {
  const nobody = await search(mint('CM'))
  expect([nobody.status, nobody.body.error_code]).toEqual([404, 'PATIENT_NOT_FOUND'])
  const wrong = await search('CM-0000-0000-0001')
  expect([wrong.status, wrong.body.error_code]).toEqual([422, 'INVALID_HEALTH_ID'])
  const none = await call('GET', '/api/v1/connect/patient/search')
  expect([none.status, none.body.error_code]).toEqual([422, 'VALIDATION_FAILED'])
})

test('each needs its scope', async () => {
  for (const scope of ['patient:profile:read', 'patients:read'])
    expect((await search(healthId, await token(scope))).status).toBe(200)
  const refused = await search(healthId, await token('health_id:verify'))
  expect([refused.status, refused.body.error_code]).toEqual([403, 'INSUFFICIENT_SCOPE'])
  const other = await token('labs:read')
  expect((await resolve({ health_id: healthId }, {}, other)).status).toBe(403)
  const path = `/api/v1/connect/patients/verify/${healthId}`
  expect((await call('GET', path, { token: other })).status).toBe(403)
})

test('both leave a record of whose data was shown', async () => {
  const database = await databaseOf(service)
  const told = async (path: string) => {
    await call('GET', `/api/v1/connect/${path}`, { headers: { 'x-request-id': 'told-by-verify' } })
    const [row] = (await rowsOf(database, 'told-by-verify')).slice(-1)
    return [row!.interaction, row!.query, row!.patients, row!.resources]
  }
  for (const path of [`patients/verify/${healthId}`, `patient/search?health_id=${healthId}`])
    expect(await told(path)).toEqual(['operation', `connect/${path}`, [patientId], 1])
})
