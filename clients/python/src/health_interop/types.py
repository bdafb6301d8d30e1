"""The requests, replies and events of the service. Generated from docs/openapi.json by scripts/generate.py."""

from __future__ import annotations

from typing import Any, Dict, List, Literal, Optional, TypedDict, Union

from ._typing import NotRequired

class AppointmentCancelledEventData(TypedDict):
    """Appointment cancelled"""
    health_id: Optional[str]
    """The Health ID of the patient. Null if unknown, or if the event is not about a patient."""
    appointment_id: str
    """The appointment."""
    status: Optional[str]
    """The FHIR status: booked, arrived, cancelled; or deleted."""
    facility_id: Optional[str]
    """The facility (Organization or Location) where the event happened. Null if not recorded."""
    resource: NotRequired[Dict[str, Any]]
    """The FHIR resource, for subscriptions with payload_mode full."""


class AppointmentCancelledEventMeta(TypedDict):
    """The origin of the event."""
    organization_id: str
    """The organisation that caused the event. Empty if there is none."""
    facility_id: str
    """The facility where the event happened. Empty if not recorded."""
    environment: str
    """The environment: local, sandbox or production."""
    request_id: str
    """The id of the request that caused the event."""


class AppointmentCancelledEvent(TypedDict):
    """Appointment cancelled"""
    id: str
    """The id of the event, used to replay it."""
    type: Literal["appointment.cancelled"]
    """The event type."""
    version: Literal["1.0"]
    """The version of the payload format."""
    created_at: str
    """When the event happened, in UTC."""
    data: AppointmentCancelledEventData
    """Appointment cancelled"""
    meta: AppointmentCancelledEventMeta
    """The origin of the event."""


class AppointmentCheckedInEventData(TypedDict):
    """Patient checked in"""
    health_id: Optional[str]
    """The Health ID of the patient. Null if unknown, or if the event is not about a patient."""
    appointment_id: str
    """The appointment."""
    status: Optional[str]
    """The FHIR status: booked, arrived, cancelled; or deleted."""
    facility_id: Optional[str]
    """The facility (Organization or Location) where the event happened. Null if not recorded."""
    resource: NotRequired[Dict[str, Any]]
    """The FHIR resource, for subscriptions with payload_mode full."""


class AppointmentCheckedInEventMeta(TypedDict):
    """The origin of the event."""
    organization_id: str
    """The organisation that caused the event. Empty if there is none."""
    facility_id: str
    """The facility where the event happened. Empty if not recorded."""
    environment: str
    """The environment: local, sandbox or production."""
    request_id: str
    """The id of the request that caused the event."""


class AppointmentCheckedInEvent(TypedDict):
    """Patient checked in"""
    id: str
    """The id of the event, used to replay it."""
    type: Literal["appointment.checked_in"]
    """The event type."""
    version: Literal["1.0"]
    """The version of the payload format."""
    created_at: str
    """When the event happened, in UTC."""
    data: AppointmentCheckedInEventData
    """Patient checked in"""
    meta: AppointmentCheckedInEventMeta
    """The origin of the event."""


class AppointmentCreatedEventData(TypedDict):
    """Appointment scheduled"""
    health_id: Optional[str]
    """The Health ID of the patient. Null if unknown, or if the event is not about a patient."""
    appointment_id: str
    """The appointment."""
    status: Optional[str]
    """The FHIR status: booked, arrived, cancelled; or deleted."""
    facility_id: Optional[str]
    """The facility (Organization or Location) where the event happened. Null if not recorded."""
    resource: NotRequired[Dict[str, Any]]
    """The FHIR resource, for subscriptions with payload_mode full."""


class AppointmentCreatedEventMeta(TypedDict):
    """The origin of the event."""
    organization_id: str
    """The organisation that caused the event. Empty if there is none."""
    facility_id: str
    """The facility where the event happened. Empty if not recorded."""
    environment: str
    """The environment: local, sandbox or production."""
    request_id: str
    """The id of the request that caused the event."""


class AppointmentCreatedEvent(TypedDict):
    """Appointment scheduled"""
    id: str
    """The id of the event, used to replay it."""
    type: Literal["appointment.created"]
    """The event type."""
    version: Literal["1.0"]
    """The version of the payload format."""
    created_at: str
    """When the event happened, in UTC."""
    data: AppointmentCreatedEventData
    """Appointment scheduled"""
    meta: AppointmentCreatedEventMeta
    """The origin of the event."""


class BridgeAgentSyncFailedEventData(TypedDict):
    """Bridge Agent sync failure"""
    health_id: Optional[str]
    """The Health ID of the patient. Null if unknown, or if the event is not about a patient."""
    agent_id: Optional[str]
    """The Bridge Agent."""
    task_id: str
    """The failed Task."""
    reason_code: Optional[str]
    """The reason code. Null if not recorded."""
    facility_id: Optional[str]
    """The facility (Organization or Location) where the event happened. Null if not recorded."""
    resource: NotRequired[Dict[str, Any]]
    """The FHIR resource, for subscriptions with payload_mode full."""


class BridgeAgentSyncFailedEventMeta(TypedDict):
    """The origin of the event."""
    organization_id: str
    """The organisation that caused the event. Empty if there is none."""
    facility_id: str
    """The facility where the event happened. Empty if not recorded."""
    environment: str
    """The environment: local, sandbox or production."""
    request_id: str
    """The id of the request that caused the event."""


class BridgeAgentSyncFailedEvent(TypedDict):
    """Bridge Agent sync failure"""
    id: str
    """The id of the event, used to replay it."""
    type: Literal["bridge_agent.sync_failed"]
    """The event type."""
    version: Literal["1.0"]
    """The version of the payload format."""
    created_at: str
    """When the event happened, in UTC."""
    data: BridgeAgentSyncFailedEventData
    """Bridge Agent sync failure"""
    meta: BridgeAgentSyncFailedEventMeta
    """The origin of the event."""


class ConsentDeniedEventData(TypedDict):
    """Patient denies a consent request"""
    health_id: Optional[str]
    """The Health ID of the patient. Null if unknown, or if the event is not about a patient."""
    consent_id: str
    """The consent."""
    consent_type: Optional[str]
    """The consent type, one of GET /api/v1/connect/consent-types. Null if the consent defines its scope in
    another way.
    """
    organization_id: Optional[str]
    """The organisation that may access the data or requested access. Null if the consent names none."""
    status: Literal["pending", "active", "denied", "revoked", "expired"]
    """The current consent status for the organisation."""
    expires_at: Optional[str]
    """When the consent expires."""
    resource: NotRequired[Dict[str, Any]]
    """The FHIR resource, for subscriptions with payload_mode full."""


class ConsentDeniedEventMeta(TypedDict):
    """The origin of the event."""
    organization_id: str
    """The organisation that caused the event. Empty if there is none."""
    facility_id: str
    """The facility where the event happened. Empty if not recorded."""
    environment: str
    """The environment: local, sandbox or production."""
    request_id: str
    """The id of the request that caused the event."""


class ConsentDeniedEvent(TypedDict):
    """Patient denies a consent request"""
    id: str
    """The id of the event, used to replay it."""
    type: Literal["consent.denied"]
    """The event type."""
    version: Literal["1.0"]
    """The version of the payload format."""
    created_at: str
    """When the event happened, in UTC."""
    data: ConsentDeniedEventData
    """Patient denies a consent request"""
    meta: ConsentDeniedEventMeta
    """The origin of the event."""


class ConsentGrantedEventData(TypedDict):
    """Patient grants consent"""
    health_id: Optional[str]
    """The Health ID of the patient. Null if unknown, or if the event is not about a patient."""
    consent_id: str
    """The consent."""
    consent_type: Optional[str]
    """The consent type, one of GET /api/v1/connect/consent-types. Null if the consent defines its scope in
    another way.
    """
    organization_id: Optional[str]
    """The organisation that may access the data or requested access. Null if the consent names none."""
    status: Literal["pending", "active", "denied", "revoked", "expired"]
    """The current consent status for the organisation."""
    expires_at: Optional[str]
    """When the consent expires."""
    resource: NotRequired[Dict[str, Any]]
    """The FHIR resource, for subscriptions with payload_mode full."""


class ConsentGrantedEventMeta(TypedDict):
    """The origin of the event."""
    organization_id: str
    """The organisation that caused the event. Empty if there is none."""
    facility_id: str
    """The facility where the event happened. Empty if not recorded."""
    environment: str
    """The environment: local, sandbox or production."""
    request_id: str
    """The id of the request that caused the event."""


class ConsentGrantedEvent(TypedDict):
    """Patient grants consent"""
    id: str
    """The id of the event, used to replay it."""
    type: Literal["consent.granted"]
    """The event type."""
    version: Literal["1.0"]
    """The version of the payload format."""
    created_at: str
    """When the event happened, in UTC."""
    data: ConsentGrantedEventData
    """Patient grants consent"""
    meta: ConsentGrantedEventMeta
    """The origin of the event."""


class ConsentRequestedEventData(TypedDict):
    """Consent request sent to patient"""
    health_id: Optional[str]
    """The Health ID of the patient. Null if unknown, or if the event is not about a patient."""
    consent_id: str
    """The consent."""
    consent_type: Optional[str]
    """The consent type, one of GET /api/v1/connect/consent-types. Null if the consent defines its scope in
    another way.
    """
    organization_id: Optional[str]
    """The organisation that may access the data or requested access. Null if the consent names none."""
    status: Literal["pending", "active", "denied", "revoked", "expired"]
    """The current consent status for the organisation."""
    expires_at: Optional[str]
    """When the consent expires."""
    resource: NotRequired[Dict[str, Any]]
    """The FHIR resource, for subscriptions with payload_mode full."""


class ConsentRequestedEventMeta(TypedDict):
    """The origin of the event."""
    organization_id: str
    """The organisation that caused the event. Empty if there is none."""
    facility_id: str
    """The facility where the event happened. Empty if not recorded."""
    environment: str
    """The environment: local, sandbox or production."""
    request_id: str
    """The id of the request that caused the event."""


class ConsentRequestedEvent(TypedDict):
    """Consent request sent to patient"""
    id: str
    """The id of the event, used to replay it."""
    type: Literal["consent.requested"]
    """The event type."""
    version: Literal["1.0"]
    """The version of the payload format."""
    created_at: str
    """When the event happened, in UTC."""
    data: ConsentRequestedEventData
    """Consent request sent to patient"""
    meta: ConsentRequestedEventMeta
    """The origin of the event."""


class ConsentRevokedEventData(TypedDict):
    """Patient revokes a granted consent; subscriber must stop data access immediately"""
    health_id: Optional[str]
    """The Health ID of the patient. Null if unknown, or if the event is not about a patient."""
    consent_id: str
    """The consent."""
    consent_type: Optional[str]
    """The consent type, one of GET /api/v1/connect/consent-types. Null if the consent defines its scope in
    another way.
    """
    organization_id: Optional[str]
    """The organisation that may access the data or requested access. Null if the consent names none."""
    status: Literal["pending", "active", "denied", "revoked", "expired"]
    """The current consent status for the organisation."""
    expires_at: Optional[str]
    """When the consent expires."""
    reason: Literal["revoked", "expired", "denied", "narrowed", "entered_in_error", "deleted"]
    """Why the consent ended. expired: it passed its expiry. denied: the patient now refuses. narrowed: it
    remains in force but no longer opens anything to the organisation.
    """
    resource: NotRequired[Dict[str, Any]]
    """The FHIR resource, for subscriptions with payload_mode full."""


class ConsentRevokedEventMeta(TypedDict):
    """The origin of the event."""
    organization_id: str
    """The organisation that caused the event. Empty if there is none."""
    facility_id: str
    """The facility where the event happened. Empty if not recorded."""
    environment: str
    """The environment: local, sandbox or production."""
    request_id: str
    """The id of the request that caused the event."""


class ConsentRevokedEvent(TypedDict):
    """Patient revokes a granted consent; subscriber must stop data access immediately"""
    id: str
    """The id of the event, used to replay it."""
    type: Literal["consent.revoked"]
    """The event type."""
    version: Literal["1.0"]
    """The version of the payload format."""
    created_at: str
    """When the event happened, in UTC."""
    data: ConsentRevokedEventData
    """Patient revokes a granted consent; subscriber must stop data access immediately"""
    meta: ConsentRevokedEventMeta
    """The origin of the event."""


class DocumentIssuedEventData(TypedDict):
    """Clinical document issued"""
    health_id: Optional[str]
    """The Health ID of the patient. Null if unknown, or if the event is not about a patient."""
    document_id: str
    """The document."""
    document_type: Literal["DocumentReference", "Composition"]
    """The FHIR resource type of the document."""
    status: Literal["final", "amended"]
    """amended: the document was changed after signing."""
    encounter_id: Optional[str]
    """The encounter the document is about. Null if not recorded."""
    facility_id: Optional[str]
    """The facility (Organization or Location) where the event happened. Null if not recorded."""
    resource: NotRequired[Dict[str, Any]]
    """The FHIR resource, for subscriptions with payload_mode full."""


class DocumentIssuedEventMeta(TypedDict):
    """The origin of the event."""
    organization_id: str
    """The organisation that caused the event. Empty if there is none."""
    facility_id: str
    """The facility where the event happened. Empty if not recorded."""
    environment: str
    """The environment: local, sandbox or production."""
    request_id: str
    """The id of the request that caused the event."""


class DocumentIssuedEvent(TypedDict):
    """Clinical document issued"""
    id: str
    """The id of the event, used to replay it."""
    type: Literal["document.issued"]
    """The event type."""
    version: Literal["1.0"]
    """The version of the payload format."""
    created_at: str
    """When the event happened, in UTC."""
    data: DocumentIssuedEventData
    """Clinical document issued"""
    meta: DocumentIssuedEventMeta
    """The origin of the event."""


class DocumentVerifiedEventData(TypedDict):
    """Document QR verified"""
    health_id: Optional[str]
    """The Health ID of the patient. Null if unknown, or if the event is not about a patient."""
    document_id: str
    """The document."""
    document_type: Literal["DocumentReference", "Composition"]
    """The FHIR resource type of the document."""
    verification_id: str
    """The VerificationResult that records the verification."""
    facility_id: Optional[str]
    """The facility (Organization or Location) where the event happened. Null if not recorded."""
    resource: NotRequired[Dict[str, Any]]
    """The FHIR resource, for subscriptions with payload_mode full."""


class DocumentVerifiedEventMeta(TypedDict):
    """The origin of the event."""
    organization_id: str
    """The organisation that caused the event. Empty if there is none."""
    facility_id: str
    """The facility where the event happened. Empty if not recorded."""
    environment: str
    """The environment: local, sandbox or production."""
    request_id: str
    """The id of the request that caused the event."""


class DocumentVerifiedEvent(TypedDict):
    """Document QR verified"""
    id: str
    """The id of the event, used to replay it."""
    type: Literal["document.verified"]
    """The event type."""
    version: Literal["1.0"]
    """The version of the payload format."""
    created_at: str
    """When the event happened, in UTC."""
    data: DocumentVerifiedEventData
    """Document QR verified"""
    meta: DocumentVerifiedEventMeta
    """The origin of the event."""


EncounterClosedEventData = TypedDict(
    "EncounterClosedEventData",
    {
        "health_id": Optional[str],
        "encounter_id": str,
        "status": Optional[str],
        "class": Optional[str],
        "facility_id": Optional[str],
        "resource": NotRequired[Dict[str, Any]],
    },
)


class EncounterClosedEventMeta(TypedDict):
    """The origin of the event."""
    organization_id: str
    """The organisation that caused the event. Empty if there is none."""
    facility_id: str
    """The facility where the event happened. Empty if not recorded."""
    environment: str
    """The environment: local, sandbox or production."""
    request_id: str
    """The id of the request that caused the event."""


class EncounterClosedEvent(TypedDict):
    """Encounter finalised"""
    id: str
    """The id of the event, used to replay it."""
    type: Literal["encounter.closed"]
    """The event type."""
    version: Literal["1.0"]
    """The version of the payload format."""
    created_at: str
    """When the event happened, in UTC."""
    data: EncounterClosedEventData
    """Encounter finalised"""
    meta: EncounterClosedEventMeta
    """The origin of the event."""


EncounterCreatedEventData = TypedDict(
    "EncounterCreatedEventData",
    {
        "health_id": Optional[str],
        "encounter_id": str,
        "status": Optional[str],
        "class": Optional[str],
        "facility_id": Optional[str],
        "resource": NotRequired[Dict[str, Any]],
    },
)


class EncounterCreatedEventMeta(TypedDict):
    """The origin of the event."""
    organization_id: str
    """The organisation that caused the event. Empty if there is none."""
    facility_id: str
    """The facility where the event happened. Empty if not recorded."""
    environment: str
    """The environment: local, sandbox or production."""
    request_id: str
    """The id of the request that caused the event."""


class EncounterCreatedEvent(TypedDict):
    """New encounter or visit recorded"""
    id: str
    """The id of the event, used to replay it."""
    type: Literal["encounter.created"]
    """The event type."""
    version: Literal["1.0"]
    """The version of the payload format."""
    created_at: str
    """When the event happened, in UTC."""
    data: EncounterCreatedEventData
    """New encounter or visit recorded"""
    meta: EncounterCreatedEventMeta
    """The origin of the event."""


class HealthIdCreatedEventData(TypedDict):
    """New Health ID issued"""
    health_id: str
    """The Health ID in canonical form."""
    patient_id: str
    """The patient."""
    country_code: str
    """The country that issued the Health ID, ISO 3166-1."""
    resource: NotRequired[Dict[str, Any]]
    """The FHIR resource, for subscriptions with payload_mode full."""


class HealthIdCreatedEventMeta(TypedDict):
    """The origin of the event."""
    organization_id: str
    """The organisation that caused the event. Empty if there is none."""
    facility_id: str
    """The facility where the event happened. Empty if not recorded."""
    environment: str
    """The environment: local, sandbox or production."""
    request_id: str
    """The id of the request that caused the event."""


class HealthIdCreatedEvent(TypedDict):
    """New Health ID issued"""
    id: str
    """The id of the event, used to replay it."""
    type: Literal["health_id.created"]
    """The event type."""
    version: Literal["1.0"]
    """The version of the payload format."""
    created_at: str
    """When the event happened, in UTC."""
    data: HealthIdCreatedEventData
    """New Health ID issued"""
    meta: HealthIdCreatedEventMeta
    """The origin of the event."""


class HealthIdVerifiedEventData(TypedDict):
    """Health ID verified by a facility"""
    health_id: str
    """The Health ID in canonical form."""
    patient_id: str
    """The patient."""
    organization_id: Optional[str]
    """The organisation that verified the Health ID."""
    resource: NotRequired[Dict[str, Any]]
    """The FHIR resource, for subscriptions with payload_mode full."""


class HealthIdVerifiedEventMeta(TypedDict):
    """The origin of the event."""
    organization_id: str
    """The organisation that caused the event. Empty if there is none."""
    facility_id: str
    """The facility where the event happened. Empty if not recorded."""
    environment: str
    """The environment: local, sandbox or production."""
    request_id: str
    """The id of the request that caused the event."""


class HealthIdVerifiedEvent(TypedDict):
    """Health ID verified by a facility"""
    id: str
    """The id of the event, used to replay it."""
    type: Literal["health_id.verified"]
    """The event type."""
    version: Literal["1.0"]
    """The version of the payload format."""
    created_at: str
    """When the event happened, in UTC."""
    data: HealthIdVerifiedEventData
    """Health ID verified by a facility"""
    meta: HealthIdVerifiedEventMeta
    """The origin of the event."""


class LabOrderCreatedEventData(TypedDict):
    """Lab test ordered"""
    health_id: Optional[str]
    """The Health ID of the patient. Null if unknown, or if the event is not about a patient."""
    lab_order_id: str
    """The order: a ServiceRequest."""
    test_name: Optional[str]
    """The name of the test: the display of its code, or the name from the laboratory."""
    status: Optional[str]
    """active, or on-hold if the test must not be done yet."""
    priority: Optional[str]
    """The priority: routine, urgent, asap or stat."""
    facility_id: Optional[str]
    """The facility (Organization or Location) where the event happened. Null if not recorded."""
    resource: NotRequired[Dict[str, Any]]
    """The FHIR resource, for subscriptions with payload_mode full."""


class LabOrderCreatedEventMeta(TypedDict):
    """The origin of the event."""
    organization_id: str
    """The organisation that caused the event. Empty if there is none."""
    facility_id: str
    """The facility where the event happened. Empty if not recorded."""
    environment: str
    """The environment: local, sandbox or production."""
    request_id: str
    """The id of the request that caused the event."""


class LabOrderCreatedEvent(TypedDict):
    """Lab test ordered"""
    id: str
    """The id of the event, used to replay it."""
    type: Literal["lab_order.created"]
    """The event type."""
    version: Literal["1.0"]
    """The version of the payload format."""
    created_at: str
    """When the event happened, in UTC."""
    data: LabOrderCreatedEventData
    """Lab test ordered"""
    meta: LabOrderCreatedEventMeta
    """The origin of the event."""


class LabResultAmendedEventData(TypedDict):
    """Lab result corrected"""
    health_id: Optional[str]
    """The Health ID of the patient. Null if unknown, or if the event is not about a patient."""
    lab_result_id: str
    """The result: a DiagnosticReport."""
    test_name: Optional[str]
    """The name of the test: the display of its code, or the name from the laboratory."""
    flagged: bool
    """True if a result needs attention: abnormal, high, low, critical."""
    status: Optional[str]
    """amended, corrected or appended; or cancelled, entered-in-error or deleted if the result is no longer
    valid.
    """
    facility_id: Optional[str]
    """The facility (Organization or Location) where the event happened. Null if not recorded."""
    resource: NotRequired[Dict[str, Any]]
    """The FHIR resource, for subscriptions with payload_mode full."""


class LabResultAmendedEventMeta(TypedDict):
    """The origin of the event."""
    organization_id: str
    """The organisation that caused the event. Empty if there is none."""
    facility_id: str
    """The facility where the event happened. Empty if not recorded."""
    environment: str
    """The environment: local, sandbox or production."""
    request_id: str
    """The id of the request that caused the event."""


class LabResultAmendedEvent(TypedDict):
    """Lab result corrected"""
    id: str
    """The id of the event, used to replay it."""
    type: Literal["lab_result.amended"]
    """The event type."""
    version: Literal["1.0"]
    """The version of the payload format."""
    created_at: str
    """When the event happened, in UTC."""
    data: LabResultAmendedEventData
    """Lab result corrected"""
    meta: LabResultAmendedEventMeta
    """The origin of the event."""


class LabResultReleasedEventData(TypedDict):
    """Lab result published"""
    health_id: Optional[str]
    """The Health ID of the patient. Null if unknown, or if the event is not about a patient."""
    lab_result_id: str
    """The result: a DiagnosticReport."""
    test_name: Optional[str]
    """The name of the test: the display of its code, or the name from the laboratory."""
    flagged: bool
    """True if a result needs attention: abnormal, high, low, critical."""
    facility_id: Optional[str]
    """The facility (Organization or Location) where the event happened. Null if not recorded."""
    resource: NotRequired[Dict[str, Any]]
    """The FHIR resource, for subscriptions with payload_mode full."""


class LabResultReleasedEventMeta(TypedDict):
    """The origin of the event."""
    organization_id: str
    """The organisation that caused the event. Empty if there is none."""
    facility_id: str
    """The facility where the event happened. Empty if not recorded."""
    environment: str
    """The environment: local, sandbox or production."""
    request_id: str
    """The id of the request that caused the event."""


class LabResultReleasedEvent(TypedDict):
    """Lab result published"""
    id: str
    """The id of the event, used to replay it."""
    type: Literal["lab_result.released"]
    """The event type."""
    version: Literal["1.0"]
    """The version of the payload format."""
    created_at: str
    """When the event happened, in UTC."""
    data: LabResultReleasedEventData
    """Lab result published"""
    meta: LabResultReleasedEventMeta
    """The origin of the event."""


class PatientCreatedEventData(TypedDict):
    """New patient registered"""
    health_id: Optional[str]
    """The Health ID of the patient. Null if unknown, or if the event is not about a patient."""
    patient_id: str
    """The patient."""
    resource: NotRequired[Dict[str, Any]]
    """The FHIR resource, for subscriptions with payload_mode full."""


class PatientCreatedEventMeta(TypedDict):
    """The origin of the event."""
    organization_id: str
    """The organisation that caused the event. Empty if there is none."""
    facility_id: str
    """The facility where the event happened. Empty if not recorded."""
    environment: str
    """The environment: local, sandbox or production."""
    request_id: str
    """The id of the request that caused the event."""


class PatientCreatedEvent(TypedDict):
    """New patient registered"""
    id: str
    """The id of the event, used to replay it."""
    type: Literal["patient.created"]
    """The event type."""
    version: Literal["1.0"]
    """The version of the payload format."""
    created_at: str
    """When the event happened, in UTC."""
    data: PatientCreatedEventData
    """New patient registered"""
    meta: PatientCreatedEventMeta
    """The origin of the event."""


class PatientUpdatedEventData(TypedDict):
    """Patient demographics updated"""
    health_id: Optional[str]
    """The Health ID of the patient. Null if unknown, or if the event is not about a patient."""
    patient_id: str
    """The patient."""
    changed: List[str]
    """The names of the changed FHIR elements, without their values."""
    resource: NotRequired[Dict[str, Any]]
    """The FHIR resource, for subscriptions with payload_mode full."""


class PatientUpdatedEventMeta(TypedDict):
    """The origin of the event."""
    organization_id: str
    """The organisation that caused the event. Empty if there is none."""
    facility_id: str
    """The facility where the event happened. Empty if not recorded."""
    environment: str
    """The environment: local, sandbox or production."""
    request_id: str
    """The id of the request that caused the event."""


class PatientUpdatedEvent(TypedDict):
    """Patient demographics updated"""
    id: str
    """The id of the event, used to replay it."""
    type: Literal["patient.updated"]
    """The event type."""
    version: Literal["1.0"]
    """The version of the payload format."""
    created_at: str
    """When the event happened, in UTC."""
    data: PatientUpdatedEventData
    """Patient demographics updated"""
    meta: PatientUpdatedEventMeta
    """The origin of the event."""


class PrescriptionCancelledEventData(TypedDict):
    """Prescription cancelled"""
    health_id: Optional[str]
    """The Health ID of the patient. Null if unknown, or if the event is not about a patient."""
    prescription_id: str
    """The prescription: a MedicationRequest."""
    encounter_id: Optional[str]
    """The encounter at which the prescription was written. Null if not recorded."""
    status: Optional[str]
    """cancelled, stopped or entered-in-error; or deleted."""
    facility_id: Optional[str]
    """The facility (Organization or Location) where the event happened. Null if not recorded."""
    resource: NotRequired[Dict[str, Any]]
    """The FHIR resource, for subscriptions with payload_mode full."""


class PrescriptionCancelledEventMeta(TypedDict):
    """The origin of the event."""
    organization_id: str
    """The organisation that caused the event. Empty if there is none."""
    facility_id: str
    """The facility where the event happened. Empty if not recorded."""
    environment: str
    """The environment: local, sandbox or production."""
    request_id: str
    """The id of the request that caused the event."""


class PrescriptionCancelledEvent(TypedDict):
    """Prescription cancelled"""
    id: str
    """The id of the event, used to replay it."""
    type: Literal["prescription.cancelled"]
    """The event type."""
    version: Literal["1.0"]
    """The version of the payload format."""
    created_at: str
    """When the event happened, in UTC."""
    data: PrescriptionCancelledEventData
    """Prescription cancelled"""
    meta: PrescriptionCancelledEventMeta
    """The origin of the event."""


class PrescriptionDispensedEventData(TypedDict):
    """Prescription dispensed"""
    health_id: Optional[str]
    """The Health ID of the patient. Null if unknown, or if the event is not about a patient."""
    dispense_id: str
    """The dispense: a MedicationDispense."""
    prescription_id: Optional[str]
    """The prescription the medicine was dispensed for. Null if not recorded."""
    facility_id: Optional[str]
    """The facility (Organization or Location) where the event happened. Null if not recorded."""
    resource: NotRequired[Dict[str, Any]]
    """The FHIR resource, for subscriptions with payload_mode full."""


class PrescriptionDispensedEventMeta(TypedDict):
    """The origin of the event."""
    organization_id: str
    """The organisation that caused the event. Empty if there is none."""
    facility_id: str
    """The facility where the event happened. Empty if not recorded."""
    environment: str
    """The environment: local, sandbox or production."""
    request_id: str
    """The id of the request that caused the event."""


class PrescriptionDispensedEvent(TypedDict):
    """Prescription dispensed"""
    id: str
    """The id of the event, used to replay it."""
    type: Literal["prescription.dispensed"]
    """The event type."""
    version: Literal["1.0"]
    """The version of the payload format."""
    created_at: str
    """When the event happened, in UTC."""
    data: PrescriptionDispensedEventData
    """Prescription dispensed"""
    meta: PrescriptionDispensedEventMeta
    """The origin of the event."""


class PrescriptionIssuedEventData(TypedDict):
    """New prescription written"""
    health_id: Optional[str]
    """The Health ID of the patient. Null if unknown, or if the event is not about a patient."""
    prescription_id: str
    """The prescription: a MedicationRequest."""
    encounter_id: Optional[str]
    """The encounter at which the prescription was written. Null if not recorded."""
    status: Optional[str]
    """active, or on-hold if the medicine must not be dispensed yet."""
    facility_id: Optional[str]
    """The facility (Organization or Location) where the event happened. Null if not recorded."""
    resource: NotRequired[Dict[str, Any]]
    """The FHIR resource, for subscriptions with payload_mode full."""


class PrescriptionIssuedEventMeta(TypedDict):
    """The origin of the event."""
    organization_id: str
    """The organisation that caused the event. Empty if there is none."""
    facility_id: str
    """The facility where the event happened. Empty if not recorded."""
    environment: str
    """The environment: local, sandbox or production."""
    request_id: str
    """The id of the request that caused the event."""


class PrescriptionIssuedEvent(TypedDict):
    """New prescription written"""
    id: str
    """The id of the event, used to replay it."""
    type: Literal["prescription.issued"]
    """The event type."""
    version: Literal["1.0"]
    """The version of the payload format."""
    created_at: str
    """When the event happened, in UTC."""
    data: PrescriptionIssuedEventData
    """New prescription written"""
    meta: PrescriptionIssuedEventMeta
    """The origin of the event."""


class ErrorDetail(TypedDict):
    """ErrorDetail."""
    field: NotRequired[str]
    code: NotRequired[str]
    message: NotRequired[str]


class Error(TypedDict):
    """Error."""
    status: Literal["error"]
    error_code: str
    """A stable code for programs."""
    message: str
    """What is wrong, where, and what to do."""
    request_id: NotRequired[str]
    """The id of the request. Include it when you report a problem."""
    details: NotRequired[List[ErrorDetail]]
    retry_after: NotRequired[int]
    """Seconds to wait before the next request."""


class ResolveReply(TypedDict):
    """The Health ID. No demographics of a found patient are returned."""
    health_id: str
    """The Health ID in canonical form."""
    status: Literal["found", "created", "not_found"]
    """not_found: the Health ID is not registered, and the request has no demographics to register a new patient."""
    patient_id: Optional[str]
    """The id of the Patient. Null if there is none."""
    matched_by: Optional[Literal["health_id", "demographics"]]
    possible_duplicates: int
    """The number of registered patients that may be the same person. Each is queued for review."""
    country_code: str
    """The country that issued the Health ID, ISO 3166-1."""
    request_id: str
    current_health_id: NotRequired[str]
    """The current Health ID of a merged patient."""


class ResolveRequest(TypedDict):
    """A Health ID, or first_name, last_name and date_of_birth, or both. What you state beside a Health ID must
    fit its holder.
    """
    health_id: NotRequired[str]
    """A known Health ID, as printed on the card."""
    first_name: NotRequired[str]
    """Given names. Required without health_id."""
    last_name: NotRequired[str]
    """Family name. Required without health_id."""
    date_of_birth: NotRequired[str]
    """Date of birth, YYYY-MM-DD. Required without health_id."""
    country_code: NotRequired[str]
    """The country that issues a new Health ID, ISO 3166-1 alpha-2."""
    sex: NotRequired[Literal["male", "female", "other"]]
    """Administrative sex."""
    phone_number: NotRequired[str]
    """Used for matching. Stored only if a patient is created."""
    purpose: NotRequired[str]
    """The reason for the lookup, recorded in the audit trail."""
    external_reference: NotRequired[str]
    """Your record number for the patient. Only your organisation sees it."""


class VerifyReplyPatient(TypedDict):
    """VerifyReplyPatient."""
    first_name: Optional[str]
    """Given names."""
    last_name_initial: Optional[str]
    """The first letter of the family name."""
    birth_year: Optional[int]
    sex: Optional[str]
    """Administrative sex: male, female or other."""


class VerifyReply(TypedDict):
    """The status of a Health ID, with enough data to confirm the identity of its holder."""
    health_id: str
    """The Health ID, in canonical form if it is well-formed."""
    valid: bool
    """True if the Health ID is registered and current."""
    checksum_valid: bool
    registered: bool
    status: Literal["verified", "invalid_checksum", "not_registered", "merged"]
    current_health_id: NotRequired[str]
    """The current Health ID of a merged patient."""
    patient: NotRequired[VerifyReplyPatient]


class PatientSummaryPatient(TypedDict):
    """PatientSummaryPatient."""
    health_id: str
    first_name: NotRequired[Optional[str]]
    """Given names, written together: "Marie Claire"."""
    last_name: NotRequired[Optional[str]]
    """Family name."""
    date_of_birth: NotRequired[Optional[str]]
    """Date of birth."""
    sex: NotRequired[Optional[Literal["male", "female", "other"]]]
    """Administrative sex."""
    blood_group: NotRequired[Optional[Literal["A+", "A-", "B+", "B-", "AB+", "AB-", "O+", "O-"]]]
    """ABO and Rh(D) blood group."""


class Prescription(TypedDict):
    """A medicine prescribed for a patient."""
    id: str
    """The id of the prescription."""
    patient_id: str
    """The patient the medicine is prescribed for."""
    visit_id: NotRequired[Optional[str]]
    """The visit at which the prescription was written."""
    provider_id: NotRequired[Optional[str]]
    """The practitioner who prescribed."""
    medication_name: str
    """The name of the medicine, with strength and form if known: "Artemether 20 mg / lumefantrine 120 mg"."""
    code_system: NotRequired[Optional[Literal["ATC", "RxNorm", "SNOMED", "other"]]]
    """The code system of `medication_code`. `other` is a local list."""
    medication_code: NotRequired[Optional[str]]
    """The code of the medicine in that code system, for example P01BF01 in ATC."""
    dosage_instructions: NotRequired[Optional[str]]
    """The dosage instruction, as written on the prescription."""
    dose: NotRequired[Optional[float]]
    """The amount of each dose."""
    dose_unit: NotRequired[Optional[str]]
    """The unit of the dose: mg, ml, tablet."""
    times_per_day: NotRequired[Optional[int]]
    """Doses per day."""
    duration_days: NotRequired[Optional[float]]
    """The duration of the treatment in days."""
    as_needed: NotRequired[Optional[bool]]
    """True if the medicine is taken only as needed."""
    route: NotRequired[Optional[Literal["oral", "sublingual", "intravenous", "intramuscular", "subcutaneous", "inhaled", "nasal", "topical", "ophthalmic", "otic", "rectal", "vaginal"]]]
    """The route of administration."""
    quantity: NotRequired[Optional[float]]
    """The total quantity to dispense."""
    quantity_unit: NotRequired[Optional[str]]
    """The unit of the quantity: tablet, bottle, vial."""
    refills: NotRequired[Optional[int]]
    """The number of refills allowed."""
    substitution_allowed: NotRequired[Optional[bool]]
    """True if the pharmacy may substitute an equivalent product."""
    status: Literal["draft", "active", "on_hold", "completed", "cancelled", "stopped", "entered_in_error", "unknown"]
    """active: to be taken. stopped: ended early. cancelled: withdrawn before it began."""
    reason: NotRequired[Optional[str]]
    """The reason for the prescription."""
    notes: NotRequired[Optional[str]]
    """Notes for the pharmacy or the patient."""
    prescribed_at: NotRequired[Optional[str]]
    """When the prescription was written."""


class AllergyRecord(TypedDict):
    """An allergy or intolerance of a patient."""
    id: str
    """The id of the record."""
    patient_id: str
    """The patient who has the allergy."""
    provider_id: NotRequired[Optional[str]]
    """The practitioner who recorded the allergy."""
    substance: str
    """The substance, as recorded: a medicine, a food, an insect, a material."""
    severity: Literal["mild", "moderate", "severe", "life_threatening"]
    """The severity of reactions. life_threatening: anaphylaxis or similar has happened or is likely."""
    status: Literal["active", "inactive", "resolved", "entered_in_error"]
    """active: a current risk. inactive: no longer a risk. resolved: tested and gone, for example after
    desensitisation. entered_in_error: never true.
    """
    created_at: NotRequired[Optional[str]]
    """When the allergy was recorded."""


class LabResult(TypedDict):
    """The result of a laboratory test."""
    id: str
    """The id of the result."""
    patient_id: str
    """The patient the specimen came from."""
    visit_id: NotRequired[Optional[str]]
    """The visit at which the test was done."""
    order_id: NotRequired[Optional[str]]
    """The order for the test."""
    provider_id: NotRequired[Optional[str]]
    """The practitioner responsible for the result."""
    facility_id: NotRequired[Optional[str]]
    """The laboratory or facility responsible for the result."""
    test_name: str
    """The name of the test: "Haemoglobin", "Plasmodium falciparum antigen"."""
    loinc_code: NotRequired[Optional[str]]
    """The LOINC code of the test, for example 718-7 for haemoglobin in blood."""
    result_value: NotRequired[Optional[str]]
    """The result as the laboratory reported it: 7.4, <0.5, positive. Absent while pending. Several numbers have
    their units: "7.4 10*9/L; Neutrophils: 62 %".
    """
    unit: NotRequired[Optional[str]]
    """The unit of a numeric result, in UCUM if possible: g/dL, mmol/L, 10*9/L."""
    reference_low: NotRequired[Optional[float]]
    """The lower limit of the reference range for this patient."""
    reference_high: NotRequired[Optional[float]]
    """The upper limit of the reference range for this patient."""
    reference_range: NotRequired[Optional[str]]
    """The reference range as text, if it is not numeric."""
    flagged: bool
    """True if the result needs attention."""
    flag_level: NotRequired[Optional[Literal["normal", "low", "high", "critical_low", "critical_high", "critical"]]]
    """The kind of flag. The critical levels need immediate attention."""
    interpretation: NotRequired[Optional[str]]
    """The interpretation by the laboratory."""
    status: Literal["registered", "preliminary", "final", "amended", "corrected", "cancelled", "entered_in_error", "unknown"]
    """final: released. amended or corrected: changed after release. cancelled: will not be reported."""
    collected_at: NotRequired[Optional[str]]
    """When the specimen was taken."""
    released_at: NotRequired[Optional[str]]
    """When the laboratory released the result."""


class Visit(TypedDict):
    """A visit, stay or contact of a patient."""
    id: str
    """The id of the visit."""
    patient_id: str
    """The patient."""
    provider_id: NotRequired[Optional[str]]
    """The main responsible practitioner."""
    facility_id: NotRequired[Optional[str]]
    """The facility where the visit takes place."""
    appointment_id: NotRequired[Optional[str]]
    """The appointment that led to the visit."""
    visit_type: Literal["outpatient", "inpatient", "emergency", "home", "field", "virtual", "day_case", "observation", "pre_admission"]
    """Where and how the patient is seen. field: outreach, for example a vaccination round. day_case: admitted
    and discharged on the same day.
    """
    department: NotRequired[Optional[str]]
    """The department or service: maternity, paediatrics, HIV care."""
    reason: NotRequired[Optional[str]]
    """The reason for the visit."""
    status: Literal["planned", "arrived", "triaged", "in_progress", "on_leave", "finished", "cancelled", "entered_in_error", "unknown"]
    """finished: the patient has left and the record is closed."""
    started_at: NotRequired[Optional[str]]
    """When the visit began."""
    ended_at: NotRequired[Optional[str]]
    """When the visit ended."""


class PatientSummary(TypedDict):
    """The summary of a patient."""
    health_id: str
    """The current Health ID."""
    patient: PatientSummaryPatient
    active_medications: List[Prescription]
    """The active prescriptions, newest first, at most 100."""
    active_allergies: List[AllergyRecord]
    """The active allergies and intolerances, newest first, at most 100."""
    recent_labs: List[LabResult]
    """The laboratory results of the last twelve months, newest first, at most 10."""
    recent_visits: List[Visit]
    """The visits of the last twelve months, newest first, at most 10."""
    withheld: List[Literal["patient", "active_medications", "active_allergies", "recent_labs", "recent_visits"]]
    """The sections that no consent opens. The patient may or may not have such records."""
    truncated: List[Literal["active_medications", "active_allergies", "recent_labs", "recent_visits"]]
    """The sections with more records than are listed. Search for the others."""
    unreadable: int
    """The number of stored resources that cannot be represented in this form. FHIR searches return them."""
    generated_at: str
    consent_id: Optional[str]
    """The consent that permits the access. Null for emergency access and for the record-keeping system itself."""


class PatientSearchReplyDataItem(TypedDict):
    """PatientSearchReplyDataItem."""
    health_id: str
    """The Health ID in canonical form."""
    first_name: Optional[str]
    """Given names."""
    last_name: Optional[str]
    """Family name. If `redacted`, only its initial and a full stop."""
    date_of_birth: Optional[str]
    """Date of birth. If `redacted`, only the year."""
    sex: Optional[str]
    """Administrative sex: male, female or other."""
    phone_masked: Optional[str]
    """The telephone number with only its last two digits visible. Null if `redacted`."""
    redacted: bool
    """True if fields are redacted: no consent permits access to the Patient, and the client neither created it
    nor is consent-exempt.
    """


class PatientSearchReply(TypedDict):
    """The holder of a Health ID."""
    data: List[PatientSearchReplyDataItem]
    has_more: bool


FhirBundle = Dict[str, Any]
"""A FHIR R4 Bundle."""


FhirResource = Dict[str, Any]
"""A FHIR R4 resource."""


class Diagnosis(TypedDict):
    """A diagnosis of a patient."""
    id: str
    """The id of the record."""
    patient_id: str
    """The patient who has, had or was suspected to have the condition."""
    visit_id: NotRequired[Optional[str]]
    """The visit at which the diagnosis was made. Null if no visit is known."""
    provider_id: NotRequired[Optional[str]]
    """The practitioner who made the diagnosis."""
    display_name: str
    """The name of the diagnosis, as the clinician wrote or chose it."""
    code_system: Literal["ICD-10", "SNOMED", "other"]
    """The code system of `code`. `other` is a local list."""
    code: NotRequired[Optional[str]]
    """The code in that code system, for example B50.9 (severe falciparum malaria) in ICD-10."""
    snomed_code: NotRequired[Optional[str]]
    """The SNOMED CT code of the diagnosis, for decision support."""
    snomed_display: NotRequired[Optional[str]]
    """The SNOMED CT display of the diagnosis."""
    status: Literal["active", "resolved", "ruled_out"]
    """active: present or recurring. resolved: over. ruled_out: considered and refuted."""
    is_primary: bool
    """True for the main diagnosis of the visit."""
    created_at: NotRequired[Optional[str]]
    """When the diagnosis was recorded."""


class VitalSign(TypedDict):
    """A vital sign of a patient: one measurement, or a blood pressure with both values."""
    id: str
    """The id of the measurement."""
    patient_id: str
    """The patient who was measured."""
    visit_id: NotRequired[Optional[str]]
    """The visit at which the measurement was taken."""
    provider_id: NotRequired[Optional[str]]
    """The practitioner who took the measurement."""
    type: Literal["blood_pressure", "heart_rate", "respiratory_rate", "body_temperature", "oxygen_saturation", "body_weight", "body_height", "head_circumference", "body_mass_index", "other"]
    """The kind of measurement. For `other`, see `name` and `loinc_code`."""
    name: NotRequired[Optional[str]]
    """The name of the measurement."""
    loinc_code: NotRequired[Optional[str]]
    """The LOINC code of the measurement."""
    value: NotRequired[Optional[float]]
    """The measured value. Absent for blood pressure."""
    unit: NotRequired[Optional[str]]
    """The UCUM unit of the value, or of both numbers of a blood pressure: Cel, kg, cm, /min, %, kg/m2, mm[Hg],
    kPa. Default: the usual unit of the type.
    """
    systolic: NotRequired[Optional[float]]
    """Systolic blood pressure, in `unit`."""
    diastolic: NotRequired[Optional[float]]
    """Diastolic blood pressure, in `unit`."""
    status: Literal["preliminary", "final", "amended", "entered_in_error", "unknown"]
    """final: measured and verified. entered_in_error: must not be used."""
    measured_at: NotRequired[Optional[str]]
    """When the measurement was taken."""
    notes: NotRequired[Optional[str]]
    """Notes on the measurement. They begin with what is no exact number, or no number in `unit`: "Systolic: 120
    mmHg".
    """


class PatientRecordsData(TypedDict):
    """The records of each type, newest first. A type is absent if it was not requested, no consent opens it, or
    all its records have been returned.
    """
    diagnoses: NotRequired[List[Diagnosis]]
    prescriptions: NotRequired[List[Prescription]]
    lab_results: NotRequired[List[LabResult]]
    vitals: NotRequired[List[VitalSign]]


class PatientRecords(TypedDict):
    """The records of a patient."""
    health_id: str
    type: Literal["diagnoses", "prescriptions", "lab_results", "vitals", "all"]
    data: PatientRecordsData
    """The records of each type, newest first. A type is absent if it was not requested, no consent opens it, or
    all its records have been returned.
    """
    withheld: List[Literal["diagnoses", "prescriptions", "lab_results", "vitals"]]
    """The requested types that no consent opens. The patient may or may not have such records."""
    unreadable: int
    """The number of stored resources on this page that cannot be represented in this form. FHIR searches return
    them.
    """
    generated_at: str
    consent_id: Optional[str]
    """The consent that permits the access. Null for emergency access and for the record-keeping system itself."""
    has_more: bool
    next_cursor: Optional[str]


class PushReply(TypedDict):
    """An accepted record."""
    id: str
    """The id of the main resource."""
    resource: str
    """The main resource: Type/id."""
    resources: List[str]
    """Every resource that the record became: Type/id."""
    status: Literal["accepted"]
    events: List[str]
    """The ids of the events that the record caused. Subscribers receive each as a webhook."""


class EncounterPush(TypedDict):
    """A clinical contact, recommendation or alert, pushed by an integrated system."""
    health_id: str
    """The patient's Health ID."""
    encounter_type: str
    """The kind of contact. cdss_alert: a decision support system raised an alert without a patient contact."""
    clinical_note: NotRequired[Optional[str]]
    """What happened or what is advised, as text."""
    severity: NotRequired[Optional[str]]
    """The severity of an alert: low, moderate, high, critical."""
    alert_type: NotRequired[Optional[str]]
    """The kind of alert: drug_interaction, allergy, duplicate_therapy, dosage."""
    cdss_rule_id: NotRequired[Optional[str]]
    """The rule of the decision support system that raised the alert."""


class LabResultPush(TypedDict):
    """A laboratory result, pushed by an integrated system."""
    health_id: str
    """The patient's Health ID."""
    test_name: str
    """The name of the test, for example "Serum potassium"."""
    result_value: str
    """The result as the laboratory reported it: 6.8 mmol/L, <0.5, positive."""
    flagged: NotRequired[Optional[bool]]
    """True if the result needs attention."""
    flag_level: NotRequired[Optional[str]]
    """The kind of flag: normal, low, high, abnormal, critical, critical_low, critical_high."""
    interpretation: NotRequired[Optional[str]]
    """The interpretation by the laboratory."""


class ConsentRequested(TypedDict):
    """ConsentRequested."""
    consent_id: str
    health_id: str
    status: Literal["pending"]
    requested_scopes: List[str]
    purpose: str
    expires_at: Optional[str]
    """When the request expires if the patient does not answer."""


class ConsentRecord(TypedDict):
    """The consent of a patient to access by an organisation."""
    health_id: str
    """The Health ID of the patient."""
    status: Literal["none", "pending", "active", "denied", "revoked", "expired"]
    """none: never requested. pending: requested and not answered. revoked: granted and later withdrawn."""
    consent_id: NotRequired[Optional[str]]
    """The id of the consent. Absent if there is none."""
    consent_type: NotRequired[Optional[str]]
    """The part of the record that the consent opens, one of GET /api/v1/connect/consent-types."""
    purpose: NotRequired[Optional[str]]
    """The purpose of use: treatment, payment, operations, research, or free text."""
    scopes: NotRequired[Optional[List[str]]]
    """The requested scopes, if any."""
    granted_at: NotRequired[Optional[str]]
    """When the patient agreed."""
    expires_at: NotRequired[Optional[str]]
    """When the consent expires."""
    request_expires_at: NotRequired[Optional[str]]
    """When a pending request expires if the patient does not answer."""
    revoked_at: NotRequired[Optional[str]]
    """When the patient revoked the consent."""
    organization_id: NotRequired[Optional[str]]
    """The organisation that may access the data."""


class ConsentGrant(TypedDict):
    """ConsentGrant."""
    consent_type: str
    """The consent type, one of GET /api/v1/connect/consent-types."""
    expires_at: NotRequired[str]
    """When the consent expires. Must be in the future. Default: one year from now."""
    purpose: NotRequired[str]
    """The purpose of use: treatment, payment, operations, research, public_health, emergency, or free text.
    Default: treatment.
    """
    scopes: NotRequired[List[str]]
    """Scopes that limit a full_record consent to the data they cover."""
    verification_method: NotRequired[Literal["in_person", "otp", "signature"]]
    """How the patient agreed. The patient must be present or verified in another way."""


class ConsentTypeListDataItem(TypedDict):
    """ConsentTypeListDataItem."""
    consent_type: str
    title: str
    meaning: str
    """The meaning, in words for patients."""
    resource_types: Optional[List[str]]
    """The FHIR resource types that the consent opens. Null: all. Empty: none."""
    categories: List[str]
    """The categories (codes of observation-category) that access is limited to. Empty: all."""


class ConsentTypeList(TypedDict):
    """The consent types and purposes."""
    data: List[ConsentTypeListDataItem]
    purposes: List[str]
    """The purposes that a consent can be limited to."""
    has_more: bool
    """Always false."""


class CreatedWebhookSubscription(TypedDict):
    """The subscription and its signing secret. A reply replayed for an Idempotency-Key omits the secret."""
    id: str
    """The id of the subscription."""
    callback_url: str
    """The URL that receives events by POST: https, and reachable from the internet."""
    subscribed_events: List[str]
    """Event types, as listed by GET /api/v1/connect/webhooks/event-types."""
    description: str
    """A description for your own use."""
    status: Literal["active", "failing", "disabled"]
    """failing: the last delivery attempts failed. disabled: no events are sent."""
    disabled_reason: NotRequired[Optional[str]]
    """Why the subscription is disabled. Null if it is not."""
    payload_mode: Literal["thin", "full"]
    """thin: events carry ids and flags. full: events also carry the FHIR resource; an administrator must permit
    this.
    """
    created_at: str
    """When it was created."""
    updated_at: str
    """When the subscription was last changed."""
    last_delivery_at: NotRequired[Optional[str]]
    """When an event was last delivered. Null if none was."""
    failure_count: int
    """Failed delivery attempts since the last success."""
    webhook_secret: NotRequired[str]
    """The signing secret. It appears only once: store it where the receiver can read it."""


class WebhookSubscription(TypedDict):
    """WebhookSubscription."""
    id: str
    """The id of the subscription."""
    callback_url: str
    """The URL that receives events by POST: https, and reachable from the internet."""
    subscribed_events: List[str]
    """Event types, as listed by GET /api/v1/connect/webhooks/event-types."""
    description: str
    """A description for your own use."""
    status: Literal["active", "failing", "disabled"]
    """failing: the last delivery attempts failed. disabled: no events are sent."""
    disabled_reason: NotRequired[Optional[str]]
    """Why the subscription is disabled. Null if it is not."""
    payload_mode: Literal["thin", "full"]
    """thin: events carry ids and flags. full: events also carry the FHIR resource; an administrator must permit
    this.
    """
    created_at: str
    """When it was created."""
    updated_at: str
    """When the subscription was last changed."""
    last_delivery_at: NotRequired[Optional[str]]
    """When an event was last delivered. Null if none was."""
    failure_count: int
    """Failed delivery attempts since the last success."""


class WebhookSubscriptions(TypedDict):
    """A page of subscriptions of the client."""
    data: List[WebhookSubscription]
    has_more: bool
    """True if there are more entries."""
    next_cursor: Optional[str]
    """The cursor of the next page. Null on the last page."""


class WebhookSubscriptionChange(TypedDict):
    """WebhookSubscriptionChange."""
    callback_url: NotRequired[str]
    """The URL that receives events by POST: https, and reachable from the internet."""
    subscribed_events: NotRequired[List[str]]
    """Event types, as listed by GET /api/v1/connect/webhooks/event-types."""
    description: NotRequired[str]
    """A description for your own use."""
    status: NotRequired[Literal["active", "disabled"]]
    """disabled: no new events are sent and pending deliveries wait. active: deliveries resume; replay the
    subscription to receive the events in between.
    """


class RotatedWebhookSubscription(TypedDict):
    """RotatedWebhookSubscription."""
    id: str
    """The id of the subscription."""
    callback_url: str
    """The URL that receives events by POST: https, and reachable from the internet."""
    subscribed_events: List[str]
    """Event types, as listed by GET /api/v1/connect/webhooks/event-types."""
    description: str
    """A description for your own use."""
    status: Literal["active", "failing", "disabled"]
    """failing: the last delivery attempts failed. disabled: no events are sent."""
    disabled_reason: NotRequired[Optional[str]]
    """Why the subscription is disabled. Null if it is not."""
    payload_mode: Literal["thin", "full"]
    """thin: events carry ids and flags. full: events also carry the FHIR resource; an administrator must permit
    this.
    """
    created_at: str
    """When it was created."""
    updated_at: str
    """When the subscription was last changed."""
    last_delivery_at: NotRequired[Optional[str]]
    """When an event was last delivered. Null if none was."""
    failure_count: int
    """Failed delivery attempts since the last success."""
    webhook_secret: NotRequired[str]
    """The signing secret. It appears only once: store it where the receiver can read it."""
    previous_secret_expires_at: str
    """Until then, events are signed with both secrets."""


class WebhookSecretRotation(TypedDict):
    """WebhookSecretRotation."""
    overlap_seconds: NotRequired[int]
    """Seconds for which the previous secret remains valid. Default: one day. 0 ends all previous secrets
    immediately.
    """


class WebhookDeliveriesDelivery(TypedDict):
    """WebhookDeliveriesDelivery."""
    delivery_id: str
    """The id of the new delivery."""
    subscription_id: str
    status: Literal["pending"]


class WebhookDeliveries(TypedDict):
    """The deliveries that were started."""
    event_id: str
    deliveries: List[WebhookDeliveriesDelivery]


class WebhookTest(TypedDict):
    """WebhookTest."""
    type: NotRequired[Literal["patient.created", "patient.updated", "health_id.created", "health_id.verified", "consent.requested", "consent.granted", "consent.denied", "consent.revoked", "encounter.created", "encounter.closed", "lab_order.created", "lab_result.released", "lab_result.amended", "prescription.issued", "prescription.cancelled", "prescription.dispensed", "appointment.created", "appointment.checked_in", "appointment.cancelled", "document.issued", "document.verified", "bridge_agent.sync_failed"]]
    """The event type. Default: the first subscribed event type."""


class WebhookAttempt(TypedDict):
    """WebhookAttempt."""
    delivery_id: str
    """The id of the delivery, shared by its attempts."""
    event_id: str
    event_type: NotRequired[Optional[str]]
    """The event type. Null if the event is no longer stored."""
    attempt: int
    outcome: Literal["delivered", "failed", "exhausted", "withheld"]
    """failed: a retry follows. exhausted: no retry follows. withheld: nothing was sent because the client may no
    longer access the data.
    """
    started_at: str
    """When the attempt began."""
    duration_ms: int
    http_status: NotRequired[Optional[int]]
    """The HTTP status from the receiver. Null if it did not respond."""
    error: NotRequired[Optional[str]]
    """Why the attempt failed."""
    response_excerpt: NotRequired[Optional[str]]
    """The first part of the response body."""
    next_attempt_at: NotRequired[Optional[str]]
    """When the next retry is due. Null if there is none."""


class WebhookAttempts(TypedDict):
    """A page of delivery attempts."""
    data: List[WebhookAttempt]
    has_more: bool
    """True if there are more entries."""
    next_cursor: Optional[str]
    """The cursor of the next page. Null on the last page."""


class WebhookReplay(TypedDict):
    """The deliveries that were started."""
    subscription_id: str
    deliveries_started: int
    """How many events are sent again."""
    has_more: bool
    """True if more events may follow."""
    next_cursor: Optional[str]
    """The cursor of the next call, with the same body. Null if nothing follows."""


WebhookReplayRequest = TypedDict(
    "WebhookReplayRequest",
    {
        "from": str,
        "to": NotRequired[str],
        "state": NotRequired[Literal["missed", "exhausted", "withheld", "unsent", "delivered", "all"]],
    },
)


class WebhookEventTypesDataItem(TypedDict):
    """WebhookEventTypesDataItem."""
    type: Literal["patient.created", "patient.updated", "health_id.created", "health_id.verified", "consent.requested", "consent.granted", "consent.denied", "consent.revoked", "encounter.created", "encounter.closed", "lab_order.created", "lab_result.released", "lab_result.amended", "prescription.issued", "prescription.cancelled", "prescription.dispensed", "appointment.created", "appointment.checked_in", "appointment.cancelled", "document.issued", "document.verified", "bridge_agent.sync_failed"]
    description: str
    schema: Any
    """The JSON Schema (2020-12) of the event."""
    example: Any
    """An example event."""


class WebhookEventTypes(TypedDict):
    """All event types."""
    data: List[WebhookEventTypesDataItem]


class StockItemBatche(TypedDict):
    """A batch of the medicine."""
    lot_number: str
    """The lot number from the manufacturer."""
    expiry_date: NotRequired[Optional[str]]
    """The last day on which the batch may be used."""
    quantity: float
    """The remaining quantity of the batch, in the unit of the item."""


class StockItem(TypedDict):
    """The stock of one medicine at one facility."""
    facility_id: str
    """The pharmacy or facility that holds the stock."""
    medication_code: str
    """The code of the medicine, for example J01CA04 (amoxicillin)."""
    code_system: Literal["ATC", "RxNorm", "SNOMED", "other"]
    """The code system of the code. `other` is a local list."""
    name: str
    """The name of the medicine."""
    form: NotRequired[Optional[str]]
    """The dose form: capsule, syrup, vial."""
    strength: NotRequired[Optional[str]]
    """The strength: 500 mg."""
    quantity_on_hand: float
    """The quantity on hand, without expired batches."""
    unit: str
    """The unit of the quantity: capsule, bottle, vial."""
    reorder_level: NotRequired[Optional[float]]
    """The quantity at which to reorder."""
    stock_status: NotRequired[Optional[Literal["in_stock", "low", "out_of_stock"]]]
    """low: at or below the reorder level. Default: derived from the quantity and the reorder level."""
    nearest_expiry: NotRequired[Optional[str]]
    """The earliest expiry date of the batches."""
    batches: NotRequired[Optional[List[StockItemBatche]]]
    """The batches, if the facility tracks them."""
    updated_at: str
    """When the stock was last counted or reported."""


class StockPage(TypedDict):
    """A page of pharmacy stock."""
    data: List[StockItem]
    has_more: bool
    """True if there are more entries."""
    next_cursor: Optional[str]
    """The cursor of the next page. Null on the last page."""


class StockOutcomesDataItem(TypedDict):
    """StockOutcomesDataItem."""
    facility_id: str
    """The value from the request."""
    code_system: Literal["ATC", "RxNorm", "SNOMED", "other"]
    """The code system of the code. `other` is a local list."""
    medication_code: str
    """The value from the request."""
    status: Literal["accepted", "unchanged", "stale"]
    """stale: the stored item has a later updated_at and was kept."""


class StockOutcomes(TypedDict):
    """The outcome of each item, in request order."""
    data: List[StockOutcomesDataItem]


class StockReport(TypedDict):
    """StockReport."""
    items: List[StockItem]
    """One item for each medicine."""


class BloodInventoryTotalsByGroupAndComponentItem(TypedDict):
    """BloodInventoryTotalsByGroupAndComponentItem."""
    blood_group: Literal["A+", "A-", "B+", "B-", "AB+", "AB-", "O+", "O-"]
    """ABO and Rh(D) blood group of the unit."""
    component: Literal["whole_blood", "packed_red_cells", "platelets", "fresh_frozen_plasma", "cryoprecipitate"]
    """The blood component."""
    units_available: int
    """The number of units available for issue."""
    units_reserved: int
    """The number of units reserved for a patient."""


class BloodInventoryTotals(TypedDict):
    """The totals of all units that match the filters, across all pages."""
    units_available: int
    """The number of units available for issue."""
    units_reserved: int
    """The number of units reserved for a patient."""
    by_group_and_component: List[BloodInventoryTotalsByGroupAndComponentItem]
    """The counts for each blood group and component with at least one unit."""


class BloodStock(TypedDict):
    """The units of one blood group and component at one blood bank."""
    facility_id: str
    """The blood bank."""
    blood_group: Literal["A+", "A-", "B+", "B-", "AB+", "AB-", "O+", "O-"]
    """ABO and Rh(D) blood group of the unit."""
    component: Literal["whole_blood", "packed_red_cells", "platelets", "fresh_frozen_plasma", "cryoprecipitate"]
    """The blood component."""
    units_available: int
    """The number of units available for issue."""
    units_reserved: int
    """The number of units reserved for a patient."""
    nearest_expiry: NotRequired[Optional[str]]
    """When the first available unit expires. Null if none is available."""
    updated_at: str
    """When one of the units last changed."""


class BloodInventory(TypedDict):
    """A page of blood bank inventory."""
    totals: BloodInventoryTotals
    """The totals of all units that match the filters, across all pages."""
    data: List[BloodStock]
    has_more: bool
    """True if there are more entries."""
    next_cursor: Optional[str]
    """The cursor of the next page. Null on the last page."""


class ReconciliationTotals(TypedDict):
    """The totals of the day in this currency, across all pages."""
    count: int
    """The number of payments."""
    gross: str
    """The total amount paid."""
    fees: str
    """The total of provider fees."""
    net: str
    """Gross minus fees."""
    matched: int
    """Payments matched to an invoice."""
    unmatched: int
    """Payments without a matching invoice."""
    disputed: int
    """Payments whose amount differs from the invoice."""


class PaymentRecord(TypedDict):
    """A payment, reconciled with the books of the payment provider."""
    reconciliation_id: str
    """The id of the record."""
    transaction_reference: str
    """The transaction id of the payment provider."""
    provider: str
    """The payment provider: MTN MoMo, Orange Money, a bank."""
    amount: str
    """The amount the patient paid."""
    fee: NotRequired[Optional[str]]
    """The fee the provider kept."""
    currency: str
    """ISO 4217 currency code; XAF in Cameroon."""
    status: Literal["matched", "unmatched", "disputed"]
    """matched: the payment matches an invoice. unmatched: no invoice was found. disputed: payment and invoice
    differ.
    """
    invoice_id: NotRequired[Optional[str]]
    """The paid invoice."""
    paid_at: str
    """When the payment was received."""
    external_reference: NotRequired[Optional[str]]
    """The payment reference in the books of the organisation."""


class Reconciliation(TypedDict):
    """A page of the payments of a day."""
    date: str
    """The requested date."""
    currency: str
    """ISO 4217 currency code; XAF in Cameroon."""
    totals: ReconciliationTotals
    """The totals of the day in this currency, across all pages."""
    other_currencies: List[str]
    """Other currencies with payments on this day. Request each one separately."""
    data: List[PaymentRecord]
    has_more: bool
    """True if there are more entries."""
    next_cursor: Optional[str]
    """The cursor of the next page. Null on the last page."""


class SdkIntrospection(TypedDict):
    """SdkIntrospection."""
    active: bool
    scopes: List[str]
    client_id: str
    expires_at: str


WebhookEvent = Union[
    AppointmentCancelledEvent,
    AppointmentCheckedInEvent,
    AppointmentCreatedEvent,
    BridgeAgentSyncFailedEvent,
    ConsentDeniedEvent,
    ConsentGrantedEvent,
    ConsentRequestedEvent,
    ConsentRevokedEvent,
    DocumentIssuedEvent,
    DocumentVerifiedEvent,
    EncounterClosedEvent,
    EncounterCreatedEvent,
    HealthIdCreatedEvent,
    HealthIdVerifiedEvent,
    LabOrderCreatedEvent,
    LabResultAmendedEvent,
    LabResultReleasedEvent,
    PatientCreatedEvent,
    PatientUpdatedEvent,
    PrescriptionCancelledEvent,
    PrescriptionDispensedEvent,
    PrescriptionIssuedEvent,
]
"""An event that a webhook delivers; `type` tells which."""
