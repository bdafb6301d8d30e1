// What can be written in a map, in R4's spelling and in the current one, and what the tree says of it.

import { describe, expect, test } from 'vitest'
import type { Rule } from '../../src/fml/ast.ts'
import { format } from '../../src/fml/format.ts'
import { parse } from '../../src/fml/parser.ts'
import { meaning } from './support.ts'

const inGroup = (rules: string) => `group G(source src, target tgt) {\n  ${rules}\n}\n`

function formatted(rules: string): string {
  const text = inGroup(rules)
  expect(parse(text).problems).toEqual([])
  const result = format(text)
  expect(format(result)).toBe(result)
  expect(meaning(parse(result).map)).toEqual(meaning(parse(text).map))
  return result
    .split('\n')
    .slice(1, -2)
    .map(each => each.slice(2))
    .join('\n')
}

function ruleOf(rule: string): Rule {
  const { map, problems } = parse(inGroup(rule))
  expect(problems).toEqual([])
  return map.groups[0]!.block.rules[0] as Rule
}

describe('everything that can be written has one layout', () => {
  test.each([
    ['src.a->tgt.b;', 'src.a -> tgt.b;'],
    ['src.a as a where a>1 -> tgt.b=a "r";', 'src.a as a where (a > 1) -> tgt.b = a "r";'],
    ['src.a as a where (a > 1) and (a < 3) -> tgt.b = a;', 'src.a as a where ((a > 1) and (a < 3)) -> tgt.b = a;'],
    ['src.a default "x" as a -> tgt.b = a;', 'src.a default "x" as a -> tgt.b = a;'],
    ['src.a default ( 1+ 2 ) as a -> tgt.b = a;', 'src.a default (1 + 2) as a -> tgt.b = a;'],
    [
      'src.a : string 0..* only_one as a check a.exists() log "seen" -> tgt.b = a;',
      "src.a : string 0..* only_one as a check (a.exists()) log ('seen') -> tgt.b = a;",
    ],
    ['src.first first as first -> tgt.b = first first;', 'src.first first as first -> tgt.b = first first;'],
    [
      'src.group as source -> tgt.map = source, tgt.type as target;',
      'src.group as source -> tgt.map = source, tgt.type as target;',
    ],
    ['src.`a-b` as a -> tgt."c d" = a;', 'src.`a-b` as a -> tgt.`c d` = a;'],
    [
      "src -> tgt.a = -1.50, tgt.b = true, tgt.c = @2024-02, tgt.d = @T14:30, tgt.e = 4 'mg', tgt.f = 3 days;",
      "src -> tgt.a = -1.50, tgt.b = true, tgt.c = @2024-02, tgt.d = @T14:30, tgt.e = 4 'mg', tgt.f = 3 day;",
    ],
    ['src -> tgt.a = "it\'s\\n";', "src -> tgt.a = 'it\\'s\\n';"],
    ['src -> tgt.a = 3 "r";', 'src -> tgt.a = 3 "r";'],
    ['src -> tgt.a = 3 r;', 'src -> tgt.a = 3 "r";'],
    [
      "src -> tgt.a = evaluate(src, a.b & ', '), uuid() as u, (1+1) as v;",
      "src -> tgt.a = evaluate(src, a.b & ', '), uuid() as u, (1 + 1) as v;",
    ],
    [
      'src.a as a -> tgt.b as b share x collate then A(a), B(b, 1) { a.c -> b.c; };',
      'src.a as a -> tgt.b as b share x collate then A(a), B(b, 1) {\n  a.c -> b.c;\n};',
    ],
    ['src.a as a then { };', 'src.a as a then {\n};'],
    ['src->tgt:id,active "both";', 'src -> tgt: id, active "both";'],
    ['src.a as a, src.b as b -> tgt.c;', 'src.a as a, src.b as b -> tgt.c;'],
    [
      'src.a as a where a.x in (1|2) and -a.y = -1 and a.z[ 0 ].contains( "q" ) -> tgt.c;',
      "src.a as a where (a.x in (1 | 2) and -a.y = -1 and a.z[0].contains('q')) -> tgt.c;",
    ],
  ])('%s', (text, expected) => {
    expect(formatted(text)).toBe(expected)
  })
})

test('comments stay where they are, inside of rules too', () => {
  const rules = `// before
  src.a as a -> // why
    tgt.b = a, // the b
    // about c
    tgt.c = a // the c
    "r"; // after

  src.d as d -> tgt.d as e then { // opening
    d.x -> e.x; /* x */
    // closing
  }; // end
  // last`
  expect(formatted(rules)).toBe(`// before
src.a as a ->
  // why
  tgt.b = a, // the b
  // about c
  tgt.c = a // the c
  "r"; // after

src.d as d -> tgt.d as e then { // opening
  d.x -> e.x; /* x */
  // closing
}; // end
// last`)
})

test('a rule that is too long has a line for each target', () => {
  const name = 'a'.repeat(30)
  expect(formatted(`src.${name} as v -> tgt.${name} = v, tgt.b = v then X(v) "r";`)).toBe(
    `src.${name} as v -> tgt.${name} = v, tgt.b = v then X(v) "r";`,
  )
  expect(formatted(`src.${name} as v -> tgt.${name} = v, tgt.${name} = v then X(v) "r";`)).toBe(
    `src.${name} as v ->\n  tgt.${name} = v,\n  tgt.${name} = v\n  then X(v) "r";`,
  )
})

test('expressions have their places in the text of the map', () => {
  const { sources } = ruleOf('src.a as a\n    where (a.b = 1) -> tgt.c;')
  const where = sources[0]!.where!
  expect(where.text).toBe('a.b = 1')
  expect(where.expression).toMatchObject({ kind: 'binary', operator: '=', at: { line: 3, column: 16 } })
})

test('a simple copy is a rule without variables and transform', () => {
  const { sources, targets } = ruleOf('src.a -> tgt.b;')
  expect([sources[0]!.variable, targets[0]!.variable, targets[0]!.transform]).toEqual([undefined, undefined, undefined])
})

test('the top of a map in both spellings', () => {
  const text = `map "http://example.org/m" = "M"

/// title = 'T'
/// description = """
Several
lines
"""

uses "http://example.org/a" alias A as queried // why
uses "http://example.org/b" as produced

imports "http://example.org/*"

let x = 1 + 2;

group G(
  source src : A, // the source
  target tgt : fhir.B
) extends H <<type+>> {
}
`
  expect(parse(text).problems).toEqual([])
  expect(format(text)).toBe(text)
})

test('text with problems is not formatted', () => {
  expect(format('group G(')).toBe('group G(')
})
