// A method for each type of FHIR resources about a patient. Written by generate.ts.
import type { AnyResource, Bundle, FhirResource, SearchParams } from '../fhir.ts'
import type { CallOptions } from '../options.ts'

/** `patientSearch` under the names of the types. */
export abstract class FhirByType {
  abstract patientSearch<R extends AnyResource = FhirResource>(
    healthId: string,
    type: R['resourceType'],
    filters?: SearchParams,
    options?: CallOptions,
  ): Promise<Bundle<R>>

  /** Search the Account resources about a patient, as a page of Account resources. Filters are the search parameters of FHIR. */
  accounts<R extends AnyResource<'Account'> = FhirResource<'Account'>>(
    healthId: string,
    filters?: SearchParams,
    options?: CallOptions,
  ): Promise<Bundle<R>> {
    return this.patientSearch<R>(healthId, 'Account' as R['resourceType'], filters, options)
  }

  /** Search the AdverseEvent resources about a patient, as a page of AdverseEvent resources. Filters are the search parameters of FHIR. */
  adverseEvents<R extends AnyResource<'AdverseEvent'> = FhirResource<'AdverseEvent'>>(
    healthId: string,
    filters?: SearchParams,
    options?: CallOptions,
  ): Promise<Bundle<R>> {
    return this.patientSearch<R>(healthId, 'AdverseEvent' as R['resourceType'], filters, options)
  }

  /** Search the AllergyIntolerance resources about a patient, as a page of AllergyIntolerance resources. Filters are the search parameters of FHIR. */
  allergyIntolerances<R extends AnyResource<'AllergyIntolerance'> = FhirResource<'AllergyIntolerance'>>(
    healthId: string,
    filters?: SearchParams,
    options?: CallOptions,
  ): Promise<Bundle<R>> {
    return this.patientSearch<R>(healthId, 'AllergyIntolerance' as R['resourceType'], filters, options)
  }

  /** Search the Appointment resources about a patient, as a page of Appointment resources. Filters are the search parameters of FHIR. */
  appointments<R extends AnyResource<'Appointment'> = FhirResource<'Appointment'>>(
    healthId: string,
    filters?: SearchParams,
    options?: CallOptions,
  ): Promise<Bundle<R>> {
    return this.patientSearch<R>(healthId, 'Appointment' as R['resourceType'], filters, options)
  }

  /** Search the AppointmentResponse resources about a patient, as a page of AppointmentResponse resources. Filters are the search parameters of FHIR. */
  appointmentResponses<R extends AnyResource<'AppointmentResponse'> = FhirResource<'AppointmentResponse'>>(
    healthId: string,
    filters?: SearchParams,
    options?: CallOptions,
  ): Promise<Bundle<R>> {
    return this.patientSearch<R>(healthId, 'AppointmentResponse' as R['resourceType'], filters, options)
  }

  /** Search the AuditEvent resources about a patient, as a page of AuditEvent resources. Filters are the search parameters of FHIR. */
  auditEvents<R extends AnyResource<'AuditEvent'> = FhirResource<'AuditEvent'>>(
    healthId: string,
    filters?: SearchParams,
    options?: CallOptions,
  ): Promise<Bundle<R>> {
    return this.patientSearch<R>(healthId, 'AuditEvent' as R['resourceType'], filters, options)
  }

  /** Search the Basic resources about a patient, as a page of Basic resources. Filters are the search parameters of FHIR. */
  basics<R extends AnyResource<'Basic'> = FhirResource<'Basic'>>(
    healthId: string,
    filters?: SearchParams,
    options?: CallOptions,
  ): Promise<Bundle<R>> {
    return this.patientSearch<R>(healthId, 'Basic' as R['resourceType'], filters, options)
  }

  /** Search the BodyStructure resources about a patient, as a page of BodyStructure resources. Filters are the search parameters of FHIR. */
  bodyStructures<R extends AnyResource<'BodyStructure'> = FhirResource<'BodyStructure'>>(
    healthId: string,
    filters?: SearchParams,
    options?: CallOptions,
  ): Promise<Bundle<R>> {
    return this.patientSearch<R>(healthId, 'BodyStructure' as R['resourceType'], filters, options)
  }

  /** Search the CarePlan resources about a patient, as a page of CarePlan resources. Filters are the search parameters of FHIR. */
  carePlans<R extends AnyResource<'CarePlan'> = FhirResource<'CarePlan'>>(
    healthId: string,
    filters?: SearchParams,
    options?: CallOptions,
  ): Promise<Bundle<R>> {
    return this.patientSearch<R>(healthId, 'CarePlan' as R['resourceType'], filters, options)
  }

  /** Search the CareTeam resources about a patient, as a page of CareTeam resources. Filters are the search parameters of FHIR. */
  careTeams<R extends AnyResource<'CareTeam'> = FhirResource<'CareTeam'>>(
    healthId: string,
    filters?: SearchParams,
    options?: CallOptions,
  ): Promise<Bundle<R>> {
    return this.patientSearch<R>(healthId, 'CareTeam' as R['resourceType'], filters, options)
  }

  /** Search the ChargeItem resources about a patient, as a page of ChargeItem resources. Filters are the search parameters of FHIR. */
  chargeItems<R extends AnyResource<'ChargeItem'> = FhirResource<'ChargeItem'>>(
    healthId: string,
    filters?: SearchParams,
    options?: CallOptions,
  ): Promise<Bundle<R>> {
    return this.patientSearch<R>(healthId, 'ChargeItem' as R['resourceType'], filters, options)
  }

  /** Search the Claim resources about a patient, as a page of Claim resources. Filters are the search parameters of FHIR. */
  claims<R extends AnyResource<'Claim'> = FhirResource<'Claim'>>(
    healthId: string,
    filters?: SearchParams,
    options?: CallOptions,
  ): Promise<Bundle<R>> {
    return this.patientSearch<R>(healthId, 'Claim' as R['resourceType'], filters, options)
  }

  /** Search the ClaimResponse resources about a patient, as a page of ClaimResponse resources. Filters are the search parameters of FHIR. */
  claimResponses<R extends AnyResource<'ClaimResponse'> = FhirResource<'ClaimResponse'>>(
    healthId: string,
    filters?: SearchParams,
    options?: CallOptions,
  ): Promise<Bundle<R>> {
    return this.patientSearch<R>(healthId, 'ClaimResponse' as R['resourceType'], filters, options)
  }

  /** Search the ClinicalImpression resources about a patient, as a page of ClinicalImpression resources. Filters are the search parameters of FHIR. */
  clinicalImpressions<R extends AnyResource<'ClinicalImpression'> = FhirResource<'ClinicalImpression'>>(
    healthId: string,
    filters?: SearchParams,
    options?: CallOptions,
  ): Promise<Bundle<R>> {
    return this.patientSearch<R>(healthId, 'ClinicalImpression' as R['resourceType'], filters, options)
  }

  /** Search the Communication resources about a patient, as a page of Communication resources. Filters are the search parameters of FHIR. */
  communications<R extends AnyResource<'Communication'> = FhirResource<'Communication'>>(
    healthId: string,
    filters?: SearchParams,
    options?: CallOptions,
  ): Promise<Bundle<R>> {
    return this.patientSearch<R>(healthId, 'Communication' as R['resourceType'], filters, options)
  }

  /** Search the CommunicationRequest resources about a patient, as a page of CommunicationRequest resources. Filters are the search parameters of FHIR. */
  communicationRequests<R extends AnyResource<'CommunicationRequest'> = FhirResource<'CommunicationRequest'>>(
    healthId: string,
    filters?: SearchParams,
    options?: CallOptions,
  ): Promise<Bundle<R>> {
    return this.patientSearch<R>(healthId, 'CommunicationRequest' as R['resourceType'], filters, options)
  }

  /** Search the Composition resources about a patient, as a page of Composition resources. Filters are the search parameters of FHIR. */
  compositions<R extends AnyResource<'Composition'> = FhirResource<'Composition'>>(
    healthId: string,
    filters?: SearchParams,
    options?: CallOptions,
  ): Promise<Bundle<R>> {
    return this.patientSearch<R>(healthId, 'Composition' as R['resourceType'], filters, options)
  }

  /** Search the Condition resources about a patient, as a page of Condition resources. Filters are the search parameters of FHIR. */
  conditions<R extends AnyResource<'Condition'> = FhirResource<'Condition'>>(
    healthId: string,
    filters?: SearchParams,
    options?: CallOptions,
  ): Promise<Bundle<R>> {
    return this.patientSearch<R>(healthId, 'Condition' as R['resourceType'], filters, options)
  }

  /** Search the Consent resources about a patient, as a page of Consent resources. Filters are the search parameters of FHIR. */
  consents<R extends AnyResource<'Consent'> = FhirResource<'Consent'>>(
    healthId: string,
    filters?: SearchParams,
    options?: CallOptions,
  ): Promise<Bundle<R>> {
    return this.patientSearch<R>(healthId, 'Consent' as R['resourceType'], filters, options)
  }

  /** Search the Coverage resources about a patient, as a page of Coverage resources. Filters are the search parameters of FHIR. */
  coverages<R extends AnyResource<'Coverage'> = FhirResource<'Coverage'>>(
    healthId: string,
    filters?: SearchParams,
    options?: CallOptions,
  ): Promise<Bundle<R>> {
    return this.patientSearch<R>(healthId, 'Coverage' as R['resourceType'], filters, options)
  }

  /** Search the CoverageEligibilityRequest resources about a patient, as a page of CoverageEligibilityRequest resources. Filters are the search parameters of FHIR. */
  coverageEligibilityRequests<R extends AnyResource<'CoverageEligibilityRequest'> = FhirResource<'CoverageEligibilityRequest'>>(
    healthId: string,
    filters?: SearchParams,
    options?: CallOptions,
  ): Promise<Bundle<R>> {
    return this.patientSearch<R>(healthId, 'CoverageEligibilityRequest' as R['resourceType'], filters, options)
  }

  /** Search the CoverageEligibilityResponse resources about a patient, as a page of CoverageEligibilityResponse resources. Filters are the search parameters of FHIR. */
  coverageEligibilityResponses<R extends AnyResource<'CoverageEligibilityResponse'> = FhirResource<'CoverageEligibilityResponse'>>(
    healthId: string,
    filters?: SearchParams,
    options?: CallOptions,
  ): Promise<Bundle<R>> {
    return this.patientSearch<R>(healthId, 'CoverageEligibilityResponse' as R['resourceType'], filters, options)
  }

  /** Search the DetectedIssue resources about a patient, as a page of DetectedIssue resources. Filters are the search parameters of FHIR. */
  detectedIssues<R extends AnyResource<'DetectedIssue'> = FhirResource<'DetectedIssue'>>(
    healthId: string,
    filters?: SearchParams,
    options?: CallOptions,
  ): Promise<Bundle<R>> {
    return this.patientSearch<R>(healthId, 'DetectedIssue' as R['resourceType'], filters, options)
  }

  /** Search the DeviceRequest resources about a patient, as a page of DeviceRequest resources. Filters are the search parameters of FHIR. */
  deviceRequests<R extends AnyResource<'DeviceRequest'> = FhirResource<'DeviceRequest'>>(
    healthId: string,
    filters?: SearchParams,
    options?: CallOptions,
  ): Promise<Bundle<R>> {
    return this.patientSearch<R>(healthId, 'DeviceRequest' as R['resourceType'], filters, options)
  }

  /** Search the DeviceUseStatement resources about a patient, as a page of DeviceUseStatement resources. Filters are the search parameters of FHIR. */
  deviceUseStatements<R extends AnyResource<'DeviceUseStatement'> = FhirResource<'DeviceUseStatement'>>(
    healthId: string,
    filters?: SearchParams,
    options?: CallOptions,
  ): Promise<Bundle<R>> {
    return this.patientSearch<R>(healthId, 'DeviceUseStatement' as R['resourceType'], filters, options)
  }

  /** Search the DiagnosticReport resources about a patient, as a page of DiagnosticReport resources. Filters are the search parameters of FHIR. */
  diagnosticReports<R extends AnyResource<'DiagnosticReport'> = FhirResource<'DiagnosticReport'>>(
    healthId: string,
    filters?: SearchParams,
    options?: CallOptions,
  ): Promise<Bundle<R>> {
    return this.patientSearch<R>(healthId, 'DiagnosticReport' as R['resourceType'], filters, options)
  }

  /** Search the DocumentManifest resources about a patient, as a page of DocumentManifest resources. Filters are the search parameters of FHIR. */
  documentManifests<R extends AnyResource<'DocumentManifest'> = FhirResource<'DocumentManifest'>>(
    healthId: string,
    filters?: SearchParams,
    options?: CallOptions,
  ): Promise<Bundle<R>> {
    return this.patientSearch<R>(healthId, 'DocumentManifest' as R['resourceType'], filters, options)
  }

  /** Search the DocumentReference resources about a patient, as a page of DocumentReference resources. Filters are the search parameters of FHIR. */
  documentReferences<R extends AnyResource<'DocumentReference'> = FhirResource<'DocumentReference'>>(
    healthId: string,
    filters?: SearchParams,
    options?: CallOptions,
  ): Promise<Bundle<R>> {
    return this.patientSearch<R>(healthId, 'DocumentReference' as R['resourceType'], filters, options)
  }

  /** Search the Encounter resources about a patient, as a page of Encounter resources. Filters are the search parameters of FHIR. */
  encounters<R extends AnyResource<'Encounter'> = FhirResource<'Encounter'>>(
    healthId: string,
    filters?: SearchParams,
    options?: CallOptions,
  ): Promise<Bundle<R>> {
    return this.patientSearch<R>(healthId, 'Encounter' as R['resourceType'], filters, options)
  }

  /** Search the EnrollmentRequest resources about a patient, as a page of EnrollmentRequest resources. Filters are the search parameters of FHIR. */
  enrollmentRequests<R extends AnyResource<'EnrollmentRequest'> = FhirResource<'EnrollmentRequest'>>(
    healthId: string,
    filters?: SearchParams,
    options?: CallOptions,
  ): Promise<Bundle<R>> {
    return this.patientSearch<R>(healthId, 'EnrollmentRequest' as R['resourceType'], filters, options)
  }

  /** Search the EpisodeOfCare resources about a patient, as a page of EpisodeOfCare resources. Filters are the search parameters of FHIR. */
  episodeOfCares<R extends AnyResource<'EpisodeOfCare'> = FhirResource<'EpisodeOfCare'>>(
    healthId: string,
    filters?: SearchParams,
    options?: CallOptions,
  ): Promise<Bundle<R>> {
    return this.patientSearch<R>(healthId, 'EpisodeOfCare' as R['resourceType'], filters, options)
  }

  /** Search the ExplanationOfBenefit resources about a patient, as a page of ExplanationOfBenefit resources. Filters are the search parameters of FHIR. */
  explanationOfBenefits<R extends AnyResource<'ExplanationOfBenefit'> = FhirResource<'ExplanationOfBenefit'>>(
    healthId: string,
    filters?: SearchParams,
    options?: CallOptions,
  ): Promise<Bundle<R>> {
    return this.patientSearch<R>(healthId, 'ExplanationOfBenefit' as R['resourceType'], filters, options)
  }

  /** Search the FamilyMemberHistory resources about a patient, as a page of FamilyMemberHistory resources. Filters are the search parameters of FHIR. */
  familyMemberHistories<R extends AnyResource<'FamilyMemberHistory'> = FhirResource<'FamilyMemberHistory'>>(
    healthId: string,
    filters?: SearchParams,
    options?: CallOptions,
  ): Promise<Bundle<R>> {
    return this.patientSearch<R>(healthId, 'FamilyMemberHistory' as R['resourceType'], filters, options)
  }

  /** Search the Flag resources about a patient, as a page of Flag resources. Filters are the search parameters of FHIR. */
  flags<R extends AnyResource<'Flag'> = FhirResource<'Flag'>>(
    healthId: string,
    filters?: SearchParams,
    options?: CallOptions,
  ): Promise<Bundle<R>> {
    return this.patientSearch<R>(healthId, 'Flag' as R['resourceType'], filters, options)
  }

  /** Search the Goal resources about a patient, as a page of Goal resources. Filters are the search parameters of FHIR. */
  goals<R extends AnyResource<'Goal'> = FhirResource<'Goal'>>(
    healthId: string,
    filters?: SearchParams,
    options?: CallOptions,
  ): Promise<Bundle<R>> {
    return this.patientSearch<R>(healthId, 'Goal' as R['resourceType'], filters, options)
  }

  /** Search the Group resources about a patient, as a page of Group resources. Filters are the search parameters of FHIR. */
  groups<R extends AnyResource<'Group'> = FhirResource<'Group'>>(
    healthId: string,
    filters?: SearchParams,
    options?: CallOptions,
  ): Promise<Bundle<R>> {
    return this.patientSearch<R>(healthId, 'Group' as R['resourceType'], filters, options)
  }

  /** Search the ImagingStudy resources about a patient, as a page of ImagingStudy resources. Filters are the search parameters of FHIR. */
  imagingStudies<R extends AnyResource<'ImagingStudy'> = FhirResource<'ImagingStudy'>>(
    healthId: string,
    filters?: SearchParams,
    options?: CallOptions,
  ): Promise<Bundle<R>> {
    return this.patientSearch<R>(healthId, 'ImagingStudy' as R['resourceType'], filters, options)
  }

  /** Search the Immunization resources about a patient, as a page of Immunization resources. Filters are the search parameters of FHIR. */
  immunizations<R extends AnyResource<'Immunization'> = FhirResource<'Immunization'>>(
    healthId: string,
    filters?: SearchParams,
    options?: CallOptions,
  ): Promise<Bundle<R>> {
    return this.patientSearch<R>(healthId, 'Immunization' as R['resourceType'], filters, options)
  }

  /** Search the ImmunizationEvaluation resources about a patient, as a page of ImmunizationEvaluation resources. Filters are the search parameters of FHIR. */
  immunizationEvaluations<R extends AnyResource<'ImmunizationEvaluation'> = FhirResource<'ImmunizationEvaluation'>>(
    healthId: string,
    filters?: SearchParams,
    options?: CallOptions,
  ): Promise<Bundle<R>> {
    return this.patientSearch<R>(healthId, 'ImmunizationEvaluation' as R['resourceType'], filters, options)
  }

  /** Search the ImmunizationRecommendation resources about a patient, as a page of ImmunizationRecommendation resources. Filters are the search parameters of FHIR. */
  immunizationRecommendations<R extends AnyResource<'ImmunizationRecommendation'> = FhirResource<'ImmunizationRecommendation'>>(
    healthId: string,
    filters?: SearchParams,
    options?: CallOptions,
  ): Promise<Bundle<R>> {
    return this.patientSearch<R>(healthId, 'ImmunizationRecommendation' as R['resourceType'], filters, options)
  }

  /** Search the Invoice resources about a patient, as a page of Invoice resources. Filters are the search parameters of FHIR. */
  invoices<R extends AnyResource<'Invoice'> = FhirResource<'Invoice'>>(
    healthId: string,
    filters?: SearchParams,
    options?: CallOptions,
  ): Promise<Bundle<R>> {
    return this.patientSearch<R>(healthId, 'Invoice' as R['resourceType'], filters, options)
  }

  /** Search the List resources about a patient, as a page of List resources. Filters are the search parameters of FHIR. */
  lists<R extends AnyResource<'List'> = FhirResource<'List'>>(
    healthId: string,
    filters?: SearchParams,
    options?: CallOptions,
  ): Promise<Bundle<R>> {
    return this.patientSearch<R>(healthId, 'List' as R['resourceType'], filters, options)
  }

  /** Search the MeasureReport resources about a patient, as a page of MeasureReport resources. Filters are the search parameters of FHIR. */
  measureReports<R extends AnyResource<'MeasureReport'> = FhirResource<'MeasureReport'>>(
    healthId: string,
    filters?: SearchParams,
    options?: CallOptions,
  ): Promise<Bundle<R>> {
    return this.patientSearch<R>(healthId, 'MeasureReport' as R['resourceType'], filters, options)
  }

  /** Search the Media resources about a patient, as a page of Media resources. Filters are the search parameters of FHIR. */
  media<R extends AnyResource<'Media'> = FhirResource<'Media'>>(
    healthId: string,
    filters?: SearchParams,
    options?: CallOptions,
  ): Promise<Bundle<R>> {
    return this.patientSearch<R>(healthId, 'Media' as R['resourceType'], filters, options)
  }

  /** Search the MedicationAdministration resources about a patient, as a page of MedicationAdministration resources. Filters are the search parameters of FHIR. */
  medicationAdministrations<R extends AnyResource<'MedicationAdministration'> = FhirResource<'MedicationAdministration'>>(
    healthId: string,
    filters?: SearchParams,
    options?: CallOptions,
  ): Promise<Bundle<R>> {
    return this.patientSearch<R>(healthId, 'MedicationAdministration' as R['resourceType'], filters, options)
  }

  /** Search the MedicationDispense resources about a patient, as a page of MedicationDispense resources. Filters are the search parameters of FHIR. */
  medicationDispenses<R extends AnyResource<'MedicationDispense'> = FhirResource<'MedicationDispense'>>(
    healthId: string,
    filters?: SearchParams,
    options?: CallOptions,
  ): Promise<Bundle<R>> {
    return this.patientSearch<R>(healthId, 'MedicationDispense' as R['resourceType'], filters, options)
  }

  /** Search the MedicationRequest resources about a patient, as a page of MedicationRequest resources. Filters are the search parameters of FHIR. */
  medicationRequests<R extends AnyResource<'MedicationRequest'> = FhirResource<'MedicationRequest'>>(
    healthId: string,
    filters?: SearchParams,
    options?: CallOptions,
  ): Promise<Bundle<R>> {
    return this.patientSearch<R>(healthId, 'MedicationRequest' as R['resourceType'], filters, options)
  }

  /** Search the MedicationStatement resources about a patient, as a page of MedicationStatement resources. Filters are the search parameters of FHIR. */
  medicationStatements<R extends AnyResource<'MedicationStatement'> = FhirResource<'MedicationStatement'>>(
    healthId: string,
    filters?: SearchParams,
    options?: CallOptions,
  ): Promise<Bundle<R>> {
    return this.patientSearch<R>(healthId, 'MedicationStatement' as R['resourceType'], filters, options)
  }

  /** Search the MolecularSequence resources about a patient, as a page of MolecularSequence resources. Filters are the search parameters of FHIR. */
  molecularSequences<R extends AnyResource<'MolecularSequence'> = FhirResource<'MolecularSequence'>>(
    healthId: string,
    filters?: SearchParams,
    options?: CallOptions,
  ): Promise<Bundle<R>> {
    return this.patientSearch<R>(healthId, 'MolecularSequence' as R['resourceType'], filters, options)
  }

  /** Search the NutritionOrder resources about a patient, as a page of NutritionOrder resources. Filters are the search parameters of FHIR. */
  nutritionOrders<R extends AnyResource<'NutritionOrder'> = FhirResource<'NutritionOrder'>>(
    healthId: string,
    filters?: SearchParams,
    options?: CallOptions,
  ): Promise<Bundle<R>> {
    return this.patientSearch<R>(healthId, 'NutritionOrder' as R['resourceType'], filters, options)
  }

  /** Search the Observation resources about a patient, as a page of Observation resources. Filters are the search parameters of FHIR. */
  observations<R extends AnyResource<'Observation'> = FhirResource<'Observation'>>(
    healthId: string,
    filters?: SearchParams,
    options?: CallOptions,
  ): Promise<Bundle<R>> {
    return this.patientSearch<R>(healthId, 'Observation' as R['resourceType'], filters, options)
  }

  /** Search the Person resources about a patient, as a page of Person resources. Filters are the search parameters of FHIR. */
  persons<R extends AnyResource<'Person'> = FhirResource<'Person'>>(
    healthId: string,
    filters?: SearchParams,
    options?: CallOptions,
  ): Promise<Bundle<R>> {
    return this.patientSearch<R>(healthId, 'Person' as R['resourceType'], filters, options)
  }

  /** Search the Procedure resources about a patient, as a page of Procedure resources. Filters are the search parameters of FHIR. */
  procedures<R extends AnyResource<'Procedure'> = FhirResource<'Procedure'>>(
    healthId: string,
    filters?: SearchParams,
    options?: CallOptions,
  ): Promise<Bundle<R>> {
    return this.patientSearch<R>(healthId, 'Procedure' as R['resourceType'], filters, options)
  }

  /** Search the Provenance resources about a patient, as a page of Provenance resources. Filters are the search parameters of FHIR. */
  provenances<R extends AnyResource<'Provenance'> = FhirResource<'Provenance'>>(
    healthId: string,
    filters?: SearchParams,
    options?: CallOptions,
  ): Promise<Bundle<R>> {
    return this.patientSearch<R>(healthId, 'Provenance' as R['resourceType'], filters, options)
  }

  /** Search the QuestionnaireResponse resources about a patient, as a page of QuestionnaireResponse resources. Filters are the search parameters of FHIR. */
  questionnaireResponses<R extends AnyResource<'QuestionnaireResponse'> = FhirResource<'QuestionnaireResponse'>>(
    healthId: string,
    filters?: SearchParams,
    options?: CallOptions,
  ): Promise<Bundle<R>> {
    return this.patientSearch<R>(healthId, 'QuestionnaireResponse' as R['resourceType'], filters, options)
  }

  /** Search the RelatedPerson resources about a patient, as a page of RelatedPerson resources. Filters are the search parameters of FHIR. */
  relatedPersons<R extends AnyResource<'RelatedPerson'> = FhirResource<'RelatedPerson'>>(
    healthId: string,
    filters?: SearchParams,
    options?: CallOptions,
  ): Promise<Bundle<R>> {
    return this.patientSearch<R>(healthId, 'RelatedPerson' as R['resourceType'], filters, options)
  }

  /** Search the RequestGroup resources about a patient, as a page of RequestGroup resources. Filters are the search parameters of FHIR. */
  requestGroups<R extends AnyResource<'RequestGroup'> = FhirResource<'RequestGroup'>>(
    healthId: string,
    filters?: SearchParams,
    options?: CallOptions,
  ): Promise<Bundle<R>> {
    return this.patientSearch<R>(healthId, 'RequestGroup' as R['resourceType'], filters, options)
  }

  /** Search the ResearchSubject resources about a patient, as a page of ResearchSubject resources. Filters are the search parameters of FHIR. */
  researchSubjects<R extends AnyResource<'ResearchSubject'> = FhirResource<'ResearchSubject'>>(
    healthId: string,
    filters?: SearchParams,
    options?: CallOptions,
  ): Promise<Bundle<R>> {
    return this.patientSearch<R>(healthId, 'ResearchSubject' as R['resourceType'], filters, options)
  }

  /** Search the RiskAssessment resources about a patient, as a page of RiskAssessment resources. Filters are the search parameters of FHIR. */
  riskAssessments<R extends AnyResource<'RiskAssessment'> = FhirResource<'RiskAssessment'>>(
    healthId: string,
    filters?: SearchParams,
    options?: CallOptions,
  ): Promise<Bundle<R>> {
    return this.patientSearch<R>(healthId, 'RiskAssessment' as R['resourceType'], filters, options)
  }

  /** Search the Schedule resources about a patient, as a page of Schedule resources. Filters are the search parameters of FHIR. */
  schedules<R extends AnyResource<'Schedule'> = FhirResource<'Schedule'>>(
    healthId: string,
    filters?: SearchParams,
    options?: CallOptions,
  ): Promise<Bundle<R>> {
    return this.patientSearch<R>(healthId, 'Schedule' as R['resourceType'], filters, options)
  }

  /** Search the ServiceRequest resources about a patient, as a page of ServiceRequest resources. Filters are the search parameters of FHIR. */
  serviceRequests<R extends AnyResource<'ServiceRequest'> = FhirResource<'ServiceRequest'>>(
    healthId: string,
    filters?: SearchParams,
    options?: CallOptions,
  ): Promise<Bundle<R>> {
    return this.patientSearch<R>(healthId, 'ServiceRequest' as R['resourceType'], filters, options)
  }

  /** Search the Specimen resources about a patient, as a page of Specimen resources. Filters are the search parameters of FHIR. */
  specimens<R extends AnyResource<'Specimen'> = FhirResource<'Specimen'>>(
    healthId: string,
    filters?: SearchParams,
    options?: CallOptions,
  ): Promise<Bundle<R>> {
    return this.patientSearch<R>(healthId, 'Specimen' as R['resourceType'], filters, options)
  }

  /** Search the SupplyDelivery resources about a patient, as a page of SupplyDelivery resources. Filters are the search parameters of FHIR. */
  supplyDeliveries<R extends AnyResource<'SupplyDelivery'> = FhirResource<'SupplyDelivery'>>(
    healthId: string,
    filters?: SearchParams,
    options?: CallOptions,
  ): Promise<Bundle<R>> {
    return this.patientSearch<R>(healthId, 'SupplyDelivery' as R['resourceType'], filters, options)
  }

  /** Search the SupplyRequest resources about a patient, as a page of SupplyRequest resources. Filters are the search parameters of FHIR. */
  supplyRequests<R extends AnyResource<'SupplyRequest'> = FhirResource<'SupplyRequest'>>(
    healthId: string,
    filters?: SearchParams,
    options?: CallOptions,
  ): Promise<Bundle<R>> {
    return this.patientSearch<R>(healthId, 'SupplyRequest' as R['resourceType'], filters, options)
  }

  /** Search the Task resources about a patient, as a page of Task resources. Filters are the search parameters of FHIR. */
  tasks<R extends AnyResource<'Task'> = FhirResource<'Task'>>(
    healthId: string,
    filters?: SearchParams,
    options?: CallOptions,
  ): Promise<Bundle<R>> {
    return this.patientSearch<R>(healthId, 'Task' as R['resourceType'], filters, options)
  }

  /** Search the VisionPrescription resources about a patient, as a page of VisionPrescription resources. Filters are the search parameters of FHIR. */
  visionPrescriptions<R extends AnyResource<'VisionPrescription'> = FhirResource<'VisionPrescription'>>(
    healthId: string,
    filters?: SearchParams,
    options?: CallOptions,
  ): Promise<Bundle<R>> {
    return this.patientSearch<R>(healthId, 'VisionPrescription' as R['resourceType'], filters, options)
  }
}
