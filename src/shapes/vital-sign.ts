// A measured vital sign, as record lists give it; stored as Observation. https://hl7.org/fhir/R4/observation-vitalsigns.html

import { Type } from 'typebox'
import { code, id, moment, nullable, text } from './fields.ts'

const value = (description: string) => nullable(Type.Number({ description }))

/** Stored as Observation of the category vital-signs. */
export const VitalSign = Type.Object(
  {
    id: id('The measurement itself.'),
    patient_id: id('The patient who was measured.'),
    visit_id: nullable(id('The visit during which it was measured.')),
    provider_id: nullable(id('The practitioner who measured.')),
    type: code(
      [
        'blood_pressure',
        'heart_rate',
        'respiratory_rate',
        'body_temperature',
        'oxygen_saturation',
        'body_weight',
        'body_height',
        'head_circumference',
        'body_mass_index',
        'other',
      ],
      'What was measured; `name` and `loinc_code` say it for other.',
    ),
    name: nullable(text('What was measured, in words.')),
    loinc_code: nullable(text('What was measured, as a LOINC code.')),
    value: value('The measured number; absent for a blood pressure.'),
    unit: nullable(
      text('The unit in UCUM: Cel, kg, cm, /min, %, kg/m2, mm[Hg]. Left out, it is the usual one of the type.'),
    ),
    systolic: value('Systolic blood pressure in mmHg.'),
    diastolic: value('Diastolic blood pressure in mmHg.'),
    status: code(
      ['preliminary', 'final', 'amended', 'entered_in_error', 'unknown'],
      'final: measured and checked. entered_in_error: not to be used.',
    ),
    measured_at: nullable(moment('When it was measured.')),
    notes: nullable(text('What should be known about the measurement.')),
  },
  {
    $id: 'VitalSign',
    description: 'A vital sign of a patient: one measurement, or a blood pressure with both its numbers.',
    additionalProperties: false,
  },
)
