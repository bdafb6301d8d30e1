// Existence and counting. http://hl7.org/fhirpath/N1/#existence

import type { Position } from '../ast.ts'
import { isNumeric } from '../decimal.ts'
import { distinct, Seen } from '../equality.ts'
import { executionError } from '../errors.ts'
import { booleanNode, type Items, only, type State, testOf, typed } from '../node.ts'
import { collectionFunction, eachItem, type FunctionSpec, type Functions, inputTypes, question } from './spec.ts'

export const existence: Functions = {
  empty: question(0, input => input.length === 0),
  exists: { min: 0, max: 1, build: call => (call.args.length === 0 ? existsNode(call) : anyNode(call)) },
  all: { min: 1, max: 1, build: allNode },
  not: {
    min: 0,
    max: 0,
    build({ input, at }) {
      const test = testOf(input, at)
      return booleanNode((focus, state) => {
        const value = test(focus, state)
        return value === undefined ? undefined : !value
      })
    },
  },
  allTrue: question(0, (input, _args, _state, at) => booleans(input, at).every(value => value)),
  anyTrue: question(0, (input, _args, _state, at) => booleans(input, at).some(value => value)),
  allFalse: question(0, (input, _args, _state, at) => booleans(input, at).every(value => !value)),
  anyFalse: question(0, (input, _args, _state, at) => booleans(input, at).some(value => !value)),
  subsetOf: question(1, (input, [other = []], state) => isSubset(input, other, state)),
  supersetOf: question(1, (input, [other = []], state) => isSubset(other, input, state)),
  count: collectionFunction(
    0,
    input => [typed(input.length, 'System.Integer')],
    () => ['System.Integer'],
  ),
  distinct: collectionFunction(0, (input, _args, state) => distinct(input, state), inputTypes),
  isDistinct: question(0, (input, _args, state) => distinct(input, state).length === input.length),
  hasValue: question(0, (input, _args, _state, at) => {
    const item = only(input.length > 1 ? [] : input, at)
    return (
      item?.value !== undefined &&
      (typeof item.value !== 'object' || isNumeric(item.value) || item.type.startsWith('System.'))
    )
  }),
}

type Build = FunctionSpec['build']

function existsNode({ input }: Parameters<Build>[0]): ReturnType<Build> {
  return booleanNode((focus, state) => input.run(focus, state).length > 0)
}

function anyNode(call: Parameters<Build>[0]): ReturnType<Build> {
  const { input, at } = call
  const test = testOf(call.lambda(0), at)
  return booleanNode((focus, state) => {
    let found = false
    eachItem(input.run(focus, state), state, one => {
      found = test(one, state) === true
      return !found
    })
    return found
  })
}

function allNode(call: Parameters<Build>[0]): ReturnType<Build> {
  const { input, at } = call
  const test = testOf(call.lambda(0), at)
  return booleanNode((focus, state) => {
    let all = true
    eachItem(input.run(focus, state), state, one => {
      all = test(one, state) === true
      return all
    })
    return all
  })
}

function booleans(items: Items, at: Position): boolean[] {
  return items.map(({ value }) => {
    if (typeof value !== 'boolean') throw executionError('this function takes Booleans only', at)
    return value
  })
}

function isSubset(part: Items, whole: Items, state: State): boolean {
  const seen = new Seen(state)
  for (const item of whole) seen.add(item)
  return part.every(item => seen.has(item, state))
}
