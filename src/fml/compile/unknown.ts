// Unknown names: suggests the one that was probably meant, where it would be valid, or what exists.

import { jsonKey, type TypeSystem } from '../../fhirpath/types.ts'
import { didYouMean, nearest } from '../../lib/nearest.ts'
import type { Block, Name, Span } from '../ast.ts'
import { shown } from '../problem.ts'
import { replacing, report, type Scope } from './scope.ts'

/** Reports an unknown variable: with the name that was probably meant, the rule that defines it, or the variables in scope. */
export function unknownVariable({ text, span }: Name, scope: Scope): void {
  const names = [...scope.variables.keys()]
  const meant = nearest(text, names)
  const owner = meant || !scope.group ? undefined : ruleOf(text, scope.group.block)
  const others = owner
    ? `; the one in line ${owner.line} is visible in its own rule only`
    : `; there are ${names.slice(0, 8).map(shown).join(', ')}`
  const way = didYouMean(meant, others)
  report(scope, span, `there is no variable ${shown(text)} here${way}`, { ...replacing(span, meant), isAbsence: true })
}

/** Where a rule gives something this name. */
function ruleOf(text: string, { rules }: Block): Span | undefined {
  for (const rule of rules) {
    if (rule.kind === 'batch') continue
    const own = [...rule.sources, ...rule.targets].find(each => each.variable?.text === text)?.variable?.span
    const found = own ?? (rule.block && ruleOf(text, rule.block))
    if (found) return found
  }
  return undefined
}

/** Says that types have no such element, and which was probably meant, or which there are. */
export function unknownElement({ text, span }: Name, types: readonly string[], scope: Scope): void {
  const { system } = scope.build
  const elements = types.flatMap(type => elementNames(system, type))
  const meant = nearest(text, elements)
  const way = didYouMean(meant, listed(types.flatMap(type => ownNames(system, type))))
  report(scope, span, `${types.join(' or ')} has no element ${shown(text)}${way}`, replacing(span, meant))
}

/** Elements that every resource or element has, left out of suggestions. */
const COMMON = new Set('id meta implicitRules language text contained extension modifierExtension'.split(' '))

function ownNames(system: TypeSystem, type: string): string[] {
  return [...(system.model.typeModel(type)?.elements.keys() ?? [])].filter(each => !COMMON.has(each))
}

function listed(own: readonly string[]): string {
  if (own.length === 0) return ''
  return `; it has ${own.slice(0, 15).join(', ')}${own.length > 15 ? ' …' : ''}`
}

function elementNames(system: TypeSystem, type: string): string[] {
  const elements = system.model.typeModel(type)?.elements.values() ?? []
  return [...elements].flatMap(each => [each.name, ...(each.choice ? each.types.map(one => jsonKey(each, one)) : [])])
}
