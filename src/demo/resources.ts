// The resources of the demo set. Everyone in it is invented.
import type { JsonObject } from '../lib/json.ts'

const loinc = 'http://loinc.org'
const snomed = 'http://snomed.info/sct'
const icd10 = 'http://hl7.org/fhir/sid/icd-10'
const ucum = 'http://unitsofmeasure.org'
const v3Act = 'http://terminology.hl7.org/CodeSystem/v3-ActCode'
const terminology = 'http://terminology.hl7.org/CodeSystem'

const organization = 'hopital-central-yaounde'
const practitioner = 'dr-nadine-fouda'

interface Person {
  readonly id: string
  readonly healthId: string
  readonly family: string
  readonly given: string[]
  readonly gender: 'female' | 'male'
  readonly birthDate: string
  readonly phone: string
  readonly city: string
  readonly bloodGroup: string
  readonly visits: readonly string[]
  readonly pressures: readonly (readonly [date: string, systolic: number, diastolic: number])[]
  readonly weights: readonly (readonly [date: string, kilograms: number])[]
  readonly labs: readonly Lab[]
  readonly diagnoses: readonly Diagnosis[]
  readonly allergies: readonly Allergy[]
  readonly prescriptions: readonly Prescription[]
  readonly immunizations: readonly (readonly [date: string, cvx: string, name: string])[]
}

type Lab = readonly [
  date: string,
  code: string,
  name: string,
  value: number,
  unit: string,
  interpretation: 'N' | 'H' | 'L',
]
type Diagnosis = readonly [
  recorded: string,
  icd: string,
  snomedCode: string,
  name: string,
  status: 'active' | 'resolved',
]
type Allergy = readonly [recorded: string, code: string, substance: string, criticality: 'low' | 'high']
type Prescription = readonly [
  authored: string,
  code: string,
  name: string,
  dosage: string,
  status: 'active' | 'completed',
]

const people: readonly Person[] = [
  {
    id: 'amina-bello',
    healthId: 'CM-TQYE-6SRK-YQ6S',
    family: 'Bello',
    given: ['Amina'],
    gender: 'female',
    birthDate: '1974-05-12',
    phone: '+237650000101',
    city: 'Yaoundé',
    bloodGroup: 'O+',
    visits: ['2026-02-10', '2026-05-18', '2026-09-03'],
    pressures: [
      ['2026-02-10', 158, 97],
      ['2026-05-18', 146, 91],
      ['2026-09-03', 134, 84],
    ],
    weights: [
      ['2026-02-10', 81.4],
      ['2026-09-03', 78.2],
    ],
    labs: [
      ['2026-02-10', '4548-4', 'Hemoglobin A1c/Hemoglobin.total in Blood', 8.4, '%', 'H'],
      ['2026-09-03', '4548-4', 'Hemoglobin A1c/Hemoglobin.total in Blood', 7.1, '%', 'H'],
      ['2026-09-03', '2160-0', 'Creatinine [Mass/volume] in Serum or Plasma', 0.92, 'mg/dL', 'N'],
    ],
    diagnoses: [
      ['2019-03-04', 'I10', '38341003', 'Hypertension', 'active'],
      ['2021-11-22', 'E11.9', '44054006', 'Type 2 diabetes mellitus', 'active'],
    ],
    allergies: [['2015-07-01', '91936005', 'Penicillin', 'high']],
    prescriptions: [
      [
        '2026-05-18',
        '860975',
        'Metformin 500 mg extended release tablet',
        'One tablet twice a day with meals',
        'active',
      ],
      ['2026-05-18', '197361', 'Amlodipine 5 mg tablet', 'One tablet in the morning', 'active'],
    ],
    immunizations: [['2026-02-10', '141', 'Influenza, seasonal, injectable']],
  },
  {
    id: 'jean-paul-mbarga',
    healthId: 'CM-9C1T-3NR9-A9HC',
    family: 'Mbarga',
    given: ['Jean-Paul'],
    gender: 'male',
    birthDate: '1988-11-30',
    phone: '+237650000102',
    city: 'Douala',
    bloodGroup: 'A+',
    visits: ['2026-07-21', '2026-08-04'],
    pressures: [['2026-07-21', 118, 76]],
    weights: [['2026-07-21', 74.0]],
    labs: [
      [
        '2026-07-21',
        '32700-7',
        'Microscopic observation [Identifier] in Blood by Malaria smear, parasites per microlitre',
        4200,
        '/uL',
        'H',
      ],
      ['2026-07-21', '718-7', 'Hemoglobin [Mass/volume] in Blood', 11.2, 'g/dL', 'L'],
    ],
    diagnoses: [['2026-07-21', 'B50.9', '61462000', 'Malaria', 'resolved']],
    allergies: [],
    prescriptions: [
      [
        '2026-07-21',
        '847728',
        'Artemether 20 mg / lumefantrine 120 mg tablet',
        'Four tablets twice a day for three days',
        'completed',
      ],
    ],
    immunizations: [['2019-01-15', '37', 'Yellow fever']],
  },
  {
    id: 'grace-tchoumi',
    healthId: 'CM-6TTH-APZW-3HP1',
    family: 'Tchoumi',
    given: ['Grâce', 'Marie'],
    gender: 'female',
    birthDate: '1997-02-08',
    phone: '+237650000103',
    city: 'Bafoussam',
    bloodGroup: 'B-',
    visits: ['2026-06-15', '2026-08-17', '2026-10-12'],
    pressures: [
      ['2026-06-15', 112, 70],
      ['2026-10-12', 121, 78],
    ],
    weights: [
      ['2026-06-15', 61.5],
      ['2026-10-12', 68.3],
    ],
    labs: [['2026-08-17', '718-7', 'Hemoglobin [Mass/volume] in Blood', 10.4, 'g/dL', 'L']],
    diagnoses: [
      ['2026-06-15', 'Z34', '77386006', 'Pregnancy', 'active'],
      ['2026-08-17', 'D50.9', '87522002', 'Iron deficiency anaemia', 'active'],
    ],
    allergies: [['2012-05-20', '300913006', 'Shellfish', 'low']],
    prescriptions: [['2026-08-17', '310325', 'Ferrous sulfate 325 mg tablet', 'One tablet a day', 'active']],
    immunizations: [['2026-08-17', '139', 'Td (adult)']],
  },
  {
    id: 'samuel-ngu',
    healthId: 'CM-72GS-8CYN-J8XR',
    family: 'Ngu',
    given: ['Samuel'],
    gender: 'male',
    birthDate: '2021-09-17',
    phone: '+237650000104',
    city: 'Bamenda',
    bloodGroup: 'O-',
    visits: ['2026-04-09'],
    pressures: [],
    weights: [['2026-04-09', 16.8]],
    labs: [],
    diagnoses: [['2024-01-12', 'D57.1', '127040003', 'Sickle cell disease', 'active']],
    allergies: [],
    prescriptions: [['2026-04-09', '105585', 'Hydroxyurea 200 mg capsule', 'One capsule a day', 'active']],
    immunizations: [
      ['2021-11-20', '20', 'DTaP'],
      ['2022-06-18', '03', 'MMR'],
    ],
  },
]

const coding = (system: string, code: string, display: string): JsonObject => ({
  coding: [{ system, code, display }],
  text: display,
})
const reference = (type: string, id: string): JsonObject => ({ reference: `${type}/${id}` })
const at = (date: string, time = '09:00:00'): string => `${date}T${time}+01:00`

/** The demo set in an order in which each resource comes after those it refers to. */
export function demoResources(healthIdSystem: string): JsonObject[] {
  return [...institution(), ...people.flatMap(person => record(person, healthIdSystem))]
}

function institution(): JsonObject[] {
  return [
    {
      resourceType: 'Organization',
      id: organization,
      active: true,
      name: 'Hôpital Central de Yaoundé',
      address: [{ city: 'Yaoundé', country: 'CM' }],
    },
    {
      resourceType: 'Practitioner',
      id: practitioner,
      active: true,
      name: [{ family: 'Fouda', given: ['Nadine'], prefix: ['Dr'] }],
      gender: 'female',
    },
  ]
}

function record(person: Person, healthIdSystem: string): JsonObject[] {
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

const quantity = (value: number, code: string): JsonObject => ({ value, unit: code, system: ucum, code })

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
  const text = `Visit summary for ${person.given.join(' ')} ${person.family}.`
  return {
    resourceType: 'DocumentReference',
    id: `${person.id}-summary`,
    status: 'current',
    type: coding(loinc, '34133-9', 'Summary of episode note'),
    subject: reference('Patient', person.id),
    date: at(person.visits.at(-1)!, '10:00:00'),
    author: [reference('Practitioner', practitioner)],
    content: [{ attachment: { contentType: 'text/plain', data: Buffer.from(text).toString('base64') } }],
  }
}
