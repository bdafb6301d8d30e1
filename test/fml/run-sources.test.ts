// What a rule reads: which values it runs for, in which order, under which conditions.
// https://hl7.org/fhir/R4/mapping-language.html#7.7.0.6.1

import { describe, expect, test } from 'vitest'
import { made, problemsOf, refusal } from './run-maps.ts'

describe('a rule runs', () => {
  test('once for each value of its source, in order', () => {
    expect(made('src.texts as t -> tgt.texts = t;', { texts: ['a', 'b', 'c'] })).toEqual({ texts: ['a', 'b', 'c'] })
  })

  test('not at all where the source has no value', () => {
    expect(made("src.text as t -> tgt.other = 'seen';", {})).toEqual({})
  })

  test('not at all where the source is null', () => {
    expect(made("src.text as t -> tgt.other = 'seen';", { text: null })).toEqual({})
  })

  test('once for the record itself where no element is named', () => {
    expect(made("src -> tgt.other = 'seen';", {})).toEqual({ other: 'seen' })
  })

  test('for false, zero and the empty text as for other values', () => {
    const rules = 'src.flag as f -> tgt.flag = f; src.number as n -> tgt.number = n;'
    expect(made(rules, { flag: false, number: 0 })).toEqual({ flag: false, number: 0 })
    expect(made("src.text as t -> tgt.other = 'seen';", { text: '' })).toEqual({ other: 'seen' })
  })

  test('for each value of an element of an element, through lists', () => {
    const items = [{ code: 'a', tags: ['x', 'y'] }, { code: 'b' }, { tags: ['z'] }]
    expect(made('src.items.tags as t -> tgt.texts = t;', { items })).toEqual({ texts: ['x', 'y', 'z'] })
  })

  test('for the items of a list that are not null', () => {
    expect(made('src.texts as t -> tgt.texts = t;', { texts: ['a', null, 'b'] })).toEqual({ texts: ['a', 'b'] })
  })

  test('for one value where a list is expected and the data has a single one', () => {
    expect(made('src.texts as t -> tgt.texts = t;', { texts: 'a' })).toEqual({ texts: ['a'] })
  })

  test('without an arrow, for the sake of what it contains', () => {
    expect(made("src.item as i then { i.code as c -> tgt.text = c; } 'r';", { item: { code: 'x' } })).toEqual({
      text: 'x',
    })
  })
})

describe('several sources', () => {
  const items = [{ code: 'a' }, { code: 'b' }]

  test('run the rule for every combination', () => {
    expect(made('src.items as i, src.texts as t -> tgt.texts = (i.code & t);', { items, texts: ['1', '2'] })).toEqual({
      texts: ['a1', 'a2', 'b1', 'b2'],
    })
  })

  test('do not run it if one of them has no value', () => {
    expect(made('src.text as t, src.other as o -> tgt.text = t;', { text: 'x' })).toEqual({})
  })

  test('may begin at a variable of an earlier one', () => {
    const tagged = [
      { code: 'a', tags: ['1', '2'] },
      { code: 'b', tags: ['3'] },
    ]
    expect(made('src.items as i, i.tags as t -> tgt.texts = (i.code & t);', { items: tagged })).toEqual({
      texts: ['a1', 'a2', 'b3'],
    })
  })

  test('may use a variable of an earlier one in a condition', () => {
    expect(
      made('src.texts as t, src.items as i where code = t -> tgt.texts = t;', { items, texts: ['b', 'c'] }),
    ).toEqual({ texts: ['b'] })
  })
})

describe('where', () => {
  test('is asked for each item of a list, with the item as focus', () => {
    const items = [
      { system: 'sct', code: '1' },
      { system: 'icd', code: '2' },
      { system: 'sct', code: '3' },
    ]
    expect(made("src.items as i where system = 'sct' -> tgt.texts = (i.code);", { items })).toEqual({
      texts: ['1', '3'],
    })
  })

  test('is asked of the record itself where no element is named', () => {
    expect(made("src where flag = true -> tgt.text = 'yes';", { flag: false })).toEqual({})
    expect(made("src where flag = true -> tgt.text = 'yes';", { flag: true })).toEqual({ text: 'yes' })
  })

  test('knows the variable of its own source', () => {
    expect(made("src.texts as t where t = 'b' -> tgt.texts = t;", { texts: ['a', 'b'] })).toEqual({ texts: ['b'] })
  })

  test('knows the variable with a percent sign too', () => {
    expect(made("src.texts as t where %t = 'b' -> tgt.texts = t;", { texts: ['a', 'b'] })).toEqual({ texts: ['b'] })
  })

  test('knows the parameters of the group', () => {
    expect(made('src.texts as t where t = src.other -> tgt.texts = t;', { texts: ['a', 'b'], other: 'a' })).toEqual({
      texts: ['a'],
    })
  })

  test('that has no answer is not fulfilled', () => {
    expect(made("src where other = 'x' -> tgt.text = 'yes';", {})).toEqual({})
  })

  test('can use elements of the focus by a function of FHIRPath', () => {
    expect(made("src where items.exists(code = 'x') -> tgt.text = 'yes';", { items: [{ code: 'x' }] })).toEqual({
      text: 'yes',
    })
  })

  test('that is never true is said before anything runs', () => {
    expect(problemsOf("src.severity as s where s = 'fatal' -> tgt.text = s;")).toEqual([
      'this rule can never fire: `fatal` is not a possible code here (mild, moderate, severe)',
    ])
  })
})

describe('a type', () => {
  const around = { from: 'Observation' }
  const rule = 'src.value : Quantity as q -> tgt.amount = (q.value);'

  test('lets only values of that type through', () => {
    expect(made(rule, { resourceType: 'Observation', valueQuantity: { value: 4 } }, around)).toEqual({ amount: 4 })
    expect(made(rule, { resourceType: 'Observation', valueString: 'x' }, around)).toEqual({})
  })

  test('lets values of types that derive from it through', () => {
    const age = { resourceType: 'Condition', onsetAge: { value: 4 } }
    expect(made('src.onset : Quantity as q -> tgt.amount = (q.value);', age, { from: 'Condition' })).toEqual({
      amount: 4,
    })
  })

  test('that the element cannot have is an error', () => {
    expect(problemsOf('src.text : Quantity as q -> tgt.amount = (q.value);')).toEqual([
      'this rule can never fire: the value is of type string, never a Quantity',
    ])
  })

  test('of an entry of a Bundle lets only those resources through', () => {
    const entry = [{ resource: { resourceType: 'Patient', id: 'p' } }, { resource: { resourceType: 'Basic', id: 'b' } }]
    expect(
      made(
        'src.entry as e then { e.resource : Patient as p -> tgt.texts = (p.id); } "r";',
        { resourceType: 'Bundle', entry },
        {
          from: 'Bundle',
        },
      ),
    ).toEqual({ texts: ['p'] })
  })

  test('goes with the name that JSON has for one type of a choice', () => {
    expect(
      made(
        'src.valueQuantity as q -> tgt.amount = (q.value);',
        { resourceType: 'Observation', valueQuantity: { value: 4 } },
        around,
      ),
    ).toEqual({ amount: 4 })
  })
})

describe('a list mode', () => {
  const texts = ['a', 'b', 'c']
  test.each([
    ['first', ['a']],
    ['last', ['c']],
    ['not_first', ['b', 'c']],
    ['not_last', ['a', 'b']],
  ])('%s takes %j of a, b, c', (mode, taken) => {
    expect(made(`src.texts ${mode} as t -> tgt.texts = t;`, { texts })).toEqual({ texts: taken })
  })

  test('only_one takes the one value there is', () => {
    expect(made('src.texts only_one as t -> tgt.texts = t;', { texts: ['a'] })).toEqual({ texts: ['a'] })
  })

  test('only_one with two values is an error', () => {
    expect(refusal('src.texts only_one as t -> tgt.texts = t;', { texts }).reason).toBe(
      'only one value is expected, and there are 3',
    )
  })

  test('chooses from what the condition has left', () => {
    expect(made("src.texts first as t where t != 'a' -> tgt.texts = t;", { texts })).toEqual({ texts: ['b'] })
  })

  test('of a single element that leaves nothing is said before anything runs', () => {
    expect(problemsOf('src.text not_first as t -> tgt.text = t;')).toEqual([
      'this rule can never fire: there is only one value, so `not_first` leaves nothing',
    ])
  })
})
