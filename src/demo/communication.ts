// What is said to demo patients and by them: messages, a reminder, wishes about notifications, and a group for broadcasts.
import type { JsonObject } from '../lib/json.ts'
import {
  at,
  type Clock,
  coding,
  icd10,
  organization,
  own,
  practitioner,
  reference,
  snomed,
  terminology,
} from './fhir.ts'

const patient = reference('Patient', 'amina-bello')
const doctor = reference('Practitioner', practitioner)
const preferences = `${own}/Questionnaire/notification-preferences`

export function demoCommunication(clock: Clock): JsonObject[] {
  return [
    message(1, patient, doctor, 'May I take the tablets after breakfast?', '18:05:00'),
    {
      ...message(2, doctor, patient, 'Yes, with your meals.', '18:40:00'),
      inResponseTo: [reference('Communication', 'amina-bello-message-1')],
    },
    reminder(clock),
    questionnaire(),
    answers(),
    programme(),
  ]
}

const message = (
  number: number,
  sender: JsonObject,
  recipient: JsonObject,
  text: string,
  time: string,
): JsonObject => ({
  resourceType: 'Communication',
  id: `amina-bello-message-${number}`,
  status: 'completed',
  category: [coding(`${terminology}/communication-category`, 'instruction', 'Instruction')],
  subject: patient,
  sent: at('2026-09-04', time),
  sender,
  recipient: [recipient],
  payload: [{ contentString: text }],
})

const reminder = (clock: Clock): JsonObject => ({
  resourceType: 'CommunicationRequest',
  id: 'amina-bello-reminder',
  status: 'active',
  category: [coding(`${terminology}/communication-category`, 'reminder', 'Reminder')],
  medium: [coding(`${terminology}/v3-ParticipationMode`, 'SMSWRIT', 'SMS message')],
  subject: patient,
  about: [reference('Appointment', 'amina-bello-appointment')],
  payload: [{ contentString: 'Consultation at Hôpital Central de Yaoundé at 9:00.' }],
  occurrenceDateTime: at(clock.day(6), '17:00:00'),
  recipient: [patient],
})

const channels = ['sms', 'whatsapp', 'email', 'none']

function questionnaire(): JsonObject {
  return {
    resourceType: 'Questionnaire',
    id: 'demo-notification-preferences',
    url: preferences,
    name: 'NotificationPreferences',
    title: 'How a patient wants to be notified',
    status: 'active',
    subjectType: ['Patient'],
    item: [
      {
        linkId: 'channel',
        text: 'Channel',
        type: 'choice',
        answerOption: channels.map(valueString => ({ valueString })),
      },
      { linkId: 'reminders', text: 'Reminders of appointments', type: 'boolean' },
      { linkId: 'results', text: 'Notice of new results', type: 'boolean' },
      { linkId: 'quiet-from', text: 'No messages from', type: 'time' },
      { linkId: 'quiet-until', text: 'No messages until', type: 'time' },
    ],
  }
}

const answers = (): JsonObject => ({
  resourceType: 'QuestionnaireResponse',
  id: 'amina-bello-notification-preferences',
  questionnaire: preferences,
  status: 'completed',
  subject: patient,
  authored: at('2026-02-10'),
  source: patient,
  item: [
    { linkId: 'channel', answer: [{ valueString: 'sms' }] },
    { linkId: 'reminders', answer: [{ valueBoolean: true }] },
    { linkId: 'results', answer: [{ valueBoolean: false }] },
    { linkId: 'quiet-from', answer: [{ valueTime: '21:00:00' }] },
    { linkId: 'quiet-until', answer: [{ valueTime: '07:00:00' }] },
  ],
})

/** Described by what its members have in common; it names none. */
const programme = (): JsonObject => ({
  resourceType: 'Group',
  id: 'demo-hypertension-programme',
  active: true,
  type: 'person',
  actual: false,
  name: 'Programme hypertension',
  managingEntity: reference('Organization', organization),
  characteristic: [
    {
      code: coding(snomed, '439401001', 'Diagnosis'),
      valueCodeableConcept: coding(icd10, 'I10', 'Essential (primary) hypertension'),
      exclude: false,
    },
  ],
})
