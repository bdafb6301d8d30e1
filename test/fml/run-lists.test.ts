// How the items of a list are ordered and joined. https://hl7.org/fhir/R4/valueset-map-target-list-mode.html

import { describe, expect, test } from 'vitest'
import { made, refusal } from './run-maps.ts'

const patient = { to: 'Patient' }

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
