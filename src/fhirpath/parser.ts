// Reads the text of a FHIRPath expression into its syntax tree. http://hl7.org/fhirpath/N1/grammar.html

import type { BinaryOperator, Expression, LiteralType, Position } from './ast.ts'
import { FhirPathError } from './errors.ts'
import { type Token, tokenize } from './lexer.ts'

/** How tightly operators bind, tightest last. http://hl7.org/fhirpath/N1/#operator-precedence */
const PRECEDENCE: readonly (readonly string[])[] = [
  ['implies'],
  ['or', 'xor'],
  ['and'],
  ['in', 'contains'],
  ['=', '~', '!=', '!~'],
  ['<', '>', '<=', '>='],
  ['|'],
  ['is', 'as'],
  ['+', '-', '&'],
  ['*', '/', 'div', 'mod'],
]
const BINDING = new Map(PRECEDENCE.flatMap((operators, level) => operators.map(operator => [operator, level] as const)))

/** Words that are operators wherever an expression could begin, so an element of that name needs backticks. */
const RESERVED = new Set(['and', 'or', 'xor', 'implies', 'div', 'mod', 'true', 'false'])

const CALENDAR_UNITS = new Set(
  ['year', 'month', 'week', 'day', 'hour', 'minute', 'second', 'millisecond'].flatMap(unit => [unit, `${unit}s`]),
)

/** Nesting beyond this is refused before it can exhaust the stack. */
const MAX_DEPTH = 250

/** Reads an expression; throws a FhirPathError that names the position of the error and what was expected. */
export function parse(text: string): Expression {
  const reader = new Reader(tokenize(text))
  const expression = reader.expression(0)
  reader.end()
  return expression
}

/**
 * Reads the expression that begins with the token at `from`, as far as it goes; `next` is the index of the first token
 * that is no part of it. The last token must be of kind `end`. For texts that expressions are embedded in.
 */
export function parseAt(tokens: readonly Token[], from: number): { expression: Expression; next: number } {
  const reader = new Reader(tokens, from)
  const expression = reader.expression(0)
  return { expression, next: reader.next }
}

class Reader {
  next: number
  private readonly tokens: readonly Token[]
  private depth = 0

  constructor(tokens: readonly Token[], from = 0) {
    this.tokens = tokens
    this.next = from
  }

  expression(level: number): Expression {
    this.enter()
    let left = this.unary()
    let steps = 0
    for (let found = this.operator(level); found !== undefined; found = this.operator(level)) {
      this.deep(++steps)
      left = this.operation(left, this.take(), found)
    }
    this.depth--
    return left
  }

  end(): void {
    if (this.peek().kind !== 'end') throw this.unexpected('an operator or the end of the expression')
  }

  private operation(left: Expression, operator: Token, level: number): Expression {
    const at = operator.at
    if (operator.text === 'is' || operator.text === 'as') {
      return { kind: 'type', operator: operator.text, input: left, type: this.typeName(), at }
    }
    const right = this.expression(level + 1)
    return { kind: 'binary', operator: operator.text as BinaryOperator, left, right, at }
  }

  /** The precedence of the operator that comes next, if it binds at least as tightly as `level`. */
  private operator(level: number): number | undefined {
    const token = this.peek()
    if (token.kind !== 'symbol' && token.kind !== 'name') return undefined
    const binding = BINDING.get(token.text)
    return binding !== undefined && binding >= level ? binding : undefined
  }

  private unary(): Expression {
    const token = this.peek()
    if (!this.at('+') && !this.at('-')) return this.postfix(this.term())
    this.enter()
    this.take()
    const operand = this.unary()
    this.depth--
    return { kind: 'unary', operator: token.text as '+' | '-', operand, at: token.at }
  }

  private postfix(term: Expression): Expression {
    let left = term
    for (let steps = 1; ; steps++) {
      this.deep(steps)
      if (this.accept('.')) left = this.invocation(left)
      else if (this.at('[')) left = this.indexer(left)
      else return left
    }
  }

  private indexer(input: Expression): Expression {
    const at = this.take().at
    const index = this.expression(0)
    this.expect(']')
    return { kind: 'indexer', input, index, at }
  }

  private invocation(input?: Expression): Expression {
    const token = this.peek()
    if (token.kind === 'special' && input) {
      this.take()
      if (token.text === 'this') return input
      throw new FhirPathError('syntax', `$${token.text} cannot follow a dot`, token.at)
    }
    if (token.kind !== 'name' && token.kind !== 'quoted') throw this.unexpected('an element or function name')
    this.take()
    if (!this.accept('(')) return { kind: 'member', input, name: token.text, at: token.at }
    return { kind: 'call', input, name: token.text, args: this.args(token.text === 'sort'), at: token.at }
  }

  private args(sorting: boolean): Expression[] {
    const args: Expression[] = []
    if (this.accept(')')) return args
    do args.push(sorting ? this.sortKey() : this.expression(0))
    while (this.accept(','))
    this.expect(')', "',' or ')'")
    return args
  }

  /** `family desc` means `-family`. http://hl7.org/fhirpath/#sort */
  private sortKey(): Expression {
    const operand = this.expression(0)
    const { kind, text, at } = this.peek()
    if (kind !== 'name' || (text !== 'asc' && text !== 'desc')) return operand
    this.take()
    return text === 'asc' ? operand : { kind: 'unary', operator: '-', operand, at }
  }

  private term(): Expression {
    const token = this.peek()
    const at = token.at
    switch (token.kind) {
      case 'string':
      case 'text':
        return this.literal('String')
      case 'date':
        return this.literal('Date')
      case 'dateTime':
        return this.literal('DateTime')
      case 'time':
        return this.literal('Time')
      case 'number':
        return this.number()
      case 'special':
        return { kind: 'special', name: this.take().text as 'this' | 'index' | 'total', at }
      case 'quoted':
        return this.invocation()
      case 'name':
        if (token.text === 'true' || token.text === 'false') return this.literal('Boolean')
        if (RESERVED.has(token.text)) throw this.unexpected('an expression')
        return this.invocation()
      default:
        return this.punctuated(at)
    }
  }

  private punctuated(at: Position): Expression {
    if (this.accept('(')) {
      const inner = this.expression(0)
      this.expect(')')
      return inner
    }
    if (this.accept('{')) {
      this.expect('}')
      return { kind: 'empty', at }
    }
    if (this.accept('%')) return { kind: 'variable', name: this.variableName(), at }
    throw this.unexpected('an expression')
  }

  private variableName(): string {
    const { kind, text } = this.peek()
    if (kind !== 'name' && kind !== 'quoted' && kind !== 'string') throw this.unexpected('the name of a variable')
    this.take()
    return text
  }

  private literal(type: LiteralType): Expression {
    const token = this.take()
    return { kind: 'literal', type, text: token.text, at: token.at }
  }

  private number(): Expression {
    const { text, at } = this.take()
    const unit = this.peek()
    if (unit.kind === 'string') return { kind: 'literal', type: 'Quantity', text, unit: this.take().text, at }
    if (unit.kind === 'name' && CALENDAR_UNITS.has(unit.text)) {
      return { kind: 'literal', type: 'Quantity', text, unit: this.take().text.replace(/s$/, ''), calendar: true, at }
    }
    return { kind: 'literal', type: text.includes('.') ? 'Decimal' : 'Integer', text, at }
  }

  private typeName(): string[] {
    const parts: string[] = []
    do {
      const { kind, text } = this.peek()
      if (kind !== 'name' && kind !== 'quoted') throw this.unexpected('the name of a type')
      this.take()
      parts.push(text)
    } while (this.accept('.'))
    return parts
  }

  private peek(): Token {
    return this.tokens[this.next]!
  }

  private take(): Token {
    return this.tokens[this.next++]!
  }

  private at(symbol: string): boolean {
    const token = this.peek()
    return token.kind === 'symbol' && token.text === symbol
  }

  private accept(symbol: string): boolean {
    const found = this.at(symbol)
    if (found) this.next++
    return found
  }

  private expect(symbol: string, expected = `'${symbol}'`): void {
    if (!this.accept(symbol)) throw this.unexpected(expected)
  }

  private enter(): void {
    this.deep(++this.depth)
  }

  private deep(steps: number): void {
    if (steps > MAX_DEPTH) throw new FhirPathError('syntax', 'the expression is nested too deeply', this.peek().at)
  }

  private unexpected(expected: string): FhirPathError {
    const { kind, text, at } = this.peek()
    const found = kind === 'end' ? 'the end' : `'${text}'`
    return new FhirPathError('syntax', `expected ${expected}, found ${found}`, at, { expected })
  }
}
