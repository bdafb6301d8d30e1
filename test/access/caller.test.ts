// What the service may do when it acts for somebody, and as itself.
import { expect, test } from 'vitest'
import { createCaller, onBehalfOf, patientCaller, system, userCaller } from '../../src/access/caller.ts'

const client = createCaller({
  clientId: 'clinic-app',
  organizationId: 'clinic',
  scopes: ['system/*.cruds', 'labs:read'],
  consentExempt: false,
})

test('the service acting for a client may do what is named and nothing else, whatever the scopes of the client', () => {
  const acting = onBehalfOf(client, { Consent: 'cu' })
  const may = (type: string) =>
    (['c', 'r', 'u', 'd', 's'] as const).filter(interaction => acting.may(type, interaction))
  expect([may('Consent'), may('Patient')]).toEqual([['c', 'u'], []])
  expect([acting.visibility, acting.author, acting.party]).toEqual([undefined, 'clinic-app', client.party])
})

test('a client has the scopes of its token and no others', () => {
  expect(['labs:read', 'labs:write', 'system/*.rs'].map(client.has)).toEqual([true, false, false])
})

test('a caller is who its proof says, and what it writes is its own', () => {
  const fixed = { may: expect.any(Function), has: expect.any(Function) }
  const bare = createCaller({ clientId: 'app', organizationId: 'clinic', scopes: ['labs:read'], consentExempt: false })
  expect(bare).toEqual({
    ...{ kind: 'client', clientId: 'app', organizationId: 'clinic', scopes: ['labs:read'], consentExempt: false },
    ...{ tokenId: '', purpose: '', author: 'app', party: { organizationId: 'clinic' } },
    ...{ visibility: expect.any(Object), ...fixed },
  })
  const said = createCaller({ ...bare, tokenId: 'jti', purpose: 'HRESCH' })
  expect([said.tokenId, said.purpose]).toEqual(['jti', 'HRESCH'])
  expect(patientCaller('ada', 'CM-TQYE-6SRK-YQ6S', 'pat_1')).toEqual({
    ...{ kind: 'patient', clientId: 'patient/ada', organizationId: '', scopes: [], tokenId: 'pat_1', purpose: '' },
    ...{ author: 'patient/ada', party: { organizationId: '', ends: { patient: 'ada' } } },
    ...{ patientId: 'ada', healthId: 'CM-TQYE-6SRK-YQ6S', ...fixed },
  })
  const user = { id: 'u', email: 'u@example.org', organizationId: 'clinic', roles: ['developer'] } as const
  expect(userCaller(user, 'session')).toEqual({
    ...{ kind: 'user', clientId: 'user/u', organizationId: 'clinic', scopes: [], tokenId: 'session', purpose: '' },
    ...{ author: 'user/u', party: { organizationId: 'clinic' } },
    ...{ userId: 'u', email: 'u@example.org', roles: ['developer'], ...fixed },
  })
  expect(system).toMatchObject({
    ...{ kind: 'client', clientId: 'health-interop', organizationId: 'health-interop', scopes: ['system/*.cruds'] },
    ...{ consentExempt: true, author: undefined, visibility: undefined },
  })
})

test('no scope opens anything to a patient or to a user of the portal', () => {
  const phone = patientCaller('ada', 'CM-TQYE-6SRK-YQ6S', 'pat_1')
  const user = { id: 'u', email: 'u@example.org', organizationId: 'clinic', roles: ['administrator'] } as const
  for (const caller of [phone, userCaller(user, 'session')])
    expect([caller.may('Patient', 'r'), caller.has('patients:read'), caller.scopes]).toEqual([false, false, []])
})

test('rules end by the patient, an exempt client and the service, and only the service changes what it owns', () => {
  const exempt = createCaller({ clientId: 'ehr', organizationId: 'ehr', scopes: [], consentExempt: true })
  expect([client, exempt, patientCaller('ada', 'x', 'pat_1'), system].map(({ party }) => party)).toEqual([
    { organizationId: 'clinic' },
    { organizationId: 'ehr', ends: 'all' },
    { organizationId: '', ends: { patient: 'ada' } },
    { organizationId: '', ends: 'all', isService: true },
  ])
})
