// The criteria of a search: parameters with their modifiers, chains and _has (https://hl7.org/fhir/R4/search.html#chaining).
import { isResourceType, resourceTypes } from '../../definitions/r4.ts'
import { commonParam, type SearchParams } from '../search-params/known.ts'
import { mustBeAnswered, mustLead } from './answerable.ts'
import { readFilter } from './filter.ts'
import { readList } from './lists.ts'
import { checkModifier, checkTarget } from './modifiers.ts'
import { malformed, shown, splitOr, tooCostly, unescaped } from './query-text.ts'
import type { Criterion } from './request.ts'
import { readText } from './sql-text.ts'

const mostHops = 5

/** Reads one criterion; undefined if its parameter is not known. */
export function readCriterion(
  params: SearchParams,
  types: readonly string[],
  name: string,
  value: string,
  hops: number,
): Criterion | undefined {
  if (hops > mostHops) throw tooCostly(name, `A chain must have at most ${mostHops} hops.`)
  if (name.split(':', 1)[0] === '_list') return readList(types, name, splitOr(value).map(unescaped))
  if (name === '_filter') return readFilter(params, types, value)
  if (name.startsWith('_filter:')) throw malformed('_filter', '_filter does not support modifiers.')
  if (name.startsWith('_has:')) return readHas(params, types, name, value, hops)
  const dot = name.indexOf('.')
  if (dot > 0) return readChain(params, types, name.slice(0, dot), name.slice(dot + 1), value, hops)
  const [code, ...rest] = name.split(':')
  const param = commonParam(params, types, code!)
  if (!param) return undefined
  mustBeAnswered(param)
  const modifier = rest.join(':')
  if (code === '_text' || code === '_content') {
    if (modifier !== '') throw malformed(name, `${code} does not support modifiers.`)
    return readText(types, code, splitOr(value))
  }
  checkModifier(param, types, modifier, name)
  return { kind: 'param', types, param, modifier, values: splitOr(value) }
}

function readHas(
  params: SearchParams,
  types: readonly string[],
  name: string,
  value: string,
  hops: number,
): Criterion | undefined {
  const [, from, code, ...rest] = name.split(':')
  const inner = rest.join(':')
  if (!from || !isResourceType(from))
    throw malformed(
      name,
      `${shown(name)}: _has: must be followed by a resource type, e.g. _has:Observation:patient:code.`,
    )
  const param = code ? params.find(from, code) : undefined
  if (param?.type !== 'reference')
    throw malformed(name, `${shown(name)}: ${from} has no reference parameter "${shown(code ?? '')}".`)
  mustLead(param, [from], name)
  const criterion = readCriterion(params, [from], inner, value, hops + 1)
  if (!criterion) throw malformed(name, `${shown(name)}: ${from} has no parameter "${shown(inner)}".`)
  return { kind: 'has', types, from, param, criterion }
}

function readChain(
  params: SearchParams,
  types: readonly string[],
  head: string,
  tail: string,
  value: string,
  hops: number,
): Criterion | undefined {
  const [code, wanted] = head.split(':')
  const param = commonParam(params, types, code!)
  if (param?.type !== 'reference') return undefined
  if (wanted !== undefined && !isResourceType(wanted))
    throw malformed(head, `"${shown(wanted)}" is not a resource type.`)
  if (wanted !== undefined) checkTarget(param, wanted, head)
  mustLead(param, types, `${head}.${tail}`)
  const possible = wanted ? [wanted] : (param.targets ?? resourceTypes)
  const targets = possible.flatMap(type => {
    const criterion = readCriterion(params, [type], tail, value, hops + 1)
    return criterion ? [{ type, criterion }] : []
  })
  if (targets.length === 0)
    throw malformed(
      head,
      `${shown(head)}.${shown(tail)}: no target type of ${code} has the parameter "${shown(tail)}".`,
    )
  return { kind: 'chain', types, param, targets }
}
