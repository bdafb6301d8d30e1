// FHIRPath inside a map: checked against what the variables are, and run with them. http://hl7.org/fhirpath/N1/

import type { Expression } from '../../fhirpath/ast.ts'
import { compileInner, type Inner, type Items, newState, type Typed, type Types } from '../../fhirpath/compile.ts'
import { FhirPathError } from '../../fhirpath/errors.ts'
import { EMPTY, type State, type Watch } from '../../fhirpath/node.ts'
import type { Embedded, Literal, Span } from '../ast.ts'
import { NOWHERE } from '../problem.ts'
import type { Frame } from '../run/frame.ts'
import type { Sight } from '../sight.ts'
import { checkAsked } from './asked.ts'
import { namesOf } from './bindings.ts'
import { replacing, report, type Scope, seenVariables } from './scope.ts'
import { say } from './shared.ts'

/** An expression that runs with the variables of a group. */
export interface Evaluation {
  /** The types it can yield; undefined when they depend on the data, none when it never yields anything. */
  readonly types: Types
  /** Its value where it is a literal. */
  readonly constant: Typed | undefined
  run(focus: Items, frame: Frame): Items
  test(focus: Items, frame: Frame): boolean | undefined
  /** The same without a focus, within another evaluation. */
  alone(frame: Frame): Items
}

/** An expression that is never evaluated, because it was reported. */
const NEVER: Evaluation = {
  types: undefined,
  constant: undefined,
  run: () => EMPTY,
  test: () => undefined,
  alone: () => EMPTY,
}

/** Compiles an expression on a focus of these types; without a focus (`[]`) a path begins with a variable. */
export function expression({ expression: tree, span }: Embedded, focus: Types, scope: Scope): Evaluation {
  const { system, untrusted, see } = scope.build
  say(scope.build, ({ mentions }) => collectNames(tree, mentions))
  checkAsked(tree, span, scope)
  if (focus?.length) warnOfHiding(tree, focus, span, scope)
  try {
    const watch = see && span !== NOWHERE ? watching(see, scope) : undefined
    return evaluation(compileInner(tree, { system, types: focus, names: namesOf(scope), untrusted, watch }))
  } catch (error) {
    if (!(error instanceof FhirPathError)) throw error
    const place = placeOf(error.at, span, tree, error.meant !== undefined)
    const message = error.message.replace(/^line \d+, column \d+: /, '')
    const isAbsence = message.startsWith('there is no variable')
    report(scope, place, message, { ...replacing(place, error.meant), isAbsence })
    return NEVER
  }
}

/** Shows the names of an expression to those who ask. */
function watching(see: (sight: Sight) => void, scope: Scope): Watch {
  return (each, types) => {
    const isFirst = each.kind === 'variable' || !each.input
    const length = each.name.length + (each.kind === 'variable' ? 1 : 0)
    const variables = isFirst ? () => seenVariables(scope) : undefined
    see({ kind: 'expression', span: { ...each.at, length }, types, variables })
  }
}

function evaluation({ types, constant, hasSlots, run, test }: Inner): Evaluation {
  const stateFor = (focus: Items, frame: Frame): State => {
    const { state } = frame.shared
    state.env = frame
    state.context = focus
    if (hasSlots) state.slots = []
    return state
  }
  return {
    types,
    constant,
    run: (focus, frame) => run(focus, stateFor(focus, frame)),
    test: (focus, frame) => test(focus, stateFor(focus, frame)),
    alone(frame) {
      const { state: around } = frame.shared
      const state = newState(EMPTY, frame, around.budget)
      const items = run(EMPTY, state)
      around.budget = state.budget
      return items
    },
  }
}

/** The name at a place of an expression, or the whole of it. */
function placeOf(at: Expression['at'], span: Span, tree: Expression, isName: boolean): Span {
  if (span === NOWHERE) return NOWHERE
  const name = isName ? nameAt(tree, at.offset) : undefined
  const end = name ? at.offset + name.length : span.offset + span.length
  return { offset: at.offset, line: at.line, column: at.column, length: Math.max(1, end - at.offset) }
}

function nameAt(tree: Expression, offset: number): string | undefined {
  let found: string | undefined
  visit(tree, each => {
    const isNamed = each.kind === 'member' || each.kind === 'variable' || each.kind === 'call'
    if (isNamed && each.at.offset === offset) found = each.kind === 'variable' ? `%${each.name}` : each.name
  })
  return found
}

function collectNames(tree: Expression, names: Set<string>): void {
  visit(tree, each => {
    if (each.kind === 'member') names.add(each.name)
  })
}

/** A variable hides an element of the same name, which is easily overlooked in a condition. */
function warnOfHiding(tree: Expression, focus: readonly string[], span: Span, scope: Scope): void {
  visit(tree, (each, isInner) => {
    if (each.kind !== 'member' || each.input || isInner || !scope.variables.has(each.name)) return
    const holds = focus.some(type => scope.build.system.model.typeModel(type)?.elements.has(each.name))
    if (!holds) return
    const message = `\`${each.name}\` is the variable here; the element is \`$this.${each.name}\`, the variable \`%${each.name}\``
    report(scope, placeOf(each.at, span, tree, true), message, { severity: 'warning' })
  })
}

/** Calls `look` on an expression and all within it; `isInner` in arguments that are evaluated on items. */
export function visit(tree: Expression, look: (each: Expression, isInner: boolean) => void, isInner = false): void {
  look(tree, isInner)
  switch (tree.kind) {
    case 'member':
      if (tree.input) visit(tree.input, look, isInner)
      return
    case 'call':
      if (tree.input) visit(tree.input, look, isInner)
      for (const each of tree.args) visit(each, look, true)
      return
    case 'indexer':
      visit(tree.input, look, isInner)
      return visit(tree.index, look, isInner)
    case 'unary':
      return visit(tree.operand, look, isInner)
    case 'binary':
      visit(tree.left, look, isInner)
      return visit(tree.right, look, isInner)
    case 'type':
      return visit(tree.input, look, isInner)
  }
}

/** A literal as an expression. */
export function literalExpression({ type, text, unit, calendar, span }: Literal): Embedded {
  const { offset, line, column } = span
  const tree: Expression = {
    kind: 'literal',
    type: type === 'Long' ? 'Integer' : type,
    text,
    unit,
    calendar,
    at: { offset, line, column },
  }
  return { kind: 'expression', text, expression: tree, span }
}
