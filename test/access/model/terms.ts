// What a consent says, apart from how FHIR writes it; and how FHIR writes it.
import { consentOf, ofType, terminology } from '../../support/consents.ts'

export const kinds = ['Patient', 'Observation', 'Condition'] as const
export type Kind = (typeof kinds)[number]
export type Effect = 'permit' | 'deny'

/** A provision, and the exceptions within it; what is left out is as in the provision around it, or anything. */
export interface Terms {
  readonly effect: Effect
  /** Ids. */
  readonly organizations?: readonly string[]
  readonly types?: readonly Kind[]
  readonly codes?: readonly string[]
  readonly purpose?: 'TREAT' | 'HRESCH' | 'BTG'
  /** Of the outermost provision: its time is over, or has yet to come. */
  readonly time?: 'past' | 'future'
  readonly exceptions: readonly Terms[]
}

/** What resources are found by: one code is a category, the others are of LOINC. */
const laboratory = 'laboratory'
export const coding = (code: string) =>
  code === laboratory ? { system: `${terminology}/observation-category`, code } : { system: 'http://loinc.org', code }

const periods = { past: { end: '2020-01-01' }, future: { start: '2090-01-01' } }

function provisionOf({ effect, organizations, types, codes, purpose, time, exceptions }: Terms): object {
  return {
    type: effect,
    actor: organizations?.flatMap(id => consentOf('', '', id).provision.actor),
    ...(types && ofType(...types)),
    ...(codes && { code: codes.map(code => ({ coding: [coding(code)] })) }),
    ...(purpose && { purpose: [{ system: `${terminology}/v3-ActReason`, code: purpose }] }),
    ...(time && { period: periods[time] }),
    ...(exceptions.length > 0 && { provision: exceptions.map(provisionOf) }),
  }
}

/** The Consent of a patient. */
export const written = (id: string, patient: string, terms: Terms) => consentOf(id, patient, 'x', provisionOf(terms))

/** What Connect writes for a type of consent. */
export function termsOfType(type: string, organization: string): Terms {
  const whole: Terms = { effect: 'permit', organizations: [organization], purpose: 'TREAT', exceptions: [] }
  if (type === 'diagnoses') return { ...whole, types: ['Condition'] }
  if (type === 'lab_results') return { ...whole, types: ['Observation'], codes: [laboratory] }
  if (type === 'emergency_only')
    return {
      ...{ effect: 'deny', organizations: [organization] },
      exceptions: [{ effect: 'permit', purpose: 'BTG', exceptions: [] }],
    }
  return whole
}
