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
      'bind `Out.items` to a variable: `items as x` in a target of its own, then `x.…`',
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
      '`valueInteger` cannot be set together with `valueString`: an element has one of its types at a time',
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
