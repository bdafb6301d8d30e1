// What is said when data cannot be mapped: which map, which rule, where it stands, and which place of the data.

import { describe, expect, test } from 'vitest'
import type { Step } from '../../src/fml/run/frame.ts'
import { made, mapText, problemsOf, refusal, runText } from './run-maps.ts'

const twice = 'src.items as i -> tgt.items as o then {\n  i.tags as t -> o.code = t "tag";\n} "item";'
const data = { items: [{ tags: ['a'] }, { tags: ['b', 'c'] }] }

describe('an error', () => {
  test('names the map, the rule and its group, line and column, and the place in the data', () => {
    const error = refusal(twice, data)
    expect(error).toMatchObject({
      name: 'MapError',
      map: 'm.fml',
      group: 'Main',
      rule: 'tag',
      line: 10,
      column: 3,
      path: 'In.items[1].tags[1]',
      reason: '`code` can have one value only, and has one already',
      place: 'm.fml:10:3',
    })
    expect(error.message).toBe(
      'm.fml:10:3: rule "tag" of Main: `code` can have one value only, and has one already (at In.items[1].tags[1])',
    )
  })

  test('calls a rule without a name by the element that it reads', () => {
    expect(refusal('src.texts as t -> tgt.text = t;', { texts: ['a', 'b'] }).rule).toBe('texts')
  })

  test('in a group is told with the place in the data it was called for', () => {
    const after = 'group Item(source s, target t) {\n  s.code as c -> t.value = c;\n}'
    const error = refusal(
      'src.items as i -> tgt.items as o then Item(i, o);',
      { items: [{ code: '1' }, { code: 'x' }] },
      { after },
    )
    expect(error).toMatchObject({ group: 'Item', rule: 'code', line: 12, path: 'In.items[1].code' })
  })

  test('in an imported map names that map', () => {
    const lib =
      "/// url = 'http://lib'\n/// name = 'L'\ngroup Item(source s, target t) {\n  s.code as c -> t.value = c;\n}"
    const around = { before: 'imports "http://lib"', maps: [lib] }
    const error = refusal('src.items as i -> tgt.items as o then Item(i, o);', { items: [{ code: 'x' }] }, around)
    expect(error).toMatchObject({ map: 'imported-1.fml', group: 'Item', line: 4 })
  })

  test('of an expression says what the expression says', () => {
    expect(refusal('src -> tgt.text = (src.texts.single());', { texts: ['a', 'b'] })).toMatchObject({
      reason: 'expected one value, found 2',
      rule: 'src',
    })
  })

  test('in a condition is told with the value that was looked at', () => {
    expect(refusal("src.items as i where tags.single() = 'x' -> tgt.text = 'y';", data).path).toBe('In.items[1]')
  })

  test('of a constant is told where it is used', () => {
    const error = refusal('src -> tgt.text = bad "use";', {}, { before: "let bad = ('a' | 'b').single();" })
    expect(error).toMatchObject({ rule: 'use', reason: 'expected one value, found 2' })
  })

  test('has no value of the data in it but codes', () => {
    expect(refusal('src.text as t -> tgt.number = t;', { text: 'Ada Lovelace, born 1815' }).message).not.toContain(
      'Ada',
    )
  })

  test('is the same for the same data, however often the map ran before', () => {
    const whole = mapText(twice)
    expect(() => runText(whole, data)).toThrow('at In.items[1].tags[1]')
    expect(runText(whole, { items: [{ tags: ['a'] }] })).toEqual({ items: [{ code: 'a' }] })
    expect(() => runText(whole, data)).toThrow('at In.items[1].tags[1]')
  })

  test('of data that is nested without end is an error like others', () => {
    let item: unknown = { extension: [] }
    for (let depth = 0; depth < 5000; depth++) item = { url: 'http://e', extension: [item] }
    const source = { resourceType: 'Patient', extension: [item] }
    const error = refusal('src -> tgt: extension;', source, { from: 'Patient', to: 'Patient' })
    expect(error.reason).toBe('the data is nested deeper than 100 levels')
  })
})

describe('a trace', () => {
  test('tells each rule that runs, how deep it stands and what it runs for', () => {
    const steps: Step[] = []
    made(twice, { items: [{ tags: ['a'] }] }, {}, { trace: step => steps.push(step) })
    expect(steps.map(({ site, depth, path, value }) => [site.rule, depth, path, value])).toEqual([
      ['item', 0, 'In.items[0]', { tags: ['a'] }],
      ['tag', 1, 'In.items[0].tags[0]', 'a'],
    ])
  })

  test('counts groups as levels', () => {
    const steps: Step[] = []
    const after = 'group Item(source s, target t) { s.code as c -> t.code = c "code"; }'
    made(
      'src.items as i -> tgt.items as o then Item(i, o) "item";',
      { items: [{ code: 'a' }] },
      { after },
      { trace: step => steps.push(step) },
    )
    expect(steps.map(({ site, depth }) => [site.rule, depth])).toEqual([
      ['item', 0],
      ['code', 1],
    ])
  })
})

describe('a map of a request', () => {
  const untrusted = { options: { untrusted: true } }

  test('cannot have regular expressions', () => {
    expect(problemsOf("src.text as t where t.matches('(a+)+$') -> tgt.text = t;", untrusted)[0]).toContain('matches')
  })

  test('is stopped when it looks at too many values', () => {
    const rules = 'src.numbers as a, src.numbers as b where src.numbers.count() > 0 -> tgt.texts = "x";'
    expect(refusal(rules, { numbers: Array.from({ length: 2000 }, (_, i) => i) }, untrusted).reason).toMatch(
      /too many values|steps are needed/,
    )
  })
})
