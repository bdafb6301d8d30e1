// Groups: compiled once for each combination of types that they are called with, so that untyped parameters have types.
// https://hl7.org/fhir/R4/mapping-language.html#7.7.0.5

import { didYouMean, nearest } from '../../lib/nearest.ts'
import type { Group, Parameter } from '../ast.ts'
import { pathText } from '../pieces.ts'
import { shown } from '../problem.ts'
import { type Action, descend, type Frame, newFrame } from '../run/frame.ts'
import {
  type Build,
  type Given,
  type GroupCode,
  type GroupPlace,
  newMade,
  type Pending,
  replacing,
  report,
  type Scope,
  type Unit,
} from './scope.ts'
import { say, sharedGroup } from './shared.ts'
import { typeNamed, unknownType, withImports } from './unit.ts'

/** More combinations of types than this for one group are a map that goes round in circles. */
const MOST_CODES = 200

/**
 * The code of a group for parameters of these types. Its body is compiled later, by body.ts: a group may call itself,
 * and the groups of a map may call each other in a chain of any length.
 */
export function groupCode(place: GroupPlace, given: readonly Given[], build: Build): GroupCode {
  return say(build, each => codeOf(place, given, each))
}

function codeOf(place: GroupPlace, given: readonly Given[], build: Build): GroupCode {
  const { group } = place
  let codes = build.groups.get(group)
  if (!codes) build.groups.set(group, (codes = new Map()))
  const key = given.map(keyOf).join(' ')
  const known = codes.get(key)
  if (known) return known
  const pending = sharedGroup(group, key, build) ?? newPending(place, given, key)
  codes.set(key, pending.code)
  if (codes.size > MOST_CODES) tooMany(place, build)
  else build.pending.push(pending)
  return pending.code
}

function newPending(place: GroupPlace, given: readonly Given[], key: string): Pending {
  let body: Action = () => {}
  const fill = (action: Action) => {
    body = action
  }
  const code: GroupCode = { made: given.map(newMade), run: (frame, args) => enter(frame, args, body) }
  return { place, given, key, code, fill }
}

function tooMany({ unit, group }: GroupPlace, build: Build): void {
  const message = `${shown(group.name.text)} is called with more than ${MOST_CODES} combinations of types; give its parameters types`
  report({ build, unit }, group.name.span, message)
}

function keyOf(given: Given): string {
  if (given.kind === 'source') return `${given.isGrowing ? 'g' : 's'}:${given.types?.join('|') ?? '?'}`
  return given.kind === 'target' ? `t:${given.type ?? '?'}` : `p:${given.type}:${given.valueSet ?? ''}`
}

function enter({ shared }: Frame, args: unknown[], body: Action): void {
  descend(shared, newFrame(shared, args), body)
}

/** Says that there is no such group, and which was probably meant. */
export function unknownGroup(name: Group['name'], scope: Scope): void {
  const { build, unit } = scope
  const missing = unit.map.imports.find(({ url }) => build.unit(url.text).length === 0)
  const names = withImports(unit, build).flatMap(each => [...each.groups.keys()])
  const meant = nearest(name.text, names)
  const reason = missing ? `, perhaps because ${shown(missing.url.text)} is missing` : ''
  const question = didYouMean(meant, reason)
  report(scope, name.span, `there is no group ${shown(name.text)} here${question}`, {
    ...replacing(name.span, meant),
    isAbsence: true,
  })
}

/** The type of FHIR that holds the values of a type of FHIRPath: `string` for `System.String`, and for `String`. */
function plainType(text: string, { system }: Build): string | undefined {
  const found = system.find(text.split('.'))
  if (!found?.startsWith('System.')) return undefined
  const [, name = ''] = found.split('.')
  return name === 'Quantity' ? name : name.charAt(0).toLowerCase() + name.slice(1)
}

/** The type that a parameter is declared with; undefined if none is, or if its structure is not known. */
export function declaredType({ type }: Parameter, unit: Unit, build: Build): string | undefined {
  if (!type) return undefined
  const text = pathText(type)
  const found = typeNamed(unit, text, build)
  if (found !== unknownType) return found
  const plain = plainType(text, build)
  if (plain !== undefined) {
    const message = `${shown(text)} is a type of FHIRPath; parameters have types of FHIR: write ${shown(plain)}`
    report({ build, unit }, type.span, message, replacing(type.span, plain))
    return undefined
  }
  const { urls } = build.structures
  const meant =
    nearest(text, [...unit.aliases.keys()]) ??
    nearest(
      text,
      urls.map(url => url.slice(url.lastIndexOf('/') + 1)),
    )
  const question = didYouMean(meant, `; declare it with \`uses "…" alias ${text} as source\``)
  report({ build, unit }, type.span, `there is no type ${shown(text)} here${question}`, {
    ...replacing(type.span, meant),
    isAbsence: true,
  })
  return undefined
}
