"""The module client.fhir. Generated from clients/contract.json by scripts/generate.py."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterator, Mapping, Optional

from .._options import CallOptions
from .._typing import Unpack
from .base import Module

if TYPE_CHECKING:
    from .. import types


class Fhir(Module):
    """The methods of ``client.fhir``."""

    __slots__ = ()

    def search(
        self,
        type: str,
        params: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search FHIR resources of a type.

        GET /api/fhir/R4/{type}
        """
        reply: types.FhirBundle = self._send("GET", "/api/fhir/R4/{type}", options, path={"type": type}, query=params)
        return reply

    def search_all(
        self,
        type: str,
        params: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> Iterator[types.FhirResource]:
        """Search FHIR resources of a type, over all pages.

        Pages are fetched when they are needed.
        """
        return self._iterate_from(lambda: self.search(type, params, **options), options)

    def read(self, type: str, id: str, **options: Unpack[CallOptions]) -> types.FhirResource:
        """Read a FHIR resource.

        GET /api/fhir/R4/{type}/{id}
        """
        reply: types.FhirResource = self._send(
            "GET",
            "/api/fhir/R4/{type}/{id}",
            options,
            path={"type": type, "id": id},
        )
        return reply

    def iterate(self, bundle: Mapping[str, Any], **options: Unpack[CallOptions]) -> Iterator[types.FhirResource]:
        """Iterate over the resources of a Bundle and its following pages.

        Pages are fetched when they are needed.
        """
        return self._iterate(bundle, options)

    def patient_search(
        self,
        health_id: str,
        type: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the FHIR resources of a type about a patient.

        GET /api/v1/sdk/patients/{health_id}/fhir/{type}
        """
        reply: types.FhirBundle = self._send(
            "GET",
            "/api/v1/sdk/patients/{health_id}/fhir/{type}",
            options,
            path={"health_id!": health_id, "type": type},
            query=filters,
        )
        return reply

    def patient_everything(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Get all FHIR resources about a patient.

        GET /api/v1/sdk/patients/{health_id}/fhir/$everything
        """
        reply: types.FhirBundle = self._send(
            "GET",
            "/api/v1/sdk/patients/{health_id}/fhir/$everything",
            options,
            path={"health_id!": health_id},
            query=filters,
        )
        return reply

    def accounts(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the Account resources about a patient."""
        return self.patient_search(health_id, "Account", filters, **options)

    def adverse_events(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the AdverseEvent resources about a patient."""
        return self.patient_search(health_id, "AdverseEvent", filters, **options)

    def allergy_intolerances(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the AllergyIntolerance resources about a patient."""
        return self.patient_search(health_id, "AllergyIntolerance", filters, **options)

    def appointments(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the Appointment resources about a patient."""
        return self.patient_search(health_id, "Appointment", filters, **options)

    def appointment_responses(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the AppointmentResponse resources about a patient."""
        return self.patient_search(health_id, "AppointmentResponse", filters, **options)

    def audit_events(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the AuditEvent resources about a patient."""
        return self.patient_search(health_id, "AuditEvent", filters, **options)

    def basics(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the Basic resources about a patient."""
        return self.patient_search(health_id, "Basic", filters, **options)

    def body_structures(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the BodyStructure resources about a patient."""
        return self.patient_search(health_id, "BodyStructure", filters, **options)

    def care_plans(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the CarePlan resources about a patient."""
        return self.patient_search(health_id, "CarePlan", filters, **options)

    def care_teams(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the CareTeam resources about a patient."""
        return self.patient_search(health_id, "CareTeam", filters, **options)

    def charge_items(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the ChargeItem resources about a patient."""
        return self.patient_search(health_id, "ChargeItem", filters, **options)

    def claims(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the Claim resources about a patient."""
        return self.patient_search(health_id, "Claim", filters, **options)

    def claim_responses(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the ClaimResponse resources about a patient."""
        return self.patient_search(health_id, "ClaimResponse", filters, **options)

    def clinical_impressions(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the ClinicalImpression resources about a patient."""
        return self.patient_search(health_id, "ClinicalImpression", filters, **options)

    def communications(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the Communication resources about a patient."""
        return self.patient_search(health_id, "Communication", filters, **options)

    def communication_requests(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the CommunicationRequest resources about a patient."""
        return self.patient_search(health_id, "CommunicationRequest", filters, **options)

    def compositions(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the Composition resources about a patient."""
        return self.patient_search(health_id, "Composition", filters, **options)

    def conditions(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the Condition resources about a patient."""
        return self.patient_search(health_id, "Condition", filters, **options)

    def consents(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the Consent resources about a patient."""
        return self.patient_search(health_id, "Consent", filters, **options)

    def coverages(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the Coverage resources about a patient."""
        return self.patient_search(health_id, "Coverage", filters, **options)

    def coverage_eligibility_requests(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the CoverageEligibilityRequest resources about a patient."""
        return self.patient_search(health_id, "CoverageEligibilityRequest", filters, **options)

    def coverage_eligibility_responses(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the CoverageEligibilityResponse resources about a patient."""
        return self.patient_search(health_id, "CoverageEligibilityResponse", filters, **options)

    def detected_issues(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the DetectedIssue resources about a patient."""
        return self.patient_search(health_id, "DetectedIssue", filters, **options)

    def device_requests(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the DeviceRequest resources about a patient."""
        return self.patient_search(health_id, "DeviceRequest", filters, **options)

    def device_use_statements(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the DeviceUseStatement resources about a patient."""
        return self.patient_search(health_id, "DeviceUseStatement", filters, **options)

    def diagnostic_reports(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the DiagnosticReport resources about a patient."""
        return self.patient_search(health_id, "DiagnosticReport", filters, **options)

    def document_manifests(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the DocumentManifest resources about a patient."""
        return self.patient_search(health_id, "DocumentManifest", filters, **options)

    def document_references(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the DocumentReference resources about a patient."""
        return self.patient_search(health_id, "DocumentReference", filters, **options)

    def encounters(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the Encounter resources about a patient."""
        return self.patient_search(health_id, "Encounter", filters, **options)

    def enrollment_requests(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the EnrollmentRequest resources about a patient."""
        return self.patient_search(health_id, "EnrollmentRequest", filters, **options)

    def episode_of_cares(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the EpisodeOfCare resources about a patient."""
        return self.patient_search(health_id, "EpisodeOfCare", filters, **options)

    def explanation_of_benefits(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the ExplanationOfBenefit resources about a patient."""
        return self.patient_search(health_id, "ExplanationOfBenefit", filters, **options)

    def family_member_histories(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the FamilyMemberHistory resources about a patient."""
        return self.patient_search(health_id, "FamilyMemberHistory", filters, **options)

    def flags(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the Flag resources about a patient."""
        return self.patient_search(health_id, "Flag", filters, **options)

    def goals(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the Goal resources about a patient."""
        return self.patient_search(health_id, "Goal", filters, **options)

    def groups(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the Group resources about a patient."""
        return self.patient_search(health_id, "Group", filters, **options)

    def imaging_studies(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the ImagingStudy resources about a patient."""
        return self.patient_search(health_id, "ImagingStudy", filters, **options)

    def immunizations(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the Immunization resources about a patient."""
        return self.patient_search(health_id, "Immunization", filters, **options)

    def immunization_evaluations(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the ImmunizationEvaluation resources about a patient."""
        return self.patient_search(health_id, "ImmunizationEvaluation", filters, **options)

    def immunization_recommendations(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the ImmunizationRecommendation resources about a patient."""
        return self.patient_search(health_id, "ImmunizationRecommendation", filters, **options)

    def invoices(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the Invoice resources about a patient."""
        return self.patient_search(health_id, "Invoice", filters, **options)

    def lists(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the List resources about a patient."""
        return self.patient_search(health_id, "List", filters, **options)

    def measure_reports(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the MeasureReport resources about a patient."""
        return self.patient_search(health_id, "MeasureReport", filters, **options)

    def media(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the Media resources about a patient."""
        return self.patient_search(health_id, "Media", filters, **options)

    def medication_administrations(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the MedicationAdministration resources about a patient."""
        return self.patient_search(health_id, "MedicationAdministration", filters, **options)

    def medication_dispenses(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the MedicationDispense resources about a patient."""
        return self.patient_search(health_id, "MedicationDispense", filters, **options)

    def medication_requests(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the MedicationRequest resources about a patient."""
        return self.patient_search(health_id, "MedicationRequest", filters, **options)

    def medication_statements(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the MedicationStatement resources about a patient."""
        return self.patient_search(health_id, "MedicationStatement", filters, **options)

    def molecular_sequences(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the MolecularSequence resources about a patient."""
        return self.patient_search(health_id, "MolecularSequence", filters, **options)

    def nutrition_orders(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the NutritionOrder resources about a patient."""
        return self.patient_search(health_id, "NutritionOrder", filters, **options)

    def observations(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the Observation resources about a patient."""
        return self.patient_search(health_id, "Observation", filters, **options)

    def persons(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the Person resources about a patient."""
        return self.patient_search(health_id, "Person", filters, **options)

    def procedures(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the Procedure resources about a patient."""
        return self.patient_search(health_id, "Procedure", filters, **options)

    def provenances(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the Provenance resources about a patient."""
        return self.patient_search(health_id, "Provenance", filters, **options)

    def questionnaire_responses(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the QuestionnaireResponse resources about a patient."""
        return self.patient_search(health_id, "QuestionnaireResponse", filters, **options)

    def related_persons(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the RelatedPerson resources about a patient."""
        return self.patient_search(health_id, "RelatedPerson", filters, **options)

    def request_groups(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the RequestGroup resources about a patient."""
        return self.patient_search(health_id, "RequestGroup", filters, **options)

    def research_subjects(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the ResearchSubject resources about a patient."""
        return self.patient_search(health_id, "ResearchSubject", filters, **options)

    def risk_assessments(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the RiskAssessment resources about a patient."""
        return self.patient_search(health_id, "RiskAssessment", filters, **options)

    def schedules(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the Schedule resources about a patient."""
        return self.patient_search(health_id, "Schedule", filters, **options)

    def service_requests(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the ServiceRequest resources about a patient."""
        return self.patient_search(health_id, "ServiceRequest", filters, **options)

    def specimens(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the Specimen resources about a patient."""
        return self.patient_search(health_id, "Specimen", filters, **options)

    def supply_deliveries(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the SupplyDelivery resources about a patient."""
        return self.patient_search(health_id, "SupplyDelivery", filters, **options)

    def supply_requests(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the SupplyRequest resources about a patient."""
        return self.patient_search(health_id, "SupplyRequest", filters, **options)

    def tasks(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the Task resources about a patient."""
        return self.patient_search(health_id, "Task", filters, **options)

    def vision_prescriptions(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the VisionPrescription resources about a patient."""
        return self.patient_search(health_id, "VisionPrescription", filters, **options)
