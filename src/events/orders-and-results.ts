// Events about laboratory orders and results: interface §6.1 and §6.2.

import { Type } from '../lib/schema.ts'
import { id, text } from '../shapes/fields.ts'
import { all, any, both, changed, type LifecycleStep, left, type State, status, stayed } from './claims.ts'
import { described, type EventContent, facilityId, orNull } from './content.ts'
import { codeIn, facilityIn, latest, nameIn, patientIn } from './elements.ts'
import { isFlagged, isOfLaboratory, isToldByObservations, mayBeOfLaboratory, observationsOf } from './laboratory.ts'
import { isOrder } from './requests.ts'

const testName = orNull(text('The name of the test: the display of its code, or the name from the laboratory.'))
const flagged = Type.Boolean({ description: 'True if a result needs attention: abnormal, high, low, critical.' })
const resultId = id('The result: a DiagnosticReport.')

const order = {
  health_id: 'CM-9C1T-3NR9-A9HC',
  lab_order_id: 'd7035fb8-1c62-4e9a-b5d4-a8e3f90c2176',
  test_name: 'Hémoglobine',
  status: 'active',
  priority: 'urgent',
  facility_id: 'hopital-central-yaounde',
}

const result = {
  health_id: 'CM-9C1T-3NR9-A9HC',
  lab_result_id: '64d8e2f1-9a05-4c7b-83e6-b0f7a4d5c912',
  test_name: 'Hémoglobine',
  flagged: true,
  facility_id: 'hopital-central-yaounde',
}

export const laboratoryEvents = {
  'lab_order.created': described(
    'Lab test ordered',
    {
      lab_order_id: id('The order: a ServiceRequest.'),
      test_name: testName,
      status: orNull(text('active, or on-hold if the test must not be done yet.')),
      priority: orNull(text('The priority: routine, urgent, asap or stat.')),
      facility_id: facilityId,
    },
    order,
  ),
  'lab_result.released': described(
    'Lab result published',
    { lab_result_id: resultId, test_name: testName, flagged, facility_id: facilityId },
    result,
  ),
  'lab_result.amended': described(
    'Lab result corrected',
    {
      lab_result_id: resultId,
      test_name: testName,
      flagged,
      status: orNull(
        text(
          'amended, corrected or appended; or cancelled, entered-in-error or deleted if the result is no longer valid.',
        ),
      ),
      facility_id: facilityId,
    },
    { ...result, status: 'corrected' },
  ),
}

/** The laboratory is to carry it out, or has. */
export const isLabOrder: State = both(isOrder, isOfLaboratory)

const isReleasedBySomebody = status('final', 'amended', 'corrected', 'appended')

/** Readers may rely on it. */
export const isReleased: State = both(isReleasedBySomebody, isOfLaboratory)

/** A released result has changed, or is withdrawn, or deleted: a reader may have relied on it. */
export const corrected = any(all(stayed(isReleased), changed), left(isReleased))

/** An order. */
export function labOrder(step: LifecycleStep): EventContent {
  const resource = latest(step)
  const { subject, code, status, priority, requester, locationReference, performer } = resource
  const facility = facilityIn(resource, step.around, requester, locationReference, performer)
  return {
    patient: patientIn(subject, step.around),
    facility,
    data: {
      lab_order_id: step.id,
      test_name: nameIn(code),
      status: codeIn(status),
      priority: codeIn(priority),
      facility_id: facility ?? null,
    },
  }
}

/** A result, flagged or not; only readers with access see its content. */
export function labResult(step: LifecycleStep): EventContent {
  const resource = latest(step)
  const { subject, code, performer, resultsInterpreter } = resource
  const facility = facilityIn(resource, step.around, performer, resultsInterpreter)
  return {
    patient: patientIn(subject, step.around),
    facility,
    data: {
      lab_result_id: step.id,
      test_name: nameIn(code),
      flagged: isFlagged(resource, step.around),
      facility_id: facility ?? null,
    },
  }
}

/** A result, and its new status. */
export function amendedResult(step: LifecycleStep): EventContent {
  const content = labResult(step)
  return { ...content, data: { ...content.data, status: step.now ? codeIn(step.now['status']) : 'deleted' } }
}

/**
 * Returns the observations that the rule for a report needs: those that it has, and those that it had where they alone say that what
 * is withdrawn was a laboratory's.
 */
export function resultsToRead({ now, before, around }: LifecycleStep): string[] {
  const hasEvent = (each = {}): boolean => isReleasedBySomebody(each, around) && mayBeOfLaboratory(each)
  const unknownOf = (each = {}): string[] => observationsOf(each, around).unknown
  const current = hasEvent(now) || hasEvent(before) ? unknownOf(now) : []
  const former = before && hasEvent(before) && isToldByObservations(before) ? unknownOf(before) : []
  return [...current, ...former]
}
