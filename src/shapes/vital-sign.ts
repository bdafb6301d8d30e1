// A measured vital sign, as record lists give it; stored as Observation. https://hl7.org/fhir/R4/observation-vitalsigns.html

import { Type } from '../lib/schema.ts'
import { code, id, moment, nullable, text } from './fields.ts'

const value = (description: string) => nullable(Type.Number({ description }))

/** Stored as Observation of the category vital-signs. */
export const VitalSign = Type.Object(
  {
    id: id('The id of the measurement.'),
    patient_id: id('The patient who was measured.'),
    visit_id: nullable(id('The visit at which the measurement was taken.')),
    provider_id: nullable(id('The practitioner who took the measurement.')),
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
      'The kind of measurement. For `other`, see `name` and `loinc_code`.',
    ),
    name: nullable(text('The name of the measurement.')),
    loinc_code: nullable(text('The LOINC code of the measurement.')),
    value: value('The measured value. Absent for blood pressure.'),
    unit: nullable(
      text(
        'The UCUM unit of the value, or of both numbers of a blood pressure: Cel, kg, cm, /min, %, kg/m2, mm[Hg], kPa. Default: the usual unit of the type.',
      ),
    ),
    systolic: value('Systolic blood pressure, in `unit`.'),
    diastolic: value('Diastolic blood pressure, in `unit`.'),
    status: code(
      ['preliminary', 'final', 'amended', 'entered_in_error', 'unknown'],
      'final: measured and verified. entered_in_error: must not be used.',
    ),
    measured_at: nullable(moment('When the measurement was taken.')),
    notes: nullable(
      text(
        'Notes on the measurement. They begin with what is no exact number, or no number in `unit`: "Systolic: 120 mmHg".',
      ),
    ),
  },
  {
    $id: 'VitalSign',
    description: 'A vital sign of a patient: one measurement, or a blood pressure with both values.',
    additionalProperties: false,
  },
)
