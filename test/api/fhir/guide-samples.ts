// An invented resource for each type that US Core 6.1 and IPA 1.0 ask to be searched, and the searches that they ask for.
// http://hl7.org/fhir/us/core/STU6.1/CapabilityStatement-us-core-server.html http://hl7.org/fhir/uv/ipa/STU1/

export interface Sample {
  /** What the resource has beside its type, its id and its patient. */
  readonly elements: object
  /** The element that names the patient; absent: it is about nobody. */
  readonly about?: 'patient' | 'subject' | 'beneficiary'
  /** A value for each parameter that it is searched by. */
  readonly values: Readonly<Record<string, string>>
  /** Parameters that are asked for together, and alone. */
  readonly searches: string
  readonly includes?: string
}

/** A CodeableConcept of one code. */
export const word = (code: string, system = 'urn:words') => ({ coding: [{ system, code }] })
const words = (code: string) => [word(code)]
const to = (reference: string) => ({ reference })
const name = [{ family: 'Sow', given: ['Awa'] }]
const address = { text: 'Rue 12', city: 'Thiès', state: 'TH', postalCode: '21000' }
const day = '2024-03-05'
const clinical = (kind: string, code = 'active') => word(code, `http://terminology.hl7.org/CodeSystem/${kind}`)

export const samples: Readonly<Record<string, Sample>> = {
  AllergyIntolerance: {
    about: 'patient',
    elements: { clinicalStatus: clinical('allergyintolerance-clinical'), code: word('nut') },
    values: { 'clinical-status': 'active' },
    searches: 'patient patient+clinical-status',
  },
  CarePlan: {
    about: 'subject',
    elements: { status: 'active', intent: 'plan', category: words('assess'), period: { start: day } },
    values: { category: 'urn:words|assess', status: 'active', date: `ge${day}` },
    searches: 'patient+category patient+category+status patient+category+date patient+category+status+date',
  },
  CareTeam: {
    about: 'subject',
    elements: { status: 'active', participant: [{ role: words('nurse'), member: to('Practitioner/p') }] },
    values: { status: 'active', role: 'nurse' },
    searches: 'role patient+status patient+role',
    includes: 'participant:PractitionerRole participant:Practitioner participant:Patient participant:RelatedPerson',
  },
  Condition: {
    about: 'subject',
    elements: {
      clinicalStatus: clinical('condition-clinical', 'resolved'),
      category: words('problem'),
      code: word('malaria'),
      encounter: to('Encounter/sample'),
      onsetDateTime: day,
      abatementDateTime: '2024-03-15',
      recordedDate: day,
      extension: [
        { url: 'http://hl7.org/fhir/StructureDefinition/condition-assertedDate', valueDateTime: '2024-03-06' },
      ],
    },
    values: {
      ...{
        'clinical-status': 'resolved',
        category: 'problem',
        code: 'urn:words|malaria',
        encounter: 'Encounter/sample',
      },
      ...{ 'onset-date': day, 'abatement-date': 'gt2024-03-10', 'recorded-date': day, 'asserted-date': '2024-03-06' },
    },
    searches:
      'patient patient+recorded-date patient+asserted-date patient+category+clinical-status patient+onset-date ' +
      'patient+abatement-date patient+clinical-status patient+category+encounter patient+code patient+category',
  },
  Coverage: {
    about: 'beneficiary',
    elements: { status: 'active', payor: [to('Organization/sample')] },
    values: {},
    searches: 'patient',
  },
  Device: {
    about: 'patient',
    elements: { status: 'active', type: word('pacemaker') },
    values: { type: 'pacemaker', status: 'active' },
    searches: 'patient patient+type patient+status',
  },
  DiagnosticReport: {
    about: 'subject',
    elements: { status: 'final', category: words('LAB'), code: word('fbc'), effectiveDateTime: day },
    values: { status: 'final', category: 'LAB', code: 'fbc', date: day },
    searches: 'patient patient+code+date patient+status patient+category+date patient+category patient+code',
  },
  DocumentReference: {
    about: 'subject',
    elements: {
      ...{ status: 'current', type: word('letter'), category: words('note'), date: `${day}T10:00:00Z` },
      content: [{ attachment: { contentType: 'text/plain', url: 'urn:x' } }],
      context: { period: { start: day } },
    },
    values: {
      ...{ status: 'current', type: 'letter', category: 'note', date: `ge${day}`, period: `ge${day}` },
      contenttype: 'text/plain',
    },
    searches:
      '_id patient patient+type patient+status patient+type+period patient+category+date patient+category ' +
      'patient+contenttype patient+type+date',
  },
  Encounter: {
    about: 'subject',
    elements: {
      ...{ status: 'finished', class: { code: 'AMB' }, type: words('visit'), period: { start: day } },
      identifier: [{ system: 'urn:visits', value: '7' }],
      location: [{ location: to('Location/sample') }],
      hospitalization: { dischargeDisposition: word('home') },
    },
    values: {
      ...{ identifier: 'urn:visits|7', type: 'visit', class: 'AMB', status: 'finished', date: `ge${day}` },
      ...{ location: 'Location/sample', 'discharge-disposition': 'home' },
    },
    searches:
      '_id identifier patient patient+type class+patient patient+status date+patient patient+location ' +
      'patient+discharge-disposition',
  },
  Goal: {
    about: 'subject',
    elements: {
      lifecycleStatus: 'active',
      description: word('walk'),
      target: [{ measure: word('steps'), detailString: 'many', dueDate: day }],
    },
    values: { 'target-date': day, description: 'walk', 'lifecycle-status': 'active' },
    searches: 'patient patient+target-date patient+description patient+lifecycle-status',
  },
  Immunization: {
    about: 'patient',
    elements: { status: 'completed', vaccineCode: word('bcg'), occurrenceDateTime: day },
    values: { date: day, status: 'completed' },
    searches: 'patient patient+date patient+status',
  },
  Location: {
    elements: { name: 'Ward 7', address },
    values: {
      ...{ name: 'ward', address: 'rue', 'address-city': 'thies', 'address-state': 'TH' },
      'address-postalcode': '21000',
    },
    searches: 'name address address-city address-state address-postalcode',
  },
  MedicationDispense: {
    about: 'subject',
    elements: { status: 'completed', type: word('FF'), medicationReference: to('Medication/sample') },
    values: { status: 'completed', type: 'FF' },
    searches: 'patient patient+status+type patient+status',
    includes: 'medication',
  },
  MedicationRequest: {
    about: 'subject',
    elements: {
      ...{ status: 'active', intent: 'order', authoredOn: day, category: words('community') },
      ...{ medicationCodeableConcept: word('artemether'), encounter: to('Encounter/sample') },
    },
    values: {
      ...{ intent: 'order', encounter: 'Encounter/sample', status: 'active', authoredon: day },
      ...{ category: 'community', code: 'artemether' },
    },
    searches:
      'category code patient patient+intent+encounter patient+intent+status patient+intent+authoredon patient+intent',
    includes: 'medication',
  },
  MedicationStatement: {
    about: 'subject',
    elements: { status: 'active', medicationReference: to('Medication/sample') },
    values: { status: 'active' },
    searches: 'patient patient+status',
    includes: 'medication',
  },
  Observation: {
    about: 'subject',
    elements: { status: 'final', category: words('vital'), code: word('pulse'), effectiveDateTime: day },
    values: { status: 'final', category: 'vital', code: 'pulse', date: day },
    searches: 'patient+code+date patient+category+status patient+category+date patient+category patient+code',
  },
  Organization: {
    elements: { name: 'Clinic', address: [address] },
    values: { name: 'clin', address: 'thies' },
    searches: 'name address',
  },
  Patient: {
    elements: {
      ...{ name, gender: 'female', birthDate: '1990-01-02', deceasedDateTime: '2025-05-05' },
      identifier: [{ system: 'urn:people', value: '1' }],
    },
    values: {
      ...{ identifier: 'urn:people|1', name: 'awa', family: 'sow', given: 'awa', gender: 'female' },
      ...{ birthdate: '1990-01-02', 'death-date': 'ge2025' },
    },
    searches:
      '_id identifier name birthdate family gender given birthdate+family family+gender birthdate+name gender+name ' +
      'death-date+family',
  },
  Practitioner: {
    elements: { name, identifier: [{ system: 'urn:staff', value: '2' }] },
    values: { name: 'sow', identifier: 'urn:staff|2' },
    searches: '_id name identifier',
  },
  PractitionerRole: {
    elements: { specialty: words('surgery'), practitioner: to('Practitioner/sample') },
    values: { specialty: 'surgery', practitioner: 'Practitioner/sample' },
    searches: 'specialty practitioner',
    includes: 'endpoint practitioner',
  },
  Procedure: {
    about: 'subject',
    elements: { status: 'completed', code: word('suture'), performedDateTime: day },
    values: { code: 'suture', date: day, status: 'completed' },
    searches: 'patient patient+code+date patient+status patient+date',
  },
  QuestionnaireResponse: {
    about: 'subject',
    elements: { status: 'completed', questionnaire: 'https://example.org/Questionnaire/q', authored: day },
    values: { questionnaire: 'https://example.org/Questionnaire/q', authored: day, status: 'completed' },
    searches: '_id patient patient+questionnaire patient+authored patient+status',
  },
  RelatedPerson: {
    about: 'patient',
    elements: { name },
    values: { name: 'sow' },
    searches: '_id patient name patient+name',
  },
  ServiceRequest: {
    about: 'subject',
    elements: { status: 'active', intent: 'order', category: words('lab'), code: word('fbc'), authoredOn: day },
    values: { category: 'lab', authored: day, status: 'active', code: 'fbc' },
    searches:
      '_id patient patient+category+authored patient+status patient+category patient+code+authored patient+code',
  },
  Specimen: { about: 'subject', elements: { type: word('blood') }, values: {}, searches: '_id patient' },
}
