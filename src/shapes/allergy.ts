// A patient's allergy as the Connect and SDK interfaces give it: interface §2.11.

import { Type } from '../lib/schema.ts'
import { code, id, moment, nullable, text } from './fields.ts'

/** Stored as AllergyIntolerance. */
export const AllergyRecord = Type.Object(
  {
    id: id('The id of the record.'),
    patient_id: id('The patient who has the allergy.'),
    provider_id: nullable(id('The practitioner who recorded the allergy.')),
    substance: text('The substance, as recorded: a medicine, a food, an insect, a material.'),
    severity: code(
      ['mild', 'moderate', 'severe', 'life_threatening'],
      'The severity of reactions. life_threatening: anaphylaxis or similar has happened or is likely.',
    ),
    status: code(
      ['active', 'inactive', 'resolved', 'entered_in_error'],
      'active: a current risk. inactive: no longer a risk. resolved: tested and gone, for example after desensitisation. entered_in_error: never true.',
    ),
    created_at: nullable(moment('When the allergy was recorded.')),
  },
  {
    $id: 'AllergyRecord',
    description: 'An allergy or intolerance of a patient.',
    additionalProperties: false,
  },
)
