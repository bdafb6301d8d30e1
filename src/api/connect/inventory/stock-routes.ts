// GET and PUT /api/v1/connect/pharmacy/stock: what pharmacies have, and how they report it.

import { Type } from 'typebox'
import { bearer, type Route, reply, route } from '../../../http/route.ts'
import { StockReport } from '../../../inventory/stock-body.ts'
import { stockItemOf, stockRows, todayOf } from '../../../inventory/stock-list.ts'
import { reportStock } from '../../../inventory/stock-report.ts'
import { listName, mustBeDay, page, pageOf, pageQuery, wantedOf, wrong } from '../../../lib/paging.ts'
import { id, text } from '../../../shapes/fields.ts'
import { StockItem } from '../../../shapes/stock-item.ts'
import { fold } from '../../../store/values.ts'
import type { ConnectParts } from '../parts.ts'

const path = '/api/v1/connect/pharmacy/stock'
const { code_system } = StockItem.properties

const Query = Type.Object(
  {
    facility_id: Type.Optional(id('Only what this facility has.')),
    medication_code: Type.Optional(text('Only the medicine with this code.')),
    code_system: Type.Optional(code_system),
    stock_status: Type.Optional(
      Type.Enum(['in_stock', 'low', 'out_of_stock'], { description: 'Only what has this status today.' }),
    ),
    q: Type.Optional(text('Letters of the name; case and accents do not count.')),
    expiring_before: Type.Optional(
      Type.String({ description: 'Only what begins to expire before this day.', examples: ['2027-01-01'] }),
    ),
    ...pageQuery,
  },
  { additionalProperties: false },
)

const Outcomes = Type.Object(
  {
    data: Type.Array(
      Type.Object({
        facility_id: id('As it was sent.'),
        code_system,
        medication_code: text('As it was sent.'),
        status: Type.Enum(['accepted', 'unchanged', 'stale'], {
          description: 'stale: what is stored was counted later than updated_at, and stays.',
        }),
      }),
    ),
  },
  { $id: 'StockOutcomes', description: 'What came of each item, in their order.' },
)

export const stockRoutes = (parts: ConnectParts): Route[] => [listRoute(parts), reportRoute(parts)]

function listRoute(parts: ConnectParts): Route {
  return route({
    method: 'GET',
    path,
    tag: 'Pharmacy',
    operationId: 'listPharmacyStock',
    summary: 'What pharmacies have in stock',
    description:
      'By facility and code. Of what the facility reported, batches that have expired since are taken off: quantity, status and nearest expiry are those of the day of the request, in the time zone of the service. The batches themselves are shown as they were reported.',
    access: bearer('pharmacy:stock:read'),
    query: Query,
    replies: { 200: pageOf(StockItem, 'StockPage', 'Stock of pharmacies.') },
    async handle(request) {
      const { query, caller } = request
      if (query.expiring_before !== undefined) mustBeDay('expiring_before', query.expiring_before)
      if (query.q !== undefined && fold(query.q) === '') throw wrong('q', 'holds no letter or digit to look for')
      const list = listName('stock', query)
      const wanted = wantedOf(parts.cursors, list, query)
      const rows = await stockRows(parts.databaseFor(caller), todayOf(parts), query, wanted)
      const reply200 = page(parts.cursors, list, wanted, rows, {
        position: row => [row.facility, row.code_system, row.code, row.id],
        item: stockItemOf(parts.translator, parts.translator.contextOf(request)),
      })
      caller.witness?.({
        ...{ deed: 'operation', type: 'Basic', query: `${path.slice(1)}?${request.search}` },
        ...{ patients: [], resources: reply200.data.length },
      })
      return reply(200, reply200)
    },
  })
}

function reportRoute(parts: ConnectParts): Route {
  return route({
    method: 'PUT',
    path,
    tag: 'Pharmacy',
    operationId: 'reportPharmacyStock',
    summary: 'Report the stock of medicines',
    description:
      'Each report replaces the one before of the same facility, code system and code, unless that was counted later. All items are stored, or none. An organisation reports for itself, for organisations that are part of it, and for locations that it manages.',
    access: bearer('pharmacy:write'),
    body: StockReport,
    checksOwnBody: true,
    maxBodyBytes: 5_242_880,
    replies: { 200: Outcomes },
    handle: async request => reply(200, { data: await reportStock(parts, request) }),
  })
}
