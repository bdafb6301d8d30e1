// Sources: the values that a rule runs for. https://hl7.org/fhir/R4/mapping-language.html#7.7.0.6.1

import type { Items, Typed, Types } from '../../fhirpath/compile.ts'
import { EMPTY } from '../../fhirpath/node.ts'
import { didYouMean, nearest } from '../../lib/nearest.ts'
import type { Embedded, Path, Source } from '../ast.ts'
import { shown } from '../problem.ts'
import { countSteps, type Frame } from '../run/frame.ts'
import { Refusal } from '../run/map-error.ts'
import { defaulting } from './default.ts'
import { type Evaluation, expression } from './expression.ts'
import { narrowed } from './narrow.ts'
import { type Found, found } from './read.ts'
import { lenient, nextSlot, replacing, report, type Scope, withVariable } from './scope.ts'
import { type TextTest, textTest } from './text-test.ts'
import { typeNamed, unknownType } from './unit.ts'

/** A source ready to run. */
export interface SourceCode {
  /** The values that the rule runs for. */
  select(frame: Frame): Items
  /** What the rule's targets and inner rules see. */
  readonly scope: Scope
  /** Where the value of the moment is. */
  readonly slot: number
  readonly types: Types
  readonly codes: ReadonlySet<string> | undefined
  /** Part of what is being made. */
  readonly isGrowing: boolean | undefined
  /** Nothing keeps the rule from running for several values. */
  readonly isRepeated: boolean
}

/** Which of the values the rule runs for. */
type Select = (items: Items, frame: Frame) => Items

/** Compiles a source; undefined, and reported, where it names nothing. */
export function compileSource(source: Source, scope: Scope): SourceCode | undefined {
  const all = found(source.path, scope)
  if (!all) return undefined
  const types = source.type ? narrowedTypes(source.type, all.types, scope) : all.types
  if (types?.length === 0) return undefined
  const values = narrowedTo(types, all)
  const { isGrowing } = values
  const slot = nextSlot(scope)
  const fallback = source.default && defaulting(source.default, values, scope)
  const possible = fallback ? fallback.codes : values.codes
  const bind = (codes: ReadonlySet<string> | undefined): Scope =>
    source.variable
      ? withVariable(scope, source.variable.text, { kind: 'source', slot, types, codes, domain: possible, isGrowing })
      : scope
  const inner = bind(possible)
  const where = source.where && condition(source.where, types, inner)
  const quick = source.where && textTest(source.where.expression, types, source.variable?.text, scope)
  const codes = source.where ? codesLeft(source, source.where, possible, scope) : possible
  const steps: (Select | false | undefined)[] = [
    fallback?.select,
    source.type && values === all && ofType(types, scope),
    source.cardinality && counting(source.cardinality),
    where && filtering(where, quick, slot),
    source.check && checking(condition(source.check, types, inner), slot, source.check),
    source.log && logging(expression(source.log, types, inner), slot, scope),
    source.listMode && LIST_MODES[source.listMode],
  ]
  warnOfMode(source, values, scope)
  const selects = steps.filter(each => each !== undefined && each !== false)
  const select = selecting(values, selects)
  return { select, scope: bind(codes), slot, types, codes, isGrowing, isRepeated: isRepeated(source, values) }
}

function isRepeated({ listMode, where, cardinality }: Source, { isList }: Found): boolean {
  const isChosen = listMode === 'first' || listMode === 'last' || listMode === 'only_one'
  return isList && !isChosen && !where && (cardinality?.max ?? 2) > 1
}

/** Of a choice only the types that are wanted are read. */
function narrowedTo(types: Types, values: Found): Found {
  const isNarrower = types && values.types && types.length < values.types.length
  return (isNarrower && types.every(type => values.types!.includes(type)) && values.only?.(types)) || values
}

function selecting({ read }: Found, selects: readonly Select[]): SourceCode['select'] {
  const [first] = selects
  if (!first) return read
  if (selects.length === 1) return frame => first(read(frame), frame)
  return frame => selects.reduce((items, select) => select(items, frame), read(frame))
}

/** `src.value : Quantity`: of several types those that are, or derive from, the one named. */
function narrowedTypes({ names, span }: Path, types: Types, scope: Scope): Types {
  const { system } = scope.build
  const text = names.map(each => each.text).join('.')
  const type = typeNamed(scope.unit, text, scope.build)
  if (type === unknownType) {
    const meant = nearest(text, types ?? [])
    const question = didYouMean(meant)
    report(scope, span, `there is no type ${shown(text)}${question}`, { ...replacing(span, meant), isAbsence: true })
    return types
  }
  if (type === undefined) return undefined
  if (!types) return system.isOpen(type) ? undefined : [type]
  const kept = types.filter(each => system.isSubtype(each, type))
  if (kept.length > 0) return kept
  if (types.some(each => system.isSubtype(type, each))) return [type]
  report(scope, span, `this rule can never fire: the value is of type ${types.join(' or ')}, never a ${text}`)
  return []
}

function ofType(types: Types, { build }: Scope): Select | undefined {
  if (!types) return undefined
  const wanted = new Set(types)
  return items =>
    items.filter(item => wanted.has(item.type) || types.some(type => build.system.isSubtype(item.type, type)))
}

function counting({ min, max }: NonNullable<Source['cardinality']>): Select {
  const wanted = max === Number.POSITIVE_INFINITY ? `${min} or more` : min === max ? String(min) : `${min} to ${max}`
  return items => {
    if (items.length < min || items.length > max)
      throw new Refusal(`${wanted} values are expected, and there are ${items.length}`)
    return items
  }
}

function condition(embedded: Embedded, types: Types, scope: Scope): Evaluation {
  const inner = expression(embedded, types, scope)
  if (inner.types?.length === 0 || inner.constant?.value === false) {
    report(scope, embedded.span, 'this rule can never fire: the condition is never true', lenient(scope.build))
  }
  return inner
}

function filtering({ test }: Evaluation, quick: TextTest | undefined, slot: number): Select {
  const holds = (item: Typed, frame: Frame): boolean => {
    const answer = quick?.(item, frame)
    if (answer !== undefined) return answer
    const one = [item]
    frame.vars[slot] = one
    return test(one, frame) === true
  }
  const several = (items: Items, frame: Frame): Items => {
    countSteps(frame.shared, items.length)
    return items.filter(each => holds(each, frame))
  }
  return (items, frame) => {
    if (items.length === 0) return EMPTY
    return items.length > 1 ? several(items, frame) : holds(items[0]!, frame) ? items : EMPTY
  }
}

function checking({ test }: Evaluation, slot: number, { text }: Embedded): Select {
  return (items, frame) => {
    for (const item of items) {
      const one = (frame.vars[slot] = [item])
      if (test(one, frame) !== true) throw new Refusal(`the check ${shown(text)} is not met`)
    }
    return items
  }
}

function logging(inner: Evaluation, slot: number, { site }: Scope): Select {
  return (items, frame) => {
    const { log } = frame.shared.options
    if (!log) return items
    for (const item of items) {
      const one = (frame.vars[slot] = [item])
      for (const { value } of inner.run(one, frame)) log(String(value), site)
    }
    return items
  }
}

/** https://hl7.org/fhir/R4/valueset-map-source-list-mode.html */
const LIST_MODES: Readonly<Record<NonNullable<Source['listMode']>, Select>> = {
  first: items => items.slice(0, 1),
  not_first: items => items.slice(1),
  last: items => items.slice(-1),
  not_last: items => items.slice(0, -1),
  only_one: items => {
    if (items.length > 1) throw new Refusal(`only one value is expected, and there are ${items.length}`)
    return items
  },
}

function warnOfMode({ listMode, path }: Source, { isList, types }: Found, scope: Scope): void {
  const canNever = listMode === 'not_first' || listMode === 'not_last'
  if (!canNever || isList || !types) return
  report(scope, path.span, `this rule can never fire: there is only one value, so \`${listMode}\` leaves nothing`)
}

/** Returns the codes that a condition leaves; reports codes that the value can never have. */
function codesLeft(
  { variable }: Source,
  { expression: tree, span }: Embedded,
  codes: ReadonlySet<string> | undefined,
  scope: Scope,
): ReadonlySet<string> | undefined {
  if (!codes) return undefined
  scope.build.see?.({ kind: 'codes', span, codes })
  const { codes: left, isCertain, impossible } = narrowed(codes, tree, variable?.text)
  for (const { code, at } of impossible) {
    const meant = nearest(code, [...codes])
    const some = codes.size > 12 ? '' : ` (${[...codes].join(', ')})`
    const place = span.length > 0 ? { ...at, length: code.length + 2 } : span
    const question = didYouMean(meant, some)
    const never = left.size === 0 ? 'this rule can never fire: ' : ''
    report(scope, place, `${never}\`${code}\` is not a possible code here${question}`, {
      ...replacing(place, meant && `'${meant}'`),
      ...lenient(scope.build),
    })
  }
  return isCertain ? left : undefined
}
