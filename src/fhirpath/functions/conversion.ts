// toInteger(), convertsToDate() and the like. http://hl7.org/fhirpath/N1/#conversion

import type { Position } from '../ast.ts'
import { formatProblem, parseFormatted } from '../date-format.ts'
import { Decimal, parseDecimal, toDecimal } from '../decimal.ts'
import { executionError, semanticError } from '../errors.ts'
import { type Items, only, type State, type Typed, typed } from '../node.ts'
import { convertQuantity, parseQuantity, Quantity, toQuantity } from '../quantity.ts'
import { formatTemporal, parseTemporal, type Temporal } from '../temporal.ts'
import { kindOf, stringOf } from '../values.ts'
import { type FunctionSpec, type Functions, question, singletonFunction } from './spec.ts'

/** `detail` is the unit or the format that a function is given. */
type Convert = (item: Typed, detail?: string) => unknown

const CONVERSIONS: Readonly<Record<string, Convert>> = {
  Boolean: convertToBoolean,
  Integer: convertToInteger,
  Decimal: convertToDecimal,
  String: convertToString,
  Date: (item, format) => convertToTemporal(item, 'date', format),
  DateTime: (item, format) => convertToTemporal(item, 'dateTime', format),
  Time: item => convertToTemporal(item, 'time'),
  Quantity: convertToQuantity,
}

/** Those that take a unit or a format. */
const DETAILED = new Set(['Quantity', 'Date', 'DateTime'])

export const conversion: Functions = Object.fromEntries(
  Object.entries(CONVERSIONS).flatMap(([name, convert]) => [
    [`to${name}`, checkedEarly(name, converting(name, convert))],
    [`convertsTo${name}`, checkedEarly(name, asking(name, convert))],
  ]),
)

function arity(name: string): readonly [number, number] {
  return [0, DETAILED.has(name) ? 1 : 0]
}

function converting(name: string, convert: Convert): FunctionSpec {
  const type = `System.${name}`
  const run = (item: Typed, [detail]: readonly Items[], _state: State, at: Position) => {
    const value = convert(item, checked(name, detail, at))
    return value === undefined ? [] : [typed(value, type)]
  }
  return singletonFunction(arity(name), run, () => [type])
}

function asking(name: string, convert: Convert): FunctionSpec {
  return question(arity(name), (input, [detail], _state, at) => {
    const item = only(input, at)
    return item?.value === undefined ? undefined : convert(item, checked(name, detail, at)) !== undefined
  })
}

/** A format that stands in the expression is checked when that is compiled. */
function checkedEarly(name: string, spec: FunctionSpec): FunctionSpec {
  return {
    ...spec,
    build(call) {
      const [format] = call.args
      const text = format?.kind === 'literal' && format.type === 'String' ? format.text : undefined
      const problem = text === undefined ? undefined : detailProblem(name, text)
      if (problem) throw semanticError(problem, format!.at)
      return spec.build(call)
    },
  }
}

function detailProblem(name: string, detail: string): string | undefined {
  return name === 'Quantity' ? undefined : formatProblem(detail, name === 'Date' ? 'date' : 'dateTime')
}

/** The unit or format that a function was given; a format that cannot be used is an error. */
function checked(name: string, detail: Items | undefined, at: Position): string | undefined {
  const text = stringOf(detail?.[0])
  const problem = text === undefined ? undefined : detailProblem(name, text)
  if (problem) throw executionError(problem, at)
  return text
}

const TRUE_TEXTS = new Set(['true', 't', 'yes', 'y', '1', '1.0'])
const FALSE_TEXTS = new Set(['false', 'f', 'no', 'n', '0', '0.0'])

function convertToBoolean(item: Typed): boolean | undefined {
  if (typeof item.value === 'boolean') return item.value
  if (kindOf(item) === 'System.String') {
    const text = String(item.value).toLowerCase()
    return TRUE_TEXTS.has(text) ? true : FALSE_TEXTS.has(text) ? false : undefined
  }
  const number = kindOf(item) && toDecimal(item.value)?.toJSON()
  return number === 1 ? true : number === 0 ? false : undefined
}

function convertToInteger(item: Typed): number | undefined {
  const kind = kindOf(item)
  if (kind === 'System.Integer') return item.value as number
  if (kind === 'System.Boolean') return item.value ? 1 : 0
  const text = kind === 'System.String' ? stringOf(item) : undefined
  return text !== undefined && /^[+-]?\d{1,10}$/.test(text) ? Number(text) : undefined
}

function convertToDecimal(item: Typed): Decimal | undefined {
  const kind = kindOf(item)
  if (kind === 'System.Integer' || kind === 'System.Decimal') return toDecimal(item.value)
  if (kind === 'System.Boolean') return new Decimal(item.value ? 10n : 0n, 1)
  const text = kind === 'System.String' ? stringOf(item) : undefined
  return text !== undefined && /^[+-]?\d+(\.\d+)?$/.test(text) ? parseDecimal(text) : undefined
}

function convertToString(item: Typed): string | undefined {
  const kind = kindOf(item)
  if (kind === undefined) return undefined
  if (kind === 'System.Quantity') return toQuantity(item.value)?.toString()
  return kind === 'System.Decimal' ? toDecimal(item.value)?.toString() : String(item.value)
}

/** A date, dateTime or time as one of the others, or a text as one of them: as FHIR writes it, or in a format. */
export function convertToTemporal(item: Typed, target: Temporal['kind'], format?: string): string | undefined {
  const kind = kindOf(item)
  const text = stringOf(item)
  if (text === undefined) return undefined
  if (format !== undefined && kind === 'System.String') return parseFormatted(text, format, target)
  const fitting = target === 'time' ? ['System.Time'] : ['System.Date', 'System.DateTime']
  if (kind !== 'System.String' && !fitting.includes(kind ?? '')) return undefined
  const full = parseTemporal(text, target === 'date' && kind !== 'System.String' ? 'dateTime' : target)
  if (!full) return undefined
  return target === 'date' ? formatTemporal({ ...full, parts: full.parts.slice(0, 3), offset: undefined }) : text
}

function convertToQuantity(item: Typed, unit?: string): Quantity | undefined {
  const quantity = readQuantity(item)
  return quantity && unit !== undefined ? convertQuantity(quantity, unit) : quantity
}

function readQuantity(item: Typed): Quantity | undefined {
  const kind = kindOf(item)
  if (kind === 'System.Boolean') return new Quantity(new Decimal(item.value ? 10n : 0n, 1), '1')
  if (kind === 'System.String') return parseQuantity(String(item.value))
  return kind === 'System.Quantity' || kind === 'System.Integer' || kind === 'System.Decimal'
    ? toQuantity(item.value)
    : undefined
}
