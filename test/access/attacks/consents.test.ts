// Consents by which somebody may try to open what the patient has not opened, and a telephone that answers in another's name.
import { describe, expect, test } from 'vitest'
import { issueCode } from '../../../src/identity/enrolment.ts'
import { mint as mintHealthId } from '../../../src/lib/health-id.ts'
import { consentOf, ofType, terminology } from '../../support/consents.ts'
import { json, observation, patchJson, shut, startScene } from './scene.ts'

const scene = startScene()
const { asClinic, call, holder, store } = scene

describe('consents', () => {
  const nobody = { actor: undefined }
  const actors = (...references: object[]) => ({
    actor: references.map(reference => ({ role: { text: 'x' }, reference })),
  })
  const of = (organization: string) => ({ reference: `Organization/${organization}` })

  test.each<[string, () => object]>([
    ['by an absolute address', () => actors({ reference: `${scene.service.url}/api/fhir/R4/Organization/other` })],
    ['by a version', () => actors({ reference: 'Organization/other/_history/1' })],
    ['beside its own', () => actors(of('clinic'), of('other'))],
    ['in an exception that does not say so', () => ({ ...nobody, type: 'deny', provision: [actors(of('other'))] })],
    ['deep within', () => ({ provision: [{ type: 'deny', provision: [{ type: 'permit', ...actors(of('other')) }] }] })],
  ])('for another organisation, named %s, are refused', async (_name, provision) => {
    const body = consentOf('crooked', 'hidden', 'clinic', provision())
    const { status, body: told } = await asClinic('PUT', 'Consent/crooked', { body, headers: json })
    expect([status, told.error_code]).toEqual([403, 'FORBIDDEN'])
  })

  test.each<[string, () => object]>([
    ['a stroke at the end', () => actors({ reference: 'Organization/other/' })],
    ['small letters', () => actors({ reference: 'organization/other' })],
    ['another server', () => actors({ reference: 'http://elsewhere/Organization/other' })],
    ['an identifier', () => actors({ type: 'Organization', identifier: { value: 'other' } })],
    ['what it contains', () => actors({ reference: '#other' })],
  ])('that name another by %s open nothing to it', async (name, provision) => {
    const id = `odd-${name.replaceAll(' ', '-')}`
    const contained = name === 'what it contains' ? { contained: [{ resourceType: 'Organization', id: 'other' }] } : {}
    await asClinic('PUT', `Consent/${id}`, { body: consentOf(id, 'hidden', 'x', provision(), contained) })
    expect((await call('GET', 'Observation/hidden-o', { token: scene.stranger })).status).toBe(403)
    await call('DELETE', `Consent/${id}`)
  })

  test('that are proposed for another are not put into force by whoever proposed them', async () => {
    const body = consentOf('later', 'hidden', 'other', {}, { status: 'proposed' })
    expect((await asClinic('PUT', 'Consent/later', { body })).status).toBe(201)
    const patch = JSON.stringify([{ op: 'replace', path: '/status', value: 'active' }])
    expect((await asClinic('PATCH', 'Consent/later', { body: patch, headers: patchJson })).status).toBe(403)
    expect((await call('GET', 'Observation/hidden-o', { token: scene.stranger })).status).toBe(403)
    expect((await asClinic('DELETE', 'Consent/later')).status).toBe(204)
  })

  test('do not close a record to everybody in emergencies', async () => {
    const policy = [{ uri: 'https://profiles.ihe.net/ITI/PCF/Policy-deny' }]
    const body = consentOf('closing', 'hidden', 'other', { type: 'deny' }, { policy })
    const { status, body: told } = await call('PUT', 'Consent/closing', { token: scene.stranger, body, headers: json })
    expect([status, told.error_code]).toEqual([403, 'FORBIDDEN'])
  })

  test.each<[string, () => object]>([
    [
      'as an exception from a refusal',
      () => ({ type: 'deny', provision: [{ type: 'permit', ...ofType('Observation') }] }),
    ],
    ['of a part of it', () => ofType('Observation')],
    [
      'for a purpose',
      () => ({ ...ofType('Observation'), purpose: [{ system: `${terminology}/v3-ActReason`, code: 'TREAT' }] }),
    ],
  ])('of its own outweigh no refusal of the patient, written %s', async (_name, provision) => {
    await store(consentOf('patients-no', 'hidden', 'clinic', { type: 'deny' }))
    const body = consentOf('own-yes', 'hidden', 'clinic', provision())
    expect((await asClinic('PUT', 'Consent/own-yes', { body })).status).toBe(201)
    const answers = [await asClinic('GET', 'Observation/hidden-o'), await asClinic('GET', 'Observation?patient=hidden')]
    expect(answers.map(({ text }) => shut.test(text))).toEqual([false, false])
    expect(answers[0]!.status).toBe(403)
    for (const id of ['own-yes', 'patients-no']) expect((await call('DELETE', `Consent/${id}`)).status).toBe(204)
  })

  test.each<[string, () => object]>([
    ['another organisation', () => ({})],
    ['everybody', () => nobody],
    ['everybody but itself', () => ({ ...nobody, provision: [{ type: 'permit', ...actors(of('other')) }] })],
  ])('close no record to %s', async (_name, provision) => {
    const body = consentOf('shutting', 'open', 'clinic', { type: 'deny', ...provision() })
    const { status, body: told } = await call('PUT', 'Consent/shutting', { token: scene.stranger, body, headers: json })
    expect([status, told.error_code]).toEqual([403, 'FORBIDDEN'])
    expect((await asClinic('GET', 'Observation/open-o')).status).toBe(200)
  })

  test('end for what is left of a record, too, when the Patient is no more', async () => {
    await store(
      { resourceType: 'Patient', id: 'late' },
      observation('late-o', 'late', 'of somebody'),
      consentOf('late-consent', 'late', 'clinic'),
      consentOf('late-other', 'late', 'other'),
    )
    expect((await call('DELETE', 'Patient/late')).status).toBe(204)
    const inactive = { ...consentOf('late-consent', 'late', 'clinic'), status: 'inactive' }
    expect((await call('PUT', 'Consent/late-consent', { body: inactive })).status).toBe(200)
    expect((await call('DELETE', 'Consent/late-other')).status).toBe(204)
    expect((await asClinic('GET', 'Observation/late-o')).status).toBe(403)
    expect((await call('GET', 'Observation/late-o', { token: scene.stranger })).status).toBe(403)
  })
})

describe('a telephone', () => {
  let people = 0
  async function enrolled() {
    const id = `caller-${++people}`
    const own = mintHealthId('CM')
    await store(holder(id, own), observation(`${id}-o`, id, 'secret'))
    const { code } = await issueCode(scene.service.application.database, id, Date.now())
    const reply = await call('POST', '/api/v1/mobile/enrol', {
      body: JSON.stringify({ health_id: own, code }),
      headers: json,
    })
    const { token } = reply.body
    const phone = (method: string, path: string) => call(method, `/api/v1/mobile/${path}`, { token, headers: json })
    return { id, token, phone, opened: async () => (await asClinic('GET', `Observation/${id}-o`)).status === 200 }
  }

  test('gives nothing that it cannot show', async () => {
    const { id, phone, opened } = await enrolled()
    const body = consentOf(`${id}-part`, id, 'clinic', ofType('Immunization'), { status: 'proposed' })
    expect((await asClinic('PUT', `Consent/${id}-part`, { body })).status).toBe(201)
    expect((await phone('GET', 'consents')).body.data[0]).toMatchObject({ consent_type: null, status: 'pending' })
    expect((await phone('POST', `consents/${id}-part/grant`)).status).toBe(409)
    expect(await opened()).toBe(false)
    expect((await phone('POST', `consents/${id}-part/deny`)).status).toBe(200)
  })

  const { actor } = consentOf('', '', 'clinic').provision
  test.each<[string, object]>([
    ['an exception that does not say so', { type: 'deny', actor: undefined, provision: [{ actor }] }],
    [
      'an exception to an exception',
      { type: 'deny', actor: undefined, provision: [{ type: 'deny', provision: [{ type: 'permit', actor }] }] },
    ],
    ['opting in', { type: undefined }],
  ])('shows and takes back what opens by %s', async (_name, provision) => {
    const { id, phone, opened } = await enrolled()
    const more = { policyRule: { coding: [{ code: 'OPTIN' }] } }
    const body = consentOf(`${id}-odd`, id, 'clinic', provision, 'type' in provision && !provision.type ? more : {})
    await store(body)
    expect(await opened()).toBe(true)
    expect((await phone('GET', 'consents')).body.data[0]).toMatchObject({ status: 'active', organization_id: 'clinic' })
    expect((await phone('POST', `consents/${id}-odd/revoke`)).status).toBe(200)
    expect(await opened()).toBe(false)
  })

  test('answers nobody else, and reads no FHIR', async () => {
    const [one, other] = [await enrolled(), await enrolled()]
    const body = consentOf(`${one.id}-all`, one.id, 'clinic', {}, { status: 'proposed' })
    await asClinic('PUT', `Consent/${one.id}-all`, { body })
    expect((await other.phone('POST', `consents/${one.id}-all/grant`)).status).toBe(404)
    for (const path of [`Patient/${one.id}`, `Observation/${other.id}-o`, 'AuditEvent', '_history'])
      expect((await call('GET', path, { token: other.token })).status).toBe(401)
    expect(
      (await call('GET', `/api/v1/connect/patient/search?health_id=${scene.healthId}`, { token: other.token })).status,
    ).toBe(401)
    expect((await call('GET', '/api/v1/mobile/consents', { token: scene.clinic })).status).toBe(401)
  })
})
