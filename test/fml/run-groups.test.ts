// Groups: called by name, chosen by type, extended, imported, recursive. https://hl7.org/fhir/R4/mapping-language.html#7.7.0.5

import { describe, expect, test } from 'vitest'
import { made, problemsOf, refusal, runText } from './run-maps.ts'

const toPatient = { from: 'Patient', to: 'Patient' }
const lovelace = { resourceType: 'Patient', name: [{ family: 'Lovelace', given: ['Ada'] }] }

describe('a group', () => {
  test('is called with source and target', () => {
    const after = 'group Name(source s : HumanName, target t : HumanName) { s.family as f -> t.family = f; }'
    expect(made('src.name as s -> tgt.name as t then Name(s, t);', lovelace, { ...toPatient, after })).toEqual({
      resourceType: 'Patient',
      name: [{ family: 'Lovelace' }],
    })
  })

  test('may leave the types of its parameters open', () => {
    const after = 'group Name(source s, target t) { s.family as f -> t.family = f; }'
    expect(made('src.name as s -> tgt.name as t then Name(s, t);', lovelace, { ...toPatient, after })).toEqual({
      resourceType: 'Patient',
      name: [{ family: 'Lovelace' }],
    })
  })

  test('without types is checked for the types it is called with', () => {
    const after = 'group Name(source s, target t) { s.famly as f -> t.family = f; }'
    expect(problemsOf('src.name as s -> tgt.name as t then Name(s, t);', { ...toPatient, after })).toEqual([
      'HumanName has no element `famly`; did you mean `family`?',
    ])
  })

  test('may be called with different types', () => {
    const after = 'group Code(source s, target t) { s.code as c -> t.code = c; }'
    const rules = 'src.item as s -> tgt.item as t then Code(s, t); src.items as s -> tgt.items as t then Code(s, t);'
    expect(made(rules, { item: { code: 'a' }, items: [{ code: 'b' }] }, { after })).toEqual({
      item: { code: 'a' },
      items: [{ code: 'b' }],
    })
  })

  test('sees its parameters and no variable of its caller', () => {
    const after = 'group Name(source s, target t) { s.family as f -> t.family = n; }'
    expect(problemsOf('src.name as n -> tgt.name as t then Name(n, t);', { ...toPatient, after })[0]).toContain(
      'there is no variable `n` here',
    )
  })

  test('may have the name of a variable', () => {
    const after = 'group input(source input, target output) { input.family as f -> output.family = f; }'
    expect(made('src.name as input -> tgt.name as t then input(input, t);', lovelace, { ...toPatient, after })).toEqual(
      {
        resourceType: 'Patient',
        name: [{ family: 'Lovelace' }],
      },
    )
  })

  test('can be handed the record and the result as a whole', () => {
    const after = 'group More(source a, target b) { a.text as t -> b.text = t; }'
    expect(made('src -> tgt then More(src, tgt);', { text: 'x' }, { after })).toEqual({ text: 'x' })
  })

  test('can be handed constants', () => {
    const after =
      'group Set(source value, source count, target t) { value as v -> t.text = v; count as c -> t.number = c; }'
    expect(made("src -> tgt then Set('x', 3, tgt);", {}, { after })).toEqual({ text: 'x', number: 3 })
  })

  test('can be handed an expression', () => {
    const after = 'group Set(source value, target t) { value as v -> t.texts = v; }'
    expect(
      made('src -> tgt then Set(src.items.code, tgt);', { items: [{ code: 'a' }, { code: 'b' }] }, { after }),
    ).toEqual({
      texts: ['a', 'b'],
    })
  })

  test('can be handed a target as a source', () => {
    const after = 'group Echo(source s, target t) { s.text as v -> t.other = v; }'
    expect(made("src -> tgt.text = 'x' then Echo(tgt, tgt);", {}, { after })).toEqual({ text: 'x', other: 'x' })
  })

  test('reads of a target that it was handed as a source what it has by then', () => {
    const after = `group Echo(source s, target t) {
      s.text as v -> t.texts = v;
      s -> t.text = 'x';
      s.text as v -> t.texts = (v & '2');
      s -> t then Again(s, t);
    }
    group Again(source s, target t) { s.text as v -> t.texts = (v & '3'); s.text as v -> t.other = v; }`
    expect(made('src -> tgt then Echo(tgt, tgt);', {}, { after })).toEqual({
      text: 'x',
      texts: ['x2', 'x3'],
      other: 'x',
    })
  })

  test('can have several sources and targets', () => {
    const after = 'group Both(source a, source b, target t, target u) { a as x -> t.code = x; b as x -> u.code = x; }'
    const rules = 'src.text as a, src.other as b -> tgt.items as t, tgt.items as u then Both(a, b, t, u);'
    expect(made(rules, { text: '1', other: '2' }, { after })).toEqual({ items: [{ code: '1' }, { code: '2' }] })
  })

  test('can be handed a primitive that is being made', () => {
    const after = 'group Day(source s, target t) { s as v -> t.value = v; }'
    expect(
      made('src.day as s -> tgt.birthDate as t then Day(s, t);', { day: '2000-01-02' }, { to: 'Patient', after }),
    ).toEqual({
      resourceType: 'Patient',
      birthDate: '2000-01-02',
    })
  })

  test('that does not exist is an error', () => {
    const after = 'group Name(source s, target t) { s.family as f -> t.family = f; }'
    expect(problemsOf('src.name as s -> tgt.name as t then Names(s, t);', { ...toPatient, after })).toEqual([
      'there is no group `Names` here; did you mean `Name`?',
    ])
  })

  test('with too few parameters is an error', () => {
    const after = 'group Name(source s, target t) { s.family as f -> t.family = f; }'
    expect(problemsOf('src.name as s -> tgt.name as t then Name(s);', { ...toPatient, after })).toEqual([
      '`Name` takes 2 parameters (source s, target t), not 1',
    ])
  })

  test('cannot be handed a source as a target', () => {
    const after = 'group Name(source s, target t) { s.family as f -> t.family = f; }'
    expect(problemsOf('src.name as s -> tgt.name as t then Name(s, s);', { ...toPatient, after })).toEqual([
      'the parameter `t` of `Name` is a target, and `s` is a source',
    ])
  })

  test('cannot be handed what is of another type', () => {
    const after = 'group Name(source s : HumanName, target t : HumanName) { s.family as f -> t.family = f; }'
    expect(problemsOf('src.address as s -> tgt.name as t then Name(s, t);', { ...toPatient, after })).toEqual([
      'the parameter `s` of `Name` is of type HumanName, and this is of type Address',
    ])
  })
})

describe('several groups', () => {
  const after = `group One(source s, target t) { s as v -> t.texts = (v & '1'); }
    group Two(source s, target t) { s as v -> t.texts = (v & '2'); }`

  test('after one `then` run in their order', () => {
    expect(made('src.text as s -> tgt then One(s, tgt), Two(s, tgt);', { text: 'x' }, { after })).toEqual({
      texts: ['x1', 'x2'],
    })
  })

  test('may be followed by rules in braces, which run last', () => {
    const rules = "src.text as s -> tgt then One(s, tgt), Two(s, tgt) { src.text as v -> tgt.texts = (v & '3'); };"
    expect(made(rules, { text: 'x' }, { after })).toEqual({ texts: ['x1', 'x2', 'x3'] })
  })
})

describe('a group that calls itself', () => {
  const around = {
    from: 'Questionnaire',
    after: `group Items(source s, target t) {
      s.linkId as id -> t.texts = id;
      s.item as inner -> t then Items(inner, t);
    }`,
  }
  const nested = (depth: number): unknown => ({
    linkId: String(depth),
    ...(depth > 0 ? { item: [nested(depth - 1)] } : {}),
  })

  test('follows the data to its end', () => {
    expect(
      made('src.item as i -> tgt then Items(i, tgt);', { resourceType: 'Questionnaire', item: [nested(3)] }, around),
    ).toEqual({
      texts: ['3', '2', '1', '0'],
    })
  })

  test('without end is an error and not an endless loop', () => {
    const after = 'group Loop(source s, target t) { s -> t then Loop(s, t); }'
    expect(refusal('src -> tgt then Loop(src, tgt);', {}, { after }).reason).toBe(
      'groups call each other more than 200 levels deep',
    )
  })
})

describe('a group that extends another', () => {
  test('runs the rules of the other first', () => {
    const whole = `group Main(source src : In, target tgt : Out) extends Base { src.text as t -> tgt.texts = (t & '2'); }
      group Base(source src : In, target tgt : Out) { src.text as t -> tgt.texts = (t & '1'); }`
    expect(runText(`uses "http://example.org/In" alias In as source\n${whole}`, { text: 'x' })).toEqual({
      texts: ['x1', 'x2'],
    })
  })

  test('may extend one that extends another', () => {
    const whole = `group A(source src : In, target tgt : Out) extends B { src.text as t -> tgt.texts = (t & '3'); }
      group B(source src : In, target tgt : Out) extends C { src.text as t -> tgt.texts = (t & '2'); }
      group C(source src : In, target tgt : Out) { src.text as t -> tgt.texts = (t & '1'); }`
    expect(runText(whole, { text: 'x' })).toEqual({ texts: ['x1', 'x2', 'x3'] })
  })

  test('may name its parameters in another order', () => {
    const whole = `group A(source src : In, target tgt : Out) { src -> tgt then B(tgt, src); }
      group B(target tgt : Out, source src : In) extends C { src.text as t -> tgt.text = t; }
      group C(source src : In, target tgt : Out) { src.other as t -> tgt.other = t; }`
    expect(runText(whole, { text: 'x', other: 'y' })).toEqual({ text: 'x', other: 'y' })
  })

  test('may have parameters that the other does not have', () => {
    const whole = `group A(source src : In, target tgt : Out) { src -> tgt then B(src, 'z', tgt); }
      group B(source src : In, source more, target tgt : Out) extends C { more as t -> tgt.text = t; }
      group C(source src : In, target tgt : Out) { src.other as t -> tgt.other = t; }`
    expect(runText(whole, { other: 'y' })).toEqual({ text: 'z', other: 'y' })
  })

  test('must have the parameters of the other', () => {
    const whole = `group A(source src : In, target tgt : Out) extends C { src.text as t -> tgt.text = t; }
      group C(source src : In, source more, target tgt : Out) { src.other as t -> tgt.other = t; }`
    expect(() => runText(whole, {})).toThrow('`C` needs a source `more`, which `A` does not have')
  })

  test('that in the end extends itself is an error', () => {
    const whole = `group A(source src : In, target tgt : Out) extends B { src.text as t -> tgt.text = t; }
      group B(source src : In, target tgt : Out) extends A { src.other as t -> tgt.other = t; }`
    expect(() => runText(whole, {})).toThrow('`A` extends itself through other groups')
  })
})

describe('literals as arguments', () => {
  const group = (type: string) => ({
    after: `group Set(source v : ${type}, target t : Out) { v -> t.text = (%v.toString()); }`,
  })
  const call = (argument: string) => `src -> tgt then Set(${argument}, tgt);`

  test.each([
    ['integer', '2', '2'],
    ['decimal', '2.50', '2.50'],
    ['boolean', 'true', 'true'],
    ['string', "'ward'", 'ward'],
    ['code', "'final'", 'final'],
    ['date', '@2024-02-29', '2024-02-29'],
    ['dateTime', '@2024-02-29', '2024-02-29'],
    ['integer', '(1 + 1)', '2'],
    ['code', "('fi' & 'nal')", 'final'],
  ])('become a value of the type of the parameter: %s from %s', (type, argument, text) => {
    expect(made(call(argument), {}, group(type))).toEqual({ text })
  })

  test('that are no value of it are found before the map runs', () => {
    expect(problemsOf(call("'two'"), group('integer'))).toEqual([
      'the parameter `v` of `Set` is of type integer, and `two` is no integer',
    ])
    expect(problemsOf(call("' x'"), group('code'))).toEqual([
      'the parameter `v` of `Set` is of type code, and `x` is no code',
    ])
  })

  test('a type of FHIRPath is no type of a parameter, and the one of FHIR is named', () => {
    expect(problemsOf(call("'x'"), group('System.String'))).toEqual([
      '`System.String` is a type of FHIRPath; parameters have types of FHIR: write `string`',
    ])
  })
})
