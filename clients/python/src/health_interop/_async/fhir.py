"""The module client.fhir. Generated from clients/contract.json by scripts/generate.py."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, AsyncIterator, Mapping, Optional

from .._options import CallOptions
from .._typing import Unpack
from .base import Module

if TYPE_CHECKING:
    from .. import types


class Fhir(Module):
    """The methods of ``client.fhir``."""

    __slots__ = ()

    async def search(
        self,
        type: str,
        params: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search FHIR resources of a type.

        GET /api/fhir/R4/{type}
        """
        reply: types.FhirBundle = await self._send(
            "GET",
            "/api/fhir/R4/{type}",
            options,
            path={"type": type},
            query=params,
        )
        return reply

    def search_all(
        self,
        type: str,
        params: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> AsyncIterator[types.FhirResource]:
        """Search FHIR resources of a type, over all pages.

        Pages are fetched when they are needed.
        """
        return self._iterate_from(lambda: self.search(type, params, **options), options)

    async def read(self, type: str, id: str, **options: Unpack[CallOptions]) -> types.FhirResource:
        """Read a FHIR resource.

        GET /api/fhir/R4/{type}/{id}
        """
        reply: types.FhirResource = await self._send(
            "GET",
            "/api/fhir/R4/{type}/{id}",
            options,
            path={"type": type, "id": id},
        )
        return reply

    def iterate(self, bundle: Mapping[str, Any], **options: Unpack[CallOptions]) -> AsyncIterator[types.FhirResource]:
        """Iterate over the resources of a Bundle and its following pages.

        Pages are fetched when they are needed.
        """
        return self._iterate(bundle, options)

    async def patient_search(
        self,
        health_id: str,
        type: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the FHIR resources of a type about a patient.

        GET /api/v1/sdk/patients/{health_id}/fhir/{type}
        """
        reply: types.FhirBundle = await self._send(
            "GET",
            "/api/v1/sdk/patients/{health_id}/fhir/{type}",
            options,
            path={"health_id!": health_id, "type": type},
            query=filters,
        )
        return reply

    async def patient_everything(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Get all FHIR resources about a patient.

        GET /api/v1/sdk/patients/{health_id}/fhir/$everything
        """
        reply: types.FhirBundle = await self._send(
            "GET",
            "/api/v1/sdk/patients/{health_id}/fhir/$everything",
            options,
            path={"health_id!": health_id},
            query=filters,
        )
        return reply

    async def accounts(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the Account resources about a patient."""
        return await self.patient_search(health_id, "Account", filters, **options)

    async def adverse_events(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the AdverseEvent resources about a patient."""
        return await self.patient_search(health_id, "AdverseEvent", filters, **options)

    async def allergy_intolerances(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the AllergyIntolerance resources about a patient."""
        return await self.patient_search(health_id, "AllergyIntolerance", filters, **options)

    async def appointments(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the Appointment resources about a patient."""
        return await self.patient_search(health_id, "Appointment", filters, **options)

    async def appointment_responses(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the AppointmentResponse resources about a patient."""
        return await self.patient_search(health_id, "AppointmentResponse", filters, **options)

    async def audit_events(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the AuditEvent resources about a patient."""
        return await self.patient_search(health_id, "AuditEvent", filters, **options)

    async def basics(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the Basic resources about a patient."""
        return await self.patient_search(health_id, "Basic", filters, **options)

    async def body_structures(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the BodyStructure resources about a patient."""
        return await self.patient_search(health_id, "BodyStructure", filters, **options)

    async def care_plans(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the CarePlan resources about a patient."""
        return await self.patient_search(health_id, "CarePlan", filters, **options)

    async def care_teams(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the CareTeam resources about a patient."""
        return await self.patient_search(health_id, "CareTeam", filters, **options)

    async def charge_items(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the ChargeItem resources about a patient."""
        return await self.patient_search(health_id, "ChargeItem", filters, **options)

    async def claims(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the Claim resources about a patient."""
        return await self.patient_search(health_id, "Claim", filters, **options)

    async def claim_responses(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the ClaimResponse resources about a patient."""
        return await self.patient_search(health_id, "ClaimResponse", filters, **options)

    async def clinical_impressions(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the ClinicalImpression resources about a patient."""
        return await self.patient_search(health_id, "ClinicalImpression", filters, **options)

    async def communications(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the Communication resources about a patient."""
        return await self.patient_search(health_id, "Communication", filters, **options)

    async def communication_requests(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the CommunicationRequest resources about a patient."""
        return await self.patient_search(health_id, "CommunicationRequest", filters, **options)

    async def compositions(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the Composition resources about a patient."""
        return await self.patient_search(health_id, "Composition", filters, **options)

    async def conditions(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the Condition resources about a patient."""
        return await self.patient_search(health_id, "Condition", filters, **options)

    async def consents(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the Consent resources about a patient."""
        return await self.patient_search(health_id, "Consent", filters, **options)

    async def coverages(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the Coverage resources about a patient."""
        return await self.patient_search(health_id, "Coverage", filters, **options)

    async def coverage_eligibility_requests(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the CoverageEligibilityRequest resources about a patient."""
        return await self.patient_search(health_id, "CoverageEligibilityRequest", filters, **options)

    async def coverage_eligibility_responses(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the CoverageEligibilityResponse resources about a patient."""
        return await self.patient_search(health_id, "CoverageEligibilityResponse", filters, **options)

    async def detected_issues(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the DetectedIssue resources about a patient."""
        return await self.patient_search(health_id, "DetectedIssue", filters, **options)

    async def device_requests(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the DeviceRequest resources about a patient."""
        return await self.patient_search(health_id, "DeviceRequest", filters, **options)

    async def device_use_statements(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the DeviceUseStatement resources about a patient."""
        return await self.patient_search(health_id, "DeviceUseStatement", filters, **options)

    async def diagnostic_reports(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the DiagnosticReport resources about a patient."""
        return await self.patient_search(health_id, "DiagnosticReport", filters, **options)

    async def document_manifests(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the DocumentManifest resources about a patient."""
        return await self.patient_search(health_id, "DocumentManifest", filters, **options)

    async def document_references(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the DocumentReference resources about a patient."""
        return await self.patient_search(health_id, "DocumentReference", filters, **options)

    async def encounters(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the Encounter resources about a patient."""
        return await self.patient_search(health_id, "Encounter", filters, **options)

    async def enrollment_requests(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the EnrollmentRequest resources about a patient."""
        return await self.patient_search(health_id, "EnrollmentRequest", filters, **options)

    async def episode_of_cares(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the EpisodeOfCare resources about a patient."""
        return await self.patient_search(health_id, "EpisodeOfCare", filters, **options)

    async def explanation_of_benefits(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the ExplanationOfBenefit resources about a patient."""
        return await self.patient_search(health_id, "ExplanationOfBenefit", filters, **options)

    async def family_member_histories(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the FamilyMemberHistory resources about a patient."""
        return await self.patient_search(health_id, "FamilyMemberHistory", filters, **options)

    async def flags(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the Flag resources about a patient."""
        return await self.patient_search(health_id, "Flag", filters, **options)

    async def goals(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the Goal resources about a patient."""
        return await self.patient_search(health_id, "Goal", filters, **options)

    async def groups(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the Group resources about a patient."""
        return await self.patient_search(health_id, "Group", filters, **options)

    async def imaging_studies(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the ImagingStudy resources about a patient."""
        return await self.patient_search(health_id, "ImagingStudy", filters, **options)

    async def immunizations(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the Immunization resources about a patient."""
        return await self.patient_search(health_id, "Immunization", filters, **options)

    async def immunization_evaluations(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the ImmunizationEvaluation resources about a patient."""
        return await self.patient_search(health_id, "ImmunizationEvaluation", filters, **options)

    async def immunization_recommendations(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the ImmunizationRecommendation resources about a patient."""
        return await self.patient_search(health_id, "ImmunizationRecommendation", filters, **options)

    async def invoices(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the Invoice resources about a patient."""
        return await self.patient_search(health_id, "Invoice", filters, **options)

    async def lists(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the List resources about a patient."""
        return await self.patient_search(health_id, "List", filters, **options)

    async def measure_reports(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the MeasureReport resources about a patient."""
        return await self.patient_search(health_id, "MeasureReport", filters, **options)

    async def media(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the Media resources about a patient."""
        return await self.patient_search(health_id, "Media", filters, **options)

    async def medication_administrations(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the MedicationAdministration resources about a patient."""
        return await self.patient_search(health_id, "MedicationAdministration", filters, **options)

    async def medication_dispenses(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the MedicationDispense resources about a patient."""
        return await self.patient_search(health_id, "MedicationDispense", filters, **options)

    async def medication_requests(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the MedicationRequest resources about a patient."""
        return await self.patient_search(health_id, "MedicationRequest", filters, **options)

    async def medication_statements(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the MedicationStatement resources about a patient."""
        return await self.patient_search(health_id, "MedicationStatement", filters, **options)

    async def molecular_sequences(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the MolecularSequence resources about a patient."""
        return await self.patient_search(health_id, "MolecularSequence", filters, **options)

    async def nutrition_orders(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the NutritionOrder resources about a patient."""
        return await self.patient_search(health_id, "NutritionOrder", filters, **options)

    async def observations(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the Observation resources about a patient."""
        return await self.patient_search(health_id, "Observation", filters, **options)

    async def persons(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the Person resources about a patient."""
        return await self.patient_search(health_id, "Person", filters, **options)

    async def procedures(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the Procedure resources about a patient."""
        return await self.patient_search(health_id, "Procedure", filters, **options)

    async def provenances(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the Provenance resources about a patient."""
        return await self.patient_search(health_id, "Provenance", filters, **options)

    async def questionnaire_responses(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the QuestionnaireResponse resources about a patient."""
        return await self.patient_search(health_id, "QuestionnaireResponse", filters, **options)

    async def related_persons(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the RelatedPerson resources about a patient."""
        return await self.patient_search(health_id, "RelatedPerson", filters, **options)

    async def request_groups(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the RequestGroup resources about a patient."""
        return await self.patient_search(health_id, "RequestGroup", filters, **options)

    async def research_subjects(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the ResearchSubject resources about a patient."""
        return await self.patient_search(health_id, "ResearchSubject", filters, **options)

    async def risk_assessments(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the RiskAssessment resources about a patient."""
        return await self.patient_search(health_id, "RiskAssessment", filters, **options)

    async def schedules(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the Schedule resources about a patient."""
        return await self.patient_search(health_id, "Schedule", filters, **options)

    async def service_requests(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the ServiceRequest resources about a patient."""
        return await self.patient_search(health_id, "ServiceRequest", filters, **options)

    async def specimens(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the Specimen resources about a patient."""
        return await self.patient_search(health_id, "Specimen", filters, **options)

    async def supply_deliveries(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the SupplyDelivery resources about a patient."""
        return await self.patient_search(health_id, "SupplyDelivery", filters, **options)

    async def supply_requests(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the SupplyRequest resources about a patient."""
        return await self.patient_search(health_id, "SupplyRequest", filters, **options)

    async def tasks(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the Task resources about a patient."""
        return await self.patient_search(health_id, "Task", filters, **options)

    async def vision_prescriptions(
        self,
        health_id: str,
        filters: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> types.FhirBundle:
        """Search the VisionPrescription resources about a patient."""
        return await self.patient_search(health_id, "VisionPrescription", filters, **options)
