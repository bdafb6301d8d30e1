// The table blood_unit: it follows BiologicallyDerivedProduct resources, as the map blood-unit-to-fhir writes them.

import { float8Array, int2Array, textArray } from '../db/arrays.ts'
import { isObject, type JsonObject } from '../lib/json.ts'
import { BloodUnit } from '../shapes/blood-unit.ts'
import type { Base } from '../store/base.ts'
import { extension, lastDayIn, momentOf, ownExtension } from '../store/elements.ts'
import { following } from '../store/following-table.ts'
import type { Projected, Projection } from '../store/projection.ts'
import { idIn } from '../store/values.ts'

const expiration = 'http://hl7.org/fhir/5.0/StructureDefinition/extension-BiologicallyDerivedProduct.expirationDate'

const bloodGroups: readonly string[] = BloodUnit.properties.blood_group.enum
const bloodComponents: readonly string[] = BloodUnit.properties.component.enum

/**
 * @param base address of this server's FHIR endpoint
 * @param timeZone in which a day ends, for units of which only the last day is known
 */
export function bloodTable(base: Base, timeZone: string): Projection {
  return following<Row>({
    type: 'BiologicallyDerivedProduct',
    table: 'blood_unit',
    rowsOf: change => rowOf(change, base) ?? [],
    async insert(on, rows) {
      await on.run({
        name: 'blood-unit-insert',
        text: `insert into blood_unit (id, facility, blood_group, component, is_reserved, expires_at, updated_at)
          select id, facility, blood_group, component, reserved = 1,
            case last_day when '' then to_timestamp(expires / 1000) else (last_day::date + 1)::timestamp at time zone $9 end,
            to_timestamp(updated / 1000)
          from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::smallint[], $6::float8[], $7::text[], $8::float8[])
            as row(id, facility, blood_group, component, reserved, expires, last_day, updated)`,
        values: [
          textArray(rows.map(row => row.id)),
          textArray(rows.map(row => row.facility)),
          textArray(rows.map(row => row.group)),
          textArray(rows.map(row => row.component)),
          int2Array(rows.map(row => (row.isReserved ? 1 : 0))),
          float8Array(rows.map(row => row.expires ?? 0)),
          textArray(rows.map(row => (row.expires === undefined ? row.lastDay! : ''))),
          float8Array(rows.map(row => row.updated)),
          timeZone,
        ],
      })
    },
  })
}

interface Row {
  readonly id: string
  readonly facility: string
  readonly group: string
  readonly component: string
  readonly isReserved: boolean
  /** The moment, or else the last day. */
  readonly expires: number | undefined
  readonly lastDay: string | undefined
  readonly updated: number
}

/** Returns the row of a unit that can be given out; a unit of unknown expiry cannot. */
function rowOf({ id, resource }: Projected, base: Base): Row | undefined {
  if (!resource) return undefined
  const status = statusOf(resource)
  const facility = idIn(extension(resource, ownExtension('facility'), 'valueReference'), 'Organization|Location', base)
  const group = String(extension(resource, ownExtension('blood-group'), 'valueCode'))
  const { productCode, meta } = resource
  const component = isObject(productCode) ? String(productCode['text']) : ''
  const expiry = extension(resource, expiration, 'valueDateTime')
  const [expires, lastDay] = [momentOf(expiry), lastDayIn(expiry)]
  const isKnown = bloodGroups.includes(group) && bloodComponents.includes(component)
  if (!isKnown || facility === undefined || (expires ?? lastDay) === undefined) return undefined
  if (status !== 'available' && status !== 'reserved') return undefined
  const updated =
    momentOf(extension(resource, ownExtension('blood-unit-updated-at'), 'valueDateTime')) ??
    momentOf(isObject(meta) ? meta['lastUpdated'] : undefined)!
  return { id, facility, group, component, isReserved: status === 'reserved', expires, lastDay, updated }
}

/** The extension tells why a unit is unavailable, never that it is available: as the map blood-unit-from-fhir has it. */
function statusOf(resource: JsonObject): unknown {
  const reason = extension(resource, ownExtension('blood-unit-status'), 'valueCode')
  return reason === undefined || reason === 'available' ? resource['status'] : reason
}
