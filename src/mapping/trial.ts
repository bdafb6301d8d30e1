// Tries an example: runs its map, compares what comes out with what has to, and checks that both ends are valid.

import type { Program } from '../fml/compile.ts'
import type { RunOptions } from '../fml/run/frame.ts'
import { MapError } from '../fml/run/map-error.ts'
import { isMessageType } from '../hl7v2/models.ts'
import { MessageError } from '../hl7v2/problem.ts'
import { writeMessage } from '../hl7v2/write.ts'
import type { JsonObject } from '../lib/json.ts'
import { type Difference, differences, differenceText } from './difference.ts'
import type { Example } from './examples.ts'
import { messageSource } from './messages.ts'
import type { Inspect } from './validity.ts'

/** What came of an example. */
export interface Trial {
  readonly example: Example
  /** Why the map could not be run to its end. */
  readonly error: MapError | MessageError | undefined
  readonly differences: readonly Difference[]
  /** What the map made; absent if it stopped. */
  readonly made?: Example['to']
  /** What is wrong with what came in or out. */
  readonly invalid: readonly string[]
}

/** True if the result is as the example expects. */
export function isPassed({ error, differences, invalid }: Trial): boolean {
  return !error && differences.length === 0 && invalid.length === 0
}

/** What is wrong with a result, a line each. */
export function findings({ error, differences, invalid }: Trial): string[] {
  const broken = error ? [`the map failed: ${error.message}`] : []
  return [...broken, ...differences.map(differenceText), ...invalid.map(each => `not valid: ${each}`)]
}

/** Tries an example of a map. */
export function tryExample(program: Program, example: Example, inspect: Inspect): Trial {
  const { from, context, to } = example
  const [source, second] = program.sources
  const invalid = [
    ...(isSegments(from) ? [] : inspect(from, source?.type)).map(each => `from: ${each}`),
    ...(context ? inspect(context, second?.type).map(each => `context: ${each}`) : []),
  ]
  const { made, error } = attempt(program, from, context)
  if (example.error !== undefined) return refused(example, made, error)
  if (error) return { example, error, differences: [], invalid }
  const target = program.targets[0]?.type
  return { example, error, made, differences: differences(to, made), invalid: [...invalid, ...inspect(made, target)] }
}

/** An example that must be refused, for the reason that it names. */
function refused(example: Example, made: Example['to'], error: Trial['error']): Trial {
  const isExpected = error?.message.includes(example.error!) ?? false
  const faults = isExpected ? [] : differences(`error: ${example.error}`, error ? `error: ${error.message}` : made)
  return { example, error: undefined, made, differences: faults, invalid: [] }
}

/** What a map makes of a record or a message, or the error that it ends with; a message is given as its segments. */
export function attempt(
  program: Program,
  from: Example['from'],
  context: JsonObject | undefined,
): { readonly made?: Example['to']; readonly error?: MapError | MessageError } {
  try {
    const made = program.run(sourcesOf(program, { from, context }), everTheSame())
    const target = program.targets[0]?.type
    return { made: isMessageType(target) ? writeMessage(made, target).trimEnd().split('\r') : made }
  } catch (error) {
    if (error instanceof MapError || error instanceof MessageError) return { error }
    throw error
  }
}

/** What a map takes of an example. @throws MessageError if its message cannot be read */
export function sourcesOf(program: Program, { from, context }: Pick<Example, 'from' | 'context'>): unknown[] {
  const source = isSegments(from) ? messageSource(from.join('\r'), program.sources[0]?.type ?? '', context) : from
  return program.sources.length > 1 ? [source, context] : [source]
}

/** True for a message: its segments. */
export const isSegments = (value: Example['from'] | undefined): value is readonly string[] => Array.isArray(value)

/** For examples it is always noon of 2026-01-01, and uuid() counts. */
export function everTheSame(): RunOptions {
  let count = 0
  return {
    now: () => new Date('2026-01-01T12:00:00Z'),
    uuid: () => `00000000-0000-4000-8000-${String(++count).padStart(12, '0')}`,
  }
}
