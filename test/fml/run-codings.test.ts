// Slips in code systems and codes that a map writes out, and what is said of the rest of a map that cannot be read.

import { describe, expect, test } from 'vitest'
import { compileMap } from '../../src/fml/compile.ts'
import { parse } from '../../src/fml/parser.ts'
import { compileText, libraryOf, mapText, problemsOf } from './run-maps.ts'

const observation = { to: 'Observation' }
const absent = 'http://terminology.hl7.org/CodeSystem/data-absent-reason'
const strict = { options: { lenient: false } }

/** Line, column and words of what is said, but for elements that nothing sets. */
function told(rules: string, around: object): string[] {
  return compileText(mapText(rules, around), { ...around, ...strict })
    .problems.filter(each => !each.message.endsWith('which no rule sets'))
    .map(({ span, message, severity }) => `${span.line}:${span.column} ${severity ?? 'error'}: ${message}`)
}

describe('a slip is found', () => {
  test('in the system and in the code of cc and c', () => {
    const wrong = absent.replace('reason', 'reson')
    expect(told(`src -> tgt.dataAbsentReason = cc('${wrong}', 'unknwon');`, observation)).toEqual([
      `9:34 error: there is no code system \`${wrong}\`; did you mean \`${absent}\`?`,
    ])
    expect(told(`src -> tgt.dataAbsentReason = cc('${absent}', 'unknwon');`, observation)).toEqual([
      `9:94 error: \`unknwon\` is not a code of ${absent}; did you mean \`unknown\`?`,
    ])
    expect(told(`src -> tgt.category as c, c.coding = c('http://snomed.info/scct', '1');`, observation)).toEqual([
      '9:40 error: there is no code system `http://snomed.info/scct`; did you mean `http://snomed.info/sct`?',
    ])
  })

  test('in a condition', () => {
    const where = (condition: string) =>
      `src.category as c where (coding.where(${condition}).exists()) -> tgt.text = 'x';`
    const around = { from: 'Observation' }
    const category = 'http://terminology.hl7.org/CodeSystem/observation-category'
    expect(told(where(`system = '${category.replace('category', 'catgory')}'`), around)[0]).toContain(
      'there is no code system',
    )
    expect(told(where(`system = '${category}' and code = 'labratory'`), around)).toEqual([
      `9:${'src.category as c where (coding.where('.length + category.length + 24} error: \`labratory\` is not a code of ${category}; did you mean \`laboratory\`?`,
    ])
    expect(told(where(`code = 'laboratory' and system = '${category}'`), around)).toEqual([])
  })

  test('in the elements of a Coding', () => {
    const rules = `src -> tgt.category as c, c.coding as d, d.system = '${absent}', d.code = 'maskd';`
    expect(told(rules, observation)[0]).toMatch(/error: `maskd` is not a code of .*; did you mean `masked`\?$/)
  })

  test('in a table: a system, a code of it, a code that the element does not have, and one that is never looked up', () => {
    const table = (lines: string, target = 'http://hl7.org/fhir/allergy-intolerance-criticality') => ({
      to: 'AllergyIntolerance',
      before: `conceptmap "c" {\n  prefix s = "http://example.org/severity"\n  prefix t = "${target}"\n\n${lines}\n}\n`,
    })
    const rules = "src.severity as s -> tgt.criticality = translate(s, '#c', 'code');"
    const good = '  s:mild - t:low\n  s:moderate - t:low\n'
    expect(told(rules, table(`${good}  s:severe - t:hihg`))).toEqual([
      '10:16 error: `hihg` is not a code of http://hl7.org/fhir/allergy-intolerance-criticality; did you mean `high`?',
    ])
    expect(told(rules, table(`${good}  s:severe - t:hihg`, 'http://example.org/own'))).toEqual([
      '10:16 error: `hihg` is not a code of `AllergyIntolerance.criticality`; did you mean `high`?',
    ])
    expect(told(rules, table(`${good}  s:severe - t:high\n  s:sever - t:high`))).toEqual([
      '11:5 warning: `sever` is never translated; did you mean `severe`?',
    ])
    expect(
      told(rules, table(`${good}  s:severe - t:high`, 'http://hl7.org/fhir/allergy-intolerance-criticalty'))[0],
    ).toContain('there is no code system')
  })
})

describe('no slip is', () => {
  test.each([
    "src -> tgt.category = cc('http://example.org/own', 'anything');",
    "src -> tgt.category = cc('http://loinc.org', '1234-5');",
    "src -> tgt.category = cc('http://terminology.hl7.org/CodeSystem/v2-9999', 'x');",
  ])('a system that nobody here knows, or whose codes are not here: %s', rules => {
    expect(problemsOf(rules, observation)).toEqual([])
  })

  test('a line of a table for a code that a condition leaves to another rule', () => {
    const before =
      'conceptmap "c" {\n  prefix s = "http://example.org/s"\n  prefix t = "http://example.org/t"\n\n  s:mild - t:a\n  s:severe - t:b\n}\n'
    const rules = "src.severity as s where (s = 'mild') -> tgt.text = translate(s, '#c', 'code');"
    expect(told(rules, { before })).toEqual([])
  })
})

describe('a map that cannot be read as a whole', () => {
  const problems = (rules: string, around = {}) => {
    const { map, problems: unread } = parse(mapText(rules, around), 'm.fml')
    expect(unread).not.toEqual([])
    const { problems: rest, program } = compileMap(map, libraryOf(), { unread })
    expect(program).toBeUndefined()
    return rest.map(({ span, message }) => `${span.line}: ${message}`)
  }

  test('is checked all the same, in all lines that could be read', () => {
    expect(problems('src.text -> tgt.text\nsrc.txt -> tgt.other;\nsrc.number = -> ;\nsrc.day -> tgt.dayy;')).toEqual([
      '10: In has no element `txt`; did you mean `text`?',
      '12: Out has no element `dayy`; did you mean `day`?',
    ])
  })

  test('is not said to lack what may stand in the lines that could not be read', () => {
    const around = {
      to: 'Observation',
      before: 'conceptmap "c" {\n  prefix s = \n}\nlet a = ;\n',
      after: 'group B(sorce s, target t) {}',
    }
    const rules =
      "src.text as t -> tgt.id = (%a);\nsrc.severity as s -> tgt.id = translate(s, '#c', 'code');\nsrc -> tgt then B(src, tgt);"
    expect(problems(rules, around)).toEqual([])
  })
})
