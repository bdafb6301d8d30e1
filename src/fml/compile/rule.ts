// Rules: for each value of the sources, the targets are made, then the inner rules and groups run.
// https://hl7.org/fhir/R4/mapping-language.html#7.7.0.6

import type { Batch, Block, Dependent, Name, Path, Rule, Source, Target } from '../ast.ts'
import { type Action, at, type Mark } from '../run/frame.ts'
import type { Site } from '../run/map-error.ts'
import { callGroup } from './call.ts'
import { checkTargets } from './codings.ts'
import { copying } from './copy.ts'
import { direct } from './direct.ts'
import { looping } from './loop.ts'
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

/** A map that has more rules than this, counted once for each choice of types, is circular. */
export const MOST_RULES = 200_000
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
  if (rule.sources.length === 0)
    report(scope, rule.span, 'a rule needs a source: `src.element -> …`', { isAbsence: true })
  const sources: SourceCode[] = []
  for (const source of rule.sources) {
    const code = compileSource(source, scope)
    if (!code) return NOTHING
    sources.push(code)
    const { slot, isRepeated } = code
    scope = isRepeated ? { ...code.scope, repeated: { path: source.path, slot } } : code.scope
  }
  const around = [...sources.map(each => each.slot).reverse(), ...outer.around]
  scope = { ...scope, around }
  const mark: Mark = { site, slot: sources[0]?.slot, around, depth: outer.depth }
  return direct(rule, outer, mark, looping(sources, bodyOf(rule, sources, mark, scope), mark))
}

function siteSpan({ name, span }: Rule, outer: Scope): Site['span'] {
  return span.length > 0 ? span : (name?.span ?? outer.site.span)
}

function ruleName({ sources }: Rule): string {
  return sources.map(({ path }) => path.names.at(-1)!.text).join('-')
}

function bodyOf(rule: Rule, sources: readonly SourceCode[], mark: Mark, outer: Scope): Action {
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
  checkTargets(rule.targets, scope)
  for (const [index, dependent] of rule.dependents.entries()) {
    if (index > 0) actions.push(frame => at(frame, mark))
    actions.push(compileDependent(dependent, scope))
  }
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
