// The types of consent, stored next to the maps: checked and served together with them.

import { MAX_PROBLEMS, NOWHERE, type Problem, shown } from '../fml/problem.ts'
import { type ConsentTypes, judgeConsentTypes } from '../shapes/consent-types.ts'
import type { SourceFile } from './files.ts'
import { jsonOf, problemIn } from './json-file.ts'
import { placesIn, repeatedIn, spanOfPath } from './json-places.ts'

/** The file in the folder of maps. */
const CONSENTS = 'consents.json'

export interface Consents {
  /** Absent if there is no such file, or something is wrong with it. */
  readonly consents: ConsentTypes | undefined
  readonly problems: readonly Problem[]
}

/**
 * Returns the types of consent of a folder. Invalid JSON is reported with the other files.
 * @param isNeeded true if the file is required
 */
export function consentsIn(files: readonly SourceFile[], isNeeded: boolean): Consents {
  const file = files.find(({ name }) => name === CONSENTS)
  const missing = {
    message: 'this file is missing; the service needs it to determine what a consent opens',
    span: NOWHERE,
    file: CONSENTS,
  }
  if (!file) return { consents: undefined, problems: isNeeded ? [missing] : [] }
  if ('problem' in jsonOf(file)) return { consents: undefined, problems: [] }
  const places = placesIn(file.text)
  const repeated = repeatedIn(places).map(({ path, span }) =>
    problemIn(file, `${shown(path.at(-1)!)} is repeated here; only one of the two would apply`, span),
  )
  const judged = judgeConsentTypes(JSON.parse(file.text))
  const faults = 'faults' in judged ? judged.faults.slice(0, MAX_PROBLEMS) : []
  const wrong = faults.map(({ at, message }) => problemIn(file, message, spanOfPath(places, at)))
  const problems = [...repeated, ...wrong]
  return { consents: problems.length === 0 && 'consents' in judged ? judged.consents : undefined, problems }
}
