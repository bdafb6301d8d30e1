// The operators of FHIRPath on compiled operands. http://hl7.org/fhirpath/N1/#operations

import { arithmetic } from './arithmetic.ts'
import type { Binary, BinaryOperator, Position } from './ast.ts'
import { compareItems, distinct, equal, equalItems, equivalent, Seen } from './equality.ts'
import { executionError, semanticError } from './errors.ts'
import { booleanNode, type Items, type Node, only, type Types, testOf, typed } from './node.ts'
import { type Steps, spend } from './steps.ts'
import { systemType } from './types.ts'
import { stringOf } from './values.ts'

type Truth = boolean | undefined

/** Compiles `left operator right`. */
export function binaryNode({ operator, at }: Binary, left: Node, right: Node): Node {
  const test = booleanOperator(operator, left, right, at)
  if (test) return test
  if (operator === '|') return unionNode(left, right)
  if (operator === '&') return concatNode(left, right, at)
  return arithmetic(operator as '+', left, right, at)
}

function booleanOperator(operator: BinaryOperator, left: Node, right: Node, at: Position): Node | undefined {
  switch (operator) {
    case '=':
      return equalNode(left, right, false)
    case '!=':
      return equalNode(left, right, true)
    case '~':
      return booleanNode((focus, state) => equivalent(left.run(focus, state), right.run(focus, state), state))
    case '!~':
      return booleanNode((focus, state) => !equivalent(left.run(focus, state), right.run(focus, state), state))
    case '<':
    case '>':
    case '<=':
    case '>=':
      return comparison(operator, left, right, at)
    case 'in':
      return membership(left, right, at)
    case 'contains':
      return membership(right, left, at)
    default:
      return logic(operator, left, right, at)
  }
}

function equalNode(left: Node, right: Node, negated: boolean): Node {
  const text = right.constant?.type === 'System.String' ? right.constant.value : undefined
  if (text !== undefined && left.types?.every(type => systemType(type) === 'System.String')) {
    return textEqualNode(left, text, negated)
  }
  return booleanNode((focus, state) => {
    const same = equal(left.run(focus, state), right.run(focus, state), state)
    return same === undefined ? undefined : same !== negated
  })
}

/** `system = 'phone'`: the commonest comparison, decided without looking at types. */
function textEqualNode(left: Node, text: unknown, negated: boolean): Node {
  const key = propertyOf(left)
  return booleanNode((focus, state) => {
    const value = key === undefined || focus.length !== 1 ? undefined : propertyIn(focus[0]!.value, key)
    if (typeof value === 'string') return (value === text) !== negated
    const items = left.run(focus, state)
    if (items.length === 0) return undefined
    return (items.length === 1 && items[0]!.value === text) !== negated
  })
}

/** The one property that a node reads of the focus. */
function propertyOf({ route }: Node): string | undefined {
  return route?.source === undefined && route?.steps.length === 1 ? route.steps[0]!.key : undefined
}

function propertyIn(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[key] : undefined
}

function comparison(operator: '<' | '>' | '<=' | '>=', left: Node, right: Node, at: Position): Node {
  return booleanNode((focus, state) => {
    const a = only(left.run(focus, state), at)
    const b = only(right.run(focus, state), at)
    if (a?.value === undefined || b?.value === undefined) return undefined
    const order = compareItems(a, b, state)
    if (order === undefined) return undefined
    if (order === null) throw executionError(`${operator} cannot compare ${nameOf(a.type)} with ${nameOf(b.type)}`, at)
    if (operator === '<') return order < 0
    if (operator === '>') return order > 0
    return operator === '<=' ? order <= 0 : order >= 0
  })
}

function nameOf(type: string): string {
  return type === '' ? 'an unknown type' : type
}

function membership(one: Node, many: Node, at: Position): Node {
  const { texts } = many
  const isText = texts && one.types?.every(type => systemType(type) === 'System.String')
  return booleanNode((focus, state) => {
    const item = only(one.run(focus, state), at)
    if (isText && typeof item?.value === 'string') return texts.has(item.value)
    const items = many.run(focus, state)
    if (many.fixed && items.length > 8) return item && lookup(items, state).has(item, state)
    return item && items.some(other => equalItems(item, other, state) === true)
  })
}

const lookups = new WeakMap<Items, Seen>()

/** For a collection that is searched repeatedly, as in R4's dom-3. */
function lookup(items: Items, steps: Steps): Seen {
  let seen = lookups.get(items)
  if (!seen) {
    seen = new Seen(steps)
    for (const item of items) seen.add(item)
    lookups.set(items, seen)
  }
  return seen
}

/** Three-valued logic: `undefined` is the empty collection. http://hl7.org/fhirpath/N1/#boolean-logic */
function logic(operator: BinaryOperator, left: Node, right: Node, at: Position): Node | undefined {
  if (operator !== 'and' && operator !== 'or' && operator !== 'xor' && operator !== 'implies') return undefined
  const a = testOf(left, at)
  const b = testOf(right, at)
  switch (operator) {
    case 'and':
      return booleanNode((focus, state) => {
        const first = a(focus, state)
        return first === false ? false : and(first, b(focus, state))
      })
    case 'or':
      return booleanNode((focus, state) => {
        const first = a(focus, state)
        return first === true ? true : or(first, b(focus, state))
      })
    case 'xor':
      return booleanNode((focus, state) => {
        const first = a(focus, state)
        const second = b(focus, state)
        return first === undefined || second === undefined ? undefined : first !== second
      })
    default:
      return booleanNode((focus, state) => {
        const first = a(focus, state)
        return first === false ? true : or(first === undefined ? undefined : false, b(focus, state))
      })
  }
}

function and(a: Truth, b: Truth): Truth {
  if (a === false || b === false) return false
  return a === undefined || b === undefined ? undefined : true
}

function or(a: Truth, b: Truth): Truth {
  if (a === true || b === true) return true
  return a === undefined || b === undefined ? undefined : false
}

/** The types of two collections together. */
export function unionTypes(a: Types, b: Types): Types {
  return a && b && [...new Set([...a, ...b])]
}

/** Either collection's items without duplicates. */
export function unionNode(left: Node, right: Node): Node {
  return {
    types: unionTypes(left.types, right.types),
    texts: textsOf(left, right),
    fixed: left.fixed && right.fixed,
    reads: left.reads && right.reads && [...left.reads, ...right.reads],
    run(focus, state) {
      const a = left.run(focus, state)
      const b = right.run(focus, state)
      spend(state, 1 + a.length + b.length)
      if (b.length === 0) return distinct(a, state)
      return distinct(a.length === 0 ? b : [...a, ...b], state)
    },
  }
}

function textsOf(left: Node, right: Node): ReadonlySet<string> | undefined {
  const texts = [left, right].map(({ constant, texts }) =>
    constant?.type === 'System.String' ? [String(constant.value)] : texts && [...texts],
  )
  return texts.every(each => each !== undefined) ? new Set(texts.flat()) : undefined
}

/** A primitive that is only an extension counts as empty, as every other one without a value does. */
function concatNode(left: Node, right: Node, at: Position): Node {
  const text = (items: Items) => {
    const item = only(items, at)
    const value = stringOf(item)
    if (item?.value !== undefined && value === undefined) throw executionError('& joins strings only', at)
    return value ?? ''
  }
  return {
    types: ['System.String'],
    run(focus, state) {
      const joined = text(left.run(focus, state)) + text(right.run(focus, state))
      spend(state, 1 + (joined.length >> 5))
      return [typed(joined, 'System.String')]
    },
  }
}

/** Refuses an operand that can only be of the wrong kind. */
export function requireKinds(node: Node, kinds: readonly string[], what: string, at: Position): void {
  const impossible = node.types?.length && node.types.every(type => !kinds.includes(systemType(type) ?? type))
  if (impossible) throw semanticError(`${what} cannot be used on ${node.types?.join(' or ')}`, at)
}
