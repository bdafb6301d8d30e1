// How a FHIRPath function is described: how many arguments it takes, and how a call to it is compiled.

import type { Position } from '../ast.ts'
import {
  booleanNode,
  type CallSite,
  EMPTY,
  type Items,
  type Node,
  only,
  type State,
  type Typed,
  type Types,
} from '../node.ts'
import { spend, spendText } from '../steps.ts'

export interface FunctionSpec {
  readonly min: number
  readonly max: number
  build(call: CallSite): Node
}

export type Functions = Readonly<Record<string, FunctionSpec>>

/** A function of the whole input collection and its evaluated arguments. */
export function collectionFunction(
  arity: number | readonly [number, number],
  run: (input: Items, args: readonly Items[], state: State, at: Position) => Items,
  types?: (call: CallSite) => Types,
): FunctionSpec {
  const [min, max] = typeof arity === 'number' ? [arity, arity] : arity
  return {
    min,
    max,
    build(call) {
      const { input, at } = call
      const args = evaluated(call.args.map((_, i) => call.arg(i)))
      return {
        types: types?.(call),
        run(focus, state) {
          const items = input.run(focus, state)
          const values = args(focus, state)
          spendItems(state, items, values)
          return run(items, values, state, at)
        },
      }
    },
  }
}

/** The values of arguments; literals have theirs once and for all. */
function evaluated(nodes: readonly Node[]): (focus: Items, state: State) => readonly Items[] {
  if (nodes.every(({ constant }) => constant)) {
    const fixed: readonly Items[] = nodes.map(({ constant }) => Object.freeze([constant!]))
    return () => fixed
  }
  return (focus, state) => nodes.map(node => node.run(focus, state))
}

/** A yes-or-no question about the whole input collection. */
export function question(
  arity: number | readonly [number, number],
  test: (input: Items, args: readonly Items[], state: State, at: Position) => boolean | undefined,
): FunctionSpec {
  const [min, max] = typeof arity === 'number' ? [arity, arity] : arity
  return {
    min,
    max,
    build({ input, at, args, arg }) {
      const values = evaluated(args.map((_, i) => arg(i)))
      return booleanNode((focus, state) => {
        const items = input.run(focus, state)
        const given = values(focus, state)
        spendItems(state, items, given)
        return test(items, given, state, at)
      })
    },
  }
}

/** Counts what a function is given. */
function spendItems(state: State, items: Items, args: readonly Items[]): void {
  let count = 1 + items.length
  for (const values of args) count += values.length
  spend(state, count)
  const only = items.length === 1 ? items[0]!.value : undefined
  if (typeof only === 'string') spendText(state, only.length)
}

/** A function of one value; nothing in, nothing out, and more than one value is an error. */
export function singletonFunction(
  arity: number | readonly [number, number],
  run: (input: Typed, args: readonly Items[], state: State, at: Position) => Items,
  types?: (call: CallSite) => Types,
): FunctionSpec {
  return collectionFunction(
    arity,
    (input, args, state, at) => {
      const item = only(input, at)
      return item?.value === undefined ? EMPTY : run(item, args, state, at)
    },
    types,
  )
}

/** Keeps the input's types. */
export function inputTypes({ input }: CallSite): Types {
  return input.types
}

/** Runs `visit` for each item with `$index` set. Stops when it answers false. */
export function eachItem(items: Items, state: State, visit: (one: Items, item: Typed) => boolean | undefined): void {
  const around = state.index
  for (let i = 0; i < items.length; i++) {
    spend(state)
    state.index = i
    if (visit([items[i]!], items[i]!) === false) break
  }
  state.index = around
}
