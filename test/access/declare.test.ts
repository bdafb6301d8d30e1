// What a request says of itself: what the data is for, and whether a life depends on it.
import { expect, test } from 'vitest'
import { createCaller } from '../../src/access/caller.ts'
import type { Emergency } from '../../src/access/consent/emergency.ts'
import { createReadPurpose } from '../../src/access/purpose.ts'
import { hash64 } from '../../src/lib/hash.ts'

const client = createCaller({
  clientId: 'clinic-app',
  organizationId: 'clinic',
  scopes: ['emergency:access'],
  consentExempt: false,
})
const exempt = createCaller({ ...client, consentExempt: true })

/** The caller as it declares itself by these headers; what was opened, and how often data was shown by it. */
function declared(headers: Record<string, string>, caller = client) {
  const seen = { opened: [] as Emergency[], shown: 0 }
  const declare = createReadPurpose({
    open: async (_caller, emergency) => {
      seen.opened.push(emergency)
      return [hash64(`Patient/${emergency.patient}`), hash64('Patient/twin-record')]
    },
  })
  return { seen, caller: declare(caller, { headers, requestId: 'r1', overridden: () => seen.shown++ }) }
}
const refused = (headers: Record<string, string>, caller = client) => {
  try {
    declared(headers, caller)
  } catch (error) {
    const { code, message } = error as { code: string; message: string }
    return `${code}: ${message}`
  }
  return undefined
}
const emergency = { 'x-emergency-access': 'true', 'x-emergency-reason': '  Found unconscious  ' }

test('who says nothing of it asks as before', () => {
  expect(declared({}).caller).toBe(client)
  expect(declared({ 'x-emergency-access': 'FALSE' }).caller).toBe(client)
})

test('who says what the data is for asks for that, and is filtered by the consents to it', () => {
  const { caller } = declared({ 'x-purpose-of-use': 'research' })
  expect([caller.purpose, caller.clientId]).toEqual(['HRESCH', 'clinic-app'])
  expect(caller.visibility).toBeDefined()
  expect(caller.visibility).not.toBe(client.visibility)
  expect(declared({ 'x-purpose-of-use': 'research' }, exempt).caller).toMatchObject({
    ...{ purpose: 'HRESCH', visibility: undefined },
  })
})

test.each([
  [
    'a purpose that is not known',
    { 'x-purpose-of-use': 'curiosity' },
    'MALFORMED_REQUEST: X-Purpose-Of-Use must be one of treatment, TREAT, payment, HPAYMT, operations, HOPERAT, research, HRESCH, public_health, PUBHLTH, emergency, ETREAT.',
  ],
  [
    'an emergency that is neither true nor false',
    { ...emergency, 'x-emergency-access': 'perhaps' },
    'MALFORMED_REQUEST: X-Emergency-Access must be true or false.',
  ],
  [
    'an emergency without a reason',
    { 'x-emergency-access': 'true' },
    /^EMERGENCY_REASON_REQUIRED: X-Emergency-Reason must state, in 10 to 500 characters/,
  ],
  [
    'a reason that is long by its blanks',
    { ...emergency, 'x-emergency-reason': '   urgent   ' },
    /^EMERGENCY_REASON_REQUIRED/,
  ],
  ['a reason that is too long', { ...emergency, 'x-emergency-reason': 'x'.repeat(501) }, /^EMERGENCY_REASON_REQUIRED/],
])('%s is refused', (_what, headers, message) => {
  if (typeof message === 'string') expect(refused(headers)).toBe(message)
  else expect(refused(headers)).toMatch(message)
})

test('an emergency needs its scope, whatever else is wrong with it', () => {
  const without = createCaller({ ...client, scopes: ['patients:read'] })
  expect(refused({ 'x-emergency-access': 'true' }, without)).toBe(
    'INSUFFICIENT_SCOPE: Emergency access requires the scope emergency:access.',
  )
})

test('an emergency opens one record, once, whichever number of the patient asks for it', async () => {
  const { caller, seen } = declared(emergency)
  const override = caller.visibility!.override!
  await override('ada')
  await override('twin-record')
  expect(seen.opened).toEqual([{ patient: 'ada', reason: 'Found unconscious', requestId: 'r1' }])
  await expect(override('ben')).rejects.toMatchObject({
    code: 'MALFORMED_REQUEST',
    message: 'Emergency access covers one patient: send a separate request for each patient.',
  })
  expect([seen.opened.length, seen.shown]).toEqual([1, 2])
})

test('whoever sees everything declares no emergency by it', () => {
  expect(declared(emergency, exempt).caller.visibility).toBeUndefined()
})

test.each(['utf8', 'latin1'] as const)('a reason with accents is kept as it was written in %s', async encoding => {
  const reason = 'Trouvé inconscient, âge estimé 40 ans'
  const read = Buffer.from(reason, encoding).toString('latin1')
  const { caller, seen } = declared({ 'x-emergency-access': 'true', 'x-emergency-reason': read })
  await caller.visibility!.override!('amina')
  expect(seen.opened.map(each => each.reason)).toEqual([reason])
})
