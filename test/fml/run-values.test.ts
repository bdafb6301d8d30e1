// Values on their way: digits that stay, types that are converted or refused, what is empty, what is shared with nobody.

import { describe, expect, test } from 'vitest'
import { parseJson } from '../../src/lib/json.ts'
import { made, problemsOf, refusal } from './run-maps.ts'

const text = (value: unknown) => JSON.stringify(value)

describe('a decimal', () => {
  test.each(['1.50', '0.0', '1e3', '-0.500', '12345678901234567890.10'])('%s keeps its digits', digits => {
    const source = parseJson(`{"amount":${digits}}`)
    expect(text(made('src.amount as a -> tgt.amount = a;', source))).toBe(`{"amount":${digits}}`)
    expect(text(made('src.amount -> tgt.amount;', source))).toBe(`{"amount":${digits}}`)
  })

  test('keeps its digits as a text, in an expression and by cast', () => {
    const source = parseJson('{"amount":1.50}')
    expect(made("src.amount as a -> tgt.text = cast(a, 'string'), tgt.other = (a.toString());", source)).toEqual({
      text: '1.50',
      other: '1.50',
    })
    expect(made("src.amount as a -> tgt.text = append(a, ' mg');", source)).toEqual({ text: '1.50 mg' })
  })

  test('of a text keeps its digits', () => {
    expect(text(made('src.text as t -> tgt.amount = t;', { text: '1.50' }))).toBe('{"amount":1.50}')
  })

  test('as a constant keeps its digits', () => {
    expect(text(made('src -> tgt.amount = 1.50;', {}))).toBe('{"amount":1.50}')
  })

  test('within an object keeps its digits', () => {
    const source = parseJson('{"resourceType":"Observation","valueQuantity":{"value":1.50}}')
    expect(text(made('src.value -> tgt.value;', source, { from: 'Observation', to: 'Observation' }))).toBe(
      '{"resourceType":"Observation","valueQuantity":{"value":1.50}}',
    )
  })

  test('that an expression computes is exact', () => {
    expect(text(made('src -> tgt.amount = (0.1 + 0.2);', {}))).toBe('{"amount":0.3}')
  })

  test('written twice with the same digits is the same value', () => {
    const rules = 'src.amount as a -> tgt.amount = a; src.item as i -> tgt.amount = (i.value);'
    expect(text(made(rules, parseJson('{"amount":1.50,"item":{"value":1.50}}')))).toBe('{"amount":1.50}')
  })
})

describe('a conversion', () => {
  test.each([
    ['src.number as v -> tgt.amount = v;', { number: 3 }, { amount: 3 }],
    ['src.number as v -> tgt.text = v;', { number: 3 }, { text: '3' }],
    ['src.flag as v -> tgt.text = v;', { flag: true }, { text: 'true' }],
    ['src.text as v -> tgt.number = v;', { text: '3' }, { number: 3 }],
    ['src.text as v -> tgt.flag = v;', { text: 'false' }, { flag: false }],
    ['src.text as v -> tgt.day = v;', { text: '2024-02-29' }, { day: '2024-02-29' }],
    ['src.day as v -> tgt.moment = v;', { day: '2024-02-29' }, { moment: '2024-02-29' }],
    ['src.amount as v -> tgt.number = v;', { amount: 3 }, { number: 3 }],
  ])('that loses nothing is made: %s', (rule, source, expected) => {
    expect(made(rule, source)).toEqual(expected)
  })

  test.each([
    ['src.text as v -> tgt.number = v;', { text: 'three' }, 'this is not a whole number of 32 bits'],
    ['src.text as v -> tgt.number = v;', { text: '3.5' }, 'this is not a whole number of 32 bits'],
    ['src.amount as v -> tgt.number = v;', { amount: 3.5 }, 'this is not a whole number of 32 bits'],
    ['src.text as v -> tgt.amount = v;', { text: '3,5' }, 'the text is not a number'],
    ['src.text as v -> tgt.flag = v;', { text: 'yes' }, 'the text is neither `true` nor `false`'],
    ['src.text as v -> tgt.day = v;', { text: '29.2.2024' }, 'this is not a date (YYYY, YYYY-MM or YYYY-MM-DD)'],
    [
      'src.text as v -> tgt.moment = v;',
      { text: '2024-02-29T10:00' },
      'this is not a dateTime (YYYY, YYYY-MM, YYYY-MM-DD, or YYYY-MM-DDThh:mm:ss with a time zone)',
    ],
    [
      'src.moment as v -> tgt.day = v;',
      { moment: '2024-02-29T10:00:00Z' },
      "a date has no time of day; remove it with `cast(…, 'date')`",
    ],
  ])('that cannot be is an error: %s of %j', (rule, source, reason) => {
    expect(refusal(rule, source).reason).toBe(reason)
  })

  test('of types that have nothing to do with each other is an error before anything runs', () => {
    expect(problemsOf('src.flag as v -> tgt.day = v;')).toEqual([
      '`Out.day` is of type date, and does not take boolean',
    ])
    expect(problemsOf('src.item as v -> tgt.text = v;')).toEqual([
      '`Out.text` is of type string, and does not take In.item; convert it with `then { … }` or a group for the two types',
    ])
  })

  test('of a date that does not exist is an error', () => {
    expect(refusal('src.text as v -> tgt.day = v;', { text: '2023-02-29' }).reason).toBe(
      'this is not a date (YYYY, YYYY-MM or YYYY-MM-DD)',
    )
  })

  test('of a Coding to a CodeableConcept wraps it', () => {
    const source = { resourceType: 'Patient', meta: { tag: [{ code: 'x' }] } }
    expect(
      made('src.meta as m, m.tag as t -> tgt.maritalStatus = t;', source, { from: 'Patient', to: 'Patient' }),
    ).toEqual({
      resourceType: 'Patient',
      maritalStatus: { coding: [{ code: 'x' }] },
    })
  })

  test('of a code that the value set does not have is an error before anything runs', () => {
    expect(problemsOf("src -> tgt.gender = 'man';", { to: 'Patient' })).toEqual([
      '`man` is not a code of `Patient.gender` (male, female, other, unknown)',
    ])
  })
})

describe('data that is not of its type', () => {
  test.each([
    ['src.text as v -> tgt.text = v;', { text: { a: 1 } }, 'a string is expected here, not an object'],
    ['src.text as v -> tgt.text = v;', { text: 4 }, 'a string is expected here, not a number'],
    ['src.text as v -> tgt.text = v;', { text: true }, 'a string is expected here, not a boolean'],
    ['src.text as v -> tgt.text = v;', { text: [['x']] }, 'a string is expected here, not a list'],
    ['src.number as v -> tgt.number = v;', { number: '4' }, 'an integer is expected here, not a text'],
    ['src.flag as v -> tgt.flag = v;', { flag: 'true' }, 'a boolean is expected here, not a text'],
    ['src.item as v -> tgt.text = (v.code);', { item: 'x' }, 'an object is expected here, not a text'],
    ['src.item as v -> tgt.text = (v.code);', { item: [[{}]] }, 'an object is expected here, not a list'],
    ['src.items.code as v -> tgt.text = v;', { items: ['x'] }, 'an object is expected here, not a text'],
  ])('is an error: %s of %j', (rule, source, reason) => {
    expect(refusal(rule, source).reason).toBe(reason)
  })

  test('is told with its place', () => {
    expect(refusal('src.items.code as v -> tgt.texts = v;', { items: [{ code: 'a' }, { code: {} }] }).path).toBe(
      'In.items[1].code',
    )
  })
})

describe('what is empty', () => {
  test('is left out: an object that nothing was put into', () => {
    expect(made('src -> tgt.item as i then { src.text as t -> i.code = t "code"; } "item";', {})).toEqual({})
  })

  test('is left out: an item of a list that nothing was put into', () => {
    const rules = 'src.items as s -> tgt.items as t then { s.code as c -> t.code = c "code"; } "items";'
    expect(made(rules, { items: [{ code: 'a' }, {}, { code: 'b' }] })).toEqual({
      items: [{ code: 'a' }, { code: 'b' }],
    })
  })

  test('is left out: a list of which nothing is left', () => {
    expect(
      made('src.items as s -> tgt.items as t then { s.code as c -> t.code = c "code"; } "items";', { items: [{}] }),
    ).toEqual({})
  })

  test('is left out: a primitive without value and extensions', () => {
    expect(made('src -> tgt.birthDate as d;', {}, { to: 'Patient' })).toEqual({ resourceType: 'Patient' })
    expect(made('src -> tgt.name as n, n.given as g;', {}, { to: 'Patient' })).toEqual({ resourceType: 'Patient' })
  })

  test('is left out of what is copied', () => {
    const source = { resourceType: 'Patient', name: [{ family: 'x', given: [], period: {} }], contact: [] }
    expect(made('src -> tgt: name, contact;', source, { from: 'Patient', to: 'Patient' })).toEqual({
      resourceType: 'Patient',
      name: [{ family: 'x' }],
    })
  })

  test('stays where it is not empty: false, zero', () => {
    expect(made('src -> tgt.flag = false, tgt.number = 0;', {})).toEqual({ flag: false, number: 0 })
  })

  test('text is left out of FHIR, which has no empty texts', () => {
    expect(made('src.text as t -> tgt.name as n, n.family = t;', { text: '' }, { to: 'Patient' })).toEqual({
      resourceType: 'Patient',
    })
  })

  test('text stays in a record', () => {
    expect(made('src.text as t -> tgt.text = t;', { text: '' })).toEqual({ text: '' })
  })

  test('resource that only says what it is stays', () => {
    expect(made('src.text as t -> tgt.active = true;', {}, { to: 'Patient' })).toEqual({ resourceType: 'Patient' })
  })
})
