// Paths through a resource: each step is a closure made for the types it will meet, so following
// `Observation.component.code` is three property reads and no allocation before the result.
// https://hl7.org/fhir/R4/fhirpath.html · http://hl7.org/fhirpath/N1/#path-selection

import type { ElementModel } from '../definitions/model.ts'
import type { Items, Node, Route, Sink, State, Step, Types } from './node.ts'
import { propertySink } from './property.ts'
import { spend } from './steps.ts'
import { jsonKey, type TypeSystem } from './types.ts'

/** The focus itself, on which a path begins. */
export function focusNode(types: Types): Node {
  return { types, run: focus => focus, route: { source: undefined, steps: [] } }
}

/** A node followed by one more step. */
export function follow(node: Node, step: Step): Node {
  const route: Route = node.route
    ? { source: node.route.source, steps: [...node.route.steps, step] }
    : { source: node, steps: [step] }
  return routeNode(route, step.types, node.unordered)
}

/** A node whose last step finds only these types: `value as Quantity` reads `valueQuantity` and looks at nothing else. */
export function narrow(node: Node, types: readonly string[]): Node | undefined {
  const last = node.route?.steps.at(-1)
  if (!node.route || !last?.only) return undefined
  const step = last.only(types)
  return routeNode({ source: node.route.source, steps: [...node.route.steps.slice(0, -1), step] }, step.types)
}

function routeNode(route: Route, types: Types, unordered?: boolean): Node {
  let first: Sink | undefined
  const { source, steps } = route
  return {
    types,
    route,
    unordered,
    reads: source ? source.reads : steps[0]?.reads,
    fixed: source?.fixed && steps.every(step => step.plain),
    run(focus, state) {
      first ??= steps.reduceRight((next, step) => step.sink(next), collect)
      return walk(source ? source.run(focus, state) : focus, first, state)
    },
  }
}

function walk(input: Items, first: Sink, state: State): Items {
  const around = state.out
  const found: Items = (state.out = [])
  spend(state, 1 + input.length)
  for (const item of input) first(item.value, item.type, item.sibling, item.path, state)
  state.out = around
  return found
}

const collect: Sink = (value, type, sibling, path, state) => {
  spend(state)
  state.out.push({ value, type, path, sibling })
}

/**
 * The step to an element. Undefined if none of the types has it. With unknown types the step is made at run time, once
 * for each type it meets.
 */
export function elementStep(system: TypeSystem, types: Types, name: string): Step | undefined {
  if (!types)
    return { types: undefined, plain: true, sink: next => dispatch(type => propertySink(system, type, name, next)) }
  const having = types.filter(type => hasElement(system, type, name))
  const [single] = having
  if (single === undefined) return undefined
  const found = resultTypes(system, having, name)
  if (types.length > 1) {
    return { types: found, plain: true, sink: next => dispatch(type => propertySink(system, type, name, next)) }
  }
  const element = system.model.typeModel(single)?.elements.get(name)
  const choice = (element?.types.length ?? 0) > 1
  const isSingle = element?.max === 1 && !choice && system.isPrimitive(element.types[0]!)
  return {
    types: found,
    plain: true,
    key: isSingle ? name : undefined,
    reads: element && propertiesOf(system, element),
    sink: next => propertySink(system, single, name, next)!,
    only: choice ? kept => choiceStep(system, single, name, kept) : undefined,
  }
}

function choiceStep(system: TypeSystem, type: string, name: string, kept: readonly string[]): Step {
  const element = system.model.typeModel(type)?.elements.get(name)
  return {
    types: kept,
    plain: true,
    reads: element && propertiesOf(system, element, kept),
    sink: next => propertySink(system, type, name, next, kept)!,
  }
}

/** The JSON properties that hold an element where it has one of these types. https://hl7.org/fhir/R4/json.html */
function propertiesOf(system: TypeSystem, element: ElementModel, types = element.types): string[] {
  return types.flatMap(type => {
    const key = jsonKey(element, type)
    return system.isPrimitive(type) ? [key, `_${key}`] : [key]
  })
}

/** Chooses the sink by the type of each value; the sinks of types in the model are kept. */
export function dispatch(make: (type: string) => Sink | undefined): Sink {
  const known = new Map<string, Sink | undefined>()
  return (value, type, sibling, path, state) => {
    let sink = known.get(type)
    if (!sink && !known.has(type)) known.set(type, (sink = make(type)))
    sink?.(value, type, sibling, path, state)
  }
}

function hasElement(system: TypeSystem, type: string, name: string): boolean {
  if (system.isPrimitive(type)) return name === 'id' || name === 'extension' || name === 'value'
  return system.model.typeModel(type)?.elements.has(name) ?? true
}

function resultTypes(system: TypeSystem, types: readonly string[], name: string): Types {
  const found = new Set<string>()
  for (const type of types) {
    const element = system.model.typeModel(type)?.elements.get(name)
    const own = element && system.typesOf(element)
    if (!own) return undefined
    for (const one of own) found.add(one)
  }
  return [...found]
}

/** A step that lets some of the values through. */
export function filterStep(
  types: Types,
  keep: (value: unknown, type: string, sibling: unknown, path: string | undefined, state: State) => boolean,
): Step {
  return {
    types,
    sink: next => (value, type, sibling, path, state) => {
      spend(state)
      if (keep(value, type, sibling, path, state)) next(value, type, sibling, path, state)
    },
  }
}
