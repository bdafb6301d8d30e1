// GET /api/v1/connect/blood-bank/inventory: what blood banks can give out, by facility, group and component.

import { Type } from 'typebox'
import { bearer, type Route, reply, route } from '../../../http/route.ts'
import { type BloodRow, bloodInventory } from '../../../inventory/blood-inventory.ts'
import { listName, page, pageOf, pageQuery, wantedOf } from '../../../lib/paging.ts'
import { BloodUnit } from '../../../shapes/blood-unit.ts'
import { id, moment, nullable } from '../../../shapes/fields.ts'
import type { ConnectParts } from '../parts.ts'

const path = '/api/v1/connect/blood-bank/inventory'
const { blood_group, component } = BloodUnit.properties

const counts = {
  units_available: Type.Integer({ minimum: 0, description: 'Units that can be given out now.' }),
  units_reserved: Type.Integer({ minimum: 0, description: 'Units that are kept for somebody.' }),
}

const BloodStock = Type.Object(
  {
    facility_id: id('The blood bank.'),
    blood_group,
    component,
    ...counts,
    nearest_expiry: nullable(moment('When the first of the available units expires; null if none is available.')),
    updated_at: moment('When one of the units last changed.'),
  },
  { $id: 'BloodStock', description: 'The units of a group and component at a blood bank.' },
)

const totals = Type.Object(
  {
    ...counts,
    by_group_and_component: Type.Array(Type.Object({ blood_group, component, ...counts }), {
      description: 'The same for each group and component of which there is a unit.',
    }),
  },
  { description: 'Of everything that the filters let through, on whatever page it is.' },
)

export function bloodRoute(parts: ConnectParts): Route {
  return route({
    method: 'GET',
    path,
    tag: 'Blood Bank',
    operationId: 'listBloodInventory',
    summary: 'What blood banks can give out, by group and component',
    description:
      'Counted at the moment of the request: a unit counts until the second in which it expires. Units in quarantine, issued, transfused or discarded do not count, and neither do those whose expiry is not known.',
    access: bearer('blood:inventory:read'),
    query: Type.Object(
      {
        facility_id: Type.Optional(id('Only what this blood bank has.')),
        blood_group: Type.Optional(blood_group),
        component: Type.Optional(component),
        ...pageQuery,
      },
      { additionalProperties: false },
    ),
    replies: { 200: pageOf(BloodStock, 'BloodInventory', 'Blood that can be given out.', { totals }) },
    async handle({ query, caller, search }) {
      const list = listName('blood', query)
      const wanted = wantedOf(parts.cursors, list, query)
      const found = await bloodInventory(parts.databaseFor(caller), parts.now(), query, wanted)
      caller.witness?.({
        ...{ deed: 'operation', type: 'BiologicallyDerivedProduct', query: `${path.slice(1)}?${search}` },
        ...{ patients: [], resources: found.units },
      })
      const { data, ...more } = page(parts.cursors, list, wanted, found.rows, {
        position: row => [row.facility_id, row.blood_group, row.component],
        item: told,
      })
      return reply(200, { data, totals: sumOf(found.totals), ...more })
    },
  })
}

const told = (row: BloodRow) => ({
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
