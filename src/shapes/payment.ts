// A payment as it was reconciled with the payment provider's books: decisions §3. Money is written as decimal digits.

import { Type } from 'typebox'
import { code, id, moment, money, nullable, text } from './fields.ts'

/** Stored as PaymentReconciliation. */
export const PaymentRecord = Type.Object(
  {
    reconciliation_id: id('The record itself.'),
    transaction_reference: text("The provider's number for the transaction."),
    provider: text('Who moved the money: MTN MoMo, Orange Money, a bank.'),
    amount: money('What the patient paid.'),
    fee: nullable(money('What the provider kept of it.')),
    currency: Type.String({ pattern: '^[A-Z]{3}$', description: 'ISO 4217; in Cameroon XAF.' }),
    status: code(
      ['matched', 'unmatched', 'disputed'],
      'matched: the payment and an invoice belong together. unmatched: no invoice was found. disputed: they differ.',
    ),
    invoice_id: nullable(text('The invoice that was paid.')),
    paid_at: moment('When the money was received.'),
    external_reference: nullable(text("The payment's number in the organisation's own books.")),
  },
  {
    $id: 'PaymentRecord',
    description: 'A payment, reconciled with the books of the payment provider.',
    additionalProperties: false,
  },
)
