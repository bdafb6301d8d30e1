// What is done about a patient's consents, without HTTP: how each stands after it, and what is stored of it.
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createCaller, patientCaller, system } from '../../src/access/caller.ts'
import { opens } from '../../src/access/consent/opening.ts'
import { openStorage, type Storage } from '../../src/app/storage.ts'
import { createConsents } from '../../src/consents/consents.ts'
import { ended } from '../../src/consents/ending.ts'
import type { ConsentCall, ConsentDecision, ConsentService, Subject, Terms } from '../../src/consents/service.ts'
import { mint } from '../../src/lib/health-id.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import { createLog } from '../../src/lib/log.ts'
import { createTranslator } from '../../src/mapping/translator.ts'
import { mergedWith } from '../../src/mpi/register/merged.ts'
import { createUnitOfWork } from '../../src/store/unit-of-work.ts'
import { dataSetAt } from '../support/base.ts'
import { onCleanup } from '../support/cleanup.ts'
import { consentOf, ofType } from '../support/consents.ts'
import { configOfRun } from '../support/database.ts'
import { createTestDatabase, deliveredMaps } from '../support/service.ts'

const log = createLog('silent')
const day = 86_400_000
let now = new Date()
const inDays = (days: number) => new Date(now.getTime() + days * day).toISOString()

let storage: Storage
let desk: ConsentService
beforeAll(async () => {
  const config = configOfRun()
  const maps = await deliveredMaps(config, log)
  storage = openStorage(config, await createTestDatabase(), dataSetAt('http://localhost'), log, Buffer.alloc(32))
  onCleanup(() => storage.database.end())
  const { databaseFor, storeFor, indexing, base } = storage
  desk = createConsents({
    ...{ databaseFor, storeFor, base, mergedWith, now: () => now },
    unitOfWork: createUnitOfWork(databaseFor, indexing),
    translator: createTranslator(maps, base, log),
    opens: (type, scopes) => opens(maps.consents(), type, scopes),
    usualDays: () => 30,
    requestDays: () => 14,
  })
})

const asked = (organizationId: string): ConsentCall => ({
  caller: createCaller({ clientId: `app-of-${organizationId}`, organizationId, scopes: [], consentExempt: false }),
  requestId: 'request',
})
const clinic = asked('clinic')
let amina: Subject
let own: ConsentCall
let people = 0
beforeEach(async () => {
  amina = { patient: `amina-${++people}`, healthId: mint('CM') }
  own = { caller: patientCaller(amina.patient, amina.healthId, 'token'), requestId: 'request' }
  await write({ resourceType: 'Patient', id: amina.patient })
})

const write = async (...resources: JsonObject[]) => {
  for (const each of resources)
    await storage.storeFor(system).update(String(each['resourceType']), String(each['id']), each, {})
}
const stored = async (id: string | null) =>
  JSON.parse((await storage.storeFor(system).read('Consent', String(id))).body) as JsonObject
const ask = (consentType: string, more: Partial<Terms> = {}) =>
  desk.ask(clinic, amina, 'clinic', { consentType, ...more })
const grant = (consentType: string, more: Partial<Terms> = {}, proof?: string) =>
  desk.grant(clinic, amina, 'clinic', { consentType, ...more }, proof)
const answer = (consent: string | null, what: ConsentDecision, expiresAt?: string) =>
  desk.answer(own, amina, String(consent), what, expiresAt)
const standing = async (organization = 'clinic') => {
  const { status, consent_type } = await desk.status(clinic, amina, organization)
  return `${status} ${consent_type}`
}
const refusal = (work: Promise<unknown>) =>
  work.then(
    () => expect.fail(),
    error => error,
  )

const nothing = {
  ...{ status: 'none', consent_id: null, consent_type: null, purpose: null, scopes: null },
  ...{ granted_at: null, expires_at: null, request_expires_at: null, revoked_at: null, organization_id: 'clinic' },
}

test('who was never asked has consented to nothing', async () => {
  expect(await desk.status(clinic, amina, 'clinic')).toEqual({ ...nothing, health_id: amina.healthId })
  expect(await desk.list(own, amina)).toEqual([])
})

describe('to ask', () => {
  test('is told as it will be given, and opens nothing', async () => {
    const told = await ask('lab_results', { scopes: ['labs:read'], expiresAt: inDays(3) })
    const expected = {
      ...{ ...nothing, health_id: amina.healthId, status: 'pending', consent_id: expect.any(String) },
      ...{ consent_type: 'lab_results', purpose: 'treatment', scopes: ['labs:read'], expires_at: inDays(3) },
      request_expires_at: inDays(14),
    }
    expect(told).toEqual(expected)
    expect(await desk.list(own, amina)).toEqual([told])
    expect(await stored(told.consent_id)).toMatchObject({ status: 'proposed' })
  })

  test('a second time for the same type is answered with what was asked, for another it is asked anew', async () => {
    const first = await ask('lab_results')
    expect(await ask('lab_results')).toEqual(first)
    const second = await ask('summary')
    expect(second.consent_id).not.toBe(first.consent_id)
    await answer(first.consent_id, 'grant')
    const third = await ask('lab_results')
    expect([third.status, third.consent_id === first.consent_id]).toEqual(['pending', false])
    const newest = [third, first, second].map(({ consent_id }) => consent_id)
    expect((await desk.list(own, amina)).map(({ consent_id }) => consent_id)).toEqual(newest)
  })

  test.each([
    ['research', 'research'],
    ['full_record', 'treatment'],
    ['emergency_only', null],
    ['full_record', null, ['webhooks:manage']],
  ])('for %s without saying what for is to ask for %s', async (consentType, purpose, scopes: string[] = []) => {
    expect((await ask(consentType, { scopes })).purpose).toBe(purpose)
    expect((await ask('summary', { purpose: 'payment' })).purpose).toBe('payment')
  })
})

test('asking for other terms is another request, so that a patient grants what was shown', async () => {
  const first = await ask('full_record', { scopes: ['labs:read', 'prescriptions:read'] })
  const same = await ask('full_record', { scopes: ['prescriptions:read', 'labs:read'] })
  const wider = await ask('full_record', { scopes: ['labs:read', 'prescriptions:read', 'patients:read'] })
  const research = await ask('full_record', { scopes: ['labs:read', 'prescriptions:read'], purpose: 'research' })
  expect(same).toEqual(first)
  expect(new Set([first, wider, research].map(each => each.consent_id)).size).toBe(3)
  expect(await answer(first.consent_id, 'grant')).toMatchObject({ scopes: ['labs:read', 'prescriptions:read'] })
})

test('a request that is not answered in time expires, cannot be granted, and can be made again', async () => {
  const first = await ask('lab_results')
  now = new Date(now.getTime() + 14 * day)
  expect(await standing()).toBe('expired lab_results')
  expect(await refusal(answer(first.consent_id, 'grant'))).toMatchObject({ code: 'CONFLICT' })
  const second = await ask('lab_results')
  expect(second).toMatchObject({ status: 'pending', request_expires_at: inDays(14) })
  expect(second.consent_id).not.toBe(first.consent_id)
})

describe('to grant', () => {
  test('takes the place of what was asked for, and then of what was given, of the same type', async () => {
    const first = await ask('lab_results')
    const given = await grant('lab_results', {}, 'signed form')
    expect(given).toEqual({
      ...{
        ...first,
        status: 'active',
        granted_at: now.toISOString(),
        expires_at: inDays(30),
        request_expires_at: null,
      },
    })
    expect((await grant('lab_results', { expiresAt: inDays(2) })).consent_id).toBe(first.consent_id)
    expect((await grant('summary')).consent_id).not.toBe(first.consent_id)
    expect(await standing()).toBe('active summary')
    const store = storage.storeFor(system)
    const { matches } = await store.search(
      store.parse(['Provenance'], [['target', `Consent/${first.consent_id}`]], true),
    )
    const reasons = matches.flatMap(({ body }) => (JSON.parse(String(body)) as JsonObject)['reason'] ?? [])
    expect(matches).toHaveLength(3)
    expect(reasons).toEqual([{ text: 'The patient agreed: signed form.' }])
  })

  test('takes the place of a consent for emergencies alone, which denies the rest', async () => {
    const before = await grant('emergency_only')
    expect((await grant('full_record')).consent_id).toBe(before.consent_id)
    expect(await desk.list(own, amina)).toHaveLength(1)
  })

  test('leaves what another organisation was given as it was', async () => {
    const other = await desk.grant(asked('other'), amina, 'other', { consentType: 'lab_results' })
    const given = await grant('lab_results')
    expect(given.consent_id).not.toBe(other.consent_id)
    expect(await standing('other')).toBe('active lab_results')
  })

  test('takes the place of what others asked for the organisation alone, and of nothing else that they recorded', async () => {
    const id = (name: string) => `${name}-${people}`
    const status = 'proposed'
    const { provision } = consentOf('', '', 'other')
    const given = consentOf(id('given'), amina.patient, 'clinic')
    const refusing = consentOf(id('refusing'), amina.patient, 'clinic', { provision: [{ type: 'deny' }] }, { status })
    const both = consentOf(id('both'), amina.patient, 'clinic', {}, { status })
    const actor = [...both.provision.actor, ...provision.actor]
    const others = [given, refusing, { ...both, provision: { ...both.provision, actor } }] as JsonObject[]
    await write(...others)
    const { consent_id } = await grant('full_record')
    expect(others.map(each => each['id'])).not.toContain(consent_id)
    await write(consentOf(id('asked'), amina.patient, 'clinic', {}, { status }))
    expect((await grant('full_record')).consent_id).toBe(id('asked'))
  })

  test('opens nothing where a refusal stands against it, and is not done then', async () => {
    await write(consentOf(`refusal-${people}`, amina.patient, 'clinic', { type: 'deny' }))
    expect(await refusal(grant('full_record'))).toMatchObject({
      ...{ code: 'CONFLICT', message: expect.stringMatching(/^A refusal by the patient is in force/) },
    })
    expect(await desk.list(own, amina)).toHaveLength(1)
  })
})

describe('to answer', () => {
  test('grants what was asked, for as long as is said', async () => {
    const first = await ask('lab_results', { expiresAt: inDays(3) })
    expect(await answer(first.consent_id, 'grant')).toMatchObject({ status: 'active', expires_at: inDays(3) })
    const second = await ask('summary', { expiresAt: inDays(3) })
    expect(await answer(second.consent_id, 'grant', inDays(1))).toMatchObject({ expires_at: inDays(1) })
  })

  test('denies what was asked, and takes back what was given', async () => {
    const first = await ask('lab_results')
    expect(await answer(first.consent_id, 'deny')).toEqual({ ...first, status: 'denied' })
    expect(await stored(first.consent_id)).toMatchObject({ status: 'rejected' })
    const given = await grant('summary')
    expect(await answer(given.consent_id, 'revoke')).toEqual({
      ...{ ...given, status: 'revoked', revoked_at: now.toISOString() },
    })
    expect((await stored(given.consent_id))['status']).toBe('inactive')
  })

  test.each<[string, ConsentDecision, string]>([
    ['active', 'grant', 'The consent is active, not pending, so it cannot be granted.'],
    ['active', 'deny', 'The consent is active, not pending, so it cannot be denied.'],
    ['pending', 'revoke', 'The consent is pending, not active, so it cannot be revoked.'],
  ])('%s is nothing to %s', async (status, what, message) => {
    const { consent_id } = await (status === 'active' ? grant('summary') : ask('summary'))
    expect(await refusal(answer(consent_id, what))).toMatchObject({ code: 'CONFLICT', message })
  })

  test('is for a consent of the patient', async () => {
    await ask('summary')
    const message = 'This patient has no consent with this id.'
    expect(await refusal(answer('absent', 'deny'))).toMatchObject({ code: 'NOT_FOUND', message })
  })

  test('with a wider one ends one for emergencies alone of the same organisation, and no other', async () => {
    const summary = await grant('summary')
    const emergency = await grant('emergency_only')
    const other = await desk.grant(asked('other'), amina, 'other', { consentType: 'emergency_only' })
    const pending = await ask('emergency_only')
    const wider = await ask('full_record')
    await answer(wider.consent_id, 'grant')
    expect(await stored(summary.consent_id)).toMatchObject({ status: 'active' })
    expect(await stored(pending.consent_id)).toMatchObject({ status: 'proposed' })
    expect(await stored(emergency.consent_id)).toMatchObject({ status: 'inactive' })
    expect(await stored(other.consent_id)).toMatchObject({ status: 'active' })
  })

  test('grants nothing that could not be told', async () => {
    const id = `strange-${people}`
    await write(consentOf(id, amina.patient, 'clinic', ofType('Media'), { status: 'proposed' }))
    expect(await refusal(answer(id, 'grant'))).toMatchObject({
      ...{ code: 'CONFLICT', message: expect.stringMatching(/^This consent covers parts of the record/) },
    })
  })
})

test('what is taken back keeps what others wrote of it, and says once why and when it ended', () => {
  const form = { url: 'http://clinic.example/form', valueString: '7b' }
  const extensionOf = (consent: JsonObject, moment: string) => ended(consent, 'revoke', moment)['extension']
  const twice = extensionOf(ended({ extension: [form] }, 'revoke', inDays(1)), inDays(2))
  expect(twice).toEqual([form, ...(extensionOf({}, inDays(2)) as JsonObject[])])
  expect(twice).toHaveLength(3)
})

test('what was a mistake is not told', async () => {
  await write(consentOf(`mistake-${people}`, amina.patient, 'clinic', {}, { status: 'entered-in-error' }))
  expect(await desk.list(own, amina)).toEqual([])
})

describe('to answer an organisation', () => {
  test('ends whatever there is for it', async () => {
    await grant('summary')
    const last = await grant('lab_results')
    const pending = await ask('full_record')
    const back = await desk.answerAll(own, amina, 'clinic', 'revoke')
    expect(back).toMatchObject({ status: 'revoked', consent_id: last.consent_id })
    expect(await standing()).toBe('pending full_record')
    expect(await desk.answerAll(own, amina, 'clinic', 'deny')).toMatchObject({ consent_id: pending.consent_id })
    expect((await desk.list(own, amina)).map(({ status }) => status)).toEqual(['denied', 'revoked', 'revoked'])
  })

  test('is a conflict where there is nothing', async () => {
    for (const [what, missing] of [
      ['deny', 'pending'],
      ['revoke', 'active'],
    ] as const)
      expect(await refusal(desk.answerAll(own, amina, 'clinic', what))).toMatchObject({
        ...{ code: 'CONFLICT', message: `This organisation has no ${missing} consent of this patient.` },
      })
  })

  test('cannot deny for it alone what several were asked for', async () => {
    const both = consentOf(`both-${people}`, amina.patient, 'clinic', {}, { status: 'proposed' })
    const actor = [...both.provision.actor, ...consentOf('', '', 'other').provision.actor]
    await write({ ...both, provision: { ...both.provision, actor } } as never)
    expect(await refusal(desk.answerAll(own, amina, 'clinic', 'deny'))).toMatchObject({ code: 'CONFLICT' })
    expect(await stored(both.id)).toMatchObject({ status: 'proposed' })
  })

  test('leaves the others what one consent gives to several', async () => {
    const id = `both-${people}`
    const both = consentOf(id, amina.patient, 'clinic')
    const actor = [...both.provision.actor, ...consentOf('', '', 'other').provision.actor]
    await write({ ...both, provision: { ...both.provision, actor } } as never)
    const told = await desk.status(clinic, amina, 'other')
    expect(told).toMatchObject({ status: 'active', consent_id: id, organization_id: 'other' })
    const back = await desk.answerAll(own, amina, 'clinic', 'revoke')
    expect(back).toMatchObject({ status: 'revoked', organization_id: 'clinic', revoked_at: now.toISOString() })
    expect(back.consent_id).not.toBe(id)
    expect(await stored(back.consent_id)).toMatchObject({ status: 'inactive' })
    expect(await standing('clinic')).toBe('revoked full_record')
    expect(await standing('other')).toBe('active full_record')
  })
})

test('consents of who turned out to be the same person are consents of the patient', async () => {
  const given = await grant('summary')
  const kept = { patient: `kept-${people}`, healthId: mint('CM') }
  const linked = (id: string, type: string, other: string) =>
    write({ resourceType: 'Patient', id, link: [{ type, other: { reference: `Patient/${other}` } }] })
  await linked(kept.patient, 'replaces', amina.patient)
  await linked(amina.patient, 'replaced-by', kept.patient)
  expect(await desk.list(own, kept)).toMatchObject([{ consent_id: given.consent_id }])
})
