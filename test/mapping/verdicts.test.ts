// What is said of maps, kept for the next process: the same as said anew, and never of anything that has changed.

import { chmod, mkdir, readdir, readFile, rename, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { expect, test } from 'vitest'
import { readFolder, type SourceFile } from '../../src/mapping/files.ts'
import { type MappingSet, mappingSet, type SetOptions } from '../../src/mapping/set.ts'
import type { MapVerdict, Verdicts } from '../../src/mapping/verdict.ts'
import { verdictFiles } from '../../src/mapping/verdict-files.ts'
import { shapes as own } from '../../src/shapes/all.ts'
import { dice, mutated } from '../fml/mutate.ts'
import { onCleanup } from '../support/cleanup.ts'
import { rounds } from '../support/rounds.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { example, fromFhir, shapes, sound, toFhir } from './support.ts'

const newFolder = () => temporaryFolder('verdicts')
const version = () => 'code 1'

interface Kept extends Verdicts {
  /** How many maps each set has checked. */
  readonly checked: number[]
}

/** The verdicts of a folder, as each process opens them. */
function kept(folder: string, options: Parameters<typeof verdictFiles>[0] = {}): Kept {
  const files = verdictFiles({ folder, version, ...options })
  const checked: number[] = []
  return {
    checked,
    find: files.find,
    keep(fresh) {
      checked.push(fresh.size)
      files.keep(fresh)
    },
  }
}

const sources = (files: Readonly<Record<string, string>>): SourceFile[] =>
  Object.entries(files).map(([name, text]) => ({ path: `mappings/${name}`, name, text }))

function ward(
  files: Readonly<Record<string, string>>,
  verdicts?: Verdicts,
  more: Partial<SetOptions> = {},
): MappingSet {
  return mappingSet(sources(files), { shapes, verdicts, ...more })
}

/** All that a set says of its maps. */
function said({ mappings, problems }: MappingSet) {
  const maps = [...mappings.values()].map(({ name, text, program, coverage, problems, others }) => {
    const { run: _, ...ends } = program ?? { run: undefined }
    const urls = [...others].map(([url, found]) => [url, found.map(({ source }) => source.path)])
    return { name, url: text.url, unread: text.unread, ends, coverage, problems, others: urls }
  })
  return { maps, problems }
}

/** Checks that a set says the same anew, when it is kept, and when it is kept from before. */
async function expectSameWhenKept(files: readonly SourceFile[], options: SetOptions): Promise<MappingSet> {
  const folder = await newFolder()
  const [first, second] = [kept(folder), kept(folder)]
  const expected = said(mappingSet(files, options))
  expect(said(mappingSet(files, { ...options, verdicts: first }))).toStrictEqual(expected)
  const again = mappingSet(files, { ...options, verdicts: second })
  expect(said(again)).toStrictEqual(expected)
  expect([first.checked, second.checked]).toEqual([[again.mappings.size], [0]])
  return again
}

const delivered = (await readFolder('mappings')).filter(({ name }) => !name.endsWith('.examples.json'))

test('what is kept of the delivered maps is what is said of them anew', async () => {
  await expectSameWhenKept(delivered, { shapes: own })
  await expectSameWhenKept(delivered, { shapes: own, others: new Set(delivered.map(({ path }) => path)) })
})

/** The delivered maps with mistakes: one that others import, and one of its importers, changed at random. */
function spoilt(seed: number): readonly SourceFile[] {
  const roll = dice(seed)
  const spoiled = [`hl7v2/${['datatypes', 'people', 'visits'][roll(3)]}.fml`, 'hl7v2/adt-a01-to-fhir.fml']
  return delivered
    .filter(({ name }) => /adt-a|datatypes|people|visits|vxu|\.json$/.test(name))
    .map(file => (spoiled.includes(file.name) ? { ...file, text: mutated(file.text, roll) } : file))
}

test.for(Array.from({ length: rounds(4, 24) }, (_, index) => index + 101))(
  'what is kept of maps with mistakes is what is said of them anew (%i)',
  async seed => {
    await expectSameWhenKept(spoilt(seed), { shapes: own })
  },
)

test('a map whose verdict is kept runs as one that was compiled', async () => {
  const again = await expectSameWhenKept(sources(sound), { shapes })
  expect(again.mappings.get('allergy-to-fhir')!.program!.run([example.from])).toEqual(example.to)
})

const url = 'https://ward.example/codes/allergy'
const codes = toFhir.slice(toFhir.indexOf('conceptmap'), toFhir.indexOf('uses'))
const importing = {
  'a.fml': toFhir
    .replace(codes, 'imports "https://ward.example/codes/all"\n')
    .replace('#criticality', `${url}#criticality`),
  'all.fml': `/// url = 'https://ward.example/codes/all'\n\nimports "https://ward.example/codes/*"\n`,
  'codes.fml': `/// url = '${url}'\n\n${codes}`,
  'from.fml': fromFhir,
}

test('a changed map is checked again with those that import it, and no other', async () => {
  const folder = await newFolder()
  const counts = (files: Readonly<Record<string, string>>) => {
    const verdicts = kept(folder)
    expect(said(ward(files, verdicts))).toStrictEqual(said(ward(files)))
    return verdicts.checked
  }
  expect(counts(importing)).toEqual([4])
  expect(counts(importing)).toEqual([0])
  expect(counts({ ...importing, 'from.fml': `${fromFhir}\n` })).toEqual([1])
  const low = importing['codes.fml'].replace('s:severe - t:high', 's:severe - t:lwo')
  expect(counts({ ...importing, 'codes.fml': low })).toEqual([3])
  const { 'codes.fml': _, ...gone } = importing
  expect(counts(gone)).toEqual([2])
  expect(counts({ ...importing, 'more.fml': importing['codes.fml'].replace('/allergy', '/more') })).toEqual([3])
})

test('each thing that a verdict depends on is part of its key', async () => {
  const folder = await newFolder()
  const isKnown = (
    files: Readonly<Record<string, string>>,
    more: Partial<SetOptions> = {},
    code: string | undefined = 'code 1',
  ) => {
    const verdicts = kept(folder, { version: () => code })
    ward(files, verdicts, more)
    return verdicts.checked[0] === 0
  }
  const map = { 'a.fml': toFhir }
  const model = { ...map, 'model.json': JSON.stringify({ resourceType: 'ConceptMap', url: 'https://ward.example/c' }) }
  expect([isKnown(map), isKnown(map)]).toEqual([false, true])
  expect([isKnown({ 'b.fml': toFhir }), isKnown({ 'a.fml': `${toFhir} ` })]).toEqual([false, false])
  expect([isKnown(model), isKnown({ ...model, 'model.json': `${model['model.json']} ` })]).toEqual([false, false])
  expect(isKnown(map, { shapes: [...shapes].reverse() })).toBe(false)
  expect(isKnown(map, { others: new Set(['mappings/a.fml']) })).toBe(false)
  expect(isKnown(map, {}, 'code 2')).toBe(false)
  expect(isKnown({ ...map, 'a.examples.json': '[]' })).toBe(true)
  expect(isKnown(map)).toBe(true)
})

test('maps that are only read are known by what was said of them, and are not kept as checked', async () => {
  const folder = await newFolder()
  const compiled = new Set(['mappings/a.fml'])
  const anew = said(ward(importing, undefined, { compiled }))
  for (const count of [1, 0]) {
    const verdicts = kept(folder)
    expect(said(ward(importing, verdicts, { compiled }))).toStrictEqual(anew)
    expect(verdicts.checked).toEqual([count])
  }
  const all = kept(folder)
  expect(said(ward(importing, all))).toStrictEqual(said(ward(importing)))
  expect(all.checked).toEqual([3])
  expect(said(ward(importing, kept(folder), { compiled }))).toStrictEqual(anew)
})

/** Keeps the verdicts of a sound folder, and returns its files. */
async function filled(): Promise<{ folder: string; paths: string[] }> {
  const folder = await newFolder()
  ward(sound, kept(folder))
  return { folder, paths: (await readdir(folder)).map(name => join(folder, name)) }
}

test.for<[string, (path: string, other: string) => Promise<unknown>]>([
  ['empty', path => writeFile(path, '')],
  ['shorter than its hash', path => writeFile(path, 'short')],
  ['cut off', async path => writeFile(path, (await readFile(path)).subarray(0, -7))],
  ['longer', async path => writeFile(path, Buffer.concat([await readFile(path), Buffer.from([0])]))],
  [
    'changed in one bit',
    async path =>
      writeFile(
        path,
        (await readFile(path)).map((byte, at) => byte ^ (at === 99 ? 1 : 0)),
      ),
  ],
  ['the verdict of another map', async (path, other) => writeFile(path, await readFile(other))],
  ['a folder', async path => rename(path, `${path}.gone`).then(() => mkdir(path))],
])('a file that is %s is ignored, and the map is checked', async ([, damage]) => {
  const { folder, paths } = await filled()
  expect(paths.length).toBe(2)
  await damage(paths[0]!, paths[1]!)
  const verdicts = kept(folder)
  expect(said(ward(sound, verdicts))).toStrictEqual(said(ward(sound)))
  expect(verdicts.checked).toEqual([1])
})

test('a damaged file is replaced, and no draft is left beside it', async () => {
  const { folder, paths } = await filled()
  const whole = await readFile(paths[0]!)
  await writeFile(paths[0]!, whole.subarray(9))
  ward(sound, kept(folder))
  expect(await readFile(paths[0]!)).toEqual(whole)
  expect((await readdir(folder)).map(name => join(folder, name))).toEqual(paths)
})

/** A thread that keeps what is kept in a folder again and again. */
const writer = (folder: string, names: readonly string[]) =>
  new Worker(
    `const { verdictFiles } = await import(${JSON.stringify(join(import.meta.dirname, '../../src/mapping/verdict-files.ts'))})
    const verdicts = verdictFiles({ folder: ${JSON.stringify(folder)}, version: () => 'code 1' })
    const known = new Map(${JSON.stringify(names)}.map(key => [key, verdicts.find(key)]))
    for (let times = 0; times < 200; times++) verdicts.keep(known)`,
    { eval: true },
  )

test('while others write the same verdict, it is read as a whole', async () => {
  const folder = await newFolder()
  const { find, keep } = verdictFiles({ folder, version })
  const taken = new Map<string, MapVerdict>()
  ward(sound, { find, keep: fresh => fresh.forEach((verdict, key) => taken.set(key, verdict)) })
  keep(taken)
  const keys = [...taken.keys()]
  let open = 3
  for (let each = 0; each < 3; each++) writer(folder, keys).once('exit', code => (open -= code === 0 ? 1 : 10))
  while (open > 0) {
    expect(keys.map(key => find(key))).toEqual([...taken.values()])
    await turn()
  }
  expect([open, (await readdir(folder)).length]).toEqual([0, 2])
})

test('without a folder that can be written, maps are checked each time', async () => {
  const parent = await newFolder()
  const folder = join(parent, 'verdicts')
  await writeFile(folder, 'a file')
  for (const _ of [1, 2]) {
    const verdicts = kept(folder)
    expect(said(ward(sound, verdicts))).toStrictEqual(said(ward(sound)))
    expect(verdicts.checked).toEqual([2])
  }
  await chmod(parent, 0o500)
  onCleanup(() => chmod(parent, 0o700))
  expect(said(ward(sound, kept(join(parent, 'other'))))).toStrictEqual(said(ward(sound)))
})

test('nothing is kept, or believed, where the version of the code is not known or has changed meanwhile', async () => {
  const { folder } = await filled()
  const unknown = kept(folder, { version: () => undefined })
  ward(sound, unknown)
  expect(unknown.checked).toEqual([2])
  const versions = ['code 2', 'code 3']
  ward(sound, kept(folder, { version: () => versions.shift() }))
  for (const code of ['code 2', 'code 3', 'undefined']) {
    const verdicts = kept(folder, { version: () => code })
    ward(sound, verdicts)
    expect(verdicts.checked).toEqual([2])
  }
})

test('of too many files the oldest go', async () => {
  const { folder, paths } = await filled()
  await utimes(paths[0]!, 1, 1)
  await Promise.all(Array.from({ length: 498 }, (_, index) => writeFile(join(folder, `other ${index}`), 'text')))
  ward({ 'a.fml': toFhir }, kept(folder))
  const names = await readdir(folder)
  expect(names.length).toBe(500)
  expect(names.map(name => join(folder, name))).not.toContain(paths[0])
})
