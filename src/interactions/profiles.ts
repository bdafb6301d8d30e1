// The profiles of published guides that this server serves: their resources are stored, and found by the searches they ask
// for (http://hl7.org/fhir/us/core/STU6.1, http://hl7.org/fhir/uv/ipa/STU1). Any other profile is stored as well.

interface Guide {
  /** What a server of the guide says it instantiates. */
  readonly capabilityStatement: string
  readonly base: string
  /** Ids of profiles by resource type. */
  readonly profiles: Readonly<Record<string, readonly string[]>>
}

const guides: readonly Guide[] = [
  {
    capabilityStatement: 'http://hl7.org/fhir/us/core/CapabilityStatement/us-core-server',
    base: 'http://hl7.org/fhir/us/core/StructureDefinition/',
    profiles: {
      AllergyIntolerance: ['us-core-allergyintolerance'],
      CarePlan: ['us-core-careplan'],
      CareTeam: ['us-core-careteam'],
      Condition: ['us-core-condition-encounter-diagnosis', 'us-core-condition-problems-health-concerns'],
      Coverage: ['us-core-coverage'],
      Device: ['us-core-implantable-device'],
      DiagnosticReport: ['us-core-diagnosticreport-lab', 'us-core-diagnosticreport-note'],
      DocumentReference: ['us-core-documentreference'],
      Encounter: ['us-core-encounter'],
      Goal: ['us-core-goal'],
      Immunization: ['us-core-immunization'],
      Location: ['us-core-location'],
      Medication: ['us-core-medication'],
      MedicationDispense: ['us-core-medicationdispense'],
      MedicationRequest: ['us-core-medicationrequest'],
      Observation: [
        'head-occipital-frontal-circumference-percentile',
        'pediatric-bmi-for-age',
        'pediatric-weight-for-height',
        'us-core-blood-pressure',
        'us-core-bmi',
        'us-core-body-height',
        'us-core-body-temperature',
        'us-core-body-weight',
        'us-core-head-circumference',
        'us-core-heart-rate',
        'us-core-observation-clinical-result',
        'us-core-observation-lab',
        'us-core-observation-occupation',
        'us-core-observation-pregnancyintent',
        'us-core-observation-pregnancystatus',
        'us-core-observation-screening-assessment',
        'us-core-observation-sexual-orientation',
        'us-core-pulse-oximetry',
        'us-core-respiratory-rate',
        'us-core-simple-observation',
        'us-core-smokingstatus',
        'us-core-vital-signs',
      ],
      Organization: ['us-core-organization'],
      Patient: ['us-core-patient'],
      Practitioner: ['us-core-practitioner'],
      PractitionerRole: ['us-core-practitionerrole'],
      Procedure: ['us-core-procedure'],
      Provenance: ['us-core-provenance'],
      QuestionnaireResponse: ['us-core-questionnaireresponse'],
      RelatedPerson: ['us-core-relatedperson'],
      ServiceRequest: ['us-core-servicerequest'],
      Specimen: ['us-core-specimen'],
    },
  },
  {
    capabilityStatement: 'http://hl7.org/fhir/uv/ipa/CapabilityStatement/ipa-server',
    base: 'http://hl7.org/fhir/uv/ipa/StructureDefinition/',
    profiles: {
      AllergyIntolerance: ['ipa-allergyintolerance'],
      Condition: ['ipa-condition', 'ipa-problem-list-item'],
      DocumentReference: ['ipa-documentreference'],
      Immunization: ['ipa-immunization'],
      Medication: ['ipa-medication'],
      MedicationRequest: ['ipa-medicationrequest'],
      MedicationStatement: ['ipa-medicationstatement'],
      Observation: ['ipa-observation'],
      Patient: ['ipa-patient'],
      Practitioner: ['ipa-practitioner'],
      PractitionerRole: ['ipa-practitionerrole'],
    },
  },
]

/** CapabilityStatements of guides that this server does what they ask of a server. */
export const instantiated: readonly string[] = guides.map(guide => guide.capabilityStatement)

/** Canonical URLs of the guides' profiles of a type. */
export function profilesOf(type: string): string[] {
  return guides.flatMap(({ base, profiles }) => (profiles[type] ?? []).map(id => `${base}${id}`))
}
