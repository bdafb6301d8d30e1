// Who a patient is, as resolve takes it and as search and summary give it: interface §2.2 and §2.15, decisions §2 and §3.

import { Type } from 'typebox'
import { code, day, id, nullable, text } from './fields.ts'

/** Stored as Patient. */
export const Demographics = Type.Object(
  {
    patient_id: nullable(id('The patient in this service.')),
    health_id: nullable(
      Type.String({
        pattern: '^[A-Z]{2}(-[0-9A-HJKMNP-TV-Z]{4}){3}$',
        description: 'The Health ID in its canonical form, for example CM-TQYE-6SRK-YQ6S.',
      }),
    ),
    first_name: nullable(text('Given names, as they are written together: "Marie Claire".')),
    last_name: nullable(text('Family name.')),
    date_of_birth: nullable(day('Day of birth.')),
    sex: nullable(code(['male', 'female', 'other'], 'Administrative sex.')),
    phone_number: nullable(text('Telephone number, best with its country: +237 6 50 00 01 01.')),
    country_code: nullable(
      Type.String({ pattern: '^[A-Z]{2}$', description: 'Country of registration, ISO 3166-1, two letters: CM.' }),
    ),
    external_reference: nullable(text("The patient's number in the calling organisation's own files.")),
    blood_group: nullable(code(['A+', 'A-', 'B+', 'B-', 'AB+', 'AB-', 'O+', 'O-'], 'ABO and Rh(D) blood group.')),
  },
  {
    $id: 'Demographics',
    description: 'Who a patient is.',
    additionalProperties: false,
  },
)
