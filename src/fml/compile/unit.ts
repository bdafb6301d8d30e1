// One map and what the names in it mean: structures, groups, concept maps, and the maps it imports.

import { typeModel } from '../../definitions/r4.ts'
import { nearest } from '../../lib/nearest.ts'
import type { FmlMap, Group, Name, Parameter, Span, Uses } from '../ast.ts'
import { shown } from '../problem.ts'
import type { Structures } from '../structures.ts'
import { checkTable } from './codings.ts'
import { type Build, lenient, replacing, report, type Unit } from './scope.ts'
import { rivalsIn, type Table, tableOf } from './table.ts'

/** Returns a setting of the map under this name: `url`, `name`, `title`. */
function setting(map: FmlMap, name: string): string | undefined {
  return map.metadata.find(({ path }) => path.names.length === 1 && path.names[0]!.text === name)?.value?.text
}

export function urlOf(map: FmlMap): string | undefined {
  return map.declaration?.url.text ?? setting(map, 'url')
}

export function nameOf(map: FmlMap): string | undefined {
  return map.declaration?.name.text ?? setting(map, 'name')
}

/** Reads the names of a map. */
export function unitOf(map: FmlMap, structures: Structures): Unit {
  return {
    map,
    label: map.file ?? nameOf(map) ?? urlOf(map) ?? 'map',
    url: urlOf(map),
    aliases: new Map(map.uses.map(uses => [uses.alias?.text ?? tail(uses.url.text), structures.byUrl(uses.url.text)])),
    groups: new Map(map.groups.map(group => [group.name.text, group])),
    tables: new Map(map.conceptMaps.map(each => [each.id.text.replace(/^#/, ''), tableOf(each)])),
  }
}

function tail(url: string): string {
  return url.slice(url.lastIndexOf('/') + 1)
}

/** Checks a map without its rules. */
export function checkUnit(unit: Unit, build: Build): void {
  const { map } = unit
  for (const uses of map.uses)
    if (build.structures.byUrl(uses.url.text) === undefined) unknownStructure(uses, unit, build)
  for (const each of map.imports) {
    if (build.unit(each.url.text).length > 0) continue
    report({ build, unit }, each.url.span, `there is no map ${shown(each.url.text)} here`, lenient(build))
  }
  const [groups, tables] = [map.groups.map(({ name }) => name), map.conceptMaps.map(({ id }) => id)]
  checkNames('group', groups, unit, build)
  checkNames('concept map', tables, unit, build)
  for (const each of map.groups[0]?.parameters ?? []) checkNamed(each, unit, build)
  for (const each of map.conceptMaps) checkTable(each, { unit, build })
  for (const each of unit.tables.values()) checkRivals(each, unit, build)
  for (const each of map.conceptMaps) for (const { mode } of each.unmapped) checkUnmapped(mode, unit, build)
  if (map.groups.length === 0 && map.conceptMaps.length === 0)
    report(
      { build, unit },
      { ...map.span, length: 0 },
      'a map needs a group: `group Name(source src : A, target tgt : B) { … }`',
      { isAbsence: true },
    )
}

/** Of two groups or concept maps with one name, one would never be used. */
function checkNames(kind: string, names: readonly Pick<Name, 'text' | 'span'>[], unit: Unit, build: Build): void {
  const named = new Map<string, Span>()
  for (const { text, span } of names) {
    const other = named.get(text)
    if (other) report({ build, unit }, span, `there is a ${kind} ${shown(text)} already, in line ${other.line}`)
    named.set(text, span)
  }
}

/** Other engines find only structures that the map declares with `uses`; R4 itself is known to all. */
function checkNamed({ type, mode }: Parameter, unit: Unit, build: Build): void {
  const name = type?.names.length === 1 ? type.names[0]!.text : undefined
  if (!type || name === undefined || unit.aliases.has(name) || typeModel(name)) return
  const url = build.structures.urls.find(each => build.structures.byUrl(each) === name)
  if (url === undefined) return
  const line = `uses "${url}" alias ${name} as ${mode}`
  const message = `the map does not declare ${shown(name)}; write \`${line}\` before the groups`
  report({ build, unit }, type.span, message, { severity: 'warning' })
}

/** A code that becomes one of two codes, whichever line comes first, is a slip that no example may show. */
function checkRivals(table: Table, unit: Unit, build: Build): void {
  for (const { entry, first } of rivalsIn(table)) {
    const [{ source, target }, { source: above }] = [entry, first]
    if (!source || !target || !above) continue
    const other = shown(first.target?.code ?? '')
    const message = `this code becomes ${other} already, in line ${above.line}; remove one of the lines, or use the signs to state which is closer`
    report({ build, unit }, source, message, lenient(build))
  }
}

/** R4 has further modes that name a code or another map; the language of maps has no syntax for them. */
function checkUnmapped({ text, span }: Name, unit: Unit, build: Build): void {
  if (text === 'provided') return
  const message = `${shown(text)} is not supported for codes without a mapping; \`provided\` keeps them as they are`
  report({ build, unit }, span, message, replacing(span, 'provided'))
}

function unknownStructure({ url }: Uses, unit: Unit, build: Build): void {
  const end = tail(url.text)
  const base = url.text.slice(0, url.text.length - end.length)
  const ends = build.structures.urls.filter(each => each.startsWith(base)).map(each => each.slice(base.length))
  const meant = nearest(end, ends)
  const question = meant ? `; did you mean \`${base}${meant}\`?` : ', so its elements cannot be checked'
  const fix = meant ? replacing(url.span, JSON.stringify(base + meant)) : {}
  const severity = meant ? {} : lenient(build)
  report({ build, unit }, url.span, `the structure ${shown(url.text)} is unknown${question}`, {
    ...fix,
    ...severity,
  })
}

/** The groups with a name: those of the map, then those of its imports. */
export function findGroup(unit: Unit, name: string, build: Build): { unit: Unit; group: Group } | undefined {
  for (const each of withImports(unit, build)) {
    const group = each.groups.get(name)
    if (group) return { unit: each, group }
  }
  return undefined
}

/** The map and all that it imports, directly or not, nearest first. */
export function withImports(unit: Unit, build: Build): readonly Unit[] {
  let found = build.imports.get(unit)
  if (!found) {
    const all = new Set([unit])
    for (const each of all) for (const { url } of each.map.imports) for (const one of build.unit(url.text)) all.add(one)
    build.imports.set(unit, (found = [...all]))
  }
  return found
}

export const unknownType: unique symbol = Symbol('unknown')

/** The type that a name in a map stands for: an alias, or a type itself; undefined if its structure is not known. */
export function typeNamed(unit: Unit, name: string, build: Build): string | undefined | typeof unknownType {
  if (unit.aliases.has(name)) return unit.aliases.get(name)
  const found = build.system.find([name])
  return found === undefined || found.startsWith('System.') ? unknownType : found
}
