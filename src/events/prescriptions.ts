// Events about prescriptions, which never name the medicine: interface §6.1. https://hl7.org/fhir/R4/medicationrequest.html

import { id, text } from '../shapes/fields.ts'
import { objects } from '../store/values.ts'
import { all, any, became, gone, type LifecycleStep, was } from './claims.ts'
import { described, type EventContent, facilityId, orNull } from './content.ts'
import { codeIn, facilityIn, idIn, latest, patientIn } from './elements.ts'
import { isOpen, isOrder } from './requests.ts'

const prescriptionId = id('The prescription: a MedicationRequest.')
const encounterId = orNull(id('The encounter at which the prescription was written. Null if not recorded.'))

const example = {
  health_id: 'CM-9C1T-3NR9-A9HC',
  prescription_id: '91c6d0e5-f3b8-4a27-8d49-2e7b05c1f6a3',
  encounter_id: '92d40f6b-e831-4c57-a1b9-5f08c63e7d24',
  status: 'active',
  facility_id: 'hopital-central-yaounde',
}

export const prescriptionEvents = {
  'prescription.issued': described(
    'New prescription written',
    {
      prescription_id: prescriptionId,
      encounter_id: encounterId,
      status: orNull(text('active, or on-hold if the medicine must not be dispensed yet.')),
      facility_id: facilityId,
    },
    example,
  ),
  'prescription.cancelled': described(
    'Prescription cancelled',
    {
      prescription_id: prescriptionId,
      encounter_id: encounterId,
      status: orNull(text('cancelled, stopped or entered-in-error; or deleted.')),
      facility_id: facilityId,
    },
    { ...example, status: 'cancelled' },
  ),
  'prescription.dispensed': described(
    'Prescription dispensed',
    {
      dispense_id: id('The dispense: a MedicationDispense.'),
      prescription_id: orNull(id('The prescription the medicine was dispensed for. Null if not recorded.')),
      facility_id: facilityId,
    },
    {
      health_id: 'CM-9C1T-3NR9-A9HC',
      dispense_id: 'ab1c5e70-6f94-4d28-9e03-57c8d2b6f1a4',
      prescription_id: '91c6d0e5-f3b8-4a27-8d49-2e7b05c1f6a3',
      facility_id: 'pharmacie-du-marche',
    },
  ),
}

/** It was to be dispensed and no longer is; one that was dispensed can still turn out to be an error. */
export const cancelled = any(
  all(was(isOrder), became('cancelled', 'stopped', 'entered-in-error')),
  all(was(isOpen), gone),
)

/** A prescription, and its status. */
export function prescription(step: LifecycleStep): EventContent {
  const { id, now, around } = step
  const resource = latest(step)
  const { subject, encounter, status, requester } = resource
  const facility = facilityIn(resource, around, requester)
  return {
    patient: patientIn(subject, around),
    facility,
    data: {
      prescription_id: id,
      encounter_id: idIn(encounter, ['Encounter'], around) ?? null,
      status: now ? codeIn(status) : 'deleted',
      facility_id: facility ?? null,
    },
  }
}

/** A dispense by a pharmacy. */
export function dispense({ id, now = {}, around }: LifecycleStep): EventContent {
  const performers = objects(now['performer']).map(({ actor }) => actor)
  const facility = facilityIn(now, around, now['location'], performers)
  return {
    patient: patientIn(now['subject'], around),
    facility,
    data: {
      dispense_id: id,
      prescription_id: idIn(now['authorizingPrescription'], ['MedicationRequest'], around) ?? null,
      facility_id: facility ?? null,
    },
  }
}
