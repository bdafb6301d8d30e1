// Rules: for each value of the sources, the targets are made, then the inner rules and groups run.
// https://hl7.org/fhir/R4/mapping-language.html#7.7.0.6

import { FhirPathError } from '../../fhirpath/errors.ts'
import type { Batch, Block, Dependent, Name, Path, Rule, Source, Target } from '../ast.ts'
import { type Action, countSteps, type Frame, itemsAt } from '../run/frame.ts'
import { MapError, Refusal, type Site } from '../run/map-error.ts'
import { callGroup } from './call.ts'
import { copying } from './copy.ts'
import { isFull, report, type Scope } from './scope.ts'
import { compileSource, type SourceCode } from './source.ts'
import { compileTarget } from './target.ts'

const NOTHING: Action = () => {}

/** Everything in a block, in order. */
export function compileBlock({ rules }: Block, scope: Scope): Action {
  return sequence(
    rules.flatMap(rule => (rule.kind === 'batch' ? unpacked(rule) : [rule])).map(rule => compileRule(rule, scope)),
  )
}

/** `src -> tgt: id, active;` as rules of their own. */
function unpacked({ source, target, elements, around, span }: Batch): Rule[] {
  return elements.map(name => {
    const bare = { around: { gap: false, before: [], after: [] }, span: name.span }
    const from: Source = { kind: 'source', path: pathTo(source, name), ...bare }
    const to: Target = { kind: 'target', path: pathTo(target, name), listModes: [], ...bare }
    return { kind: 'rule', sources: [from], targets: [to], dependents: [], name, around, span }
  })
}

function pathTo({ names }: Path, name: Name): Path {
  return { kind: 'path', names: [...names, name], span: name.span }
}

export function sequence(actions: readonly Action[]): Action {
  const [first, second] = actions
  if (actions.length === 0 || !first) return NOTHING
  if (actions.length === 1) return first
  if (actions.length === 2 && second) {
    return frame => {
      first(frame)
      second(frame)
    }
  }
  return frame => {
    for (let i = 0; i < actions.length; i++) actions[i]!(frame)
  }
}

/** A map whose groups are compiled for so many types that it has more rules than this goes round in circles. */
const MOST_RULES = 200_000
const MOST_RULES_UNTRUSTED = 20_000

function compileRule(rule: Rule, outer: Scope): Action {
  const { build } = outer
  if (++build.rules > (build.untrusted ? MOST_RULES_UNTRUSTED : MOST_RULES) || isFull(build)) {
    if (!isFull(build))
      report(outer, rule.span, 'the map has too many rules, counted once for each type their groups are called with')
    return NOTHING
  }
  const site: Site = { ...outer.site, rule: rule.name?.text ?? ruleName(rule), span: siteSpan(rule, outer) }
  let scope: Scope = { ...outer, site, depth: outer.depth + 1 }
  if (rule.sources.length === 0) report(scope, rule.span, 'a rule needs a source: `src.element -> …`')
  const sources: SourceCode[] = []
  for (const source of rule.sources) {
    const code = compileSource(source, scope)
    if (!code) return NOTHING
    sources.push(code)
    const { slot, isRepeated } = code
    scope = isRepeated ? { ...code.scope, repeated: { path: source.path, slot } } : code.scope
  }
  const body = bodyOf(rule, sources, scope)
  const [first, ...others] = sources
  if (!first) return NOTHING
  return located(first, nested(others, traced(body, first, site, outer.depth)), site)
}

function siteSpan({ name, span }: Rule, outer: Scope): Site['span'] {
  return span.length > 0 ? span : (name?.span ?? outer.site.span)
}

function ruleName({ sources }: Rule): string {
  return sources.map(({ path }) => path.names.at(-1)!.text).join('-')
}

/** Every combination of the sources' values. */
function nested(sources: readonly SourceCode[], body: Action): Action {
  return sources.reduceRight<Action>((inner, source) => frame => loop(source, frame, inner), body)
}

/** Runs the body for each value, with the variable set. */
function loop({ slot, values }: SourceCode, frame: Frame, body: Action): void {
  const { vars, shared } = frame
  const items = values(frame)
  const { length } = items
  countSteps(shared, 1 + length)
  if (length === 1) {
    vars[slot] = items
    body(frame)
    return
  }
  for (let i = 0; i < length; i++) {
    vars[slot] = [items[i]]
    body(frame)
  }
}

function bodyOf(rule: Rule, sources: readonly SourceCode[], outer: Scope): Action {
  const copy = copying(rule, sources, outer)
  if (copy) return copy
  let scope = outer
  const actions: Action[] = []
  if (rule.dependents.length === 0 && !rule.block) warnOfIdle(rule.targets, scope)
  for (const target of rule.targets) {
    const code = compileTarget(target, scope)
    if (code.action) actions.push(code.action)
    scope = code.scope
  }
  for (const dependent of rule.dependents) actions.push(compileDependent(dependent, scope))
  if (rule.block) actions.push(compileBlock(rule.block, scope))
  return sequence(actions)
}

/** `-> tgt` is right before `then`, and nothing by itself. */
function warnOfIdle(targets: readonly Target[], scope: Scope): void {
  for (const { path, transform, variable, span } of targets) {
    if (path?.names.length === 1 && !transform && !variable)
      report(scope, span, 'this target does nothing: it names no element', { severity: 'warning' })
  }
}

function compileDependent(dependent: Dependent, scope: Scope): Action {
  return callGroup(dependent, scope) ?? NOTHING
}

function traced(body: Action, { slot }: SourceCode, site: Site, depth: number): Action {
  return frame => {
    const { trace } = frame.shared
    if (trace) {
      const item = itemsAt(frame, slot)?.[0]
      trace({ site, depth: depth + frame.shared.depth - 1, path: item?.path, value: item?.value })
    }
    body(frame)
  }
}

/** Says in which rule, and at which value, something went wrong. */
function located(source: SourceCode, body: Action, site: Site): Action {
  return frame => {
    frame.vars[source.slot] = undefined
    try {
      loop(source, frame, body)
    } catch (error) {
      throw explained(error, frame, source, site)
    }
  }
}

function explained(error: unknown, frame: Frame, { slot }: SourceCode, site: Site): unknown {
  if (error instanceof MapError) return error
  const path = error instanceof Refusal ? error.path : undefined
  const here = itemsAt(frame, slot)?.[0]?.path
  return new MapError(reasonOf(error), site, path ?? here, error)
}

function reasonOf(error: unknown): string {
  if (error instanceof Refusal) return error.message
  if (error instanceof FhirPathError) return error.message.replace(/^line \d+, column \d+: /, '')
  if (error instanceof RangeError) return 'the data is too large or nested too deeply'
  return 'the data does not have the form that the map expects'
}
