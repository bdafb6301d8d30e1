// What integrated systems push through the SDK: interface §2.17.

import { Type } from '../lib/schema.ts'
import { nullable, text } from './fields.ts'

const healthId = text("The patient's Health ID.")

/** A visit, or an alert of a decision support system about a patient; becomes Encounter, DetectedIssue and Provenance. */
export const EncounterPush = Type.Object(
  {
    health_id: healthId,
    encounter_type: text(
      'The kind of contact. cdss_alert: a decision support system raised an alert without a patient contact.',
    ),
    clinical_note: nullable(text('What happened or what is advised, as text.')),
    severity: nullable(text('The severity of an alert: low, moderate, high, critical.')),
    alert_type: nullable(text('The kind of alert: drug_interaction, allergy, duplicate_therapy, dosage.')),
    cdss_rule_id: nullable(text('The rule of the decision support system that raised the alert.')),
  },
  {
    $id: 'EncounterPush',
    description: 'A clinical contact, recommendation or alert, pushed by an integrated system.',
    additionalProperties: false,
  },
)

/** A laboratory result; becomes Observation and DiagnosticReport. */
export const LabResultPush = Type.Object(
  {
    health_id: healthId,
    test_name: text('The name of the test, for example "Serum potassium".'),
    result_value: text('The result as the laboratory reported it: 6.8 mmol/L, <0.5, positive.'),
    flagged: nullable(Type.Boolean({ description: 'True if the result needs attention.' })),
    flag_level: nullable(text('The kind of flag: normal, low, high, abnormal, critical, critical_low, critical_high.')),
    interpretation: nullable(text('The interpretation by the laboratory.')),
  },
  {
    $id: 'LabResultPush',
    description: 'A laboratory result, pushed by an integrated system.',
    additionalProperties: false,
  },
)
