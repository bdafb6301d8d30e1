// GET /api/v1/connect/payments/reconciliation: what was paid to the caller's organisation on a day.

import { bearer, type Route, reply, route } from '../../../http/route.ts'
import { todayOf } from '../../../inventory/stock-list.ts'
import { listName, mustBeDay, page, pageOf, pageQuery, wantedOf, wrong } from '../../../lib/paging.ts'
import { Type } from '../../../lib/schema.ts'
import { nothing, paymentsIn, paymentsOf } from '../../../payments/reconciliation.ts'
import { day, money } from '../../../shapes/fields.ts'
import { PaymentRecord } from '../../../shapes/payment.ts'
import { asOperation } from '../../../store/operation.ts'
import { patientsIn } from '../../../store/patients.ts'
import type { ConnectParts } from '../parts.ts'

const path = '/api/v1/connect/payments/reconciliation'
const count = (description: string) => Type.Integer({ minimum: 0, description })
const currency = PaymentRecord.properties.currency
const usual = 'XAF'

const totals = Type.Object(
  {
    count: count('The number of payments.'),
    gross: money('The total amount paid.'),
    fees: money('The total of provider fees.'),
    net: money('Gross minus fees.'),
    matched: count('Payments matched to an invoice.'),
    unmatched: count('Payments without a matching invoice.'),
    disputed: count('Payments whose amount differs from the invoice.'),
  },
  { description: 'The totals of the day in this currency, across all pages.' },
)

const head = {
  date: day('The requested date.'),
  currency,
  totals,
  other_currencies: Type.Array(currency, {
    description: 'Other currencies with payments on this day. Request each one separately.',
  }),
}

export const paymentRoutes = (parts: ConnectParts): Route[] => [reconciliationRoute(parts)]

function reconciliationRoute(parts: ConnectParts): Route {
  return route({
    method: 'GET',
    path,
    tag: 'Billing',
    operationId: 'listReconciledPayments',
    summary: 'List the reconciled payments of a day',
    description: `Returns the payments to your organisation in the order received, with totals. Days are in the time zone ${parts.timeZone}. A request covers one currency; amounts in different currencies are never added. Payments that were cancelled or entered in error are omitted.`,
    access: bearer('payments:reconciliation:read'),
    query: Type.Object(
      {
        date: Type.String({ description: 'The date, today at the latest.', examples: ['2026-03-14'] }),
        currency: Type.Optional({ ...currency, description: `ISO 4217 currency code. Default: ${usual}.` }),
        ...pageQuery,
      },
      { additionalProperties: false },
    ),
    replies: { 200: pageOf(PaymentRecord, 'Reconciliation', 'A page of the payments of a day.', head) },
    async handle(request) {
      const { query, caller } = request
      const { date, currency: asked = usual } = query
      mustBeDay('date', date)
      if (date > todayOf(parts)) throw wrong('date', 'must not be in the future', 'future')
      const organization = caller.organizationId
      const list = listName('payments', { ...query, currency: asked, organization })
      const wanted = wantedOf(parts.cursors, list, query)
      const of = { organization, date, timeZone: parts.timeZone, currency: asked }
      const type = 'PaymentReconciliation'
      const operation = { type, query: `${path.slice(1)}?${request.search}` }
      const { shown, totals: all } = await asOperation(caller, operation, async own => {
        const { rows, totals } = await paymentsOf(parts.databaseFor(own), of, wanted)
        const inPage = rows.slice(0, wanted.limit)
        const payments = await paymentsIn(parts.translator, parts.translator.contextOf(request), inPage)
        const shown = page(parts.cursors, list, wanted, rows, {
          position: row => [row.paid_at.toISOString(), row.id],
          item: row => payments.get(row),
        })
        const bodies = inPage.map(({ id, body }) => ({ type, id, body }))
        const patients = patientsIn(bodies, parts.addresses.base, [])
        return { result: { shown, totals }, patients, resources: bodies.length }
      })
      const { currency: _currency, ...own } = all.find(each => each.currency === asked) ?? {
        currency: asked,
        ...nothing,
      }
      const others = all.map(each => each.currency).filter(each => each !== asked)
      return reply(200, { date, currency: asked, totals: own, other_currencies: others, ...shown })
    },
  })
}
