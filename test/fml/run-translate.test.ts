// Codes looked up in concept maps: every operator, every output, every kind of source, and what has no translation.
// https://hl7.org/fhir/R4/valueset-concept-map-equivalence.html

import { describe, expect, test } from 'vitest'
import { compileText, made, mapText, problemsOf, refusal } from './run-maps.ts'

const table = (lines: string, id = 'c') => `conceptmap "${id}" {
  prefix s = "http://s"
  prefix t = "http://t"
${lines}
}
`
const before = table('  s:a == t:A\n  s:b == t:B')
const rule = "src.text as v -> tgt.text = translate(v, '#c', 'code');"
const coded = { from: 'Patient', to: 'Patient' }

describe('a code', () => {
  test('becomes the code it is mapped to', () => {
    expect(made(rule, { text: 'b' }, { before })).toEqual({ text: 'B' })
  })

  test('becomes that even where no output is named', () => {
    expect(made("src.text as v -> tgt.text = translate(v, '#c');", { text: 'a' }, { before })).toEqual({ text: 'A' })
  })

  test('without a translation is an error which names code and concept map', () => {
    expect(refusal(rule, { text: 'x' }, { before }).reason).toBe('`x` has no translation in #c')
  })

  test('that is long enough to be anything is not named in the error', () => {
    expect(refusal(rule, { text: 'x'.repeat(41) }, { before }).reason).toBe('this text has no translation in #c')
  })

  test.each(['constructor', '__proto__', 'toString'])('%s is a code like others', code => {
    expect(refusal(rule, { text: code }, { before }).reason).toBe(`\`${code}\` has no translation in #c`)
    expect(made(rule, { text: code }, { before: table(`  s:${code} == t:A`) })).toEqual({ text: 'A' })
  })

  test('is found in any of the systems of the concept map', () => {
    const two = `conceptmap "c" {
  prefix s = "http://s"
  prefix u = "http://u"
  prefix t = "http://t"
  s:a == t:A
  u:b == t:B
}
`
    expect(made(rule, { text: 'b' }, { before: two })).toEqual({ text: 'B' })
  })
})

describe('a relation', () => {
  test.each(['==', '=', '-', '~', '<=', '>=', '<-', '>-'])('%s translates', operator => {
    expect(made(rule, { text: 'a' }, { before: table(`  s:a ${operator} t:A`) })).toEqual({ text: 'A' })
  })

  test('!= says that the codes are not the same, so nothing is set', () => {
    expect(made(rule, { text: 'a' }, { before: table('  s:a != t:A') })).toEqual({})
  })

  test('-- says that there is no such code, so nothing is set', () => {
    expect(made(rule, { text: 'a' }, { before: table('  s:a --') })).toEqual({})
  })

  test.each([
    ['  s:a - t:A\n  s:a == t:B', 'B'],
    ['  s:a <= t:A\n  s:a - t:B', 'B'],
    ['  s:a ~ t:A\n  s:a != t:B', 'A'],
    ['  s:a == t:A\n  s:a == t:B', 'A'],
  ])('of several, the closest is taken: %j', (lines, expected) => {
    expect(made(rule, { text: 'a' }, { before: table(lines) })).toEqual({ text: expected })
  })
})

describe('an output', () => {
  const into = (target: string, output: string) =>
    made(`src.text as v -> ${target} = translate(v, '#c', '${output}');`, { text: 'a' }, { before, to: 'Patient' })

  test('Coding has the system of the target', () => {
    expect(into('tgt.meta as m, m.tag', 'Coding')).toEqual({
      resourceType: 'Patient',
      meta: { tag: [{ system: 'http://t', code: 'A' }] },
    })
  })

  test('CodeableConcept has one coding', () => {
    expect(into('tgt.maritalStatus', 'CodeableConcept')).toEqual({
      resourceType: 'Patient',
      maritalStatus: { coding: [{ system: 'http://t', code: 'A' }] },
    })
  })

  test('Coding becomes a CodeableConcept where one is wanted', () => {
    expect(into('tgt.maritalStatus', 'Coding')).toEqual(into('tgt.maritalStatus', 'CodeableConcept'))
  })

  test('system is the system of the target', () => {
    expect(made("src.text as v -> tgt.text = translate(v, '#c', 'system');", { text: 'a' }, { before })).toEqual({
      text: 'http://t',
    })
  })

  test('display is that of the ConceptMap', () => {
    const tables = [
      {
        url: 'http://cm',
        group: [
          {
            source: 'http://s',
            target: 'http://t',
            element: [{ code: 'a', target: [{ code: 'A', display: 'Alpha', equivalence: 'equal' }] }],
          },
        ],
      },
    ]
    expect(
      made("src.text as v -> tgt.text = translate(v, 'http://cm', 'display');", { text: 'a' }, { tables }),
    ).toEqual({
      text: 'Alpha',
    })
  })

  test('that does not exist is an error', () => {
    expect(problemsOf("src.text as v -> tgt.text = translate(v, '#c', 'codes');", { before })).toEqual([
      '`codes` is not an output of translate; did you mean `code`?',
    ])
  })
})

describe('a source', () => {
  const concept = (coding: unknown) => ({ resourceType: 'Patient', maritalStatus: { coding } })
  const translated = (source: unknown, lines = '  s:a == t:A\n  s:b == t:B') =>
    made("src.maritalStatus as v -> tgt.maritalStatus = translate(v, '#c', 'CodeableConcept');", source, {
      ...coded,
      before: table(lines),
    })

  test('can be a Coding', () => {
    expect(
      made(
        "src.meta as m, m.tag as v -> tgt.meta as n, n.tag = translate(v, '#c', 'Coding');",
        { resourceType: 'Patient', meta: { tag: [{ system: 'http://s', code: 'a' }] } },
        { ...coded, before },
      ),
    ).toEqual({ resourceType: 'Patient', meta: { tag: [{ system: 'http://t', code: 'A' }] } })
  })

  test('can be a CodeableConcept, of which the first coding that is known counts', () => {
    expect(
      translated(
        concept([
          { system: 'http://x', code: 'a' },
          { system: 'http://s', code: 'b' },
        ]),
      ),
    ).toEqual({
      resourceType: 'Patient',
      maritalStatus: { coding: [{ system: 'http://t', code: 'B' }] },
    })
  })

  test('of another system has no translation', () => {
    expect(() => translated(concept([{ system: 'http://x', code: 'a' }]))).toThrow('`a` has no translation in #c')
  })

  test('without a system is looked up by its code', () => {
    expect(translated(concept([{ code: 'a' }]))).toMatchObject({ maritalStatus: { coding: [{ code: 'A' }] } })
  })

  test('without any code is an error', () => {
    expect(() => translated({ resourceType: 'Patient', maritalStatus: { text: 'x' } })).toThrow(
      'a value without a code has no translation in #c',
    )
  })

  test('that is missing gives nothing', () => {
    expect(translated({ resourceType: 'Patient' })).toEqual({ resourceType: 'Patient' })
  })

  test('can be a constant', () => {
    expect(made("src -> tgt.text = translate('a', '#c', 'code');", {}, { before })).toEqual({ text: 'A' })
  })

  test('that repeats gives an item for each', () => {
    expect(made("src -> tgt.texts = translate(src.texts, '#c', 'code');", { texts: ['a', 'b'] }, { before })).toEqual({
      texts: ['A', 'B'],
    })
  })

  test('whose codes are known is compared with the concept map before anything runs', () => {
    expect(
      problemsOf("src.severity as v -> tgt.text = translate(v, '#c', 'code');", { before: table('  s:mild == t:A') }),
    ).toEqual([
      '`moderate`, `severe` have no translation in this concept map; add them, or keep such codes with `unmapped for s = provided`',
    ])
  })

  test('of which a condition has left those that are mapped is enough', () => {
    const narrowed = "src.severity as v where v = 'mild' -> tgt.text = translate(v, '#c', 'code');"
    expect(problemsOf(narrowed, { before: table('  s:mild == t:A') })).toEqual([])
  })
})

describe('unmapped', () => {
  test('provided keeps a code as it is', () => {
    const kept = table('  unmapped for s = provided\n  s:a == t:A')
    expect(made(rule, { text: 'x' }, { before: kept })).toEqual({ text: 'x' })
    expect(made(rule, { text: 'a' }, { before: kept })).toEqual({ text: 'A' })
  })

  test('without a prefix is about all systems', () => {
    expect(made(rule, { text: 'x' }, { before: table('  unmapped = provided\n  s:a == t:A') })).toEqual({ text: 'x' })
  })

  test('is about the system it names and no other', () => {
    const kept = table('  unmapped for s = provided\n  s:a == t:A')
    const source = (system: string) => ({ resourceType: 'Patient', maritalStatus: { coding: [{ system, code: 'x' }] } })
    const around = { ...coded, before: kept }
    const whole = "src.maritalStatus as v -> tgt.maritalStatus = translate(v, '#c', 'CodeableConcept');"
    expect(made(whole, source('http://s'), around)).toMatchObject({
      maritalStatus: { coding: [{ system: 'http://t', code: 'x' }] },
    })
    expect(refusal(whole, source('http://u'), around).reason).toBe('`x` has no translation in #c')
  })

  test('of another mode is an error', () => {
    expect(problemsOf(rule, { before: table('  unmapped for s = fixed\n  s:a == t:A') })).toEqual([
      '`fixed` is not supported for codes without a mapping; `provided` keeps them as they are',
    ])
  })
})

describe('a concept map that is not known', () => {
  const rules =
    "src.text as t -> tgt.text = t; src.severity as s -> tgt.other = translate(s, 'http://a.example/none', 'code');"

  test('is an error of the map', () => {
    const strict = compileText(mapText(rules), { options: { lenient: false } })
    expect(strict.problems.map(each => [each.severity, each.message])).toEqual([
      [undefined, 'there is no concept map `http://a.example/none` here'],
    ])
  })

  test('is a warning in maps of others, and an error once a code is looked up in it', () => {
    expect(made(rules, { text: 'x' })).toEqual({ text: 'x' })
    expect(problemsOf(rules)).toEqual(['there is no concept map `http://a.example/none` here'])
    expect(refusal(rules, { severity: 'mild' }).reason).toBe('there is no concept map `http://a.example/none` here')
  })
})

describe('a concept map', () => {
  const group = {
    source: 'http://s',
    target: 'http://t',
    element: [{ code: 'a', target: [{ code: 'A', equivalence: 'equivalent' }] }],
  }
  const byUrl = "src.text as v -> tgt.text = translate(v, 'http://cm', 'code');"

  test('can be a resource, named by its URL', () => {
    expect(made(byUrl, { text: 'a' }, { tables: [{ url: 'http://cm', group: [group] }] })).toEqual({ text: 'A' })
  })

  test('looks into all its groups', () => {
    const other = {
      ...group,
      source: 'http://u',
      element: [{ code: 'b', target: [{ code: 'B', equivalence: 'wider' }] }],
    }
    expect(made(byUrl, { text: 'b' }, { tables: [{ url: 'http://cm', group: [group, other] }] })).toEqual({ text: 'B' })
  })

  test('can name a code for all that it does not have', () => {
    const unmapped = { mode: 'fixed', code: 'U', display: 'Unknown' }
    expect(made(byUrl, { text: 'x' }, { tables: [{ url: 'http://cm', group: [{ ...group, unmapped }] }] })).toEqual({
      text: 'U',
    })
  })

  test('of an imported map is found', () => {
    const maps = [`/// url = 'http://lib'\n/// name = 'L'\n\n${before}\ngroup L(source a : In, target b : Out) {\n}\n`]
    const around = { maps, before: 'imports "http://lib"' }
    expect(made(rule, { text: 'a' }, around)).toEqual({ text: 'A' })
    expect(made("src.text as v -> tgt.text = translate(v, 'http://lib#c', 'code');", { text: 'a' }, around)).toEqual({
      text: 'A',
    })
  })

  test('that does not exist is an error', () => {
    expect(problemsOf("src.text as v -> tgt.text = translate(v, '#d', 'code');", { before })).toEqual([
      'there is no concept map `#d` here; did you mean `#c`?',
    ])
  })

  test('that gives codes which the element does not have is told so', () => {
    expect(problemsOf("src.text as v -> tgt.gender = translate(v, '#c', 'code');", { before, to: 'Patient' })).toEqual([
      '`A` is not a code of `Patient.gender` (male, female, other, unknown)',
      '`B` is not a code of `Patient.gender` (male, female, other, unknown)',
    ])
  })
})
