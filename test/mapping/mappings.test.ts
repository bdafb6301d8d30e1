// The maps that a running service follows: changes are served within a second, broken ones never.

import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import type { Log } from '../../src/lib/log.ts'
import { createMappings, type Mappings, type MappingsParts } from '../../src/mapping/mappings.ts'
import { onCleanup } from '../support/cleanup.ts'
import { until } from '../support/process.ts'
import { example, folderWith, fromFhir, shapes, sound, toFhir } from './support.ts'

const need = { map: 'allergy-to-fhir', from: 'WardAllergy', to: 'AllergyIntolerance' }

interface Desk {
  readonly folder: string
  readonly parts: MappingsParts
  /** What the log says, each line once. */
  readonly lines: () => string[]
}

async function desk(files: Readonly<Record<string, string>> = sound, more: Partial<MappingsParts> = {}): Promise<Desk> {
  const folder = await folderWith(files)
  const written: string[] = []
  const log: Log = pino({ base: {}, timestamp: false }, { write: line => written.push(line) })
  const kept = join(await folderWith({}), 'data', 'mappings.json')
  const parts = { folder, shapes, needs: [need], kept, log, ...more }
  return {
    folder,
    parts,
    lines: () => written.map(line => JSON.parse(line)).map(({ place, msg }) => [place, msg].join(' ')),
  }
}

async function started(parts: MappingsParts): Promise<Mappings> {
  const mappings = await createMappings(parts)
  onCleanup(() => mappings.close())
  mappings.follow()
  return mappings
}

const criticality = (mappings: Mappings): unknown =>
  mappings.program('allergy-to-fhir').run([example.from])['criticality']
const served = (mappings: Mappings, code: string) =>
  until(`${code} is served`, () => mappings.state() === 'ok' && criticality(mappings) === code)
const refused = (mappings: Mappings) => until('the set is refused', () => mappings.state() !== 'ok')

const changed = toFhir.replace('s:severe - t:high', 's:severe - t:"unable-to-assess"')
const broken = toFhir.replace('tgt.criticality', 'tgt.criticalty')

test('a map that is saved is served without waiting for the next look, however it is saved', async () => {
  const { folder, parts, lines } = await desk(sound, { every: 60_000 })
  const mappings = await started(parts)
  expect(criticality(mappings)).toBe('high')
  const file = join(folder, 'allergy-to-fhir.fml')
  await writeFile(file, changed)
  await served(mappings, 'unable-to-assess')
  await writeFile(join(folder, '.saved'), toFhir)
  await rename(join(folder, '.saved'), file)
  await served(mappings, 'high')
  expect(lines()).toEqual(Array(2).fill(' mappings: now using the maps of the folder'))
})

test('what the system does not tell of is found by looking', async () => {
  const { folder, parts } = await desk(sound, { every: 20 })
  const mappings = await started(parts)
  // A folder that is put in the place of another one is a case of that.
  const other = await folderWith({ ...sound, 'allergy-to-fhir.fml': changed })
  await rename(folder, `${folder}-before`)
  await rename(other, folder)
  await served(mappings, 'unable-to-assess')
  await writeFile(join(folder, 'allergy-to-fhir.fml'), toFhir)
  await served(mappings, 'high')
})

test('a folder within the folder is followed too', async () => {
  const { folder, parts } = await desk(sound, { every: 60_000 })
  const mappings = await started(parts)
  await mkdir(join(folder, 'ward'))
  await writeFile(join(folder, 'ward', 'other.fml'), fromFhir.replace('allergy-from-fhir', 'other'))
  await until('the map is there', () => mappings.set().mappings.has('ward/other'), 5)
  await writeFile(join(folder, 'ward', 'other.fml'), fromFhir.replaceAll('allergy-from-fhir', 'another'))
  await until('it is changed', () => mappings.set().mappings.get('ward/other')!.program!.url!.endsWith('another'), 5)
})

test('a broken set is refused, every problem is logged with its place, and the last sound one stays', async () => {
  const { folder, parts, lines } = await desk()
  const mappings = await started(parts)
  await writeFile(join(folder, 'allergy-from-fhir.fml'), fromFhir.replace('-> tgt.id;', '-> tgt.id'))
  await refused(mappings)
  await writeFile(join(folder, 'allergy-to-fhir.fml'), broken)
  await until('both are told', () => mappings.state().includes('2 problems'), 5)
  expect(mappings.state()).toMatch(/^refused: 2 problems, serving the set of \d{4}-\d\d-\d\dT[\d:.]+Z$/)
  expect(criticality(mappings)).toBe('high')
  expect(lines().slice(-3)).toEqual([
    expect.stringMatching(/allergy-from-fhir\.fml:8:19 mappings: a rule ends with a semicolon/),
    expect.stringMatching(/allergy-to-fhir\.fml:20:35 mappings: AllergyIntolerance has no element `criticalty`/),
    ` mappings: ${mappings.state()}`,
  ])
  await writeFile(join(folder, 'allergy-from-fhir.fml'), fromFhir)
  await writeFile(join(folder, 'allergy-to-fhir.fml'), changed)
  await served(mappings, 'unable-to-assess')
})

test('a set without a map that the service needs is refused, and so is a folder that is gone', async () => {
  const { folder, parts } = await desk(sound, { every: 20 })
  const mappings = await started(parts)
  await rename(join(folder, 'allergy-to-fhir.fml'), join(folder, 'allergy.fml'))
  await refused(mappings)
  expect(criticality(mappings)).toBe('high')
  await rm(folder, { recursive: true })
  await until('the folder is missed', () => mappings.set() && mappings.state().startsWith('refused: 1 problem,'), 5)
  expect(criticality(mappings)).toBe('high')
})

test('while the folder is broken, a process that starts serves the last sound set', async () => {
  const { folder, parts, lines } = await desk()
  await (await started(parts)).close()
  const { since } = JSON.parse(await readFile(parts.kept, 'utf8'))
  await (await started(parts)).close()
  await writeFile(join(folder, 'allergy-to-fhir.fml'), broken)
  const mappings = await started(parts)
  expect(mappings.state()).toBe(`refused: 1 problem, serving the set of ${since}`)
  expect(criticality(mappings)).toBe('high')
  expect(lines()).toHaveLength(2)
  await writeFile(join(folder, 'allergy-to-fhir.fml'), changed)
  await served(mappings, 'unable-to-assess')
  expect(await readFile(parts.kept, 'utf8')).toContain('unable-to-assess')
})

test('without a sound set to begin with, nothing starts, and all problems are told', async () => {
  const { parts } = await desk({ ...sound, 'allergy-to-fhir.fml': broken })
  await expect(createMappings(parts)).rejects.toThrow(
    /are broken, and there are no earlier ones(.|\n)*20:35: .*`criticalty`/,
  )
  await expect(createMappings({ ...parts, folder: join(parts.folder, 'nowhere') })).rejects.toThrow(
    /cannot be read: ENOENT/,
  )
  const kept = (await desk(sound)).parts
  await createMappings(kept)
  const needs = [need, { ...need, map: 'visit-to-fhir' }]
  await writeFile(join(kept.folder, 'allergy-to-fhir.fml'), broken)
  await expect(createMappings({ ...kept, needs })).rejects.toThrow(/visit-to-fhir.fml:1:1: this map is missing/)
})

test('a map that is not UTF-8 is refused with its line, and the last sound one stays', async () => {
  const { folder, parts, lines } = await desk(sound, { every: 20 })
  const mappings = await started(parts)
  await writeFile(join(folder, 'allergy-to-fhir.fml'), Buffer.from(`// one\n// s\u00e9v\u00e8re\n${changed}`, 'latin1'))
  await refused(mappings)
  expect(criticality(mappings)).toBe('high')
  expect(lines().join('\n')).toContain('allergy-to-fhir.fml:2:5 mappings: not UTF-8')
})

test('examples may be broken: they are not served', async () => {
  const { parts } = await desk({ ...sound, 'allergy-to-fhir.examples.json': '[' })
  expect((await createMappings(parts)).state()).toBe('ok')
})
