// A prescription, as record lists and patient summaries give it; stored as MedicationRequest.

import { Type } from '../lib/schema.ts'
import { code, id, moment, nullable, text } from './fields.ts'

const dosage = {
  dosage_instructions: nullable(text('The dosage instruction, as written on the prescription.')),
  dose: nullable(Type.Number({ exclusiveMinimum: 0, description: 'The amount of each dose.' })),
  dose_unit: nullable(text('The unit of the dose: mg, ml, tablet.')),
  times_per_day: nullable(Type.Integer({ minimum: 1, description: 'Doses per day.' })),
  duration_days: nullable(Type.Number({ exclusiveMinimum: 0, description: 'The duration of the treatment in days.' })),
  as_needed: nullable(Type.Boolean({ description: 'True if the medicine is taken only as needed.' })),
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
      'The route of administration.',
    ),
  ),
}

const supply = {
  quantity: nullable(Type.Number({ exclusiveMinimum: 0, description: 'The total quantity to dispense.' })),
  quantity_unit: nullable(text('The unit of the quantity: tablet, bottle, vial.')),
  refills: nullable(Type.Integer({ minimum: 0, description: 'The number of refills allowed.' })),
  substitution_allowed: nullable(
    Type.Boolean({ description: 'True if the pharmacy may substitute an equivalent product.' }),
  ),
}

/** Stored as MedicationRequest. */
export const Prescription = Type.Object(
  {
    id: id('The id of the prescription.'),
    patient_id: id('The patient the medicine is prescribed for.'),
    visit_id: nullable(id('The visit at which the prescription was written.')),
    provider_id: nullable(id('The practitioner who prescribed.')),
    medication_name: text(
      'The name of the medicine, with strength and form if known: "Artemether 20 mg / lumefantrine 120 mg".',
    ),
    code_system: nullable(
      code(['ATC', 'RxNorm', 'SNOMED', 'other'], 'The code system of `medication_code`. `other` is a local list.'),
    ),
    medication_code: nullable(text('The code of the medicine in that code system, for example P01BF01 in ATC.')),
    ...dosage,
    ...supply,
    status: code(
      ['draft', 'active', 'on_hold', 'completed', 'cancelled', 'stopped', 'entered_in_error', 'unknown'],
      'active: to be taken. stopped: ended early. cancelled: withdrawn before it began.',
    ),
    reason: nullable(text('The reason for the prescription.')),
    notes: nullable(text('Notes for the pharmacy or the patient.')),
    prescribed_at: nullable(moment('When the prescription was written.')),
  },
  {
    $id: 'Prescription',
    description: 'A medicine prescribed for a patient.',
    additionalProperties: false,
  },
)
