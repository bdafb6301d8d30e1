// Constants, batches, and what the first group is run with. http://hl7.org/fhir/uv/fml/fml.html#constants

import { describe, expect, test } from 'vitest'
import { made, problemsOf, refusal, runText } from './run-maps.ts'

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
      '`b` is defined by itself',
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
