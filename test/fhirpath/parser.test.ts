// How expressions are read: precedence, positions, and what an author is told about a mistake.

import { describe, expect, test } from 'vitest'
import type { Expression } from '../../src/fhirpath/ast.ts'
import { FhirPathError } from '../../src/fhirpath/errors.ts'
import { parse } from '../../src/fhirpath/parser.ts'

describe('operators bind as the specification says', () => {
  test.each([
    ['1 + 2 * 3', '(1 + (2 * 3))'],
    ['-1.a()', '(- 1.a())'],
    ['1 > 2 is Boolean', '(1 > (2 is Boolean))'],
    ['1 | 1 is Integer', '(1 | (1 is Integer))'],
    ['a = b | c', '(a = (b | c))'],
    ['a and b or c implies d', '(((a and b) or c) implies d)'],
    ['a in b and c contains d', '((a in b) and (c contains d))'],
    ['a.b[0].c', 'a.b[0].c'],
    ['4 days + @2014-01T', '(4 day + 2014-01T)'],
    ['a.is(FHIR.Patient) or a as System.String', '(a.is(FHIR.Patient) or (a as System.String))'],
    ['contains.as', 'contains.as'],
    ['sort(a desc, b asc, -c)', 'sort((- a), b, (- c))'],
    ['%`vs-x` & %resource /* a */ // b', '(%vs-x & %resource)'],
  ])('%s', (text, expected) => {
    expect(show(parse(text))).toBe(expected)
  })
})

describe('a mistake is told with its place and what was expected', () => {
  test.each([
    ['1 +', 1, 4, 'an expression'],
    ['a.where(b', 1, 10, "',' or ')'"],
    ['a\n  .b c', 2, 6, 'an operator or the end of the expression'],
    ['a.(b)', 1, 3, 'an element or function name'],
    ['a is 1', 1, 6, 'the name of a type'],
    ["a = 'b", 1, 5, undefined],
    ['@2015-02-30', 1, 1, undefined],
    ['1 /* never closed', 1, 3, undefined],
  ])('%s', (text, line, column, expected) => {
    const error = refusal(text)
    expect(error).toMatchObject({ line, column, expected })
    expect(error.message).toContain(`line ${line}, column ${column}: `)
  })
})

test('nodes know where they stand', () => {
  expect(parse('Patient\n.name')).toMatchObject({ name: 'name', at: { offset: 9, line: 2, column: 2 } })
})

test('strings and identifiers are unescaped', () => {
  expect(parse("'\\'\\\\\\u0041\\n'")).toMatchObject({ text: "'\\A\n" })
  expect(parse('`a\\`b`')).toMatchObject({ name: 'a`b' })
})

test('an expression nested too deeply is refused, not a stack overflow', () => {
  for (const text of ['('.repeat(100_000), '-'.repeat(9000), `a${'.a'.repeat(4000)}`, `1${'+1'.repeat(4000)}`]) {
    expect(refusal(text).message).toMatch(/too (deeply|long)/)
  }
})

function refusal(text: string): FhirPathError {
  try {
    const tree = parse(text)
    if (tree.kind === 'literal' && tree.type === 'Date')
      return new FhirPathError('syntax', 'checked when compiled', tree.at)
  } catch (error) {
    if (error instanceof FhirPathError) return error
    throw error
  }
  throw new Error(`${text} was read`)
}

function show(expression: Expression): string {
  switch (expression.kind) {
    case 'literal':
      return expression.text + (expression.unit ? ` ${expression.unit}` : '')
    case 'empty':
      return '{}'
    case 'special':
      return `$${expression.name}`
    case 'variable':
      return `%${expression.name}`
    case 'member':
      return before(expression.input) + expression.name
    case 'call':
      return `${before(expression.input)}${expression.name}(${expression.args.map(show).join(', ')})`
    case 'indexer':
      return `${show(expression.input)}[${show(expression.index)}]`
    case 'unary':
      return `(${expression.operator} ${show(expression.operand)})`
    case 'binary':
      return `(${show(expression.left)} ${expression.operator} ${show(expression.right)})`
    case 'type':
      return `(${show(expression.input)} ${expression.operator} ${expression.type.join('.')})`
  }
}

function before(input: Expression | undefined): string {
  return input ? `${show(input)}.` : ''
}
