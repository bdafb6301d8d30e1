// Whatever is done to a map, it is read to its end, in bounded time, with places that exist.

import { describe, expect, test } from 'vitest'
import { format } from '../../src/fml/format.ts'
import { MAX_CHARACTERS, parse } from '../../src/fml/parser.ts'
import { render } from '../../src/fml/render.ts'
import { rounds } from '../support/rounds.ts'
import { dice, mutated } from './mutate.ts'
import { outside } from './places.ts'
import { meaning, samples } from './support.ts'

const own = `/// url = 'http://example.org/m'
/// name = 'M'

conceptmap "c" {
  prefix s = "http://example.org/s"

  s:a == s:"b-c"
}

uses "http://hl7.org/fhir/StructureDefinition/Patient" alias P as source
let x = 5 + 3;

group G(source src : P, target tgt : Q) extends H <<types>> {
  // a comment
  src.a 0..1 as a where (a.b > 1) -> tgt.b as b, b.c = append(a, 'x') then { a.d -> b.e; } "r"; /* another */
  src -> tgt: id, active;
}
`

test('changed maps are read without an exception, and problems are where they say', () => {
  const texts = [own, ...samples.map(each => each.text)]
  const roll = dice(20_240_229)
  for (let round = 0; round < rounds(80, 400); round++) {
    const text = mutated(texts[round % texts.length]!, roll)
    const { map, problems } = parse(text)
    expect(outside(problems, text), text).toEqual([])
    expect(outside(map, text), text).toEqual([])
    for (const problem of problems.slice(0, 3)) expect(render(problem, text).split('\n').length).toBeGreaterThan(2)
    if (problems.length > 0) continue
    expect(format(format(text)), text).toBe(format(text))
    expect(meaning(parse(format(text)).map), text).toEqual(meaning(map))
  }
})

test('names of JavaScript are names like others', () => {
  const text =
    'group __proto__(source constructor : toString, target hasOwnProperty : valueOf) {\n  constructor.__proto__ as prototype -> hasOwnProperty.__proto__ = prototype "toString";\n}\n'
  expect(parse(text).problems).toEqual([])
  expect(format(text)).toBe(text)
})

const open = 'group a(source a, target b) {'
describe('hostile texts are read in linear time', () => {
  test.each([
    ['100,000 opening braces', '{'.repeat(100_000)],
    ['100,000 blocks', `${open}${'a.b as c then {'.repeat(100_000)}`],
    ['30,000 groups that never end', open.repeat(30_000)],
    ['100,000 comments that never end', '/*\n'.repeat(100_000)],
    ['100,000 quotation marks', "'".repeat(99_999)],
    ['100,000 escaped quotation marks', "\\'\n".repeat(100_000)],
    ['100,000 parentheses', `${open} a where ${'('.repeat(100_000)}`],
    ['a condition of 100,000 parts', `${open} a where a${' and a'.repeat(100_000)};`],
    ['500,000 arrows', `${open}${'->'.repeat(500_000)}`],
    ['a name as long as a text may be', 'a'.repeat(MAX_CHARACTERS)],
    ['nothing but blanks', ' '.repeat(MAX_CHARACTERS)],
    ['a setting that never ends, after 49,999 others', '/// a = """\n'.repeat(99_999)],
    ['20,000 prefixes', `conceptmap "a" {${'prefix s = "b"\ns:a - s:b\n'.repeat(20_000)}`],
  ])('%s', (_, text) => {
    const { problems } = parse(text)
    expect(problems.length).toBeGreaterThan(0)
    expect(problems.length).toBeLessThanOrEqual(100)
  })
})

test('a text that is too long is refused', () => {
  expect(parse(' '.repeat(MAX_CHARACTERS + 1)).problems[0]?.message).toBe(
    'this text has 2000001 characters; a map may have 2000000',
  )
})
