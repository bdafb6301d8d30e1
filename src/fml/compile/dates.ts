// Transforms that make dates and times: `toDate(v, 'dd/MM/yyyy')`, `unixToDateTime(v, '+01:00')`.
// https://build.fhir.org/ig/HL7/fhir-mapping-language/transforms.html#date-op-details

import { formatProblem } from '../../fhirpath/date-format.ts'
import { convertToTemporal } from '../../fhirpath/functions/conversion.ts'
import { EMPTY, type Typed, typed } from '../../fhirpath/node.ts'
import { formatTemporal, fromInstant, type Temporal } from '../../fhirpath/temporal.ts'
import { isJsonNumber } from '../../lib/json.ts'
import type { Invocation } from '../ast.ts'
import { textOf } from '../run/convert.ts'
import type { Frame } from '../run/frame.ts'
import { Refusal } from '../run/map-error.ts'
import { simple, single, textIn } from './computed.ts'
import { report, type Scope } from './scope.ts'
import type { Value } from './value.ts'

type Kind = Temporal['kind']
type Build = (args: readonly Value[], call: Invocation, scope: Scope) => Value | undefined

const TYPES = { date: 'System.Date', dateTime: 'System.DateTime', time: 'System.Time' } as const
const NAMED = {
  date: 'a date (YYYY-MM-DD)',
  dateTime: 'a dateTime (YYYY-MM-DDThh:mm:ss+zz:zz)',
  time: 'a time (hh:mm:ss)',
} as const

/** A text as a date, dateTime or time: of the form that FHIR has, or of a format. Another text stops the map. */
export function toTemporal(kind: Kind): Build {
  return ([value, format], { args }, scope) => {
    const written = format?.constant && formatProblem(String(format.constant.value), kind)
    if (written) {
      report(scope, args[1]!.span, written)
      return undefined
    }
    return simple(TYPES[kind], frame => {
      const item = single(value, frame)
      return item === undefined ? EMPTY : [typed(read(item, kind, formatIn(format, kind, frame)), TYPES[kind])]
    })
  }
}

function formatIn(format: Value | undefined, kind: Kind, frame: Frame): string | undefined {
  if (!format) return undefined
  const text = textIn(format, frame)
  const problem = text === undefined ? 'the format has no value' : formatProblem(text, kind)
  if (problem) throw new Refusal(problem)
  return text
}

function read(item: Typed, kind: Kind, format: string | undefined): string {
  const asText = isJsonNumber(item.value) ? typed(textOf(item.value), 'System.String') : item
  const found = convertToTemporal(asText, kind, format)
  if (found === undefined)
    throw new Refusal(`this is not ${format === undefined ? NAMED[kind] : `of the form ${format}`}`)
  return found
}

const ZONE = /^(?:Z|[+-](?:0\d|1[0-4]):[0-5]\d)$/
const ZONE_WANTED = 'write a time zone as `+01:00` or `Z`'
/** The years 1 to 9999. */
const FIRST_SECOND = -62_135_596_800
const LAST_SECOND = 253_402_300_799

/** Seconds since 1970 as a date, dateTime or time of a zone, UTC where none is given. */
export function fromUnix(kind: Kind): Build {
  return ([value, zone], { args }, scope) => {
    if (zone?.constant && !ZONE.test(String(zone.constant.value))) {
      report(scope, args[1]!.span, ZONE_WANTED)
      return undefined
    }
    return simple(TYPES[kind], frame => {
      const item = single(value, frame)
      return item === undefined
        ? EMPTY
        : [typed(moment(item, kind, zone ? (textIn(zone, frame) ?? '') : 'Z'), TYPES[kind])]
    })
  }
}

function moment({ value }: Typed, kind: Kind, zone: string): string {
  if (!ZONE.test(zone)) throw new Refusal(ZONE_WANTED)
  const offset =
    zone === 'Z' ? 0 : (zone.startsWith('-') ? -1 : 1) * (Number(zone.slice(1, 3)) * 60 + Number(zone.slice(4)))
  const text = textOf(value)
  const seconds = Number(text) + offset * 60
  if (!/^-?\d{1,12}$/.test(text) || seconds < FIRST_SECOND || seconds > LAST_SECOND)
    throw new Refusal('this is not a whole number of seconds since 1970 in the years 1 to 9999')
  const [year, month, day, ...time] = fromInstant(seconds * 1000) as [number, number, number, ...number[]]
  if (kind === 'time') return formatTemporal({ kind, parts: time, offset: undefined, fraction: 0 })
  if (kind === 'date') return formatTemporal({ kind, parts: [year, month, day], offset: undefined, fraction: 0 })
  return formatTemporal({ kind, parts: [year, month, day, ...time], offset, fraction: 0 })
}
