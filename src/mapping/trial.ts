// Tries an example: runs its map, compares what comes out with what has to, and checks that both ends are valid.

import type { Program } from '../fml/compile.ts'
import type { RunOptions } from '../fml/run/frame.ts'
import { MapError } from '../fml/run/map-error.ts'
import type { JsonObject } from '../lib/json.ts'
import { type Difference, differences } from './difference.ts'
import type { Example } from './examples.ts'
import type { Inspect } from './validity.ts'

/** What came of an example. */
export interface Trial {
  readonly example: Example
  /** Why the map could not be run to its end. */
  readonly error: MapError | undefined
  readonly differences: readonly Difference[]
  /** What is wrong with what came in or out. */
  readonly invalid: readonly string[]
}

/** True if the result is as the example expects. */
export function isPassed({ error, differences, invalid }: Trial): boolean {
  return !error && differences.length === 0 && invalid.length === 0
}

/** Tries an example of a map. */
export function tryExample(program: Program, example: Example, inspect: Inspect): Trial {
  const { from, context, to } = example
  const [source, second] = program.sources
  const invalid = [
    ...inspect(from, source?.type).map(each => `from: ${each}`),
    ...(context ? inspect(context, second?.type).map(each => `context: ${each}`) : []),
  ]
  const { made, error } = attempt(program, from, context)
  if (error) return { example, error, differences: [], invalid }
  const target = program.targets[0]?.type
  return { example, error, differences: differences(to, made), invalid: [...invalid, ...inspect(made, target)] }
}

/** What a map makes of a record, or the MapError that it ends with. */
export function attempt(
  program: Program,
  from: JsonObject,
  context: JsonObject | undefined,
): { readonly made?: JsonObject; readonly error?: MapError } {
  const sources = program.sources.length > 1 ? [from, context] : [from]
  try {
    return { made: program.run(sources, everTheSame()) }
  } catch (error) {
    if (error instanceof MapError) return { error }
    throw error
  }
}

/** For examples it is always noon of 2026-01-01, and uuid() counts. */
function everTheSame(): RunOptions {
  let count = 0
  return {
    now: () => new Date('2026-01-01T12:00:00Z'),
    uuid: () => `00000000-0000-4000-8000-${String(++count).padStart(12, '0')}`,
  }
}
