// GET /api/v1/connect/blood-bank/inventory: what blood banks can give out, by facility, group and component.

import { bearer, type Route, reply, route } from '../../../http/route.ts'
import { type BloodRow, bloodInventory } from '../../../inventory/blood-inventory.ts'
import { listName, page, pageOf, pageQuery, wantedOf } from '../../../lib/paging.ts'
import { Type } from '../../../lib/schema.ts'
import { BloodUnit } from '../../../shapes/blood-unit.ts'
import { id, moment, nullable } from '../../../shapes/fields.ts'
import { asOperation } from '../../../store/operation.ts'
import type { ConnectParts } from '../parts.ts'

const path = '/api/v1/connect/blood-bank/inventory'
const { blood_group, component } = BloodUnit.properties

const counts = {
  units_available: Type.Integer({ minimum: 0, description: 'The number of units available for issue.' }),
  units_reserved: Type.Integer({ minimum: 0, description: 'The number of units reserved for a patient.' }),
}

const BloodStock = Type.Object(
  {
    facility_id: id('The blood bank.'),
    blood_group,
    component,
    ...counts,
    nearest_expiry: nullable(moment('When the first available unit expires. Null if none is available.')),
    updated_at: moment('When one of the units last changed.'),
  },
  { $id: 'BloodStock', description: 'The units of one blood group and component at one blood bank.' },
)

const totals = Type.Object(
  {
    ...counts,
    by_group_and_component: Type.Array(Type.Object({ blood_group, component, ...counts }), {
      description: 'The counts for each blood group and component with at least one unit.',
    }),
  },
  { description: 'The totals of all units that match the filters, across all pages.' },
)

export function bloodRoute(parts: ConnectParts): Route {
  return route({
    method: 'GET',
    path,
    tag: 'Blood Bank',
    operationId: 'listBloodInventory',
    summary: 'List blood bank inventory by blood group and component',
    description:
      'Units are counted at the time of the request, until the second they expire. Units that are quarantined, issued, transfused or discarded, or whose expiry is unknown, are not counted.',
    access: bearer('blood:inventory:read'),
    query: Type.Object(
      {
        facility_id: Type.Optional(id('Return only the units of this blood bank.')),
        blood_group: Type.Optional(blood_group),
        component: Type.Optional(component),
        ...pageQuery,
      },
      { additionalProperties: false },
    ),
    replies: { 200: pageOf(BloodStock, 'BloodInventory', 'A page of blood bank inventory.', { totals }) },
    async handle({ query, caller, search }) {
      const list = listName('blood', query)
      const wanted = wantedOf(parts.cursors, list, query)
      const operation = { type: 'BiologicallyDerivedProduct', query: `${path.slice(1)}?${search}` }
      const found = await asOperation(caller, operation, async own => {
        const result = await bloodInventory(parts.databaseFor(own), parts.now(), query, wanted)
        return { result, patients: [], resources: result.units }
      })
      const { data, ...more } = page(parts.cursors, list, wanted, found.rows, {
        position: row => [row.facility_id, row.blood_group, row.component],
        item: shownUnit,
      })
      return reply(200, { data, totals: sumOf(found.totals), ...more })
    },
  })
}

const shownUnit = (row: BloodRow) => ({
  facility_id: row.facility_id,
  blood_group: row.blood_group,
  component: row.component,
  units_available: row.units_available,
  units_reserved: row.units_reserved,
  nearest_expiry: row.nearest_expiry?.toISOString() ?? null,
  updated_at: row.updated_at.toISOString(),
})

type Counted = Pick<BloodRow, 'units_available' | 'units_reserved'>

const sumOf = <Count extends Counted>(all: readonly Count[]) => ({
  units_available: all.reduce((sum, each) => sum + each.units_available, 0),
  units_reserved: all.reduce((sum, each) => sum + each.units_reserved, 0),
  by_group_and_component: all,
})
