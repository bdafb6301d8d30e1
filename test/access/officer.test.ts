// What a user of the portal reads of the audit trail, by roles and organisation.
import { expect, test } from 'vitest'
import { type Role, userCaller } from '../../src/access/caller.ts'
import { auditorOf } from '../../src/access/officer.ts'

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
