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
    expect(() => runText(whole, {})).toThrow('`A` extends itself in the end')
  })
})

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

describe('let', () => {
  test('names a value for all groups', () => {
    const after = 'group More(source s, target t) { s -> t.other = base; }'
    expect(
      made('src -> tgt.text = base then More(src, tgt);', {}, { before: "let base = 'http://e';", after }),
    ).toEqual({
      text: 'http://e',
      other: 'http://e',
    })
  })

  test('may use those before it', () => {
    expect(made('src -> tgt.text = b;', {}, { before: "let a = 'x'; let b = a & 'y';" })).toEqual({ text: 'xy' })
  })

  test('may use those behind it', () => {
    expect(made('src -> tgt.text = b;', {}, { before: "let b = a & 'y'; let a = 'x';" })).toEqual({ text: 'xy' })
  })

  test('in a circle is an error', () => {
    expect(problemsOf('src -> tgt.text = b;', { before: 'let b = a; let a = b;' })).toEqual([
      '`b` is defined by itself in the end',
    ])
  })

  test('can be used in conditions, expressions, transforms and as a source', () => {
    const before = "let limit = 2; let word = 'x';"
    const rules = `src.numbers as n where n > limit -> tgt.numbers = n;
      src -> tgt.text = truncate('abc', limit);
      word as w -> tgt.other = w;`
    expect(made(rules, { numbers: [1, 2, 3] }, { before })).toEqual({ numbers: [3], text: 'ab', other: 'x' })
  })

  test('is hidden by a variable of the same name', () => {
    expect(made('src.text as a -> tgt.text = a;', { text: 'own' }, { before: "let a = 'x';" })).toEqual({ text: 'own' })
  })

  test('that nothing uses is never computed', () => {
    expect(made("src -> tgt.text = 'x';", {}, { before: "let bad = ('a' | 'b').single();" })).toEqual({ text: 'x' })
  })

  test('is computed once in a run', () => {
    let clock = 0
    const now = () => new Date(Date.UTC(2024, 0, 1, 0, 0, clock++))
    expect(
      made('src -> tgt.text = (t.toString()), tgt.other = (t.toString());', {}, { before: 'let t = now();' }, { now }),
    ).toEqual({
      text: '2024-01-01T00:00:00.000Z',
      other: '2024-01-01T00:00:00.000Z',
    })
  })

  test('twice of the same name is an error', () => {
    expect(problemsOf('src -> tgt.text = a;', { before: "let a = 'x'; let a = 'y';" })).toEqual([
      'there is a constant `a` already, in line 4',
    ])
  })
})

describe('a batch', () => {
  test('copies each element it names', () => {
    expect(made('src -> tgt: text, texts, number;', { text: 'x', texts: ['a'], number: 1, other: 'no' })).toEqual({
      text: 'x',
      texts: ['a'],
      number: 1,
    })
  })

  test('copies a choice with its type', () => {
    const source = { resourceType: 'Observation', valueQuantity: { value: 1 } }
    expect(made('src -> tgt: value;', source, { from: 'Observation', to: 'Observation' })).toEqual(source)
  })

  test('that names what does not exist is an error at that name', () => {
    expect(problemsOf('src -> tgt: text, txt;')).toEqual(['In has no element `txt`; did you mean `text`?'])
  })
})

describe('the first group', () => {
  test('may have no types where the map uses one structure each way', () => {
    const whole = `uses "http://example.org/In" alias A as source
uses "http://hl7.org/fhir/StructureDefinition/Patient" alias B as target
group G(source s, target t) { s.day as d -> t.birthDate = d; }`
    expect(runText(whole, { day: '2000-01-02' })).toEqual({ resourceType: 'Patient', birthDate: '2000-01-02' })
  })

  test('may have several sources', () => {
    const whole =
      'group G(source a : In, source b : In, target t : Out) { a.text as v -> t.text = v; b.text as v -> t.other = v; }'
    expect(runText(whole, [{ text: 'x' }, { text: 'y' }])).toEqual({ text: 'x', other: 'y' })
  })

  test('is not run with too few or too many sources', () => {
    const whole =
      'group G(source a : In, source b : In, target t : Out) { a.text as v -> t.text = v; b.text as v -> t.other = v; }'
    expect(() => runText(whole, [{ text: 'x' }])).toThrow('the map takes 2 sources (a, b), and 1 is given')
    expect(() => runText(whole, [{}, {}, {}])).toThrow('the map takes 2 sources (a, b), and 3 are given')
  })

  test('is not run with a resource of another type', () => {
    expect(refusal('src -> tgt.text = "x";', { resourceType: 'Basic' }, { from: 'Patient' }).reason).toBe(
      'the source `src` must be a Patient, not a Basic',
    )
  })

  test.each([[null], ['text'], [4], [undefined]])('is not run with %j', source => {
    expect(() => runText('group G(source a : In, target t : Out) { a.text as v -> t.text = v; }', [source])).toThrow(
      'the source `a` must be a JSON object',
    )
  })

  test('without a target is an error', () => {
    expect(() => runText('group G(source a : In) { a.text as v then { v as w; }; }', {})).toThrow(
      'the first group needs a target',
    )
  })
})
