// Rules with only a source and a target: `src.name -> tgt.name;`. A default group for the two types does it,
// or the value is copied. https://hl7.org/fhir/R4/mapping-language.html#7.7.0.7

import type { Rule, Target } from '../ast.ts'
import { type Action, itemsAt } from '../run/frame.ts'
import { COPIED } from './assigned.ts'
import { defaultGroup } from './default-groups.ts'
import { groupCode } from './group.ts'
import { noteRead } from './read.ts'
import { type Given, isRead, report, type Scope, withVariable } from './scope.ts'
import type { SourceCode } from './source.ts'
import { compileTarget } from './target.ts'

/** Returns the action of a rule that only copies; undefined if the rule does more. */
export function copying(rule: Rule, sources: readonly SourceCode[], scope: Scope): Action | undefined {
  const [target, more] = rule.targets
  const [source] = sources
  const isBare = rule.dependents.length === 0 && !rule.block && sources.length === 1 && !more
  if (!isBare || !source || !target?.path || target.transform || target.path.names.length < 2) return undefined
  if (!target.variable) return copy(target, source, scope)
  return rule.sources[0]!.variable ? byGroup(target, source, scope) : undefined
}

/** `src.a as x -> tgt.b as y;`: a default group for the types of `x` and `y`. */
function byGroup(target: Target, source: SourceCode, scope: Scope): Action | undefined {
  const made = compileTarget(target, scope)
  const variable = made.scope.variables.get(target.variable!.text)
  if (!made.action || !variable || isRead(variable)) return undefined
  const [type] = source.types ?? []
  const place = type === undefined || variable.type === undefined ? undefined : defaultGroup(type, variable.type, scope)
  if (!place) {
    if (variable.type !== undefined) {
      const message = `this makes ${variable.type === 'string' ? 'an empty text' : `an empty ${variable.type}`}: fill it with \`= …\` or \`then …\``
      report(scope, target.span, message, { severity: 'warning' })
    }
    return made.action
  }
  const given: Given =
    variable.kind === 'place' ? { ...variable, kind: 'place' } : { kind: 'target', type: variable.type }
  const code = groupCode(
    place,
    [{ kind: 'source', types: source.types, isGrowing: source.isGrowing }, given],
    scope.build,
  )
  if (variable.kind === 'target') variable.made.also.add(code.made[1]!)
  const { action } = made
  return frame => {
    action(frame)
    code.run(frame, [itemsAt(frame, source.slot), frame.vars[variable.slot]])
  }
}

function copy(target: Target, source: SourceCode, scope: Scope): Action | undefined {
  for (const type of source.types ?? []) noteRead(scope, type, '*')
  const { slot, types, codes, isGrowing } = source
  const inner = withVariable(scope, COPIED, { kind: 'source', slot, types, codes, isGrowing })
  const name = { kind: 'name' as const, text: COPIED, span: target.span }
  return compileTarget({ ...target, transform: { kind: 'path', names: [name], span: target.span } }, inner).action
}
