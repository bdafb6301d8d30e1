// Composites in the index: two values of the same element, as a pair of postings or as an interval with a token.

import type { SearchParamModel } from '../../definitions/model.ts'
import { type CompiledTyped, compileTyped, type Typed } from '../../fhirpath/compile.ts'
import { spend } from '../../fhirpath/steps.ts'
import { isObject } from '../../lib/json.ts'
import type { Base } from '../base.ts'
import { expressionOptions } from '../search-params/expression.ts'
import { magnitudeOf, referenceTarget, stringsOf, tokensOf } from '../values.ts'
import { addDates, addMagnitudes, addWord, type Draft, type Extractor, mustFit } from './draft.ts'
import { componentParams, plainPath } from './param-paths.ts'
import type { ParamKey } from './postings.ts'
import * as postings from './postings.ts'

interface Component {
  readonly type: SearchParamModel['type']
  readonly run: CompiledTyped
}

// All components are read from the same element: that is what makes a composite.
export function compositeAdder(param: SearchParamModel, key: ParamKey, type: string, base: Base): Extractor['add'] {
  const [left, right, third] = componentsOf(param, type)
  if (!left || !right) return () => {}
  if (third) return stretchAdder(left, right, third, key)
  const add = isRange(right.type) ? addRangePair : addPair
  return (draft, values, resource, steps) => {
    for (const element of values) {
      const lefts = left.run(element.value, { resource }, steps)
      const rights = lefts.length > 0 ? right.run(element.value, { resource }, steps) : []
      if (steps) spend(steps, lefts.length * rights.length)
      if (rights.length > 0) add(draft, key, { left, right, lefts, rights, base })
    }
  }
}

/** The properties that each component of a composite of the whole resource reads, as an extractor needs them; none for any other parameter. */
export function componentNeeds(param: SearchParamModel, type: string): (readonly string[])[] {
  if (param.type !== 'composite' || param.expression?.trim() !== type) return []
  return componentsOf(param, type).flatMap(({ run }) => (run.reads ? [run.reads] : []))
}

/**
 * A token with two numbers, the start and the end of a stretch of a sequence. Searches count from 1, as R4 requires for these
 * parameters: for a resource that counts from 0 the start is shifted (https://hl7.org/fhir/R4/molecularsequence.html).
 */
function stretchAdder(token: Component, start: Component, end: Component, key: ParamKey): Extractor['add'] {
  return (draft, values, resource, steps) => {
    const moved = resource['coordinateSystem'] === 0 ? 1 : 0
    for (const { value } of values) {
      const numbers = (component: Component): number[] =>
        component.run(value, { resource }, steps).flatMap(each => magnitudeOf(each.type, each.value)?.low ?? [])
      const [low, high] = [numbers(start)[0], numbers(end)[0]]
      if (low === undefined || high === undefined) continue
      for (const { type, value: code } of token.run(value, { resource }, steps))
        for (const each of tokensOf(type, code).filter(one => one.code !== undefined))
          draft.spans.push({
            param: key.number,
            token: postings.spanToken(each.system ?? '', each.code!),
            unit: 0n,
            low: low + moved,
            high,
          })
    }
  }
}

interface Pair {
  readonly left: Component
  readonly right: Component
  readonly lefts: readonly Typed[]
  readonly rights: readonly Typed[]
  readonly base: Base
}

/** True for the kinds of parameter that are stored as intervals. */
export const isRange = (kind: SearchParamModel['type']): boolean =>
  kind === 'quantity' || kind === 'number' || kind === 'date'

function addRangePair(draft: Draft, key: ParamKey, { right, lefts, rights }: Pair): void {
  const tokens = lefts.flatMap(({ type, value }) => tokensOf(type, value)).filter(token => token.code !== undefined)
  for (const { system = '', code } of tokens) {
    mustFit(draft, key)
    const token = postings.spanToken(system, code!)
    if (right.type === 'date') addDates(draft, rights, key, token)
    else addMagnitudes(draft, rights, key.number, token)
  }
}

function addPair(draft: Draft, key: ParamKey, { left, right, lefts, rights, base }: Pair): void {
  for (const one of lefts.flatMap(value => pairKeys(left.type, value, base))) {
    mustFit(draft, key)
    if (right.type === 'string') {
      for (const { type, value } of rights)
        for (const part of stringsOf(type, value)) addWord(draft, key, pairWord(one, part))
      continue
    }
    for (const other of rights.flatMap(value => pairKeys(right.type, value, base)))
      draft.tokens.add(postings.pairPosting(key, one, other))
  }
}

/** A pair whose second value is a string, which is searched by how it begins. */
export const pairWord = (left: string, text: string): string => `${left}$${text}`

/** Returns every key by which a search may look up one component's value. */
function pairKeys(kind: SearchParamModel['type'], { type, value }: Typed, base: Base): string[] {
  if (kind === 'token') {
    return tokensOf(type, value).flatMap(({ system = '', code }) => [
      ...(code === undefined ? [] : [code, `${system}|${code}`]),
      ...(system ? [`${system}|`] : []),
    ])
  }
  if (kind === 'reference') {
    const reference = isObject(value) ? value['reference'] : value
    const target = typeof reference === 'string' ? referenceTarget(reference, base) : undefined
    return target ? [target] : []
  }
  return typeof value === 'string' ? [value] : []
}

/** The component parameters of a composite, compiled for the type of the element they are read from. */
function componentsOf(param: SearchParamModel, type: string): Component[] {
  const params = componentParams(param, type)
  const focus = plainPath(param.expression, type)?.type ?? type
  return (param.components ?? []).map((component, index) => {
    return { type: params[index]?.type ?? 'token', run: compileTyped(component.expression, expressionOptions(focus)) }
  })
}
