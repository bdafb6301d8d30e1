// Primitives with their extensions, and the values that targets are given. https://hl7.org/fhir/R4/json.html#primitive

import { describe, expect, test } from 'vitest'
import { made, refusal } from './run-maps.ts'

const patient = { to: 'Patient' }

describe('a primitive', () => {
  test('is given its value by its name', () => {
    expect(made("src -> tgt.birthDate as d, d.value = '1990-02-01';", {}, patient)).toEqual({
      resourceType: 'Patient',
      birthDate: '1990-02-01',
    })
  })

  test('is given its value as a whole', () => {
    expect(
      made("src -> tgt.birthDate as d then { src.day as v -> d = v 'v'; } 'd';", { day: '1990-02-01' }, patient),
    ).toEqual({
      resourceType: 'Patient',
      birthDate: '1990-02-01',
    })
  })

  test('has its extensions beside it', () => {
    const rules = "src.day as v -> tgt.birthDate = v as d, d.extension as e, e.url = 'http://e', e.value = true;"
    expect(made(rules, { day: '1990-02-01' }, patient)).toEqual({
      resourceType: 'Patient',
      birthDate: '1990-02-01',
      _birthDate: { extension: [{ url: 'http://e', valueBoolean: true }] },
    })
  })

  test('can be an extension alone', () => {
    const rules = "src -> tgt.birthDate as d, d.extension as e, e.url = 'http://e', e.value = 'x';"
    expect(made(rules, {}, patient)).toEqual({
      resourceType: 'Patient',
      _birthDate: { extension: [{ url: 'http://e', valueString: 'x' }] },
    })
  })

  test('of a list has its extensions at the same place of the other list', () => {
    const rules = `src -> tgt.name as n then {
      src.texts as t -> n.given = t as g then {
        src where t = 'b' -> g.extension as e, e.url = 'http://e', e.value = 1 "e";
      } "g";
    } "n";`
    expect(made(rules, { texts: ['a', 'b', 'c'] }, patient)).toEqual({
      resourceType: 'Patient',
      name: [
        {
          given: ['a', 'b', 'c'],
          _given: [null, { extension: [{ url: 'http://e', valueInteger: 1 }] }, null],
        },
      ],
    })
  })

  test('takes its extensions along when it is copied', () => {
    const source = { resourceType: 'Patient', birthDate: '1990', _birthDate: { id: 'x' } }
    expect(made('src.birthDate as d -> tgt.birthDate = d;', source, { from: 'Patient', to: 'Patient' })).toEqual(source)
    expect(made('src.birthDate -> tgt.birthDate;', source, { from: 'Patient', to: 'Patient' })).toEqual(source)
  })

  test('that is only extensions is copied as that', () => {
    const source = { resourceType: 'Patient', _birthDate: { id: 'x' } }
    expect(made('src.birthDate -> tgt.birthDate;', source, { from: 'Patient', to: 'Patient' })).toEqual(source)
  })

  test('of a list takes its extensions along', () => {
    const name = [{ given: ['a', null, 'c'], _given: [null, { id: 'x' }, { id: 'y' }] }]
    const source = { resourceType: 'Patient', name }
    const rules = 'src.name as n -> tgt.name as m then { n.given as g -> m.given = g "g"; } "n";'
    expect(made(rules, source, { from: 'Patient', to: 'Patient' })).toEqual(source)
  })
})

describe('a value', () => {
  test('can be a variable without a place, for what follows', () => {
    expect(made("src -> ('http://e/') as base, tgt.text = (base & 'x'), tgt.other = base;", {})).toEqual({
      text: 'http://e/x',
      other: 'http://e/',
    })
  })

  test('can be an expression that begins with any function', () => {
    expect(made("src.flag as f -> tgt.text = (iif(f, 'yes', 'no'));", { flag: true })).toEqual({ text: 'yes' })
  })

  test('that is an expression without result sets nothing', () => {
    expect(made('src -> tgt.text = (src.other);', {})).toEqual({})
  })

  test('that is an expression with several results becomes several items', () => {
    expect(made('src -> tgt.texts = (src.items.code);', { items: [{ code: 'a' }, { code: 'b' }] })).toEqual({
      texts: ['a', 'b'],
    })
  })

  test('that is an expression with several results cannot go into one element', () => {
    expect(refusal('src -> tgt.text = (src.texts);', { texts: ['a', 'b'] }).reason).toBe(
      '`Out.text` can have one value only, and the source has 2; `first` takes the first',
    )
  })

  test.each([
    ['number', '3', 3],
    ['number', '-3', -3],
    ['amount', '2.5', 2.5],
    ['amount', '-0.5', -0.5],
    ['flag', 'false', false],
    ['text', '"x"', 'x'],
    ['text', "'it\\'s'", "it's"],
    ['day', '@2024-02', '2024-02'],
  ])('of %s can be the constant %s', (element, literal, expected) => {
    expect(made(`src -> tgt.${element} = ${literal} "r";`, {})).toEqual({ [element]: expected })
  })

  test('that is an object is copied, so that the source cannot be changed through it', () => {
    const source = { resourceType: 'Patient', name: [{ family: 'a', given: ['x'] }] }
    const around = { from: 'Patient', to: 'Patient' }
    expect(made("src.name as n -> tgt.name = n as m, m.given = 'y';", source, around)).toEqual({
      resourceType: 'Patient',
      name: [{ family: 'a', given: ['x', 'y'] }],
    })
    expect(source.name).toEqual([{ family: 'a', given: ['x'] }])
  })
})
