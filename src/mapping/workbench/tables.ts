// The concept maps of maps as tables: each line, and the codes that rules look up and that have no line.

import { lookedUp } from '../../fml/assist/complete.ts'
import type { ConceptMap } from '../../fml/ast.ts'
import type { Sight } from '../../fml/sight.ts'
import { isMap, type SourceFile } from '../files.ts'
import type { CodeTable } from './asks.ts'
import { type Desk, setOf, sightsOf } from './desk.ts'

/** Returns the concept maps of the draft, or of all maps where there is none. */
export function tablesOf(desk: Desk): readonly CodeTable[] {
  const { draft, files } = desk
  const set = setOf(desk, [])
  const about = draft && isMap(draft.name) ? [draft] : files.filter(({ name }) => isMap(name))
  const all = [...set.mappings.values()].filter(({ source }) => about.some(({ path }) => path === source.path))
  // Maps that import a concept map look codes up in it too.
  const sights = new Map(files.filter(({ name }) => isMap(name)).map(each => [each.name, lazily(desk, each)]))
  return all.flatMap(({ name, parsed, source }) =>
    parsed.map.conceptMaps.map(each => tableOf(name, each, sights.get(source.name)!())),
  )
}

function lazily(desk: Desk, file: SourceFile): () => readonly Sight[] {
  let found: readonly Sight[] | undefined
  return () => (found ??= sightsOf(desk, file, file.text))
}

function tableOf(
  map: string,
  { id, prefixes, mappings, unmapped, span }: ConceptMap,
  sights: readonly Sight[],
): CodeTable {
  const systems = new Map(prefixes.map(({ name, url }) => [name.text, url.text]))
  const known = new Set(mappings.map(({ source }) => source.code.text))
  const asked = new Set(lookedUp(sights, id.text))
  const isKept = unmapped.length > 0
  return {
    map,
    id: id.text.replace(/^#/, ''),
    line: span.line,
    isKept,
    missing: isKept ? [] : [...asked].filter(code => !known.has(code)),
    rows: mappings.map(({ source, operator, target, span: at }) => ({
      line: at.line,
      from: source.code.text,
      fromSystem: systems.get(source.prefix.text) ?? '',
      relation: operator,
      to: target?.code.text ?? '',
      toSystem: target ? (systems.get(target.prefix.text) ?? '') : '',
    })),
  }
}
