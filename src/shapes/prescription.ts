// A prescription, as record lists and patient summaries give it; stored as MedicationRequest.

import { Type } from 'typebox'
import { code, id, moment, nullable, text } from './fields.ts'

const dosage = {
  dosage_instructions: nullable(text('How to take it, in words, as it stands on the prescription.')),
  dose: nullable(Type.Number({ exclusiveMinimum: 0, description: 'How much is taken each time.' })),
  dose_unit: nullable(text('The unit of the dose: mg, ml, tablet.')),
  times_per_day: nullable(Type.Integer({ minimum: 1, description: 'How often a day it is taken.' })),
  duration_days: nullable(Type.Number({ exclusiveMinimum: 0, description: 'For how many days it is taken.' })),
  as_needed: nullable(Type.Boolean({ description: 'True if it is taken only when needed.' })),
  route: nullable(
    code(
      [
        'oral',
        'sublingual',
        'intravenous',
        'intramuscular',
        'subcutaneous',
        'inhaled',
        'nasal',
        'topical',
        'ophthalmic',
        'otic',
        'rectal',
        'vaginal',
      ],
      'How it enters the body.',
    ),
  ),
}

const supply = {
  quantity: nullable(Type.Number({ exclusiveMinimum: 0, description: 'How much is to be dispensed in all.' })),
  quantity_unit: nullable(text('The unit of that quantity: tablet, bottle, vial.')),
  refills: nullable(Type.Integer({ minimum: 0, description: 'How often it may be dispensed again.' })),
  substitution_allowed: nullable(Type.Boolean({ description: 'Whether the pharmacy may give an equivalent product.' })),
}

/** Stored as MedicationRequest. */
export const Prescription = Type.Object(
  {
    id: id('The prescription itself.'),
    patient_id: id('The patient it is for.'),
    visit_id: nullable(id('The visit at which it was written.')),
    provider_id: nullable(id('The practitioner who prescribed.')),
    medication_name: text(
      'The medicine, with strength and form where known: "Artemether 20 mg / lumefantrine 120 mg".',
    ),
    code_system: nullable(
      code(['ATC', 'RxNorm', 'SNOMED', 'other'], 'Which terminology `medication_code` is from; other: a local list.'),
    ),
    medication_code: nullable(text('The code of the medicine in that terminology, for example P01BF01 in ATC.')),
    ...dosage,
    ...supply,
    status: code(
      ['draft', 'active', 'on_hold', 'completed', 'cancelled', 'stopped', 'entered_in_error', 'unknown'],
      'active: to be taken. stopped: ended before its time. cancelled: withdrawn before it began.',
    ),
    reason: nullable(text('Why it was prescribed.')),
    notes: nullable(text('What else the pharmacy or the patient should know.')),
    prescribed_at: nullable(moment('When it was written.')),
  },
  {
    $id: 'Prescription',
    description: 'A medicine prescribed for a patient.',
    additionalProperties: false,
  },
)
