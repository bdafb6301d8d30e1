// Who a patient is, as resolve takes it and as search and summary give it: interface §2.2 and §2.15, decisions §2 and §3.

import { Type } from '../lib/schema.ts'
import { code, day, id, nullable, text } from './fields.ts'

/** Stored as Patient. */
export const Demographics = Type.Object(
  {
    patient_id: nullable(id('The id of the patient.')),
    health_id: nullable(
      Type.String({
        pattern: '^[A-Z]{2}(-[0-9A-HJKMNP-TV-Z]{4}){3}$',
        description: 'The Health ID in its canonical form, for example CM-TQYE-6SRK-YQ6S.',
      }),
    ),
    first_name: nullable(text('Given names, written together: "Marie Claire".')),
    last_name: nullable(text('Family name.')),
    date_of_birth: nullable(day('Date of birth.')),
    sex: nullable(code(['male', 'female', 'other'], 'Administrative sex.')),
    phone_number: nullable(text('Telephone number, preferably with country code: +237 6 50 00 01 01.')),
    country_code: nullable(
      Type.String({ pattern: '^[A-Z]{2}$', description: 'Country of registration, ISO 3166-1 alpha-2: CM.' }),
    ),
    external_reference: nullable(text("The patient's record number at the calling organisation.")),
    blood_group: nullable(code(['A+', 'A-', 'B+', 'B-', 'AB+', 'AB-', 'O+', 'O-'], 'ABO and Rh(D) blood group.')),
  },
  {
    $id: 'Demographics',
    description: 'The demographics of a patient.',
    additionalProperties: false,
  },
)
