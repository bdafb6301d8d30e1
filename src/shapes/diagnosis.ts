// A diagnosis made at a visit, as the Connect and SDK interfaces give it: interface §2.12.

import { Type } from 'typebox'
import { code, id, moment, nullable, text } from './fields.ts'

/** Stored as Condition. */
export const Diagnosis = Type.Object(
  {
    id: id('The record itself.'),
    patient_id: id('The patient who has, had or was suspected to have the condition.'),
    visit_id: nullable(id('The visit at which the diagnosis was made; null for a problem that no visit is known for.')),
    provider_id: nullable(id('The practitioner who made the diagnosis.')),
    display_name: text('The diagnosis in words, as the clinician wrote or chose it.'),
    code_system: code(['ICD-10', 'SNOMED', 'other'], 'Which terminology `code` is from; other: a local list.'),
    code: nullable(text('The code in that terminology, for example B50.9 (severe falciparum malaria) in ICD-10.')),
    snomed_code: nullable(text('The same diagnosis in SNOMED CT, for use in decision support.')),
    snomed_display: nullable(text('What SNOMED CT calls it.')),
    status: code(
      ['active', 'resolved', 'ruled_out'],
      'active: present or recurring. resolved: over. ruled_out: was considered and refuted.',
    ),
    is_primary: Type.Boolean({ description: 'True for the main diagnosis of the visit.' }),
    created_at: nullable(moment('When the diagnosis was recorded.')),
  },
  {
    $id: 'Diagnosis',
    description: 'A diagnosis of a patient, made at a visit.',
    additionalProperties: false,
  },
)
