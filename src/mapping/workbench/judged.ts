// Whether a folder can be served with drafts in it, which examples fail, and what is known of each map.

import { errorsIn } from '../../fml/problem.ts'
import { coverageOf, endsOf } from '../coverage.ts'
import { type Example, examplesIn } from '../examples.ts'
import { mapName } from '../files.ts'
import type { Mapping } from '../mapping.ts'
import { findings, isPassed, type Trial, tryExample } from '../trial.ts'
import type { Inspect } from '../validity.ts'
import type { ExampleResult, JudgedFolder, Listed } from './asks.ts'
import { type Desk, setOf } from './desk.ts'
import { markedOf } from './marked.ts'

/** Checks the folder as a whole. */
export function judged(desk: Desk): JudgedFolder {
  const { base, files, drafts } = desk
  const set = setOf(desk)
  const hasNewExamples = (map: string): boolean => drafts.some(({ name }) => name === `${map}.examples.json`)
  // A set takes over what has not changed since the one before.
  const affected = [...set.mappings.values()].filter(
    each => each !== base.mappings.get(each.name) || hasNewExamples(each.name),
  )
  const problems = markedOf([...set.problems, ...examplesIn(files).problems], files)
  return { problems, affected: affected.map(({ name }) => name) }
}

/** Runs every example of these maps. */
export function exampled(desk: Desk, maps: readonly string[]): ExampleResult[] {
  const { mappings } = setOf(desk, maps)
  const { byMap } = examplesIn(
    desk.files.filter(
      ({ name }) => maps.includes(mapName(name)) || maps.some(each => name === `${each}.examples.json`),
    ),
  )
  return [...mappings.values()].flatMap(each => resultsOf(each, byMap.get(each.name) ?? [], desk.inspect))
}

/** Runs the examples of a map; none of a map that has problems. */
export function resultsOf({ name, program }: Mapping, examples: readonly Example[], inspect: Inspect): ExampleResult[] {
  return program ? examples.map(each => resultOf(name, tryExample(program, each, inspect))) : []
}

function resultOf(map: string, trial: Trial): ExampleResult {
  const { example, differences, made } = trial
  const isGood = isPassed(trial)
  return {
    map,
    name: example.name,
    line: example.line,
    isPassed: isGood,
    findings: findings(trial),
    ...(differences.length > 0 && { expected: written(example.to), got: written(made) }),
  }
}

const written = (value: unknown): string | undefined =>
  value === undefined ? undefined : JSON.stringify(value, null, 2)

/** Lists maps of the folder. */
export function listed(desk: Desk, maps: readonly string[]): readonly Listed[] {
  const { files, inspect } = desk
  const set = setOf(desk, maps)
  const { byMap } = examplesIn(files)
  return [...set.mappings.values()]
    .filter(({ name }) => maps.includes(name))
    .map((mapping): Listed => {
      const { name, source, problems } = mapping
      const results = resultsOf(mapping, byMap.get(name) ?? [], inspect)
      const coverage = coverageOf(mapping, set.structures)
      const [from, to] = endsOf(mapping, set.structures)
      const own = problems.filter(({ file }) => file === source.path)
      const errors = errorsIn(own).length
      return {
        name,
        from,
        to,
        read: coverage?.source.filter(each => each.isCovered).length ?? 0,
        readable: coverage?.source.length ?? 0,
        unset: coverage?.unset ?? [],
        examples: byMap.get(name)?.length ?? 0,
        failing: results.filter(each => !each.isPassed).length,
        errors,
        warnings: own.length - errors,
      }
    })
}
