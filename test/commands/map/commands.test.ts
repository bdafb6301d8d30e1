// npm run map: what authors of maps are told.

import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { check } from '../../../src/commands/map/check.ts'
import { callOf, type MapCommand } from '../../../src/commands/map/command.ts'
import { coverage } from '../../../src/commands/map/coverage.ts'
import { fmt } from '../../../src/commands/map/fmt.ts'
import { create } from '../../../src/commands/map/new.ts'
import { pack } from '../../../src/commands/map/package.ts'
import { run } from '../../../src/commands/map/run.ts'
import { test as tryOut } from '../../../src/commands/map/test.ts'
import { type CommandResult, UsageError } from '../../../src/lib/command.ts'
import { example, folderWith, fromFhir, shapes, sound, toFhir } from '../../mapping/support.ts'
import { run as runProcess } from '../../support/process.ts'
import { jsonFiles } from '../../support/tgz.ts'

/** What a command answers, the folder left out of its words. */
async function answer(command: MapCommand, folder: string, ...args: string[]): Promise<CommandResult> {
  const { text, notes, json, isGood } = await command.run(callOf(command, [...args, '--folder', folder], shapes))
  const plain = (words: string) => words.replaceAll(`${folder}/`, '')
  return { isGood, text: plain(text), notes: notes && plain(notes), json: JSON.parse(plain(JSON.stringify(json))) }
}

const broken = { ...sound, 'allergy-to-fhir.fml': toFhir.replace('tgt.criticality', 'tgt.criticalty') }
const criticalty = `allergy-to-fhir.fml:20:35: AllergyIntolerance has no element \`criticalty\`; did you mean \`criticality\`?
  20 |   src.severity as severity -> tgt.criticalty = translate(severity, '#criticality', 'code');
     |                                   ^^^^^^^^^^
     = write \`criticality\`
`

describe('check', () => {
  test('is content with sound maps', async () => {
    expect(await answer(check, await folderWith(sound))).toEqual({
      isGood: true,
      text: '2 maps, no problems\n',
      notes: undefined,
      json: { maps: ['allergy-from-fhir', 'allergy-to-fhir'], errors: 0, warnings: 0, problems: [] },
    })
  })

  test('reads the types of consent too', async () => {
    const types =
      '{ "expires_after_days": 365,\n  "types": { "full_record": { "opens": "everything", "titel": "T", "meaning": "M" } } }'
    const { isGood, text } = await answer(check, await folderWith({ ...sound, 'consents.json': types }))
    expect(isGood).toBe(false)
    expect(text).toBe(`consents.json:2:54: types.full_record.titel is not a known field; did you mean \`title\`?
   2 |   "types": { "full_record": { "opens": "everything", "titel": "T", "meaning": "M" } } }
     |                                                      ^^^^^^^

2 maps, 1 problem
`)
  })

  test('shows every problem with its line, and the way out', async () => {
    const { isGood, text, json } = await answer(check, await folderWith(broken))
    expect(isGood).toBe(false)
    expect(text).toBe(`${criticalty}\n2 maps, 1 problem\n`)
    expect(json).toMatchObject({
      errors: 1,
      problems: [
        {
          file: 'allergy-to-fhir.fml',
          line: 20,
          column: 35,
          length: 10,
          severity: 'error',
          message: 'AllergyIntolerance has no element `criticalty`; did you mean `criticality`?',
          fix: { line: 20, column: 35, length: 10, replacement: 'criticality' },
        },
      ],
    })
  })

  test('finds a code that a concept map translates in two ways, which no example may show', async () => {
    const twice = toFhir.replace(/^ *s:severe .*$/m, line => `${line}\n${line.replace(/\w+$/, 'low')}`)
    const { isGood, text } = await answer(check, await folderWith({ ...sound, 'allergy-to-fhir.fml': twice }))
    expect(isGood).toBe(false)
    expect(text).toMatch(/^allergy-to-fhir\.fml:\d+:\d+: this code becomes `high` already, in line \d+; /)
  })

  test('names what the service needs and its own folder lacks; other folders need nothing', async () => {
    const folder = await folderWith({ 'allergy-to-fhir.fml': toFhir })
    vi.stubEnv('MAPPINGS_DIR', folder)
    const served = await answer(check, folder)
    const named = await answer(check, folder, 'allergy-to-fhir')
    vi.unstubAllEnvs()
    expect(served.isGood).toBe(false)
    expect(served.text).toContain('this map is missing; the service needs it for AllergyIntolerance')
    for (const file of ['matching.json', 'consents.json'])
      expect(served.text).toContain(`${file}:1:1: this file is missing`)
    expect(named.text).toBe('1 map, no problems\n')
    expect((await answer(check, folder)).text).toBe('1 map, no problems\n')
  })

  test('finds a map and examples that are not UTF-8, with file and line', async () => {
    const folder = await folderWith(sound)
    const examples = JSON.stringify([{ ...example, name: 'sévère' }], null, 2)
    await writeFile(join(folder, 'allergy-to-fhir.fml'), Buffer.from(`// Ébène\n//\n// sévère\n${toFhir}`, 'latin1'))
    await writeFile(join(folder, 'allergy-to-fhir.examples.json'), Buffer.from(examples, 'latin1'))
    const { isGood, text } = await answer(check, folder)
    expect(isGood).toBe(false)
    expect(text).toContain('allergy-to-fhir.examples.json:3:15: not UTF-8: save the file as UTF-8\n')
    expect(text).toContain('allergy-to-fhir.fml:1:4: not UTF-8: save the file as UTF-8\n')
    expect(text).toContain('2 maps, 2 problems')
    await writeFile(join(folder, 'allergy-to-fhir.fml'), `// Ébène\n//\n// sévère\n${toFhir}`)
    await writeFile(join(folder, 'allergy-to-fhir.examples.json'), `\uFEFF${examples}`)
    expect((await answer(check, folder)).text).toBe('2 maps, no problems\n')
  })

  test('tells a folder without maps from one that is not there', async () => {
    const folder = await folderWith({})
    await expect(answer(check, folder)).rejects.toThrow(`there are no maps in ${folder}`)
    await expect(answer(check, join(folder, 'nope'))).rejects.toThrow(`there is no folder ${join(folder, 'nope')}`)
  })

  test('of named maps says what is wrong with these, by name or path, and with what they import', async () => {
    const importing = fromFhir
      .replace('uses', 'imports "https://ward.example/allergy-to-*"\nuses')
      .replaceAll('allergy-from', 'a')
    const folder = await folderWith({ ...broken, 'importing.fml': importing })
    expect((await answer(check, folder, 'allergy-from-fhir')).isGood).toBe(true)
    expect((await answer(check, folder, 'allergy-to-fhir')).isGood).toBe(false)
    expect((await answer(check, folder, join(folder, 'allergy-to-fhir.fml'))).text).toContain('1 map, 1 problem')
    const elsewhere = join(await folderWith({ 'x.fml': broken['allergy-to-fhir.fml'] }), 'x.fml')
    expect((await answer(check, await folderWith({}), elsewhere)).text).toContain('1 map, 1 problem')
    await expect(answer(check, folder, 'allergy-two-fhir')).rejects.toThrow(UsageError)
  })

  test('of a map from elsewhere takes what is unknown here for granted', async () => {
    const foreign = toFhir.replace('health-interop.org/fhir/StructureDefinition', 'elsewhere.example')
    const elsewhere = join(await folderWith({ 'x.fml': foreign }), 'x.fml')
    const { isGood, text } = await answer(check, await folderWith(sound), elsewhere)
    expect(isGood).toBe(true)
    expect(text).toContain('warning: the structure `https://elsewhere.example/WardAllergy` is unknown')
    expect((await answer(check, await folderWith({ 'x.fml': foreign }))).isGood).toBe(false)
  })

  test('tells of broken examples', async () => {
    const { text } = await answer(check, await folderWith({ ...sound, 'allergy-to-fhir.examples.json': '[\n{}\n]' }))
    expect(text).toContain('allergy-to-fhir.examples.json:1:1: example 1: `name` is missing: what the example shows')
  })
})

describe('test', () => {
  test('runs the examples, and says what is lost there and back', async () => {
    const { isGood, text, json } = await answer(tryOut, await folderWith(sound))
    expect(isGood).toBe(true)
    expect(text).toBe(`allergy-from-fhir: no examples
allergy-to-fhir: 1 of 1 example

round trips
  allergy-to-fhir > allergy-from-fhir (1 example)
    loses severity, note

2 maps, 1 example, none failed
`)
    expect(json).toMatchObject({
      roundTrips: [{ there: 'allergy-to-fhir', lost: { severity: 1, note: 1 }, errors: [] }],
    })
  })

  test('shows where an example came out otherwise, or not at all', async () => {
    const other = { ...example, name: 'walnuts', to: { ...example.to, code: { text: 'walnut' } } }
    const stopped = { ...example, name: 'a bad id', from: { ...example.from, id: 'a b' } }
    const text = JSON.stringify([example, other, stopped], null, 1)
    const folder = await folderWith({ ...sound, 'allergy-to-fhir.examples.json': text })
    const { isGood, text: told, json } = await answer(tryOut, folder, 'allergy-to-fhir')
    expect(isGood).toBe(false)
    expect(told).toContain(`allergy-to-fhir: 1 of 3 examples

  walnuts (allergy-to-fhir.examples.json:${lineIn(text, 'walnuts')})
    code.text: expected "walnut", got "peanut"

  a bad id (allergy-to-fhir.examples.json:${lineIn(text, 'a bad id')})
    the map failed: allergy-to-fhir.fml:16:3: rule "id" of AllergyToFhir: this is not of the form of an id (at WardAllergy.id)
`)
    expect(told).toContain('1 map, 3 examples, 2 failed\n')
    const [{ examples }] = (json as { maps: [{ examples: { passed: boolean }[] }] }).maps
    expect(examples.map(each => each.passed)).toEqual([true, false, false])
  })

  test('of a broken map tells why it cannot be run', async () => {
    const { isGood, text } = await answer(tryOut, await folderWith(broken))
    expect(isGood).toBe(false)
    expect(text).toContain(criticalty)
  })
})

const lineIn = (text: string, name: string): number => text.slice(0, text.indexOf(`"${name}"`)).split('\n').length

describe('run', () => {
  test('knows the models of --with, a file or a whole folder', async () => {
    const model = {
      resourceType: 'StructureDefinition',
      url: 'http://models.example/Visitor',
      kind: 'logical',
      type: 'Visitor',
      derivation: 'specialization',
      differential: {
        element: [{ path: 'Visitor' }, { path: 'Visitor.names', min: 0, max: '*', type: [{ code: 'string' }] }],
      },
    }
    const map = `uses "http://models.example/Visitor" alias Visitor as target
      uses "http://hl7.org/fhir/StructureDefinition/Patient" alias Patient as source
      group ToVisitor(source src : Patient, target tgt : Visitor) { src.name as n -> tgt.names = (n.family); }`
    const folder = await folderWith(sound)
    const elsewhere = await folderWith({ 'visitor.fml': map, 'visitor.json': JSON.stringify(model) })
    const input = join(elsewhere, 'in.json')
    await writeFile(input, '{"resourceType":"Patient","name":[{"family":"Fouda"}]}')
    for (const path of [elsewhere, join(elsewhere, 'visitor.json')]) {
      const { text } = await answer(run, folder, join(elsewhere, 'visitor.fml'), '--input', input, '--with', path)
      expect(JSON.parse(text)).toEqual({ resourceType: 'Visitor', names: ['Fouda'] })
    }
    const lost = answer(run, folder, 'allergy-to-fhir', '--input', input, '--with', join(elsewhere, 'none'))
    await expect(lost).rejects.toThrow('there is no file or folder')
  })

  const input = JSON.stringify(example.from)

  test('shows what a map makes of a record', async () => {
    const folder = await folderWith({ ...sound, 'x.json': input })
    const { isGood, text, notes } = await answer(run, folder, 'allergy-to-fhir', '--input', join(folder, 'x.json'))
    expect(JSON.parse(text)).toEqual(example.to)
    expect([isGood, notes]).toEqual([true, ''])
  })

  test('tells on request of every rule, and always of a result that is not valid', async () => {
    const map = toFhir.replace(/^.*clinicalStatus.*\n/m, '')
    const folder = await folderWith({ 'a.fml': map, 'x.json': input })
    const { notes, json, isGood } = await answer(run, folder, 'a', '--input', join(folder, 'x.json'), '--debug')
    expect(isGood, 'the exit code says it too').toBe(false)
    expect(notes).toContain('16:3  AllergyToFhir "id"  WardAllergy.id = "a1"\n')
    expect(notes).toContain('not valid: output: AllergyIntolerance: AllergyIntolerance.clinicalStatus SHALL be present')
    expect(json).toMatchObject({
      output: { id: 'a1' },
      invalid: [expect.any(String)],
      steps: [{ line: 16, rule: 'id' }, {}, {}, {}],
    })
  })

  test('tells what is wrong with the record, too', async () => {
    const folder = await folderWith({ ...sound, 'x.json': JSON.stringify({ ...example.from, substance: undefined }) })
    const { notes } = await answer(run, folder, 'allergy-to-fhir', '--input', join(folder, 'x.json'))
    expect(notes).toBe('not valid: input: WardAllergy: substance is missing\n')
  })

  test('shows the rule at which a map stops', async () => {
    const folder = await folderWith({ ...sound, 'x.json': JSON.stringify({ ...example.from, id: 'a b' }) })
    const { isGood, text, notes, json } = await answer(
      run,
      folder,
      'allergy-to-fhir',
      '--input',
      join(folder, 'x.json'),
    )
    expect([isGood, text]).toEqual([false, ''])
    expect(notes).toBe(`allergy-to-fhir.fml:16:3: rule "id": this is not of the form of an id (at WardAllergy.id)
  16 |   src.id -> tgt.id;
     |   ^^^^^^
`)
    expect(json).toMatchObject({ error: { file: 'allergy-to-fhir.fml', line: 16, column: 3, path: 'WardAllergy.id' } })
  })

  test('takes one record: a list, or a value that is no object, is refused by the name of its file', async () => {
    const folder = await folderWith({ ...sound, 'list.json': JSON.stringify([example.from]), 'word.json': '"a"' })
    const runOn = (name: string) => answer(run, folder, 'allergy-to-fhir', '--input', join(folder, name))
    const rest = 'a map takes one record or resource at a time'
    await expect(runOn('list.json')).rejects.toThrow(`${join(folder, 'list.json')}: this is a list; ${rest}`)
    await expect(runOn('word.json')).rejects.toThrow(`${join(folder, 'word.json')}: this is no JSON object; ${rest}`)
  })

  test('asks for what is missing', async () => {
    const second = toFhir.replace('src : WardAllergy,', 'src : WardAllergy, source visit : WardVisit,')
    const uses = 'uses "https://health-interop.org/fhir/StructureDefinition/WardVisit" alias WardVisit as source\nuses'
    const folder = await folderWith({ 'a.fml': second.replace('uses', uses), 'x.json': input })
    await expect(answer(run, folder, 'a')).rejects.toThrow('--input is required: the file of the record')
    await expect(answer(run, folder, 'a', '--input', 'nowhere.json', '--context', 'x.json')).rejects.toThrow(
      'nowhere.json: ENOENT',
    )
    await expect(answer(run, folder, 'a', '--input', join(folder, 'x.json'))).rejects.toThrow(
      '--context is required: this map has a second source, `visit`',
    )
  })
})

describe('fmt', () => {
  const odd = toFhir.replace('  src.id -> tgt.id;', '     src.id->tgt.id ;')

  test('lays maps out, and leaves alone what it cannot read', async () => {
    const folder = await folderWith({ 'a.fml': odd, 'b.fml': 'group' })
    const { isGood, text } = await answer(fmt, folder)
    expect(isGood).toBe(false)
    expect(text).toContain('a.fml: laid out\n2 maps, 1 changed\n')
    expect(await readFile(join(folder, 'a.fml'), 'utf8')).toBe(toFhir)
    expect(await readFile(join(folder, 'b.fml'), 'utf8')).toBe('group')
  })

  test('leaves a map that is not UTF-8 as it is', async () => {
    const folder = await folderWith({})
    const bytes = Buffer.from(`// s\u00e9v\u00e8re\n${odd}`, 'latin1')
    await writeFile(join(folder, 'a.fml'), bytes)
    const { isGood, text } = await answer(fmt, folder)
    expect([isGood, text]).toEqual([false, expect.stringContaining('a.fml:1:5: not UTF-8')])
    expect(await readFile(join(folder, 'a.fml'))).toEqual(bytes)
  })

  test('only says what it would change when asked to check', async () => {
    const folder = await folderWith({ 'a.fml': odd, 'b.fml': toFhir })
    expect(await answer(fmt, folder, '--check')).toMatchObject({
      isGood: false,
      text: 'a.fml: has another layout\n2 maps, 1 to lay out\n',
      json: { changed: ['a.fml'] },
    })
    expect(await readFile(join(folder, 'a.fml'), 'utf8')).toBe(odd)
    await writeFile(join(folder, 'a.fml'), toFhir)
    expect((await answer(fmt, folder, '--check')).isGood).toBe(true)
  })
})

test('coverage names what is not read, and what is required but not set', async () => {
  const map = toFhir.replace(/^.*src\.patient_id.*\n/m, '')
  const { isGood, text, json } = await answer(coverage, await folderWith({ ...sound, 'allergy-to-fhir.fml': map }))
  expect(isGood).toBe(false)
  expect(text).toBe(`allergy-from-fhir (AllergyIntolerance to WardAllergy)
  never read: identifier, clinicalStatus, verificationStatus, type, category, criticality, encounter,
    onset[x], recordedDate, recorder, asserter, lastOccurrence, note, reaction
allergy-to-fhir (WardAllergy to AllergyIntolerance)
  never read: patient_id, note
  required, but never set: AllergyIntolerance.patient
`)
  expect(json).toMatchObject({ maps: [{ unset: [] }, { unread: ['WardAllergy.patient_id', 'WardAllergy.note'] }] })
})

describe('new', () => {
  test('begins a map: rules for what is likely, comments for the rest', async () => {
    const { text } = await answer(create, await folderWith({}), 'WardAllergy', 'AllergyIntolerance')
    expect(text).toBe(`/// url = 'https://health-interop.org/fhir/StructureMap/ward-allergy-to-allergy-intolerance'
/// name = 'WardAllergyToAllergyIntolerance'
/// title = 'WardAllergy to AllergyIntolerance'
/// status = 'draft'

conceptmap "severity" {
  prefix s = "https://health-interop.org/fhir/StructureDefinition/WardAllergy/severity"
  prefix t = "http://hl7.org/fhir/allergy-intolerance-criticality"

  // s:"mild" - t:?
  // s:"severe" - t:?
  // There are: low, high, unable-to-assess
}

uses "https://health-interop.org/fhir/StructureDefinition/WardAllergy" alias WardAllergy as source
uses "http://hl7.org/fhir/StructureDefinition/AllergyIntolerance" alias AllergyIntolerance as target

group WardAllergyToAllergyIntolerance(source src : WardAllergy, target tgt : AllergyIntolerance) {
  src.id -> tgt.id;
  src.patient_id as v -> tgt.patient as r, r.reference = ('Patient/' & %v);
  src.substance as v -> tgt.code = cc(v);
  src.severity as v -> tgt.criticality = translate(v, '#severity', 'code');
  src.note as v -> tgt.note as p, p.text = v;

  // Not set: identifier, clinicalStatus, verificationStatus, type, category, encounter, onset[x], recordedDate,
  //   recorder, asserter, lastOccurrence, reaction
}
`)
  })

  test('gives a file that only has to be completed, and never writes over another', async () => {
    const folder = await folderWith({})
    const file = join(folder, 'ward.fml')
    const { text, isGood } = await answer(create, folder, 'WardAllergy', 'AllergyIntolerance', '--output', file)
    expect([isGood, text]).toEqual([true, 'Wrote ward.fml: npm run map -- check reports what is missing\n'])
    expect((await answer(check, folder)).text).toContain('`mild`, `severe` have no translation in this concept map')
    await expect(answer(create, folder, 'WardAllergy', 'Patient', '--output', file)).rejects.toThrow('already exists')
    const named = await answer(create, folder, 'WardVisit', 'Flag', '--output', 'visit-to-flag.fml')
    expect(named.text).toBe('Wrote visit-to-flag.fml: npm run map -- check reports what is missing\n')
    expect((await answer(check, folder)).json).toMatchObject({ maps: ['visit-to-flag', 'ward'] })
    expect((await answer(create, folder, 'WardVisit', 'Basic', '--output', 'visit-to-basic')).isGood).toBe(true)
    expect((await answer(check, folder)).json).toMatchObject({ maps: ['visit-to-basic', 'visit-to-flag', 'ward'] })
    await expect(answer(create, folder, 'WardAlergy', 'Patient')).rejects.toThrow('did you mean WardAllergy?')
  })
})

describe('package', () => {
  test('holds every map, and what the maps speak of, as FHIR packages do', async () => {
    const folder = await folderWith(sound)
    const file = join(folder, 'maps.tgz')
    const { isGood, text } = await answer(pack, folder, '--output', file, '--version', '1.2.0')
    expect([isGood, text]).toEqual([true, 'maps.tgz: 5 resources\n'])
    expect(jsonFiles(file, /^package\/package\.json$/)).toMatchObject([
      {
        name: 'health-interop.maps',
        version: '1.2.0',
        fhirVersions: ['4.0.1'],
        dependencies: { 'hl7.fhir.r4.core': '4.0.1' },
      },
    ])
    expect(jsonFiles(file, /^package\/\.index\.json$/)).toMatchObject([
      {
        'index-version': 2,
        files: [{ filename: 'StructureDefinition-WardAllergy.json', kind: 'logical' }, {}, {}, {}, {}],
      },
    ])
    expect(jsonFiles(file, /^package\/StructureMap-/)).toMatchObject([
      { resourceType: 'StructureMap', id: 'allergy-from-fhir', url: 'https://ward.example/allergy-from-fhir' },
      { resourceType: 'StructureMap', id: 'allergy-to-fhir' },
    ])
  })

  test('is not made of maps that have problems, nor without a place', async () => {
    const folder = await folderWith(broken)
    const { isGood, text } = await answer(pack, folder, '--output', join(folder, 'maps.tgz'))
    expect([isGood, text]).toEqual([false, `${criticalty}\n`])
    await expect(answer(pack, folder)).rejects.toThrow('--output is required')
    await expect(answer(pack, folder, '--output', 'x', '--version', 'one')).rejects.toThrow('one is not a version')
  })
})

test('the command ends with 0 if all is well, 1 if not, 2 if it was called wrongly', async () => {
  const folder = await folderWith(sound)
  const ended = async (...args: string[]) => {
    const process = runProcess('src/commands/map.ts', args, { MAPPINGS_DIR: folder })
    return [await process.ended, process.output()]
  }
  const all = await Promise.all([
    ended('fmt', '--check', '--json'),
    ended('check', '--help'),
    ended('chek'),
    ended('check', '--jsn'),
    ended(),
  ])
  expect(all.map(([code]) => code)).toEqual([0, 0, 2, 2, 2])
  expect(all[0]![1]).toBe('{"changed":[],"isOnlyCheck":true,"problems":[]}\n')
  expect(all[1]![1]).toContain('Usage: npm run map -- check [FILE…]')
  expect(all[2]![1]).toBe('there is no command chek; did you mean check?\nSee npm run map -- --help.\n')
  expect(all[3]![1]).toContain("Unknown option '--jsn'\n")
  expect(all[4]![1]).toContain('npm run map -- COMMAND --help shows the options of a command.')
})
