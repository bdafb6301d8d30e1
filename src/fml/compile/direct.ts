// The commonest rule of all, `src.a -> tgt.b`, for single primitives of known types: one property is read and one is
// written. Whatever is out of the ordinary (extensions, lists, a trace, places for an error) goes the general way.

import type { ElementModel } from '../../definitions/model.ts'
import type { Path, Rule, Source, Target } from '../ast.ts'
import { type Convert, converter } from '../run/convert.ts'
import { formOf, type HasForm } from '../run/form.ts'
import { type Action, at, countSteps, type Frame, itemsAt, type Mark, objectAt } from '../run/frame.ts'
import { put, type Slot } from '../run/write.ts'
import { elementOf } from './element.ts'
import type { Scope } from './scope.ts'
import { withImports } from './unit.ts'

interface Copy {
  /** The variable that is read, and the property of it. */
  readonly from: number
  readonly key: string
  readonly hasForm: HasForm
  /** The variable that is written, and where in it. */
  readonly to: number
  readonly slot: Slot
  readonly convert: Convert
  /** An empty text is nothing there. */
  readonly isFhir: boolean
}

/** A rule that is a direct copy, done directly; any other rule as it is. */
export function direct(rule: Rule, scope: Scope, mark: Mark, general: Action): Action {
  const copy = copyIn(rule, scope)
  if (!copy) return general
  const { from, key, hasForm, to, slot, convert, isFhir } = copy
  const under = `_${key}`
  return frame => {
    const value = ordinary(frame, from, key, under)
    if (value === undefined || !hasForm(value)) return general(frame)
    countSteps(frame.shared, 2)
    at(frame, mark)
    const result = convert(value)
    if (result !== '' || !isFhir) put(frame.shared, objectAt(frame, to), slot, result)
  }
}

/** The property, if nothing else has to be looked at. */
function ordinary(frame: Frame, from: number, key: string, under: string): unknown {
  const items = itemsAt(frame, from)
  const [item] = items
  if (items.length !== 1 || item!.path !== undefined || frame.shared.trace) return undefined
  const holder = item!.value as Readonly<Record<string, unknown>>
  return holder[under] === undefined ? holder[key] : undefined
}

function copyIn({ sources, targets, dependents, block }: Rule, scope: Scope): Copy | undefined {
  const [source, target] = [sources[0], targets[0]]
  const isBare = sources.length === 1 && targets.length === 1 && dependents.length === 0 && !block
  if (!isBare || !source || !target || !isPlainSource(source) || !isPlainTarget(target, source)) return undefined
  const read = scope.variables.get(source.path.names[0]!.text)
  const written = scope.variables.get(target.path!.names[0]!.text)
  if (read?.kind !== 'source' || written?.kind !== 'target' || hasDefaults(scope)) return undefined
  const { system } = scope.build
  const from = read.types?.length === 1 ? single(scope, read.types[0]!, source.path) : undefined
  const to = written.type === undefined ? undefined : single(scope, written.type, target.path!)
  if (!from || !to) return undefined
  const convert = converter(system, from.types[0]!, to.types[0]!)
  const element = convert && elementOf(written.type, target.path!.names[1]!, scope)
  if (!convert || !element) return undefined
  return {
    from: read.slot,
    key: from.name,
    hasForm: formOf(from.types[0]!),
    to: written.slot,
    slot: element,
    convert,
    isFhir: element.isFhir,
  }
}

function isPlainSource({ path, type, cardinality, default: fallback, listMode, where, check, log }: Source): boolean {
  return path.names.length === 2 && ![type, cardinality, fallback, listMode, where, check, log].some(Boolean)
}

function isPlainTarget({ path, transform, variable, listModes }: Target, source: Source): boolean {
  if (path?.names.length !== 2 || variable || listModes.length > 0) return false
  if (!transform) return !source.variable
  return transform.kind === 'path' && transform.names.length === 1 && transform.names[0]!.text === source.variable?.text
}

/** The element at the end of a path, if it is a primitive that does not repeat and has one type. */
function single({ build: { system } }: Scope, type: string, { names }: Path): ElementModel | undefined {
  const element = system.model.typeModel(type)?.elements.get(names[1]!.text)
  const isSingle = element?.max === 1 && !element.choice && element.types.length === 1
  return isSingle && system.isPrimitive(element.types[0]!) ? element : undefined
}

/** True if some group is the default for types: then a copy may mean more. */
function hasDefaults({ unit, build }: Scope): boolean {
  return withImports(unit, build).some(({ groups }) => [...groups.values()].some(each => each.typeMode !== undefined))
}
