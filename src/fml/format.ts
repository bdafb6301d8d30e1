// Gives a map its canonical layout.

import type { FmlMap } from './ast.ts'
import { parse } from './parser.ts'
import { print } from './print.ts'
import { errorsIn } from './problem.ts'

/**
 * A map, or its text, in canonical layout; formatting twice changes nothing more. Text with problems is given back as
 * it is: what was not understood would be lost.
 */
export function format(map: FmlMap | string): string {
  if (typeof map !== 'string') return print(map)
  const { map: read, problems } = parse(map)
  return errorsIn(problems).length > 0 ? map : print(read)
}
