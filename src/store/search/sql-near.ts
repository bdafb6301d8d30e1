// `Location?near=latitude|longitude|distance|units`: places within a distance on the globe
// (https://hl7.org/fhir/R4/location.html#search).
import type { Failure } from '../../lib/failure.ts'
import { malformed, shown, splitEscaped } from './query-text.ts'
import type { ParamCriterion } from './request.ts'
import { anyOf, numbersOf, type SqlContext } from './sql-context.ts'

/** In km: what R4 leaves to the server where no distance is given. */
const defaultDistance = 50

/** Mean radius of the earth, and the length of a degree of latitude, in km. */
const radius = 6371.0088
const degree = (Math.PI * radius) / 180

/** Units in km, by their UCUM codes and as people write them. */
const units: Readonly<Record<string, number>> = {
  km: 1,
  m: 0.001,
  '[mi_i]': 1.609344,
  mi: 1.609344,
  '[mi_us]': 1.609347219,
  '[nmi_i]': 1.852,
  '[yd_i]': 0.0009144,
  yd: 0.0009144,
  '[ft_i]': 0.0003048,
  ft: 0.0003048,
}

/** A position is kept as a span: its latitude in the column low, its longitude in high. */
export function nearCondition(criterion: ParamCriterion, row: string, context: SqlContext): string {
  const circles = criterion.values.map(value => within(readNear(value), context))
  return `(${row}.shard, ${row}.key) in (select v.shard, v.key from span v where v.param = ${numbersOf(criterion, context)} and v.token = 0 and ${anyOf(circles)})`
}

interface Near {
  readonly latitude: number
  readonly longitude: number
  /** In km. */
  readonly distance: number
}

function readNear(value: string): Near {
  const parts = splitEscaped(value, '|')
  const [latitude, longitude, given] = parts.slice(0, 3).map(readDecimal) as [number, number, number | undefined]
  const unit = parts[3] || 'km'
  if (parts.length < 2 || parts.length > 4 || !(Math.abs(latitude) <= 90) || !(Math.abs(longitude) <= 180))
    throw refused(
      `"${shown(value)}" is not a location: write latitude|longitude|distance|units, e.g. -24.65|25.91|10|km, with latitude within ±90 and longitude within ±180.`,
    )
  if (!Object.hasOwn(units, unit))
    throw refused(
      `"${shown(unit)}" is no unit of length that is known here; there are ${Object.keys(units).join(', ')}.`,
    )
  if (given !== undefined && parts[2] !== '' && !(given >= 0)) throw refused(`"${shown(parts[2]!)}" is not a distance.`)
  return { latitude, longitude, distance: parts[2] ? given! * units[unit]! : defaultDistance }
}

const readDecimal = (text: string): number => (/^[+-]?\d+(?:\.\d+)?$/.test(text) ? Number(text) : Number.NaN)

const refused = (message: string): Failure => malformed('near', `near: ${message}`, 'value')

// The index finds the belt of latitudes; the haversine decides, across the date line and at the poles too.
function within({ latitude, longitude, distance }: Near, { bind }: SqlContext): string {
  const number = (value: number): string => `${bind(value)}::double precision`
  const [lat, lon] = [number(latitude), number(longitude)]
  const belt = distance / degree
  const square = `power(sind((v.low - ${lat}) / 2), 2) + cosd(${lat}) * cosd(v.low) * power(sind((v.high - ${lon}) / 2), 2)`
  return `(v.low between ${number(latitude - belt)} and ${number(latitude + belt)}
    and ${2 * radius} * asin(least(1, sqrt(${square}))) <= ${number(distance)})`
}
