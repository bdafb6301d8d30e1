// npm run bench -- matching: how many people are found again, and how many strangers are taken for them.

import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { blockingKeys } from '../../src/mpi/matching/blocking.ts'
import { type Candidate, type Decision, decide, type Population } from '../../src/mpi/matching/decide.ts'
import { featuresOf } from '../../src/mpi/matching/person.ts'
import type { ShareOf } from '../../src/mpi/matching/score.ts'
import { type Matching, readMatching } from '../../src/mpi/matching/weights.ts'
import { sharedData } from '../support/data.ts'
import { type LabelledSet, labelled, type Query, readBundles, readPatients } from './people.ts'
import { asPerson, diceOf, type Registered } from './slips.ts'

export const weightsFile = join(resolve(import.meta.dirname, '../..'), 'mappings/matching.json')

/** What came of one query. */
export interface Answer {
  readonly query: Query
  readonly decision: Decision
  readonly candidates: number
  /** True if whoever it is was among the candidates. */
  readonly wasCandidate: boolean
  /** True if a stranger's record would be opened. */
  readonly isWrong: boolean
  readonly isFound: boolean
}

/** Asks for everybody in a labelled set. @param people how many to assume as registered; as many as there are, if absent. */
export function evaluate({ registered, queries }: LabelledSet, matching: Matching, people?: number): Answer[] {
  const features = registered.map(each => featuresOf(asPerson(each)))
  const byKey = Map.groupBy(
    features.flatMap((each, index) => blockingKeys(each).map(key => ({ key, index }))),
    ({ key }) => key,
  )
  const population: Population = { people: people ?? registered.length, shareOf: sharesOf(registered) }
  return queries.map(query => {
    const person = featuresOf(query.person)
    const found = new Set(blockingKeys(person).flatMap(key => (byKey.get(key) ?? []).map(({ index }) => index)))
    const candidates: Candidate[] = [...found].map(index => ({ id: String(index), features: features[index]! }))
    const decision = decide(person, candidates, matching, population)
    const isFound = decision.id !== undefined && decision.id === String(query.is)
    const isWrong = decision.id !== undefined && !isFound
    const wasCandidate = query.is !== undefined && found.has(query.is)
    return { query, decision, candidates: candidates.length, wasCandidate, isWrong, isFound }
  })
}

/** How common names are among those who are registered. */
function sharesOf(registered: readonly Registered[]): ShareOf {
  const counts = new Map<string, number>()
  for (const each of registered) {
    const [name] = featuresOf(asPerson(each)).names
    for (const field of ['given', 'family'] as const)
      for (const word of new Set(name![field]))
        counts.set(`${field} ${word}`, (counts.get(`${field} ${word}`) ?? 0) + 1)
  }
  return (field, word) => {
    const count = counts.get(`${field} ${word}`)
    return count && count / registered.length
  }
}

/** The people of the published data that is on this machine; none if it is absent. */
function publishedPeople(): Registered[] {
  const bulk = sharedData('synthea-2025-bulk-1000p-partial')
  const bundles = sharedData('synthea-2019-r4')
  return [...(bulk ? readPatients(bulk) : []), ...(bundles ? readBundles(bundles) : [])]
}

/** @param rounds of slips, each from a seed of its own */
export function benchMatching(rounds: number): void {
  const matching = delivered()
  const people = publishedPeople()
  if (!matching) return
  if (people.length === 0) throw new Error('The published data (../shared/data) is not on this machine.')
  const sets = Array.from({ length: rounds }, (_, seed) => labelled(people, diceOf(seed)))
  process.stdout.write(
    `${people.length} people, ${sets[0]!.registered.length} registered, ${rounds} rounds of slips\n\n`,
  )
  row(['kind', 'queries', 'linked rightly', 'linked wrongly', 'ambiguous', 'possible', 'new'])
  row(['---', '--:', '--:', '--:', '--:', '--:', '--:'])
  const started = process.cpuUsage()
  const answers = sets.flatMap(each => evaluate(each, matching))
  const { user, system } = process.cpuUsage(started)
  for (const [kind, ofKind] of Map.groupBy(answers, ({ query }) => query.kind)) row([kind, ...figures(ofKind)])
  const again = answers.filter(({ query }) => query.is !== undefined)
  const reached = again.filter(({ wasCandidate }) => wasCandidate).length
  const sorted = answers.map(({ candidates }) => candidates).sort((a, b) => a - b)
  const [median, most] = [sorted[sorted.length >> 1], sorted[Math.floor(sorted.length * 0.99)]]
  const cost = ((user + system) / answers.length).toFixed(0)
  process.stdout.write(
    `\n${percent(reached, again.length)} are among the candidates, of whom there are ${median} (median) and ${most} (p99); ` +
      `${cost} µs CPU a query\n\n`,
  )
  row(['as if registered', 'linked rightly', 'linked wrongly'])
  row(['--:', '--:', '--:'])
  for (const size of [10_000, 1_000_000, 30_000_000]) {
    const all = sets.flatMap(each => evaluate(each, matching, size))
    const found = all.filter(({ isFound }) => isFound).length
    row([size.toLocaleString('en'), percent(found, again.length), String(all.filter(({ isWrong }) => isWrong).length)])
  }
}

/** The weights; undefined, and said why, if there is something wrong with them. */
function delivered(): Matching | undefined {
  try {
    return readMatching(readFileSync(weightsFile, 'utf8'), 'mappings/matching.json')
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`)
    process.exitCode = 1
    return undefined
  }
}

function figures(answers: readonly Answer[]): string[] {
  const outcome = (name: Decision['outcome']): string =>
    percent(answers.filter(({ decision }) => decision.outcome === name).length, answers.length)
  return [
    String(answers.length),
    percent(answers.filter(({ isFound }) => isFound).length, answers.length),
    String(answers.filter(({ isWrong }) => isWrong).length),
    outcome('ambiguous'),
    outcome('possible'),
    outcome('new'),
  ]
}

function percent(part: number, whole: number): string {
  return `${((100 * part) / whole).toFixed(1)} %`
}

function row(cells: readonly string[]): void {
  process.stdout.write(`| ${cells.join(' | ')} |\n`)
}
