// GET /api/v1/connect/payments/reconciliation: what was paid to the caller's organisation on a day.

import { Type } from 'typebox'
import { bearer, type Route, reply, route } from '../../../http/route.ts'
import { todayOf } from '../../../inventory/stock-list.ts'
import { listName, mustBeDay, page, pageOf, pageQuery, wantedOf, wrong } from '../../../lib/paging.ts'
import { nothing, paymentOf, paymentsOf } from '../../../payments/reconciliation.ts'
import { day, money } from '../../../shapes/fields.ts'
import { PaymentRecord } from '../../../shapes/payment.ts'
import { patientsIn } from '../../../store/patients.ts'
import type { ConnectParts } from '../parts.ts'

const path = '/api/v1/connect/payments/reconciliation'
const count = (description: string) => Type.Integer({ minimum: 0, description })
const currency = PaymentRecord.properties.currency
const usual = 'XAF'

const totals = Type.Object(
  {
    count: count('How many payments there were.'),
    gross: money('What was paid in all.'),
    fees: money('What the providers kept.'),
    net: money('Gross less fees.'),
    matched: count('Payments that belong to an invoice.'),
    unmatched: count('Payments of which no invoice was found.'),
    disputed: count('Payments that differ from their invoice.'),
  },
  { description: 'Of the whole day, in this currency, on whatever page the payments are.' },
)

const head = {
  date: day('The day that was asked for.'),
  currency,
  totals,
  other_currencies: Type.Array(currency, {
    description: 'Further currencies of the day: each is asked for by itself.',
  }),
}

export const paymentRoutes = (parts: ConnectParts): Route[] => [reconciliationRoute(parts)]

function reconciliationRoute(parts: ConnectParts): Route {
  return route({
    method: 'GET',
    path,
    tag: 'Billing',
    operationId: 'listReconciledPayments',
    summary: 'What was paid to the own organisation on a day',
    description: `Payments in the order in which they came, and what they come to. The day is one of the time zone ${parts.timeZone}. Amounts in different currencies are never added: a request is about one of them. Payments that were cancelled or entered in error are left out.`,
    access: bearer('payments:reconciliation:read'),
    query: Type.Object(
      {
        date: Type.String({ description: 'The day; not later than today.', examples: ['2026-03-14'] }),
        currency: Type.Optional({ ...currency, description: `ISO 4217; ${usual} if it is left out.` }),
        ...pageQuery,
      },
      { additionalProperties: false },
    ),
    replies: { 200: pageOf(PaymentRecord, 'Reconciliation', 'The payments of a day.', head) },
    async handle(request) {
      const { query, caller } = request
      const { date, currency: asked = usual } = query
      mustBeDay('date', date)
      if (date > todayOf(parts)) throw wrong('date', 'must not be in the future', 'future')
      const organization = caller.organizationId
      const list = listName('payments', { ...query, currency: asked, organization })
      const wanted = wantedOf(parts.cursors, list, query)
      const of = { organization, date, timeZone: parts.timeZone, currency: asked }
      const { rows, totals: all } = await paymentsOf(parts.databaseFor(caller), of, wanted)
      const shown = page(parts.cursors, list, wanted, rows, {
        position: row => [row.paid_at.toISOString(), row.id],
        item: paymentOf(parts.translator, parts.translator.contextOf(request)),
      })
      const bodies = rows.slice(0, wanted.limit).map(({ id, body }) => ({ type: 'PaymentReconciliation', id, body }))
      caller.witness?.({
        ...{ deed: 'operation', type: 'PaymentReconciliation', query: `${path.slice(1)}?${request.search}` },
        ...{ patients: patientsIn(bodies, parts.addresses.base, []), resources: bodies.length },
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
