// Events about consents: each organisation receives what concerns it, and nothing about other organisations that the patient
// trusts. Interface §6.1.

import { isDeepStrictEqual } from 'node:util'
import { code, id, moment, text } from '../shapes/fields.ts'
import type { LifecycleStep } from './claims.ts'
import { type Terms, termsOf } from './consent-terms.ts'
import { type ContentOf, described, type EventContent, orNull } from './content.ts'
import { extension, latest, patientIn } from './elements.ts'

const data = {
  consent_id: id('The consent.'),
  consent_type: orNull(
    text(
      'The consent type, one of GET /api/v1/connect/consent-types. Null if the consent defines its scope in another way.',
    ),
  ),
  organization_id: orNull(
    id('The organisation that may access the data or requested access. Null if the consent names none.'),
  ),
  status: code(
    ['pending', 'active', 'denied', 'revoked', 'expired'],
    'The current consent status for the organisation.',
  ),
  expires_at: orNull(moment('When the consent expires.')),
}

const example = {
  health_id: 'CM-TQYE-6SRK-YQ6S',
  consent_id: '9b05e7d1-c4f8-4a36-8e92-0d7fa1b63c58',
  consent_type: 'full_record',
  organization_id: 'hopital-central-yaounde',
  status: 'active',
  expires_at: '2027-03-14T09:42:07.000Z',
}

export const consentEvents = {
  'consent.requested': described('Consent request sent to patient', data, { ...example, status: 'pending' }),
  'consent.granted': described('Patient grants consent', data, example),
  'consent.denied': described('Patient denies a consent request', data, { ...example, status: 'denied' }),
  'consent.revoked': described(
    'Patient revokes a granted consent; subscriber must stop data access immediately',
    {
      ...data,
      reason: code(
        ['revoked', 'expired', 'denied', 'narrowed', 'entered_in_error', 'deleted'],
        'Why the consent ended. expired: it passed its expiry. denied: the patient now refuses. narrowed: it remains in force but no longer opens anything to the organisation.',
      ),
    },
    { ...example, status: 'revoked', reason: 'revoked' },
  ),
}

/** What a step means for an organisation that the Consent names, or named before. */
type Turn = (now: Terms | undefined, before: Terms | undefined) => boolean

/** The patient has received a consent request. */
export const asked: Turn = (now, before) => now?.standing === 'requested' && before?.standing !== 'requested'
/** The patient gives consent, or gives another in its place: for longer, for more, for less. */
export const given: Turn = (now, before) =>
  now?.standing === 'granted' && (before?.standing !== 'granted' || !isDeepStrictEqual(now.wording, before.wording))
/** The patient refuses what was not given. */
export const refused: Turn = (now, before) =>
  now?.standing === 'denied' && before?.standing !== 'denied' && before?.standing !== 'granted'
/** What was given is no longer given, for any reason. */
export const takenBack: Turn = (now, before) => before?.standing === 'granted' && now?.standing !== 'granted'

/** Reports to every organisation for which the step is such a turn. */
export function perOrganization(turn: Turn, contentOf: TermsContent = standing): ContentOf {
  return step => {
    const now = termsOf(step.now, step.around.base)
    const before = termsOf(step.before, step.around.base)
    const organizations = new Set([...now.keys(), ...before.keys()])
    return [...organizations].flatMap(organization => {
      const [is, was] = [now.get(organization), before.get(organization)]
      return turn(is, was) ? contentOf(step, organization, (is ?? was)!, was) : []
    })
  }
}

/** @param terms as they are, or were if they are no more */
type TermsContent = (step: LifecycleStep, organization: string, terms: Terms, was: Terms | undefined) => EventContent

const words = { requested: 'pending', granted: 'active', denied: 'denied', void: 'active', over: 'revoked' } as const

const standing: TermsContent = (step, organization, terms) =>
  contentWith(step, organization, terms, { status: words[terms.standing] })

/** The terms that were given, and why they ended. */
export const ending: TermsContent = (step, organization, terms, was = terms) => {
  const reason = reasonOf(step)
  const status = reason === 'expired' || reason === 'denied' ? reason : 'revoked'
  return contentWith(step, organization, was, { status, reason })
}

function contentWith(
  step: LifecycleStep,
  organization: string,
  { type, expiresAt }: Terms,
  more: object,
): EventContent {
  const { id, around } = step
  const [consent_type, organization_id, expires_at] = [type, organization, expiresAt]
  return {
    patient: patientIn(latest(step)['patient'], around),
    data: { consent_id: id, consent_type, organization_id, expires_at, ...more },
    audience: [organization],
  }
}

/** Returns why it no longer holds; a consent that ended without a reason was revoked. */
function reasonOf({ now }: LifecycleStep): string {
  if (!now) return 'deleted'
  switch (now['status']) {
    case 'entered-in-error':
      return 'entered_in_error'
    case 'rejected':
      return 'denied'
    case 'active':
      return 'narrowed'
    default:
      return extension(now, 'consent-end-reason', 'valueCode') === 'expired' ? 'expired' : 'revoked'
  }
}
