// What the author of a map is told about typical mistakes, to the letter: see mistakes.golden.txt.
// `UPDATE_GOLDEN=1 npx vitest run test/fml/author-mistakes` writes that file.

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { compileMap } from '../../src/fml/compile.ts'
import { modelFromSchema } from '../../src/fml/logical-schema.ts'
import { parse } from '../../src/fml/parser.ts'
import { render } from '../../src/fml/render.ts'
import { structures } from '../../src/fml/structures.ts'
import { NO_TERMINOLOGY } from '../../src/fml/value-set.ts'
import { AllergyRecord } from '../../src/shapes/allergy.ts'
import { type Mistake, mistakes } from './author-mistakes.ts'

const file = join(import.meta.dirname, 'mistakes.golden.txt')
const base = 'https://health-interop.org/fhir/StructureDefinition'
const library = {
  structures: structures([modelFromSchema(AllergyRecord, base)]),
  maps: () => [],
  table: () => undefined,
  terminology: NO_TERMINOLOGY,
}

function said(text: string): string[] {
  const { map, problems } = parse(text, 'map.fml')
  const all = problems.length > 0 ? problems : compileMap(map, library).problems
  return all.map(each => (each.severity ? `${render(each, text)}\n(a warning)` : render(each, text)))
}

function entry({ title, shown, text }: Mistake): string {
  const indented = shown.split('\n').map(line => `    ${line}`.trimEnd())
  return [`## ${title}`, '', ...indented, '', ...said(text), ''].join('\n')
}

const golden = `Typical mistakes of those who write maps, and what they are told. The test author-mistakes.test.ts keeps this file:
the maps are in author-mistakes.ts, from AllergyRecord to AllergyIntolerance but for the lines that are shown.

${mistakes.map(entry).join('\n')}`

test('each mistake is told as it is written down', () => {
  if (process.env.UPDATE_GOLDEN === '1') writeFileSync(file, golden)
  expect(golden).toBe(readFileSync(file, 'utf8'))
})

test.each(mistakes.map(each => [each.title, each] as const))('%s: no more is said', (_, { text, count = 1 }) => {
  expect(said(text)).toHaveLength(count)
})
