// A laboratory result, as record lists and patient summaries give it; stored as Observation.

import { Type } from '../lib/schema.ts'
import { code, id, moment, nullable, text } from './fields.ts'

/** Stored as Observation of the category laboratory. */
export const LabResult = Type.Object(
  {
    id: id('The id of the result.'),
    patient_id: id('The patient the specimen came from.'),
    visit_id: nullable(id('The visit at which the test was done.')),
    order_id: nullable(id('The order for the test.')),
    provider_id: nullable(id('The practitioner responsible for the result.')),
    facility_id: nullable(id('The laboratory or facility responsible for the result.')),
    test_name: text('The name of the test: "Haemoglobin", "Plasmodium falciparum antigen".'),
    loinc_code: nullable(text('The LOINC code of the test, for example 718-7 for haemoglobin in blood.')),
    result_value: nullable(
      text(
        'The result as the laboratory reported it: 7.4, <0.5, positive. Absent while pending. Several numbers have their units: "7.4 10*9/L; Neutrophils: 62 %".',
      ),
    ),
    unit: nullable(text('The unit of a numeric result, in UCUM if possible: g/dL, mmol/L, 10*9/L.')),
    reference_low: nullable(Type.Number({ description: 'The lower limit of the reference range for this patient.' })),
    reference_high: nullable(Type.Number({ description: 'The upper limit of the reference range for this patient.' })),
    reference_range: nullable(text('The reference range as text, if it is not numeric.')),
    flagged: Type.Boolean({ description: 'True if the result needs attention.' }),
    flag_level: nullable(
      code(
        ['normal', 'low', 'high', 'critical_low', 'critical_high', 'critical'],
        'The kind of flag. The critical levels need immediate attention.',
      ),
    ),
    interpretation: nullable(text('The interpretation by the laboratory.')),
    status: code(
      ['registered', 'preliminary', 'final', 'amended', 'corrected', 'cancelled', 'entered_in_error', 'unknown'],
      'final: released. amended or corrected: changed after release. cancelled: will not be reported.',
    ),
    collected_at: nullable(moment('When the specimen was taken.')),
    released_at: nullable(moment('When the laboratory released the result.')),
  },
  {
    $id: 'LabResult',
    description: 'The result of a laboratory test.',
    additionalProperties: false,
  },
)
