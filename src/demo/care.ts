// What is planned for demo patients: a care plan with its goal and team, a referral, tasks, and a dispense of a medicine.
import type { JsonObject } from '../lib/json.ts'
import { at, type Clock, coding, organization, practitioner, quantity, reference, snomed, terminology } from './fhir.ts'
import { nurse } from './staff.ts'

export function demoCare(clock: Clock): JsonObject[] {
  return [...diabetesCare(clock), ...referral(), bloodPressureTask(clock), dispense()]
}

const amina = reference('Patient', 'amina-bello')
const doctor = reference('Practitioner', practitioner)

function diabetesCare(clock: Clock): JsonObject[] {
  return [
    {
      resourceType: 'CareTeam',
      id: 'amina-bello-team',
      status: 'active',
      subject: amina,
      participant: [{ member: doctor }, { member: reference('Practitioner', nurse) }],
    },
    {
      resourceType: 'Goal',
      id: 'amina-bello-goal',
      lifecycleStatus: 'active',
      description: { text: 'HbA1c below 7 %' },
      subject: amina,
      target: [
        {
          measure: coding('http://loinc.org', '4548-4', 'Hemoglobin A1c/Hemoglobin.total in Blood'),
          detailQuantity: { ...quantity(7, '%'), comparator: '<' },
          dueDate: clock.day(90),
        },
      ],
    },
    {
      resourceType: 'CarePlan',
      id: 'amina-bello-plan',
      status: 'active',
      intent: 'plan',
      title: 'Diabetes and blood pressure',
      subject: amina,
      period: { start: '2026-02-10' },
      author: doctor,
      careTeam: [reference('CareTeam', 'amina-bello-team')],
      addresses: [reference('Condition', 'amina-bello-condition-2')],
      goal: [reference('Goal', 'amina-bello-goal')],
      activity: [
        { detail: { status: 'in-progress', description: 'Thirty minutes of walking a day' } },
        { detail: { status: 'scheduled', description: 'HbA1c every three months' } },
      ],
    },
  ]
}

/** A referral is a request; the Task says how far its receiver has come. */
function referral(): JsonObject[] {
  const id = 'jean-paul-mbarga-referral'
  const patient = reference('Patient', 'jean-paul-mbarga')
  const receiver = reference('Organization', organization)
  return [
    {
      resourceType: 'ServiceRequest',
      id,
      status: 'active',
      intent: 'order',
      category: [coding(snomed, '3457005', 'Patient referral')],
      code: { text: 'Haematology consultation' },
      subject: patient,
      authoredOn: at('2026-08-04'),
      requester: doctor,
      performer: [receiver],
      reasonReference: [reference('Observation', 'jean-paul-mbarga-lab-2')],
    },
    {
      resourceType: 'Task',
      id: `${id}-task`,
      status: 'requested',
      intent: 'order',
      code: coding('http://hl7.org/fhir/CodeSystem/task-code', 'fulfill', 'Fulfill the focal request'),
      focus: reference('ServiceRequest', id),
      for: patient,
      authoredOn: at('2026-08-04'),
      requester: doctor,
      owner: receiver,
    },
  ]
}

const bloodPressureTask = (clock: Clock): JsonObject => ({
  resourceType: 'Task',
  id: 'amina-bello-task',
  status: 'accepted',
  intent: 'order',
  priority: 'routine',
  description: 'Measure the blood pressure before the consultation',
  for: amina,
  encounter: reference('Encounter', 'amina-bello-today'),
  authoredOn: clock.minutes(-30),
  requester: doctor,
  owner: reference('Practitioner', nurse),
})

const dispense = (): JsonObject => ({
  resourceType: 'MedicationDispense',
  id: 'jean-paul-mbarga-dispense',
  status: 'completed',
  category: coding(`${terminology}/medicationdispense-category`, 'outpatient', 'Outpatient'),
  medicationCodeableConcept: { text: 'Artemether 20 mg / lumefantrine 120 mg tablet' },
  subject: reference('Patient', 'jean-paul-mbarga'),
  performer: [{ actor: reference('Organization', organization) }],
  authorizingPrescription: [reference('MedicationRequest', 'jean-paul-mbarga-prescription-1')],
  quantity: { value: 24, unit: 'tablet' },
  whenHandedOver: at('2026-07-21', '10:30:00'),
})
