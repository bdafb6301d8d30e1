// Groups that several maps of a set import are compiled once, and mean in each map what they mean when it is compiled alone.

import { expect, test } from 'vitest'
import { newShared } from '../../src/fml/compile/shared.ts'
import { compileMap } from '../../src/fml/compile.ts'
import { errorsIn } from '../../src/fml/problem.ts'
import { readFolder, type SourceFile } from '../../src/mapping/files.ts'
import { type MappingSet, mappingSet } from '../../src/mapping/set.ts'
import { shapes as own } from '../../src/shapes/all.ts'
import { shapes as ward } from '../mapping/support.ts'
import { dice, mutated } from './mutate.ts'

const R4 = 'http://hl7.org/fhir/StructureDefinition'

function setOf(maps: Readonly<Record<string, string>>): MappingSet {
  return mappingSet(
    Object.entries(maps).map(([name, text]) => ({
      path: `mappings/${name}.fml`,
      name: `${name}.fml`,
      text: `/// url = 'https://ward.example/${name}'\n\n${text}`,
    })),
    { shapes: ward },
  )
}

const imports = (...names: string[]) => names.map(name => `imports "https://ward.example/${name}"\n`).join('')

const fromAllergy = `uses "https://health-interop.org/fhir/StructureDefinition/WardAllergy" alias WardAllergy as source\n`

/** What AllergyIntolerance requires. */
const patient = `src -> tgt.patient as patient, patient.reference = 'Patient/p1';`

/** What a set says about each of its maps, and what compiling the map alone says. */
function compared({ mappings, library }: MappingSet) {
  return [...mappings.values()].map(({ name, parsed, problems, coverage }) => {
    const unread = errorsIn(parsed.problems)
    const alone = compileMap(parsed.map, library, { unread })
    return {
      shared: { name, problems, coverage },
      alone: {
        name,
        problems: [...parsed.problems, ...alone.problems],
        coverage: unread.length > 0 ? undefined : alone.coverage,
      },
    }
  })
}

function expectSameAsAlone(set: MappingSet): void {
  const all = compared(set)
  expect(all.map(({ shared }) => shared)).toEqual(all.map(({ alone }) => alone))
}

const problemsOf = (set: MappingSet, name: string) =>
  set.mappings.get(name)!.problems.map(({ file, span, message }) => `${file}:${span.line} ${message}`)

test('a group that several maps import is compiled once', () => {
  const shared = `${fromAllergy}group Coded(source src : WardAllergy, target tgt : AllergyIntolerance) {
  src.substance as s -> tgt.code = translate(s, 'https://ward.example/substances', 'CodeableConcept');
}`
  const main = `${imports('shared')}${fromAllergy}group Main(source src : WardAllergy, target tgt : AllergyIntolerance) {
  ${patient}
  src then Coded(src, tgt);
}`
  const { mappings, library } = setOf({ first: main, second: main, shared })
  let asked = 0
  const table = () => {
    asked++
    return { entries: new Map(), kept: new Map([['', '']]), fixed: new Map() }
  }
  const common = newShared(library.structures)
  for (const name of ['first', 'second', 'first']) {
    const { map } = mappings.get(name)!.parsed
    expect(compileMap(map, { ...library, table }, { shared: common }).program).toBeDefined()
  }
  expect(asked).toBe(1)
})

test('a name in an imported group means what it means in its own map, whatever the importers call the same', () => {
  const set = setOf({
    names: `${imports('texts')}group Named(source src, target tgt) {
  src.substance as s -> tgt.note as n then Text(s, n);
}`,
    texts: `group Text(source src : string, target tgt : Annotation) {
  src -> tgt.text = (%src & ' of texts');
}`,
    first: `${imports('names')}${fromAllergy}group Main(source src : WardAllergy, target tgt : AllergyIntolerance) {
  ${patient}
  src then Named(src, tgt);
  src.id as s -> tgt.note as n then Text(s, n);
}
group Text(source src : string, target tgt : Annotation) {
  src -> tgt.text = (%src & ' of first');
}`,
    second: `${imports('names')}${fromAllergy}group Main(source src : WardAllergy, target tgt : AllergyIntolerance) {
  ${patient}
  src then Named(src, tgt);
  src.id as s -> tgt.note as n then Text(s, n);
}`,
  })
  const notes = (name: string) => set.mappings.get(name)!.program!.run([{ id: 'a1', substance: 'Peanuts' }])['note']
  expect(notes('first')).toEqual([{ text: 'Peanuts of texts' }, { text: 'a1 of first' }])
  expect(notes('second')).toEqual([{ text: 'Peanuts of texts' }, { text: 'a1 of texts' }])
  expectSameAsAlone(set)
})

test('an imported group converts by the default groups and the types of its own map', () => {
  const shared = `uses "${R4}/AllergyIntolerance" alias Result as target
group Noted(source src : WardAllergy, target tgt : Result) {
  src.substance as s -> tgt.note = s;
}
group ToNote(source src : string, target tgt : Annotation) <<types>> {
  src -> tgt.text = (%src & ' as a note');
}`
  const main = `group Main(source src : WardAllergy, target tgt : AllergyIntolerance) {
  ${patient}
  src then Noted(src, tgt);
  src.id as s -> tgt.note = s;
}`
  const set = setOf({
    noted: `${fromAllergy}${shared}`,
    first: `${imports('noted')}${fromAllergy}uses "${R4}/Patient" alias Result as queried\n${main}
group Otherwise(source src : string, target tgt : Annotation) <<types>> {
  src -> tgt.text = 'otherwise';
}`,
    second: `${imports('noted')}${fromAllergy}${main}`,
  })
  const notes = (name: string) => set.mappings.get(name)!.program!.run([{ id: 'a1', substance: 'Peanuts' }])['note']
  expect(notes('first')).toEqual([{ text: 'Peanuts as a note' }, { text: 'otherwise' }])
  expect(notes('second')).toEqual([{ text: 'Peanuts as a note' }, { text: 'a1 as a note' }])
  expectSameAsAlone(set)
})

test('an imported group is compiled for the types of each importer', () => {
  const group = `group Code(source src, target tgt) {
  src.substance as s -> tgt.code = cc(s);
}`
  const main = (from: string, to: string) =>
    `${imports('code')}${fromAllergy}group Main(source src : ${from}, target tgt : ${to}) {
  src then Code(src, tgt);
}`
  const set = setOf({
    code: group,
    allergy: main('WardAllergy', 'AllergyIntolerance'),
    condition: main('WardAllergy', 'Condition'),
    patient: main('WardAllergy', 'Patient'),
    visit: main('Visit', 'Condition').replaceAll('WardAllergy', 'WardVisit').replace('Visit,', 'WardVisit,'),
  })
  expect(problemsOf(set, 'patient')).toContainEqual(expect.stringContaining('Patient has no element `code`'))
  expect(problemsOf(set, 'allergy').join()).not.toContain('has no element')
  expectSameAsAlone(set)
})

test('what is wrong with an imported group, and what it reads and sets, is said of every importer', () => {
  const main = `${imports('group')}${fromAllergy}group Main(source src : WardAllergy, target tgt : AllergyIntolerance) {
  ${patient}
  src then Given(src, tgt);
}`
  const set = setOf({
    first: main,
    group: `${fromAllergy}group Given(source src : WardAllergy, target tgt : AllergyIntolerance) {
  src -> tgt;
  src.substance as s -> tgt.code = cc(s);
}`,
    second: main,
  })
  const idle = 'mappings/group.fml:5 this target does nothing: it names no element'
  for (const name of ['first', 'group', 'second']) {
    expect(problemsOf(set, name)).toContainEqual(idle)
    expect(set.mappings.get(name)!.coverage!.reads.get('WardAllergy')).toEqual(new Set(['substance']))
    expect(set.mappings.get(name)!.coverage!.sets.get('AllergyIntolerance')).toContain('code')
  }
  expectSameAsAlone(set)
})

test('lines of a concept map count as used by what each importer looks up', () => {
  const table = `conceptmap "codes" {
  prefix s = "https://ward.example/severity"
  prefix t = "http://hl7.org/fhir/allergy-intolerance-criticality"

  s:mild - t:low
  s:severe - t:high
  s:active - t:low
}
`
  const first = `${imports('shared')}${fromAllergy}group Main(source src : WardAllergy, target tgt : AllergyIntolerance) {
  ${patient}
  src then Criticality(src, tgt);
}`
  const second = first.replace('\n}', "\n  src.note as n -> tgt.criticality = translate(n, '#codes', 'code');\n}")
  const set = setOf({
    first,
    second,
    shared: `${table}${fromAllergy}group Criticality(source src : WardAllergy, target tgt : AllergyIntolerance) {
  src.severity as s -> tgt.criticality = translate(s, '#codes', 'code');
}`,
  })
  const unused = expect.stringContaining('`active` is never translated')
  expect(problemsOf(set, 'first')).toContainEqual(unused)
  expect(problemsOf(set, 'second')).not.toContainEqual(unused)
  expectSameAsAlone(set)
})

test('maps that import each other are read from either end', () => {
  const main = (other: string, name: string) =>
    `${imports(other)}${fromAllergy}group ${name}(source src : WardAllergy, target tgt : AllergyIntolerance) {
  src.note as note then More(src, tgt);
}
group ${name === 'First' ? 'More' : 'Other'}(source src : WardAllergy, target tgt : AllergyIntolerance) {
  src.substance as s -> tgt.code = cc(s);
  src then Other(src, tgt);
}`
  expectSameAsAlone(setOf({ first: main('second', 'First'), second: main('first', 'Second') }))
})

const delivered = await readFolder('mappings')

test('every delivered map is the same as compiled alone', () => {
  const set = mappingSet(delivered, { shapes: own })
  expectSameAsAlone(set)
  for (const { program, problems } of set.mappings.values()) expect(Boolean(program)).toBe(problems.length === 0)
})

/** The delivered maps with one that others import, and one of its importers, changed at random. */
function spoilt(seed: number): readonly SourceFile[] {
  const roll = dice(seed)
  const imported = ['datatypes', 'people', 'visits', 'observations'][roll(4)]!
  const spoiledMaps = [`hl7v2/${imported}.fml`, 'hl7v2/adt-a01-to-fhir.fml'].slice(0, 1 + roll(2))
  const kept = /adt-a|datatypes|people|visits|observations|vxu|\.json$/
  return delivered
    .filter(({ name }) => kept.test(name))
    .map(file => (spoiledMaps.includes(file.name) ? { ...file, text: mutated(file.text, roll) } : file))
}

test.for(Array.from({ length: 24 }, (_, seed) => seed + 1))(
  'maps with mistakes are reported as they are alone (%i)',
  seed => {
    expectSameAsAlone(mappingSet(spoilt(seed), { shapes: own }))
  },
)
