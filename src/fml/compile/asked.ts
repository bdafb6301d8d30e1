// External references of expressions: value sets and profiles must be known, or compiling the map reports them.
// https://hl7.org/fhir/R4/fhirpath.html#functions

import type { Call, Expression } from '../../fhirpath/ast.ts'
import { didYouMean, nearestUrl } from '../../lib/nearest.ts'
import type { Span } from '../ast.ts'
import { NOWHERE, shown } from '../problem.ts'
import type { RunOptions } from '../run/frame.ts'
import { Refusal } from '../run/map-error.ts'
import { codingsOf } from '../value-set.ts'
import { namesOf } from './bindings.ts'
import { checkConditions } from './codings.ts'
import { visit } from './expression.ts'
import { type Build, lenient, replacing, report, type Scope } from './scope.ts'

/** Reports value sets, profiles, systems and codes that an expression names and that are not known here. */
export function checkAsked(tree: Expression, span: Span, scope: Scope): void {
  visit(tree, each => {
    checkConditions(each, span, scope)
    if (each.kind !== 'call') return
    if (each.name === 'memberOf') checkValueSet(each, span, scope)
    if (each.name === 'conformsTo') checkProfile(each, span, scope)
  })
}

function checkValueSet(call: Call, span: Span, scope: Scope): void {
  const url = constantIn(call, scope)
  const { terminology, structures } = scope.build
  if (url === undefined || terminology.valueSet(url)) return
  const place = placeOf(call, url, span)
  const meant = nearestUrl(url, [...terminology.urls, ...structures.valueSetUrls()])
  const message = `the value set ${shown(url)} is unknown, so memberOf() has no answer${didYouMean(meant)}`
  report(scope, place, message, { ...replacing(place, meant && `'${meant}'`), ...lenient(scope.build) })
}

function checkProfile(call: Call, span: Span, scope: Scope): void {
  const url = constantIn(call, scope)
  const { structures } = scope.build
  if (url === undefined || structures.byUrl(url) !== undefined) return
  const place = placeOf(call, url, span)
  const meant = nearestUrl(url, structures.urls)
  const way = didYouMean(meant, '; conformsTo() answers for the types of R4 and for logical models, not for profiles')
  report(scope, place, `the structure ${shown(url)} is unknown${way}`, {
    ...replacing(place, meant && `'${meant}'`),
    ...lenient(scope.build),
  })
}

/** %`vs-name` is the value set `name` of R4. */
const VALUE_SET = 'vs-'
const R4 = 'http://hl7.org/fhir/ValueSet/'

/** The text of the only argument, where it is a literal or a name for one. */
function constantIn({ args: [argument] }: Call, scope: Scope): string | undefined {
  if (argument?.kind === 'literal') return argument.type === 'String' ? argument.text : undefined
  if (argument?.kind === 'variable' && argument.name.startsWith(VALUE_SET))
    return R4 + argument.name.slice(VALUE_SET.length)
  const isName = argument?.kind === 'variable' || (argument?.kind === 'member' && !argument.input)
  const value = isName ? namesOf(scope).get(argument.name)?.constant?.value : undefined
  return typeof value === 'string' ? value : undefined
}

function placeOf({ args: [argument] }: Call, url: string, span: Span): Span {
  if (span === NOWHERE || !argument) return span
  const length = argument.kind === 'literal' ? url.length + 2 : 1
  return { ...argument.at, length }
}

/** How a run answers where its caller does not: by what the map was compiled with. */
export function answersOf({ terminology, structures, system }: Build): RunOptions {
  const memberOf = (value: unknown, _type: string, url: string): boolean => {
    const set = terminology.valueSet(url)
    if (!set) throw new Refusal(`the value set ${shown(url)} is unknown, so memberOf() has no answer`)
    const answers = codingsOf(value).map(each => set.has(each.code, each.system))
    if (answers.includes(true)) return true
    if (answers.includes(undefined))
      throw new Refusal(`the value set ${shown(url)} names codes that are unknown, so memberOf() has no answer`)
    return false
  }
  const conformsTo = (_value: unknown, url: string, from: string): boolean => {
    const type = structures.byUrl(url)
    if (type === undefined) throw new Refusal(`the structure ${shown(url)} is unknown, so conformsTo() has no answer`)
    return system.isSubtype(from, type)
  }
  return { memberOf, conformsTo }
}
