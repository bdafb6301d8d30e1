// The catalogue of events: which step in the lifecycle of which resource produces which event. Events are derived from changes,
// never emitted, so code that writes a resource cannot forget them. Interface §6.1, decisions §8.

import type { Base } from '../store/base.ts'
import { appointment, calledOff, isAhead, isAttended, isFulfilled, isKept } from './appointments.ts'
import { failedSync, syncFailed } from './bridge.ts'
import {
  all,
  appeared,
  became,
  type Claim,
  changed,
  entered,
  exists,
  is,
  type LifecycleStep,
  not,
  type RelatedResources,
  was,
} from './claims.ts'
import { asked, ending, given, perOrganization, refused, takenBack } from './consents.ts'
import type { ContentOf, EventContent } from './content.ts'
import { document, documentsToRead, issued, verifiedDocuments } from './documents.ts'
import { encounter, isReal } from './encounters.ts'
import type { EventType } from './event-types.ts'
import type { Change, Occurrence } from './occurrence.ts'
import {
  amendedResult,
  corrected,
  isLabOrder,
  isReleased,
  labOrder,
  labResult,
  resultsToRead,
} from './orders-and-results.ts'
import { demographics, healthIds, patient } from './patients.ts'
import { cancelled, dispense, prescription } from './prescriptions.ts'
import { isOpen, isOrder } from './requests.ts'

export interface Catalogue {
  /** The types of resources that have events; changes of other types can be skipped. */
  readonly types: ReadonlySet<string>
  /**
   * Returns names (`Type/id`) of the resources that the rules need for this change and do not have yet. What is read may name more,
   * so call it until nothing is missing.
   */
  missing(change: Change, known?: RelatedResources): string[]
  /** What has happened by the change. @param known other resources, as they are after the transaction */
  derive(change: Change, known?: RelatedResources): Occurrence[]
}

interface Rule {
  readonly event: EventType
  readonly type: string
  readonly claim: Claim
  readonly contentOf: ContentOf
}

const rule = (event: EventType, type: string, claim: Claim, contentOf: ContentOf): Rule => ({
  event,
  type,
  claim,
  contentOf,
})

const rules: readonly Rule[] = [
  rule('patient.created', 'Patient', appeared, patient),
  rule('patient.updated', 'Patient', changed, demographics),
  rule('health_id.created', 'Patient', exists, healthIds),
  rule('consent.requested', 'Consent', exists, perOrganization(asked)),
  rule('consent.granted', 'Consent', exists, perOrganization(given)),
  rule('consent.denied', 'Consent', exists, perOrganization(refused)),
  rule('consent.revoked', 'Consent', not(appeared), perOrganization(takenBack, ending)),
  rule('encounter.created', 'Encounter', entered(isReal), encounter),
  rule('encounter.closed', 'Encounter', became('finished'), encounter),
  rule('lab_order.created', 'ServiceRequest', all(entered(isLabOrder), is(isOpen)), labOrder),
  rule('lab_result.released', 'DiagnosticReport', entered(isReleased), labResult),
  rule('lab_result.amended', 'DiagnosticReport', corrected, amendedResult),
  rule('prescription.issued', 'MedicationRequest', all(entered(isOrder), is(isOpen)), prescription),
  rule('prescription.cancelled', 'MedicationRequest', cancelled, prescription),
  rule('prescription.dispensed', 'MedicationDispense', became('completed'), dispense),
  rule('appointment.created', 'Appointment', all(entered(isKept), is(isAhead)), appointment),
  rule('appointment.checked_in', 'Appointment', all(entered(isAttended), not(was(isFulfilled))), appointment),
  rule('appointment.cancelled', 'Appointment', calledOff, appointment),
  rule('document.issued', 'DocumentReference', issued.DocumentReference, document('DocumentReference')),
  rule('document.issued', 'Composition', issued.Composition, document('Composition')),
  rule('document.verified', 'VerificationResult', became('validated'), verifiedDocuments),
  rule('bridge_agent.sync_failed', 'Task', syncFailed, failedSync),
]

/** The resources that rules need in addition to a changed one, by type. */
const reading: ReadonlyMap<string, (step: LifecycleStep) => string[]> = new Map([
  ['DiagnosticReport', resultsToRead],
  ['VerificationResult', documentsToRead],
])

const nothing: RelatedResources = new Map()

/** The catalogue for a data set. */
export function createCatalogue(base: Base): Catalogue {
  const byType = Map.groupBy(rules, ({ type }) => type)
  const stepOf = ({ id, resource, former }: Change, known: RelatedResources): LifecycleStep => ({
    id,
    now: resource,
    before: former,
    around: { base, known },
  })
  return {
    types: new Set(byType.keys()),
    missing: (change, known = nothing) => reading.get(change.type)?.(stepOf(change, known)) ?? [],
    derive(change, known = nothing) {
      const own = byType.get(change.type)
      if (!own) return []
      const step = stepOf(change, known)
      return own
        .filter(({ claim }) => claim(step))
        .flatMap(({ event, contentOf }) => [contentOf(step)].flat().map(content => occurrence(event, change, content)))
    },
  }
}

function occurrence(event: EventType, { type, id, version }: Change, content: EventContent): Occurrence {
  return {
    type: event,
    source: content.source ?? { type, id, version },
    patient: content.patient,
    data: content.data,
    facility: content.facility ?? '',
    audience: content.audience ?? 'readers',
  }
}
