// Rules: for each value of the sources, the targets are made, then the inner rules and groups run.
// https://hl7.org/fhir/R4/mapping-language.html#7.7.0.6

import { FhirPathError } from '../../fhirpath/errors.ts'
import type { Batch, Block, Dependent, Name, Path, Rule, Source, Target } from '../ast.ts'
import { type Action, countStep, type Frame, itemsAt } from '../run/frame.ts'
import { MapError, Refusal, type Site } from '../run/map-error.ts'
import { callGroup } from './call.ts'
import { copying } from './copy.ts'
import type { Scope } from './scope.ts'
import { compileSource, type SourceCode } from './source.ts'
import { compileTarget } from './target.ts'

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
  if (actions.length === 0 || !first) return () => {}
  if (actions.length === 1) return first
  if (actions.length === 2 && second) {
    return frame => {
      first(frame)
      second(frame)
    }
  }
  return frame => {
    for (const action of actions) action(frame)
  }
}

function compileRule(rule: Rule, outer: Scope): Action {
  const site: Site = { ...outer.site, rule: rule.name?.text ?? ruleName(rule), span: siteSpan(rule, outer) }
  let scope: Scope = { ...outer, site, depth: outer.depth + 1 }
  const sources: SourceCode[] = []
  for (const source of rule.sources) {
    const code = compileSource(source, scope)
    if (!code) return () => {}
    sources.push(code)
    scope = code.scope
  }
  const body = bodyOf(rule, sources, scope)
  return located(nested(sources, traced(body, sources[0], site, outer.depth)), sources[0], site)
}

function siteSpan({ name, span }: Rule, outer: Scope): Site['span'] {
  return span.length > 0 ? span : (name?.span ?? outer.site.span)
}

function ruleName({ sources }: Rule): string {
  return sources.map(({ path }) => path.names.at(-1)!.text).join('-')
}

/** Every combination of the sources' values. */
function nested(sources: readonly SourceCode[], body: Action): Action {
  return sources.reduceRight<Action>((inner, source) => frame => source.loop(frame, inner), body)
}

function bodyOf(rule: Rule, sources: readonly SourceCode[], outer: Scope): Action {
  const copy = copying(rule, sources, outer)
  if (copy) return copy
  let scope = outer
  const actions: Action[] = []
  for (const target of rule.targets) {
    const code = compileTarget(target, scope)
    if (code.action) actions.push(code.action)
    scope = code.scope
  }
  for (const dependent of rule.dependents) actions.push(compileDependent(dependent, scope))
  if (rule.block) actions.push(compileBlock(rule.block, scope))
  return sequence(actions)
}

function compileDependent(dependent: Dependent, scope: Scope): Action {
  return callGroup(dependent, scope) ?? (() => {})
}

function traced(body: Action, source: SourceCode | undefined, site: Site, depth: number): Action {
  return frame => {
    countStep(frame.shared)
    const { trace } = frame.shared.options
    if (trace) {
      const item = source && itemsAt(frame, source.slot)?.[0]
      trace({ site, depth: depth + frame.shared.depth, path: item?.path, value: item?.value })
    }
    body(frame)
  }
}

/** Says in which rule, and at which value, something went wrong. */
function located(action: Action, source: SourceCode | undefined, site: Site): Action {
  return frame => {
    if (source) frame.vars[source.slot] = undefined
    try {
      action(frame)
    } catch (error) {
      throw explained(error, frame, source, site)
    }
  }
}

function explained(error: unknown, frame: Frame, source: SourceCode | undefined, site: Site): unknown {
  const reason =
    error instanceof Refusal
      ? error.message
      : error instanceof FhirPathError
        ? error.message.replace(/^line \d+, column \d+: /, '')
        : error instanceof RangeError
          ? 'the data or the groups are nested too deeply'
          : undefined
  if (reason === undefined || error instanceof MapError) return error
  return new MapError(reason, site, source && itemsAt(frame, source.slot)?.[0]?.path)
}
