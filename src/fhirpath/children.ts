// children(): every element of a value of any type. http://hl7.org/fhirpath/N1/#tree-navigation

import type { Sink, Step } from './node.ts'
import { dispatch } from './path.ts'
import { eachOwn, property, propertySink } from './property.ts'
import { spend } from './steps.ts'
import type { TypeSystem } from './types.ts'

/** The step from values to all their elements. */
export function childrenStep(system: TypeSystem): Step {
  return { types: undefined, plain: true, sink: next => dispatch(type => childrenSink(system, type, next)) }
}

function childrenSink(system: TypeSystem, type: string, next: Sink): Sink {
  if (system.isPrimitive(type))
    return both(propertySink(system, type, 'id', next), propertySink(system, type, 'extension', next))
  const sinks = new Map<string, Sink>()
  for (const [key, { name, type: childType }] of system.properties(type)) {
    sinks.set(key, property(system, key, name, childType, next))
  }
  const known = sinks.size > 0
  return (value, itemType, sibling, path, state) => {
    if (typeof value !== 'object' || value === null) return
    const keys = Object.keys(value)
    spend(state, keys.length)
    for (const key of keys) {
      const under = key.startsWith('_')
      const name = under ? key.slice(1) : key
      if (under && Object.hasOwn(value, name)) continue
      const sink = sinks.get(name)
      if (sink) sink(value, itemType, sibling, path, state)
      else if (!known && key !== 'resourceType') {
        eachOwn(system, (value as Record<string, unknown>)[key], path && `${path}.${key}`, state, next)
      }
    }
  }
}

function both(first: Sink | undefined, second: Sink | undefined): Sink {
  return (value, type, sibling, path, state) => {
    first?.(value, type, sibling, path, state)
    second?.(value, type, sibling, path, state)
  }
}
