import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/lib/json.ts'
import { but, catalogue, change, derived, names } from './support.ts'

const signed: JsonObject = {
  resourceType: 'DocumentReference',
  id: 'd',
  meta: { versionId: '3' },
  status: 'current',
  docStatus: 'final',
  description: 'Lettre de Mme Ngono',
  subject: { reference: 'Patient/ngono' },
  author: [{ reference: 'Practitioner/p' }, { reference: 'Organization/hcy' }],
  context: { encounter: [{ reference: 'Encounter/e' }] },
}
const draft = but(signed, { docStatus: 'preliminary' })
const amended = but(signed, { docStatus: 'amended' })
const plain = but(signed, { docStatus: undefined })

const note: JsonObject = { resourceType: 'Composition', status: 'final', subject: { reference: 'Patient/ngono' } }
const noteOf = (status: string) => but(note, { status })

const cases: readonly [string, string, JsonObject | undefined, JsonObject | undefined, boolean][] = [
  ['a signed one', 'DocumentReference', signed, undefined, true],
  ['one of which nobody says whether it is signed', 'DocumentReference', plain, undefined, true],
  ['a draft', 'DocumentReference', draft, undefined, false],
  ['one that is signed', 'DocumentReference', signed, draft, true],
  ['one that is amended', 'DocumentReference', amended, signed, true],
  ['one that is described otherwise', 'DocumentReference', but(signed, { description: 'x' }), signed, false],
  ['one that is replaced', 'DocumentReference', but(signed, { status: 'superseded' }), signed, false],
  ['a deleted one', 'DocumentReference', undefined, signed, false],
  ['a note', 'Composition', note, undefined, true],
  ['a note that is signed', 'Composition', note, noteOf('preliminary'), true],
  ['a note that is amended', 'Composition', noteOf('amended'), note, true],
  ['a note that was amended before it was sent here', 'Composition', noteOf('amended'), undefined, true],
  ['a note that is not', 'Composition', noteOf('entered-in-error'), note, false],
  ['a deleted note', 'Composition', undefined, note, false],
]

describe('of a document is told that it is issued', () => {
  test.each(cases)('%s', (_name, type, now, before, isTold) => {
    expect(names(type, now, before)).toEqual(isTold ? ['document.issued'] : [])
  })

  test('where, and in which encounter, and not what it is about', () => {
    expect(derived('DocumentReference', signed)).toEqual([
      {
        type: 'document.issued',
        source: { type: 'DocumentReference', id: 'it', version: 7 },
        patient: 'ngono',
        data: {
          document_id: 'it',
          document_type: 'DocumentReference',
          status: 'final',
          encounter_id: 'e',
          facility_id: 'hcy',
        },
        facility: 'hcy',
        audience: 'readers',
      },
    ])
  })
})

const verification: JsonObject = {
  resourceType: 'VerificationResult',
  status: 'validated',
  target: [{ reference: 'DocumentReference/d' }, { reference: 'Practitioner/p' }],
}
const known = new Map([['DocumentReference/d', signed]])

describe('of a document is told that it is verified', () => {
  test('to those who may see it, where it is known', () => {
    expect(catalogue.missing(change('VerificationResult', verification))).toEqual(['DocumentReference/d'])
    expect(derived('VerificationResult', verification, undefined, known)).toEqual([
      {
        type: 'document.verified',
        source: { type: 'DocumentReference', id: 'd', version: 3 },
        patient: 'ngono',
        data: { document_id: 'd', document_type: 'DocumentReference', verification_id: 'it', facility_id: 'hcy' },
        facility: 'hcy',
        audience: 'readers',
      },
    ])
  })

  test('to those who may see the verification, where it is not', () => {
    expect(derived('VerificationResult', verification)[0]).toMatchObject({
      source: { type: 'VerificationResult', id: 'it', version: 7 },
      patient: undefined,
    })
  })

  const others: readonly [string, JsonObject | undefined, JsonObject | undefined][] = [
    ['one that has not come to an end', but(verification, { status: 'attested' }), undefined],
    ['one that failed', but(verification, { status: 'val-fail' }), undefined],
    ['one that was told', but(verification, { need: {} }), verification],
    ['one of a practitioner', but(verification, { target: [{ reference: 'Practitioner/p' }] }), undefined],
    ['a deleted one', undefined, verification],
  ]
  test.each(others)('not by %s', (_name, now, before) => {
    expect(names('VerificationResult', now, before, known)).toEqual([])
  })
})
