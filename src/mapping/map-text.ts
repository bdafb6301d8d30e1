// The text of a map in a folder, which is read when something needs more of it than what is known.
// biome-ignore-all lint/plugin: A map file has one of these.

import { urlOf } from '../fml/compile/unit.ts'
import { type Parsed, parse } from '../fml/parser.ts'
import type { Problem } from '../fml/problem.ts'
import type { SourceFile } from './files.ts'

/** What reading a map says that others need. */
export interface TextFacts {
  readonly url: string | undefined
  /** What is wrong with its text, whatever it refers to. */
  readonly unread: readonly Problem[]
}

export interface MapText extends TextFacts {
  readonly source: SourceFile
  readonly parsed: Parsed
}

/** @param known what reading the same text at the same path has said before */
export function mapText(source: SourceFile, known?: TextFacts): MapText {
  let read: Parsed | undefined
  const parsed = () => (read ??= parse(source.text, source.path))
  return {
    source,
    get parsed() {
      return parsed()
    },
    get url() {
      return known ? known.url : urlOf(parsed().map)
    },
    get unread() {
      return known ? known.unread : parsed().problems
    },
  }
}
