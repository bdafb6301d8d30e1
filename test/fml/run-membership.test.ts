// memberOf() and conformsTo() in maps. https://hl7.org/fhir/R4/fhirpath.html#functions

import { describe, expect, test } from 'vitest'
import { compileText, made, mapText, problemsOf, refusal } from './run-maps.ts'

const base = 'http://example.org'
const beds = `${base}/beds`
const terms = [
  {
    resourceType: 'CodeSystem',
    url: beds,
    content: 'complete',
    concept: [{ code: 'icu', concept: [{ code: 'neo' }] }, { code: 'ward' }],
  },
  { resourceType: 'CodeSystem', url: `${base}/part`, content: 'fragment', concept: [{ code: 'a' }] },
  {
    resourceType: 'ValueSet',
    url: `${base}/vs/listed`,
    compose: { include: [{ system: beds, concept: [{ code: 'icu' }] }] },
  },
  {
    resourceType: 'ValueSet',
    url: `${base}/vs/all`,
    compose: { include: [{ system: beds }], exclude: [{ system: beds, concept: [{ code: 'ward' }] }] },
  },
  {
    resourceType: 'ValueSet',
    url: `${base}/vs/import`,
    compose: { include: [{ valueSet: [`${base}/vs/all`, `${base}/vs/listed|1`] }] },
  },
  { resourceType: 'ValueSet', url: `${base}/vs/open`, compose: { include: [{ system: `${base}/part` }] } },
  { resourceType: 'ValueSet', url: `${base}/vs/circle`, compose: { include: [{ valueSet: [`${base}/vs/circle`] }] } },
  { resourceType: 'ValueSet', url: `${base}/vs/ready`, expansion: { contains: [{ system: beds, code: 'neo' }] } },
]
const flag = { from: 'Flag', terms }
const coded = (...codes: string[]) => ({
  resourceType: 'Flag',
  code: { coding: codes.map(code => ({ system: beds, code })) },
})
const asks = (url: string) => `src.code as c where (memberOf('${base}/vs/${url}')) -> tgt.text = 'yes';`

describe('memberOf() answers', () => {
  test.each([
    ['listed', 'icu', true],
    ['listed', 'neo', false],
    ['all', 'neo', true],
    ['all', 'ward', false],
    ['all', 'cot', false],
    ['import', 'icu', true],
    ['import', 'neo', false],
    ['ready', 'neo', true],
    ['ready', 'icu', false],
  ])('for the value set %s and the code %s: %s', (url, code, isIn) => {
    expect(made(asks(url), coded(code), flag)).toEqual(isIn ? { text: 'yes' } : {})
  })

  test('for a concept by any of its codings, for a Coding by its system too, for a code by itself', () => {
    expect(made(asks('listed'), coded('ward', 'icu'), flag)).toEqual({ text: 'yes' })
    const other = {
      resourceType: 'Flag',
      code: { coding: [{ system: 'http://other.example', code: 'icu' }, { code: 'icu' }] },
    }
    expect(made(asks('listed'), other, flag)).toEqual({})
    const code = `src.code as c, c.coding as d, d.code as e where (memberOf('${base}/vs/listed')) -> tgt.text = e;`
    expect(made(code, other, flag)).toEqual({ text: 'icu' })
  })

  test('for the required value sets of R4, by their URL or by %`vs-…`', () => {
    for (const url of ["'http://hl7.org/fhir/ValueSet/flag-status|4.0.1'", '%`vs-flag-status`']) {
      const rules = `src.status as s where (memberOf(${url})) -> tgt.text = s;`
      expect(made(rules, { resourceType: 'Flag', status: 'active' }, flag)).toEqual({ text: 'active' })
    }
  })

  test('in expressions of targets, and for a URL that is computed', () => {
    const rules = `src.code as c -> tgt.flag = (%c.memberOf('${base}/vs/' & 'listed'));`
    expect(made(rules, coded('icu'), flag)).toEqual({ flag: true })
    expect(made(rules, coded('ward'), flag)).toEqual({ flag: false })
  })
})

describe('memberOf() is never silently false', () => {
  const strict = { ...flag, options: { lenient: false } }

  test('a value set that is not known is an error of the map, with what was probably meant', () => {
    const { problems, program } = compileText(mapText(asks('listd'), strict), strict)
    expect(program).toBeUndefined()
    expect(problems.find(each => each.message.includes('vs/'))).toMatchObject({
      message: `the value set \`${base}/vs/listd\` is unknown, so memberOf() has no answer; did you mean \`${base}/vs/listed\`?`,
      span: { line: 9, column: 31 },
    })
    expect(
      problemsOf("src.status as s where (memberOf('http://hl7.org/fhir/ValueSet/flag-statis')) -> tgt.text = s;", flag),
    ).toEqual([
      'the value set `http://hl7.org/fhir/ValueSet/flag-statis` is unknown, so memberOf() has no answer; did you mean `http://hl7.org/fhir/ValueSet/flag-status`?',
    ])
  })

  test('in maps of others it is a warning, and an error once it is asked', () => {
    expect(refusal(asks('nothing'), coded('icu'), flag).reason).toBe(
      `the value set \`${base}/vs/nothing\` is unknown, so memberOf() has no answer`,
    )
    expect(made(asks('nothing'), { resourceType: 'Flag' }, flag)).toEqual({})
  })

  test.each(['open', 'circle'])('nor where the definition of a value set does not say what it holds: %s', url => {
    const source = { resourceType: 'Flag', code: { coding: [{ system: `${base}/part`, code: 'b' }] } }
    expect(refusal(asks(url), source, flag).reason).toBe(
      `the value set \`${base}/vs/${url}\` names codes that are unknown, so memberOf() has no answer`,
    )
  })

  test('but what a definition does say is an answer', () => {
    expect(made(asks('open'), coded('icu'), flag)).toEqual({})
  })
})

describe('conformsTo()', () => {
  test('answers for the types of R4 and for logical models', () => {
    const rules = `src where (conformsTo('http://hl7.org/fhir/StructureDefinition/DomainResource')) -> tgt.text = 'R4';`
    expect(made(rules, coded('icu'), flag)).toEqual({ text: 'R4' })
    expect(made(`src where (conformsTo('${base}/In')) -> tgt.text = 'In';`, {})).toEqual({ text: 'In' })
    expect(made(`src where (conformsTo('${base}/Out')) -> tgt.text = 'Out';`, {})).toEqual({})
  })

  test('refuses profiles, when the map is checked and when it runs', () => {
    const rules = `src where (conformsTo('${base}/ward-flag')) -> tgt.text = 'x';`
    expect(problemsOf(rules, flag)).toEqual([
      `the structure \`${base}/ward-flag\` is unknown; conformsTo() answers for the types of R4 and for logical models, not for profiles`,
    ])
    const strict = { ...flag, options: { lenient: false } }
    expect(compileText(mapText(rules, strict), strict).program).toBeUndefined()
    expect(refusal(rules, coded('icu'), flag).reason).toBe(
      `the structure \`${base}/ward-flag\` is unknown, so conformsTo() has no answer`,
    )
  })
})
