// What consents come to, as a table: which rule decides for whom, what, when and what for.

import { describe, expect, test } from 'vitest'
import { type Grant, grantsOf } from '../../src/access/consent/grants.ts'
import { purposes } from '../../src/access/consent/purposes.ts'
import { patientIn, refusesEmergencies, rulesOf } from '../../src/access/consent/rules.ts'
import { resourceTypes } from '../../src/definitions/r4.ts'
import { baseOf } from '../support/base.ts'
import { consentOf, ofType, terminology } from '../support/consents.ts'

const base = baseOf('http://localhost')
const now = Date.parse('2026-06-01T12:00:00Z')
const act = `${terminology}/v3-ActReason`

interface Question {
  readonly organization?: string
  readonly type?: string
  readonly codes?: readonly string[]
  readonly purpose?: string
  readonly at?: string
}

/** True if the consents open it, as the SQL over their grants would find. */
function opens(consents: readonly object[], question: Question = {}): boolean {
  const {
    organization = 'clinic',
    type = 'Condition',
    codes = [],
    purpose = 'TREAT',
    at = '2026-06-01T12:00:00Z',
  } = question
  const rules = consents.flatMap(each =>
    rulesOf(each as never, base).map(rule => ({ ...rule, author: recorder.get(each) ?? 'one' })),
  )
  const has = (list: readonly { readonly code: string }[]): boolean => list.some(({ code }) => codes.includes(code))
  return grantsOf(rules, now).some(
    (grant: Grant) =>
      grant.organization === `Organization/${organization}` &&
      grant.from <= Date.parse(at) &&
      grant.until > Date.parse(at) &&
      (grant.types?.includes(type) ?? true) &&
      (grant.codes === undefined || has(grant.codes)) &&
      !has(grant.except) &&
      (grant.purposes?.includes(purpose) ?? true),
  )
}

const consent = (provision: object = {}, more: object = {}) => consentOf('c', 'ada', 'clinic', provision, more)
const coded = (code: string) => ({ code: [{ coding: [{ system: `${terminology}/observation-category`, code }] }] })
const purpose = (...codes: string[]) => ({ purpose: codes.map(code => ({ system: act, code })) })
const noActor = { actor: undefined }

/** Who recorded a consent, if it is not the one who recorded the others. */
const recorder = new WeakMap<object, string>()
const by = (author: string, written: object): object => {
  recorder.set(written, author)
  return written
}

describe('one consent', () => {
  test.each<[string, object[], Question, boolean]>([
    ['opens the whole record to its organisation', [consent()], {}, true],
    ['opens nothing to another', [consent()], { organization: 'other' }, false],
    ['opens the types that it names', [consent(ofType('Observation'))], { type: 'Observation' }, true],
    ['opens no other type', [consent(ofType('Observation'))], { type: 'Condition' }, false],
    ['with a class that is no resource type opens nothing', [consent({ class: [{ code: 'CDA' }] })], {}, false],
    ['opens what has its code', [consent(coded('laboratory'))], { type: 'Observation', codes: ['laboratory'] }, true],
    ['opens nothing else', [consent(coded('laboratory'))], { type: 'Observation', codes: ['vital-signs'] }, false],
    [
      'counts sections of a laboratory as laboratory',
      [consent(coded('laboratory'))],
      { type: 'DiagnosticReport', codes: ['HM'] },
      true,
    ],
    ['counts imaging as none', [consent(coded('laboratory'))], { type: 'DiagnosticReport', codes: ['RAD'] }, false],
    ['for treatment opens nothing for research', [consent(purpose('TREAT'))], { purpose: 'HRESCH' }, false],
    ['for treatment opens it for treatment', [consent(purpose('TREAT'))], {}, true],
    ['for vital signs opens no section of a laboratory', [consent(coded('vital-signs'))], { codes: ['CH'] }, false],
    [
      'for another system that has a laboratory opens no section of it',
      [consent({ code: [{ coding: [{ system: 'http://x', code: 'laboratory' }] }] })],
      { codes: ['CH'] },
      false,
    ],
    ['for two purposes opens it for both', [consent(purpose('TREAT', 'HPAYMT'))], { purpose: 'HPAYMT' }, true],
    [
      'for a purpose of another system opens nothing',
      [consent({ purpose: [{ system: 'http://x', code: 'TREAT' }] })],
      {},
      false,
    ],
    ['that is about collecting opens nothing', [consent({ action: [{ coding: [{ code: 'collect' }] }] })], {}, false],
    ...['access', 'use', 'disclose'].map((code): [string, object[], Question, boolean] => [
      `to ${code} opens what is seen`,
      [consent({ action: [{ coding: [{ code }] }] })],
      {},
      true,
    ]),
    ['that has run out opens nothing', [consent({ period: { end: '2026-05-31' } })], {}, false],
    ['holds through its last day', [consent({ period: { end: '2026-06-01' } })], {}, true],
    [
      'holds through the last moment of its last day',
      [consent({ period: { end: '2026-06-01' } })],
      { at: '2026-06-01T23:59:59.999Z' },
      true,
    ],
    [
      'holds no more on the day after its last one',
      [consent({ period: { end: '2026-06-01' } })],
      { at: '2026-06-02T00:00:00Z' },
      false,
    ],
    ['holds no more at the moment of its end', [consent({ period: { end: '2026-06-01T12:00:00Z' } })], {}, false],
    ['that begins later opens nothing yet', [consent({ period: { start: '2026-07-01' } })], {}, false],
    [
      'that begins later opens it then',
      [consent({ period: { start: '2026-07-01' } })],
      { at: '2026-07-02T00:00:00Z' },
      true,
    ],
    ['with a beginning that cannot be read opens nothing', [consent({ period: { start: 'soon' } })], {}, false],
    ['with a period that cannot be read opens nothing', [consent({ period: { end: 'soon' } })], {}, false],
    ['that is proposed opens nothing', [consent({}, { status: 'proposed' })], {}, false],
    ['that is rejected opens nothing', [consent({}, { status: 'rejected' })], {}, false],
    ['that was entered in error opens nothing', [consent({}, { status: 'entered-in-error' })], {}, false],
    [
      'to a treatment opens no data',
      [consent({}, { scope: { coding: [{ system: `${terminology}/consentscope`, code: 'treatment' }] } })],
      {},
      false,
    ],
    [
      'narrowed by a security label, which no search knows, opens nothing',
      [consent({ securityLabel: [{ code: 'N' }] })],
      {},
      false,
    ],
    [
      'that a modifier extension makes something else opens nothing',
      [consent({}, { modifierExtension: [{ url: 'http://x', valueBoolean: true }] })],
      {},
      false,
    ],
    [
      'of which a modifier extension makes the provision something else opens nothing',
      [consent({ modifierExtension: [{ url: 'http://x', valueBoolean: true }] })],
      {},
      false,
    ],
    ['narrowed to single resources opens nothing', [consent({ data: [{ meaning: 'instance' }] })], {}, false],
    ['narrowed to a time of data opens nothing', [consent({ dataPeriod: { start: '2020' } })], {}, false],
    ['about correcting data only opens nothing', [consent({ action: [{ coding: [{ code: 'correct' }] }] })], {}, false],
    [
      'about something that is told in words alone opens nothing',
      [consent({ action: [{ text: 'sharing' }] })],
      {},
      false,
    ],
    [
      'about correcting and disclosing data opens it',
      [consent({ action: [{ coding: [{ code: 'correct' }] }, { coding: [{ code: 'disclose' }] }] })],
      {},
      true,
    ],
    [
      'narrowed to something that is told in words alone opens nothing',
      [consent({ code: [{ text: 'her malaria' }] })],
      {},
      false,
    ],
    [
      'narrowed to something of a system alone opens nothing',
      [consent({ code: [{ coding: [{ system: 'http://loinc.org' }] }] })],
      {},
      false,
    ],
    [
      'narrowed to a code, and to something in words, opens what has the code',
      [consent({ code: [{ text: 'her malaria' }, { coding: [{ system: 'http://loinc.org', code: '718-7' }] }] })],
      { codes: ['718-7'] },
      true,
    ],
    [
      'about privacy, among other things, opens it',
      [consent({}, { scope: { coding: [{ code: 'treatment' }, { code: 'patient-privacy' }] } })],
      {},
      true,
    ],
    ['about disclosing data opens it', [consent({ action: [{ coding: [{ code: 'disclose' }] }] })], {}, true],
    [
      'for a practitioner opens nothing to an organisation',
      [consent({ actor: [{ reference: { reference: 'Practitioner/p' } }] })],
      {},
      false,
    ],
    [
      'for somebody who is named within it opens nothing',
      [consent({ actor: [{ reference: { reference: '#clinic' } }] })],
      {},
      false,
    ],
    [
      'for nobody in particular is for who keeps it',
      [consent(noActor, { organization: [{ reference: 'Organization/clinic' }] })],
      {},
      true,
    ],
    [
      'for nobody in particular is for nobody else',
      [consent(noActor, { organization: [{ reference: 'Organization/clinic' }] })],
      { organization: 'other' },
      false,
    ],
    ['for nobody, kept by nobody, opens nothing', [consent(noActor)], {}, false],
    [
      'names its organisation by an absolute address, too',
      [consent({ actor: [{ reference: { reference: `${base.endpoint}/Organization/clinic` } }] })],
      {},
      true,
    ],
    [
      'of another server’s organisation opens nothing here',
      [consent({ actor: [{ reference: { reference: 'http://elsewhere/Organization/clinic' } }] })],
      {},
      false,
    ],
  ])('%s', (_name, consents, question, expected) => {
    expect(opens(consents, question)).toBe(expected)
  })
})

test.each<[string, object]>([
  ['is not active', consent({}, { status: 'proposed' })],
  ['is not about privacy', consent({}, { scope: { coding: [{ code: 'treatment' }] } })],
  ['is not about seeing', consent({ action: [{ coding: [{ code: 'collect' }] }] })],
])('a consent that %s has no rules', (_name, written) => {
  expect(rulesOf(written as never, base)).toEqual([])
})

test('a code without a system is one of no system', () => {
  const [rule] = rulesOf(consent({ code: [{ coding: [{ code: 'x' }] }] }) as never, base)
  expect(rule!.codes).toEqual([{ system: '', code: 'x' }])
})

describe("R4's own way of writing", () => {
  const policy = (code: string) => ({ policyRule: { coding: [{ code }] }, policy: undefined })
  test.each<[string, object, Question, boolean]>([
    ['opting in permits', consent({ type: undefined }, policy('OPTIN')), {}, true],
    ['opting in with restrictions permits', consent({ type: undefined }, policy('OPTINR')), {}, true],
    [
      'opting in, narrowed by a security label, opens nothing',
      consent({ type: undefined, securityLabel: [{ code: 'N' }] }, policy('OPTIN')),
      {},
      false,
    ],
    [
      'an exception without a type from a refusal, narrowed by a security label, opens nothing',
      consent({ type: 'deny', provision: [{ securityLabel: [{ code: 'N' }] }] }),
      {},
      false,
    ],
    [
      'opting in permits, among other codes of the policy',
      consent(
        { type: undefined },
        { policyRule: { coding: [{ code: 'OTHER' }, { code: 'OPTIN' }] }, policy: undefined },
      ),
      {},
      true,
    ],
    ['what the root rule says counts before the policy', consent({ type: 'deny' }, policy('OPTIN')), {}, false],
    ['opting out denies', consent({ type: undefined }, policy('OPTOUT')), {}, false],
    ['an unknown policy denies', consent({ type: undefined }, policy('OTHER')), {}, false],
    [
      'opting in with an exception leaves that out',
      consent({ type: undefined, provision: [{ type: 'deny', ...ofType('Observation') }] }, policy('OPTIN')),
      { type: 'Observation' },
      false,
    ],
    [
      'an exception without a type is the opposite of what it is in',
      consent({ provision: [{ ...ofType('Observation') }] }),
      { type: 'Observation' },
      false,
    ],
    [
      'opting out with an exception opens that',
      consent({ type: undefined, provision: [{ type: 'permit', ...ofType('Observation') }] }, policy('OPTOUT')),
      { type: 'Observation' },
      true,
    ],
  ])('%s', (_name, written, question, expected) => {
    expect(opens([written], question)).toBe(expected)
  })
})

/** Provisions that say nothing, one in the other, and the last of them. */
const within = (depth: number, last: object): object =>
  excepting(depth === 1 ? last : { type: 'permit', ...within(depth - 1, last) })
const excepting = (...provision: object[]) => ({ provision })

describe('exceptions and several consents', () => {
  test.each<[string, object[], Question, boolean]>([
    [
      'what is permitted to one organisation is not permitted to another',
      [consent(ofType('Observation')), consentOf('d', 'ada', 'other', ofType('Condition'))],
      {},
      false,
    ],
    [
      'a refusal with an exception for a code opens what has it',
      [consent({ type: 'deny', ...excepting({ type: 'permit', ...coded('laboratory') }) })],
      { codes: ['laboratory'] },
      true,
    ],
    [
      'a refusal with an exception for a code opens nothing else',
      [consent({ type: 'deny', ...excepting({ type: 'permit', ...coded('laboratory') }) })],
      { codes: ['vital-signs'] },
      false,
    ],
    [
      'a refusal within a refusal is one',
      [consent({ type: 'deny', ...excepting({ type: 'deny', ...ofType('Condition') }) })],
      {},
      false,
    ],
    [
      'an exception without a type is a permission within a refusal',
      [consent({ type: 'deny', ...excepting(ofType('Condition')) })],
      {},
      true,
    ],
    ...[6, 30].map((depth): [string, object[], Question, boolean] => [
      `a refusal that stands ${depth} provisions deep counts`,
      [consent(within(depth, { type: 'deny', ...ofType('Condition') }))],
      {},
      false,
    ]),
    [
      'a permission that stands 30 provisions deep counts',
      [consent({ type: 'deny', ...within(30, { type: 'permit', ...ofType('Condition') }) })],
      {},
      true,
    ],
    [
      'an exception is more particular than what another consent says at its root, whatever that names',
      [
        consent({ ...ofType('Condition'), ...purpose('TREAT') }),
        consent(excepting({ type: 'deny', ...ofType('Condition') })),
      ],
      {},
      false,
    ],
    [
      'a refusal for somebody who is no organisation is for everybody',
      [consent(excepting({ type: 'deny', actor: [{ reference: { reference: 'Practitioner/p' } }] }))],
      {},
      false,
    ],
    [
      'a refusal of something in words alone refuses all',
      [consent(excepting({ type: 'deny', code: [{ text: 'HIV' }] }))],
      {},
      false,
    ],
    [
      'a refusal of a code that is left out refuses all',
      [consent(excepting({ type: 'deny', code: [{ coding: [{ system: 'http://loinc.org' }] }] }))],
      {},
      false,
    ],
    [
      'a refusal for an organisation and for somebody who is none is for everybody',
      [
        consent(
          excepting({
            type: 'deny',
            actor: ['Organization/other', 'Practitioner/p'].map(reference => ({ reference: { reference } })),
          }),
        ),
      ],
      {},
      false,
    ],
    [
      'a refusal of a code, and of something in words, refuses all',
      [
        consent(
          excepting({
            type: 'deny',
            code: [{ text: 'HIV' }, { coding: [{ system: 'http://loinc.org', code: '718-7' }] }],
          }),
        ),
      ],
      {},
      false,
    ],
    [
      'a refusal of a type, and of what is no type here, refuses all',
      [consent(excepting({ type: 'deny', ...ofType('Observation', 'application/hl7-cda+xml') }))],
      {},
      false,
    ],
    [
      'an exception within what is narrowed by a security label opens nothing',
      [
        consent({
          type: 'deny',
          securityLabel: [{ code: 'R' }],
          ...excepting({ type: 'permit', ...ofType('Condition') }),
        }),
      ],
      {},
      false,
    ],
    [
      'an exception within what is about correcting opens nothing',
      [
        consent({
          type: 'deny',
          action: [{ coding: [{ code: 'correct' }] }],
          ...excepting({ type: 'permit', ...ofType('Condition') }),
        }),
      ],
      {},
      false,
    ],
    [
      'an exception within what is about correcting opens it if it is about disclosing',
      [
        consent({
          type: 'deny',
          action: [{ coding: [{ code: 'correct' }] }],
          ...excepting({ type: 'permit', action: [{ coding: [{ code: 'disclose' }] }], ...ofType('Condition') }),
        }),
      ],
      {},
      true,
    ],
    [
      'a refusal for a purpose of another system refuses all',
      [consent(excepting({ type: 'deny', purpose: [{ system: 'http://x', code: 'TREAT' }] }))],
      {},
      false,
    ],
    [
      'a refusal of an action in words alone refuses all',
      [consent(excepting({ type: 'deny', action: [{ text: 'looking' }] }))],
      {},
      false,
    ],
    [
      'a refusal of an action that is not known here refuses all',
      [
        consent(
          excepting({ type: 'deny', action: [{ coding: [{ code: 'correct' }] }, { coding: [{ code: 'look' }] }] }),
        ),
      ],
      {},
      false,
    ],
    [
      'a refusal of collecting and correcting refuses nothing that is seen',
      [
        consent(
          excepting({ type: 'deny', action: [{ coding: [{ code: 'collect' }] }, { coding: [{ code: 'correct' }] }] }),
        ),
      ],
      {},
      true,
    ],
    ['an exception closes its type', [consent({ provision: [{ type: 'deny', ...ofType('Condition') }] })], {}, false],
    [
      'and no other',
      [consent({ provision: [{ type: 'deny', ...ofType('Condition') }] })],
      { type: 'Observation' },
      true,
    ],
    [
      'an exception closes what has its code',
      [consent({ provision: [{ type: 'deny', ...coded('laboratory') }] })],
      { type: 'Observation', codes: ['laboratory'] },
      false,
    ],
    [
      'and nothing else of the type',
      [consent({ provision: [{ type: 'deny', ...coded('laboratory') }] })],
      { type: 'Observation', codes: ['vital-signs'] },
      true,
    ],
    [
      'an exception that cannot be told closes more, not less',
      [consent({ provision: [{ type: 'deny', ...ofType('Observation'), securityLabel: [{ code: 'R' }] }] })],
      { type: 'Observation' },
      false,
    ],
    [
      'an exception of which the class cannot be told closes everything',
      [consent({ provision: [{ type: 'deny', class: [{ code: 'CDA' }] }] })],
      {},
      false,
    ],
    [
      'a refusal beats a permission that is as particular',
      [consent(), consentOf('d', 'ada', 'clinic', { type: 'deny' })],
      {},
      false,
    ],
    [
      'a permission for one organisation beats a refusal for all',
      [consent(), consent({ type: 'deny', ...noActor })],
      {},
      true,
    ],
    ['a refusal for all closes the others', [consent({ type: 'deny', ...noActor })], { organization: 'other' }, false],
    [
      'a permission for a type beats a refusal of the record',
      [consent({ type: 'deny' }), consentOf('d', 'ada', 'clinic', ofType('Observation'))],
      { type: 'Observation' },
      true,
    ],
    [
      'two narrow ones add up',
      [consent(ofType('Observation')), consentOf('d', 'ada', 'clinic', ofType('Condition'))],
      {},
      true,
    ],
    [
      'a refusal closes for as long as it holds',
      [consent(), consentOf('d', 'ada', 'clinic', { type: 'deny', period: { end: '2026-06-30' } })],
      { at: '2026-06-15T00:00:00Z' },
      false,
    ],
    [
      'and opens after it',
      [consent(), consentOf('d', 'ada', 'clinic', { type: 'deny', period: { end: '2026-06-30' } })],
      { at: '2026-07-02T00:00:00Z' },
      true,
    ],
    [
      'breaking the glass is no purpose of a request',
      [consent({ type: 'deny', provision: [{ type: 'permit', ...purpose('BTG') }] })],
      {},
      false,
    ],
  ])('%s', (_name, consents, question, expected) => {
    expect(opens(consents, question)).toBe(expected)
  })
})

describe('consents that different parties have recorded', () => {
  const laboratory = { type: 'Observation', codes: ['laboratory'] }
  const refusal = consent({ type: 'deny' })
  test.each<[string, object[], Question, boolean]>([
    ['add up', [consent(ofType('Observation')), by('two', consent(ofType('Condition')))], {}, true],
    [
      'leave a refusal as it is, however particular the permission of the other',
      [refusal, by('two', consent({ ...ofType('Condition'), ...purpose('TREAT') }))],
      {},
      false,
    ],
    [
      'leave it, too, where the other permits as an exception from a refusal',
      [refusal, by('two', consent({ type: 'deny', provision: [{ type: 'permit', ...ofType('Condition') }] }))],
      {},
      false,
    ],
    ['leave a refusal for everybody', [consent({ type: 'deny', ...noActor }), by('two', consent())], {}, false],
    [
      'leave it for its type alone',
      [consent({ type: 'deny', ...ofType('Observation') }), by('two', consent({ ...purpose('TREAT') }))],
      {},
      true,
    ],
    [
      'leave it for its code',
      [consent({ type: 'deny', ...coded('laboratory') }), by('two', consent(ofType('Observation')))],
      laboratory,
      false,
    ],
    [
      'leave it for no other code',
      [consent({ type: 'deny', ...coded('laboratory') }), by('two', consent(ofType('Observation')))],
      { type: 'Observation', codes: ['vital-signs'] },
      true,
    ],
    [
      'leave what one permits beside its own refusal',
      [consent({ type: 'deny', ...noActor, provision: [{ ...consent().provision }] }), by('two', consent())],
      {},
      true,
    ],
    [
      'leave it for as long as it holds',
      [consent({ type: 'deny', period: { end: '2026-06-30' } }), by('two', consent({ ...purpose('TREAT') }))],
      { at: '2026-07-02T00:00:00Z' },
      true,
    ],
  ])('%s', (_name, consents, question, expected) => {
    expect(opens(consents, question)).toBe(expected)
    expect(opens(consents.toReversed(), question)).toBe(expected)
  })
})

describe('a consent is about', () => {
  test.each([
    [{ reference: 'Patient/ada' }, 'ada'],
    [{ reference: `${base.endpoint}/Patient/ada/_history/2` }, 'ada'],
    [{ reference: 'Group/ada' }, undefined],
    [{ reference: '#ada' }, undefined],
    [{ reference: 7 }, undefined],
    [{ identifier: { value: 'ada' } }, undefined],
    [undefined, undefined],
  ])('%j: %s', (patient, expected) => expect(patientIn({ patient } as never, base)).toBe(expected))
})

describe('in emergencies a record is closed by', () => {
  const policy = (...uris: string[]) => ({ policy: uris.map(uri => ({ uri })) })
  const denied = policy('https://profiles.ihe.net/ITI/PCF/Policy-deny')
  const but = (...provision: object[]) => ({ type: 'deny', actor: undefined, provision })
  test.each<[string, object, boolean]>([
    ['the policy that denies everything', consent({ type: 'deny' }, denied), true],
    ['that policy beside another one', consent({ type: 'deny' }, policy('http://x', denied.policy[0]!.uri)), true],
    ['that policy without a provision', consent({}, { ...denied, provision: undefined }), true],
    ['that policy except for breaking the glass', consent(but({ type: 'permit', ...purpose('BTG') }), denied), false],
    [
      'that policy except for other purposes',
      consent(but({ type: 'permit', ...purpose('TREAT', 'ETREAT') }), denied),
      true,
    ],
    [
      'that policy with a second exception for breaking the glass',
      consent(but({ type: 'permit', ...purpose('TREAT') }, { type: 'permit', ...purpose('TREAT', 'BTG') }), denied),
      false,
    ],
    [
      'that policy, which names breaking the glass as refused',
      consent(but({ type: 'deny', ...purpose('BTG') }), denied),
      true,
    ],
    ['that policy, while it is a draft', consent({ type: 'deny' }, { ...denied, status: 'draft' }), false],
    ['another policy', consent({ type: 'deny' }), false],
  ])('%s: %o', (_name, written, expected) => expect(refusesEmergencies(written as never)).toBe(expected))
})

const rowsOf = (written: object): Grant[] =>
  grantsOf(
    rulesOf(written as never, base).map(rule => ({ ...rule, author: 'one' })),
    now,
  )

test('a consent without exceptions is one row, which names no more than it must', () => {
  const [whole, ...more] = rowsOf(consent())
  expect([whole, more]).toEqual([
    {
      organization: 'Organization/clinic',
      from: Number.NEGATIVE_INFINITY,
      until: Number.POSITIVE_INFINITY,
      types: undefined,
      codes: undefined,
      except: [],
      purposes: undefined,
      consent: 'c',
    },
    [],
  ])
  expect(rowsOf(consent(purpose('TREAT')))).toEqual([{ ...whole, purposes: ['TREAT'] }])
  expect(rowsOf(consent(purpose(...purposes)))).toEqual([whole])
  const but = rowsOf(consent(excepting({ type: 'deny', ...ofType('Condition') })))
  expect(but).toEqual([{ ...whole, types: resourceTypes.filter(type => type !== 'Condition') }])
  const [coding] = coded('vital-signs').code[0]!.coding
  expect(rowsOf(consent(excepting({ type: 'deny', ...coded('vital-signs') })))).toEqual([
    { ...whole, except: [coding] },
  ])
})

test('what holds now holds by whichever clock, and what begins later from its moment on', () => {
  const from = (provision: object) => rowsOf(consent(provision)).map(each => each.from)
  expect(from({ period: { start: '2026-05-01' } })).toEqual([Number.NEGATIVE_INFINITY])
  expect(from({ period: { start: '2026-06-01T12:00:00Z' } })).toEqual([Number.NEGATIVE_INFINITY])
  expect(from({ period: { start: '2026-07-01T00:00:00Z' } })).toEqual([Date.parse('2026-07-01T00:00:00Z')])
})
