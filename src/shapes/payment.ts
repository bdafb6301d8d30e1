// A payment as it was reconciled with the payment provider's books: decisions §3. Money is written as decimal digits.

import { Type } from '../lib/schema.ts'
import { code, id, moment, money, nullable, text } from './fields.ts'

/** Stored as PaymentReconciliation. */
export const PaymentRecord = Type.Object(
  {
    reconciliation_id: id('The id of the record.'),
    transaction_reference: text('The transaction id of the payment provider.'),
    provider: text('The payment provider: MTN MoMo, Orange Money, a bank.'),
    amount: money('The amount the patient paid.'),
    fee: nullable(money('The fee the provider kept.')),
    currency: Type.String({ pattern: '^[A-Z]{3}$', description: 'ISO 4217 currency code; XAF in Cameroon.' }),
    status: code(
      ['matched', 'unmatched', 'disputed'],
      'matched: the payment matches an invoice. unmatched: no invoice was found. disputed: payment and invoice differ.',
    ),
    invoice_id: nullable(text('The paid invoice.')),
    paid_at: moment('When the payment was received.'),
    external_reference: nullable(text('The payment reference in the books of the organisation.')),
  },
  {
    $id: 'PaymentRecord',
    description: 'A payment, reconciled with the books of the payment provider.',
    additionalProperties: false,
  },
)
