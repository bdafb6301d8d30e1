// Maps of a folder as one whole: what is told of it, and how its parts find each other.

import { readFileSync } from 'node:fs'
import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { readFolder, type SourceFile } from '../../src/mapping/files.ts'
import { isSound, type MappingSet, mappingSet } from '../../src/mapping/set.ts'
import { example, folderWith, fromFhir, shapes, sound, toFhir } from './support.ts'

type Options = Parameters<typeof mappingSet>[1]

function setOf(
  files: Readonly<Record<string, string>>,
  needs?: Options['needs'],
  more: Partial<Options> = {},
): MappingSet {
  return mappingSet(sources(files), { shapes, needs, ...more })
}

function sources(files: Readonly<Record<string, string>>): SourceFile[] {
  return Object.entries(files).map(([name, text]) => ({ path: `mappings/${name}`, name, text }))
}

const problemsOf = (set: MappingSet) =>
  set.problems.map(({ file, span, message }) => `${file}:${span.line}:${span.column} ${message}`)

test('a sound folder is a set of programs by the names of their files', async () => {
  const set = mappingSet(await readFolder(await folderWith(sound)), { shapes })
  expect(problemsOf(set)).toEqual([])
  expect(isSound(set)).toBe(true)
  expect([...set.mappings.keys()]).toEqual(['allergy-from-fhir', 'allergy-to-fhir'])
  expect(set.mappings.get('allergy-to-fhir')!.program!.run([example.from])).toEqual(example.to)
})

test('all problems of all files are told, in order of file and place', () => {
  const set = setOf({
    'b.fml': toFhir.replace('tgt.criticality', 'tgt.criticalty').replace('src.substance', 'src.substanse'),
    'a.fml': fromFhir.replace('-> tgt.id;', '-> tgt.id'),
  })
  expect(problemsOf(set)).toEqual([
    'mappings/a.fml:8:19 a rule ends with a semicolon; one is missing after `src.id -> tgt.id`',
    'mappings/b.fml:18:7 WardAllergy has no element `substanse`; did you mean `substance`?',
    'mappings/b.fml:20:35 AllergyIntolerance has no element `criticalty`; did you mean `criticality`?',
  ])
  expect([...set.mappings.values()].map(each => each.program)).toEqual([undefined, undefined])
})

test('a map finds groups and concept maps of another file by its URL, also by a pattern', () => {
  const codes = toFhir.slice(toFhir.indexOf('conceptmap'), toFhir.indexOf('uses'))
  const shared = { 'codes/allergy.fml': `/// url = 'https://ward.example/codes/allergy'\n\n${codes}` }
  const by = (line: string, name: string) => toFhir.replace(codes, line).replace('#criticality', name)
  expect(problemsOf(setOf({ ...shared, 'a.fml': by('', 'https://ward.example/codes/allergy#criticality') }))).toEqual(
    [],
  )
  expect(
    problemsOf(setOf({ ...shared, 'a.fml': by('imports "https://ward.example/codes/*"\n', '#criticality') })),
  ).toEqual([])
  expect(problemsOf(setOf({ 'a.fml': by('imports "https://ward.example/codes/*"\n', '#criticality') }))).toEqual([
    'mappings/a.fml:4:9 there is no map `https://ward.example/codes/*` here',
    expect.stringContaining('there is no concept map `#criticality` here'),
  ])
})

test('two maps cannot have one URL', () => {
  expect(problemsOf(setOf({ 'a.fml': toFhir, 'b.fml': toFhir }))).toEqual([
    'mappings/b.fml:1:1 mappings/a.fml has the URL `https://ward.example/allergy-to-fhir` too',
  ])
})

describe('beside the maps', () => {
  test('a StructureDefinition is a logical model that they can speak of', () => {
    const model = {
      resourceType: 'StructureDefinition',
      url: 'https://ward.example/Bed',
      kind: 'logical',
      type: 'Bed',
      derivation: 'specialization',
      differential: { element: [{ path: 'Bed' }, { path: 'Bed.label', type: [{ code: 'string' }] }] },
    }
    const map = `/// url = 'https://ward.example/bed'
uses "https://ward.example/Bed" alias Bed as source
uses "http://hl7.org/fhir/StructureDefinition/Location" alias Location as target
group Bed(source src : Bed, target tgt : Location) {
  src.label -> tgt.name;
  src.lable -> tgt.alias;
}`
    expect(problemsOf(setOf({ 'bed.json': JSON.stringify(model), 'bed.fml': map }))).toEqual([
      'mappings/bed.fml:6:7 Bed has no element `lable`; did you mean `label`?',
    ])
    const wrong = {
      ...model,
      differential: { element: [{ path: 'Bed' }, { path: 'Bed.label', type: [{ code: 'sting' }] }] },
    }
    expect(problemsOf(setOf({ 'bed.json': JSON.stringify(wrong) }))).toEqual([
      'mappings/bed.json:1:1 Bed.label: there is no type `sting`',
    ])
  })

  test('a ConceptMap translates by its URL', () => {
    const conceptMap = {
      resourceType: 'ConceptMap',
      url: 'https://ward.example/criticality',
      group: [
        {
          source: 'https://ward.example/severity',
          target: 'http://hl7.org/fhir/allergy-intolerance-criticality',
          element: [
            { code: 'mild', target: [{ code: 'low', equivalence: 'relatedto' }] },
            { code: 'severe', target: [{ code: 'high', equivalence: 'relatedto' }] },
          ],
        },
      ],
    }
    const map = toFhir.replace('#criticality', 'https://ward.example/criticality')
    const set = setOf({ 'a.fml': map, 'codes/criticality.json': JSON.stringify(conceptMap) })
    expect(problemsOf(set)).toEqual([])
    expect(set.mappings.get('a')!.program!.run([example.from])).toEqual(example.to)
  })

  test('other JSON is nobody’s business, and what is not JSON is told without quoting it', () => {
    expect(problemsOf(setOf({ 'other.json': '{ "weights": [1] }' }))).toEqual([])
    expect(problemsOf(setOf({ 'other.json': '{\n  "name": Amina\n}' }))).toEqual([
      'mappings/other.json:2:11 invalid JSON from here on',
    ])
  })
})

describe('the weights that people are matched by', () => {
  const delivered = readFileSync(join(import.meta.dirname, '../../mappings/matching.json'), 'utf8')

  test('are part of the set, and missed only by whoever needs them', () => {
    expect(setOf({ 'matching.json': delivered }).matching?.certainty).toBe(0.99)
    expect([setOf(sound).matching, problemsOf(setOf(sound))]).toEqual([undefined, []])
    expect(problemsOf(setOf(sound, [], { needsMatching: true }))).toEqual([
      'matching.json:1:1 this file is missing; the service needs it to match patients',
    ])
  })

  test('are told what is wrong with them, with the line', () => {
    const lines = delivered.split('\n')
    const at = lines.findIndex(line => line.includes('"certainty": 0.99'))
    const wrong = delivered.replace('"certainty": 0.99', '"certainty": 99').replace('"near": 0.92', '"neer": 0.92')
    const set = setOf({ 'matching.json': wrong })
    expect(set.matching).toBeUndefined()
    const place = (line: number, column: number) => `mappings/matching.json:${line}:${column}`
    const likeness = lines.findIndex(line => line.startsWith('  "likeness"'))
    const near = lines.findIndex(line => line.includes('"near": 0.92'))
    expect(problemsOf(set)).toEqual([
      `${place(at + 1, 5)} decision.certainty must be a share between 0 and 1, such as 0.02 (neither of both)`,
      `${place(likeness + 1, 3)} likeness.near is missing`,
      `${place(near + 1, 5)} likeness.neer is not a known field; did you mean near?`,
    ])
  })
})

test('a set that lacks a map which is asked for, or turns it into something else, is told so', () => {
  const need = { map: 'allergy-to-fhir', from: 'WardAllergy', to: 'AllergyIntolerance' }
  expect(problemsOf(setOf(sound, [need]))).toEqual([])
  expect(problemsOf(setOf({ 'allergy-to-fhirs.fml': toFhir }, [need]))).toEqual([
    'allergy-to-fhir.fml:1:1 this map is missing; the service needs it for WardAllergy; was it renamed to allergy-to-fhirs.fml?',
  ])
  expect(problemsOf(setOf(sound, [{ ...need, to: 'Condition' }]))).toEqual([
    'mappings/allergy-to-fhir.fml:1:1 this map converts WardAllergy to AllergyIntolerance; the service needs one from WardAllergy to Condition',
  ])
})

test('what has not changed is neither read nor compiled again', () => {
  const before = setOf(sound)
  const after = mappingSet(
    sources({ ...sound, 'allergy-from-fhir.fml': fromFhir.replace('substring(8)', 'substring(7)') }),
    {
      shapes,
      before,
    },
  )
  const parsed = (set: MappingSet, name: string) => set.mappings.get(name)!.parsed
  expect(parsed(after, 'allergy-to-fhir')).toBe(parsed(before, 'allergy-to-fhir'))
  expect(parsed(after, 'allergy-from-fhir')).not.toBe(parsed(before, 'allergy-from-fhir'))
  expect(after.mappings.get('allergy-to-fhir')).toBe(before.mappings.get('allergy-to-fhir'))
  expect(problemsOf(after)).toEqual([])
})

test('what uses another map is compiled again when that changes, comes or goes', () => {
  const codes = toFhir.slice(toFhir.indexOf('conceptmap'), toFhir.indexOf('uses'))
  const url = 'https://ward.example/codes/allergy'
  const shared = `/// url = '${url}'\n\n${codes}`
  const using = toFhir.replace(codes, '').replace('#criticality', `${url}#criticality`)
  const run = (set: MappingSet) => set.mappings.get('a')!.program?.run([example.from]) as { criticality: string }
  const next = (files: Readonly<Record<string, string>>, before: MappingSet) => setOf(files, undefined, { before })
  const first = setOf({ 'a.fml': using, 'codes.fml': shared })
  expect(run(first).criticality).toBe('high')
  const changed = next({ 'a.fml': using, 'codes.fml': shared.replace('s:severe - t:high', 's:severe - t:low') }, first)
  expect(run(changed).criticality).toBe('low')
  const gone = next({ 'a.fml': using }, changed)
  expect([gone.mappings.get('a')!.program, problemsOf(gone).length]).toEqual([undefined, 1])
  const back = next({ 'a.fml': using, 'codes.fml': shared }, gone)
  expect([run(back).criticality, problemsOf(back)]).toEqual(['high', []])
})

test('a change beside the maps compiles them all again', () => {
  const before = setOf(sound)
  const after = setOf({ ...sound, 'model.json': '{}' }, undefined, { before })
  expect(after.mappings.get('allergy-to-fhir')).not.toBe(before.mappings.get('allergy-to-fhir'))
})

test('folders are read with the folders in them, links to files are followed, hidden names are not', async () => {
  const folder = await folderWith(sound)
  await mkdir(join(folder, 'codes'))
  await mkdir(join(folder, '..2026_data'))
  await writeFile(join(folder, '..2026_data', 'linked.fml'), toFhir)
  await writeFile(join(folder, '.#open.fml'), '')
  await writeFile(join(folder, 'codes', 'one.fml'), '\uFEFFmap')
  await symlink(join(folder, '..2026_data', 'linked.fml'), join(folder, 'linked.fml'))
  const files = await readFolder(folder)
  expect(files.map(each => each.name)).toEqual([
    'allergy-from-fhir.fml',
    'allergy-to-fhir.examples.json',
    'allergy-to-fhir.fml',
    'linked.fml',
    'codes/one.fml',
  ])
  expect(files.at(-1)!.text).toBe('map')
})
