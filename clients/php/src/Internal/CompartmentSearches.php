<?php

// One method for each type of resource that is about a patient. Written by tools/generate.php from clients/contract.json.

declare(strict_types=1);

namespace HealthInterop\Internal;

use HealthInterop\Exception\ServiceException;
use HealthInterop\Shapes;

/**
 * @internal The searches of Fhir by type.
 * @phpstan-import-type Bundle from Shapes
 * @phpstan-import-type CallOptions from Shapes
 * @phpstan-import-type Filters from Shapes
 */
trait CompartmentSearches
{
    /**
     * Search the FHIR resources of a type about a patient.
     *
     * @param Filters     $filters
     * @param CallOptions $options
     * @return Bundle One page
     */
    abstract public function patientSearch(string $healthId, string $type, array $filters = [], array $options = []): array;

    /**
     * Search the Account resources about a patient.
     *
     * @param string      $healthId Health ID, in any writing
     * @param Filters     $filters  Search parameters of FHIR
     * @param CallOptions $options  Options of this call
     * @return Bundle One page
     * @throws ServiceException
     */
    public function accounts(string $healthId, array $filters = [], array $options = []): array
    {
        return $this->patientSearch($healthId, 'Account', $filters, $options);
    }

    /**
     * Search the AdverseEvent resources about a patient.
     *
     * @param string      $healthId Health ID, in any writing
     * @param Filters     $filters  Search parameters of FHIR
     * @param CallOptions $options  Options of this call
     * @return Bundle One page
     * @throws ServiceException
     */
    public function adverseEvents(string $healthId, array $filters = [], array $options = []): array
    {
        return $this->patientSearch($healthId, 'AdverseEvent', $filters, $options);
    }

    /**
     * Search the AllergyIntolerance resources about a patient.
     *
     * @param string      $healthId Health ID, in any writing
     * @param Filters     $filters  Search parameters of FHIR
     * @param CallOptions $options  Options of this call
     * @return Bundle One page
     * @throws ServiceException
     */
    public function allergyIntolerances(string $healthId, array $filters = [], array $options = []): array
    {
        return $this->patientSearch($healthId, 'AllergyIntolerance', $filters, $options);
    }

    /**
     * Search the Appointment resources about a patient.
     *
     * @param string      $healthId Health ID, in any writing
     * @param Filters     $filters  Search parameters of FHIR
     * @param CallOptions $options  Options of this call
     * @return Bundle One page
     * @throws ServiceException
     */
    public function appointments(string $healthId, array $filters = [], array $options = []): array
    {
        return $this->patientSearch($healthId, 'Appointment', $filters, $options);
    }

    /**
     * Search the AppointmentResponse resources about a patient.
     *
     * @param string      $healthId Health ID, in any writing
     * @param Filters     $filters  Search parameters of FHIR
     * @param CallOptions $options  Options of this call
     * @return Bundle One page
     * @throws ServiceException
     */
    public function appointmentResponses(string $healthId, array $filters = [], array $options = []): array
    {
        return $this->patientSearch($healthId, 'AppointmentResponse', $filters, $options);
    }

    /**
     * Search the AuditEvent resources about a patient.
     *
     * @param string      $healthId Health ID, in any writing
     * @param Filters     $filters  Search parameters of FHIR
     * @param CallOptions $options  Options of this call
     * @return Bundle One page
     * @throws ServiceException
     */
    public function auditEvents(string $healthId, array $filters = [], array $options = []): array
    {
        return $this->patientSearch($healthId, 'AuditEvent', $filters, $options);
    }

    /**
     * Search the Basic resources about a patient.
     *
     * @param string      $healthId Health ID, in any writing
     * @param Filters     $filters  Search parameters of FHIR
     * @param CallOptions $options  Options of this call
     * @return Bundle One page
     * @throws ServiceException
     */
    public function basics(string $healthId, array $filters = [], array $options = []): array
    {
        return $this->patientSearch($healthId, 'Basic', $filters, $options);
    }

    /**
     * Search the BodyStructure resources about a patient.
     *
     * @param string      $healthId Health ID, in any writing
     * @param Filters     $filters  Search parameters of FHIR
     * @param CallOptions $options  Options of this call
     * @return Bundle One page
     * @throws ServiceException
     */
    public function bodyStructures(string $healthId, array $filters = [], array $options = []): array
    {
        return $this->patientSearch($healthId, 'BodyStructure', $filters, $options);
    }

    /**
     * Search the CarePlan resources about a patient.
     *
     * @param string      $healthId Health ID, in any writing
     * @param Filters     $filters  Search parameters of FHIR
     * @param CallOptions $options  Options of this call
     * @return Bundle One page
     * @throws ServiceException
     */
    public function carePlans(string $healthId, array $filters = [], array $options = []): array
    {
        return $this->patientSearch($healthId, 'CarePlan', $filters, $options);
    }

    /**
     * Search the CareTeam resources about a patient.
     *
     * @param string      $healthId Health ID, in any writing
     * @param Filters     $filters  Search parameters of FHIR
     * @param CallOptions $options  Options of this call
     * @return Bundle One page
     * @throws ServiceException
     */
    public function careTeams(string $healthId, array $filters = [], array $options = []): array
    {
        return $this->patientSearch($healthId, 'CareTeam', $filters, $options);
    }

    /**
     * Search the ChargeItem resources about a patient.
     *
     * @param string      $healthId Health ID, in any writing
     * @param Filters     $filters  Search parameters of FHIR
     * @param CallOptions $options  Options of this call
     * @return Bundle One page
     * @throws ServiceException
     */
    public function chargeItems(string $healthId, array $filters = [], array $options = []): array
    {
        return $this->patientSearch($healthId, 'ChargeItem', $filters, $options);
    }

    /**
     * Search the Claim resources about a patient.
     *
     * @param string      $healthId Health ID, in any writing
     * @param Filters     $filters  Search parameters of FHIR
     * @param CallOptions $options  Options of this call
     * @return Bundle One page
     * @throws ServiceException
     */
    public function claims(string $healthId, array $filters = [], array $options = []): array
    {
        return $this->patientSearch($healthId, 'Claim', $filters, $options);
    }

    /**
     * Search the ClaimResponse resources about a patient.
     *
     * @param string      $healthId Health ID, in any writing
     * @param Filters     $filters  Search parameters of FHIR
     * @param CallOptions $options  Options of this call
     * @return Bundle One page
     * @throws ServiceException
     */
    public function claimResponses(string $healthId, array $filters = [], array $options = []): array
    {
        return $this->patientSearch($healthId, 'ClaimResponse', $filters, $options);
    }

    /**
     * Search the ClinicalImpression resources about a patient.
     *
     * @param string      $healthId Health ID, in any writing
     * @param Filters     $filters  Search parameters of FHIR
     * @param CallOptions $options  Options of this call
     * @return Bundle One page
     * @throws ServiceException
     */
    public function clinicalImpressions(string $healthId, array $filters = [], array $options = []): array
    {
        return $this->patientSearch($healthId, 'ClinicalImpression', $filters, $options);
    }

    /**
     * Search the Communication resources about a patient.
     *
     * @param string      $healthId Health ID, in any writing
     * @param Filters     $filters  Search parameters of FHIR
     * @param CallOptions $options  Options of this call
     * @return Bundle One page
     * @throws ServiceException
     */
    public function communications(string $healthId, array $filters = [], array $options = []): array
    {
        return $this->patientSearch($healthId, 'Communication', $filters, $options);
    }

    /**
     * Search the CommunicationRequest resources about a patient.
     *
     * @param string      $healthId Health ID, in any writing
     * @param Filters     $filters  Search parameters of FHIR
     * @param CallOptions $options  Options of this call
     * @return Bundle One page
     * @throws ServiceException
     */
    public function communicationRequests(string $healthId, array $filters = [], array $options = []): array
    {
        return $this->patientSearch($healthId, 'CommunicationRequest', $filters, $options);
    }

    /**
     * Search the Composition resources about a patient.
     *
     * @param string      $healthId Health ID, in any writing
     * @param Filters     $filters  Search parameters of FHIR
     * @param CallOptions $options  Options of this call
     * @return Bundle One page
     * @throws ServiceException
     */
    public function compositions(string $healthId, array $filters = [], array $options = []): array
    {
        return $this->patientSearch($healthId, 'Composition', $filters, $options);
    }

    /**
     * Search the Condition resources about a patient.
     *
     * @param string      $healthId Health ID, in any writing
     * @param Filters     $filters  Search parameters of FHIR
     * @param CallOptions $options  Options of this call
     * @return Bundle One page
     * @throws ServiceException
     */
    public function conditions(string $healthId, array $filters = [], array $options = []): array
    {
        return $this->patientSearch($healthId, 'Condition', $filters, $options);
    }

    /**
     * Search the Consent resources about a patient.
     *
     * @param string      $healthId Health ID, in any writing
     * @param Filters     $filters  Search parameters of FHIR
     * @param CallOptions $options  Options of this call
     * @return Bundle One page
     * @throws ServiceException
     */
    public function consents(string $healthId, array $filters = [], array $options = []): array
    {
        return $this->patientSearch($healthId, 'Consent', $filters, $options);
    }

    /**
     * Search the Coverage resources about a patient.
     *
     * @param string      $healthId Health ID, in any writing
     * @param Filters     $filters  Search parameters of FHIR
     * @param CallOptions $options  Options of this call
     * @return Bundle One page
     * @throws ServiceException
     */
    public function coverages(string $healthId, array $filters = [], array $options = []): array
    {
        return $this->patientSearch($healthId, 'Coverage', $filters, $options);
    }

    /**
     * Search the CoverageEligibilityRequest resources about a patient.
     *
     * @param string      $healthId Health ID, in any writing
     * @param Filters     $filters  Search parameters of FHIR
     * @param CallOptions $options  Options of this call
     * @return Bundle One page
     * @throws ServiceException
     */
    public function coverageEligibilityRequests(string $healthId, array $filters = [], array $options = []): array
    {
        return $this->patientSearch($healthId, 'CoverageEligibilityRequest', $filters, $options);
    }

    /**
     * Search the CoverageEligibilityResponse resources about a patient.
     *
     * @param string      $healthId Health ID, in any writing
     * @param Filters     $filters  Search parameters of FHIR
     * @param CallOptions $options  Options of this call
     * @return Bundle One page
     * @throws ServiceException
     */
    public function coverageEligibilityResponses(string $healthId, array $filters = [], array $options = []): array
    {
        return $this->patientSearch($healthId, 'CoverageEligibilityResponse', $filters, $options);
    }

    /**
     * Search the DetectedIssue resources about a patient.
     *
     * @param string      $healthId Health ID, in any writing
     * @param Filters     $filters  Search parameters of FHIR
     * @param CallOptions $options  Options of this call
     * @return Bundle One page
     * @throws ServiceException
     */
    public function detectedIssues(string $healthId, array $filters = [], array $options = []): array
    {
        return $this->patientSearch($healthId, 'DetectedIssue', $filters, $options);
    }

    /**
     * Search the DeviceRequest resources about a patient.
     *
     * @param string      $healthId Health ID, in any writing
     * @param Filters     $filters  Search parameters of FHIR
     * @param CallOptions $options  Options of this call
     * @return Bundle One page
     * @throws ServiceException
     */
    public function deviceRequests(string $healthId, array $filters = [], array $options = []): array
    {
        return $this->patientSearch($healthId, 'DeviceRequest', $filters, $options);
    }

    /**
     * Search the DeviceUseStatement resources about a patient.
     *
     * @param string      $healthId Health ID, in any writing
     * @param Filters     $filters  Search parameters of FHIR
     * @param CallOptions $options  Options of this call
     * @return Bundle One page
     * @throws ServiceException
     */
    public function deviceUseStatements(string $healthId, array $filters = [], array $options = []): array
    {
        return $this->patientSearch($healthId, 'DeviceUseStatement', $filters, $options);
    }

    /**
     * Search the DiagnosticReport resources about a patient.
     *
     * @param string      $healthId Health ID, in any writing
     * @param Filters     $filters  Search parameters of FHIR
     * @param CallOptions $options  Options of this call
     * @return Bundle One page
     * @throws ServiceException
     */
    public function diagnosticReports(string $healthId, array $filters = [], array $options = []): array
    {
        return $this->patientSearch($healthId, 'DiagnosticReport', $filters, $options);
    }

    /**
     * Search the DocumentManifest resources about a patient.
     *
     * @param string      $healthId Health ID, in any writing
     * @param Filters     $filters  Search parameters of FHIR
     * @param CallOptions $options  Options of this call
     * @return Bundle One page
     * @throws ServiceException
     */
    public function documentManifests(string $healthId, array $filters = [], array $options = []): array
    {
        return $this->patientSearch($healthId, 'DocumentManifest', $filters, $options);
    }

    /**
     * Search the DocumentReference resources about a patient.
     *
     * @param string      $healthId Health ID, in any writing
     * @param Filters     $filters  Search parameters of FHIR
     * @param CallOptions $options  Options of this call
     * @return Bundle One page
     * @throws ServiceException
     */
    public function documentReferences(string $healthId, array $filters = [], array $options = []): array
    {
        return $this->patientSearch($healthId, 'DocumentReference', $filters, $options);
    }

    /**
     * Search the Encounter resources about a patient.
     *
     * @param string      $healthId Health ID, in any writing
     * @param Filters     $filters  Search parameters of FHIR
     * @param CallOptions $options  Options of this call
     * @return Bundle One page
     * @throws ServiceException
     */
    public function encounters(string $healthId, array $filters = [], array $options = []): array
    {
        return $this->patientSearch($healthId, 'Encounter', $filters, $options);
    }

    /**
     * Search the EnrollmentRequest resources about a patient.
     *
     * @param string      $healthId Health ID, in any writing
     * @param Filters     $filters  Search parameters of FHIR
     * @param CallOptions $options  Options of this call
     * @return Bundle One page
     * @throws ServiceException
     */
    public function enrollmentRequests(string $healthId, array $filters = [], array $options = []): array
    {
        return $this->patientSearch($healthId, 'EnrollmentRequest', $filters, $options);
    }

    /**
     * Search the EpisodeOfCare resources about a patient.
     *
     * @param string      $healthId Health ID, in any writing
     * @param Filters     $filters  Search parameters of FHIR
     * @param CallOptions $options  Options of this call
     * @return Bundle One page
     * @throws ServiceException
     */
    public function episodeOfCares(string $healthId, array $filters = [], array $options = []): array
    {
        return $this->patientSearch($healthId, 'EpisodeOfCare', $filters, $options);
    }

    /**
     * Search the ExplanationOfBenefit resources about a patient.
     *
     * @param string      $healthId Health ID, in any writing
     * @param Filters     $filters  Search parameters of FHIR
     * @param CallOptions $options  Options of this call
     * @return Bundle One page
     * @throws ServiceException
     */
    public function explanationOfBenefits(string $healthId, array $filters = [], array $options = []): array
    {
        return $this->patientSearch($healthId, 'ExplanationOfBenefit', $filters, $options);
    }

    /**
     * Search the FamilyMemberHistory resources about a patient.
     *
     * @param string      $healthId Health ID, in any writing
     * @param Filters     $filters  Search parameters of FHIR
     * @param CallOptions $options  Options of this call
     * @return Bundle One page
     * @throws ServiceException
     */
    public function familyMemberHistories(string $healthId, array $filters = [], array $options = []): array
    {
        return $this->patientSearch($healthId, 'FamilyMemberHistory', $filters, $options);
    }

    /**
     * Search the Flag resources about a patient.
     *
     * @param string      $healthId Health ID, in any writing
     * @param Filters     $filters  Search parameters of FHIR
     * @param CallOptions $options  Options of this call
     * @return Bundle One page
     * @throws ServiceException
     */
    public function flags(string $healthId, array $filters = [], array $options = []): array
    {
        return $this->patientSearch($healthId, 'Flag', $filters, $options);
    }

    /**
     * Search the Goal resources about a patient.
     *
     * @param string      $healthId Health ID, in any writing
     * @param Filters     $filters  Search parameters of FHIR
     * @param CallOptions $options  Options of this call
     * @return Bundle One page
     * @throws ServiceException
     */
    public function goals(string $healthId, array $filters = [], array $options = []): array
    {
        return $this->patientSearch($healthId, 'Goal', $filters, $options);
    }

    /**
     * Search the Group resources about a patient.
     *
     * @param string      $healthId Health ID, in any writing
     * @param Filters     $filters  Search parameters of FHIR
     * @param CallOptions $options  Options of this call
     * @return Bundle One page
     * @throws ServiceException
     */
    public function groups(string $healthId, array $filters = [], array $options = []): array
    {
        return $this->patientSearch($healthId, 'Group', $filters, $options);
    }

    /**
     * Search the ImagingStudy resources about a patient.
     *
     * @param string      $healthId Health ID, in any writing
     * @param Filters     $filters  Search parameters of FHIR
     * @param CallOptions $options  Options of this call
     * @return Bundle One page
     * @throws ServiceException
     */
    public function imagingStudies(string $healthId, array $filters = [], array $options = []): array
    {
        return $this->patientSearch($healthId, 'ImagingStudy', $filters, $options);
    }

    /**
     * Search the Immunization resources about a patient.
     *
     * @param string      $healthId Health ID, in any writing
     * @param Filters     $filters  Search parameters of FHIR
     * @param CallOptions $options  Options of this call
     * @return Bundle One page
     * @throws ServiceException
     */
    public function immunizations(string $healthId, array $filters = [], array $options = []): array
    {
        return $this->patientSearch($healthId, 'Immunization', $filters, $options);
    }

    /**
     * Search the ImmunizationEvaluation resources about a patient.
     *
     * @param string      $healthId Health ID, in any writing
     * @param Filters     $filters  Search parameters of FHIR
     * @param CallOptions $options  Options of this call
     * @return Bundle One page
     * @throws ServiceException
     */
    public function immunizationEvaluations(string $healthId, array $filters = [], array $options = []): array
    {
        return $this->patientSearch($healthId, 'ImmunizationEvaluation', $filters, $options);
    }

    /**
     * Search the ImmunizationRecommendation resources about a patient.
     *
     * @param string      $healthId Health ID, in any writing
     * @param Filters     $filters  Search parameters of FHIR
     * @param CallOptions $options  Options of this call
     * @return Bundle One page
     * @throws ServiceException
     */
    public function immunizationRecommendations(string $healthId, array $filters = [], array $options = []): array
    {
        return $this->patientSearch($healthId, 'ImmunizationRecommendation', $filters, $options);
    }

    /**
     * Search the Invoice resources about a patient.
     *
     * @param string      $healthId Health ID, in any writing
     * @param Filters     $filters  Search parameters of FHIR
     * @param CallOptions $options  Options of this call
     * @return Bundle One page
     * @throws ServiceException
     */
    public function invoices(string $healthId, array $filters = [], array $options = []): array
    {
        return $this->patientSearch($healthId, 'Invoice', $filters, $options);
    }

    /**
     * Search the List resources about a patient.
     *
     * @param string      $healthId Health ID, in any writing
     * @param Filters     $filters  Search parameters of FHIR
     * @param CallOptions $options  Options of this call
     * @return Bundle One page
     * @throws ServiceException
     */
    public function lists(string $healthId, array $filters = [], array $options = []): array
    {
        return $this->patientSearch($healthId, 'List', $filters, $options);
    }

    /**
     * Search the MeasureReport resources about a patient.
     *
     * @param string      $healthId Health ID, in any writing
     * @param Filters     $filters  Search parameters of FHIR
     * @param CallOptions $options  Options of this call
     * @return Bundle One page
     * @throws ServiceException
     */
    public function measureReports(string $healthId, array $filters = [], array $options = []): array
    {
        return $this->patientSearch($healthId, 'MeasureReport', $filters, $options);
    }

    /**
     * Search the Media resources about a patient.
     *
     * @param string      $healthId Health ID, in any writing
     * @param Filters     $filters  Search parameters of FHIR
     * @param CallOptions $options  Options of this call
     * @return Bundle One page
     * @throws ServiceException
     */
    public function media(string $healthId, array $filters = [], array $options = []): array
    {
        return $this->patientSearch($healthId, 'Media', $filters, $options);
    }

    /**
     * Search the MedicationAdministration resources about a patient.
     *
     * @param string      $healthId Health ID, in any writing
     * @param Filters     $filters  Search parameters of FHIR
     * @param CallOptions $options  Options of this call
     * @return Bundle One page
     * @throws ServiceException
     */
    public function medicationAdministrations(string $healthId, array $filters = [], array $options = []): array
    {
        return $this->patientSearch($healthId, 'MedicationAdministration', $filters, $options);
    }

    /**
     * Search the MedicationDispense resources about a patient.
     *
     * @param string      $healthId Health ID, in any writing
     * @param Filters     $filters  Search parameters of FHIR
     * @param CallOptions $options  Options of this call
     * @return Bundle One page
     * @throws ServiceException
     */
    public function medicationDispenses(string $healthId, array $filters = [], array $options = []): array
    {
        return $this->patientSearch($healthId, 'MedicationDispense', $filters, $options);
    }

    /**
     * Search the MedicationRequest resources about a patient.
     *
     * @param string      $healthId Health ID, in any writing
     * @param Filters     $filters  Search parameters of FHIR
     * @param CallOptions $options  Options of this call
     * @return Bundle One page
     * @throws ServiceException
     */
    public function medicationRequests(string $healthId, array $filters = [], array $options = []): array
    {
        return $this->patientSearch($healthId, 'MedicationRequest', $filters, $options);
    }

    /**
     * Search the MedicationStatement resources about a patient.
     *
     * @param string      $healthId Health ID, in any writing
     * @param Filters     $filters  Search parameters of FHIR
     * @param CallOptions $options  Options of this call
     * @return Bundle One page
     * @throws ServiceException
     */
    public function medicationStatements(string $healthId, array $filters = [], array $options = []): array
    {
        return $this->patientSearch($healthId, 'MedicationStatement', $filters, $options);
    }

    /**
     * Search the MolecularSequence resources about a patient.
     *
     * @param string      $healthId Health ID, in any writing
     * @param Filters     $filters  Search parameters of FHIR
     * @param CallOptions $options  Options of this call
     * @return Bundle One page
     * @throws ServiceException
     */
    public function molecularSequences(string $healthId, array $filters = [], array $options = []): array
    {
        return $this->patientSearch($healthId, 'MolecularSequence', $filters, $options);
    }

    /**
     * Search the NutritionOrder resources about a patient.
     *
     * @param string      $healthId Health ID, in any writing
     * @param Filters     $filters  Search parameters of FHIR
     * @param CallOptions $options  Options of this call
     * @return Bundle One page
     * @throws ServiceException
     */
    public function nutritionOrders(string $healthId, array $filters = [], array $options = []): array
    {
        return $this->patientSearch($healthId, 'NutritionOrder', $filters, $options);
    }

    /**
     * Search the Observation resources about a patient.
     *
     * @param string      $healthId Health ID, in any writing
     * @param Filters     $filters  Search parameters of FHIR
     * @param CallOptions $options  Options of this call
     * @return Bundle One page
     * @throws ServiceException
     */
    public function observations(string $healthId, array $filters = [], array $options = []): array
    {
        return $this->patientSearch($healthId, 'Observation', $filters, $options);
    }

    /**
     * Search the Person resources about a patient.
     *
     * @param string      $healthId Health ID, in any writing
     * @param Filters     $filters  Search parameters of FHIR
     * @param CallOptions $options  Options of this call
     * @return Bundle One page
     * @throws ServiceException
     */
    public function persons(string $healthId, array $filters = [], array $options = []): array
    {
        return $this->patientSearch($healthId, 'Person', $filters, $options);
    }

    /**
     * Search the Procedure resources about a patient.
     *
     * @param string      $healthId Health ID, in any writing
     * @param Filters     $filters  Search parameters of FHIR
     * @param CallOptions $options  Options of this call
     * @return Bundle One page
     * @throws ServiceException
     */
    public function procedures(string $healthId, array $filters = [], array $options = []): array
    {
        return $this->patientSearch($healthId, 'Procedure', $filters, $options);
    }

    /**
     * Search the Provenance resources about a patient.
     *
     * @param string      $healthId Health ID, in any writing
     * @param Filters     $filters  Search parameters of FHIR
     * @param CallOptions $options  Options of this call
     * @return Bundle One page
     * @throws ServiceException
     */
    public function provenances(string $healthId, array $filters = [], array $options = []): array
    {
        return $this->patientSearch($healthId, 'Provenance', $filters, $options);
    }

    /**
     * Search the QuestionnaireResponse resources about a patient.
     *
     * @param string      $healthId Health ID, in any writing
     * @param Filters     $filters  Search parameters of FHIR
     * @param CallOptions $options  Options of this call
     * @return Bundle One page
     * @throws ServiceException
     */
    public function questionnaireResponses(string $healthId, array $filters = [], array $options = []): array
    {
        return $this->patientSearch($healthId, 'QuestionnaireResponse', $filters, $options);
    }

    /**
     * Search the RelatedPerson resources about a patient.
     *
     * @param string      $healthId Health ID, in any writing
     * @param Filters     $filters  Search parameters of FHIR
     * @param CallOptions $options  Options of this call
     * @return Bundle One page
     * @throws ServiceException
     */
    public function relatedPersons(string $healthId, array $filters = [], array $options = []): array
    {
        return $this->patientSearch($healthId, 'RelatedPerson', $filters, $options);
    }

    /**
     * Search the RequestGroup resources about a patient.
     *
     * @param string      $healthId Health ID, in any writing
     * @param Filters     $filters  Search parameters of FHIR
     * @param CallOptions $options  Options of this call
     * @return Bundle One page
     * @throws ServiceException
     */
    public function requestGroups(string $healthId, array $filters = [], array $options = []): array
    {
        return $this->patientSearch($healthId, 'RequestGroup', $filters, $options);
    }

    /**
     * Search the ResearchSubject resources about a patient.
     *
     * @param string      $healthId Health ID, in any writing
     * @param Filters     $filters  Search parameters of FHIR
     * @param CallOptions $options  Options of this call
     * @return Bundle One page
     * @throws ServiceException
     */
    public function researchSubjects(string $healthId, array $filters = [], array $options = []): array
    {
        return $this->patientSearch($healthId, 'ResearchSubject', $filters, $options);
    }

    /**
     * Search the RiskAssessment resources about a patient.
     *
     * @param string      $healthId Health ID, in any writing
     * @param Filters     $filters  Search parameters of FHIR
     * @param CallOptions $options  Options of this call
     * @return Bundle One page
     * @throws ServiceException
     */
    public function riskAssessments(string $healthId, array $filters = [], array $options = []): array
    {
        return $this->patientSearch($healthId, 'RiskAssessment', $filters, $options);
    }

    /**
     * Search the Schedule resources about a patient.
     *
     * @param string      $healthId Health ID, in any writing
     * @param Filters     $filters  Search parameters of FHIR
     * @param CallOptions $options  Options of this call
     * @return Bundle One page
     * @throws ServiceException
     */
    public function schedules(string $healthId, array $filters = [], array $options = []): array
    {
        return $this->patientSearch($healthId, 'Schedule', $filters, $options);
    }

    /**
     * Search the ServiceRequest resources about a patient.
     *
     * @param string      $healthId Health ID, in any writing
     * @param Filters     $filters  Search parameters of FHIR
     * @param CallOptions $options  Options of this call
     * @return Bundle One page
     * @throws ServiceException
     */
    public function serviceRequests(string $healthId, array $filters = [], array $options = []): array
    {
        return $this->patientSearch($healthId, 'ServiceRequest', $filters, $options);
    }

    /**
     * Search the Specimen resources about a patient.
     *
     * @param string      $healthId Health ID, in any writing
     * @param Filters     $filters  Search parameters of FHIR
     * @param CallOptions $options  Options of this call
     * @return Bundle One page
     * @throws ServiceException
     */
    public function specimens(string $healthId, array $filters = [], array $options = []): array
    {
        return $this->patientSearch($healthId, 'Specimen', $filters, $options);
    }

    /**
     * Search the SupplyDelivery resources about a patient.
     *
     * @param string      $healthId Health ID, in any writing
     * @param Filters     $filters  Search parameters of FHIR
     * @param CallOptions $options  Options of this call
     * @return Bundle One page
     * @throws ServiceException
     */
    public function supplyDeliveries(string $healthId, array $filters = [], array $options = []): array
    {
        return $this->patientSearch($healthId, 'SupplyDelivery', $filters, $options);
    }

    /**
     * Search the SupplyRequest resources about a patient.
     *
     * @param string      $healthId Health ID, in any writing
     * @param Filters     $filters  Search parameters of FHIR
     * @param CallOptions $options  Options of this call
     * @return Bundle One page
     * @throws ServiceException
     */
    public function supplyRequests(string $healthId, array $filters = [], array $options = []): array
    {
        return $this->patientSearch($healthId, 'SupplyRequest', $filters, $options);
    }

    /**
     * Search the Task resources about a patient.
     *
     * @param string      $healthId Health ID, in any writing
     * @param Filters     $filters  Search parameters of FHIR
     * @param CallOptions $options  Options of this call
     * @return Bundle One page
     * @throws ServiceException
     */
    public function tasks(string $healthId, array $filters = [], array $options = []): array
    {
        return $this->patientSearch($healthId, 'Task', $filters, $options);
    }

    /**
     * Search the VisionPrescription resources about a patient.
     *
     * @param string      $healthId Health ID, in any writing
     * @param Filters     $filters  Search parameters of FHIR
     * @param CallOptions $options  Options of this call
     * @return Bundle One page
     * @throws ServiceException
     */
    public function visionPrescriptions(string $healthId, array $filters = [], array $options = []): array
    {
        return $this->patientSearch($healthId, 'VisionPrescription', $filters, $options);
    }
}
