// Turns a syntax tree into closures, checking it against the types on the way. http://hl7.org/fhirpath/N1/

import { didYouMean, nearest } from '../lib/nearest.ts'
import { signed } from './arithmetic.ts'
import type { Call, Expression, Indexer, Literal, Member, Special, TypeOperation } from './ast.ts'
import { parseDecimal } from './decimal.ts'
import { FhirPathError, semanticError } from './errors.ts'
import { functions } from './functions/table.ts'
import {
  type CallSite,
  EMPTY,
  type Items,
  type Node,
  once,
  only,
  type Scope,
  type Step,
  type Typed,
  type Types,
  typed,
} from './node.ts'
import { binaryNode } from './operators.ts'
import { elementStep, filterStep, focusNode, follow } from './path.ts'
import { Quantity } from './quantity.ts'
import { parseTemporal } from './temporal.ts'
import { isNode, ofTypeNode, resolveNode, typeArgument, typeNamed } from './type-operations.ts'
import { integerOf } from './values.ts'
import { boundNode, unknownVariable, variableNode } from './variables.ts'

/** Compiles an expression whose `$this` is described by the scope. */
export function build(expression: Expression, scope: Scope): Node {
  switch (expression.kind) {
    case 'literal':
      return constant(literalValue(expression))
    case 'empty':
      return { types: [], run: () => EMPTY }
    case 'special':
      return specialNode(expression, scope)
    case 'variable':
      scope.watch?.(expression, undefined)
      return variableNode(expression, scope)
    case 'member':
      return memberNode(expression, scope)
    case 'call':
      return callNode(expression, scope)
    case 'indexer':
      return indexerNode(expression, scope)
    case 'unary':
      return signed(expression.operator, build(expression.operand, scope), expression.at)
    case 'binary':
      return binaryNode(expression, operand(expression.left, scope), operand(expression.right, scope))
    case 'type':
      return typeNode(expression, scope)
  }
}

function operand(expression: Expression, scope: Scope): Node {
  return once(build(expression, fork(scope)), scope)
}

/** What is defined inside an operand or argument is not known outside it. */
function fork(scope: Scope): Scope {
  return { ...scope, defined: new Map(scope.defined) }
}

function constant(item: Typed): Node {
  const items: Items = Object.freeze([Object.freeze(item)])
  return { types: [item.type], constant: item, run: () => items }
}

function literalValue({ type, text, unit, calendar, at }: Literal): Typed {
  switch (type) {
    case 'Boolean':
      return typed(text === 'true', 'System.Boolean')
    case 'String':
      return typed(text, 'System.String')
    case 'Integer':
      return typed(Number(text), 'System.Integer')
    case 'Decimal':
      return typed(parseDecimal(text), 'System.Decimal')
    case 'Quantity':
      return typed(new Quantity(parseDecimal(text)!, unit!, calendar), 'System.Quantity')
    default:
      return temporalLiteral(type, text, at)
  }
}

function temporalLiteral(type: 'Date' | 'DateTime' | 'Time', text: string, at: Literal['at']): Typed {
  const kind = ({ Date: 'date', DateTime: 'dateTime', Time: 'time' } as const)[type]
  if (!parseTemporal(text, kind)) throw new FhirPathError('syntax', `@${text} is not a valid ${kind}`, at)
  return typed(text.replace(/T$/, ''), `System.${type}`)
}

const INTEGER: Types = ['System.Integer']

function specialNode({ name }: Special, scope: Scope): Node {
  if (name === 'this') return focusNode(scope.types)
  if (name === 'total') return { types: scope.totals, run: (_focus, state) => state.total }
  return { types: INTEGER, run: (_focus, state) => [typed(state.index, 'System.Integer')] }
}

function memberNode(member: Member, scope: Scope): Node {
  const { input, name, at } = member
  if (!input) scope.watch?.(member, scope.types)
  const named = input ? undefined : (hostNode(name, scope) ?? typeFilter(name, scope, at))
  if (named) return named
  const node = input ? build(input, scope) : focusNode(scope.types)
  if (input) scope.watch?.(member, node.types)
  const step = elementStep(scope.system, node.types, name)
  if (step) return follow(node, step)
  const choice = scope.jsonNames ? jsonChoice(scope, node.types, name) : undefined
  if (choice) return follow(node, choice)
  if (scope.strict && node.types?.length) throw unknownElement(scope, node.types, name, at)
  if (scope.names && !input) throw unknownVariable(name, scope, at)
  return { types: [], run: () => EMPTY }
}

/** A variable of the host language, unless it stands inside a lambda whose items have an element of that name. */
function hostNode(name: string, { names, inner, system, types }: Scope): Node | undefined {
  const bound = names?.get(name)
  if (!bound || (inner && types?.length && elementStep(system, types, name))) return undefined
  return boundNode(bound)
}

/** `valueString` for `value`. */
function jsonChoice({ system }: Scope, types: Types, name: string): Step | undefined {
  const [type] = types ?? []
  const property = types?.length === 1 ? system.properties(type!).get(name) : undefined
  return property && elementStep(system, types, property.name)?.only?.([property.type])
}

function unknownElement({ system }: Scope, types: readonly string[], name: string, at: Member['at']): FhirPathError {
  const elements = types.flatMap(type => [...(system.model.typeModel(type)?.elements.keys() ?? [])])
  const meant = nearest(name, elements)
  const question = didYouMean(meant)
  return semanticError(`${types.join(' or ')} has no element \`${name}\`${question}`, at, meant)
}

/** A path may begin with the name of the type it is for: `Patient.name`. */
function typeFilter(name: string, { system, types, strict }: Scope, at: Member['at']): Node | undefined {
  const isType = /^[A-Z]/.test(name) && system.model.typeModel(name) !== undefined
  if (!isType) return undefined
  const focus = focusNode(types)
  if (!types)
    return follow(
      focus,
      filterStep(system.isOpen(name) ? undefined : [name], (_, type) => system.isSubtype(type, name)),
    )
  if (types.some(type => system.isSubtype(type, name) || system.isSubtype(name, type))) return focus
  if (strict) throw semanticError(`the expression is evaluated on ${types.join(' or ')}, not on ${name}`, at)
  return { types: [], run: () => EMPTY }
}

function indexerNode({ input, index, at }: Indexer, scope: Scope): Node {
  const items = build(input, scope)
  const position = build(index, fork(scope))
  if (items.unordered && scope.strict) throw semanticError('children() and descendants() have no order to index', at)
  return {
    types: items.types,
    run(focus, state) {
      const at0 = integerOf(only(position.run(focus, state), at))
      const found = at0 === undefined ? undefined : items.run(focus, state)[at0]
      return found ? [found] : EMPTY
    },
  }
}

function typeNode({ operator, input, type, at }: TypeOperation, scope: Scope): Node {
  const name = typeNamed(type, scope, at)
  const resolving = resolveInput(input, scope)
  if (operator === 'is') return isNode(resolving ?? build(input, fork(scope)), name, scope, at, resolving !== undefined)
  return resolving ? resolveNode(resolving, scope, name) : ofTypeNode(build(input, fork(scope)), name, scope)
}

/** For `x.resolve()`, returns the node of `x`: what follows needs only the type, which the reference's text contains. */
function resolveInput(expression: Expression | undefined, scope: Scope): Node | undefined {
  if (expression?.kind !== 'call' || expression.name !== 'resolve' || expression.args.length > 0) return undefined
  return expression.input ? build(expression.input, scope) : focusNode(scope.types)
}

/** Regular expressions that take exponential time, and what can double its result again and again. */
const UNBOUNDED = new Set(
  'matches matchesFull replaceMatches replace repeat aggregate select iif defineVariable'.split(' '),
)

function callNode(call: Call, scope: Scope): Node {
  const { name, args, at } = call
  scope.watch?.(call, undefined)
  const spec = functions.get(name)
  if (!spec) throw unknownFunction(name, at)
  if (args.length < spec.min || args.length > spec.max) throw semanticError(wrongCount(name, spec, args.length), at)
  if (scope.untrusted && UNBOUNDED.has(name)) throw semanticError(`${name}() is not allowed in this expression`, at)
  const resolving = name === 'is' || name === 'ofType' || name === 'as' ? resolveInput(call.input, scope) : undefined
  if (resolving) {
    const type = typeArgument(args[0]!, scope)
    return name === 'is' ? isNode(resolving, type, scope, at, true) : resolveNode(resolving, scope, type)
  }
  return spec.build(callSite(call, scope))
}

function unknownFunction(name: string, at: Call['at']): FhirPathError {
  const meant = nearest(name, [...functions.keys()])
  const question = didYouMean(meant)
  return semanticError(`there is no function ${name}()${question}`, at, meant)
}

function callSite({ name, args, at, input }: Call, scope: Scope): CallSite {
  const node = input ? build(input, scope) : focusNode(scope.types)
  return {
    name,
    at,
    args,
    scope,
    input: node,
    arg: index => build(args[index]!, fork(scope)),
    lambda(argument, types = node.types, totals) {
      const body = typeof argument === 'number' ? args[argument]! : argument
      return build(body, { ...fork(scope), types, totals: totals ?? scope.totals, inner: true })
    },
  }
}

function wrongCount(name: string, { min, max }: { min: number; max: number }, given: number): string {
  const wanted = min === max ? String(min) : `${min} to ${max}`
  return `${name}() takes ${wanted} argument${wanted === '1' ? '' : 's'}, not ${given}`
}
