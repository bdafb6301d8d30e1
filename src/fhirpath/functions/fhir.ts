// The functions FHIR adds to FHIRPath. https://hl7.org/fhir/R4/fhirpath.html#functions

import { xhtmlProblem } from '../../lib/xhtml.ts'
import { READ_QUANTITIES } from '../equality.ts'
import { executionError, semanticError } from '../errors.ts'
import { booleanNode, type CallSite, EMPTY, type Node, only, type Scope, type Typed, typed } from '../node.ts'
import { elementStep, filterStep, follow } from '../path.ts'
import { comparableQuantities, toQuantity } from '../quantity.ts'
import { spend } from '../steps.ts'
import { systemType } from '../types.ts'
import { kindOf, stringOf, toJson } from '../values.ts'
import { type Functions, question, singletonFunction } from './spec.ts'

export const fhir: Functions = {
  extension: { min: 1, max: 1, build: extensionNode },
  getValue: singletonFunction(0, item => {
    const type = systemType(item.type)
    return type ? [typed(item.value, type)] : EMPTY
  }),
  memberOf: { min: 1, max: 1, build: memberNode },
  conformsTo: { min: 1, max: 1, build: conformsNode },
  htmlChecks: question(0, (input, _args, _state, at) => {
    const text = stringOf(only(input, at))
    return text === undefined ? undefined : xhtmlProblem(text) === undefined
  }),
  comparable: question(1, (input, [other], state, at) => {
    spend(state, READ_QUANTITIES)
    const a = quantityIn(only(input, at))
    const b = quantityIn(other && only(other, at))
    return a && b && comparableQuantities(a, b)
  }),
}

/** `extension(url)` is `extension.where(url = …)`, with a fixed url looked at directly. */
function extensionNode(call: CallSite): Node {
  const { input, scope } = call
  const extensions = elementStep(scope.system, input.types, 'extension')
  if (!extensions) return { types: ['Extension'], run: () => EMPTY }
  const url = call.arg(0)
  if (url.constant) {
    const wanted = url.constant.value
    return follow(
      follow(input, extensions),
      filterStep(['Extension'], value => urlOf(value) === wanted),
    )
  }
  const all = follow(input, extensions)
  return {
    types: ['Extension'],
    run(focus, state) {
      const wanted = stringOf(url.run(focus, state)[0])
      return all.run(focus, state).filter(item => urlOf(item.value) === wanted)
    },
  }
}

function urlOf(extension: unknown): unknown {
  return (extension as { readonly url?: unknown }).url
}

const membership = question(1, (input, [valueSet], state, at) => {
  const item = only(input, at)
  const url = stringOf(valueSet?.[0])
  if (item?.value === undefined || url === undefined) return undefined
  if (!state.env.memberOf)
    throw executionError('memberOf() is not supported here, because no value sets are available', at)
  return state.env.memberOf(toJson(item), item.type, url)
})

/** Search parameters and patches have no value sets: they are refused, where an answer would always be missing. */
function memberNode(call: CallSite): Node {
  const { scope, at } = call
  if (scope.untrusted && !scope.names)
    throw semanticError('memberOf() is not supported here, because no value sets are available', at)
  return membership.build(call)
}

const BASE_PROFILE = 'http://hl7.org/fhir/StructureDefinition/'

/** Base definitions are known here; other profiles are passed to `env.conformsTo`. */
function conformsNode(call: CallSite): Node {
  const { input, at, scope } = call
  const profile = call.arg(0)
  const named = profile.constant && stringOf(profile.constant)
  if (named !== undefined && scope.untrusted && !scope.names && !baseType(named, scope))
    throw semanticError(`conformsTo() supports only the types of R4 here, not the profile ${named}`, at)
  return booleanNode((focus, state) => {
    const item = only(input.run(focus, state), at)
    const url = stringOf(only(profile.run(focus, state), at))
    if (!item || url === undefined) return undefined
    const name = baseType(url, scope)
    if (name !== undefined) return scope.system.isSubtype(item.type, name)
    const answer = state.env.conformsTo?.(item.value, url, item.type)
    if (answer === undefined) throw executionError(`the profile ${url} is not known`, at)
    return answer
  })
}

/** The type that the URL of a base definition stands for. */
function baseType(url: string, { system }: Scope): string | undefined {
  const name = url.startsWith(BASE_PROFILE) ? url.slice(BASE_PROFILE.length) : ''
  return system.model.typeModel(name) && name
}

function quantityIn(item: Typed | undefined): ReturnType<typeof toQuantity> {
  return item && kindOf(item) === 'System.Quantity' ? toQuantity(item.value) : undefined
}
