// What a user of the portal reads of the audit trail, by roles and organisation, and which patients an organisation has to do with.
import { expect, test } from 'vitest'
import { type Role, system, userCaller } from '../../src/access/caller.ts'
import { auditorOf, isKnownTo, readerOf } from '../../src/access/officer.ts'
import { reviewingFor } from '../../src/access/reviews.ts'
import { consentOf } from '../support/consents.ts'
import { startService } from '../support/service.ts'

const user = (roles: readonly Role[], organizationId = 'clinic') =>
  userCaller({ id: 'u', email: 'u@example.org', organizationId, roles }, 'session')

test('a privacy officer searches the rows of the organisation, and an administrator all', () => {
  const officer = auditorOf(user(['developer', 'privacy_officer']))
  expect([officer.organizationId, officer.consentExempt]).toEqual(['clinic', false])
  expect(auditorOf(user(['administrator'])).consentExempt).toBe(true)
  expect(auditorOf(user(['administrator', 'privacy_officer'], '')).consentExempt).toBe(true)
})

test('the trail can be searched and nothing else', () => {
  for (const roles of [['privacy_officer'], ['administrator']] as const) {
    const { may, has } = auditorOf(user(roles))
    const allowed = (['c', 'r', 'u', 'd', 's'] as const).filter(each => may('AuditEvent', each))
    expect([allowed, may('Patient', 'r'), may('Patient', 's'), has('system/*.cruds')]).toEqual([
      ['s'],
      false,
      false,
      false,
    ])
  }
})

test('other roles read no rows, and nobody reads those without an organisation, which are of patients', () => {
  for (const caller of [user(['developer']), user(['informaticist']), user(['privacy_officer'], '')])
    expect(() => auditorOf(caller)).toThrow(expect.objectContaining({ code: 'FORBIDDEN' }))
})

test('a user reads and searches resources, changes none, and reads no audit trail; administrators see all', () => {
  for (const roles of [['developer'], ['informaticist'], ['privacy_officer'], ['administrator']] as const) {
    const { may, visibility, has } = readerOf(user(roles))
    const allowed = (type: string) => (['c', 'r', 'u', 'd', 's'] as const).filter(each => may(type, each))
    expect([allowed('Patient'), allowed('AuditEvent'), has('emergency:access')]).toEqual([['r', 's'], [], false])
    expect(visibility === undefined).toBe(roles[0] === 'administrator')
    expect(visibility?.override).toBeUndefined()
  }
})

test('reviews are for privacy officers of an organisation, and for administrators, who review for all', () => {
  expect(reviewingFor(user(['developer', 'privacy_officer']))).toBe('clinic')
  expect(reviewingFor(user(['administrator', 'privacy_officer']))).toBeUndefined()
  expect(reviewingFor(user(['administrator'], ''))).toBeUndefined()
  for (const caller of [user(['developer']), user(['informaticist']), user(['privacy_officer'], '')])
    expect(() => reviewingFor(caller)).toThrow(expect.objectContaining({ code: 'FORBIDDEN' }))
})

test('an organisation has to do with patients of its consents, records and emergencies, and with no others', async () => {
  const { database, storeFor, base } = (await startService()).application
  const flag = (patient: string) => ({
    ...{ resourceType: 'Flag', status: 'active', code: { text: 'x' }, subject: { reference: `Patient/${patient}` } },
  })
  const by = (author: string | undefined) => storeFor({ ...system, author })
  const ids = ['granted', 'requested', 'denied', 'refused', 'by-app', 'by-agent', 'made-by-app', 'opened', 'nobodys']
  for (const id of ids)
    await by(id === 'made-by-app' ? 'app' : undefined).update('Patient', id, { resourceType: 'Patient', id }, {})
  for (const consent of [
    consentOf('c1', 'granted', 'clinic'),
    consentOf('c2', 'requested', 'clinic', {}, { status: 'proposed' }),
    consentOf('c3', 'denied', 'clinic', {}, { status: 'rejected' }),
    consentOf('c4', 'refused', 'clinic', { type: 'deny' }),
    consentOf('c5', 'nobodys', 'elsewhere'),
  ])
    await by(undefined).update('Consent', consent.id, consent, {})
  await by('app').create('Flag', flag('by-app'))
  await by('Organization/clinic').create('Flag', flag('by-agent'))
  await by('foreign').create('Flag', flag('nobodys'))
  await database.query({
    text: `insert into emergency_access (id, client_id, organization_id, patient_id, reason, request_id, opened_at, ends_at)
      values (gen_random_uuid(), 'app', 'clinic', 'opened', 'unconscious', 'r', now(), now())`,
    values: [],
  })
  const known = async (organization: Parameters<typeof isKnownTo>[1]) => {
    const all = await Promise.all([...ids, 'missing'].map(id => isKnownTo(database, organization, id, base)))
    return [...ids, 'missing'].filter((_, at) => all[at])
  }
  expect(await known({ id: 'clinic', clients: ['app'] })).toEqual(
    ids.filter(id => id !== 'refused' && id !== 'nobodys'),
  )
  expect(await known({ id: 'clinic', clients: [] })).toEqual(['granted', 'requested', 'denied', 'by-agent'])
  expect(await known({ id: 'another', clients: [] })).toEqual([])
  expect(await known(undefined)).toEqual(ids)
})
