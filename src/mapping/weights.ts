// The weights for matching patients, stored next to the maps: checked and served together with them.

import { NOWHERE, type Problem } from '../fml/problem.ts'
import { judgeMatching, type Matching } from '../mpi/matching/weights.ts'
import type { SourceFile } from './files.ts'
import { jsonOf, problemIn } from './json-file.ts'
import { placesIn, spanOfPath } from './json-places.ts'

/** The file in the folder of maps. */
const WEIGHTS = 'matching.json'

export interface Weights {
  /** Absent if there is no such file, or something is wrong with it. */
  readonly matching: Matching | undefined
  readonly problems: readonly Problem[]
}

/** Returns the weights of a folder. Invalid JSON is reported with the other files. @param isNeeded true if the file is required */
export function weightsIn(files: readonly SourceFile[], isNeeded: boolean): Weights {
  const file = files.find(({ name }) => name === WEIGHTS)
  const missing = {
    message: 'this file is missing; the service needs it to match patients',
    span: NOWHERE,
    file: WEIGHTS,
  }
  if (!file) return { matching: undefined, problems: isNeeded ? [missing] : [] }
  if ('problem' in jsonOf(file)) return { matching: undefined, problems: [] }
  const judged = judgeMatching(JSON.parse(file.text))
  if ('matching' in judged) return { matching: judged.matching, problems: [] }
  const places = placesIn(file.text)
  // A message begins with the place it is about: `fields.given.levels`.
  const pathOf = (message: string): string[] => (/^[\w.]+/.exec(message)?.[0] ?? '').split('.')
  const problems = judged.problems.map(each => problemIn(file, each, spanOfPath(places, pathOf(each))))
  return { matching: undefined, problems }
}
