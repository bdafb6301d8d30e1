<?php

// Array shapes of requests, replies and events. Written by tools/generate.php from docs/openapi.json.

declare(strict_types=1);

namespace HealthInterop;

/**
 * The types that the docblocks of this library import.
 *
 * @phpstan-type CallOptions array{timeout?: int|float, maxRetries?: int, idempotencyKey?: string, requestId?: string, emergencyReason?: string}
 * @phpstan-type Filters array<string, scalar|list<scalar>|null>
 * @phpstan-type Bundle array<string, mixed>
 * @phpstan-type LogRecord array{method: string, path: string, status: int|null, requestId: string|null, attempt: int, durationMs: int, error: string|null}
 * @phpstan-type AppointmentCancelledEvent array{
 *   id: string,
 *   type: 'appointment.cancelled',
 *   version: '1.0',
 *   created_at: string,
 *   data: array{
 *     health_id: string|null,
 *     appointment_id: string,
 *     status: string|null,
 *     facility_id: string|null,
 *     resource?: array<string, mixed>,
 *   },
 *   meta: array{
 *     organization_id: string,
 *     facility_id: string,
 *     environment: string,
 *     request_id: string,
 *   },
 * }
 * @phpstan-type AppointmentCheckedInEvent array{
 *   id: string,
 *   type: 'appointment.checked_in',
 *   version: '1.0',
 *   created_at: string,
 *   data: array{
 *     health_id: string|null,
 *     appointment_id: string,
 *     status: string|null,
 *     facility_id: string|null,
 *     resource?: array<string, mixed>,
 *   },
 *   meta: array{
 *     organization_id: string,
 *     facility_id: string,
 *     environment: string,
 *     request_id: string,
 *   },
 * }
 * @phpstan-type AppointmentCreatedEvent array{
 *   id: string,
 *   type: 'appointment.created',
 *   version: '1.0',
 *   created_at: string,
 *   data: array{
 *     health_id: string|null,
 *     appointment_id: string,
 *     status: string|null,
 *     facility_id: string|null,
 *     resource?: array<string, mixed>,
 *   },
 *   meta: array{
 *     organization_id: string,
 *     facility_id: string,
 *     environment: string,
 *     request_id: string,
 *   },
 * }
 * @phpstan-type BloodInventory array{
 *   totals: array{
 *     units_available: int,
 *     units_reserved: int,
 *     by_group_and_component: list<array{
 *       blood_group: 'A+'|'A-'|'B+'|'B-'|'AB+'|'AB-'|'O+'|'O-',
 *       component: 'whole_blood'|'packed_red_cells'|'platelets'|'fresh_frozen_plasma'|'cryoprecipitate',
 *       units_available: int,
 *       units_reserved: int,
 *     }>,
 *   },
 *   data: list<array{
 *     facility_id: string,
 *     blood_group: 'A+'|'A-'|'B+'|'B-'|'AB+'|'AB-'|'O+'|'O-',
 *     component: 'whole_blood'|'packed_red_cells'|'platelets'|'fresh_frozen_plasma'|'cryoprecipitate',
 *     units_available: int,
 *     units_reserved: int,
 *     nearest_expiry?: string|null,
 *     updated_at: string,
 *   }>,
 *   has_more: bool,
 *   next_cursor: string|null,
 * }
 * @phpstan-type BridgeAgentSyncFailedEvent array{
 *   id: string,
 *   type: 'bridge_agent.sync_failed',
 *   version: '1.0',
 *   created_at: string,
 *   data: array{
 *     health_id: string|null,
 *     agent_id: string|null,
 *     task_id: string,
 *     reason_code: string|null,
 *     facility_id: string|null,
 *     resource?: array<string, mixed>,
 *   },
 *   meta: array{
 *     organization_id: string,
 *     facility_id: string,
 *     environment: string,
 *     request_id: string,
 *   },
 * }
 * @phpstan-type ConsentDeniedEvent array{
 *   id: string,
 *   type: 'consent.denied',
 *   version: '1.0',
 *   created_at: string,
 *   data: array{
 *     health_id: string|null,
 *     consent_id: string,
 *     consent_type: string|null,
 *     organization_id: string|null,
 *     status: 'pending'|'active'|'denied'|'revoked'|'expired',
 *     expires_at: string|null,
 *     resource?: array<string, mixed>,
 *   },
 *   meta: array{
 *     organization_id: string,
 *     facility_id: string,
 *     environment: string,
 *     request_id: string,
 *   },
 * }
 * @phpstan-type ConsentGrant array{
 *   consent_type: string,
 *   expires_at?: string,
 *   purpose?: string,
 *   scopes?: list<string>,
 *   verification_method?: 'in_person'|'otp'|'signature',
 * }
 * @phpstan-type ConsentGrantedEvent array{
 *   id: string,
 *   type: 'consent.granted',
 *   version: '1.0',
 *   created_at: string,
 *   data: array{
 *     health_id: string|null,
 *     consent_id: string,
 *     consent_type: string|null,
 *     organization_id: string|null,
 *     status: 'pending'|'active'|'denied'|'revoked'|'expired',
 *     expires_at: string|null,
 *     resource?: array<string, mixed>,
 *   },
 *   meta: array{
 *     organization_id: string,
 *     facility_id: string,
 *     environment: string,
 *     request_id: string,
 *   },
 * }
 * @phpstan-type ConsentRecord array{
 *   health_id: string,
 *   status: 'none'|'pending'|'active'|'denied'|'revoked'|'expired',
 *   consent_id?: string|null,
 *   consent_type?: string|null,
 *   purpose?: string|null,
 *   scopes?: list<string>|null,
 *   granted_at?: string|null,
 *   expires_at?: string|null,
 *   request_expires_at?: string|null,
 *   revoked_at?: string|null,
 *   organization_id?: string|null,
 * }
 * @phpstan-type ConsentRequested array{
 *   consent_id: string,
 *   health_id: string,
 *   status: 'pending',
 *   requested_scopes: list<string>,
 *   purpose: string,
 *   expires_at: string|null,
 * }
 * @phpstan-type ConsentRequestedEvent array{
 *   id: string,
 *   type: 'consent.requested',
 *   version: '1.0',
 *   created_at: string,
 *   data: array{
 *     health_id: string|null,
 *     consent_id: string,
 *     consent_type: string|null,
 *     organization_id: string|null,
 *     status: 'pending'|'active'|'denied'|'revoked'|'expired',
 *     expires_at: string|null,
 *     resource?: array<string, mixed>,
 *   },
 *   meta: array{
 *     organization_id: string,
 *     facility_id: string,
 *     environment: string,
 *     request_id: string,
 *   },
 * }
 * @phpstan-type ConsentRevokedEvent array{
 *   id: string,
 *   type: 'consent.revoked',
 *   version: '1.0',
 *   created_at: string,
 *   data: array{
 *     health_id: string|null,
 *     consent_id: string,
 *     consent_type: string|null,
 *     organization_id: string|null,
 *     status: 'pending'|'active'|'denied'|'revoked'|'expired',
 *     expires_at: string|null,
 *     reason: 'revoked'|'expired'|'denied'|'narrowed'|'entered_in_error'|'deleted',
 *     resource?: array<string, mixed>,
 *   },
 *   meta: array{
 *     organization_id: string,
 *     facility_id: string,
 *     environment: string,
 *     request_id: string,
 *   },
 * }
 * @phpstan-type ConsentTypeList array{
 *   data: list<array{
 *     consent_type: string,
 *     title: string,
 *     meaning: string,
 *     resource_types: list<string>|null,
 *     categories: list<string>,
 *   }>,
 *   purposes: list<string>,
 *   has_more: bool,
 * }
 * @phpstan-type CreatedWebhookSubscription array{
 *   id: string,
 *   callback_url: string,
 *   subscribed_events: list<string>,
 *   description: string,
 *   status: 'active'|'failing'|'disabled',
 *   disabled_reason?: string|null,
 *   payload_mode: 'thin'|'full',
 *   created_at: string,
 *   updated_at: string,
 *   last_delivery_at?: string|null,
 *   failure_count: int,
 *   webhook_secret?: string,
 * }
 * @phpstan-type DocumentIssuedEvent array{
 *   id: string,
 *   type: 'document.issued',
 *   version: '1.0',
 *   created_at: string,
 *   data: array{
 *     health_id: string|null,
 *     document_id: string,
 *     document_type: 'DocumentReference'|'Composition',
 *     status: 'final'|'amended',
 *     encounter_id: string|null,
 *     facility_id: string|null,
 *     resource?: array<string, mixed>,
 *   },
 *   meta: array{
 *     organization_id: string,
 *     facility_id: string,
 *     environment: string,
 *     request_id: string,
 *   },
 * }
 * @phpstan-type DocumentVerifiedEvent array{
 *   id: string,
 *   type: 'document.verified',
 *   version: '1.0',
 *   created_at: string,
 *   data: array{
 *     health_id: string|null,
 *     document_id: string,
 *     document_type: 'DocumentReference'|'Composition',
 *     verification_id: string,
 *     facility_id: string|null,
 *     resource?: array<string, mixed>,
 *   },
 *   meta: array{
 *     organization_id: string,
 *     facility_id: string,
 *     environment: string,
 *     request_id: string,
 *   },
 * }
 * @phpstan-type EncounterClosedEvent array{
 *   id: string,
 *   type: 'encounter.closed',
 *   version: '1.0',
 *   created_at: string,
 *   data: array{
 *     health_id: string|null,
 *     encounter_id: string,
 *     status: string|null,
 *     class: string|null,
 *     facility_id: string|null,
 *     resource?: array<string, mixed>,
 *   },
 *   meta: array{
 *     organization_id: string,
 *     facility_id: string,
 *     environment: string,
 *     request_id: string,
 *   },
 * }
 * @phpstan-type EncounterCreatedEvent array{
 *   id: string,
 *   type: 'encounter.created',
 *   version: '1.0',
 *   created_at: string,
 *   data: array{
 *     health_id: string|null,
 *     encounter_id: string,
 *     status: string|null,
 *     class: string|null,
 *     facility_id: string|null,
 *     resource?: array<string, mixed>,
 *   },
 *   meta: array{
 *     organization_id: string,
 *     facility_id: string,
 *     environment: string,
 *     request_id: string,
 *   },
 * }
 * @phpstan-type EncounterPush array{
 *   health_id: string,
 *   encounter_type: string,
 *   clinical_note?: string|null,
 *   severity?: string|null,
 *   alert_type?: string|null,
 *   cdss_rule_id?: string|null,
 * }
 * @phpstan-type HealthIdCreatedEvent array{
 *   id: string,
 *   type: 'health_id.created',
 *   version: '1.0',
 *   created_at: string,
 *   data: array{
 *     health_id: string,
 *     patient_id: string,
 *     country_code: string,
 *     resource?: array<string, mixed>,
 *   },
 *   meta: array{
 *     organization_id: string,
 *     facility_id: string,
 *     environment: string,
 *     request_id: string,
 *   },
 * }
 * @phpstan-type HealthIdVerifiedEvent array{
 *   id: string,
 *   type: 'health_id.verified',
 *   version: '1.0',
 *   created_at: string,
 *   data: array{
 *     health_id: string,
 *     patient_id: string,
 *     organization_id: string|null,
 *     resource?: array<string, mixed>,
 *   },
 *   meta: array{
 *     organization_id: string,
 *     facility_id: string,
 *     environment: string,
 *     request_id: string,
 *   },
 * }
 * @phpstan-type LabOrderCreatedEvent array{
 *   id: string,
 *   type: 'lab_order.created',
 *   version: '1.0',
 *   created_at: string,
 *   data: array{
 *     health_id: string|null,
 *     lab_order_id: string,
 *     test_name: string|null,
 *     status: string|null,
 *     priority: string|null,
 *     facility_id: string|null,
 *     resource?: array<string, mixed>,
 *   },
 *   meta: array{
 *     organization_id: string,
 *     facility_id: string,
 *     environment: string,
 *     request_id: string,
 *   },
 * }
 * @phpstan-type LabResultAmendedEvent array{
 *   id: string,
 *   type: 'lab_result.amended',
 *   version: '1.0',
 *   created_at: string,
 *   data: array{
 *     health_id: string|null,
 *     lab_result_id: string,
 *     test_name: string|null,
 *     flagged: bool,
 *     status: string|null,
 *     facility_id: string|null,
 *     resource?: array<string, mixed>,
 *   },
 *   meta: array{
 *     organization_id: string,
 *     facility_id: string,
 *     environment: string,
 *     request_id: string,
 *   },
 * }
 * @phpstan-type LabResultPush array{
 *   health_id: string,
 *   test_name: string,
 *   result_value: string,
 *   flagged?: bool|null,
 *   flag_level?: string|null,
 *   interpretation?: string|null,
 * }
 * @phpstan-type LabResultReleasedEvent array{
 *   id: string,
 *   type: 'lab_result.released',
 *   version: '1.0',
 *   created_at: string,
 *   data: array{
 *     health_id: string|null,
 *     lab_result_id: string,
 *     test_name: string|null,
 *     flagged: bool,
 *     facility_id: string|null,
 *     resource?: array<string, mixed>,
 *   },
 *   meta: array{
 *     organization_id: string,
 *     facility_id: string,
 *     environment: string,
 *     request_id: string,
 *   },
 * }
 * @phpstan-type PatientCreatedEvent array{
 *   id: string,
 *   type: 'patient.created',
 *   version: '1.0',
 *   created_at: string,
 *   data: array{
 *     health_id: string|null,
 *     patient_id: string,
 *     resource?: array<string, mixed>,
 *   },
 *   meta: array{
 *     organization_id: string,
 *     facility_id: string,
 *     environment: string,
 *     request_id: string,
 *   },
 * }
 * @phpstan-type PatientRecords array{
 *   health_id: string,
 *   type: 'diagnoses'|'prescriptions'|'lab_results'|'vitals'|'all',
 *   data: array{
 *     diagnoses?: list<array{
 *       id: string,
 *       patient_id: string,
 *       visit_id?: string|null,
 *       provider_id?: string|null,
 *       display_name: string,
 *       code_system: 'ICD-10'|'SNOMED'|'other',
 *       code?: string|null,
 *       snomed_code?: string|null,
 *       snomed_display?: string|null,
 *       status: 'active'|'resolved'|'ruled_out',
 *       is_primary: bool,
 *       created_at?: string|null,
 *     }>,
 *     prescriptions?: list<array{
 *       id: string,
 *       patient_id: string,
 *       visit_id?: string|null,
 *       provider_id?: string|null,
 *       medication_name: string,
 *       code_system?: 'ATC'|'RxNorm'|'SNOMED'|'other'|null,
 *       medication_code?: string|null,
 *       dosage_instructions?: string|null,
 *       dose?: int|float|null,
 *       dose_unit?: string|null,
 *       times_per_day?: int|null,
 *       duration_days?: int|float|null,
 *       as_needed?: bool|null,
 *       route?: 'oral'|'sublingual'|'intravenous'|'intramuscular'|'subcutaneous'|'inhaled'|'nasal'|'topical'|'ophthalmic'|'otic'|'rectal'|'vaginal'|null,
 *       quantity?: int|float|null,
 *       quantity_unit?: string|null,
 *       refills?: int|null,
 *       substitution_allowed?: bool|null,
 *       status: 'draft'|'active'|'on_hold'|'completed'|'cancelled'|'stopped'|'entered_in_error'|'unknown',
 *       reason?: string|null,
 *       notes?: string|null,
 *       prescribed_at?: string|null,
 *     }>,
 *     lab_results?: list<array{
 *       id: string,
 *       patient_id: string,
 *       visit_id?: string|null,
 *       order_id?: string|null,
 *       provider_id?: string|null,
 *       facility_id?: string|null,
 *       test_name: string,
 *       loinc_code?: string|null,
 *       result_value?: string|null,
 *       unit?: string|null,
 *       reference_low?: int|float|null,
 *       reference_high?: int|float|null,
 *       reference_range?: string|null,
 *       flagged: bool,
 *       flag_level?: 'normal'|'low'|'high'|'critical_low'|'critical_high'|'critical'|null,
 *       interpretation?: string|null,
 *       status: 'registered'|'preliminary'|'final'|'amended'|'corrected'|'cancelled'|'entered_in_error'|'unknown',
 *       collected_at?: string|null,
 *       released_at?: string|null,
 *     }>,
 *     vitals?: list<array{
 *       id: string,
 *       patient_id: string,
 *       visit_id?: string|null,
 *       provider_id?: string|null,
 *       type: 'blood_pressure'|'heart_rate'|'respiratory_rate'|'body_temperature'|'oxygen_saturation'|'body_weight'|'body_height'|'head_circumference'|'body_mass_index'|'other',
 *       name?: string|null,
 *       loinc_code?: string|null,
 *       value?: int|float|null,
 *       unit?: string|null,
 *       systolic?: int|float|null,
 *       diastolic?: int|float|null,
 *       status: 'preliminary'|'final'|'amended'|'entered_in_error'|'unknown',
 *       measured_at?: string|null,
 *       notes?: string|null,
 *     }>,
 *   },
 *   withheld: list<'diagnoses'|'prescriptions'|'lab_results'|'vitals'>,
 *   unreadable: int,
 *   generated_at: string,
 *   consent_id: string|null,
 *   has_more: bool,
 *   next_cursor: string|null,
 * }
 * @phpstan-type PatientSearchReply array{
 *   data: list<array{
 *     health_id: string,
 *     first_name: string|null,
 *     last_name: string|null,
 *     date_of_birth: string|null,
 *     sex: string|null,
 *     phone_masked: string|null,
 *     redacted: bool,
 *   }>,
 *   has_more: bool,
 * }
 * @phpstan-type PatientSummary array{
 *   health_id: string,
 *   patient: array{
 *     health_id: string,
 *     first_name?: string|null,
 *     last_name?: string|null,
 *     date_of_birth?: string|null,
 *     sex?: 'male'|'female'|'other'|null,
 *     blood_group?: 'A+'|'A-'|'B+'|'B-'|'AB+'|'AB-'|'O+'|'O-'|null,
 *   },
 *   active_medications: list<array{
 *     id: string,
 *     patient_id: string,
 *     visit_id?: string|null,
 *     provider_id?: string|null,
 *     medication_name: string,
 *     code_system?: 'ATC'|'RxNorm'|'SNOMED'|'other'|null,
 *     medication_code?: string|null,
 *     dosage_instructions?: string|null,
 *     dose?: int|float|null,
 *     dose_unit?: string|null,
 *     times_per_day?: int|null,
 *     duration_days?: int|float|null,
 *     as_needed?: bool|null,
 *     route?: 'oral'|'sublingual'|'intravenous'|'intramuscular'|'subcutaneous'|'inhaled'|'nasal'|'topical'|'ophthalmic'|'otic'|'rectal'|'vaginal'|null,
 *     quantity?: int|float|null,
 *     quantity_unit?: string|null,
 *     refills?: int|null,
 *     substitution_allowed?: bool|null,
 *     status: 'draft'|'active'|'on_hold'|'completed'|'cancelled'|'stopped'|'entered_in_error'|'unknown',
 *     reason?: string|null,
 *     notes?: string|null,
 *     prescribed_at?: string|null,
 *   }>,
 *   active_allergies: list<array{
 *     id: string,
 *     patient_id: string,
 *     provider_id?: string|null,
 *     substance: string,
 *     severity: 'mild'|'moderate'|'severe'|'life_threatening',
 *     status: 'active'|'inactive'|'resolved'|'entered_in_error',
 *     created_at?: string|null,
 *   }>,
 *   recent_labs: list<array{
 *     id: string,
 *     patient_id: string,
 *     visit_id?: string|null,
 *     order_id?: string|null,
 *     provider_id?: string|null,
 *     facility_id?: string|null,
 *     test_name: string,
 *     loinc_code?: string|null,
 *     result_value?: string|null,
 *     unit?: string|null,
 *     reference_low?: int|float|null,
 *     reference_high?: int|float|null,
 *     reference_range?: string|null,
 *     flagged: bool,
 *     flag_level?: 'normal'|'low'|'high'|'critical_low'|'critical_high'|'critical'|null,
 *     interpretation?: string|null,
 *     status: 'registered'|'preliminary'|'final'|'amended'|'corrected'|'cancelled'|'entered_in_error'|'unknown',
 *     collected_at?: string|null,
 *     released_at?: string|null,
 *   }>,
 *   recent_visits: list<array{
 *     id: string,
 *     patient_id: string,
 *     provider_id?: string|null,
 *     facility_id?: string|null,
 *     appointment_id?: string|null,
 *     visit_type: 'outpatient'|'inpatient'|'emergency'|'home'|'field'|'virtual'|'day_case'|'observation'|'pre_admission',
 *     department?: string|null,
 *     reason?: string|null,
 *     status: 'planned'|'arrived'|'triaged'|'in_progress'|'on_leave'|'finished'|'cancelled'|'entered_in_error'|'unknown',
 *     started_at?: string|null,
 *     ended_at?: string|null,
 *   }>,
 *   withheld: list<'patient'|'active_medications'|'active_allergies'|'recent_labs'|'recent_visits'>,
 *   truncated: list<'active_medications'|'active_allergies'|'recent_labs'|'recent_visits'>,
 *   unreadable: int,
 *   generated_at: string,
 *   consent_id: string|null,
 * }
 * @phpstan-type PatientUpdatedEvent array{
 *   id: string,
 *   type: 'patient.updated',
 *   version: '1.0',
 *   created_at: string,
 *   data: array{
 *     health_id: string|null,
 *     patient_id: string,
 *     changed: list<string>,
 *     resource?: array<string, mixed>,
 *   },
 *   meta: array{
 *     organization_id: string,
 *     facility_id: string,
 *     environment: string,
 *     request_id: string,
 *   },
 * }
 * @phpstan-type PrescriptionCancelledEvent array{
 *   id: string,
 *   type: 'prescription.cancelled',
 *   version: '1.0',
 *   created_at: string,
 *   data: array{
 *     health_id: string|null,
 *     prescription_id: string,
 *     encounter_id: string|null,
 *     status: string|null,
 *     facility_id: string|null,
 *     resource?: array<string, mixed>,
 *   },
 *   meta: array{
 *     organization_id: string,
 *     facility_id: string,
 *     environment: string,
 *     request_id: string,
 *   },
 * }
 * @phpstan-type PrescriptionDispensedEvent array{
 *   id: string,
 *   type: 'prescription.dispensed',
 *   version: '1.0',
 *   created_at: string,
 *   data: array{
 *     health_id: string|null,
 *     dispense_id: string,
 *     prescription_id: string|null,
 *     facility_id: string|null,
 *     resource?: array<string, mixed>,
 *   },
 *   meta: array{
 *     organization_id: string,
 *     facility_id: string,
 *     environment: string,
 *     request_id: string,
 *   },
 * }
 * @phpstan-type PrescriptionIssuedEvent array{
 *   id: string,
 *   type: 'prescription.issued',
 *   version: '1.0',
 *   created_at: string,
 *   data: array{
 *     health_id: string|null,
 *     prescription_id: string,
 *     encounter_id: string|null,
 *     status: string|null,
 *     facility_id: string|null,
 *     resource?: array<string, mixed>,
 *   },
 *   meta: array{
 *     organization_id: string,
 *     facility_id: string,
 *     environment: string,
 *     request_id: string,
 *   },
 * }
 * @phpstan-type PushReply array{
 *   id: string,
 *   resource: string,
 *   resources: list<string>,
 *   status: 'accepted',
 *   events: list<string>,
 * }
 * @phpstan-type Reconciliation array{
 *   date: string,
 *   currency: string,
 *   totals: array{
 *     count: int,
 *     gross: string,
 *     fees: string,
 *     net: string,
 *     matched: int,
 *     unmatched: int,
 *     disputed: int,
 *   },
 *   other_currencies: list<string>,
 *   data: list<array{
 *     reconciliation_id: string,
 *     transaction_reference: string,
 *     provider: string,
 *     amount: string,
 *     fee?: string|null,
 *     currency: string,
 *     status: 'matched'|'unmatched'|'disputed',
 *     invoice_id?: string|null,
 *     paid_at: string,
 *     external_reference?: string|null,
 *   }>,
 *   has_more: bool,
 *   next_cursor: string|null,
 * }
 * @phpstan-type ResolveReply array{
 *   health_id: string,
 *   status: 'found'|'created'|'not_found',
 *   patient_id: string|null,
 *   matched_by: 'health_id'|'demographics'|null,
 *   possible_duplicates: int,
 *   country_code: string,
 *   request_id: string,
 *   current_health_id?: string,
 * }
 * @phpstan-type ResolveRequest array{
 *   health_id?: string,
 *   first_name?: string,
 *   last_name?: string,
 *   date_of_birth?: string,
 *   country_code?: string,
 *   sex?: 'male'|'female'|'other',
 *   phone_number?: string,
 *   purpose?: string,
 *   external_reference?: string,
 * }
 * @phpstan-type RotatedWebhookSubscription array{
 *   id: string,
 *   callback_url: string,
 *   subscribed_events: list<string>,
 *   description: string,
 *   status: 'active'|'failing'|'disabled',
 *   disabled_reason?: string|null,
 *   payload_mode: 'thin'|'full',
 *   created_at: string,
 *   updated_at: string,
 *   last_delivery_at?: string|null,
 *   failure_count: int,
 *   webhook_secret?: string,
 *   previous_secret_expires_at: string,
 * }
 * @phpstan-type SdkIntrospection array{
 *   active: bool,
 *   scopes: list<string>,
 *   client_id: string,
 *   expires_at: string,
 * }
 * @phpstan-type StockOutcomes array{
 *   data: list<array{
 *     facility_id: string,
 *     code_system: 'ATC'|'RxNorm'|'SNOMED'|'other',
 *     medication_code: string,
 *     status: 'accepted'|'unchanged'|'stale',
 *   }>,
 * }
 * @phpstan-type StockPage array{
 *   data: list<array{
 *     facility_id: string,
 *     medication_code: string,
 *     code_system: 'ATC'|'RxNorm'|'SNOMED'|'other',
 *     name: string,
 *     form?: string|null,
 *     strength?: string|null,
 *     quantity_on_hand: int|float,
 *     unit: string,
 *     reorder_level?: int|float|null,
 *     stock_status?: 'in_stock'|'low'|'out_of_stock'|null,
 *     nearest_expiry?: string|null,
 *     batches?: list<array{
 *       lot_number: string,
 *       expiry_date?: string|null,
 *       quantity: int|float,
 *     }>|null,
 *     updated_at: string,
 *   }>,
 *   has_more: bool,
 *   next_cursor: string|null,
 * }
 * @phpstan-type StockReport array{
 *   facility_id: string,
 *   medication_code: string,
 *   code_system: 'ATC'|'RxNorm'|'SNOMED'|'other',
 *   name: string,
 *   form?: string|null,
 *   strength?: string|null,
 *   quantity_on_hand: int|float,
 *   unit: string,
 *   reorder_level?: int|float|null,
 *   stock_status?: 'in_stock'|'low'|'out_of_stock'|null,
 *   nearest_expiry?: string|null,
 *   batches?: list<array{
 *     lot_number: string,
 *     expiry_date?: string|null,
 *     quantity: int|float,
 *   }>|null,
 *   updated_at: string,
 * }|array{
 *   items: list<array{
 *     facility_id: string,
 *     medication_code: string,
 *     code_system: 'ATC'|'RxNorm'|'SNOMED'|'other',
 *     name: string,
 *     form?: string|null,
 *     strength?: string|null,
 *     quantity_on_hand: int|float,
 *     unit: string,
 *     reorder_level?: int|float|null,
 *     stock_status?: 'in_stock'|'low'|'out_of_stock'|null,
 *     nearest_expiry?: string|null,
 *     batches?: list<array{
 *       lot_number: string,
 *       expiry_date?: string|null,
 *       quantity: int|float,
 *     }>|null,
 *     updated_at: string,
 *   }>,
 * }
 * @phpstan-type VerifyReply array{
 *   health_id: string,
 *   valid: bool,
 *   checksum_valid: bool,
 *   registered: bool,
 *   status: 'verified'|'invalid_checksum'|'not_registered'|'merged',
 *   current_health_id?: string,
 *   patient?: array{
 *     first_name: string|null,
 *     last_name_initial: string|null,
 *     birth_year: int|null,
 *     sex: string|null,
 *   },
 * }
 * @phpstan-type WebhookAttempts array{
 *   data: list<array{
 *     delivery_id: string,
 *     event_id: string,
 *     event_type?: string|null,
 *     attempt: int,
 *     outcome: 'delivered'|'failed'|'exhausted'|'withheld',
 *     started_at: string,
 *     duration_ms: int,
 *     http_status?: int|null,
 *     error?: string|null,
 *     response_excerpt?: string|null,
 *     next_attempt_at?: string|null,
 *   }>,
 *   has_more: bool,
 *   next_cursor: string|null,
 * }
 * @phpstan-type WebhookDeliveries array{
 *   event_id: string,
 *   deliveries: list<array{
 *     delivery_id: string,
 *     subscription_id: string,
 *     status: 'pending',
 *   }>,
 * }
 * @phpstan-type WebhookEventTypes array{
 *   data: list<array{
 *     type: 'patient.created'|'patient.updated'|'health_id.created'|'health_id.verified'|'consent.requested'|'consent.granted'|'consent.denied'|'consent.revoked'|'encounter.created'|'encounter.closed'|'lab_order.created'|'lab_result.released'|'lab_result.amended'|'prescription.issued'|'prescription.cancelled'|'prescription.dispensed'|'appointment.created'|'appointment.checked_in'|'appointment.cancelled'|'document.issued'|'document.verified'|'bridge_agent.sync_failed',
 *     description: string,
 *     schema: mixed,
 *     example: mixed,
 *   }>,
 * }
 * @phpstan-type WebhookReplay array{
 *   subscription_id: string,
 *   deliveries_started: int,
 *   has_more: bool,
 *   next_cursor: string|null,
 * }
 * @phpstan-type WebhookReplayRequest array{
 *   from: string,
 *   to?: string,
 *   state?: 'missed'|'exhausted'|'withheld'|'unsent'|'delivered'|'all',
 * }
 * @phpstan-type WebhookSecretRotation array{
 *   overlap_seconds?: int,
 * }
 * @phpstan-type WebhookSubscription array{
 *   id: string,
 *   callback_url: string,
 *   subscribed_events: list<string>,
 *   description: string,
 *   status: 'active'|'failing'|'disabled',
 *   disabled_reason?: string|null,
 *   payload_mode: 'thin'|'full',
 *   created_at: string,
 *   updated_at: string,
 *   last_delivery_at?: string|null,
 *   failure_count: int,
 * }
 * @phpstan-type WebhookSubscriptionChange array{
 *   callback_url?: string,
 *   subscribed_events?: list<string>,
 *   description?: string,
 *   status?: 'active'|'disabled',
 * }
 * @phpstan-type WebhookSubscriptions array{
 *   data: list<array{
 *     id: string,
 *     callback_url: string,
 *     subscribed_events: list<string>,
 *     description: string,
 *     status: 'active'|'failing'|'disabled',
 *     disabled_reason?: string|null,
 *     payload_mode: 'thin'|'full',
 *     created_at: string,
 *     updated_at: string,
 *     last_delivery_at?: string|null,
 *     failure_count: int,
 *   }>,
 *   has_more: bool,
 *   next_cursor: string|null,
 * }
 * @phpstan-type WebhookTest array{
 *   type?: 'patient.created'|'patient.updated'|'health_id.created'|'health_id.verified'|'consent.requested'|'consent.granted'|'consent.denied'|'consent.revoked'|'encounter.created'|'encounter.closed'|'lab_order.created'|'lab_result.released'|'lab_result.amended'|'prescription.issued'|'prescription.cancelled'|'prescription.dispensed'|'appointment.created'|'appointment.checked_in'|'appointment.cancelled'|'document.issued'|'document.verified'|'bridge_agent.sync_failed',
 * }
 */
final class Shapes
{
    private function __construct()
    {
    }
}
