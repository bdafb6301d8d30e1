// A pregnancy of the demo set: an episode of care, what was asked at its start, and the pathway that antenatal care follows.
import type { JsonObject } from '../lib/json.ts'
import { at, type Clock, code, coding, loinc, organization, own, reference, snomed, terminology } from './fhir.ts'
import { midwife } from './staff.ts'

const mother = 'grace-tchoumi'

export function demoMaternity(clock: Clock): JsonObject[] {
  return [
    pathway(),
    {
      resourceType: 'EpisodeOfCare',
      id: `${mother}-pregnancy`,
      status: 'active',
      type: [coding(snomed, '424525001', 'Antenatal care')],
      diagnosis: [{ condition: reference('Condition', `${mother}-condition-1`) }],
      patient: reference('Patient', mother),
      managingOrganization: reference('Organization', organization),
      period: { start: '2026-06-15' },
      careManager: reference('Practitioner', midwife),
    },
    asked('due', coding(loinc, '11778-8', 'Delivery date Estimated'), { valueDateTime: clock.day(60) }),
    asked('gravidity', coding(loinc, '11996-6', '[#] Pregnancies'), { valueInteger: 2 }),
    asked('parity', coding(loinc, '11977-6', '[#] Parity'), { valueInteger: 1 }),
  ]
}

const asked = (id: string, what: JsonObject, value: JsonObject): JsonObject => ({
  resourceType: 'Observation',
  id: `${mother}-${id}`,
  status: 'final',
  category: [code(`${terminology}/observation-category`, 'survey')],
  code: what,
  subject: reference('Patient', mother),
  effectiveDateTime: at('2026-06-15', '09:20:00'),
  performer: [reference('Practitioner', midwife)],
  ...value,
})

/** Eight contacts, by the week of the pregnancy. */
const contacts = [12, 20, 26, 30, 34, 36, 38, 40]

function pathway(): JsonObject {
  return {
    resourceType: 'PlanDefinition',
    id: 'demo-antenatal-contacts',
    url: `${own}/PlanDefinition/antenatal-contacts`,
    name: 'AntenatalContacts',
    title: 'Antenatal care in eight contacts',
    status: 'active',
    type: code(`${terminology}/plan-definition-type`, 'clinical-protocol'),
    action: contacts.map((week, index) => ({ title: `Contact ${index + 1}`, description: `By week ${week}.` })),
  }
}
