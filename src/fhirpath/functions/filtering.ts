// Filtering, projection and type selection. http://hl7.org/fhirpath/N1/#filtering-and-projection

import type { Expression } from '../ast.ts'
import { Seen } from '../equality.ts'
import { executionError } from '../errors.ts'
import { type CallSite, type Items, type Node, type State, type Typed, type Types, testOf } from '../node.ts'
import { unionTypes } from '../operators.ts'
import { filterStep, follow } from '../path.ts'
import { asNode, isNode, ofTypeNode, refersTo, resolveNode, typeArgument, typeNamed } from '../type-operations.ts'
import { eachItem, type Functions } from './spec.ts'

/** repeat() and descendants() give up beyond this many values. */
export const MAX_ITEMS = 500_000

export const filtering: Functions = {
  where: { min: 1, max: 1, build: whereNode },
  select: { min: 1, max: 1, build: selectNode },
  repeat: { min: 1, max: 1, build: repeatNode },
  ofType: {
    min: 1,
    max: 1,
    build: call => ofTypeNode(call.input, typeArgument(call.args[0]!, call.scope), call.scope),
  },
  as: {
    min: 1,
    max: 1,
    build: call => asNode(call.input, typeArgument(call.args[0]!, call.scope), call.scope, call.at),
  },
  is: {
    min: 1,
    max: 1,
    build: call => isNode(call.input, typeArgument(call.args[0]!, call.scope), call.scope, call.at, false),
  },
  resolve: { min: 0, max: 0, build: call => resolveNode(call.input, call.scope) },
}

function whereNode(call: CallSite): Node {
  const criterion = call.args[0]!
  const { system } = call.scope
  const target = resolvedType(criterion)
  if (target) {
    const type = typeNamed(target, call.scope, criterion.at)
    const step = filterStep(
      call.input.types,
      (value, _type, _sibling, _path, state) => refersTo(system, value, type, state) === true,
    )
    return follow(call.input, step)
  }
  const test = testOf(call.lambda(0), call.at)
  return usesIndex(criterion) ? countedWhere(call.input, test) : follow(call.input, whereStep(call.input.types, test))
}

function whereStep(types: Types, test: (focus: Items, state: State) => boolean | undefined) {
  return filterStep(
    types,
    (value, type, sibling, path, state) => test([{ value, type, path, sibling }], state) === true,
  )
}

function countedWhere(input: Node, test: (focus: Items, state: State) => boolean | undefined): Node {
  return {
    types: input.types,
    run(focus, state) {
      const found: Typed[] = []
      eachItem(input.run(focus, state), state, (one, item) => {
        if (test(one, state)) found.push(item)
        return true
      })
      return found
    },
  }
}

/** The type in `resolve() is Type`, which the reference's own text answers. */
function resolvedType(expression: Expression): readonly string[] | undefined {
  if (expression.kind !== 'type' || expression.operator !== 'is') return undefined
  const { input } = expression
  return input.kind === 'call' && input.name === 'resolve' && !input.input ? expression.type : undefined
}

function usesIndex(expression: Expression): boolean {
  switch (expression.kind) {
    case 'special':
      return expression.name === 'index'
    case 'member':
      return expression.input !== undefined && usesIndex(expression.input)
    case 'call':
      return (expression.input !== undefined && usesIndex(expression.input)) || expression.args.some(usesIndex)
    case 'indexer':
      return usesIndex(expression.input) || usesIndex(expression.index)
    case 'unary':
      return usesIndex(expression.operand)
    case 'binary':
      return usesIndex(expression.left) || usesIndex(expression.right)
    case 'type':
      return usesIndex(expression.input)
    default:
      return false
  }
}

function selectNode(call: CallSite): Node {
  const { input } = call
  const projection = call.lambda(0)
  return {
    types: projection.types,
    run(focus, state) {
      const found: Typed[] = []
      eachItem(input.run(focus, state), state, one => {
        for (const item of projection.run(one, state)) found.push(item)
        return true
      })
      return found
    },
  }
}

function repeatNode(call: CallSite): Node {
  const { input, at } = call
  const projection = fixpoint(call)
  return {
    types: projection.types,
    run(focus, state) {
      const seen = new Seen(state)
      const found: Typed[] = []
      let queue: Items = input.run(focus, state)
      while (queue.length > 0) {
        const next: Typed[] = []
        eachItem(queue, state, one => {
          for (const item of projection.run(one, state)) if (seen.add(item)) next.push(item)
          return true
        })
        for (const item of next) found.push(item)
        if (found.length > MAX_ITEMS) throw executionError('repeat() finds too many values', at)
        queue = next
      }
      return found
    },
  }
}

/** The projection compiled for the input's types and all that it yields itself: `Questionnaire.repeat(item)`. */
function fixpoint(call: CallSite): Node {
  let types = call.input.types
  for (let round = 0; round < 5; round++) {
    const projection = call.lambda(0, types)
    const all = unionTypes(types, projection.types)
    if (all?.length === types?.length) return projection
    types = all
  }
  return call.lambda(0, undefined)
}
