import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/lib/json.ts'
import { base, but, derived, names } from './support.ts'

const own = 'https://health-interop.org/fhir/StructureDefinition'
const typed = (type: string) => ({ url: `${own}/consent-type`, valueCode: type })
const endedBy = (reason: string) => ({ url: `${own}/consent-end-reason`, valueCode: reason })
const actor = (...ids: string[]) => ids.map(id => ({ reference: { reference: `Organization/${id}` } }))

/** For a year, to the whole record, for the Hôpital Central. */
const active: JsonObject = {
  resourceType: 'Consent',
  id: 'it',
  status: 'active',
  scope: { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/consentscope', code: 'patient-privacy' }] },
  patient: { reference: 'Patient/ngono' },
  organization: [{ reference: 'Organization/hcy' }],
  extension: [typed('full_record')],
  provision: { type: 'permit', period: { end: '2027-03-14T10:42:07+01:00' }, actor: actor('hcy') },
}
const proposed = but(active, { status: 'proposed' })
const rejected = but(active, { status: 'rejected' })
const inactive = but(active, { status: 'inactive', extension: [typed('full_record'), endedBy('revoked')] })
const expired = but(inactive, { extension: [typed('full_record'), endedBy('expired')] })
const mistaken = but(active, { status: 'entered-in-error' })
const denying = but(active, { provision: { type: 'deny', actor: actor('hcy') } })
const emergencies = but(active, {
  extension: [typed('emergency_only')],
  provision: { type: 'deny', actor: actor('hcy'), provision: [{ type: 'permit', purpose: [{ code: 'BTG' }] }] },
})
const foreign = but(active, { extension: undefined })
const optOut = but(foreign, { policyRule: { coding: [{ code: 'OPTOUT' }] }, provision: undefined })
const treatment = but(active, { scope: { coding: [{ code: 'treatment' }] } })
const shared = but(active, { provision: { type: 'permit', actor: actor('hcy', 'chu') } })

/** The states that a consent can be in, and what is told when it comes from one to another. */
const turns: readonly [string, JsonObject | undefined, JsonObject | undefined, string[]][] = [
  ['a request', proposed, undefined, ['consent.requested']],
  ['a request after a refusal', proposed, rejected, ['consent.requested']],
  ['a request that is made again in other words', but(proposed, { extension: [typed('summary')] }), proposed, []],
  ['a draft', but(proposed, { status: 'draft' }), undefined, []],
  ['a consent', active, undefined, ['consent.granted']],
  ['a consent that was asked for', active, proposed, ['consent.granted']],
  ['a consent after a revocation', active, inactive, ['consent.granted']],
  ['the same consent again', but(active, { meta: { versionId: '2' } }), active, []],
  [
    'a consent for longer',
    but(active, { provision: { type: 'permit', actor: actor('hcy') } }),
    active,
    ['consent.granted'],
  ],
  ['a consent of another type', but(active, { extension: [typed('summary')] }), active, ['consent.granted']],
  ['a consent for emergencies alone', emergencies, undefined, ['consent.granted']],
  ['a consent of ours that opens nothing', denying, undefined, []],
  ['a consent to an operation', treatment, undefined, []],
  ['a refusal', rejected, proposed, ['consent.denied']],
  ['a refusal unasked', rejected, undefined, ['consent.denied']],
  ['somebody who opts out', optOut, undefined, ['consent.denied']],
  [
    'somebody who opts in',
    but(optOut, { policyRule: { coding: [{ code: 'OPTIN' }] } }),
    undefined,
    ['consent.granted'],
  ],
  ['somebody who opts out after having opted in', optOut, foreign, ['consent.revoked']],
  ['a withdrawn request', but(proposed, { status: 'inactive' }), proposed, []],
  ['a revocation', inactive, active, ['consent.revoked']],
  ['a revocation of what was refused', inactive, rejected, []],
  ['a refusal of what was given', rejected, active, ['consent.revoked']],
  ['a permission that becomes a refusal', denying, active, ['consent.revoked']],
  ['a permission that becomes one for emergencies', emergencies, active, ['consent.granted']],
  ['a consent that was an error', mistaken, active, ['consent.revoked']],
  ['a request that was an error', mistaken, proposed, []],
  ['a deleted consent', undefined, active, ['consent.revoked']],
  ['a deleted request', undefined, proposed, []],
  ['a deleted revocation', undefined, inactive, []],
  ['a consent that comes back after a deletion', active, undefined, ['consent.granted']],
]

const reasons: readonly [string, JsonObject | undefined, string, string][] = [
  ['revoked', inactive, 'revoked', 'revoked'],
  ['has expired', expired, 'expired', 'expired'],
  ['ended without a reason', but(active, { status: 'inactive' }), 'revoked', 'revoked'],
  ['refused', rejected, 'denied', 'denied'],
  ['an error', mistaken, 'revoked', 'entered_in_error'],
  ['turned round', denying, 'revoked', 'narrowed'],
  ['deleted', undefined, 'revoked', 'deleted'],
]

describe('of a consent is told', () => {
  test.each(turns)('%s', (_name, now, before, expected) => {
    expect(names('Consent', now, before)).toEqual(expected)
  })

  test.each(reasons)('why it ends: %s', (_name, now, status, reason) => {
    expect(derived('Consent', now, active)[0]?.data).toMatchObject({ status, reason, consent_id: 'it' })
  })

  test('what it opens, until when in UTC, and to the organisation alone', () => {
    expect(derived('Consent', active)).toEqual([
      {
        type: 'consent.granted',
        source: { type: 'Consent', id: 'it', version: 7 },
        patient: 'ngono',
        data: {
          consent_id: 'it',
          consent_type: 'full_record',
          organization_id: 'hcy',
          expires_at: '2027-03-14T09:42:07.000Z',
          status: 'active',
        },
        facility: '',
        audience: ['hcy'],
      },
    ])
  })

  test('what it was, when it ends', () => {
    const told = derived('Consent', expired, active)[0]?.data
    expect(told).toMatchObject({ consent_type: 'full_record', expires_at: '2027-03-14T09:42:07.000Z' })
  })

  const ends: readonly [string | undefined, string | null][] = [
    ['2027-03-14', '2027-03-15T00:00:00.000Z'],
    ['2027', '2028-01-01T00:00:00.000Z'],
    ['9999-12-31', null],
    ['2027-02-30', null],
    [undefined, null],
  ]
  test.each(ends)('the end of a consent until %s', (end, expected) => {
    const now = but(active, { provision: { type: 'permit', period: { end }, actor: actor('hcy') } })
    expect(derived('Consent', now)[0]?.data['expires_at']).toBe(expected)
  })
})

/** Of each event, to whom it is told. */
const told = (now: JsonObject | undefined, before?: JsonObject) =>
  derived('Consent', now, before).map(({ type, audience, data }) => {
    expect(audience).toEqual([data['organization_id']])
    return [type, data['organization_id']]
  })

describe('each organisation is told what concerns it', () => {
  test('two that are named in one consent', () => {
    expect(told(shared)).toEqual([
      ['consent.granted', 'hcy'],
      ['consent.granted', 'chu'],
    ])
  })

  test('one that is added, and not the other', () => {
    expect(told(shared, but(shared, { provision: { type: 'permit', actor: actor('hcy') } }))).toEqual([
      ['consent.granted', 'chu'],
    ])
  })

  test('one that is left out', () => {
    expect(told(but(shared, { provision: { type: 'permit', actor: actor('hcy') } }), shared)).toEqual([
      ['consent.revoked', 'chu'],
    ])
  })

  test('one that is an exception from what all may', () => {
    const provision = { type: 'permit', provision: [{ type: 'deny', actor: actor('chu') }] }
    expect(told(but(foreign, { provision }))).toEqual([
      ['consent.granted', 'hcy'],
      ['consent.denied', 'chu'],
    ])
  })

  test('one that is an exception within an exception', () => {
    const inner = { actor: actor('chu'), provision: [{ purpose: [{ code: 'TREAT' }] }] }
    expect(told(but(foreign, { provision: { type: 'permit', actor: actor('hcy'), provision: [inner] } }))).toEqual([
      ['consent.granted', 'hcy'],
      ['consent.granted', 'chu'],
    ])
  })

  test('the keeper, where the consent names nobody', () => {
    expect(told(but(active, { provision: { type: 'permit' } }))).toEqual([['consent.granted', 'hcy']])
  })

  test('those alone that are stored here', () => {
    const references = [
      `${base.endpoint}/Organization/a`,
      'Organization/b/_history/2',
      'https://elsewhere.example/Organization/c',
      'urn:uuid:d',
    ]
    const provision = { type: 'permit', actor: references.map(reference => ({ reference: { reference } })) }
    expect(told(but(active, { provision }))).toEqual([
      ['consent.granted', 'a'],
      ['consent.granted', 'b'],
    ])
  })

  test('nobody, where it names practitioners', () => {
    const provision = { type: 'permit', actor: [{ reference: { reference: 'Practitioner/p' } }] }
    expect(told(but(active, { provision }))).toEqual([])
  })

  test('the keeper, where practitioners are refused who are not known here', () => {
    const provision = { type: 'deny', actor: [{ reference: { reference: 'Practitioner/p' } }] }
    expect(told(but(foreign, { provision }))).toEqual([['consent.denied', 'hcy']])
  })
})
