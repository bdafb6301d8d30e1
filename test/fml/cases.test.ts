// The published pairs of map, source and result, and what the published maps have in them that is wrong.

import { globSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { FmlMap } from '../../src/fml/ast.ts'
import { compileMap } from '../../src/fml/compile.ts'
import { modelFromStructureDefinition } from '../../src/fml/logical.ts'
import { parse } from '../../src/fml/parser.ts'
import { MapError } from '../../src/fml/run/map-error.ts'
import { structures } from '../../src/fml/structures.ts'
import { NO_TERMINOLOGY } from '../../src/fml/value-set.ts'
import { sharedData } from '../support/data.ts'
import { absent, beside, published } from './support.ts'

interface Case {
  readonly id: string
  readonly map: string
  readonly source: string
  readonly expected: string
  readonly note: string
}

const cases: readonly Case[] = absent ? [] : JSON.parse(beside('CASES.json'))
const jsonCases = cases.filter(each => !each.note.includes('XML'))

const library = (models: Parameters<typeof structures>[0] = []) => ({
  structures: structures(models),
  maps: (): readonly FmlMap[] => [],
  table: () => undefined,
  terminology: NO_TERMINOLOGY,
})

/** The models of a step of the tutorial stand in a folder beside that of its map. */
function modelsBeside(map: string) {
  const folder = join(dirname(dirname(map)), 'logical')
  const files = globSync('*.json', { cwd: join(sharedData('fml')!, folder) })
  return files.map(file => modelFromStructureDefinition(JSON.parse(beside(join(folder, file)))))
}

function outcome({ map, source }: Case): unknown {
  const { program, problems } = compileMap(parse(beside(map)).map, library(modelsBeside(map)), { lenient: true })
  if (!program) return problems
  try {
    return program.run([JSON.parse(beside(source))])
  } catch (error) {
    if (!(error instanceof MapError)) throw error
    return error.reason
  }
}

/** Expectations that are those of one engine and not what the language says. */
const otherwise: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  // https://hl7.org/fhir/R4/valueset-map-target-list-mode.html: `first` means that the items of this rule go first.
  [
    'tutorial/step11.source11',
    {
      resourceType: 'TRight',
      e: [
        { f: '67890', g: 'g2' },
        { f: '12345', g: 'g1' },
      ],
    },
  ],
  // Two values for an element that has one: the expectation drops the first without a word.
  ['tutorial/step6a.source6b', '`a23` can have one value only, and has one already'],
  // https://hl7.org/fhir/R4/valueset-map-source-list-mode.html: `only_one` with two values is an error.
  ['tutorial/step6b.source6b', 'only one value is expected, and there are 2'],
])

describe.skipIf(absent)('the published cases (skipped where they are not beside the project)', () => {
  test('are 43 whose result is JSON', () => {
    expect(jsonCases).toHaveLength(43)
  })

  test.each(jsonCases.map(each => [each.id, each] as const))('%s', (id, each) => {
    const expected = JSON.parse(beside(each.expected))
    const made = outcome(each)
    if (otherwise.has(id)) expect(made).toEqual(otherwise.get(id))
    else if (expected.resourceType === 'OperationOutcome') expect(made).toBeTypeOf('string')
    else expect(made).toEqual(expected)
  })
})

/** What is wrong with six of the published maps. */
const wrong: Readonly<Record<string, readonly string[]>> = {
  'hl7-fhir-test-cases/r4b/structure-mapping/ActivityDefinition.map': [
    'there is no group `DomainResource` here, perhaps because `http://hl7.org/fhir/StructureMap/*3to4` is missing',
    'there is no group `Contributor` here, perhaps because `http://hl7.org/fhir/StructureMap/*3to4` is missing',
    'there is no group `BackboneElement` here, perhaps because `http://hl7.org/fhir/StructureMap/*3to4` is missing',
  ],
  'hl7-fhir-test-cases/r4b/structure-mapping/syntax.map': [
    'Basic has no element `identifer`; did you mean `identifier`?',
    'there is no variable `r`',
  ],
  'hl7-mapping-language-ig/input/examples/syntax-backticks.fml': [
    'Basic has no element `group!`; it has identifier, code, subject, created, author',
    'Basic has no element `section4.5`; it has identifier, code, subject, created, author',
    'Basic has no element `section4.6`; it has identifier, code, subject, created, author',
  ],
  'hl7-mapping-language-ig/input/examples/transform-evaluate.fml': ['HumanName has no element `surname`'],
  'ahdis-fhir-mapping-tutorial/maptutorial/step4/map/step4b.map': [
    'there is no function isInteger(); did you mean `toInteger`?',
  ],
}

describe.skipIf(absent)('the published maps, compiled', () => {
  test('have errors where they name what does not exist, and nowhere else', () => {
    const found = published.flatMap(({ name, text }) => {
      const { problems } = compileMap(parse(text).map, library(), { lenient: true })
      const errors = new Set(problems.filter(each => each.severity !== 'warning').map(each => each.message))
      return errors.size > 0 ? [[name, [...errors]] as const] : []
    })
    expect(Object.fromEntries(found)).toEqual(wrong)
  })
})
