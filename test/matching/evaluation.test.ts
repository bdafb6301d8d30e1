// How well matching works on published people with the slips of everyday life; the same as npm run bench -- matching.

import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { readMatching } from '../../src/matching/weights.ts'
import { evaluate, weightsFile } from '../bench/matching.ts'
import { labelled, readPatients } from '../bench/people.ts'
import { diceOf } from '../bench/slips.ts'
import { sharedData } from '../support/data.ts'

const folder = sharedData('synthea-2025-bulk-1000p-partial')
const people = folder ? readPatients(folder) : []
const matching = readMatching(readFileSync(weightsFile, 'utf8'), 'mappings/matching.json')

test.skipIf(people.length === 0)(
  `nine in ten are found again, and nobody is taken for somebody else${folder ? '' : ' (needs ../shared/data, which is absent)'}`,
  () => {
    expect(people).toHaveLength(1144)
    const answers = [20, 26, 11].flatMap(seed => evaluate(labelled(people, diceOf(seed)), matching))
    const again = answers.filter(({ query }) => query.is !== undefined)
    expect(answers.filter(({ isWrong }) => isWrong).map(({ query }) => query)).toEqual([])
    expect(again.filter(({ isFound }) => isFound).length / again.length).toBeGreaterThan(0.9)
    expect(again.filter(({ wasCandidate }) => wasCandidate).length / again.length).toBeGreaterThan(0.99)
  },
)
