// What a map refers to outside of itself: maps, structures and concept maps.

import type { Argument, Block, Embedded, FmlMap, Rule } from '../fml/ast.ts'
import { visit } from '../fml/compile/expression.ts'
import { isJson } from '../fml/resource-parts.ts'

export interface References {
  /** URLs of maps, which may hold `*`. */
  readonly maps: ReadonlySet<string>
  readonly structures: ReadonlySet<string>
  /** URLs of concept maps; those with a `#` are inside the map before it. */
  readonly tables: ReadonlySet<string>
  /** URLs of value sets that `memberOf()` uses, as far as they stand in the text. */
  readonly valueSets: ReadonlySet<string>
}

/** Every URL that a map names. */
export function referencesOf(map: FmlMap): References {
  const maps = new Set(map.imports.map(each => each.url.text))
  const structures = new Set(map.uses.map(each => each.url.text))
  const tables = new Set<string>()
  for (const group of map.groups) collect(group.block, tables)
  for (const each of tables) if (each.includes('#')) maps.add(each.slice(0, each.indexOf('#')))
  return { maps, structures, tables, valueSets: valueSetsIn(map) }
}

function collect({ rules }: Block, tables: Set<string>): void {
  for (const rule of rules) if (rule.kind === 'rule') collectRule(rule, tables)
}

function collectRule({ targets, block }: Rule, tables: Set<string>): void {
  for (const { transform } of targets) {
    if (transform?.kind !== 'call' || transform.name.text !== 'translate') continue
    const url = textOf(transform.args[1])
    if (url !== undefined && !url.startsWith('#')) tables.add(url)
  }
  if (block) collect(block, tables)
}

function textOf(argument: Argument | undefined): string | undefined {
  return argument?.kind === 'literal' && argument.type === 'String' ? argument.text : undefined
}

function valueSetsIn(map: FmlMap): ReadonlySet<string> {
  const names = new Map(map.constants.map(({ name, value }) => [name.text, value.expression]))
  const found = new Set<string>()
  for (const { expression } of expressionsIn(map)) {
    visit(expression, each => {
      if (each.kind !== 'call' || each.name !== 'memberOf') return
      const [argument] = each.args
      const isName = argument?.kind === 'variable' || argument?.kind === 'member'
      const value = isName ? (names.get(argument.name) ?? argument) : argument
      if (value?.kind === 'literal' && value.type === 'String') found.add(value.text)
    })
  }
  return found
}

/** Every expression of a part of a map. */
function* expressionsIn(part: unknown): Generator<Embedded> {
  if (Array.isArray(part)) for (const each of part) yield* expressionsIn(each)
  else if (isJson(part)) {
    if (part['kind'] === 'expression') yield part as unknown as Embedded
    else for (const each of Object.values(part)) yield* expressionsIn(each)
  }
}
