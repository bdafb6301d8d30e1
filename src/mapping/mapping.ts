// One map of the set that the service runs, with all its properties.

import type { FmlMap } from '../fml/ast.ts'
import type { Compiled, Program } from '../fml/compile.ts'
import type { Parsed } from '../fml/parser.ts'
import type { Problem } from '../fml/problem.ts'
import type { SourceFile } from './files.ts'

/** One map of a set. */
export interface Mapping {
  /** Its file below the folder, without `.fml`: `allergy-to-fhir`. */
  readonly name: string
  readonly source: SourceFile
  readonly parsed: Parsed
  /** Absent if the map has problems other than warnings. */
  readonly program: Program | undefined
  /** Its problems and those of its imports. */
  readonly problems: readonly Problem[]
  /** Absent if the map could not be read. */
  readonly coverage: Compiled['coverage'] | undefined
  /** The other maps that it was compiled with, by the URLs that it refers to. */
  readonly others: ReadonlyMap<string, readonly FmlMap[]>
}
