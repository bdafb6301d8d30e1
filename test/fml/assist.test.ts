// Completion and explanation while a map is written: the text is seldom complete at the cursor, which is the bar.
import { describe, expect, test } from 'vitest'
import { complete } from '../../src/fml/assist/complete.ts'
import { explain } from '../../src/fml/assist/explain.ts'
import { compileMap } from '../../src/fml/compile.ts'
import { parse } from '../../src/fml/parser.ts'
import { errorsIn } from '../../src/fml/problem.ts'
import type { Sight } from '../../src/fml/sight.ts'
import { deliveredFiles, deliveredSet } from '../support/maps.ts'
import { rounds } from '../support/rounds.ts'

const { library, structures } = deliveredSet()
const allergy = deliveredFiles.find(({ name }) => name === 'allergy-to-fhir.fml')!.text

function see(text: string): readonly Sight[] {
  const { map, problems } = parse(text, 'allergy-to-fhir.fml')
  const sights: Sight[] = []
  compileMap(map, library, { unread: errorsIn(problems), see: sight => void sights.push(sight) })
  return sights
}

/** Completes at the bar of a line that is put above another one. */
function at(line: string, above = '  src.patient_id as patient') {
  const start = allergy.indexOf(above)
  expect(start).toBeGreaterThan(0)
  const text = `${allergy.slice(0, start)}${line.replace('|', '')}\n${allergy.slice(start)}`
  const offset = start + line.indexOf('|')
  const found = complete(text, offset, { structures, maps: ['https://health-interop.org/fhir/StructureMap/a'], see })
  return found && { word: text.slice(found.from, found.to), labels: found.options.map(({ label }) => label), ...found }
}

describe('completion offers', () => {
  test.each([
    ['elements of a source', '  src.|', ['id', 'substance', 'severity', 'created_at']],
    ['elements although the rule has begun', '  src.sev|', ['severity']],
    ['elements within a complete rule', '  src.|id -> tgt.id;', ['patient_id']],
    ['variables at the beginning of a rule', '  s|', ['src', 'tgt', 'allergySeverity']],
    ['elements of a target', '  src.id -> tgt.|', ['patient', 'onset', 'onsetAge', 'reaction']],
    ['elements of what a rule makes', '  src.status as s -> tgt.reaction as r, r.|', ['manifestation', 'severity']],
    ['elements in a block', '  src.status as s -> tgt.reaction as r then { s -> r.|', ['manifestation', 'onset']],
    ['transforms and variables for a value', '  src.id as x -> tgt.id = |', ['translate', 'cc', 'x']],
    ['groups to call', '  src then |', ['AllergyStatus', 'AllergySeverity']],
    ['groups before a semicolon', '  src then All|;', ['AllergyStatus']],
    ['concept maps of a translation', "  src.status as s -> tgt.criticality = translate(s, '|", ['#criticality']],
    ['codes that a condition can ask for', "  src.status as s where ($this = '|')", ['active', 'entered_in_error']],
    ['codes of a target', "  src.status as s -> tgt.criticality = '|", ['low', 'high', 'unable-to-assess']],
    ['functions and elements in an expression', '  src where (substance.|)', ['exists()', 'startsWith()']],
    ['marked variables in an expression', '  src.id as x -> tgt.id = (%|)', ['%x', '%src']],
    ['types of what an element can hold', "  src -> tgt.extension as e, e.value = create('|", ['Quantity', 'code']],
    ['types of a source', '  src.status : | -> tgt.id;', ['AllergyRecord', 'Quantity']],
    ['clauses behind a source', '  src.status as s |', ['where', 'then']],
  ])('%s', (_, line, expected) => {
    expect(at(line)?.labels).toEqual(expect.arrayContaining(expected))
  })

  test.each([
    ['structures', 'uses "|', 'uses "', 'http://hl7.org/fhir/StructureDefinition/Patient'],
    ['maps to import', 'imports "|', 'uses "', 'https://health-interop.org/fhir/StructureMap/a'],
    ['declarations', 'g|', 'group AllergyStatus', 'group'],
    ['codes that rules look up in a concept map', '  s:|', '  s:moderate - t:low', 'life_threatening'],
    ['codes of the code system of a concept map', '  s:mild - t:|', '  s:moderate - t:low', 'unable-to-assess'],
    ['prefixes of a concept map', '  |', '  s:moderate - t:low', 's:'],
  ])('%s', (_, line, above, expected) => {
    expect(at(line, above)?.labels).toContain(expected)
  })

  test('each element with its type and what it is', () => {
    const { options } = at('  src.id -> tgt.|')!
    expect(options.find(({ label }) => label === 'criticality')).toEqual({
      ...{ label: 'criticality', kind: 'element', detail: 'code 0..1' },
      info: 'low | high | unable-to-assess',
    })
    expect(at('  src.|')!.options.find(({ label }) => label === 'patient_id')?.info).toBe(
      'The patient who has the allergy.',
    )
  })

  test('the whole word at the cursor to be replaced', () => {
    expect(at('  src.sub|stance -> tgt.id;')?.word).toBe('substance')
    expect(at("  src.status as s -> tgt.criticality = 'lo|w';")?.word).toBe('low')
  })

  test('nothing in comments', () => {
    expect(at('  // src.|')).toBeUndefined()
    expect(at("  src.id -> tgt.id; // the patient's src.|")).toBeUndefined()
  })
})

describe('explanation', () => {
  const of = (text: string, inside = 1) => explain(allergy, allergy.indexOf(text) + inside, see(allergy), structures)

  test.each([
    ['an element of a source', 'patient_id as patient', 'AllergyRecord.patient_id : string 1..1'],
    ['an element of a target', 'criticality = translate', 'AllergyIntolerance.criticality : code 0..1'],
    ['a variable', 'src.patient_id', 'src : AllergyRecord'],
    ['a transform', "translate(severity, '#criticality'", "translate(code, '#conceptmap', 'code')"],
    ['a variable in an expression', '%patient)', 'patient : string'],
  ])('says what %s is', (_, text, title) => {
    expect(of(text)?.title).toBe(title)
  })

  test('leads to the group that is called', () => {
    expect(of('AllergyStatus(src')).toMatchObject({
      title: 'group AllergyStatus(source src : AllergyRecord, target tgt : AllergyIntolerance)',
      group: { name: 'AllergyStatus', map: 'allergy-to-fhir.fml' },
    })
  })

  test('lists the codes that an element can have', () => {
    expect(of('criticality = translate')?.lines.at(-1)).toBe('One of: low, high, unable-to-assess')
  })
})

test('completion ends without an error at places all over every delivered map', () => {
  for (const { name, text } of deliveredFiles.filter(each => each.name.endsWith('.fml'))) {
    for (let offset = 0; offset < text.length; offset += rounds(13, 1) * 997) {
      const found = complete(text, offset, { structures, maps: [], see })
      if (!found) continue
      expect([name, found.from <= offset && offset <= found.to]).toEqual([name, true])
    }
  }
})
