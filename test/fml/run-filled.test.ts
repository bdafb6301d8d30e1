// Variables of what a target has set, and elements that were made and are still empty.

import { describe, expect, test } from 'vitest'
import { made, problemsOf, refusal } from './run-maps.ts'

const observation = { to: 'Observation' }
const flag = { ...observation, from: 'Flag' }
const coded = { resourceType: 'Flag', id: 'f', code: { coding: [{ code: 'x' }] }, subject: { reference: 'Patient/1' } }
const moment = '2024-01-01T00:00:00Z'
const extension = "e, e.url = 'http://a.example/why', e.value = cast(t, 'string')"

describe('the variable of a value can be filled', () => {
  test.each([
    [
      'cast to a type of a choice',
      `src.moment as m -> tgt.effective = cast(m, 'dateTime') as d then { src.text as t -> d.extension as ${extension}; };`,
    ],
    [
      'an expression',
      `src.moment as m -> tgt.effective = (%m) as d then { src.text as t -> d.extension as ${extension}; };`,
    ],
  ])('%s', (_what, rules) => {
    expect(made(rules, { moment, text: 'late' }, observation)).toEqual({
      resourceType: 'Observation',
      effectiveDateTime: moment,
      _effectiveDateTime: { extension: [{ url: 'http://a.example/why', valueString: 'late' }] },
    })
  })

  test('cast, by a group', () => {
    const after = `group Why(source s : In, target d : dateTime) { s.text as t -> d.extension as ${extension}; }`
    const rules = "src.moment as m -> tgt.effective = cast(m, 'dateTime') as d then Why(src, d);"
    expect(made(rules, { moment, text: 'late' }, { ...observation, after })).toMatchObject({
      _effectiveDateTime: { extension: [{ valueString: 'late' }] },
    })
  })

  test('copy, of a choice as of any other element', () => {
    for (const element of ['value', 'code']) {
      const rules = `src.code as c -> tgt.${element} = copy(c) as d then { src.id as i -> d.text = i; };`
      const key = element === 'value' ? 'valueCodeableConcept' : element
      expect(made(rules, coded, flag)).toMatchObject({ [key]: { coding: [{ code: 'x' }], text: 'f' } })
    }
  })

  test('what a transform makes', () => {
    const rules = "src.number as n -> tgt.value = qty(n, 'mg') as q then { src.text as t -> q.code = t; };"
    expect(made(rules, { number: 4, text: 'mg' }, observation)).toMatchObject({
      valueQuantity: { value: 4, code: 'mg' },
    })
  })

  test('but not where only the data tells which type the element has', () => {
    const rules = 'src.value as v -> tgt.value = v as w then { src.id as i -> w.text = i; };'
    expect(problemsOf(rules, { from: 'Observation', to: 'Observation' })).toEqual([
      '`w` is a source and cannot be written; use a target of the group',
    ])
  })
})

describe('an element that was made and is still empty', () => {
  test('takes a value', () => {
    expect(made('src.subject as s -> tgt.subject as t, tgt.subject = s;', coded, flag)).toEqual({
      resourceType: 'Observation',
      subject: { reference: 'Patient/1' },
    })
  })

  test('is filled by its variable afterwards, too', () => {
    const rules =
      'src.subject as s -> tgt.subject as t, t.identifier as n, tgt.subject = s then { src.id as i -> t.display = i, n.value = i; };'
    expect(made(rules, coded, flag)).toEqual({
      resourceType: 'Observation',
      subject: { reference: 'Patient/1', display: 'f', identifier: { value: 'f' } },
    })
  })

  test('but not a second one', () => {
    const rules = "src.subject as s -> tgt.subject as t, t.display = 'd', tgt.subject = s;"
    expect(refusal(rules, coded, flag).reason).toBe('`subject` can have one value only, and has one already')
  })

  test.each([
    "src -> tgt.value = create('Quantity') as q then { src.number as n -> q.value = n; }; src.text as t -> tgt.value = t;",
    "src.text as t -> tgt.value = t; src -> tgt.value = create('Quantity') as q then { src.number as n -> q.value = n; };",
  ])('leaves a choice to another type', rules => {
    expect(made(rules, { text: 'high' }, observation)).toEqual({ resourceType: 'Observation', valueString: 'high' })
    expect(made(rules, { number: 4 }, observation)).toMatchObject({ valueQuantity: { value: 4 } })
    expect(refusal(rules, { text: 'high', number: 4 }, observation).reason).toMatch(
      /cannot be set together with .*: an element has one of its types at a time/,
    )
  })

  test('keeps a choice from another type where it is filled only later', () => {
    const rules =
      "src.text as t -> tgt.value = create('Quantity') as q, tgt.value = t then { src.number as n -> q.value = n; };"
    expect(problemsOf(rules, observation)).toEqual([
      '`Observation.value` is `valueQuantity` already in this rule; it cannot be `valueString` too',
    ])
    const apart =
      "src -> tgt.value = create('Quantity') as q then { src.text as t -> tgt.value = t; src.number as n -> q.value = n; };"
    expect(refusal(apart, { text: 'high', number: 4 }, observation).reason).toBe(
      '`valueString` cannot be set together with `valueQuantity`: an element has one of its types at a time',
    )
  })
})

test('& takes a primitive that is only an extension for nothing', () => {
  const source = { resourceType: 'Patient', _birthDate: { extension: [{ url: 'http://a.example', valueString: 'x' }] } }
  expect(made("src.birthDate as b -> tgt.text = ('born ' & %b);", source, { from: 'Patient' })).toEqual({
    text: 'born ',
  })
})
