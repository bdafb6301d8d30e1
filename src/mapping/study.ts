// Static facts of a map: its URL, and what it refers to.

import { urlOf } from '../fml/compile/unit.ts'
import { fromStructureMap } from '../fml/from-structure-map.ts'
import { type Parsed, parse } from '../fml/parser.ts'
import { parseJson } from '../lib/json.ts'
import type { SourceFile } from './files.ts'
import { type References, referencesOf } from './references.ts'

export interface Study {
  readonly url: string | undefined
  readonly references: References
}

/** Returns the static facts of a map from its text; for one that cannot be read, those that were found. */
export function studyOf(file: SourceFile): Study {
  const { map } = readMap(file)
  return { url: urlOf(map), references: referencesOf(map) }
}

/** A map, in the mapping language or as a StructureMap in JSON. */
export function readMap({ path, text }: SourceFile): Parsed {
  return text.trimStart().startsWith('{') ? fromStructureMap(parseJson(text)) : parse(text, path)
}
