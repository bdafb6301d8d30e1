// Picking, combining and ordering the items of collections. http://hl7.org/fhirpath/N1/#subsetting

import type { Expression } from '../ast.ts'
import { compareItems, distinct, Seen } from '../equality.ts'
import { executionError, semanticError } from '../errors.ts'
import { type CallSite, type Items, type Node, only, type State, type Typed, type Types } from '../node.ts'
import { unionNode, unionTypes } from '../operators.ts'
import { spend } from '../steps.ts'
import { integerOf } from '../values.ts'
import { collectionFunction, type FunctionSpec, type Functions, inputTypes } from './spec.ts'

export const subsetting: Functions = {
  single: collectionFunction(
    0,
    (input, _args, _state, at) => {
      only(input, at)
      return input
    },
    inputTypes,
  ),
  first: ordered(collectionFunction(0, input => input.slice(0, 1), inputTypes)),
  last: ordered(collectionFunction(0, input => input.slice(-1), inputTypes)),
  tail: ordered(collectionFunction(0, input => input.slice(1), inputTypes)),
  skip: ordered(collectionFunction(1, (input, [count]) => input.slice(Math.max(0, whole(count))), inputTypes)),
  take: ordered(collectionFunction(1, (input, [count]) => input.slice(0, Math.max(0, whole(count))), inputTypes)),
  intersect: collectionFunction(
    1,
    (input, [other = []], state) => distinct(input.filter(among(other, state)), state),
    inputTypes,
  ),
  exclude: collectionFunction(
    1,
    (input, [other = []], state) => {
      const excluded = among(other, state)
      return input.filter(item => !excluded(item))
    },
    inputTypes,
  ),
  union: { min: 1, max: 1, build: call => unionNode(call.input, call.arg(0)) },
  combine: collectionFunction([1, 2], (input, [other = []]) => [...input, ...other], bothTypes),
  sort: { min: 0, max: 20, build: sortNode },
}

function bothTypes(call: CallSite): Types {
  return unionTypes(call.input.types, call.arg(0).types)
}

function whole(count: Items | undefined): number {
  return integerOf(count?.[0]) ?? 0
}

function among(items: Items, state: State): (item: Typed) => boolean {
  const seen = new Seen(state)
  for (const item of items) seen.add(item)
  return item => seen.has(item, state)
}

/** Refuses what depends on an order that children() and descendants() do not have. */
function ordered(spec: FunctionSpec): FunctionSpec {
  return {
    ...spec,
    build(call) {
      if (call.input.unordered && call.scope.strict) {
        throw semanticError(`${call.name}() needs an order, which children() and descendants() do not have`, call.at)
      }
      return spec.build(call)
    },
  }
}

interface Key {
  readonly node: Node
  readonly descending: boolean
}

/** sort(key, -key): a minus sign before a key sorts descending, also for strings; `key desc` is read as `-key`. */
function sortNode(call: CallSite): Node {
  const keys = call.args.map(argument => sortKey(call, argument))
  return {
    types: call.input.types,
    run(focus, state) {
      const input = call.input.run(focus, state)
      spend(state, 1 + input.length)
      if (keys.length === 0) return [...input].sort((a, b) => compareKeys(a, b, call, state))
      const rows = input.map(item => ({ item, keys: keys.map(key => keyOf(key, item, state, call)) }))
      rows.sort((a, b) => compareRows(a.keys, b.keys, keys, call, state))
      return rows.map(row => row.item)
    },
  }
}

function sortKey(call: CallSite, argument: Expression): Key {
  const descending = argument.kind === 'unary' && argument.operator === '-'
  return { node: call.lambda(descending ? argument.operand : argument), descending }
}

function keyOf({ node }: Key, item: Typed, state: State, call: CallSite): Typed | undefined {
  return only(node.run([item], state), call.at)
}

function compareRows(
  a: readonly (Typed | undefined)[],
  b: readonly (Typed | undefined)[],
  keys: readonly Key[],
  call: CallSite,
  state: State,
): number {
  for (const [i, key] of keys.entries()) {
    const order = compareKeys(a[i], b[i], call, state)
    if (order !== 0) return key.descending && a[i] && b[i] ? -order : order
  }
  return 0
}

/** Absent keys come first in either direction, as HL7's testSort10 has it. */
function compareKeys(a: Typed | undefined, b: Typed | undefined, call: CallSite, state: State): number {
  if (!a || !b) return (a ? 1 : 0) - (b ? 1 : 0)
  const order = compareItems(a, b, state)
  if (order === null) throw executionError('sort() needs values that can be compared', call.at)
  return order ?? 0
}
