// GET and PUT /api/v1/connect/pharmacy/stock: what pharmacies have, and how they report it.

import { bearer, type Route, reply, route } from '../../../http/route.ts'
import { StockReport } from '../../../inventory/stock-body.ts'
import { stockItems, stockRows, todayOf } from '../../../inventory/stock-list.ts'
import { reportStock } from '../../../inventory/stock-report.ts'
import { listName, mustBeDay, page, pageOf, pageQuery, wantedOf, wrong } from '../../../lib/paging.ts'
import { Type } from '../../../lib/schema.ts'
import { id, text } from '../../../shapes/fields.ts'
import { StockItem } from '../../../shapes/stock-item.ts'
import { asOperation } from '../../../store/operation.ts'
import { fold } from '../../../store/values.ts'
import type { ConnectParts } from '../parts.ts'

const path = '/api/v1/connect/pharmacy/stock'
const { code_system } = StockItem.properties

const Query = Type.Object(
  {
    facility_id: Type.Optional(id('Return only the stock of this facility.')),
    medication_code: Type.Optional(text('Return only the medicine with this code.')),
    code_system: Type.Optional(code_system),
    stock_status: Type.Optional(
      Type.Enum(['in_stock', 'low', 'out_of_stock'], { description: 'Return only items with this status today.' }),
    ),
    q: Type.Optional(text('Return only medicines whose name contains this text. Case and accents are ignored.')),
    expiring_before: Type.Optional(
      Type.String({
        description: 'Return only items whose nearest expiry is before this date.',
        examples: ['2027-01-01'],
      }),
    ),
    ...pageQuery,
  },
  { additionalProperties: false },
)

const Outcomes = Type.Object(
  {
    data: Type.Array(
      Type.Object({
        facility_id: id('The value from the request.'),
        code_system,
        medication_code: text('The value from the request.'),
        status: Type.Enum(['accepted', 'unchanged', 'stale'], {
          description: 'stale: the stored item has a later updated_at and was kept.',
        }),
      }),
    ),
  },
  { $id: 'StockOutcomes', description: 'The outcome of each item, in request order.' },
)

export const stockRoutes = (parts: ConnectParts): Route[] => [listRoute(parts), reportRoute(parts)]

function listRoute(parts: ConnectParts): Route {
  return route({
    method: 'GET',
    path,
    tag: 'Pharmacy',
    operationId: 'listPharmacyStock',
    summary: 'List pharmacy stock',
    description:
      'Sorted by facility and code. Quantity, status and nearest expiry exclude batches that have expired by the day of the request, in the time zone of the service. The batches themselves are shown as reported.',
    access: bearer('pharmacy:stock:read'),
    query: Query,
    replies: { 200: pageOf(StockItem, 'StockPage', 'A page of pharmacy stock.') },
    async handle(request) {
      const { query, caller } = request
      if (query.expiring_before !== undefined) mustBeDay('expiring_before', query.expiring_before)
      if (query.q !== undefined && fold(query.q) === '') throw wrong('q', 'must contain a letter or digit')
      const list = listName('stock', query)
      const wanted = wantedOf(parts.cursors, list, query)
      const operation = { type: 'Basic', query: `${path.slice(1)}?${request.search}` }
      const shown = await asOperation(caller, operation, async own => {
        const rows = await stockRows(parts.databaseFor(own), todayOf(parts), query, wanted)
        const context = parts.translator.contextOf(request)
        const items = await stockItems(parts.translator, context, rows.slice(0, wanted.limit))
        const result = page(parts.cursors, list, wanted, rows, {
          position: row => [row.facility, row.code_system, row.code, row.id],
          item: row => items.get(row),
        })
        return { result, patients: [], resources: result.data.length }
      })
      return reply(200, shown)
    },
  })
}

function reportRoute(parts: ConnectParts): Route {
  return route({
    method: 'PUT',
    path,
    tag: 'Pharmacy',
    operationId: 'reportPharmacyStock',
    summary: 'Report pharmacy stock',
    description:
      'A report replaces the previous one for the same facility, code system and code, unless the previous one has a later updated_at. Either all items are stored or none. An organisation can report for itself, for organisations that are part of it, and for the locations it manages.',
    access: bearer('pharmacy:write'),
    body: StockReport,
    checksOwnBody: true,
    maxBodyBytes: 5_242_880,
    replies: { 200: Outcomes },
    handle: async request => reply(200, { data: await reportStock(parts, request) }),
  })
}
