// The record of a demo patient as FHIR: what each part of it becomes.
import { createHash } from 'node:crypto'
import type { JsonObject } from '../lib/json.ts'
import {
  at,
  coding,
  icd10,
  loinc,
  organization,
  practitioner,
  quantity,
  reference,
  snomed,
  terminology,
  v3Act,
} from './fhir.ts'
import type { Allergy, Diagnosis, Lab, Person, Prescription } from './people.ts'

/** A person and all that is on record from past visits. */
export function record(person: Person, healthIdSystem: string): JsonObject[] {
  const visits = person.visits.map((date, index) => encounter(person, date, index))
  return [
    patient(person, healthIdSystem),
    coverage(person),
    ...visits,
    ...person.pressures.map((each, index) => bloodPressure(person, each, index)),
    ...person.weights.map((each, index) => weight(person, each, index)),
    bloodGroup(person),
    ...person.labs.flatMap((each, index) => laboratory(person, each, index)),
    ...person.diagnoses.map((each, index) => condition(person, each, index)),
    ...person.allergies.map((each, index) => allergy(person, each, index)),
    ...person.prescriptions.map((each, index) => prescription(person, each, index)),
    ...person.immunizations.map((each, index) => immunization(person, each, index)),
    document(person),
  ]
}

function patient(person: Person, healthIdSystem: string): JsonObject {
  return {
    resourceType: 'Patient',
    id: person.id,
    identifier: [{ use: 'official', system: healthIdSystem, value: person.healthId }],
    active: true,
    name: [{ use: 'official', family: person.family, given: person.given }],
    telecom: [{ system: 'phone', value: person.phone, use: 'mobile' }],
    gender: person.gender,
    birthDate: person.birthDate,
    address: [{ city: person.city, country: 'CM' }],
    managingOrganization: reference('Organization', organization),
  }
}

function coverage(person: Person): JsonObject {
  return {
    resourceType: 'Coverage',
    id: `${person.id}-coverage`,
    status: 'active',
    beneficiary: reference('Patient', person.id),
    period: { start: '2026-01-01', end: '2026-12-31' },
    payor: [reference('Organization', organization)],
  }
}

function encounter(person: Person, date: string, index: number): JsonObject {
  return {
    resourceType: 'Encounter',
    id: `${person.id}-visit-${index + 1}`,
    status: 'finished',
    class: { system: v3Act, code: 'AMB', display: 'ambulatory' },
    subject: reference('Patient', person.id),
    participant: [{ individual: reference('Practitioner', practitioner) }],
    period: { start: at(date), end: at(date, '09:40:00') },
    serviceProvider: reference('Organization', organization),
  }
}

function observation(person: Person, id: string, date: string, category: string, code: JsonObject): JsonObject {
  return {
    resourceType: 'Observation',
    id: `${person.id}-${id}`,
    status: 'final',
    category: [{ coding: [{ system: `${terminology}/observation-category`, code: category }] }],
    code,
    subject: reference('Patient', person.id),
    effectiveDateTime: at(date, '09:15:00'),
    performer: [reference('Practitioner', practitioner)],
  }
}

function bloodPressure(
  person: Person,
  [date, systolic, diastolic]: Person['pressures'][number],
  index: number,
): JsonObject {
  return {
    ...observation(
      person,
      `bp-${index + 1}`,
      date,
      'vital-signs',
      coding(loinc, '85354-9', 'Blood pressure panel with all children optional'),
    ),
    component: [
      { code: coding(loinc, '8480-6', 'Systolic blood pressure'), valueQuantity: quantity(systolic, 'mm[Hg]') },
      { code: coding(loinc, '8462-4', 'Diastolic blood pressure'), valueQuantity: quantity(diastolic, 'mm[Hg]') },
    ],
  }
}

function weight(person: Person, [date, kilograms]: Person['weights'][number], index: number): JsonObject {
  return {
    ...observation(person, `weight-${index + 1}`, date, 'vital-signs', coding(loinc, '29463-7', 'Body weight')),
    valueQuantity: quantity(kilograms, 'kg'),
  }
}

function bloodGroup(person: Person): JsonObject {
  return {
    ...observation(
      person,
      'blood-group',
      person.visits[0]!,
      'laboratory',
      coding(loinc, '882-1', 'ABO and Rh group [Type] in Blood'),
    ),
    valueCodeableConcept: { text: person.bloodGroup },
  }
}

function laboratory(person: Person, [date, code, name, value, unit, interpretation]: Lab, index: number): JsonObject[] {
  const result = {
    ...observation(person, `lab-${index + 1}`, date, 'laboratory', coding(loinc, code, name)),
    valueQuantity: quantity(value, unit),
    interpretation: [{ coding: [{ system: `${terminology}/v3-ObservationInterpretation`, code: interpretation }] }],
  }
  const report = {
    resourceType: 'DiagnosticReport',
    id: `${person.id}-report-${index + 1}`,
    status: 'final',
    category: [{ coding: [{ system: `${terminology}/v2-0074`, code: 'LAB' }] }],
    code: coding(loinc, code, name),
    subject: reference('Patient', person.id),
    effectiveDateTime: at(date, '09:15:00'),
    issued: at(date, '16:30:00'),
    performer: [reference('Organization', organization)],
    result: [reference('Observation', `${person.id}-lab-${index + 1}`)],
  }
  return [result, report]
}

function condition(person: Person, [recorded, icd, snomedCode, name, status]: Diagnosis, index: number): JsonObject {
  return {
    resourceType: 'Condition',
    id: `${person.id}-condition-${index + 1}`,
    clinicalStatus: { coding: [{ system: `${terminology}/condition-clinical`, code: status }] },
    verificationStatus: { coding: [{ system: `${terminology}/condition-ver-status`, code: 'confirmed' }] },
    category: [{ coding: [{ system: `${terminology}/condition-category`, code: 'problem-list-item' }] }],
    code: {
      coding: [
        { system: icd10, code: icd },
        { system: snomed, code: snomedCode, display: name },
      ],
      text: name,
    },
    subject: reference('Patient', person.id),
    onsetDateTime: recorded,
    recordedDate: recorded,
    recorder: reference('Practitioner', practitioner),
    ...(status === 'resolved' ? { abatementDateTime: person.visits.at(-1) } : {}),
  }
}

function allergy(person: Person, [recorded, code, substance, criticality]: Allergy, index: number): JsonObject {
  return {
    resourceType: 'AllergyIntolerance',
    id: `${person.id}-allergy-${index + 1}`,
    clinicalStatus: { coding: [{ system: `${terminology}/allergyintolerance-clinical`, code: 'active' }] },
    verificationStatus: { coding: [{ system: `${terminology}/allergyintolerance-verification`, code: 'confirmed' }] },
    criticality,
    code: coding(snomed, code, substance),
    patient: reference('Patient', person.id),
    recordedDate: recorded,
    recorder: reference('Practitioner', practitioner),
  }
}

function prescription(person: Person, [authored, code, name, dosage, status]: Prescription, index: number): JsonObject {
  return {
    resourceType: 'MedicationRequest',
    id: `${person.id}-prescription-${index + 1}`,
    status,
    intent: 'order',
    medicationCodeableConcept: coding('http://www.nlm.nih.gov/research/umls/rxnorm', code, name),
    subject: reference('Patient', person.id),
    authoredOn: authored,
    requester: reference('Practitioner', practitioner),
    dosageInstruction: [{ text: dosage }],
  }
}

function immunization(person: Person, [date, cvx, name]: Person['immunizations'][number], index: number): JsonObject {
  return {
    resourceType: 'Immunization',
    id: `${person.id}-immunization-${index + 1}`,
    status: 'completed',
    vaccineCode: coding('http://hl7.org/fhir/sid/cvx', cvx, name),
    patient: reference('Patient', person.id),
    occurrenceDateTime: date,
    primarySource: true,
  }
}

function document(person: Person): JsonObject {
  const text = Buffer.from(`Visit summary for ${person.given.join(' ')} ${person.family}.`)
  return {
    resourceType: 'DocumentReference',
    id: `${person.id}-summary`,
    status: 'current',
    type: coding(loinc, '34133-9', 'Summary of episode note'),
    subject: reference('Patient', person.id),
    date: at(person.visits.at(-1)!, '10:00:00'),
    author: [reference('Practitioner', practitioner)],
    content: [
      {
        attachment: {
          contentType: 'text/plain',
          data: text.toString('base64'),
          size: text.length,
          hash: createHash('sha1').update(text).digest('base64'),
        },
      },
    ],
  }
}
