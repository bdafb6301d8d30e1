// What a rule makes: elements, lists, choices, primitives with extensions, and how list modes order and join them.
// https://hl7.org/fhir/R4/mapping-language.html#7.7.0.6.2

import { describe, expect, test } from 'vitest'
import { made, problemsOf, refusal } from './run-maps.ts'

const patient = { to: 'Patient' }
const observation = { to: 'Observation' }

describe('an element', () => {
  test('is given a value by each target of the rule', () => {
    expect(made('src.text as t -> tgt.text = t, tgt.other = t;', { text: 'x' })).toEqual({ text: 'x', other: 'x' })
  })

  test('that repeats gets an item for each run of the rule', () => {
    expect(made('src.texts as t -> tgt.texts = t, tgt.texts = (t.upper());', { texts: ['a', 'b'] })).toEqual({
      texts: ['a', 'A', 'b', 'B'],
    })
  })

  test('that does not repeat cannot have two values', () => {
    expect(refusal('src.texts as t -> tgt.text = t;', { texts: ['a', 'b'] }).reason).toBe(
      '`text` can have one value only, and has one already',
    )
  })

  test('that does not repeat can be given the same value twice', () => {
    expect(made('src.texts as t -> tgt.text = t;', { texts: ['a', 'a'] })).toEqual({ text: 'a' })
  })

  test('that repeats is a list in the result, even with one value', () => {
    expect(made("src -> tgt.name as n, n.given = 'Ada';", {}, patient)).toEqual({
      resourceType: 'Patient',
      name: [{ given: ['Ada'] }],
    })
  })

  test('of an element is reached by a path, which makes what lies between', () => {
    expect(made("src -> tgt.item.code = 'x', tgt.item.system = 'y';", {})).toEqual({ item: { code: 'x', system: 'y' } })
  })

  test('of an element that repeats cannot be reached by a path alone', () => {
    expect(problemsOf("src -> tgt.items.code = 'x';")).toEqual([
      'say which `Out.items` is meant: `items as x` in a target of its own, then `x.…`',
    ])
  })

  test('that the type does not have is an error', () => {
    expect(problemsOf("src -> tgt.identifierrr = 'x';", patient)).toEqual([
      'Patient has no element `identifierrr`; did you mean `identifier`?',
    ])
  })

  test('may have a name that has to be quoted', () => {
    expect(made("src -> tgt.`text` = 'x';", {})).toEqual({ text: 'x' })
  })

  test('made twice is one where it does not repeat', () => {
    const rules = "src -> tgt.item as i, i.code = 'x'; src -> tgt.item as i, i.system = 'y';"
    expect(made(rules, {})).toEqual({ item: { code: 'x', system: 'y' } })
  })

  test('made twice is two where it repeats', () => {
    const rules = "src -> tgt.items as i, i.code = 'x'; src -> tgt.items as i, i.code = 'y';"
    expect(made(rules, {})).toEqual({ items: [{ code: 'x' }, { code: 'y' }] })
  })

  test('of the rule around can be filled by an inner rule', () => {
    const rules = 'src.items as i -> tgt.items as o then { i.tags as t -> o.tags = t "tag"; } "item";'
    expect(made(rules, { items: [{ tags: ['a', 'b'] }, { tags: ['c'] }] })).toEqual({
      items: [{ tags: ['a', 'b'] }, { tags: ['c'] }],
    })
  })

  test('may be named by what was made in it by a target before', () => {
    expect(made("src -> tgt.item as i, i.code = 'x' as c, i.system = (c);", {})).toEqual({
      item: { code: 'x', system: 'x' },
    })
  })
})

describe('a choice of types', () => {
  const root = { resourceType: 'Observation' }

  test.each([
    ["'x'", { valueString: 'x' }],
    ['4', { valueInteger: 4 }],
    ['true', { valueBoolean: true }],
    ["(4 'mg')", { valueQuantity: { value: 4, unit: 'mg', system: 'http://unitsofmeasure.org', code: 'mg' } }],
    [
      "cc('http://loinc.org', '4548-4')",
      { valueCodeableConcept: { coding: [{ system: 'http://loinc.org', code: '4548-4' }] } },
    ],
    ['@2024-02-29T10:00:00Z', { valueDateTime: '2024-02-29T10:00:00Z' }],
    ['@T10:00:00', { valueTime: '10:00:00' }],
  ])('takes %s by its type', (value, expected) => {
    expect(made(`src -> tgt.value = ${value};`, {}, observation)).toEqual({ ...root, ...expected })
  })

  test('takes a variable by the type of its element', () => {
    expect(made('src.moment as m -> tgt.effective = m;', { moment: '2024-02-29T10:00:00Z' }, observation)).toEqual({
      ...root,
      effectiveDateTime: '2024-02-29T10:00:00Z',
    })
  })

  test('is made of the type that create names', () => {
    expect(made("src -> tgt.value = create('Quantity') as q, q.value = 4.5;", {}, observation)).toEqual({
      ...root,
      valueQuantity: { value: 4.5 },
    })
  })

  test('can be written with the name that JSON has for the type', () => {
    expect(made('src -> tgt.valueQuantity as q, q.value = 4.5;', {}, observation)).toEqual({
      ...root,
      valueQuantity: { value: 4.5 },
    })
  })

  test('that is not said is an error', () => {
    expect(problemsOf("src -> tgt.value as v, v.unit = 'mg';", observation)).toEqual([
      "`Observation.value` can be of several types: write `= create('Quantity') as v`",
    ])
  })

  test('cannot hold a type that is not among them', () => {
    expect(problemsOf("src -> tgt.value = create('HumanName') as v;", observation)[0]).toBe(
      '`Observation.value` cannot hold a HumanName; it is of type: Quantity, CodeableConcept, string, boolean, integer, Range, Ratio, SampledData, time, dateTime, Period',
    )
  })

  test('cannot hold two types at once', () => {
    expect(refusal("src -> tgt.value = 'x'; src -> tgt.value = 4;", {}, observation).reason).toBe(
      '`valueInteger` cannot be set beside `valueString`: an element has one of its types at a time',
    )
  })
})

describe('create', () => {
  test('of a datatype does not say what it is', () => {
    expect(made("src -> tgt.value = create('Quantity') as q, q.value = 1;", {}, observation)).toEqual({
      resourceType: 'Observation',
      valueQuantity: { value: 1 },
    })
  })

  test('of a resource says what it is', () => {
    expect(
      made("src -> tgt.entry as e, e.resource = create('Patient') as p, p.active = true;", {}, { to: 'Bundle' }),
    ).toEqual({
      resourceType: 'Bundle',
      entry: [{ resource: { resourceType: 'Patient', active: true } }],
    })
  })

  test('needs no type where the element has only one', () => {
    expect(made("src -> tgt.name = create() as n, n.family = 'x';", {}, patient)).toEqual({
      resourceType: 'Patient',
      name: [{ family: 'x' }],
    })
  })

  test('without a place makes something that rules can fill and hand on', () => {
    const rules = `src -> create('Coding') as c, c.system = 'http://s' then {
      src.text as t -> c.code = t "code";
      src -> tgt.text = (c.system & '|' & c.code) "use";
    } "coding";`
    expect(made(rules, { text: 'x' })).toEqual({ text: 'http://s|x' })
  })
})

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

describe('a target list mode', () => {
  const texts = ['a', 'b']
  const others = { texts, numbers: [1, 2] }

  test('first puts all items of its rule before the others, in their order', () => {
    const rules = 'src.numbers as n -> tgt.texts = (n.toString()); src.texts as t -> tgt.texts = t first;'
    expect(made(rules, others)).toEqual({ texts: ['a', 'b', '1', '2'] })
  })

  test('first before all others, even if they come later', () => {
    const rules = 'src.texts as t -> tgt.texts = t first; src.numbers as n -> tgt.texts = (n.toString());'
    expect(made(rules, others)).toEqual({ texts: ['a', 'b', '1', '2'] })
  })

  test('last puts all items of its rule behind the others, in their order', () => {
    const rules = 'src.texts as t -> tgt.texts = t last; src.numbers as n -> tgt.texts = (n.toString());'
    expect(made(rules, others)).toEqual({ texts: ['1', '2', 'a', 'b'] })
  })

  test('first of two rules is an error', () => {
    const rules = 'src.texts as t -> tgt.texts = t first "a"; src.numbers as n -> tgt.texts = (n.toString()) first "b";'
    expect(refusal(rules, others).reason).toBe('rule "a" is first in this list already')
  })

  test('last of two rules is an error', () => {
    const rules = 'src.texts as t -> tgt.texts = t last "a"; src.numbers as n -> tgt.texts = (n.toString()) last "b";'
    expect(refusal(rules, others).reason).toBe('rule "a" is last in this list already')
  })

  test('first and last hold for objects too', () => {
    const rules = `src.texts as t -> tgt.items as i last, i.code = t;
      src -> tgt.items as i, i.code = 'middle';
      src.numbers as n -> tgt.items as i first, i.code = (n.toString());`
    expect(made(rules, others)).toEqual({
      items: [{ code: '1' }, { code: '2' }, { code: 'middle' }, { code: 'a' }, { code: 'b' }],
    })
  })

  test('first moves extensions of primitives with their values', () => {
    const rules = `src -> tgt.name as n then {
      src -> n.given = 'second' as g, g.extension as e, e.url = 'http://2', e.value = 2 "a";
      src -> n.given = 'first' as g first, g.extension as e, e.url = 'http://1', e.value = 1 "b";
    } "n";`
    expect(made(rules, {}, patient)).toEqual({
      resourceType: 'Patient',
      name: [
        {
          given: ['first', 'second'],
          _given: [
            { extension: [{ url: 'http://1', valueInteger: 1 }] },
            { extension: [{ url: 'http://2', valueInteger: 2 }] },
          ],
        },
      ],
    })
  })

  test('share joins the n-th item of one rule with the n-th of another', () => {
    const rules = `src.texts as t -> tgt.items as i share pairs, i.code = t;
      src.numbers as n -> tgt.items as i share pairs, i.value = n;`
    expect(made(rules, { texts, numbers: [1, 2, 3] })).toEqual({
      items: [{ code: 'a', value: 1 }, { code: 'b', value: 2 }, { value: 3 }],
    })
  })

  test('share joins only rules that share by the same name', () => {
    const rules = `src.text as t -> tgt.items as i share one, i.code = t;
      src.number as n -> tgt.items as i share two, i.value = n;`
    expect(made(rules, { text: 'a', number: 1 })).toEqual({ items: [{ code: 'a' }, { value: 1 }] })
  })

  test('share is about one list: that of another object has its own items', () => {
    const around = { from: 'Bundle', to: 'Bundle' }
    const rules = `src.entry as e -> tgt.entry as f then {
      e.fullUrl as u -> f.link as l share links, l.relation = 'self' "a";
      e.fullUrl as u -> f.link as l share links, l.url = u "b";
    } "e";`
    const entry = [{ fullUrl: 'http://a' }, { fullUrl: 'http://b' }]
    expect(made(rules, { resourceType: 'Bundle', entry }, around)).toEqual({
      resourceType: 'Bundle',
      entry: entry.map(({ fullUrl }) => ({ link: [{ relation: 'self', url: fullUrl }] })),
    })
  })

  test.each(['collate', 'single'])('%s uses the first item again and again', mode => {
    const rules = `src.texts as t -> tgt.items as i ${mode}, i.tags = t;`
    expect(made(rules, { texts })).toEqual({ items: [{ tags: ['a', 'b'] }] })
  })
})

describe('where the structure is not known', () => {
  const around = { to: 'Unknown', before: 'uses "http://unknown.example/U" alias Unknown as target' }

  test('the second value of an element makes it a list', () => {
    expect(made('src.texts as t -> tgt.any = t;', { texts: ['a'] }, around)).toEqual({ any: 'a' })
    expect(made('src.texts as t -> tgt.any = t;', { texts: ['a', 'b'] }, around)).toEqual({ any: ['a', 'b'] })
  })

  test('what is made twice is a list of two', () => {
    expect(made('src.texts as t -> tgt.any as a, a.x = t;', { texts: ['a', 'b'] }, around)).toEqual({
      any: [{ x: 'a' }, { x: 'b' }],
    })
  })

  test('what is shared is made once', () => {
    const rules = 'src.text as t -> tgt.any as a share s, a.x = t; src.other as t -> tgt.any as a share s, a.y = t;'
    expect(made(rules, { text: '1', other: '2' }, around)).toEqual({ any: { x: '1', y: '2' } })
  })
})
