// The weights that people are matched by, which lie beside the maps: judged and served together with them.

import type { Span } from '../fml/ast.ts'
import { NOWHERE, type Problem } from '../fml/problem.ts'
import { judgeMatching, type Matching } from '../matching/weights.ts'
import type { SourceFile } from './files.ts'
import { jsonOf, problemIn, spanAt } from './json-file.ts'

/** The file in the folder of maps. */
export const WEIGHTS = 'matching.json'

export interface Weights {
  /** Absent if there is no such file, or something is wrong with it. */
  readonly matching: Matching | undefined
  readonly problems: readonly Problem[]
}

/**
 * The weights of a folder. That the file is not JSON is said with the other files.
 * @param isNeeded true if there must be some
 */
export function weightsIn(files: readonly SourceFile[], isNeeded: boolean): Weights {
  const file = files.find(({ name }) => name === WEIGHTS)
  const missing = {
    message: 'this file is missing; the service needs it to match people',
    span: NOWHERE,
    file: WEIGHTS,
  }
  if (!file) return { matching: undefined, problems: isNeeded ? [missing] : [] }
  if ('problem' in jsonOf(file)) return { matching: undefined, problems: [] }
  const judged = judgeMatching(JSON.parse(file.text))
  if ('matching' in judged) return { matching: judged.matching, problems: [] }
  return { matching: undefined, problems: judged.problems.map(each => problemIn(file, each, spanOf(file.text, each))) }
}

/** Where in the file the place is that a message begins with: `fields.given.levels`. What is missing is told at its surroundings. */
function spanOf(text: string, message: string): Span {
  const [path = ''] = /^[\w.]+/.exec(message) ?? []
  let offset = -1
  let from = 0
  for (const name of path.split('.').slice(0, message.endsWith(' is missing') ? -1 : undefined)) {
    const at = text.slice(from).search(new RegExp(`"${name}"\\s*:`))
    if (at < 0) break
    offset = from + at
    from = offset + name.length + 2
  }
  return offset < 0 ? NOWHERE : spanAt(text, offset)
}
