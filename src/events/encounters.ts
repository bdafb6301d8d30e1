// Events about encounters: interface §6.1. https://hl7.org/fhir/R4/encounter.html

import { isObject } from '../lib/json.ts'
import { id, text } from '../shapes/fields.ts'
import { objects } from '../store/values.ts'
import type { LifecycleStep, State } from './claims.ts'
import { described, type EventContent, facilityId, orNull } from './content.ts'
import { codeIn, facilityIn, latest, patientIn } from './elements.ts'

const data = {
  encounter_id: id('The encounter.'),
  status: orNull(text('The FHIR status: planned, in-progress, finished.')),
  class: orNull(text('The encounter class, a code of v3-ActCode: AMB, IMP, EMER, HH, VR.')),
  facility_id: facilityId,
}

const example = {
  health_id: 'CM-9C1T-3NR9-A9HC',
  encounter_id: '92d40f6b-e831-4c57-a1b9-5f08c63e7d24',
  status: 'in-progress',
  class: 'AMB',
  facility_id: 'hopital-central-yaounde',
}

export const encounterEvents = {
  'encounter.created': described('New encounter or visit recorded', data, example),
  'encounter.closed': described('Encounter finalised', data, { ...example, status: 'finished' }),
}

/** It takes place, will or did. */
export const isReal: State = ({ status }) => status !== 'cancelled' && status !== 'entered-in-error'

/** A visit, and its status. */
export function encounter(step: LifecycleStep): EventContent {
  const resource = latest(step)
  const { subject, status, class: kind, serviceProvider, location } = resource
  const places = objects(location).map(each => each['location'])
  const facility = facilityIn(resource, step.around, serviceProvider, places)
  return {
    patient: patientIn(subject, step.around),
    facility,
    data: {
      encounter_id: step.id,
      status: codeIn(status),
      class: isObject(kind) ? codeIn(kind['code']) : null,
      facility_id: facility ?? null,
    },
  }
}
