// What a map must not touch: its source, and the objects of JavaScript itself.

import { describe, expect, test } from 'vitest'
import { made, problemsOf } from './run-maps.ts'

const text = (value: unknown) => JSON.stringify(value)

describe('the source', () => {
  test('is never changed', () => {
    const source = { resourceType: 'Patient', name: [{ given: ['a', null], _given: [null, { id: 'x' }], family: 'f' }] }
    const before = structuredClone(source)
    const rules =
      "src -> tgt: name; src.name as n -> tgt.name = n as m, m.given = 'z', m.period as p, p.start = '2020';"
    made(rules, source, { from: 'Patient', to: 'Patient' })
    expect(source).toEqual(before)
  })

  test('is not changed by extensions that its primitives are given in the result', () => {
    const source = { resourceType: 'Patient', birthDate: '1990', _birthDate: { id: 'x' } }
    const rules = "src.birthDate as v -> tgt.birthDate = v as d, d.extension as e, e.url = 'http://e', e.value = true;"
    expect(made(rules, source, { from: 'Patient', to: 'Patient' })).toEqual({
      resourceType: 'Patient',
      birthDate: '1990',
      _birthDate: { id: 'x', extension: [{ url: 'http://e', valueBoolean: true }] },
    })
    expect(source._birthDate).toEqual({ id: 'x' })
  })

  test('can be frozen', () => {
    const source = Object.freeze({ item: Object.freeze({ code: 'x' }) })
    expect(made('src.item as i -> tgt.item as o, o.code = (i.code);', source)).toEqual({ item: { code: 'x' } })
  })

  test('and the result share no object', () => {
    const source = { resourceType: 'Patient', name: [{ period: { start: '2020' } }] }
    const result = made('src -> tgt: name;', source, { from: 'Patient', to: 'Patient' }) as typeof source
    expect(result).toEqual(source)
    expect(result.name[0]).not.toBe(source.name[0])
    expect(result.name[0]!.period).not.toBe(source.name[0]!.period)
  })

  test('of a thousand runs leaves nothing behind', () => {
    const around = { before: 'conceptmap "c" { prefix s = "http://s" s:a == s:b }' }
    for (let i = 0; i < 3; i++)
      expect(
        made("src.text as t -> tgt.text = translate(t, '#c', 'code'), tgt.texts = t;", { text: 'a' }, around),
      ).toEqual({
        text: 'b',
        texts: ['a'],
      })
  })
})

describe('names that JavaScript gives a meaning', () => {
  const harmful = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty']
  const unknown = {
    from: 'U',
    to: 'V',
    before: 'uses "http://u/U" alias U as source\nuses "http://u/V" alias V as target',
  }

  test.each(harmful)('%s in the source is not read from anywhere else', name => {
    expect(made(`src.\`${name}\` as v -> tgt.x = v;`, {}, unknown)).toEqual({})
    expect(made(`src -> tgt.x = (src.\`${name}\`);`, {}, unknown)).toEqual({})
  })

  test.each(harmful)('%s cannot be made', name => {
    expect(problemsOf(`src -> tgt.\`${name}\` = 'x';`, unknown).at(-1)).toBe(
      `\`${name}\` cannot be the name of an element`,
    )
  })

  test.each(harmful)('%s can be the name of a variable, a group and an alias', name => {
    const around = {
      before: `uses "http://example.org/In" alias \`${name}\` as source`,
      after: `group ${name}(source ${name}, target t) { ${name} as v -> t.text = v; }`,
    }
    expect(made(`src.text as ${name} -> tgt then ${name}(${name}, tgt);`, { text: 'x' }, around)).toEqual({ text: 'x' })
  })

  test('are not copied with an object', () => {
    const source = JSON.parse(
      '{"resourceType":"Patient","name":[{"family":"x","__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}]}',
    )
    const result = made('src -> tgt: name;', source, { from: 'Patient', to: 'Patient' }) as { name: object[] }
    expect(text(result)).toBe('{"resourceType":"Patient","name":[{"family":"x"}]}')
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined()
  })
})
