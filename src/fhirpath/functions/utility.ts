// Tree navigation, utilities, time and aggregation. http://hl7.org/fhirpath/N1/#tree-navigation

import { childrenStep } from '../children.ts'
import { executionError, semanticError } from '../errors.ts'
import { type CallSite, EMPTY, type Items, type Node, once, only, type Typed, testOf, typed } from '../node.ts'
import { unionTypes } from '../operators.ts'
import { follow } from '../path.ts'
import { formatTemporal, fromInstant } from '../temporal.ts'
import { stringOf, toJson } from '../values.ts'
import { isTaken } from '../variables.ts'
import { MAX_ITEMS } from './filtering.ts'
import { collectionFunction, eachItem, type Functions, singletonFunction } from './spec.ts'

export const utility: Functions = {
  children: { min: 0, max: 0, build: childrenNode },
  descendants: { min: 0, max: 0, build: descendantsNode },
  trace: { min: 1, max: 2, build: traceNode },
  now: instantFunction(6, 'System.DateTime'),
  today: instantFunction(3, 'System.Date'),
  timeOfDay: instantFunction(0, 'System.Time'),
  iif: { min: 2, max: 3, build: iifNode },
  aggregate: { min: 1, max: 2, build: aggregateNode },
  defineVariable: { min: 1, max: 2, build: defineNode },
  type: singletonFunction(0, item => [typed(typeInfo(item.type), '')]),
}

function childrenNode({ input, scope }: CallSite): Node {
  return { ...follow(input, childrenStep(scope.system)), unordered: true }
}

/** Breadth first, so that depth costs no stack. */
function descendantsNode({ input, scope, at }: CallSite): Node {
  const children = follow({ types: undefined, run: focus => focus }, childrenStep(scope.system))
  const all: Node = {
    types: undefined,
    unordered: true,
    fixed: input.fixed,
    run(focus, state) {
      const found: Typed[] = []
      let level = children.run(input.run(focus, state), state)
      while (level.length > 0) {
        for (const item of level) found.push(item)
        if (found.length > MAX_ITEMS) throw executionError('descendants() finds too many values', at)
        level = children.run(level, state)
      }
      return found
    },
  }
  return once(all, scope)
}

function traceNode(call: CallSite): Node {
  const { input } = call
  const name = call.arg(0)
  const projection = call.args.length > 1 ? call.lambda(1) : undefined
  return {
    types: input.types,
    run(focus, state) {
      const items = input.run(focus, state)
      if (state.env.trace) {
        const seen = projection ? items.flatMap(item => [...projection.run([item], state)]) : items
        state.env.trace(stringOf(name.run(focus, state)[0]) ?? '', seen.map(toJson))
      }
      return items
    },
  }
}

/** Part of the present instant, which stays the same throughout one evaluation. */
function instantFunction(parts: number, type: string): Functions[string] {
  return collectionFunction(
    0,
    (_input, _args, state) => {
      const [year, month, day, ...time] = fromInstant((state.now ??= (state.env.now ?? systemClock)()).getTime())
      const kind = parts === 0 ? 'time' : 'dateTime'
      const all = parts === 0 ? time : [year!, month!, day!, ...time].slice(0, parts)
      return [typed(formatTemporal({ kind, parts: all, offset: parts === 6 ? 0 : undefined, fraction: 3 }), type)]
    },
    () => [type],
  )
}

function systemClock(): Date {
  return new Date()
}

/** Only the branch that is chosen is evaluated. http://hl7.org/fhirpath/N1/#iifcriterion-expression-true-result-collection--otherwise-result-collection-collection */
function iifNode(call: CallSite): Node {
  const { input, at } = call
  const criterion = call.lambda(0)
  if (call.scope.strict && criterion.types?.length && !criterion.types.some(isBoolean)) {
    throw semanticError('the first argument of iif() must be a Boolean', call.args[0]!.at)
  }
  const test = testOf(criterion, at)
  const yes = call.lambda(1)
  const no = call.args.length > 2 ? call.lambda(2) : undefined
  return {
    types: no ? unionTypes(yes.types, no.types) : yes.types,
    run(focus, state) {
      const items = input.run(focus, state)
      only(items, at)
      return test(items, state) ? yes.run(items, state) : (no?.run(items, state) ?? EMPTY)
    },
  }
}

function isBoolean(type: string): boolean {
  return type === 'System.Boolean' || type === 'boolean'
}

function aggregateNode(call: CallSite): Node {
  const { input } = call
  const initial = call.args.length > 1 ? call.arg(1) : undefined
  const aggregator = call.lambda(0)
  return {
    types: undefined,
    run(focus, state) {
      const around = state.total
      let total: Items = initial?.run(focus, state) ?? EMPTY
      eachItem(input.run(focus, state), state, one => {
        state.total = total
        total = aggregator.run(one, state)
        return true
      })
      state.total = around
      return total
    },
  }
}

/** The variable is there for what follows in the same chain of calls. http://hl7.org/fhirpath/#definevariable */
function defineNode(call: CallSite): Node {
  const { input, scope, at } = call
  const name = call.args[0]!
  if (name.kind !== 'literal' || name.type !== 'String') throw semanticError('the name must be a string', name.at)
  if (scope.defined.has(name.text)) throw semanticError(`%${name.text} is already defined`, at)
  if (isTaken(name.text, scope)) throw semanticError(`%${name.text} is predefined; choose another name`, name.at)
  const value = call.args.length > 1 ? call.lambda(1) : undefined
  const slot = scope.counter.slots++
  scope.defined.set(name.text, { slot, types: value ? value.types : input.types })
  return {
    types: input.types,
    run(focus, state) {
      const items = input.run(focus, state)
      state.slots[slot] = value ? value.run(items, state) : items
      return items
    },
  }
}

function typeInfo(type: string): { namespace: string; name: string } {
  return type.startsWith('System.')
    ? { namespace: 'System', name: type.slice('System.'.length) }
    : { namespace: 'FHIR', name: type }
}
