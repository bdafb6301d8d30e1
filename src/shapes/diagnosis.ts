// A diagnosis made at a visit, as the Connect and SDK interfaces give it: interface §2.12.

import { Type } from '../lib/schema.ts'
import { code, id, moment, nullable, text } from './fields.ts'

/** Stored as Condition. */
export const Diagnosis = Type.Object(
  {
    id: id('The id of the record.'),
    patient_id: id('The patient who has, had or was suspected to have the condition.'),
    visit_id: nullable(id('The visit at which the diagnosis was made. Null if no visit is known.')),
    provider_id: nullable(id('The practitioner who made the diagnosis.')),
    display_name: text('The name of the diagnosis, as the clinician wrote or chose it.'),
    code_system: code(['ICD-10', 'SNOMED', 'other'], 'The code system of `code`. `other` is a local list.'),
    code: nullable(text('The code in that code system, for example B50.9 (severe falciparum malaria) in ICD-10.')),
    snomed_code: nullable(text('The SNOMED CT code of the diagnosis, for decision support.')),
    snomed_display: nullable(text('The SNOMED CT display of the diagnosis.')),
    status: code(
      ['active', 'resolved', 'ruled_out'],
      'active: present or recurring. resolved: over. ruled_out: considered and refuted.',
    ),
    is_primary: Type.Boolean({ description: 'True for the main diagnosis of the visit.' }),
    created_at: nullable(moment('When the diagnosis was recorded.')),
  },
  {
    $id: 'Diagnosis',
    description: 'A diagnosis of a patient.',
    additionalProperties: false,
  },
)
