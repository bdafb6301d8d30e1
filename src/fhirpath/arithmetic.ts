// + - * / div mod and the sign, on numbers, strings, dates and quantities. http://hl7.org/fhirpath/N1/#math

import type { Position } from './ast.ts'
import { add, Decimal, divide, divideWhole, hasTooManyDigits, multiply, negate, toDecimal } from './decimal.ts'
import { temporalOf } from './equality.ts'
import { executionError, semanticError } from './errors.ts'
import { EMPTY, type Items, type Node, only, type Typed, type Types, typed } from './node.ts'
import { addQuantities, multiplyQuantities, Quantity, toQuantity } from './quantity.ts'
import { spend, spendText } from './steps.ts'
import { addTo, formatTemporal } from './temporal.ts'
import { systemType } from './types.ts'
import { kindOf } from './values.ts'

export type ArithmeticOperator = '+' | '-' | '*' | '/' | 'div' | 'mod'

/** Compiles an arithmetic operation; nothing in, nothing out. */
export function arithmetic(operator: ArithmeticOperator, left: Node, right: Node, at: Position): Node {
  refuseNumberOnDate(operator, left, right, at)
  return {
    types: resultTypes(operator, left.types, right.types),
    run(focus, state) {
      const a = only(left.run(focus, state), at)
      const b = only(right.run(focus, state), at)
      spend(state)
      if (a?.value === undefined || b?.value === undefined) return EMPTY
      const result = calculate(operator, a, b, at)
      const value = result[0]?.value
      if (typeof value === 'string') spendText(state, value.length)
      if (isTooLong(value)) throw executionError('the number has too many digits', at)
      return result
    },
  }
}

/** Numbers do not grow without end, however often they are multiplied. */
function isTooLong(value: unknown): boolean {
  const number = value instanceof Quantity ? value.value : value
  return number instanceof Decimal && hasTooManyDigits(number)
}

function refuseNumberOnDate(operator: string, left: Node, right: Node, at: Position): void {
  const dated = left.types?.length && left.types.every(type => isTemporal(systemType(type)))
  const wrong = right.types?.length && right.types.every(type => isNumber(systemType(type)))
  if (dated && wrong) throw semanticError(`${operator} on a date needs a quantity such as 7 days`, at)
}

function resultTypes(operator: ArithmeticOperator, left: Types, right: Types): Types {
  const a = left?.length === 1 ? systemType(left[0]!) : undefined
  const b = right?.length === 1 ? systemType(right[0]!) : undefined
  if (isNumber(a) && isNumber(b)) {
    if (operator === 'div') return ['System.Integer']
    return a === b && a === 'System.Integer' && operator !== '/' ? ['System.Integer'] : ['System.Decimal']
  }
  if (a === 'System.String' || isTemporal(a)) return [a!]
  return undefined
}

function isNumber(kind: string | undefined): boolean {
  return kind === 'System.Integer' || kind === 'System.Decimal'
}

function isTemporal(kind: string | undefined): boolean {
  return kind === 'System.Date' || kind === 'System.DateTime' || kind === 'System.Time'
}

function calculate(operator: ArithmeticOperator, a: Typed, b: Typed, at: Position): Items {
  const kindA = kindOf(a)
  const kindB = kindOf(b)
  if (isNumber(kindA) && isNumber(kindB))
    return onNumbers(operator, a, b, kindA === 'System.Integer' && kindB === kindA)
  if (operator === '+' && kindA === 'System.String' && kindB === kindA) return [typed(`${a.value}${b.value}`, kindA)]
  if (isTemporal(kindA) && kindB === 'System.Quantity' && (operator === '+' || operator === '-')) {
    return onTemporal(operator, a, kindA!, b, at)
  }
  const left = toQuantity(a.value)
  const right = toQuantity(b.value)
  if (left && right && operator !== 'div' && operator !== 'mod') return onQuantities(operator, left, right)
  throw executionError(
    `${operator} cannot be used on ${a.type || 'an unknown type'} and ${b.type || 'an unknown type'}`,
    at,
  )
}

function onNumbers(operator: ArithmeticOperator, a: Typed, b: Typed, integers: boolean): Items {
  const x = toDecimal(a.value)
  const y = toDecimal(b.value)
  const result = x && y && onDecimals(operator, x, y)
  if (!result) return EMPTY
  if (operator === 'div' || (integers && operator !== '/')) return [typed(result.toJSON(), 'System.Integer')]
  return [typed(result, 'System.Decimal')]
}

function onDecimals(operator: ArithmeticOperator, a: Decimal, b: Decimal): Decimal | undefined {
  switch (operator) {
    case '+':
      return add(a, b)
    case '-':
      return add(a, negate(b))
    case '*':
      return multiply(a, b)
    case '/':
      return divide(a, b)
    case 'div':
      return divideWhole(a, b)?.quotient
    case 'mod':
      return divideWhole(a, b)?.rest
  }
}

function onQuantities(operator: '+' | '-' | '*' | '/', a: Quantity, b: Quantity): Items {
  const result =
    operator === '+' || operator === '-'
      ? addQuantities(a, b, operator === '+' ? 1 : -1)
      : multiplyQuantities(a, b, operator === '*' ? 1 : -1)
  return result ? [typed(result, 'System.Quantity')] : EMPTY
}

/** UCUM's definite durations that calendar arithmetic also takes; its years and months are not calendar ones. */
const DEFINITE: Readonly<Record<string, string>> = {
  wk: 'week',
  d: 'day',
  h: 'hour',
  min: 'minute',
  s: 'second',
  ms: 'millisecond',
}
const WORDS = new Set(['year', 'month', 'week', 'day', 'hour', 'minute', 'second', 'millisecond'])

function onTemporal(operator: '+' | '-', a: Typed, kind: string, b: Typed, at: Position): Items {
  const temporal = temporalOf(a)
  const quantity = toQuantity(b.value)
  if (!temporal || !quantity) return EMPTY
  const word = quantity.unit.replace(/s$/, '')
  const unit = WORDS.has(word) ? word : Object.hasOwn(DEFINITE, quantity.unit) ? DEFINITE[quantity.unit] : undefined
  if (!unit) throw executionError(`'${quantity.unit}' is not a unit that can be added to a date`, at)
  const value = unit === 'second' ? wholeSeconds(quantity.value) : quantity.value
  const amount = (value ?? multiply(quantity.value, THOUSAND)).toJSON()
  const result = addTo(temporal, Math.trunc(amount) * (operator === '-' ? -1 : 1), value ? unit : 'millisecond')
  return result ? [typed(formatTemporal(result), kind)] : EMPTY
}

const THOUSAND = new Decimal(1000n, 0)

/** Of seconds alone the decimal places count; a number of them that has none. http://hl7.org/fhirpath/N1/#datetime-arithmetic */
function wholeSeconds(value: Decimal): Decimal | undefined {
  return Number.isInteger(value.toJSON()) ? value : undefined
}

/** Compiles `-operand` and `+operand`. */
export function signed(operator: '+' | '-', operand: Node, at: Position): Node {
  return {
    types: operand.types,
    constant: operand.constant && signedItem(operator, operand.constant, at),
    run(focus, state) {
      const item = only(operand.run(focus, state), at)
      return item?.value === undefined ? EMPTY : [signedItem(operator, item, at)]
    },
  }
}

function signedItem(operator: '+' | '-', item: Typed, at: Position): Typed {
  const { value } = item
  if (value instanceof Quantity) {
    return operator === '+' ? item : typed(new Quantity(negate(value.value), value.unit, value.calendar), item.type)
  }
  const number = isNumber(kindOf(item)) ? toDecimal(value) : undefined
  if (!number) throw executionError(`${operator} needs a number or a quantity`, at)
  if (operator === '+') return item
  return typed(typeof value === 'number' ? -value : negate(number), kindOf(item)!)
}
