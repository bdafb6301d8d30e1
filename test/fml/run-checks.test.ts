// What a rule demands of its source: cardinality, default, check and log. https://hl7.org/fhir/R4/mapping-language.html#7.7.0.6.1

import { describe, expect, test } from 'vitest'
import { made, problemsOf, refusal } from './run-maps.ts'

describe('a cardinality', () => {
  test('that is met changes nothing', () => {
    expect(made('src.texts 1..2 as t -> tgt.texts = t;', { texts: ['a', 'b'] })).toEqual({ texts: ['a', 'b'] })
  })

  test('that is exceeded is an error', () => {
    expect(refusal('src.texts 0..1 as t -> tgt.texts = t;', { texts: ['a', 'b'] }).reason).toBe(
      '0 to 1 values are expected, and there are 2',
    )
  })

  test('that is not reached is an error', () => {
    expect(refusal('src.texts 1..* as t -> tgt.texts = t;', {}).reason).toBe(
      '1 or more values are expected, and there are 0',
    )
  })

  test('counts before the condition, since it is about the element', () => {
    expect(made("src.texts 2..2 as t where t = 'a' -> tgt.texts = t;", { texts: ['a', 'b'] })).toEqual({
      texts: ['a'],
    })
  })
})

describe('a default', () => {
  test('stands in for a value that is missing', () => {
    expect(made("src.text default ('none') as t -> tgt.text = t;", {})).toEqual({ text: 'none' })
    expect(made("src.text default ('none') as t -> tgt.text = t;", { text: null })).toEqual({ text: 'none' })
  })

  test('is not used where there is a value', () => {
    expect(made("src.text default ('none') as t -> tgt.text = t;", { text: 'some' })).toEqual({ text: 'some' })
  })

  test('may be written in the older way', () => {
    expect(made('src.text default "none" as t -> tgt.text = t;', {})).toEqual({ text: 'none' })
  })

  test('may be computed from what the rule knows', () => {
    expect(made("src.text default (src.other & '!') as t -> tgt.text = t;", { other: 'x' })).toEqual({ text: 'x!' })
  })

  test('is used once, however often the element repeats', () => {
    expect(made("src.texts default ('none') as t -> tgt.texts = t;", {})).toEqual({ texts: ['none'] })
  })

  test('has the type of the element, so that a type written before it lets it through', () => {
    expect(made("src.text : string default ('none') as t -> tgt.text = t;", {})).toEqual({ text: 'none' })
  })

  test('goes through the condition as other values do', () => {
    expect(made("src.text default ('none') as t where t = 'none' -> tgt.text = t;", {})).toEqual({ text: 'none' })
    expect(made("src.text default ('none') as t where t = 'some' -> tgt.text = t;", {})).toEqual({})
  })

  test('fulfils a cardinality', () => {
    expect(made("src.text 1..1 default ('none') as t -> tgt.text = t;", {})).toEqual({ text: 'none' })
  })

  test('that the element cannot have is an error', () => {
    expect(problemsOf("src.number default ('none') as n -> tgt.number = n;")).toEqual([
      "the default is not of the element's type integer: this is not a whole number of 32 bits",
    ])
    expect(problemsOf('src.day default (true) as d -> tgt.day = d;')).toEqual([
      'the default is a Boolean, and the element is of type date',
    ])
  })
})

describe('check', () => {
  test('that is fulfilled changes nothing', () => {
    expect(made("src.text as t check t != '' -> tgt.text = t;", { text: 'x' })).toEqual({ text: 'x' })
  })

  test('that is not fulfilled is an error which names it', () => {
    expect(refusal("src.text as t check t = 'y' -> tgt.text = t;", { text: 'x' }).reason).toBe(
      "the check `t = 'y'` is not met",
    )
  })

  test('that has no answer is an error', () => {
    expect(refusal("src as s check other = 'y' -> tgt.text = 'x';", {}).reason).toBe(
      "the check `other = 'y'` is not met",
    )
  })

  test('is asked of each item that the condition has left', () => {
    const rule = "src.texts as t where t != 'a' check t = 'b' -> tgt.texts = t;"
    expect(made(rule, { texts: ['a', 'b', 'b'] })).toEqual({ texts: ['b', 'b'] })
    expect(refusal(rule, { texts: ['a', 'b', 'c'] }).path).toBe('In.texts[2]')
  })

  test('of the bare record is asked too', () => {
    expect(refusal("src check flag -> tgt.text = 'x';", { flag: false }).reason).toBe('the check `flag` is not met')
  })
})

describe('log', () => {
  const logged = (rule: string, source: unknown, fail = false) => {
    const lines: string[] = []
    try {
      made(rule, source, {}, { log: (message, { rule: name }) => lines.push(`${name}: ${message}`) })
    } catch (error) {
      if (!fail) throw error
    }
    return lines
  }

  test('tells a message for each item', () => {
    expect(logged("src.texts as t log ('saw ' & t) -> tgt.texts = t;", { texts: ['a', 'b'] })).toEqual([
      'texts: saw a',
      'texts: saw b',
    ])
  })

  test('tells only of items that the condition has left', () => {
    expect(logged("src.texts as t where t = 'b' log (t) -> tgt.texts = t;", { texts: ['a', 'b'] })).toEqual([
      'texts: b',
    ])
  })

  test('that has no result tells nothing', () => {
    expect(logged('src as s log (s.other) -> tgt.text = "x";', {})).toEqual([])
  })

  test('tells its message once, even if the map fails afterwards', () => {
    expect(logged('src.texts as t log (t) -> tgt.text = t;', { texts: ['a', 'b'] }, true)).toEqual([
      'texts: a',
      'texts: b',
    ])
  })
})
