// Whatever is done to a map or to its source, it compiles or is told why not, and runs to its end or to a MapError.

import { describe, expect, test } from 'vitest'
import type { FmlMap } from '../../src/fml/ast.ts'
import { compileMap } from '../../src/fml/compile.ts'
import { parse } from '../../src/fml/parser.ts'
import { MapError } from '../../src/fml/run/map-error.ts'
import { rounds } from '../support/rounds.ts'
import { dice, mutated, spoiled } from './mutate.ts'
import { compileText, libraryOf, mapText } from './run-maps.ts'
import { samples } from './support.ts'

const after = `group Item(source s, target t) { s.code as c -> t.code = c; s.tags as g -> t.tags = g first; }
group Own(source s, target t) extends Item { s.value as v check v > 0 -> t.value = v; }
group One(source s : In.item, target t : Out.item) extends Item <<type+>> { s.value as v -> t.value = v; }`
const before = `conceptmap "c" { prefix s = "http://s" prefix t = "http://t" unmapped for s = provided s:mild == t:x }
let limit = 3;`
const own = [
  mapText('src.items as i where code != "x" -> tgt.items as o share p then Own(i, o) "items"; src.item -> tgt.item;', {
    before,
    after,
  }),
  mapText(
    'src.texts first as t, src.numbers as n where n < limit -> tgt.texts = append(t, n) last; src: text;'.replace(
      'src: text',
      'src -> tgt: text, day, moment',
    ),
    { before },
  ),
  mapText(
    "src.severity as s -> tgt.text = translate(s, '#c', 'code'); src.amount default (1.50) as a -> tgt.amount = a log (a);".replace(
      ' log (a)',
      '',
    ),
    { before },
  ),
  mapText(
    "src.text as t -> tgt.value = (t & '!'), tgt.code = cc('http://s', t); src.amount as a -> tgt.component as c, c.value = qty(a, 'mg');",
    { to: 'Observation' },
  ),
  mapText(
    "src.name as n -> tgt.name as m, m.given = evaluate(n, given.first()) as g, g.extension as e, e.url = 'http://e', e.value = 'x';",
    { from: 'Patient', to: 'Patient' },
  ),
  mapText('src.entry as e then { e.resource : Patient as p -> tgt.texts = (p.name.given.join(" ")); } "e";', {
    from: 'Bundle',
  }),
]

const patient = {
  resourceType: 'Patient',
  id: 'p',
  name: [{ family: 'f', given: ['a', 'b'], _given: [null, { id: 'x' }] }],
}
const sources: readonly unknown[] = [
  {
    text: 'x',
    texts: ['a', 'b'],
    number: 1,
    numbers: [1, 2, 3],
    amount: 1.5,
    day: '2024-02-29',
    moment: '2024-02-29T10:00:00Z',
    severity: 'mild',
    item: { code: 'a', value: 2, tags: ['t'] },
    items: [
      { code: 'a', value: 2, tags: ['t'] },
      { code: 'b', value: 1 },
    ],
  },
  patient,
  { resourceType: 'Bundle', entry: [{ resource: patient }, { resource: { resourceType: 'Basic' } }] },
  {
    resourceType: 'QuestionnaireResponse',
    item: [
      {
        linkId: 'a',
        item: [{ linkId: 'patient.sex', answer: [{ valueString: 'm' }] }],
        answer: [{ valueCoding: { code: 'm' } }],
      },
    ],
  },
]

/** Runs a map on a source; anything but a result or a MapError is a failure of the test. */
function attempt(map: FmlMap, source: unknown, untrusted: boolean): boolean {
  const { program } = compileMap(map, libraryOf(), { lenient: true, untrusted })
  if (!program) return false
  try {
    const inputs = program.sources.map(() => source)
    JSON.stringify(program.run(inputs))
  } catch (error) {
    if (!(error instanceof MapError)) throw error
    expect(error.reason).not.toBe('')
  }
  return true
}

const untouched = () => {
  expect(Object.keys(Object.prototype)).toEqual([])
  expect(({} as Record<string, unknown>).polluted).toBeUndefined()
  expect(({} as Record<string, unknown>).code).toBeUndefined()
}

test('changed maps run, or are told what is wrong with them', () => {
  const texts = [...own, ...own, ...own, ...samples.map(each => each.text)]
  const roll = dice(20_261_121)
  let ran = 0
  const count = rounds(80, 400)
  for (let round = 0; round < count; round++) {
    const text = mutated(texts[round % texts.length]!, roll)
    if (attempt(parse(text, 'm').map, sources[roll(sources.length)], round % 2 === 0)) ran++
  }
  expect(ran).toBeGreaterThan(count * 0.15)
  untouched()
})

test('spoiled data is mapped, or refused', () => {
  const roll = dice(8)
  const maps = own.map(text => {
    const { program, problems } = compileText(text)
    expect(problems.filter(each => !each.severity)).toEqual([])
    return program!
  })
  let made = 0
  const count = rounds(600, 3000)
  for (let round = 0; round < count; round++) {
    const program = maps[round % maps.length]!
    const type = program.sources[0]!.type
    const source = sources.find(
      each => (each as { resourceType?: string }).resourceType === (type === 'In' ? undefined : type),
    )
    try {
      JSON.stringify(program.run([spoiled(source, roll)]))
      made++
    } catch (error) {
      if (!(error instanceof MapError)) throw error
    }
  }
  expect(made).toBeGreaterThan(count / 4)
  untouched()
})

describe('hostile maps end', () => {
  const repeated = (count: number, line: (index: number) => string) =>
    Array.from({ length: count }, (_, i) => line(i)).join('\n')
  const many = { texts: Array.from({ length: 200 }, String), numbers: Array.from({ length: 200 }, (_, i) => i) }
  const calls = (count: number, body: (next: string) => string) =>
    mapText('src -> tgt then G0(src, tgt);', {
      after: `${repeated(count, i => `group G${i}(source s, target t) { ${body(`G${i + 1}(s, t)`)} }`)} group G${count}(source s, target t) { s -> t.text = 'x'; }`,
    })

  const steps = 'more than 1000000 steps are needed'
  const deep = 'groups call each other more than 200 levels deep'
  test.each([
    [
      'three loops within each other',
      mapText('src.numbers as a, src.numbers as b, src.numbers as c -> tgt.flag = true;'),
      steps,
    ],
    [
      'loops whose condition is never met',
      mapText('src.numbers as a, src.numbers as b, src.numbers as c where c < a - 2000 -> tgt.flag = true;'),
      steps,
    ],
    [
      'loops within which there is nothing',
      mapText('src.numbers as a, src.numbers as b, src.numbers as c, src.text as d -> tgt.flag = true;'),
      steps,
    ],
    ['a chain of 3000 groups', calls(3000, next => `s -> t then ${next};`), deep],
    ['30 groups that each call the next twice', calls(30, next => `s -> t then ${next}, ${next};`), steps],
    [
      'a group that calls itself',
      mapText('src -> tgt then G(src, tgt);', { after: 'group G(source s, target t) { s -> t then G(s, t); }' }),
      deep,
    ],
    [
      'a list that is first again and again',
      mapText('src.texts as a, src.numbers as b, src.numbers as c -> tgt.texts = a first;'),
      steps,
    ],
    [
      'a text that doubles until no memory holds it',
      mapText(
        `src -> ('${'x'.repeat(1000)}') as t0, ${Array.from({ length: 25 }, (_, i) => `(t${i} & t${i}) as t${i + 1}`).join(', ')}, tgt.text = t25;`,
      ),
      'the expression evaluates too many values',
    ],
  ])('%s', (_, text, reason) => {
    const { program, problems } = compileText(text, { options: { untrusted: true } })
    expect(problems.filter(each => !each.severity)).toEqual([])
    expect(() => program!.run([many])).toThrow(reason)
  })

  test.each([
    ['20,000 mistakes', mapText(repeated(20_000, () => 'src.txt as t -> tgt.text = t;')), 'In has no element `txt`'],
    [
      '20,000 variables in a rule',
      mapText(`src${repeated(20_000, i => `, src.text as t${i}`)} -> tgt.text = t1;`),
      'more than 400 variables',
    ],
    [
      '20,000 constants, each defined by the next',
      mapText('src -> tgt.text = a0;', { before: repeated(20_000, i => `let a${i} = a${i + 1};`) }),
      'a map can have 200 constants',
    ],
    [
      'more rules than a request may have',
      mapText(repeated(20_001, () => 'src.text as t -> tgt.texts = t;')),
      'the map has too many rules',
    ],
    ['a group called with hundreds of types', typeStorm(), 'combinations of types'],
    [
      'a regular expression',
      mapText("src.text as t where t.matches('(a+)+$') -> tgt.text = t;"),
      'matches() is not allowed',
    ],
  ])('%s', (_, text, message) => {
    const { program, problems } = compileText(text, { options: { untrusted: true } })
    expect(program).toBeUndefined()
    expect(problems.map(each => each.message).join('\n')).toContain(message)
  })
})

/** One group, called for each pair of 26 types. */
function typeStorm(): string {
  const types =
    'Address Age Annotation Attachment CodeableConcept Coding ContactDetail ContactPoint Contributor Count DataRequirement Distance Dosage Duration Expression HumanName Identifier Meta Money Period Quantity Range Ratio Reference Signature Timing'.split(
      ' ',
    )
  const pairs = types.flatMap(one => types.slice(0, 10).map(other => [one, other] as const))
  const rule = (one: string, other: string) =>
    `p.value : ${one} as v, p.value : ${other} as w -> tgt then G(v, w, tgt);`
  const rules = pairs.map(([one, other]) => rule(one, other)).join('\n')
  const after = 'group G(source v, source w, target t) { v -> t.text = "x"; }'
  return mapText(`src.parameter as p then { ${rules} } "p";`, { from: 'Parameters', after })
}
