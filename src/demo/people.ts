// The patients of the demo set. Everyone in it is invented.

/** A patient's record, in the words of a nurse. */
export interface Person {
  readonly id: string
  readonly healthId: string
  readonly family: string
  readonly given: string[]
  readonly gender: 'female' | 'male'
  readonly birthDate: string
  readonly phone: string
  readonly city: string
  readonly bloodGroup: string
  /** For what the demo client's organisation may see the record, as codes of v3-ActReason; none: it may not. */
  readonly purposes: readonly string[]
  readonly visits: readonly string[]
  readonly pressures: readonly (readonly [date: string, systolic: number, diastolic: number])[]
  readonly weights: readonly (readonly [date: string, kilograms: number])[]
  readonly labs: readonly Lab[]
  readonly diagnoses: readonly Diagnosis[]
  readonly allergies: readonly Allergy[]
  readonly prescriptions: readonly Prescription[]
  readonly immunizations: readonly (readonly [date: string, cvx: string, name: string])[]
}

export type Lab = readonly [
  date: string,
  code: string,
  name: string,
  value: number,
  unit: string,
  interpretation: 'N' | 'H' | 'L',
]
export type Diagnosis = readonly [
  recorded: string,
  icd: string,
  snomedCode: string,
  name: string,
  status: 'active' | 'resolved',
]
export type Allergy = readonly [recorded: string, code: string, substance: string, criticality: 'low' | 'high']
export type Prescription = readonly [
  authored: string,
  code: string,
  name: string,
  dosage: string,
  status: 'active' | 'completed',
]

export const people: readonly Person[] = [
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
    purposes: ['TREAT'],
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
    purposes: ['TREAT', 'PUBHLTH'],
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
    purposes: ['TREAT', 'HRESCH'],
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
    purposes: [],
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
