// Constants of a map: computed at first use, once in a transformation. http://hl7.org/fhir/uv/fml/fml.html#constants

import { EMPTY } from '../../fhirpath/node.ts'
import type { Constant } from '../ast.ts'
import { shown } from '../problem.ts'
import { type Frame, newFrame } from '../run/frame.ts'
import { expression, visit } from './expression.ts'
import { type Build, type ConstantVariable, report, type Scope, type Unit } from './scope.ts'
import { say } from './shared.ts'

/** The constants of a map by name. */
export function constantsOf(unit: Unit, build: Build): ReadonlyMap<string, ConstantVariable> {
  return say(build, each => known(unit, each))
}

function known(unit: Unit, build: Build): ReadonlyMap<string, ConstantVariable> {
  let found = build.constants.get(unit)
  if (!found) build.constants.set(unit, (found = compiled(unit, build)))
  return found
}

const MOST = 200
/** More of them in a row, each defined by the next, are not followed. */
const DEEPEST = 100

function compiled(unit: Unit, build: Build): ReadonlyMap<string, ConstantVariable> {
  const constants = unit.map.constants.slice(0, MOST)
  const beyond = unit.map.constants[MOST]
  if (beyond) report({ build, unit }, beyond.span, `a map can have ${MOST} constants`)
  const byName = new Map<string, Constant>()
  for (const constant of constants) {
    const { text, span } = constant.name
    const other = byName.get(text)
    if (other)
      report({ build, unit }, span, `there is a constant ${shown(text)} already, in line ${other.name.span.line}`)
    else byName.set(text, constant)
  }
  const done = new Map<string, ConstantVariable>()
  for (const constant of byName.values()) define(constant, { byName, done, open: new Set(), unit, build })
  return done
}

interface Definitions {
  readonly byName: ReadonlyMap<string, Constant>
  readonly done: Map<string, ConstantVariable>
  /** Those that wait for the one at hand. */
  readonly open: Set<string>
  readonly unit: Unit
  readonly build: Build
}

/** Defines what a constant needs, then the constant itself. */
function define(constant: Constant, all: Definitions): void {
  const { byName, done, open, unit, build } = all
  const { text, span } = constant.name
  if (done.has(text)) return
  if (open.has(text) || open.size > DEEPEST) {
    report({ build, unit }, span, `${shown(text)} is defined by itself`)
    done.set(text, { kind: 'constant', types: undefined, read: () => EMPTY })
    return
  }
  open.add(text)
  for (const name of namesIn(constant)) {
    const needed = byName.get(name)
    if (needed) define(needed, all)
  }
  open.delete(text)
  if (!done.has(text)) done.set(text, variableOf(constant, done, unit, build))
}

/** What an expression begins with, or names by a percent sign. */
function namesIn({ value }: Constant): Set<string> {
  const names = new Set<string>()
  visit(value.expression, each => {
    if ((each.kind === 'member' && !each.input) || each.kind === 'variable') names.add(each.name)
  })
  return names
}

function variableOf(
  constant: Constant,
  variables: ReadonlyMap<string, ConstantVariable>,
  unit: Unit,
  build: Build,
): ConstantVariable {
  const { name, value } = constant
  const site = { map: unit.label, group: 'let', rule: name.text, span: name.span }
  const scope: Scope = {
    build,
    unit,
    group: undefined,
    variables: new Map(variables),
    slots: { count: 0, parameters: 0, reads: new Map() },
    site,
    depth: 0,
    around: [],
  }
  const inner = expression(value, [], scope)
  if (inner.constant) {
    const items = [inner.constant]
    return { kind: 'constant', types: inner.types, constant: inner.constant, read: () => items }
  }
  const read = ({ shared }: Frame) => {
    shared.constants ??= new Map()
    let items = shared.constants.get(constant)
    if (!items) shared.constants.set(constant, (items = inner.alone(newFrame(shared, []))))
    return items
  }
  return { kind: 'constant', types: inner.types, read }
}
