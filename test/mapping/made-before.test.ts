// Records of stored resources that were made before: which are kept, and for how long.
import { Type } from 'typebox'
import { expect, test } from 'vitest'
import type { Program } from '../../src/fml/compile.ts'
import { createLog } from '../../src/lib/log.ts'
import { createMadeBefore } from '../../src/mapping/made-before.ts'
import { createTranslator } from '../../src/mapping/translator.ts'
import type { Context } from '../../src/shapes/context.ts'
import { compileText, mapText } from '../fml/run-maps.ts'
import { baseOf } from '../support/base.ts'

const Out = Type.Object({
  text: Type.Union([Type.String(), Type.Null()]),
  other: Type.Union([Type.String(), Type.Null()]),
})
const context: Context = { base_url: 'http://localhost', received_at: '2026-03-14T09:30:00Z' }

/** A translator with one map of these rules, which notes the texts that it runs for. */
function translating(rules: string, parameters?: string) {
  const ran: string[] = []
  const logged: string[] = []
  const compiled = (of: string): Program => {
    const whole = mapText(of)
    const { program } = compileText(parameters ? whole.replace(/\(source.*\) \{/, `(${parameters}) {`) : whole)
    return {
      ...program!,
      run(sources, options) {
        ran.push((sources[0] as { text: string }).text)
        return program!.run(sources, options)
      },
    }
  }
  let program = compiled(rules)
  const log = createLog('error', { write: line => void logged.push(line) })
  const translator = createTranslator({ program: () => program }, baseOf('http://localhost'), log)
  return {
    ran,
    logged,
    change: (to: string) => void (program = compiled(to)),
    record: (resource: object, own: Context = context) =>
      translator.fromStored('m', Out, JSON.stringify(resource), own),
  }
}

test('a record is made once of a text, and anew of another', () => {
  const { ran, record } = translating('src.text -> tgt.text;')
  const made = { isInError: false, record: { text: 'a', other: null } }
  expect([record({ text: 'a' }), record({ text: 'a' }), record({ text: 'b' }), record({ text: 'a' })]).toEqual([
    ...[made, made],
    ...[{ isInError: false, record: { text: 'b', other: null } }, made],
  ])
  expect(ran).toEqual(['a', 'b'])
})

test('what was entered in error is known as that the second time, too', () => {
  const { ran, record } = translating('src.text -> tgt.text;')
  const coded = { coding: [{ code: 'confirmed' }, { code: 'entered-in-error' }] }
  for (const _ of [1, 2]) {
    expect(record({ text: 'a', status: 'entered-in-error' }).isInError).toBe(true)
    expect(record({ text: 'b', verificationStatus: coded }).isInError).toBe(true)
    expect(record({ text: 'c', status: 'final' }).isInError).toBe(false)
  }
  expect(ran).toEqual(['a', 'b', 'c'])
})

test('a map that has changed makes its own', () => {
  const { ran, change, record } = translating('src.text -> tgt.text;')
  record({ text: 'a' })
  change("src.text as t -> tgt.text = (%t & '!');")
  expect(record({ text: 'a' }).record?.text).toBe('a!')
  expect(ran).toEqual(['a', 'a'])
})

test.each([
  ['the clock', 'tgt.other = (now().toString());'],
  ['the day', 'tgt.other = (today().toString());'],
  ['chance', 'tgt.other = uuid();'],
])('what follows from %s is made each time, and the rest of the same map once', (_, action) => {
  const { ran, record } = translating(`src.text -> tgt.text; src where (flag = true) -> ${action}`)
  for (const flag of [true, false, true, false]) record({ text: String(flag), flag })
  expect(ran).toEqual(['true', 'false', 'true'])
})

test('two records with a number by chance have two numbers', () => {
  const { record } = translating('src.text -> tgt.text; src -> tgt.other = uuid();')
  const numbers = [1, 2].map(() => record({ text: 'a' }).record?.other)
  expect(new Set(numbers).size).toBe(2)
})

test('what follows from the request is made each time', () => {
  const rules = 'src.text -> tgt.text; own.text -> tgt.other;'
  const { ran, record } = translating(rules, 'source src : In, source own : In, target tgt : Out')
  const of = (text: string) => record({ text: 'a' }, { ...context, ...{ text } })
  expect(['amina', 'samuel'].map(patient => of(patient).record?.other)).toEqual(['amina', 'samuel'])
  expect(ran).toEqual(['a', 'a'])
})

test('what the map cannot convert is tried again, and logged each time', () => {
  const { logged, record } = translating('src.text as t -> tgt.moment = (%t);')
  const resource = { resourceType: undefined, text: 'no moment' }
  for (const _ of [1, 2]) expect(record(resource).record).toBeUndefined()
  expect(logged).toHaveLength(2)
  expect(logged.join()).not.toContain('no moment')
})

/** What is kept, with a clock that the test sets. */
function keeping() {
  let time = 0
  const program = compileText(mapText('src.text -> tgt.text;')).program!
  const made = createMadeBefore<{ of: string }>(() => time)
  return {
    at: (minutes: number) => void (time = minutes * 60_000),
    keep: (text: string) => made.keep(Out, program, text, { of: text }),
    has: (text: string) => made.recall(Out, program, text)?.of === text,
  }
}

test('what is asked for stays, and what is not goes within ten minutes', () => {
  const { at, keep, has } = keeping()
  for (const text of ['a', 'b']) keep(text)
  for (const minutes of [4, 8, 12, 16]) {
    at(minutes)
    expect([minutes, has('a')]).toEqual([minutes, true])
  }
  expect(has('b')).toBe(false)
})

test('texts are kept up to two million characters, and none that is very long', () => {
  const { keep, has } = keeping()
  const texts = Array.from({ length: 1000 }, (_, index) => String(index).padEnd(10_000, '.'))
  for (const text of texts) {
    keep(text)
    expect(has(text)).toBe(true)
  }
  const kept = texts.filter(has)
  expect(kept.length).toBeGreaterThan(50)
  expect(kept.length).toBeLessThanOrEqual(200)
  expect(kept.at(-1)).toBe(texts.at(-1))
  keep('.'.repeat(20_001))
  expect(has('.'.repeat(20_001))).toBe(false)
})
