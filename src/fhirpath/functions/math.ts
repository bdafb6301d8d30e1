// Mathematical functions. http://hl7.org/fhirpath/N1/#math

import type { Position } from '../ast.ts'
import { Decimal, parseDecimal, round, toDecimal } from '../decimal.ts'
import { executionError } from '../errors.ts'
import { EMPTY, type Items, type Typed, typed } from '../node.ts'
import { requireKinds } from '../operators.ts'
import { Quantity } from '../quantity.ts'
import { integerOf, kindOf } from '../values.ts'
import { type FunctionSpec, type Functions, singletonFunction } from './spec.ts'

export const math: Functions = {
  abs: onNumber(0, abs),
  ceiling: onNumber(0, value => whole(round(value, 0, 'ceiling'))),
  floor: onNumber(0, value => whole(round(value, 0, 'floor'))),
  truncate: onNumber(0, value => whole(round(value, 0, 'down'))),
  round: onNumber([0, 1], (value, [places]) => {
    const digits = places ? integerOf(places[0]) : 0
    return digits === undefined || digits < 0 ? EMPTY : decimal(round(value, digits))
  }),
  exp: onNumber(0, value => float(Math.exp(value.toJSON()))),
  ln: onNumber(0, value => float(Math.log(value.toJSON()))),
  log: onNumber(1, (value, [base]) => withNumber(base, other => float(logarithm(value.toJSON(), other.toJSON())))),
  sqrt: onNumber(0, value => float(Math.sqrt(value.toJSON()))),
  power: onNumber(1, (value, [exponent], item) =>
    withNumber(exponent, other => {
      const result = value.toJSON() ** other.toJSON()
      const integers = kindOf(item) === 'System.Integer' && Number.isSafeInteger(result) && other.scale === 0
      return integers ? [typed(result, 'System.Integer')] : float(result)
    }),
  ),
}

type OnNumber = (value: Decimal, args: readonly Items[], item: Typed) => Items

function onNumber(arity: number | readonly [number, number], run: OnNumber): FunctionSpec {
  const spec = singletonFunction(arity, (item, args, _state, at) => run(numberIn(item, at), args, item))
  return {
    ...spec,
    build(call) {
      requireKinds(call.input, ['System.Integer', 'System.Decimal', 'System.Quantity'], `${call.name}()`, call.at)
      return spec.build(call)
    },
  }
}

function numberIn(item: Typed, at: Position): Decimal {
  const number = item.value instanceof Quantity ? item.value.value : kindOf(item) && toDecimal(item.value)
  if (!number) throw executionError('expected a number', at)
  return number
}

function abs(value: Decimal, _args: readonly Items[], item: Typed): Items {
  const positive = value.digits < 0n ? new Decimal(-value.digits, value.scale) : value
  if (item.value instanceof Quantity) {
    return [typed(new Quantity(positive, item.value.unit, item.value.calendar), 'System.Quantity')]
  }
  return kindOf(item) === 'System.Integer' ? whole(positive) : decimal(positive)
}

function whole(value: Decimal): Items {
  return [typed(value.toJSON(), 'System.Integer')]
}

function decimal(value: Decimal): Items {
  return [typed(value, 'System.Decimal')]
}

/** Empty when the result is not a number or not finite. */
function float(value: number): Items {
  const result = Number.isFinite(value) ? parseDecimal(String(value)) : undefined
  return result ? decimal(result) : EMPTY
}

function logarithm(value: number, base: number): number {
  if (base === 2) return Math.log2(value)
  return base === 10 ? Math.log10(value) : Math.log(value) / Math.log(base)
}

function withNumber(items: Items | undefined, run: (value: Decimal) => Items): Items {
  const number = toDecimal(items?.[0]?.value)
  return number ? run(number) : EMPTY
}
