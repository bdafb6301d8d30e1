// What remains of a Consent when the permission of one organisation is taken out of it, and what is kept of that permission.
import { describe, expect, test } from 'vitest'
import { partFor, refuses, without } from '../../src/consents/parting.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import { baseOf } from '../support/base.ts'
import { consentOf, ofType } from '../support/consents.ts'

const base = baseOf('http://localhost')
const actors = (...ids: string[]) => ids.flatMap(id => consentOf('', '', id).provision.actor)
const of = (provision: object, more: object = {}) => consentOf('c', 'ada', 'clinic', provision, more)
const permit = (...ids: string[]) => ({ type: 'permit', actor: actors(...ids), ...ofType('Observation') })
const refusal = { type: 'deny', ...ofType('Condition') }
const unnamed = { role: { text: 'somebody' }, reference: { identifier: { value: '7' } } }

describe('without the permission of an organisation a Consent', () => {
  test.each<[string, object, object | undefined]>([
    ['permits the others', { actor: actors('clinic', 'other') }, { actor: actors('other') }],
    [
      'keeps exceptions for everybody',
      { actor: actors('clinic', 'other'), provision: [refusal] },
      { actor: actors('other'), provision: [refusal] },
    ],
    [
      'loses the parts that were for that one alone',
      { actor: actors('other'), provision: [permit('clinic'), permit('third')] },
      { actor: actors('other'), provision: [permit('third')] },
    ],
    [
      'keeps the parts that are for others, too',
      { actor: actors('other'), provision: [permit('clinic', 'third')] },
      { actor: actors('other'), provision: [permit('third')] },
    ],
    [
      'permits others who are named in words that nobody here knows',
      { actor: [...actors('clinic', 'other'), unnamed] },
      { actor: [...actors('other'), unnamed] },
    ],
    ['cannot be written if nobody else is permitted', { actor: actors('clinic') }, undefined],
    [
      'cannot be written if others are permitted only within its part',
      {
        actor: actors('other'),
        provision: [{ ...refusal, actor: actors('clinic'), provision: [permit('third')] }],
      },
      undefined,
    ],
  ])('%s', (_name, before, after) => {
    expect(without(of(before), 'clinic', base)).toStrictEqual(after && of({ actor: undefined, ...after }))
  })

  test('is kept by the others, and is without keepers if there are none', () => {
    const keepers = (...ids: string[]) => ids.map(id => ({ reference: `Organization/${id}` }))
    const kept = (...ids: string[]) => ({ organization: keepers(...ids) })
    const provision = { actor: actors('clinic', 'other') }
    const rest = { actor: actors('other') }
    expect(without(of(provision, kept('clinic', 'other')), 'clinic', base)).toStrictEqual(of(rest, kept('other')))
    expect(without(of(provision, kept('clinic')), 'clinic', base)).toStrictEqual(of(rest))
  })
})

describe('what is kept of the permission of an organisation', () => {
  const part = (provision: object) => partFor(of(provision), 'clinic', base, 'part')
  const { id: _id, provision: _provision, ...shared } = of({})
  const kept = (provision: object) => ({
    ...shared,
    id: 'part',
    organization: [{ reference: 'Organization/clinic' }],
    provision: { type: 'permit', ...provision },
  })

  test.each<[string, object, object]>([
    [
      'says what the rule says that names it, as it names it',
      { ...ofType('Patient'), actor: [{ ...actors('clinic')[0], role: { text: 'x' } }, ...actors('other')] },
      { ...ofType('Patient'), actor: [{ ...actors('clinic')[0], role: { text: 'x' } }] },
    ],
    [
      'is the part that names it, wherever that stands',
      { actor: actors('other'), ...ofType('Patient'), provision: [refusal, permit('third'), permit('clinic')] },
      permit('clinic'),
    ],
    [
      'is what is said to everybody if no rule names it',
      { actor: undefined, ...ofType('Patient') },
      {
        ...ofType('Patient'),
        actor: actors('clinic'),
      },
    ],
  ])('%s', (_name, provision, expected) => {
    expect(part(provision)).toStrictEqual(kept(expected))
  })

  test('is about the same patient, by the same policy and performer', () => {
    const said = {
      performer: [{ reference: 'Patient/ada' }],
      policyRule: { coding: [{ code: 'OPTIN' }] },
      policy: [{ uri: 'urn:example:policy' }],
    }
    const whole = partFor(of({ actor: actors('clinic') }, { ...said, note: 'x' }), 'clinic', base, 'part')
    expect(whole).toStrictEqual({ ...kept({ actor: actors('clinic') }), ...said })
  })
})

test('a Consent refuses something if any part of it does', () => {
  expect(refuses(of({ provision: [refusal] }), base)).toBe(true)
  expect(refuses(of({ provision: [permit('other')] }), base)).toBe(false)
})

test('a Consent that names nobody but in its parts stands without one of them', () => {
  const { actor: _actor, ...provision } = of({ provision: [permit('clinic'), permit('third')] }).provision as JsonObject
  expect(without({ ...of({}), provision }, 'clinic', base)).toMatchObject({
    provision: { provision: [permit('third')] },
  })
})
