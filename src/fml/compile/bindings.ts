// The variables of rules as expressions see them: values with types, read from the frame.

import type { Binding, Items, Names } from '../../fhirpath/compile.ts'
import { typed } from '../../fhirpath/node.ts'
import type { TypeSystem } from '../../fhirpath/types.ts'
import { type Frame, itemsAt, type Json, type Place, valueAt } from '../run/frame.ts'
import type { Scope, Variable } from './scope.ts'

const bindings = new WeakMap<Variable, Binding>()

/** The variables as expressions see them; each is bound when an expression names it. */
export function namesOf({ variables, build }: Scope): Names {
  const bound = (variable: Variable): Binding => {
    let binding = bindings.get(variable)
    if (!binding) bindings.set(variable, (binding = bindingOf(variable, build.system)))
    return binding
  }
  return {
    get(name) {
      const variable = variables.get(name)
      return variable && bound(variable)
    },
    has: name => variables.has(name),
    keys: () => variables.keys(),
  }
}

const NOTHING: Items = []

function bindingOf(variable: Variable, system: TypeSystem): Binding {
  if (variable.kind === 'constant') {
    const { types, constant } = variable
    return { types, constant, read: env => variable.read(env as Frame) }
  }
  const { slot } = variable
  if (variable.kind === 'source') return { types: variable.types, read: env => itemsAt(env as Frame, slot) ?? NOTHING }
  const { type } = variable
  if (variable.kind === 'place') {
    return {
      types: [variable.type],
      read: env => {
        const place = (env as Frame).vars[slot] as Place | undefined
        const value = place && valueAt(place)
        return value === undefined || value === null ? NOTHING : [typed(value, variable.type)]
      },
    }
  }
  return {
    types: type === undefined || system.isOpen(type) ? undefined : [type],
    read: env => {
      const value = (env as Frame).vars[slot] as Json | undefined
      return value === undefined ? NOTHING : [typed(value, type ?? '')]
    },
  }
}
