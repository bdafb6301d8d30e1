// A unit of blood in a blood bank, from which inventories by group and component are counted: decisions §3 and §9.

import { Type } from '../lib/schema.ts'
import { code, id, moment, nullable, text } from './fields.ts'

/** Stored as BiologicallyDerivedProduct, coded in ISBT 128. */
export const BloodUnit = Type.Object(
  {
    id: id('The id of the unit.'),
    facility_id: id('The blood bank that holds the unit.'),
    donation_number: text('The ISBT 128 donation identification number on the bag, for example C00262600123400.'),
    product_code: nullable(text('The ISBT 128 product description code, for example E0382.')),
    component: code(
      ['whole_blood', 'packed_red_cells', 'platelets', 'fresh_frozen_plasma', 'cryoprecipitate'],
      'The blood component.',
    ),
    blood_group: code(['A+', 'A-', 'B+', 'B-', 'AB+', 'AB-', 'O+', 'O-'], 'ABO and Rh(D) blood group of the unit.'),
    status: code(
      ['available', 'reserved', 'quarantined', 'issued', 'transfused', 'discarded'],
      'quarantined: awaiting tests. issued: given out for a patient. Expiry is given by expires_at.',
    ),
    volume_ml: nullable(Type.Number({ exclusiveMinimum: 0, description: 'Volume in millilitres.' })),
    collected_at: nullable(moment('When the unit was collected.')),
    expires_at: moment('Until when the unit may be transfused.'),
    updated_at: nullable(moment('When the status last changed.')),
  },
  {
    $id: 'BloodUnit',
    description: 'A unit of blood or of a blood component.',
    additionalProperties: false,
  },
)
