// Groups that a map has from elsewhere or chooses itself: default groups by type, and those of imported maps.
// https://hl7.org/fhir/R4/mapping-language.html#7.7.0.7

import { describe, expect, test } from 'vitest'
import { made, problemsOf } from './run-maps.ts'

const toPatient = { from: 'Patient', to: 'Patient' }

describe('default groups', () => {
  const coding = `group Coding(source s : Coding, target t : Coding) <<types>> { s.code as c -> t.code = c, t.display = 'by group'; }`
  const tagged = { resourceType: 'Patient', meta: { tag: [{ code: 'x' }] } }

  test('are chosen by the types of source and target', () => {
    const rules = 'src.meta as s -> tgt.meta as t then { s.tag -> t.tag "tag"; } "meta";'
    expect(made(rules, tagged, { ...toPatient, after: coding })).toEqual({
      resourceType: 'Patient',
      meta: { tag: [{ code: 'x', display: 'by group' }] },
    })
  })

  test('are chosen for a rule with two variables and nothing else', () => {
    const rules = 'src.meta as s -> tgt.meta as t then { s.tag as a -> t.tag as b "tag"; } "meta";'
    expect(made(rules, tagged, { ...toPatient, after: coding })).toEqual({
      resourceType: 'Patient',
      meta: { tag: [{ code: 'x', display: 'by group' }] },
    })
  })

  test('are not needed to copy a value as it is', () => {
    expect(made('src.meta -> tgt.meta;', tagged, toPatient)).toEqual(tagged)
  })

  test('do not take the place of a copy that is written out', () => {
    const rules = 'src.meta as s -> tgt.meta as t then { s.tag as a -> t.tag = a "tag"; } "meta";'
    expect(made(rules, tagged, { ...toPatient, after: coding })).toEqual(tagged)
  })

  test('serve primitives too', () => {
    const after = `group Text(source s : string, target t : string) <<types>> { s as v -> t.value = (v.upper()); }`
    expect(made('src.text -> tgt.text; src.texts -> tgt.texts;', { text: 'x', texts: ['a', 'b'] }, { after })).toEqual({
      text: 'X',
      texts: ['A', 'B'],
    })
  })

  test('turn one type into another', () => {
    const after = `group ToCoding(source s : code, target t : Coding) <<types>> { s as c -> t.code = c; }`
    expect(
      made(
        'src -> tgt.meta as m then { src.severity -> m.tag "tag"; } "m";',
        { severity: 'mild' },
        { to: 'Patient', after },
      ),
    ).toEqual({
      resourceType: 'Patient',
      meta: { tag: [{ code: 'mild' }] },
    })
  })

  test('marked type+ choose the type of a choice by the type of the source', () => {
    const after = `group Amount(source s : decimal, target t : Quantity) <<type+>> { s as v -> t.value = v; }`
    expect(made('src.amount -> tgt.value;', { amount: 4.5 }, { to: 'Observation', after })).toEqual({
      resourceType: 'Observation',
      valueQuantity: { value: 4.5 },
    })
  })

  test('marked type+ come before others for a choice', () => {
    const after = `group Words(source s : string, target t : CodeableConcept) <<types>> { s as v -> t.text = v; }
      group Same(source s : string, target t : string) <<type+>> { s as v -> t.value = (v & '!'); }`
    expect(made('src.text -> tgt.value;', { text: 'x' }, { to: 'Observation', after })).toEqual({
      resourceType: 'Observation',
      valueString: 'x!',
    })
  })

  test('serve types that derive from theirs where there is none for these', () => {
    const after = `group Amount(source s : Quantity, target t : Quantity) <<types>> { s.value as v -> t.value = v; }`
    const source = { resourceType: 'Condition', onsetAge: { value: 4, unit: 'a' } }
    expect(made('src.onsetAge -> tgt.valueQuantity;', source, { from: 'Condition', to: 'Observation', after })).toEqual(
      {
        resourceType: 'Observation',
        valueQuantity: { value: 4 },
      },
    )
  })

  test('that are two for the same types are an error', () => {
    const after = `group A(source s : Coding, target t : Coding) <<types>> { s.code as c -> t.code = c; }
      group B(source s : Coding, target t : Coding) <<types>> { s.code as c -> t.code = c; }`
    expect(problemsOf('src -> tgt.active = true;', { ...toPatient, after })).toEqual([
      'there is a default group for Coding to Coding already, `A` in line 11',
    ])
  })

  test('need two parameters with types', () => {
    expect(
      problemsOf('src -> tgt.active = true;', {
        ...toPatient,
        after: 'group A(source s, target t : Coding) <<types>> { s -> t.code = "x"; }',
      }),
    ).toEqual([
      'a default group has a source and a target, both with a type: `group A(source s : …, target t : …) <<types>>`',
    ])
  })
})

describe('imports', () => {
  const library = (url: string, groups: string) => `/// url = '${url}'\n/// name = 'L'\n\n${groups}\n`
  const text = library('http://lib/Text', 'group Text(source s, target t) { s as v -> t.text = v; }')
  const other = library(
    'http://lib/Other',
    'imports "http://lib/Text"\ngroup Other(source s, target t) { s -> t then Text(s, t); }',
  )
  const rules = 'src.text as s -> tgt then Text(s, tgt);'

  test('bring the groups of another map', () => {
    expect(made(rules, { text: 'x' }, { before: 'imports "http://lib/Text"', maps: [text] })).toEqual({ text: 'x' })
  })

  test('with a star bring those of all that match', () => {
    expect(made(rules, { text: 'x' }, { before: 'imports "http://lib/*"', maps: [other, text] })).toEqual({ text: 'x' })
  })

  test('bring what the other map imports', () => {
    expect(
      made(
        'src.text as s -> tgt then Other(s, tgt);',
        { text: 'x' },
        { before: 'imports "http://lib/Other"', maps: [other, text] },
      ),
    ).toEqual({ text: 'x' })
  })

  test('bring default groups', () => {
    const defaults = library(
      'http://lib/D',
      "group D(source s : string, target t : string) <<types>> { s as v -> t.value = (v & '!'); }",
    )
    expect(
      made('src.text -> tgt.text;', { text: 'x' }, { before: 'imports "http://lib/D"', maps: [defaults] }),
    ).toEqual({
      text: 'x!',
    })
  })

  test('do not bring what the map has itself', () => {
    const after = 'group Text(source s, target t) { s as v -> t.other = v; }'
    expect(made(rules, { text: 'x' }, { before: 'imports "http://lib/Text"', maps: [text], after })).toEqual({
      other: 'x',
    })
  })

  test('that import each other do no harm', () => {
    const a = library('http://lib/A', 'imports "http://lib/B"\ngroup A(source s, target t) { s as v -> t.text = v; }')
    const b = library('http://lib/B', 'imports "http://lib/A"\ngroup B(source s, target t) { s -> t then A(s, t); }')
    expect(
      made('src.text as s -> tgt then B(s, tgt);', { text: 'x' }, { before: 'imports "http://lib/A"', maps: [a, b] }),
    ).toEqual({ text: 'x' })
  })

  test('of two maps without name or address do not mix up their groups', () => {
    const one = `/// url = 'http://lib/1'\n\ngroup One(source s, target t) { s -> t then Same(s, t); }\ngroup Same(source s, target t) { s as v -> t.texts = (v & '1'); }`
    const two = one.replaceAll('One', 'Two').replace('lib/1', 'lib/2').replace("& '1'", "& '2'")
    expect(
      made(
        'src.text as s -> tgt then One(s, tgt), Two(s, tgt);',
        { text: 'x' },
        { before: 'imports "http://lib/*"', maps: [one, two] },
      ),
    ).toEqual({ texts: ['x1', 'x2'] })
  })

  test('of what is not there are told', () => {
    expect(problemsOf('src.text as t -> tgt.text = t;', { before: 'imports "http://lib/None"' })).toEqual([
      'there is no map `http://lib/None` here',
    ])
  })

  test('have their structures under their own names', () => {
    const lib = library(
      'http://lib/N',
      'uses "http://hl7.org/fhir/StructureDefinition/HumanName" alias N as target\ngroup Name(source s, target t : N) { s as v -> t.family = v; }',
    )
    expect(
      made(
        'src.text as s -> tgt.name as t then Name(s, t);',
        { text: 'x' },
        { to: 'Patient', before: 'imports "http://lib/N"', maps: [lib] },
      ),
    ).toEqual({
      resourceType: 'Patient',
      name: [{ family: 'x' }],
    })
  })
})
