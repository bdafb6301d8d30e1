// The stock of one medicine at one facility, as the pharmacy stock operations give it: decisions §3.

import { Type } from '../lib/schema.ts'
import { code, day, id, moment, nullable, text } from './fields.ts'

const Batch = Type.Object(
  {
    lot_number: text('The lot number from the manufacturer.'),
    expiry_date: nullable(day('The last day on which the batch may be used.')),
    quantity: Type.Number({ minimum: 0, description: 'The remaining quantity of the batch, in the unit of the item.' }),
  },
  { description: 'A batch of the medicine.', additionalProperties: false },
)

/** Stored as Basic, since R4 has no resource for stock. */
export const StockItem = Type.Object(
  {
    facility_id: id('The pharmacy or facility that holds the stock.'),
    medication_code: text('The code of the medicine, for example J01CA04 (amoxicillin).'),
    code_system: code(['ATC', 'RxNorm', 'SNOMED', 'other'], 'The code system of the code. `other` is a local list.'),
    name: text('The name of the medicine.'),
    form: nullable(text('The dose form: capsule, syrup, vial.')),
    strength: nullable(text('The strength: 500 mg.')),
    quantity_on_hand: Type.Number({ minimum: 0, description: 'The quantity on hand, without expired batches.' }),
    unit: text('The unit of the quantity: capsule, bottle, vial.'),
    reorder_level: nullable(Type.Number({ minimum: 0, description: 'The quantity at which to reorder.' })),
    stock_status: nullable(
      code(
        ['in_stock', 'low', 'out_of_stock'],
        'low: at or below the reorder level. Default: derived from the quantity and the reorder level.',
      ),
    ),
    nearest_expiry: nullable(day('The earliest expiry date of the batches.')),
    batches: nullable(Type.Array(Batch, { description: 'The batches, if the facility tracks them.' })),
    updated_at: moment('When the stock was last counted or reported.'),
  },
  {
    $id: 'StockItem',
    description: 'The stock of one medicine at one facility.',
    additionalProperties: false,
  },
)
