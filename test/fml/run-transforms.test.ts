// The named transforms, one by one. https://hl7.org/fhir/R4/valueset-map-transform.html

import { describe, expect, test } from 'vitest'
import { parse } from '../../src/fml/parser.ts'
import { toStructureMap } from '../../src/fml/structure-map.ts'
import { made, mapText, problemsOf, refusal } from './run-maps.ts'

const patient = { to: 'Patient' }

describe('copy', () => {
  test('is the value itself', () => {
    expect(made('src.text as t -> tgt.text = copy(t), tgt.other = t;', { text: 'x' })).toEqual({
      text: 'x',
      other: 'x',
    })
  })
})

describe('truncate', () => {
  test('keeps the first characters', () => {
    expect(made('src.text as t -> tgt.text = truncate(t, 3);', { text: 'abcdef' })).toEqual({ text: 'abc' })
  })

  test('leaves a shorter text as it is', () => {
    expect(made('src.text as t -> tgt.text = truncate(t, 30);', { text: 'abc' })).toEqual({ text: 'abc' })
  })

  test('does not cut a character in two', () => {
    expect(made('src.text as t -> tgt.text = truncate(t, 2);', { text: 'a😀b' })).toEqual({ text: 'a😀' })
  })

  test('may have its length from the data', () => {
    expect(made('src.text as t -> tgt.text = truncate(t, (src.number));', { text: 'abc', number: 1 })).toEqual({
      text: 'a',
    })
  })

  test('with a length that is no number is an error', () => {
    expect(problemsOf("src.text as t -> tgt.text = truncate(t, 'x');")).toEqual([
      'the length is a whole number of characters, such as 20',
    ])
    expect(refusal('src.text as t -> tgt.text = truncate(t, (src.number));', { text: 'abc', number: -1 }).reason).toBe(
      'the length is a whole number of characters, such as 20',
    )
  })
})

describe('append', () => {
  test('joins any number of texts', () => {
    expect(made("src.text as t -> tgt.text = append(t, '-', t, '-', src.other);", { text: 'a', other: 'b' })).toEqual({
      text: 'a-a-b',
    })
  })

  test('writes numbers as they were written', () => {
    expect(made("src.number as n -> tgt.text = append('no ', n);", { number: 7 })).toEqual({ text: 'no 7' })
  })

  test('gives nothing where a part is missing: half an address is worse than none', () => {
    expect(made("src -> tgt.text = append('Patient/', src.other);", {})).toEqual({})
  })

  test('of an object is an error', () => {
    expect(refusal("src -> tgt.text = append('x', src.item);", { item: { code: 'a' } }).reason).toBe(
      'a text is needed here, not a In.item',
    )
  })

  test('of several values at once is an error', () => {
    expect(refusal("src -> tgt.text = append('x', src.texts);", { texts: ['a', 'b'] }).reason).toBe(
      'one value is needed here, and there are 2',
    )
  })
})

describe('cast', () => {
  test.each([
    ["src.text as v -> tgt.number = cast(v, 'integer');", { text: '12' }, { number: 12 }],
    ["src.text as v -> tgt.amount = cast(v, 'decimal');", { text: '1.5' }, { amount: 1.5 }],
    ["src.text as v -> tgt.flag = cast(v, 'boolean');", { text: 'true' }, { flag: true }],
    ["src.number as v -> tgt.text = cast(v, 'string');", { number: 12 }, { text: '12' }],
    ["src.moment as v -> tgt.day = cast(v, 'date');", { moment: '2024-02-29T10:00:00Z' }, { day: '2024-02-29' }],
    ["src.day as v -> tgt.moment = cast(v, 'dateTime');", { day: '2024-02-29' }, { moment: '2024-02-29' }],
  ])('%s', (rule, source, expected) => {
    expect(made(rule, source)).toEqual(expected)
  })

  test('of a text that is not of the type is an error', () => {
    expect(refusal("src.text as v -> tgt.number = cast(v, 'integer');", { text: 'twelve' }).reason).toBe(
      'this is not a whole number of 32 bits',
    )
  })

  test('without a type leaves it to the element', () => {
    expect(made('src.text as v -> tgt.number = cast(v);', { text: '12' })).toEqual({ number: 12 })
  })

  test('to what is not a primitive is an error', () => {
    expect(problemsOf("src.text as v -> tgt.text = cast(v, 'strin');")).toEqual([
      '`strin` is not a type for cast; did you mean `string`?',
    ])
  })

  test('that nothing can be is an error', () => {
    expect(problemsOf("src.flag as v -> tgt.day = cast(v, 'date');")).toEqual([
      'a value of type boolean cannot become date',
    ])
  })
})

describe('cc, c, id, cp and qty', () => {
  const system = 'http://loinc.org'

  test('cc makes a CodeableConcept of a text', () => {
    expect(made('src.text as t -> tgt.maritalStatus = cc(t);', { text: 'x' }, patient)).toMatchObject({
      maritalStatus: { text: 'x' },
    })
  })

  test('cc makes a CodeableConcept of system, code and display', () => {
    expect(made(`src.text as t -> tgt.maritalStatus = cc('${system}', t, 'X');`, { text: 'x' }, patient)).toMatchObject(
      {
        maritalStatus: { coding: [{ system, code: 'x', display: 'X' }] },
      },
    )
  })

  test('cc without a display has none', () => {
    expect(made(`src.text as t -> tgt.maritalStatus = cc('${system}', t, src.other);`, { text: 'x' }, patient)).toEqual(
      {
        resourceType: 'Patient',
        maritalStatus: { coding: [{ system, code: 'x' }] },
      },
    )
  })

  test('cc without a code makes nothing', () => {
    expect(made(`src -> tgt.maritalStatus = cc('${system}', src.text);`, {}, patient)).toEqual({
      resourceType: 'Patient',
    })
  })

  test('c makes a Coding', () => {
    expect(
      made(`src.text as t -> tgt.meta as m, m.tag = c('${system}', t, 'X');`, { text: 'x' }, patient),
    ).toMatchObject({
      meta: { tag: [{ system, code: 'x', display: 'X' }] },
    })
  })

  test('id makes an Identifier', () => {
    expect(made("src.text as t -> tgt.identifier = id('http://mrn', t);", { text: '7' }, patient)).toMatchObject({
      identifier: [{ system: 'http://mrn', value: '7' }],
    })
  })

  test('id with a type has it from the table of HL7 v2', () => {
    expect(made("src.text as t -> tgt.identifier = id('http://mrn', t, 'MR');", { text: '7' }, patient)).toMatchObject({
      identifier: [
        { type: { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/v2-0203', code: 'MR' }] }, value: '7' },
      ],
    })
  })

  test('cp makes a ContactPoint', () => {
    expect(made("src.text as t -> tgt.telecom = cp('phone', t);", { text: '555' }, patient)).toMatchObject({
      telecom: [{ system: 'phone', value: '555' }],
    })
  })

  test.each([
    ['ada@example.org', 'email'],
    ['mailto:ada@example.org', 'email'],
    ['+237 6 99 12 34 56', 'phone'],
    ['tel:+237699123456', 'phone'],
    ['https://example.org/ada', 'url'],
    ['room 4', 'other'],
  ])('cp of %s alone infers that it is of the system %s', (value, system) => {
    expect(made('src.text as t -> tgt.telecom = cp(t);', { text: value }, patient)).toMatchObject({
      telecom: [{ system, value }],
    })
  })

  test.each([
    ["qty('12 mg')", { value: 12, unit: 'mg' }],
    ["qty('<0.5 mmol/l')", { value: 0.5, comparator: '<', unit: 'mmol/l' }],
    ["qty('5')", { value: 5 }],
    ["qty(5.5, 'mg')", { value: 5.5, unit: 'mg' }],
    [
      "qty(5, 'mg', 'http://unitsofmeasure.org', 'mg')",
      { value: 5, unit: 'mg', system: 'http://unitsofmeasure.org', code: 'mg' },
    ],
  ])('%s makes a Quantity', (call, expected) => {
    expect(made(`src -> tgt.value = ${call};`, {}, { to: 'Observation' })).toEqual({
      resourceType: 'Observation',
      valueQuantity: expected,
    })
  })

  test('qty of a text that has no number is an error', () => {
    expect(refusal('src.text as t -> tgt.value = qty(t);', { text: 'some' }, { to: 'Observation' }).reason).toBe(
      'the text is not a number with a unit',
    )
  })
})

describe('escape', () => {
  test.each([
    ["escape(t, 'html')", { text: 'a < b & "c"' }, 'a &lt; b &amp; &quot;c&quot;'],
    ["escape(t, 'xml', 'text')", { text: 'a &lt; b' }, 'a < b'],
    ["escape(t, 'json')", { text: 'a"b\n' }, 'a\\"b\\n'],
    ["escape(t, 'url')", { text: 'a b/c' }, 'a%20b%2Fc'],
    ["escape(t, 'v2')", { text: 'a|b^c' }, 'a\\F\\b\\S\\c'],
    ["escape(t, 'v2', 'html')", { text: 'a\\T\\b' }, 'a&amp;b'],
  ])('%s', (call, source, expected) => {
    expect(made(`src.text as t -> tgt.text = ${call};`, source)).toEqual({ text: expected })
  })

  test('to a format that is not known is an error', () => {
    expect(problemsOf("src.text as t -> tgt.text = escape(t, 'htm');")).toEqual([
      '`htm` is not an escape format; did you mean `html`?',
    ])
  })
})

describe('toDate, toDateTime and toTime', () => {
  test.each([
    ["src.text as v -> tgt.day = toDate(v, 'dd/MM/yyyy');", { text: '31/12/2024' }, { day: '2024-12-31' }],
    ["src.text as v -> tgt.day = toDate(v, 'yyyyMMdd');", { text: '20241231' }, { day: '2024-12-31' }],
    ["src.number as v -> tgt.day = toDate(v, 'yyyyMMdd');", { number: 20241231 }, { day: '2024-12-31' }],
    ['src.text as v -> tgt.day = toDate(v);', { text: '2024-12-31' }, { day: '2024-12-31' }],
    ['src.moment as v -> tgt.day = toDate(v);', { moment: '2024-12-31T10:00:00Z' }, { day: '2024-12-31' }],
    [
      'src.text as v -> tgt.day = toDate(v, src.other);',
      { text: '31.12.24', other: 'dd.MM.yy' },
      { day: '2024-12-31' },
    ],
    [
      "src.text as v -> tgt.moment = toDateTime(v, 'yyyyMMddHHmmssZ');",
      { text: '20241231235900+0100' },
      { moment: '2024-12-31T23:59:00+01:00' },
    ],
    ["src.text as v -> tgt.other = toTime(v, 'HHmmss');", { text: '235900' }, { other: '23:59:00' }],
    ["src -> tgt.day = toDate(src.other, 'yyyyMMdd');", {}, {}],
    ["src.text as v -> tgt.day = (%v.toDate('dd/MM/yyyy'));", { text: '31/12/2024' }, { day: '2024-12-31' }],
  ])('%s', (rule, source, expected) => {
    expect(made(rule, source)).toEqual(expected)
  })

  test('of a text in another form stops the map, and does not repeat the text', () => {
    const rule = "src.text as v -> tgt.day = toDate(v, 'dd/MM/yyyy');"
    expect(refusal(rule, { text: '2024-12-31' }).reason).toBe('this is not of the form dd/MM/yyyy')
    expect(refusal(rule, { text: '31/02/2024' }).reason).toBe('this is not of the form dd/MM/yyyy')
    expect(refusal('src.text as v -> tgt.day = toDate(v);', { text: 'soon' }).reason).toBe(
      'this is not a date (YYYY-MM-DD)',
    )
  })

  test('with a time but no zone is not yet what FHIR wants', () => {
    const rule = "src.text as v -> tgt.moment = toDateTime(v, 'yyyyMMddHHmmss');"
    expect(refusal(rule, { text: '20241231235900' }).reason).toMatch(/^this is not a dateTime .* with a time zone/)
  })

  test('with a format that cannot be is an error at the format', () => {
    expect(problemsOf("src.text as v -> tgt.day = toDate(v, 'DD/MM/yyyy');")).toEqual([
      '`DD` is not a format code; did you mean `dd`?',
    ])
    expect(refusal('src.text as v -> tgt.day = toDate(v, src.other);', { text: 'a', other: 'yyyy-mm-dd' }).reason).toBe(
      'the format has a day without a month (`MM`)',
    )
    expect(refusal('src.text as v -> tgt.day = toDate(v, src.other);', { text: 'a' }).reason).toBe(
      'the format has no value',
    )
  })

  test('are written in R4, which has no code for them, as evaluate', () => {
    const { resource } = toStructureMap(parse(mapText("src.text as v -> tgt.day = toDate(v, 'dd/MM/yyyy');")).map)
    expect(JSON.stringify(resource)).toContain(
      `"transform":"evaluate","parameter":[{"valueString":"toDate(v, 'dd/MM/yyyy')"}]`,
    )
  })
})

describe('unixToDate, unixToDateTime and unixToTime', () => {
  test.each([
    ['src.number as v -> tgt.moment = unixToDateTime(v);', 1_735_689_599, { moment: '2024-12-31T23:59:59Z' }],
    [
      "src.number as v -> tgt.moment = unixToDateTime(v, '+01:00');",
      1_735_689_599,
      { moment: '2025-01-01T00:59:59+01:00' },
    ],
    ["src.number as v -> tgt.day = unixToDate(v, '+01:00');", 1_735_689_599, { day: '2025-01-01' }],
    ['src.number as v -> tgt.other = unixToTime(v);', -1, { other: '23:59:59' }],
  ])('%s', (rule, number, expected) => {
    expect(made(rule, { number })).toEqual(expected)
  })

  test('of what is no number of seconds stops the map', () => {
    const rule = 'src.text as v -> tgt.moment = unixToDateTime(v);'
    for (const text of ['1.5', 'now', '999999999999'])
      expect(refusal(rule, { text }).reason).toBe(
        'this is not a whole number of seconds since 1970 in the years 1 to 9999',
      )
  })

  test('with a zone that is none is an error', () => {
    expect(problemsOf("src.number as v -> tgt.moment = unixToDateTime(v, 'WAT');")).toEqual([
      'write a time zone as `+01:00` or `Z`',
    ])
  })
})

describe('a transform', () => {
  test('that does not exist is an error', () => {
    expect(problemsOf('src.text as t -> tgt.text = truncat(t, 3);')).toEqual([
      'there is no transform `truncat`; did you mean `truncate`?',
    ])
  })

  test('with too few values is an error', () => {
    expect(problemsOf('src.text as t -> tgt.text = truncate(t);')).toEqual([
      'write `truncate` as `truncate(text, 20)`, not with one value',
    ])
  })

  test('of a value that is missing gives nothing', () => {
    const rules = `src -> tgt.text = truncate(src.other, 3);
      src -> tgt.other = escape(src.other, 'html');
      src -> tgt.number = cast(src.other, 'integer');`
    expect(made(rules, {})).toEqual({})
  })
})
