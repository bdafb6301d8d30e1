// What an author is told about typical mistakes, to the letter.

import { expect, test } from 'vitest'
import { parse } from '../../src/fml/parser.ts'

/** A rule in a group, followed by a sound one. */
const rule = (text: string) => `group G(source src : A, target tgt : B) {\n  ${text}\n  src.ok -> tgt.ok;\n}\n`
const whole = (text: string) => text

/** The text, and for each problem: line:column+length message ⇒ what to write instead. */
const mistakes: readonly (readonly [string, readonly string[]])[] = [
  [
    rule('src.name -> tgt.name'),
    ['2:23+0 a rule ends with a semicolon; one is missing after `src.name -> tgt.name` ⇒ ;'],
  ],
  [rule("src.a -> tgt.b = 'x;"), ["2:20+2 the text that begins here has no closing quotation mark ⇒ '"]],
  [rule('src.a -> tgt.b = a "r1;'), ['2:22+3 the text that begins here has no closing quotation mark ⇒ "']],
  [whole('grup G(source src, target tgt) {\n}\n'), ['1:1+4 `grup` is unknown; did you mean `group`? ⇒ group']],
  [rule('src.a as a => tgt.b = a;'), ['2:14+2 `=>` is not an arrow; between source and target, write `->` ⇒ ->']],
  [rule('src.a as a tgt.b = a;'), ['2:14+3 an arrow is missing before `tgt`: `->` ⇒ ->']],
  [rule('src.a ass a -> tgt.b = a;'), ['2:9+3 `ass` is unknown; did you mean `as`? ⇒ as']],
  [rule('src.a as a wher (a > 1) -> tgt.b = a;'), ['2:14+4 `wher` is unknown; did you mean `where`? ⇒ where']],
  [rule('src.a as a -> tgt.b as b thn { a.x -> b.x; };'), ['2:28+3 `thn` is unknown; did you mean `then`? ⇒ then']],
  [rule('src.a as a -> tgt.b as b { a.x -> b.x; };'), ['2:28+1 `then` is missing before this brace ⇒ then']],
  [
    rule("src.a as a -> tgt.b = creat('X');"),
    ['2:25+5 there is no transform `creat`; did you mean `create`? ⇒ create'],
  ],
  [rule("src.a as a -> tgt.b = a & 'x';"), ["2:25+7 put the FHIRPath expression in parentheses ⇒ (a & 'x')"]],
  [rule('src.a as a -> tgt.b = a.first();'), ['2:25+9 put the FHIRPath expression in parentheses ⇒ (a.first())']],
  [
    rule('src.a as a -> tgt.b = iif(a, 1, 2);'),
    ['2:25+12 put the FHIRPath expression in parentheses ⇒ (iif(a, 1, 2))'],
  ],
  [
    rule('src.value[x] as v -> tgt.b = v;'),
    ['2:12+3 write an element with a choice of types without `[x]` ⇒ leave out'],
  ],
  [
    rule('src.given-name as v -> tgt.b = v;'),
    ['2:7+10 put a name with a hyphen in backticks: `given-name` ⇒ `given-name`'],
  ],
  [
    rule('src.a[0] as v -> tgt.b = v;'),
    ['2:8+3 a path cannot contain an index; write `first` or `last` after it, or a condition: `where ($index = 1)`'],
  ],
  [
    rule('src.a.where(b = 1) as v -> tgt.b = v;'),
    [
      '2:14+1 `where(` begins a FHIRPath function, which cannot be part of a path; write a condition after it, `where (…)`',
    ],
  ],
  [
    rule('src.a where (b = 1) as v -> tgt.b = v;'),
    ['2:23+4 put the variable `as v` before the condition: `as v where (…)`'],
  ],
  [
    rule('src.a as v where (b = -> tgt.b = v;'),
    ['2:25+2 the FHIRPath expression is not valid: an expression is missing; found `->`'],
  ],
  [
    rule('src.a as v where (b = 1 -> tgt.b = v;'),
    ['2:27+2 the FHIRPath expression is not valid: `)` is missing; found `->`'],
  ],
  [rule('src.a as v -> tgt.b = ;'), ['2:25+1 a value is missing after `=`; found `;`']],
  [rule('src.a as v -> tgt.b = truncate(v, 3;'), ['2:33+1 the parenthesis that opens here is never closed ⇒ )']],
  [rule('src.a as v -> tgt.b = “x”;'), ['2:25+3 these quotation marks are typographic; use straight ones ⇒ "x"']],
  [rule('src.a as v → tgt.b = v;'), ['2:14+1 write `->` instead of `→` ⇒ ->']],
  [
    rule("src.a as v where v.matches('\\d+') -> tgt.b = v;"),
    ['2:31+2 `\\d` is not an escape sequence; for a backslash, write two ⇒ \\\\d'],
  ],
  [
    rule('src.größe as v -> tgt.b = v;'),
    ['2:7+5 put a name with letters other than a to z in backticks: `größe` ⇒ `größe`'],
  ],
  [rule('src.a as v -> tgt.b = v;;'), ['2:27+1 this semicolon is not needed ⇒ leave out']],
  [rule('src.a as v -> tgt.b as b then { v.x -> b.x; '), ['2:33+1 the brace that opens here is never closed']],
  [
    rule('src.a as v -> tgt.b as b then { v.x -> b.x; } } "n";'),
    ['2:49+1 this brace has no opening brace ⇒ leave out'],
  ],
  [
    whole(
      'group G(source src : A, target tgt : B) {\n  src.a -> tgt.a;\n\ngroup H(source src, target tgt) {\n  src.a -> tgt.a;\n}\n',
    ),
    ['1:41+1 the brace that opens here is never closed ⇒ }'],
  ],
  [whole('group G(sorce src, target tgt) {\n}\n'), ['1:9+5 `sorce` is unknown; did you mean `source`? ⇒ source']],
  [whole('group G(src : A, target tgt) {\n}\n'), ['1:9+3 a parameter begins with `source` or `target`; found `src`']],
  [
    whole('group G(source src, target tgt {\n}\n'),
    ['1:31+0 a parenthesis is missing after the parameters; found `{` ⇒ )'],
  ],
  [
    whole('group G(source src, target tgt) extnds X {\n}\n'),
    ['1:33+6 `extnds` is unknown; did you mean `extends`? ⇒ extends'],
  ],
  [
    whole('group G(source src, target tgt) <<type>> {\n}\n'),
    ['1:33+8 mark a default group with `<<types>>` or `<<type+>>` ⇒ <<types>>'],
  ],
  [
    whole('group G(source src, target tgt)\n  src.a -> tgt.a;\n}\n'),
    ['2:3+3 put the rules of a group in braces; found `src`'],
  ],
  [
    whole('group (source src, target tgt) {\n  src.a -> tgt.a;\n}\n'),
    ['1:7+1 the name of the group is missing; found `(`'],
  ],
  [
    whole('uses "http://a" as sorce\ngroup G(source a, target b) {}\n'),
    ['1:20+5 `sorce` is unknown; did you mean `source`? ⇒ source'],
  ],
  [
    whole('uses http://a as source\ngroup G(source a, target b) {}\n'),
    ['1:6+4 the URL of a structure, in quotation marks, is missing; found `http`'],
  ],
  [
    whole('use "http://a" as source\ngroup G(source a, target b) {}\n'),
    ['1:1+3 `use` is unknown; did you mean `uses`? ⇒ uses'],
  ],
  [
    whole('uses "http://a" source\ngroup G(source a, target b) {}\n'),
    ['1:17+6 `as` is missing: `uses "url" as source`; found `source`'],
  ],
  [
    whole('map "http://a" "B"\ngroup G(source a, target b) {}\n'),
    ['1:16+3 declare a map like `map "http://example.org/births" = "Births"`; found `"B"`'],
  ],
  [
    whole('/// status = active\ngroup G(source a, target b) {}\n'),
    ["1:14+6 put the value of a setting in quotation marks ⇒ 'active'"],
  ],
  [
    whole('/// This is what it does\ngroup G(source a, target b) {}\n'),
    [
      "1:1+3 a line that begins with three slashes sets a property of the map, as in `/// title = 'Births'`; begin a comment with two ⇒ //",
    ],
  ],
  [
    whole('let x = 5\ngroup G(source a, target b) {}\n'),
    ['1:10+0 a semicolon is missing at the end of the constant ⇒ ;'],
  ],
  [
    whole('/* never\ngroup G(source a, target b) {}\n'),
    ['1:1+2 the comment that begins here is not closed; close it with `*/`'],
  ],
  [
    whole('conceptmap "m" {\n  prefix s = "a"\n  s:a -> s:b\n  s:x == s:nach-da\n  t:a == s:b\n}\n'),
    [
      '3:7+2 `->` is unknown; codes are related by one of `==`, `=`, `-`, `~`, `<=`, `>=`, `<-`, `>-`, `!=`, `--` ⇒ ==',
      '4:12+7 put a code with characters other than letters and digits in quotation marks: "nach-da" ⇒ "nach-da"',
      '5:3+1 the prefix `t` is not declared; it needs a line `prefix … = "url"` above',
    ],
  ],
  [whole(''), ['1:1+0 the text is empty; write a map']],
  [whole('   '), ['1:1+0 the text is empty; write a map']],
  [
    whole('Dear all'),
    ['1:1+4 `Dear` is not valid here; a map consists of `map`, `conceptmap`, `uses`, `imports`, `let`, `group`'],
  ],
  [whole('}\n'), ['1:1+1 this brace has no opening brace ⇒ leave out']],
  [rule('src.a 0..x as v -> tgt.b = v;'), ['2:12+1 write a cardinality like `0..1` or `1..*`; found `x`']],
  [rule('src.a as v -> tgt.b = v frist;'), ['2:27+5 `frist` is unknown; did you mean `first`? ⇒ first']],
  [rule('src.a as v then;'), ['2:18+1 the name of a group, or a block in braces, after `then` is missing; found `;`']],
  [rule('src.a as v then X;'), ['2:20+1 call a group with its variables in parentheses: `X(a, b)`; found `;`']],
  [rule('-> tgt.b;'), ['2:3+2 a source such as `src.name` is missing; found `->`']],
  [rule('{ src.b -> tgt.b; }'), ['2:3+1 a rule is missing before this brace: `src.name as a -> tgt.name as b then {`']],
  [rule('src. as v -> tgt.b = v;'), ['2:11+1 `v` is not allowed here; end the rule with a semicolon']],
  [rule('src.a as v -> tgt.b as w = v;'), ['2:23+8 the value comes before the variable: `= v as w` ⇒ = v as w']],
  [rule('src.a as v -> tgt.b = %v.c;'), ['2:25+4 put the FHIRPath expression in parentheses ⇒ (%v.c)']],
  [rule('src.a as v -> tgt.b = v § ;'), ['2:27+1 `§` is not valid in a map']],
  [rule('src.a as v -> tgt.b = v)  ;'), ['2:26+1 this parenthesis has no opening parenthesis ⇒ leave out']],
  [rule('src.a as -> tgt.b = v;'), ['2:12+2 the name of a variable after `as` is missing; found `->`']],
  [rule('src.a -> tgt.b = @20x;'), ['2:20+1 this is not a date or time; write it like `@2024-02-29`, `@T14:30`']],
  [
    rule('src -> tgt: id, active'),
    ['2:25+0 a rule ends with a semicolon; one is missing after `src -> tgt: id, active` ⇒ ;'],
  ],
  [rule('src -> tgt: id active;'), ['2:18+6 a comma is missing before `active` ⇒ ,']],
  [
    whole('map "u" = "n"\n\ngroup for type+types A\n  input src : B as source\n  x : for src.a make tgt.b\nendgroup\n'),
    ['3:7+3 `group for` is the syntax of R3; in R4, write `group Name(source src : A, target tgt : B) <<types>> {`'],
  ],
  [
    whole(
      'group G(source src, target tgt) {\n  src.a as a then {\n    a.b -> tgt.c\n    a.d -> tgt.e;\n  }\n  src.x -> tgt.y;\n}\n',
    ),
    ['3:17+0 a rule ends with a semicolon; one is missing after `a.b -> tgt.c` ⇒ ;'],
  ],
  [
    whole(
      "group G(source src, target tgt) {\n  src.item as item where linkId = 'x -> tgt.a = item;\n  src.b -> tgt.c;\n}\n",
    ),
    ["2:35+18 the text that begins here has no closing quotation mark ⇒ '"],
  ],
  [
    whole(
      'uses "http://a as source\nuses "http://b" as target\ngroup G(source src, target tgt) {\n  src.b -> tgt.c;\n}\n',
    ),
    ['1:6+19 the text that begins here has no closing quotation mark ⇒ "'],
  ],
  [
    whole(
      "group G(source src, target tgt) {\n  src.a as a -> tgt.b = translate(a, '#m, 'code');\n  src.b -> tgt.c;\n}\n",
    ),
    ["2:38+3 the text that begins here has no closing quotation mark ⇒ '"],
  ],
  [
    whole('group G(source src, target tgt) {\n  if (src.a) src.b -> tgt.c;\n  src.b -> tgt.c;\n}\n'),
    ['2:6+1 `if(` begins a FHIRPath function, which cannot be part of a path; write a condition after it, `where (…)`'],
  ],
  [
    whole('group G(source src, target tgt) {\n  tgt.a = src.b;\n  src.b -> tgt.c;\n}\n'),
    ['2:9+1 `=` is not an arrow; between source and target, write `->` ⇒ ->'],
  ],
  [
    whole('group G(source src, target tgt) {\n  src.a -> tgt.b : string;\n  src.b -> tgt.c;\n}\n'),
    ['2:18+1 `:` is not allowed here; end the rule with a semicolon'],
  ],
  [
    whole('group G(source src target tgt) {\n  src.b -> tgt.c;\n}\n'),
    ['1:20+6 a comma is missing before `target` ⇒ ,'],
  ],
  [
    whole('Group G(source src, target tgt) {\n  src.b -> tgt.c;\n}\n'),
    ['1:1+5 `Group` is unknown; did you mean `group`? ⇒ group'],
  ],
  [
    whole(
      'group G(source src, target tgt) {\n  src.a as a -> tgt.b = create(Patient);\n  src.b -> tgt.c\n}\ngroup H(source src, target tgt) {\n  src.b -> tgt.c;\n',
    ),
    [
      '3:17+0 a rule ends with a semicolon; one is missing after `src.b -> tgt.c` ⇒ ;',
      '5:33+1 the brace that opens here is never closed ⇒ }',
    ],
  ],
]

test.each(mistakes)('%j', (text, expected) => {
  const said = parse(text).problems.map(({ span, message, fix }) => {
    const way = fix ? ` ⇒ ${fix.replacement.trim() || 'leave out'}` : ''
    return `${span.line}:${span.column}+${span.length} ${message}${way}`
  })
  expect(said).toEqual(expected)
})

test('a slip in a rule hides nothing that follows', () => {
  for (const [text] of mistakes) {
    if (!text.includes('src.ok')) continue
    expect(JSON.stringify(parse(text).map.groups), text).toContain('"ok"')
  }
})

test('what a fix proposes resolves its problem', () => {
  for (const [text] of mistakes) {
    const { problems } = parse(text)
    for (const { fix, message } of problems) {
      if (!fix) continue
      const { offset, length } = fix.span
      const fixed = text.slice(0, offset) + fix.replacement + text.slice(offset + length)
      expect(
        parse(fixed).problems.map(each => each.message),
        fixed,
      ).not.toContain(message)
    }
  }
})

test('many mistakes are told at once, in the order of the text', () => {
  const text = `${rule("src.a -> tgt.b = 'x;")}${rule('src.c as c => tgt.c = c')}grup H(sorce a, target b) { a.x -> b.y }`
  expect(parse(text).problems.map(({ span }) => span.line)).toEqual([2, 6, 9, 9, 9])
})
