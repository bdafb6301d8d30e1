// Requests, replies and events of the interface. Written by generate.ts.

/** Appointment cancelled */
export interface AppointmentCancelledEvent {
  /** The id of the event, used to replay it. */
  readonly id: string
  /** The event type. */
  readonly type: 'appointment.cancelled'
  /** The version of the payload format. */
  readonly version: '1.0'
  /** When the event happened, in UTC. */
  readonly created_at: string
  /** Appointment cancelled */
  readonly data: {
    /** The Health ID of the patient. Null if unknown, or if the event is not about a patient. */
    readonly health_id: string | null
    /** The appointment. */
    readonly appointment_id: string
    /** The FHIR status: booked, arrived, cancelled; or deleted. */
    readonly status: string | null
    /** The facility (Organization or Location) where the event happened. Null if not recorded. */
    readonly facility_id: string | null
    /** The FHIR resource, for subscriptions with payload_mode full. */
    readonly resource?: Readonly<Record<string, unknown>>
  }
  /** The origin of the event. */
  readonly meta: {
    /** The organisation that caused the event. Empty if there is none. */
    readonly organization_id: string
    /** The facility where the event happened. Empty if not recorded. */
    readonly facility_id: string
    /** The environment: local, sandbox or production. */
    readonly environment: string
    /** The id of the request that caused the event. */
    readonly request_id: string
  }
}

/** Patient checked in */
export interface AppointmentCheckedInEvent {
  /** The id of the event, used to replay it. */
  readonly id: string
  /** The event type. */
  readonly type: 'appointment.checked_in'
  /** The version of the payload format. */
  readonly version: '1.0'
  /** When the event happened, in UTC. */
  readonly created_at: string
  /** Patient checked in */
  readonly data: {
    /** The Health ID of the patient. Null if unknown, or if the event is not about a patient. */
    readonly health_id: string | null
    /** The appointment. */
    readonly appointment_id: string
    /** The FHIR status: booked, arrived, cancelled; or deleted. */
    readonly status: string | null
    /** The facility (Organization or Location) where the event happened. Null if not recorded. */
    readonly facility_id: string | null
    /** The FHIR resource, for subscriptions with payload_mode full. */
    readonly resource?: Readonly<Record<string, unknown>>
  }
  /** The origin of the event. */
  readonly meta: {
    /** The organisation that caused the event. Empty if there is none. */
    readonly organization_id: string
    /** The facility where the event happened. Empty if not recorded. */
    readonly facility_id: string
    /** The environment: local, sandbox or production. */
    readonly environment: string
    /** The id of the request that caused the event. */
    readonly request_id: string
  }
}

/** Appointment scheduled */
export interface AppointmentCreatedEvent {
  /** The id of the event, used to replay it. */
  readonly id: string
  /** The event type. */
  readonly type: 'appointment.created'
  /** The version of the payload format. */
  readonly version: '1.0'
  /** When the event happened, in UTC. */
  readonly created_at: string
  /** Appointment scheduled */
  readonly data: {
    /** The Health ID of the patient. Null if unknown, or if the event is not about a patient. */
    readonly health_id: string | null
    /** The appointment. */
    readonly appointment_id: string
    /** The FHIR status: booked, arrived, cancelled; or deleted. */
    readonly status: string | null
    /** The facility (Organization or Location) where the event happened. Null if not recorded. */
    readonly facility_id: string | null
    /** The FHIR resource, for subscriptions with payload_mode full. */
    readonly resource?: Readonly<Record<string, unknown>>
  }
  /** The origin of the event. */
  readonly meta: {
    /** The organisation that caused the event. Empty if there is none. */
    readonly organization_id: string
    /** The facility where the event happened. Empty if not recorded. */
    readonly facility_id: string
    /** The environment: local, sandbox or production. */
    readonly environment: string
    /** The id of the request that caused the event. */
    readonly request_id: string
  }
}

/** A page of blood bank inventory. */
export interface BloodInventory {
  /** The totals of all units that match the filters, across all pages. */
  readonly totals: {
    /** The number of units available for issue. */
    readonly units_available: number
    /** The number of units reserved for a patient. */
    readonly units_reserved: number
    /** The counts for each blood group and component with at least one unit. */
    readonly by_group_and_component: readonly {
      /** ABO and Rh(D) blood group of the unit. */
      readonly blood_group: 'A+' | 'A-' | 'B+' | 'B-' | 'AB+' | 'AB-' | 'O+' | 'O-'
      /** The blood component. */
      readonly component: 'whole_blood' | 'packed_red_cells' | 'platelets' | 'fresh_frozen_plasma' | 'cryoprecipitate'
      /** The number of units available for issue. */
      readonly units_available: number
      /** The number of units reserved for a patient. */
      readonly units_reserved: number
    }[]
  }
  readonly data: readonly {
    /** The blood bank. */
    readonly facility_id: string
    /** ABO and Rh(D) blood group of the unit. */
    readonly blood_group: 'A+' | 'A-' | 'B+' | 'B-' | 'AB+' | 'AB-' | 'O+' | 'O-'
    /** The blood component. */
    readonly component: 'whole_blood' | 'packed_red_cells' | 'platelets' | 'fresh_frozen_plasma' | 'cryoprecipitate'
    /** The number of units available for issue. */
    readonly units_available: number
    /** The number of units reserved for a patient. */
    readonly units_reserved: number
    /** When the first available unit expires. Null if none is available. */
    readonly nearest_expiry?: string | null
    /** When one of the units last changed. */
    readonly updated_at: string
  }[]
  /** True if there are more entries. */
  readonly has_more: boolean
  /** The cursor of the next page. Null on the last page. */
  readonly next_cursor: string | null
}

/** Bridge Agent sync failure */
export interface BridgeAgentSyncFailedEvent {
  /** The id of the event, used to replay it. */
  readonly id: string
  /** The event type. */
  readonly type: 'bridge_agent.sync_failed'
  /** The version of the payload format. */
  readonly version: '1.0'
  /** When the event happened, in UTC. */
  readonly created_at: string
  /** Bridge Agent sync failure */
  readonly data: {
    /** The Health ID of the patient. Null if unknown, or if the event is not about a patient. */
    readonly health_id: string | null
    /** The Bridge Agent. */
    readonly agent_id: string | null
    /** The failed Task. */
    readonly task_id: string
    /** The reason code. Null if not recorded. */
    readonly reason_code: string | null
    /** The facility (Organization or Location) where the event happened. Null if not recorded. */
    readonly facility_id: string | null
    /** The FHIR resource, for subscriptions with payload_mode full. */
    readonly resource?: Readonly<Record<string, unknown>>
  }
  /** The origin of the event. */
  readonly meta: {
    /** The organisation that caused the event. Empty if there is none. */
    readonly organization_id: string
    /** The facility where the event happened. Empty if not recorded. */
    readonly facility_id: string
    /** The environment: local, sandbox or production. */
    readonly environment: string
    /** The id of the request that caused the event. */
    readonly request_id: string
  }
}

/** Patient denies a consent request */
export interface ConsentDeniedEvent {
  /** The id of the event, used to replay it. */
  readonly id: string
  /** The event type. */
  readonly type: 'consent.denied'
  /** The version of the payload format. */
  readonly version: '1.0'
  /** When the event happened, in UTC. */
  readonly created_at: string
  /** Patient denies a consent request */
  readonly data: {
    /** The Health ID of the patient. Null if unknown, or if the event is not about a patient. */
    readonly health_id: string | null
    /** The consent. */
    readonly consent_id: string
    /** The consent type, one of GET /api/v1/connect/consent-types. Null if the consent defines its scope in another way. */
    readonly consent_type: string | null
    /** The organisation that may access the data or requested access. Null if the consent names none. */
    readonly organization_id: string | null
    /** The current consent status for the organisation. */
    readonly status: 'pending' | 'active' | 'denied' | 'revoked' | 'expired'
    /** When the consent expires. */
    readonly expires_at: string | null
    /** The FHIR resource, for subscriptions with payload_mode full. */
    readonly resource?: Readonly<Record<string, unknown>>
  }
  /** The origin of the event. */
  readonly meta: {
    /** The organisation that caused the event. Empty if there is none. */
    readonly organization_id: string
    /** The facility where the event happened. Empty if not recorded. */
    readonly facility_id: string
    /** The environment: local, sandbox or production. */
    readonly environment: string
    /** The id of the request that caused the event. */
    readonly request_id: string
  }
}

export interface ConsentGrant {
  /** The consent type, one of GET /api/v1/connect/consent-types. */
  readonly consent_type: string
  /** When the consent expires. Must be in the future. Default: one year from now. */
  readonly expires_at?: string
  /** The purpose of use: treatment, payment, operations, research, public_health, emergency, or free text. Default: treatment. */
  readonly purpose?: string
  /** Scopes that limit a full_record consent to the data they cover. */
  readonly scopes?: readonly string[]
  /** How the patient agreed. The patient must be present or verified in another way. */
  readonly verification_method?: 'in_person' | 'otp' | 'signature'
}

/** Patient grants consent */
export interface ConsentGrantedEvent {
  /** The id of the event, used to replay it. */
  readonly id: string
  /** The event type. */
  readonly type: 'consent.granted'
  /** The version of the payload format. */
  readonly version: '1.0'
  /** When the event happened, in UTC. */
  readonly created_at: string
  /** Patient grants consent */
  readonly data: {
    /** The Health ID of the patient. Null if unknown, or if the event is not about a patient. */
    readonly health_id: string | null
    /** The consent. */
    readonly consent_id: string
    /** The consent type, one of GET /api/v1/connect/consent-types. Null if the consent defines its scope in another way. */
    readonly consent_type: string | null
    /** The organisation that may access the data or requested access. Null if the consent names none. */
    readonly organization_id: string | null
    /** The current consent status for the organisation. */
    readonly status: 'pending' | 'active' | 'denied' | 'revoked' | 'expired'
    /** When the consent expires. */
    readonly expires_at: string | null
    /** The FHIR resource, for subscriptions with payload_mode full. */
    readonly resource?: Readonly<Record<string, unknown>>
  }
  /** The origin of the event. */
  readonly meta: {
    /** The organisation that caused the event. Empty if there is none. */
    readonly organization_id: string
    /** The facility where the event happened. Empty if not recorded. */
    readonly facility_id: string
    /** The environment: local, sandbox or production. */
    readonly environment: string
    /** The id of the request that caused the event. */
    readonly request_id: string
  }
}

/** The consent of a patient to access by an organisation. */
export interface ConsentRecord {
  /** The Health ID of the patient. */
  readonly health_id: string
  /** none: never requested. pending: requested and not answered. revoked: granted and later withdrawn. */
  readonly status: 'none' | 'pending' | 'active' | 'denied' | 'revoked' | 'expired'
  /** The id of the consent. Absent if there is none. */
  readonly consent_id?: string | null
  /** The part of the record that the consent opens, one of GET /api/v1/connect/consent-types. */
  readonly consent_type?: string | null
  /** The purpose of use: treatment, payment, operations, research, or free text. */
  readonly purpose?: string | null
  /** The requested scopes, if any. */
  readonly scopes?: readonly string[] | null
  /** When the patient agreed. */
  readonly granted_at?: string | null
  /** When the consent expires. */
  readonly expires_at?: string | null
  /** When a pending request expires if the patient does not answer. */
  readonly request_expires_at?: string | null
  /** When the patient revoked the consent. */
  readonly revoked_at?: string | null
  /** The organisation that may access the data. */
  readonly organization_id?: string | null
}

/** The consent to request from a patient. */
export interface ConsentRequest {
  /** The patient's Health ID. */
  readonly health_id: string
  /** The purpose of use: treatment, payment, operations, research, or free text. */
  readonly purpose: string
  /** The scopes to request. Each must open a part of the record. */
  readonly requested_scopes: readonly string[]
}

export interface ConsentRequested {
  readonly consent_id: string
  readonly health_id: string
  readonly status: 'pending'
  readonly requested_scopes: readonly string[]
  readonly purpose: string
  /** When the request expires if the patient does not answer. */
  readonly expires_at: string | null
}

/** Consent request sent to patient */
export interface ConsentRequestedEvent {
  /** The id of the event, used to replay it. */
  readonly id: string
  /** The event type. */
  readonly type: 'consent.requested'
  /** The version of the payload format. */
  readonly version: '1.0'
  /** When the event happened, in UTC. */
  readonly created_at: string
  /** Consent request sent to patient */
  readonly data: {
    /** The Health ID of the patient. Null if unknown, or if the event is not about a patient. */
    readonly health_id: string | null
    /** The consent. */
    readonly consent_id: string
    /** The consent type, one of GET /api/v1/connect/consent-types. Null if the consent defines its scope in another way. */
    readonly consent_type: string | null
    /** The organisation that may access the data or requested access. Null if the consent names none. */
    readonly organization_id: string | null
    /** The current consent status for the organisation. */
    readonly status: 'pending' | 'active' | 'denied' | 'revoked' | 'expired'
    /** When the consent expires. */
    readonly expires_at: string | null
    /** The FHIR resource, for subscriptions with payload_mode full. */
    readonly resource?: Readonly<Record<string, unknown>>
  }
  /** The origin of the event. */
  readonly meta: {
    /** The organisation that caused the event. Empty if there is none. */
    readonly organization_id: string
    /** The facility where the event happened. Empty if not recorded. */
    readonly facility_id: string
    /** The environment: local, sandbox or production. */
    readonly environment: string
    /** The id of the request that caused the event. */
    readonly request_id: string
  }
}

/** Patient revokes a granted consent; subscriber must stop data access immediately */
export interface ConsentRevokedEvent {
  /** The id of the event, used to replay it. */
  readonly id: string
  /** The event type. */
  readonly type: 'consent.revoked'
  /** The version of the payload format. */
  readonly version: '1.0'
  /** When the event happened, in UTC. */
  readonly created_at: string
  /** Patient revokes a granted consent; subscriber must stop data access immediately */
  readonly data: {
    /** The Health ID of the patient. Null if unknown, or if the event is not about a patient. */
    readonly health_id: string | null
    /** The consent. */
    readonly consent_id: string
    /** The consent type, one of GET /api/v1/connect/consent-types. Null if the consent defines its scope in another way. */
    readonly consent_type: string | null
    /** The organisation that may access the data or requested access. Null if the consent names none. */
    readonly organization_id: string | null
    /** The current consent status for the organisation. */
    readonly status: 'pending' | 'active' | 'denied' | 'revoked' | 'expired'
    /** When the consent expires. */
    readonly expires_at: string | null
    /** Why the consent ended. expired: it passed its expiry. denied: the patient now refuses. narrowed: it remains in force but no longer opens anything to the organisation. */
    readonly reason: 'revoked' | 'expired' | 'denied' | 'narrowed' | 'entered_in_error' | 'deleted'
    /** The FHIR resource, for subscriptions with payload_mode full. */
    readonly resource?: Readonly<Record<string, unknown>>
  }
  /** The origin of the event. */
  readonly meta: {
    /** The organisation that caused the event. Empty if there is none. */
    readonly organization_id: string
    /** The facility where the event happened. Empty if not recorded. */
    readonly facility_id: string
    /** The environment: local, sandbox or production. */
    readonly environment: string
    /** The id of the request that caused the event. */
    readonly request_id: string
  }
}

/** The consent types and purposes. */
export interface ConsentTypeList {
  readonly data: readonly {
    readonly consent_type: string
    readonly title: string
    /** The meaning, in words for patients. */
    readonly meaning: string
    /** The FHIR resource types that the consent opens. Null: all. Empty: none. */
    readonly resource_types: readonly string[] | null
    /** The categories (codes of observation-category) that access is limited to. Empty: all. */
    readonly categories: readonly string[]
  }[]
  /** The purposes that a consent can be limited to. */
  readonly purposes: readonly string[]
  /** Always false. */
  readonly has_more: boolean
}

/** The subscription and its signing secret. A reply replayed for an Idempotency-Key omits the secret. */
export interface CreatedWebhookSubscription {
  /** The id of the subscription. */
  readonly id: string
  /** The URL that receives events by POST: https, and reachable from the internet. */
  readonly callback_url: string
  /** Event types, as listed by GET /api/v1/connect/webhooks/event-types. */
  readonly subscribed_events: readonly string[]
  /** A description for your own use. */
  readonly description: string
  /** failing: the last delivery attempts failed. disabled: no events are sent. */
  readonly status: 'active' | 'failing' | 'disabled'
  /** Why the subscription is disabled. Null if it is not. */
  readonly disabled_reason?: string | null
  /** thin: events carry ids and flags. full: events also carry the FHIR resource; an administrator must permit this. */
  readonly payload_mode: 'thin' | 'full'
  /** When it was created. */
  readonly created_at: string
  /** When the subscription was last changed. */
  readonly updated_at: string
  /** When an event was last delivered. Null if none was. */
  readonly last_delivery_at?: string | null
  /** Failed delivery attempts since the last success. */
  readonly failure_count: number
  /** The signing secret. It appears only once: store it where the receiver can read it. */
  readonly webhook_secret?: string
}

/** Clinical document issued */
export interface DocumentIssuedEvent {
  /** The id of the event, used to replay it. */
  readonly id: string
  /** The event type. */
  readonly type: 'document.issued'
  /** The version of the payload format. */
  readonly version: '1.0'
  /** When the event happened, in UTC. */
  readonly created_at: string
  /** Clinical document issued */
  readonly data: {
    /** The Health ID of the patient. Null if unknown, or if the event is not about a patient. */
    readonly health_id: string | null
    /** The document. */
    readonly document_id: string
    /** The FHIR resource type of the document. */
    readonly document_type: 'DocumentReference' | 'Composition'
    /** amended: the document was changed after signing. */
    readonly status: 'final' | 'amended'
    /** The encounter the document is about. Null if not recorded. */
    readonly encounter_id: string | null
    /** The facility (Organization or Location) where the event happened. Null if not recorded. */
    readonly facility_id: string | null
    /** The FHIR resource, for subscriptions with payload_mode full. */
    readonly resource?: Readonly<Record<string, unknown>>
  }
  /** The origin of the event. */
  readonly meta: {
    /** The organisation that caused the event. Empty if there is none. */
    readonly organization_id: string
    /** The facility where the event happened. Empty if not recorded. */
    readonly facility_id: string
    /** The environment: local, sandbox or production. */
    readonly environment: string
    /** The id of the request that caused the event. */
    readonly request_id: string
  }
}

/** Document QR verified */
export interface DocumentVerifiedEvent {
  /** The id of the event, used to replay it. */
  readonly id: string
  /** The event type. */
  readonly type: 'document.verified'
  /** The version of the payload format. */
  readonly version: '1.0'
  /** When the event happened, in UTC. */
  readonly created_at: string
  /** Document QR verified */
  readonly data: {
    /** The Health ID of the patient. Null if unknown, or if the event is not about a patient. */
    readonly health_id: string | null
    /** The document. */
    readonly document_id: string
    /** The FHIR resource type of the document. */
    readonly document_type: 'DocumentReference' | 'Composition'
    /** The VerificationResult that records the verification. */
    readonly verification_id: string
    /** The facility (Organization or Location) where the event happened. Null if not recorded. */
    readonly facility_id: string | null
    /** The FHIR resource, for subscriptions with payload_mode full. */
    readonly resource?: Readonly<Record<string, unknown>>
  }
  /** The origin of the event. */
  readonly meta: {
    /** The organisation that caused the event. Empty if there is none. */
    readonly organization_id: string
    /** The facility where the event happened. Empty if not recorded. */
    readonly facility_id: string
    /** The environment: local, sandbox or production. */
    readonly environment: string
    /** The id of the request that caused the event. */
    readonly request_id: string
  }
}

/** Encounter finalised */
export interface EncounterClosedEvent {
  /** The id of the event, used to replay it. */
  readonly id: string
  /** The event type. */
  readonly type: 'encounter.closed'
  /** The version of the payload format. */
  readonly version: '1.0'
  /** When the event happened, in UTC. */
  readonly created_at: string
  /** Encounter finalised */
  readonly data: {
    /** The Health ID of the patient. Null if unknown, or if the event is not about a patient. */
    readonly health_id: string | null
    /** The encounter. */
    readonly encounter_id: string
    /** The FHIR status: planned, in-progress, finished. */
    readonly status: string | null
    /** The encounter class, a code of v3-ActCode: AMB, IMP, EMER, HH, VR. */
    readonly class: string | null
    /** The facility (Organization or Location) where the event happened. Null if not recorded. */
    readonly facility_id: string | null
    /** The FHIR resource, for subscriptions with payload_mode full. */
    readonly resource?: Readonly<Record<string, unknown>>
  }
  /** The origin of the event. */
  readonly meta: {
    /** The organisation that caused the event. Empty if there is none. */
    readonly organization_id: string
    /** The facility where the event happened. Empty if not recorded. */
    readonly facility_id: string
    /** The environment: local, sandbox or production. */
    readonly environment: string
    /** The id of the request that caused the event. */
    readonly request_id: string
  }
}

/** New encounter or visit recorded */
export interface EncounterCreatedEvent {
  /** The id of the event, used to replay it. */
  readonly id: string
  /** The event type. */
  readonly type: 'encounter.created'
  /** The version of the payload format. */
  readonly version: '1.0'
  /** When the event happened, in UTC. */
  readonly created_at: string
  /** New encounter or visit recorded */
  readonly data: {
    /** The Health ID of the patient. Null if unknown, or if the event is not about a patient. */
    readonly health_id: string | null
    /** The encounter. */
    readonly encounter_id: string
    /** The FHIR status: planned, in-progress, finished. */
    readonly status: string | null
    /** The encounter class, a code of v3-ActCode: AMB, IMP, EMER, HH, VR. */
    readonly class: string | null
    /** The facility (Organization or Location) where the event happened. Null if not recorded. */
    readonly facility_id: string | null
    /** The FHIR resource, for subscriptions with payload_mode full. */
    readonly resource?: Readonly<Record<string, unknown>>
  }
  /** The origin of the event. */
  readonly meta: {
    /** The organisation that caused the event. Empty if there is none. */
    readonly organization_id: string
    /** The facility where the event happened. Empty if not recorded. */
    readonly facility_id: string
    /** The environment: local, sandbox or production. */
    readonly environment: string
    /** The id of the request that caused the event. */
    readonly request_id: string
  }
}

/** A clinical contact, recommendation or alert, pushed by an integrated system. */
export interface EncounterPush {
  /** The patient's Health ID. */
  readonly health_id: string
  /** The kind of contact. cdss_alert: a decision support system raised an alert without a patient contact. */
  readonly encounter_type: string
  /** What happened or what is advised, as text. */
  readonly clinical_note?: string | null
  /** The severity of an alert: low, moderate, high, critical. */
  readonly severity?: string | null
  /** The kind of alert: drug_interaction, allergy, duplicate_therapy, dosage. */
  readonly alert_type?: string | null
  /** The rule of the decision support system that raised the alert. */
  readonly cdss_rule_id?: string | null
}

/** New Health ID issued */
export interface HealthIdCreatedEvent {
  /** The id of the event, used to replay it. */
  readonly id: string
  /** The event type. */
  readonly type: 'health_id.created'
  /** The version of the payload format. */
  readonly version: '1.0'
  /** When the event happened, in UTC. */
  readonly created_at: string
  /** New Health ID issued */
  readonly data: {
    /** The Health ID in canonical form. */
    readonly health_id: string
    /** The patient. */
    readonly patient_id: string
    /** The country that issued the Health ID, ISO 3166-1. */
    readonly country_code: string
    /** The FHIR resource, for subscriptions with payload_mode full. */
    readonly resource?: Readonly<Record<string, unknown>>
  }
  /** The origin of the event. */
  readonly meta: {
    /** The organisation that caused the event. Empty if there is none. */
    readonly organization_id: string
    /** The facility where the event happened. Empty if not recorded. */
    readonly facility_id: string
    /** The environment: local, sandbox or production. */
    readonly environment: string
    /** The id of the request that caused the event. */
    readonly request_id: string
  }
}

/** Health ID verified by a facility */
export interface HealthIdVerifiedEvent {
  /** The id of the event, used to replay it. */
  readonly id: string
  /** The event type. */
  readonly type: 'health_id.verified'
  /** The version of the payload format. */
  readonly version: '1.0'
  /** When the event happened, in UTC. */
  readonly created_at: string
  /** Health ID verified by a facility */
  readonly data: {
    /** The Health ID in canonical form. */
    readonly health_id: string
    /** The patient. */
    readonly patient_id: string
    /** The organisation that verified the Health ID. */
    readonly organization_id: string | null
    /** The FHIR resource, for subscriptions with payload_mode full. */
    readonly resource?: Readonly<Record<string, unknown>>
  }
  /** The origin of the event. */
  readonly meta: {
    /** The organisation that caused the event. Empty if there is none. */
    readonly organization_id: string
    /** The facility where the event happened. Empty if not recorded. */
    readonly facility_id: string
    /** The environment: local, sandbox or production. */
    readonly environment: string
    /** The id of the request that caused the event. */
    readonly request_id: string
  }
}

/** Lab test ordered */
export interface LabOrderCreatedEvent {
  /** The id of the event, used to replay it. */
  readonly id: string
  /** The event type. */
  readonly type: 'lab_order.created'
  /** The version of the payload format. */
  readonly version: '1.0'
  /** When the event happened, in UTC. */
  readonly created_at: string
  /** Lab test ordered */
  readonly data: {
    /** The Health ID of the patient. Null if unknown, or if the event is not about a patient. */
    readonly health_id: string | null
    /** The order: a ServiceRequest. */
    readonly lab_order_id: string
    /** The name of the test: the display of its code, or the name from the laboratory. */
    readonly test_name: string | null
    /** active, or on-hold if the test must not be done yet. */
    readonly status: string | null
    /** The priority: routine, urgent, asap or stat. */
    readonly priority: string | null
    /** The facility (Organization or Location) where the event happened. Null if not recorded. */
    readonly facility_id: string | null
    /** The FHIR resource, for subscriptions with payload_mode full. */
    readonly resource?: Readonly<Record<string, unknown>>
  }
  /** The origin of the event. */
  readonly meta: {
    /** The organisation that caused the event. Empty if there is none. */
    readonly organization_id: string
    /** The facility where the event happened. Empty if not recorded. */
    readonly facility_id: string
    /** The environment: local, sandbox or production. */
    readonly environment: string
    /** The id of the request that caused the event. */
    readonly request_id: string
  }
}

/** Lab result corrected */
export interface LabResultAmendedEvent {
  /** The id of the event, used to replay it. */
  readonly id: string
  /** The event type. */
  readonly type: 'lab_result.amended'
  /** The version of the payload format. */
  readonly version: '1.0'
  /** When the event happened, in UTC. */
  readonly created_at: string
  /** Lab result corrected */
  readonly data: {
    /** The Health ID of the patient. Null if unknown, or if the event is not about a patient. */
    readonly health_id: string | null
    /** The result: a DiagnosticReport. */
    readonly lab_result_id: string
    /** The name of the test: the display of its code, or the name from the laboratory. */
    readonly test_name: string | null
    /** True if a result needs attention: abnormal, high, low, critical. */
    readonly flagged: boolean
    /** amended, corrected or appended; or cancelled, entered-in-error or deleted if the result is no longer valid. */
    readonly status: string | null
    /** The facility (Organization or Location) where the event happened. Null if not recorded. */
    readonly facility_id: string | null
    /** The FHIR resource, for subscriptions with payload_mode full. */
    readonly resource?: Readonly<Record<string, unknown>>
  }
  /** The origin of the event. */
  readonly meta: {
    /** The organisation that caused the event. Empty if there is none. */
    readonly organization_id: string
    /** The facility where the event happened. Empty if not recorded. */
    readonly facility_id: string
    /** The environment: local, sandbox or production. */
    readonly environment: string
    /** The id of the request that caused the event. */
    readonly request_id: string
  }
}

/** A laboratory result, pushed by an integrated system. */
export interface LabResultPush {
  /** The patient's Health ID. */
  readonly health_id: string
  /** The name of the test, for example "Serum potassium". */
  readonly test_name: string
  /** The result as the laboratory reported it: 6.8 mmol/L, <0.5, positive. */
  readonly result_value: string
  /** True if the result needs attention. */
  readonly flagged?: boolean | null
  /** The kind of flag: normal, low, high, abnormal, critical, critical_low, critical_high. */
  readonly flag_level?: string | null
  /** The interpretation by the laboratory. */
  readonly interpretation?: string | null
}

/** Lab result published */
export interface LabResultReleasedEvent {
  /** The id of the event, used to replay it. */
  readonly id: string
  /** The event type. */
  readonly type: 'lab_result.released'
  /** The version of the payload format. */
  readonly version: '1.0'
  /** When the event happened, in UTC. */
  readonly created_at: string
  /** Lab result published */
  readonly data: {
    /** The Health ID of the patient. Null if unknown, or if the event is not about a patient. */
    readonly health_id: string | null
    /** The result: a DiagnosticReport. */
    readonly lab_result_id: string
    /** The name of the test: the display of its code, or the name from the laboratory. */
    readonly test_name: string | null
    /** True if a result needs attention: abnormal, high, low, critical. */
    readonly flagged: boolean
    /** The facility (Organization or Location) where the event happened. Null if not recorded. */
    readonly facility_id: string | null
    /** The FHIR resource, for subscriptions with payload_mode full. */
    readonly resource?: Readonly<Record<string, unknown>>
  }
  /** The origin of the event. */
  readonly meta: {
    /** The organisation that caused the event. Empty if there is none. */
    readonly organization_id: string
    /** The facility where the event happened. Empty if not recorded. */
    readonly facility_id: string
    /** The environment: local, sandbox or production. */
    readonly environment: string
    /** The id of the request that caused the event. */
    readonly request_id: string
  }
}

/** New patient registered */
export interface PatientCreatedEvent {
  /** The id of the event, used to replay it. */
  readonly id: string
  /** The event type. */
  readonly type: 'patient.created'
  /** The version of the payload format. */
  readonly version: '1.0'
  /** When the event happened, in UTC. */
  readonly created_at: string
  /** New patient registered */
  readonly data: {
    /** The Health ID of the patient. Null if unknown, or if the event is not about a patient. */
    readonly health_id: string | null
    /** The patient. */
    readonly patient_id: string
    /** The FHIR resource, for subscriptions with payload_mode full. */
    readonly resource?: Readonly<Record<string, unknown>>
  }
  /** The origin of the event. */
  readonly meta: {
    /** The organisation that caused the event. Empty if there is none. */
    readonly organization_id: string
    /** The facility where the event happened. Empty if not recorded. */
    readonly facility_id: string
    /** The environment: local, sandbox or production. */
    readonly environment: string
    /** The id of the request that caused the event. */
    readonly request_id: string
  }
}

/** The records of a patient. */
export interface PatientRecords {
  readonly health_id: string
  readonly type: 'diagnoses' | 'prescriptions' | 'lab_results' | 'vitals' | 'all'
  /** The records of each type, newest first. A type is absent if it was not requested, no consent opens it, or all its records have been returned. */
  readonly data: {
    readonly diagnoses?: readonly {
      /** The id of the record. */
      readonly id: string
      /** The patient who has, had or was suspected to have the condition. */
      readonly patient_id: string
      /** The visit at which the diagnosis was made. Null if no visit is known. */
      readonly visit_id?: string | null
      /** The practitioner who made the diagnosis. */
      readonly provider_id?: string | null
      /** The name of the diagnosis, as the clinician wrote or chose it. */
      readonly display_name: string
      /** The code system of `code`. `other` is a local list. */
      readonly code_system: 'ICD-10' | 'SNOMED' | 'other'
      /** The code in that code system, for example B50.9 (severe falciparum malaria) in ICD-10. */
      readonly code?: string | null
      /** The SNOMED CT code of the diagnosis, for decision support. */
      readonly snomed_code?: string | null
      /** The SNOMED CT display of the diagnosis. */
      readonly snomed_display?: string | null
      /** active: present or recurring. resolved: over. ruled_out: considered and refuted. */
      readonly status: 'active' | 'resolved' | 'ruled_out'
      /** True for the main diagnosis of the visit. */
      readonly is_primary: boolean
      /** When the diagnosis was recorded. */
      readonly created_at?: string | null
    }[]
    readonly prescriptions?: readonly {
      /** The id of the prescription. */
      readonly id: string
      /** The patient the medicine is prescribed for. */
      readonly patient_id: string
      /** The visit at which the prescription was written. */
      readonly visit_id?: string | null
      /** The practitioner who prescribed. */
      readonly provider_id?: string | null
      /** The name of the medicine, with strength and form if known: "Artemether 20 mg / lumefantrine 120 mg". */
      readonly medication_name: string
      /** The code system of `medication_code`. `other` is a local list. */
      readonly code_system?: 'ATC' | 'RxNorm' | 'SNOMED' | 'other' | null
      /** The code of the medicine in that code system, for example P01BF01 in ATC. */
      readonly medication_code?: string | null
      /** The dosage instruction, as written on the prescription. */
      readonly dosage_instructions?: string | null
      /** The amount of each dose. */
      readonly dose?: number | null
      /** The unit of the dose: mg, ml, tablet. */
      readonly dose_unit?: string | null
      /** Doses per day. */
      readonly times_per_day?: number | null
      /** The duration of the treatment in days. */
      readonly duration_days?: number | null
      /** True if the medicine is taken only as needed. */
      readonly as_needed?: boolean | null
      /** The route of administration. */
      readonly route?: 'oral' | 'sublingual' | 'intravenous' | 'intramuscular' | 'subcutaneous' | 'inhaled' | 'nasal' | 'topical' | 'ophthalmic' | 'otic' | 'rectal' | 'vaginal' | null
      /** The total quantity to dispense. */
      readonly quantity?: number | null
      /** The unit of the quantity: tablet, bottle, vial. */
      readonly quantity_unit?: string | null
      /** The number of refills allowed. */
      readonly refills?: number | null
      /** True if the pharmacy may substitute an equivalent product. */
      readonly substitution_allowed?: boolean | null
      /** active: to be taken. stopped: ended early. cancelled: withdrawn before it began. */
      readonly status: 'draft' | 'active' | 'on_hold' | 'completed' | 'cancelled' | 'stopped' | 'entered_in_error' | 'unknown'
      /** The reason for the prescription. */
      readonly reason?: string | null
      /** Notes for the pharmacy or the patient. */
      readonly notes?: string | null
      /** When the prescription was written. */
      readonly prescribed_at?: string | null
    }[]
    readonly lab_results?: readonly {
      /** The id of the result. */
      readonly id: string
      /** The patient the specimen came from. */
      readonly patient_id: string
      /** The visit at which the test was done. */
      readonly visit_id?: string | null
      /** The order for the test. */
      readonly order_id?: string | null
      /** The practitioner responsible for the result. */
      readonly provider_id?: string | null
      /** The laboratory or facility responsible for the result. */
      readonly facility_id?: string | null
      /** The name of the test: "Haemoglobin", "Plasmodium falciparum antigen". */
      readonly test_name: string
      /** The LOINC code of the test, for example 718-7 for haemoglobin in blood. */
      readonly loinc_code?: string | null
      /** The result as the laboratory reported it: 7.4, <0.5, positive. Absent while pending. Several numbers have their units: "7.4 10*9/L; Neutrophils: 62 %". */
      readonly result_value?: string | null
      /** The unit of a numeric result, in UCUM if possible: g/dL, mmol/L, 10*9/L. */
      readonly unit?: string | null
      /** The lower limit of the reference range for this patient. */
      readonly reference_low?: number | null
      /** The upper limit of the reference range for this patient. */
      readonly reference_high?: number | null
      /** The reference range as text, if it is not numeric. */
      readonly reference_range?: string | null
      /** True if the result needs attention. */
      readonly flagged: boolean
      /** The kind of flag. The critical levels need immediate attention. */
      readonly flag_level?: 'normal' | 'low' | 'high' | 'critical_low' | 'critical_high' | 'critical' | null
      /** The interpretation by the laboratory. */
      readonly interpretation?: string | null
      /** final: released. amended or corrected: changed after release. cancelled: will not be reported. */
      readonly status: 'registered' | 'preliminary' | 'final' | 'amended' | 'corrected' | 'cancelled' | 'entered_in_error' | 'unknown'
      /** When the specimen was taken. */
      readonly collected_at?: string | null
      /** When the laboratory released the result. */
      readonly released_at?: string | null
    }[]
    readonly vitals?: readonly {
      /** The id of the measurement. */
      readonly id: string
      /** The patient who was measured. */
      readonly patient_id: string
      /** The visit at which the measurement was taken. */
      readonly visit_id?: string | null
      /** The practitioner who took the measurement. */
      readonly provider_id?: string | null
      /** The kind of measurement. For `other`, see `name` and `loinc_code`. */
      readonly type: 'blood_pressure' | 'heart_rate' | 'respiratory_rate' | 'body_temperature' | 'oxygen_saturation' | 'body_weight' | 'body_height' | 'head_circumference' | 'body_mass_index' | 'other'
      /** The name of the measurement. */
      readonly name?: string | null
      /** The LOINC code of the measurement. */
      readonly loinc_code?: string | null
      /** The measured value. Absent for blood pressure. */
      readonly value?: number | null
      /** The UCUM unit of the value, or of both numbers of a blood pressure: Cel, kg, cm, /min, %, kg/m2, mm[Hg], kPa. Default: the usual unit of the type. */
      readonly unit?: string | null
      /** Systolic blood pressure, in `unit`. */
      readonly systolic?: number | null
      /** Diastolic blood pressure, in `unit`. */
      readonly diastolic?: number | null
      /** final: measured and verified. entered_in_error: must not be used. */
      readonly status: 'preliminary' | 'final' | 'amended' | 'entered_in_error' | 'unknown'
      /** When the measurement was taken. */
      readonly measured_at?: string | null
      /** Notes on the measurement. They begin with what is no exact number, or no number in `unit`: "Systolic: 120 mmHg". */
      readonly notes?: string | null
    }[]
  }
  /** The requested types that no consent opens. The patient may or may not have such records. */
  readonly withheld: readonly ('diagnoses' | 'prescriptions' | 'lab_results' | 'vitals')[]
  /** The number of stored resources on this page that cannot be represented in this form. FHIR searches return them. */
  readonly unreadable: number
  readonly generated_at: string
  /** The consent that permits the access. Null for emergency access and for the record-keeping system itself. */
  readonly consent_id: string | null
  readonly has_more: boolean
  readonly next_cursor: string | null
}

/** The holder of a Health ID. */
export interface PatientSearchReply {
  readonly data: readonly {
    /** The Health ID in canonical form. */
    readonly health_id: string
    /** Given names. */
    readonly first_name: string | null
    /** Family name. If `redacted`, only its initial and a full stop. */
    readonly last_name: string | null
    /** Date of birth. If `redacted`, only the year. */
    readonly date_of_birth: string | null
    /** Administrative sex: male, female or other. */
    readonly sex: string | null
    /** The telephone number with only its last two digits visible. Null if `redacted`. */
    readonly phone_masked: string | null
    /** True if fields are redacted: no consent permits access to the Patient, and the client neither created it nor is consent-exempt. */
    readonly redacted: boolean
  }[]
  readonly has_more: boolean
}

/** The summary of a patient. */
export interface PatientSummary {
  /** The current Health ID. */
  readonly health_id: string
  readonly patient: {
    readonly health_id: string
    /** Given names, written together: "Marie Claire". */
    readonly first_name?: string | null
    /** Family name. */
    readonly last_name?: string | null
    /** Date of birth. */
    readonly date_of_birth?: string | null
    /** Administrative sex. */
    readonly sex?: 'male' | 'female' | 'other' | null
    /** ABO and Rh(D) blood group. */
    readonly blood_group?: 'A+' | 'A-' | 'B+' | 'B-' | 'AB+' | 'AB-' | 'O+' | 'O-' | null
  }
  /** The active prescriptions, newest first, at most 100. */
  readonly active_medications: readonly {
    /** The id of the prescription. */
    readonly id: string
    /** The patient the medicine is prescribed for. */
    readonly patient_id: string
    /** The visit at which the prescription was written. */
    readonly visit_id?: string | null
    /** The practitioner who prescribed. */
    readonly provider_id?: string | null
    /** The name of the medicine, with strength and form if known: "Artemether 20 mg / lumefantrine 120 mg". */
    readonly medication_name: string
    /** The code system of `medication_code`. `other` is a local list. */
    readonly code_system?: 'ATC' | 'RxNorm' | 'SNOMED' | 'other' | null
    /** The code of the medicine in that code system, for example P01BF01 in ATC. */
    readonly medication_code?: string | null
    /** The dosage instruction, as written on the prescription. */
    readonly dosage_instructions?: string | null
    /** The amount of each dose. */
    readonly dose?: number | null
    /** The unit of the dose: mg, ml, tablet. */
    readonly dose_unit?: string | null
    /** Doses per day. */
    readonly times_per_day?: number | null
    /** The duration of the treatment in days. */
    readonly duration_days?: number | null
    /** True if the medicine is taken only as needed. */
    readonly as_needed?: boolean | null
    /** The route of administration. */
    readonly route?: 'oral' | 'sublingual' | 'intravenous' | 'intramuscular' | 'subcutaneous' | 'inhaled' | 'nasal' | 'topical' | 'ophthalmic' | 'otic' | 'rectal' | 'vaginal' | null
    /** The total quantity to dispense. */
    readonly quantity?: number | null
    /** The unit of the quantity: tablet, bottle, vial. */
    readonly quantity_unit?: string | null
    /** The number of refills allowed. */
    readonly refills?: number | null
    /** True if the pharmacy may substitute an equivalent product. */
    readonly substitution_allowed?: boolean | null
    /** active: to be taken. stopped: ended early. cancelled: withdrawn before it began. */
    readonly status: 'draft' | 'active' | 'on_hold' | 'completed' | 'cancelled' | 'stopped' | 'entered_in_error' | 'unknown'
    /** The reason for the prescription. */
    readonly reason?: string | null
    /** Notes for the pharmacy or the patient. */
    readonly notes?: string | null
    /** When the prescription was written. */
    readonly prescribed_at?: string | null
  }[]
  /** The active allergies and intolerances, newest first, at most 100. */
  readonly active_allergies: readonly {
    /** The id of the record. */
    readonly id: string
    /** The patient who has the allergy. */
    readonly patient_id: string
    /** The practitioner who recorded the allergy. */
    readonly provider_id?: string | null
    /** The substance, as recorded: a medicine, a food, an insect, a material. */
    readonly substance: string
    /** The severity of reactions. life_threatening: anaphylaxis or similar has happened or is likely. */
    readonly severity: 'mild' | 'moderate' | 'severe' | 'life_threatening'
    /** active: a current risk. inactive: no longer a risk. resolved: tested and gone, for example after desensitisation. entered_in_error: never true. */
    readonly status: 'active' | 'inactive' | 'resolved' | 'entered_in_error'
    /** When the allergy was recorded. */
    readonly created_at?: string | null
  }[]
  /** The laboratory results of the last twelve months, newest first, at most 10. */
  readonly recent_labs: readonly {
    /** The id of the result. */
    readonly id: string
    /** The patient the specimen came from. */
    readonly patient_id: string
    /** The visit at which the test was done. */
    readonly visit_id?: string | null
    /** The order for the test. */
    readonly order_id?: string | null
    /** The practitioner responsible for the result. */
    readonly provider_id?: string | null
    /** The laboratory or facility responsible for the result. */
    readonly facility_id?: string | null
    /** The name of the test: "Haemoglobin", "Plasmodium falciparum antigen". */
    readonly test_name: string
    /** The LOINC code of the test, for example 718-7 for haemoglobin in blood. */
    readonly loinc_code?: string | null
    /** The result as the laboratory reported it: 7.4, <0.5, positive. Absent while pending. Several numbers have their units: "7.4 10*9/L; Neutrophils: 62 %". */
    readonly result_value?: string | null
    /** The unit of a numeric result, in UCUM if possible: g/dL, mmol/L, 10*9/L. */
    readonly unit?: string | null
    /** The lower limit of the reference range for this patient. */
    readonly reference_low?: number | null
    /** The upper limit of the reference range for this patient. */
    readonly reference_high?: number | null
    /** The reference range as text, if it is not numeric. */
    readonly reference_range?: string | null
    /** True if the result needs attention. */
    readonly flagged: boolean
    /** The kind of flag. The critical levels need immediate attention. */
    readonly flag_level?: 'normal' | 'low' | 'high' | 'critical_low' | 'critical_high' | 'critical' | null
    /** The interpretation by the laboratory. */
    readonly interpretation?: string | null
    /** final: released. amended or corrected: changed after release. cancelled: will not be reported. */
    readonly status: 'registered' | 'preliminary' | 'final' | 'amended' | 'corrected' | 'cancelled' | 'entered_in_error' | 'unknown'
    /** When the specimen was taken. */
    readonly collected_at?: string | null
    /** When the laboratory released the result. */
    readonly released_at?: string | null
  }[]
  /** The visits of the last twelve months, newest first, at most 10. */
  readonly recent_visits: readonly {
    /** The id of the visit. */
    readonly id: string
    /** The patient. */
    readonly patient_id: string
    /** The main responsible practitioner. */
    readonly provider_id?: string | null
    /** The facility where the visit takes place. */
    readonly facility_id?: string | null
    /** The appointment that led to the visit. */
    readonly appointment_id?: string | null
    /** Where and how the patient is seen. field: outreach, for example a vaccination round. day_case: admitted and discharged on the same day. */
    readonly visit_type: 'outpatient' | 'inpatient' | 'emergency' | 'home' | 'field' | 'virtual' | 'day_case' | 'observation' | 'pre_admission'
    /** The department or service: maternity, paediatrics, HIV care. */
    readonly department?: string | null
    /** The reason for the visit. */
    readonly reason?: string | null
    /** finished: the patient has left and the record is closed. */
    readonly status: 'planned' | 'arrived' | 'triaged' | 'in_progress' | 'on_leave' | 'finished' | 'cancelled' | 'entered_in_error' | 'unknown'
    /** When the visit began. */
    readonly started_at?: string | null
    /** When the visit ended. */
    readonly ended_at?: string | null
  }[]
  /** The sections that no consent opens. The patient may or may not have such records. */
  readonly withheld: readonly ('patient' | 'active_medications' | 'active_allergies' | 'recent_labs' | 'recent_visits')[]
  /** The sections with more records than are listed. Search for the others. */
  readonly truncated: readonly ('active_medications' | 'active_allergies' | 'recent_labs' | 'recent_visits')[]
  /** The number of stored resources that cannot be represented in this form. FHIR searches return them. */
  readonly unreadable: number
  readonly generated_at: string
  /** The consent that permits the access. Null for emergency access and for the record-keeping system itself. */
  readonly consent_id: string | null
}

/** Patient demographics updated */
export interface PatientUpdatedEvent {
  /** The id of the event, used to replay it. */
  readonly id: string
  /** The event type. */
  readonly type: 'patient.updated'
  /** The version of the payload format. */
  readonly version: '1.0'
  /** When the event happened, in UTC. */
  readonly created_at: string
  /** Patient demographics updated */
  readonly data: {
    /** The Health ID of the patient. Null if unknown, or if the event is not about a patient. */
    readonly health_id: string | null
    /** The patient. */
    readonly patient_id: string
    /** The names of the changed FHIR elements, without their values. */
    readonly changed: readonly string[]
    /** The FHIR resource, for subscriptions with payload_mode full. */
    readonly resource?: Readonly<Record<string, unknown>>
  }
  /** The origin of the event. */
  readonly meta: {
    /** The organisation that caused the event. Empty if there is none. */
    readonly organization_id: string
    /** The facility where the event happened. Empty if not recorded. */
    readonly facility_id: string
    /** The environment: local, sandbox or production. */
    readonly environment: string
    /** The id of the request that caused the event. */
    readonly request_id: string
  }
}

/** Prescription cancelled */
export interface PrescriptionCancelledEvent {
  /** The id of the event, used to replay it. */
  readonly id: string
  /** The event type. */
  readonly type: 'prescription.cancelled'
  /** The version of the payload format. */
  readonly version: '1.0'
  /** When the event happened, in UTC. */
  readonly created_at: string
  /** Prescription cancelled */
  readonly data: {
    /** The Health ID of the patient. Null if unknown, or if the event is not about a patient. */
    readonly health_id: string | null
    /** The prescription: a MedicationRequest. */
    readonly prescription_id: string
    /** The encounter at which the prescription was written. Null if not recorded. */
    readonly encounter_id: string | null
    /** cancelled, stopped or entered-in-error; or deleted. */
    readonly status: string | null
    /** The facility (Organization or Location) where the event happened. Null if not recorded. */
    readonly facility_id: string | null
    /** The FHIR resource, for subscriptions with payload_mode full. */
    readonly resource?: Readonly<Record<string, unknown>>
  }
  /** The origin of the event. */
  readonly meta: {
    /** The organisation that caused the event. Empty if there is none. */
    readonly organization_id: string
    /** The facility where the event happened. Empty if not recorded. */
    readonly facility_id: string
    /** The environment: local, sandbox or production. */
    readonly environment: string
    /** The id of the request that caused the event. */
    readonly request_id: string
  }
}

/** Prescription dispensed */
export interface PrescriptionDispensedEvent {
  /** The id of the event, used to replay it. */
  readonly id: string
  /** The event type. */
  readonly type: 'prescription.dispensed'
  /** The version of the payload format. */
  readonly version: '1.0'
  /** When the event happened, in UTC. */
  readonly created_at: string
  /** Prescription dispensed */
  readonly data: {
    /** The Health ID of the patient. Null if unknown, or if the event is not about a patient. */
    readonly health_id: string | null
    /** The dispense: a MedicationDispense. */
    readonly dispense_id: string
    /** The prescription the medicine was dispensed for. Null if not recorded. */
    readonly prescription_id: string | null
    /** The facility (Organization or Location) where the event happened. Null if not recorded. */
    readonly facility_id: string | null
    /** The FHIR resource, for subscriptions with payload_mode full. */
    readonly resource?: Readonly<Record<string, unknown>>
  }
  /** The origin of the event. */
  readonly meta: {
    /** The organisation that caused the event. Empty if there is none. */
    readonly organization_id: string
    /** The facility where the event happened. Empty if not recorded. */
    readonly facility_id: string
    /** The environment: local, sandbox or production. */
    readonly environment: string
    /** The id of the request that caused the event. */
    readonly request_id: string
  }
}

/** New prescription written */
export interface PrescriptionIssuedEvent {
  /** The id of the event, used to replay it. */
  readonly id: string
  /** The event type. */
  readonly type: 'prescription.issued'
  /** The version of the payload format. */
  readonly version: '1.0'
  /** When the event happened, in UTC. */
  readonly created_at: string
  /** New prescription written */
  readonly data: {
    /** The Health ID of the patient. Null if unknown, or if the event is not about a patient. */
    readonly health_id: string | null
    /** The prescription: a MedicationRequest. */
    readonly prescription_id: string
    /** The encounter at which the prescription was written. Null if not recorded. */
    readonly encounter_id: string | null
    /** active, or on-hold if the medicine must not be dispensed yet. */
    readonly status: string | null
    /** The facility (Organization or Location) where the event happened. Null if not recorded. */
    readonly facility_id: string | null
    /** The FHIR resource, for subscriptions with payload_mode full. */
    readonly resource?: Readonly<Record<string, unknown>>
  }
  /** The origin of the event. */
  readonly meta: {
    /** The organisation that caused the event. Empty if there is none. */
    readonly organization_id: string
    /** The facility where the event happened. Empty if not recorded. */
    readonly facility_id: string
    /** The environment: local, sandbox or production. */
    readonly environment: string
    /** The id of the request that caused the event. */
    readonly request_id: string
  }
}

/** An accepted record. */
export interface PushReply {
  /** The id of the main resource. */
  readonly id: string
  /** The main resource: Type/id. */
  readonly resource: string
  /** Every resource that the record became: Type/id. */
  readonly resources: readonly string[]
  readonly status: 'accepted'
  /** The ids of the events that the record caused. Subscribers receive each as a webhook. */
  readonly events: readonly string[]
}

/** A page of the payments of a day. */
export interface Reconciliation {
  /** The requested date. */
  readonly date: string
  /** ISO 4217 currency code; XAF in Cameroon. */
  readonly currency: string
  /** The totals of the day in this currency, across all pages. */
  readonly totals: {
    /** The number of payments. */
    readonly count: number
    /** The total amount paid. */
    readonly gross: string
    /** The total of provider fees. */
    readonly fees: string
    /** Gross minus fees. */
    readonly net: string
    /** Payments matched to an invoice. */
    readonly matched: number
    /** Payments without a matching invoice. */
    readonly unmatched: number
    /** Payments whose amount differs from the invoice. */
    readonly disputed: number
  }
  /** Other currencies with payments on this day. Request each one separately. */
  readonly other_currencies: readonly string[]
  readonly data: readonly {
    /** The id of the record. */
    readonly reconciliation_id: string
    /** The transaction id of the payment provider. */
    readonly transaction_reference: string
    /** The payment provider: MTN MoMo, Orange Money, a bank. */
    readonly provider: string
    /** The amount the patient paid. */
    readonly amount: string
    /** The fee the provider kept. */
    readonly fee?: string | null
    /** ISO 4217 currency code; XAF in Cameroon. */
    readonly currency: string
    /** matched: the payment matches an invoice. unmatched: no invoice was found. disputed: payment and invoice differ. */
    readonly status: 'matched' | 'unmatched' | 'disputed'
    /** The paid invoice. */
    readonly invoice_id?: string | null
    /** When the payment was received. */
    readonly paid_at: string
    /** The payment reference in the books of the organisation. */
    readonly external_reference?: string | null
  }[]
  /** True if there are more entries. */
  readonly has_more: boolean
  /** The cursor of the next page. Null on the last page. */
  readonly next_cursor: string | null
}

/** The Health ID. No demographics of a found patient are returned. */
export interface ResolveReply {
  /** The Health ID in canonical form. */
  readonly health_id: string
  /** not_found: the Health ID is not registered, and the request has no demographics to register a new patient. */
  readonly status: 'found' | 'created' | 'not_found'
  /** The id of the Patient. Null if there is none. */
  readonly patient_id: string | null
  readonly matched_by: 'health_id' | 'demographics' | null
  /** The number of registered patients that may be the same person. Each is queued for review. */
  readonly possible_duplicates: number
  /** The country that issued the Health ID, ISO 3166-1. */
  readonly country_code: string
  readonly request_id: string
  /** The current Health ID of a merged patient. */
  readonly current_health_id?: string
}

/** A Health ID, or first_name, last_name and date_of_birth, or both. What you state beside a Health ID must fit its holder. */
export interface ResolveRequest {
  /** A known Health ID, as printed on the card. */
  readonly health_id?: string
  /** Given names. Required without health_id. */
  readonly first_name?: string
  /** Family name. Required without health_id. */
  readonly last_name?: string
  /** Date of birth, YYYY-MM-DD. Required without health_id. */
  readonly date_of_birth?: string
  /** The country that issues a new Health ID, ISO 3166-1 alpha-2. */
  readonly country_code?: string
  /** Administrative sex. */
  readonly sex?: 'male' | 'female' | 'other'
  /** Used for matching. Stored only if a patient is created. */
  readonly phone_number?: string
  /** The reason for the lookup, recorded in the audit trail. */
  readonly purpose?: string
  /** Your record number for the patient. Only your organisation sees it. */
  readonly external_reference?: string
}

export interface RotatedWebhookSubscription {
  /** The id of the subscription. */
  readonly id: string
  /** The URL that receives events by POST: https, and reachable from the internet. */
  readonly callback_url: string
  /** Event types, as listed by GET /api/v1/connect/webhooks/event-types. */
  readonly subscribed_events: readonly string[]
  /** A description for your own use. */
  readonly description: string
  /** failing: the last delivery attempts failed. disabled: no events are sent. */
  readonly status: 'active' | 'failing' | 'disabled'
  /** Why the subscription is disabled. Null if it is not. */
  readonly disabled_reason?: string | null
  /** thin: events carry ids and flags. full: events also carry the FHIR resource; an administrator must permit this. */
  readonly payload_mode: 'thin' | 'full'
  /** When it was created. */
  readonly created_at: string
  /** When the subscription was last changed. */
  readonly updated_at: string
  /** When an event was last delivered. Null if none was. */
  readonly last_delivery_at?: string | null
  /** Failed delivery attempts since the last success. */
  readonly failure_count: number
  /** The signing secret. It appears only once: store it where the receiver can read it. */
  readonly webhook_secret?: string
  /** Until then, events are signed with both secrets. */
  readonly previous_secret_expires_at: string
}

export interface SdkIntrospection {
  readonly active: boolean
  readonly scopes: readonly string[]
  readonly client_id: string
  readonly expires_at: string
}

/** The outcome of each item, in request order. */
export interface StockOutcomes {
  readonly data: readonly {
    /** The value from the request. */
    readonly facility_id: string
    /** The code system of the code. `other` is a local list. */
    readonly code_system: 'ATC' | 'RxNorm' | 'SNOMED' | 'other'
    /** The value from the request. */
    readonly medication_code: string
    /** stale: the stored item has a later updated_at and was kept. */
    readonly status: 'accepted' | 'unchanged' | 'stale'
  }[]
}

/** A page of pharmacy stock. */
export interface StockPage {
  readonly data: readonly {
    /** The pharmacy or facility that holds the stock. */
    readonly facility_id: string
    /** The code of the medicine, for example J01CA04 (amoxicillin). */
    readonly medication_code: string
    /** The code system of the code. `other` is a local list. */
    readonly code_system: 'ATC' | 'RxNorm' | 'SNOMED' | 'other'
    /** The name of the medicine. */
    readonly name: string
    /** The dose form: capsule, syrup, vial. */
    readonly form?: string | null
    /** The strength: 500 mg. */
    readonly strength?: string | null
    /** The quantity on hand, without expired batches. */
    readonly quantity_on_hand: number
    /** The unit of the quantity: capsule, bottle, vial. */
    readonly unit: string
    /** The quantity at which to reorder. */
    readonly reorder_level?: number | null
    /** low: at or below the reorder level. Default: derived from the quantity and the reorder level. */
    readonly stock_status?: 'in_stock' | 'low' | 'out_of_stock' | null
    /** The earliest expiry date of the batches. */
    readonly nearest_expiry?: string | null
    /** The batches, if the facility tracks them. */
    readonly batches?: readonly {
      /** The lot number from the manufacturer. */
      readonly lot_number: string
      /** The last day on which the batch may be used. */
      readonly expiry_date?: string | null
      /** The remaining quantity of the batch, in the unit of the item. */
      readonly quantity: number
    }[] | null
    /** When the stock was last counted or reported. */
    readonly updated_at: string
  }[]
  /** True if there are more entries. */
  readonly has_more: boolean
  /** The cursor of the next page. Null on the last page. */
  readonly next_cursor: string | null
}

/** The stock of one medicine at one facility, or up to 500 of them as items. */
export type StockReport = {
  /** The pharmacy or facility that holds the stock. */
  readonly facility_id: string
  /** The code of the medicine, for example J01CA04 (amoxicillin). */
  readonly medication_code: string
  /** The code system of the code. `other` is a local list. */
  readonly code_system: 'ATC' | 'RxNorm' | 'SNOMED' | 'other'
  /** The name of the medicine. */
  readonly name: string
  /** The dose form: capsule, syrup, vial. */
  readonly form?: string | null
  /** The strength: 500 mg. */
  readonly strength?: string | null
  /** The quantity on hand, without expired batches. */
  readonly quantity_on_hand: number
  /** The unit of the quantity: capsule, bottle, vial. */
  readonly unit: string
  /** The quantity at which to reorder. */
  readonly reorder_level?: number | null
  /** low: at or below the reorder level. Default: derived from the quantity and the reorder level. */
  readonly stock_status?: 'in_stock' | 'low' | 'out_of_stock' | null
  /** The earliest expiry date of the batches. */
  readonly nearest_expiry?: string | null
  /** The batches, if the facility tracks them. */
  readonly batches?: readonly {
    /** The lot number from the manufacturer. */
    readonly lot_number: string
    /** The last day on which the batch may be used. */
    readonly expiry_date?: string | null
    /** The remaining quantity of the batch, in the unit of the item. */
    readonly quantity: number
  }[] | null
  /** When the stock was last counted or reported. */
  readonly updated_at: string
} | {
  /** One item for each medicine. */
  readonly items: readonly {
    /** The pharmacy or facility that holds the stock. */
    readonly facility_id: string
    /** The code of the medicine, for example J01CA04 (amoxicillin). */
    readonly medication_code: string
    /** The code system of the code. `other` is a local list. */
    readonly code_system: 'ATC' | 'RxNorm' | 'SNOMED' | 'other'
    /** The name of the medicine. */
    readonly name: string
    /** The dose form: capsule, syrup, vial. */
    readonly form?: string | null
    /** The strength: 500 mg. */
    readonly strength?: string | null
    /** The quantity on hand, without expired batches. */
    readonly quantity_on_hand: number
    /** The unit of the quantity: capsule, bottle, vial. */
    readonly unit: string
    /** The quantity at which to reorder. */
    readonly reorder_level?: number | null
    /** low: at or below the reorder level. Default: derived from the quantity and the reorder level. */
    readonly stock_status?: 'in_stock' | 'low' | 'out_of_stock' | null
    /** The earliest expiry date of the batches. */
    readonly nearest_expiry?: string | null
    /** The batches, if the facility tracks them. */
    readonly batches?: readonly {
      /** The lot number from the manufacturer. */
      readonly lot_number: string
      /** The last day on which the batch may be used. */
      readonly expiry_date?: string | null
      /** The remaining quantity of the batch, in the unit of the item. */
      readonly quantity: number
    }[] | null
    /** When the stock was last counted or reported. */
    readonly updated_at: string
  }[]
}

/** The status of a Health ID, with enough data to confirm the identity of its holder. */
export interface VerifyReply {
  /** The Health ID, in canonical form if it is well-formed. */
  readonly health_id: string
  /** True if the Health ID is registered and current. */
  readonly valid: boolean
  readonly checksum_valid: boolean
  readonly registered: boolean
  readonly status: 'verified' | 'invalid_checksum' | 'not_registered' | 'merged'
  /** The current Health ID of a merged patient. */
  readonly current_health_id?: string
  readonly patient?: {
    /** Given names. */
    readonly first_name: string | null
    /** The first letter of the family name. */
    readonly last_name_initial: string | null
    readonly birth_year: number | null
    /** Administrative sex: male, female or other. */
    readonly sex: string | null
  }
}

/** A page of delivery attempts. */
export interface WebhookAttempts {
  readonly data: readonly {
    /** The id of the delivery, shared by its attempts. */
    readonly delivery_id: string
    readonly event_id: string
    /** The event type. Null if the event is no longer stored. */
    readonly event_type?: string | null
    readonly attempt: number
    /** failed: a retry follows. exhausted: no retry follows. withheld: nothing was sent because the client may no longer access the data. */
    readonly outcome: 'delivered' | 'failed' | 'exhausted' | 'withheld'
    /** When the attempt began. */
    readonly started_at: string
    readonly duration_ms: number
    /** The HTTP status from the receiver. Null if it did not respond. */
    readonly http_status?: number | null
    /** Why the attempt failed. */
    readonly error?: string | null
    /** The first part of the response body. */
    readonly response_excerpt?: string | null
    /** When the next retry is due. Null if there is none. */
    readonly next_attempt_at?: string | null
  }[]
  /** True if there are more entries. */
  readonly has_more: boolean
  /** The cursor of the next page. Null on the last page. */
  readonly next_cursor: string | null
}

/** The deliveries that were started. */
export interface WebhookDeliveries {
  readonly event_id: string
  readonly deliveries: readonly {
    /** The id of the new delivery. */
    readonly delivery_id: string
    readonly subscription_id: string
    readonly status: 'pending'
  }[]
}

/** All event types. */
export interface WebhookEventTypes {
  readonly data: readonly {
    readonly type: 'patient.created' | 'patient.updated' | 'health_id.created' | 'health_id.verified' | 'consent.requested' | 'consent.granted' | 'consent.denied' | 'consent.revoked' | 'encounter.created' | 'encounter.closed' | 'lab_order.created' | 'lab_result.released' | 'lab_result.amended' | 'prescription.issued' | 'prescription.cancelled' | 'prescription.dispensed' | 'appointment.created' | 'appointment.checked_in' | 'appointment.cancelled' | 'document.issued' | 'document.verified' | 'bridge_agent.sync_failed'
    readonly description: string
    /** The JSON Schema (2020-12) of the event. */
    readonly schema: unknown
    /** An example event. */
    readonly example: unknown
  }[]
}

/** The deliveries that were started. */
export interface WebhookReplay {
  readonly subscription_id: string
  /** How many events are sent again. */
  readonly deliveries_started: number
  /** True if more events may follow. */
  readonly has_more: boolean
  /** The cursor of the next call, with the same body. Null if nothing follows. */
  readonly next_cursor: string | null
}

export interface WebhookReplayRequest {
  /** The start of the time span: of delivery attempts or, for events without one, of the change. */
  readonly from: string
  /** The end of the time span, exclusive. Default: now. */
  readonly to?: string
  /** How the last attempt ended. missed: all that were not delivered. exhausted: all attempts failed. withheld: the client could not access the data. unsent: there was no attempt. delivered: the receiver accepted it. Default: missed. */
  readonly state?: 'missed' | 'exhausted' | 'withheld' | 'unsent' | 'delivered' | 'all'
}

export interface WebhookSecretRotation {
  /** Seconds for which the previous secret remains valid. Default: one day. 0 ends all previous secrets immediately. */
  readonly overlap_seconds?: number
}

export interface WebhookSubscription {
  /** The id of the subscription. */
  readonly id: string
  /** The URL that receives events by POST: https, and reachable from the internet. */
  readonly callback_url: string
  /** Event types, as listed by GET /api/v1/connect/webhooks/event-types. */
  readonly subscribed_events: readonly string[]
  /** A description for your own use. */
  readonly description: string
  /** failing: the last delivery attempts failed. disabled: no events are sent. */
  readonly status: 'active' | 'failing' | 'disabled'
  /** Why the subscription is disabled. Null if it is not. */
  readonly disabled_reason?: string | null
  /** thin: events carry ids and flags. full: events also carry the FHIR resource; an administrator must permit this. */
  readonly payload_mode: 'thin' | 'full'
  /** When it was created. */
  readonly created_at: string
  /** When the subscription was last changed. */
  readonly updated_at: string
  /** When an event was last delivered. Null if none was. */
  readonly last_delivery_at?: string | null
  /** Failed delivery attempts since the last success. */
  readonly failure_count: number
}

export interface WebhookSubscriptionChange {
  /** The URL that receives events by POST: https, and reachable from the internet. */
  readonly callback_url?: string
  /** Event types, as listed by GET /api/v1/connect/webhooks/event-types. */
  readonly subscribed_events?: readonly string[]
  /** A description for your own use. */
  readonly description?: string
  /** disabled: no new events are sent and pending deliveries wait. active: deliveries resume; replay the subscription to receive the events in between. */
  readonly status?: 'active' | 'disabled'
}

export interface WebhookSubscriptionRequest {
  /** The URL that receives events by POST: https, and reachable from the internet. */
  readonly callback_url: string
  /** Event types, as listed by GET /api/v1/connect/webhooks/event-types. */
  readonly subscribed_events: readonly string[]
  /** A description for your own use. */
  readonly description?: string
}

/** A page of subscriptions of the client. */
export interface WebhookSubscriptions {
  readonly data: readonly {
    /** The id of the subscription. */
    readonly id: string
    /** The URL that receives events by POST: https, and reachable from the internet. */
    readonly callback_url: string
    /** Event types, as listed by GET /api/v1/connect/webhooks/event-types. */
    readonly subscribed_events: readonly string[]
    /** A description for your own use. */
    readonly description: string
    /** failing: the last delivery attempts failed. disabled: no events are sent. */
    readonly status: 'active' | 'failing' | 'disabled'
    /** Why the subscription is disabled. Null if it is not. */
    readonly disabled_reason?: string | null
    /** thin: events carry ids and flags. full: events also carry the FHIR resource; an administrator must permit this. */
    readonly payload_mode: 'thin' | 'full'
    /** When it was created. */
    readonly created_at: string
    /** When the subscription was last changed. */
    readonly updated_at: string
    /** When an event was last delivered. Null if none was. */
    readonly last_delivery_at?: string | null
    /** Failed delivery attempts since the last success. */
    readonly failure_count: number
  }[]
  /** True if there are more entries. */
  readonly has_more: boolean
  /** The cursor of the next page. Null on the last page. */
  readonly next_cursor: string | null
}

export interface WebhookTest {
  /** The event type. Default: the first subscribed event type. */
  readonly type?: 'patient.created' | 'patient.updated' | 'health_id.created' | 'health_id.verified' | 'consent.requested' | 'consent.granted' | 'consent.denied' | 'consent.revoked' | 'encounter.created' | 'encounter.closed' | 'lab_order.created' | 'lab_result.released' | 'lab_result.amended' | 'prescription.issued' | 'prescription.cancelled' | 'prescription.dispensed' | 'appointment.created' | 'appointment.checked_in' | 'appointment.cancelled' | 'document.issued' | 'document.verified' | 'bridge_agent.sync_failed'
}

/** An event of a webhook: compare `type` to learn what `data` holds. */
export type WebhookEvent =
  | PatientCreatedEvent
  | PatientUpdatedEvent
  | HealthIdCreatedEvent
  | HealthIdVerifiedEvent
  | ConsentRequestedEvent
  | ConsentGrantedEvent
  | ConsentDeniedEvent
  | ConsentRevokedEvent
  | EncounterCreatedEvent
  | EncounterClosedEvent
  | LabOrderCreatedEvent
  | LabResultReleasedEvent
  | LabResultAmendedEvent
  | PrescriptionIssuedEvent
  | PrescriptionCancelledEvent
  | PrescriptionDispensedEvent
  | AppointmentCreatedEvent
  | AppointmentCheckedInEvent
  | AppointmentCancelledEvent
  | DocumentIssuedEvent
  | DocumentVerifiedEvent
  | BridgeAgentSyncFailedEvent

/** Optional parameters of `records.list`. */
export interface RecordsListParams {
  /** The record type. Default: all. */
  readonly type?: 'diagnoses' | 'prescriptions' | 'lab_results' | 'vitals' | 'all'
  /** Return only records from this date or time on. A record without a clinical date counts as of its issue or, without that, its last change. */
  readonly since?: string
  /** Return only records up to this date or time. */
  readonly until?: string
  /** Entries per page, 1 to 100. Default: 20. */
  readonly limit?: number
  /** The next_cursor of the previous page, unchanged. */
  readonly cursor?: string
}

/** Optional parameters of `webhooks.list`. */
export interface WebhooksListParams {
  /** Entries per page, 1 to 100. Default: 20. */
  readonly limit?: number
  /** The next_cursor of the previous page, unchanged. */
  readonly cursor?: string
}

/** Optional parameters of `webhooks.attempts`. */
export interface WebhooksAttemptsParams {
  readonly eventId?: string
  /** Entries per page, 1 to 100. Default: 20. */
  readonly limit?: number
  /** The next_cursor of the previous page, unchanged. */
  readonly cursor?: string
}

/** Optional parameters of `webhooks.replayMissed`. */
export interface WebhooksReplayMissedParams {
  /** The next_cursor of the previous page, unchanged. */
  readonly cursor?: string
}

/** Optional parameters of `inventory.pharmacyStock`. */
export interface InventoryPharmacyStockParams {
  /** Return only the stock of this facility. */
  readonly facilityId?: string
  /** Return only the medicine with this code. */
  readonly medicationCode?: string
  /** The code system of the code. `other` is a local list. */
  readonly codeSystem?: 'ATC' | 'RxNorm' | 'SNOMED' | 'other'
  /** Return only items with this status today. */
  readonly stockStatus?: 'in_stock' | 'low' | 'out_of_stock'
  /** Return only medicines whose name contains this text. Case and accents are ignored. */
  readonly q?: string
  /** Return only items whose nearest expiry is before this date. */
  readonly expiringBefore?: string
  /** Entries per page, 1 to 100. Default: 20. */
  readonly limit?: number
  /** The next_cursor of the previous page, unchanged. */
  readonly cursor?: string
}

/** Optional parameters of `inventory.bloodBank`. */
export interface InventoryBloodBankParams {
  /** Return only the units of this blood bank. */
  readonly facilityId?: string
  /** ABO and Rh(D) blood group of the unit. */
  readonly bloodGroup?: 'A+' | 'A-' | 'B+' | 'B-' | 'AB+' | 'AB-' | 'O+' | 'O-'
  /** The blood component. */
  readonly component?: 'whole_blood' | 'packed_red_cells' | 'platelets' | 'fresh_frozen_plasma' | 'cryoprecipitate'
  /** Entries per page, 1 to 100. Default: 20. */
  readonly limit?: number
  /** The next_cursor of the previous page, unchanged. */
  readonly cursor?: string
}

/** Optional parameters of `payments.reconciliation`. */
export interface PaymentsReconciliationParams {
  /** ISO 4217 currency code. Default: XAF. */
  readonly currency?: string
  /** Entries per page, 1 to 100. Default: 20. */
  readonly limit?: number
  /** The next_cursor of the previous page, unchanged. */
  readonly cursor?: string
}
