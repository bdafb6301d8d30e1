// The stock of one medicine at one facility, as the pharmacy stock operations give it: decisions §3.

import { Type } from 'typebox'
import { code, day, id, moment, nullable, text } from './fields.ts'

const Batch = Type.Object(
  {
    lot_number: text('The number the manufacturer gave the batch.'),
    expiry_date: nullable(day('The last day on which it may be used.')),
    quantity: Type.Number({ minimum: 0, description: 'How much of the batch is left, in the unit of the item.' }),
  },
  { description: 'A batch of the medicine.', additionalProperties: false },
)

/** Stored as Basic, since R4 has no resource for stock. */
export const StockItem = Type.Object(
  {
    facility_id: id('The pharmacy or facility that holds the stock.'),
    medication_code: text('The code of the medicine, for example J01CA04 (amoxicillin).'),
    code_system: code(['ATC', 'RxNorm', 'SNOMED', 'other'], 'Which terminology the code is from; other: a local list.'),
    name: text('The medicine in words.'),
    form: nullable(text('Its form: capsule, syrup, vial.')),
    strength: nullable(text('Its strength: 500 mg.')),
    quantity_on_hand: Type.Number({ minimum: 0, description: 'How much there is, expired batches left out.' }),
    unit: text('What is counted: capsule, bottle, vial.'),
    reorder_level: nullable(Type.Number({ minimum: 0, description: 'At this quantity it is time to order.' })),
    stock_status: nullable(
      code(['in_stock', 'low', 'out_of_stock'], 'low: at or below the reorder level. Left out, it is worked out.'),
    ),
    nearest_expiry: nullable(day('When the first of the batches expires.')),
    batches: nullable(Type.Array(Batch, { description: 'The batches, where the facility counts them.' })),
    updated_at: moment('When the stock was last counted or reported.'),
  },
  {
    $id: 'StockItem',
    description: 'How much of a medicine a facility has.',
    additionalProperties: false,
  },
)
