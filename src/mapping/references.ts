// What a map refers to outside of itself: maps, structures and concept maps.

import type { Argument, Block, FmlMap, Rule } from '../fml/ast.ts'

export interface References {
  /** URLs of maps, which may hold `*`. */
  readonly maps: ReadonlySet<string>
  readonly structures: ReadonlySet<string>
  /** URLs of concept maps; those with a `#` are inside the map before it. */
  readonly tables: ReadonlySet<string>
}

/** Every URL that a map names. */
export function referencesOf(map: FmlMap): References {
  const maps = new Set(map.imports.map(each => each.url.text))
  const structures = new Set(map.uses.map(each => each.url.text))
  const tables = new Set<string>()
  for (const group of map.groups) collect(group.block, tables)
  for (const each of tables) if (each.includes('#')) maps.add(each.slice(0, each.indexOf('#')))
  return { maps, structures, tables }
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
