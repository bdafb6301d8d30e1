// A laboratory result, as record lists and patient summaries give it; stored as Observation.

import { Type } from 'typebox'
import { code, id, moment, nullable, text } from './fields.ts'

/** Stored as Observation of the category laboratory. */
export const LabResult = Type.Object(
  {
    id: id('The result itself.'),
    patient_id: id('The patient the specimen came from.'),
    visit_id: nullable(id('The visit during which the test was done.')),
    order_id: nullable(id('The order that asked for the test.')),
    provider_id: nullable(id('The practitioner who answers for the result.')),
    facility_id: nullable(id('The laboratory or facility that answers for the result.')),
    test_name: text('The test in words: "Haemoglobin", "Plasmodium falciparum antigen".'),
    loinc_code: nullable(text('What was measured, as a LOINC code, for example 718-7 for haemoglobin in blood.')),
    result_value: nullable(
      text('The result as the laboratory wrote it: 7.4, <0.5, positive. Absent while it is awaited.'),
    ),
    unit: nullable(text('The unit of a number, in UCUM where possible: g/dL, mmol/L, 10*9/L.')),
    reference_low: nullable(Type.Number({ description: 'The lower end of what is normal for this patient.' })),
    reference_high: nullable(Type.Number({ description: 'The upper end of what is normal for this patient.' })),
    reference_range: nullable(text('What is normal, in words, where numbers do not say it.')),
    flagged: Type.Boolean({ description: 'True if the result asks for attention.' }),
    flag_level: nullable(
      code(
        ['normal', 'low', 'high', 'critical_low', 'critical_high', 'critical'],
        'Which kind of attention. The critical levels ask for it at once.',
      ),
    ),
    interpretation: nullable(text('What the result means, in the words of the laboratory.')),
    status: code(
      ['registered', 'preliminary', 'final', 'amended', 'corrected', 'cancelled', 'entered_in_error', 'unknown'],
      'final: released. amended or corrected: changed after release. cancelled: will never come.',
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
