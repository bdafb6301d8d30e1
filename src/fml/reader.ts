// Reads the tokens of a map: looks ahead, takes, reports problems, and attaches comments.

import { didYouMean, nearest } from '../lib/nearest.ts'
import type { Comment, Name, Span, Surroundings } from './ast.ts'
import { tokenize } from './lexer.ts'
import { MAX_PROBLEMS, type Problem, shown, spanOf } from './problem.ts'
import type { MapToken } from './scanner.ts'

/** Thrown, and always caught, where a construct cannot be read further; the problem has been reported. */
export const STOP = Symbol('stop')

const NONE: readonly Comment[] = []

export class Reader {
  readonly text: string
  readonly problems: Problem[] = []
  readonly tokens: readonly MapToken[]
  next = 0
  /** How deep in blocks. */
  depth = 0
  /** Where a construct was given up last. */
  broken = -1
  /** The brace of a block that was closed further to the left than it was opened. */
  suspect: Span | undefined
  /** Where an unclosed brace has been reported. */
  unclosedAt = -1
  private readonly comments: readonly Comment[]
  /** Lines on which a text has no end: what else is wrong there comes from that. */
  private readonly unclosedLines: ReadonlySet<number>
  private claimed = 0

  constructor(text: string) {
    this.text = text
    const { tokens, comments, unclosedLines } = tokenize(text, this.problems)
    this.unclosedLines = unclosedLines
    this.tokens = tokens
    this.comments = comments
  }

  peek(ahead = 0): MapToken {
    return this.tokens[Math.min(this.next + ahead, this.tokens.length - 1)]!
  }

  take(): MapToken {
    const token = this.peek()
    if (token.kind !== 'end') this.next++
    return token
  }

  /** The token taken last. */
  last(): MapToken {
    return this.tokens[Math.max(this.next - 1, 0)]!
  }

  get ended(): boolean {
    return this.peek().kind === 'end'
  }

  at(symbol: string, ahead = 0): boolean {
    const token = this.peek(ahead)
    return token.text === symbol && token.kind === 'symbol'
  }

  atWord(word: string, ahead = 0): boolean {
    const token = this.peek(ahead)
    return token.text === word && token.kind === 'name'
  }

  accept(symbol: string): boolean {
    const found = this.at(symbol)
    if (found) this.next++
    return found
  }

  acceptWord(word: string): boolean {
    const found = this.atWord(word)
    if (found) this.next++
    return found
  }

  /** True if the next token follows the last one without a space. */
  touching(ahead = 0): boolean {
    const index = this.next + ahead
    return index > 0 && index < this.tokens.length && this.tokens[index - 1]!.end === this.tokens[index]!.at.offset
  }

  /** Takes the symbol that must come next. If it does not, it reports the rule, such as `a group begins with {`. */
  expect(symbol: string, rule: string): MapToken {
    if (this.at(symbol)) return this.take()
    this.fail(`${rule}; found ${this.found()}`)
  }

  /** From the place of a token or node to the end of the last token. */
  since(start: { readonly offset: number; readonly line: number; readonly column: number }): Span {
    return spanOf(start, Math.max(this.next > 0 ? this.last().end : 0, start.offset))
  }

  spanOfToken(token: MapToken): Span {
    return spanOf(token.at, token.end)
  }

  /** An empty span behind the last token. */
  behind(): Span {
    const { at, end, endLine } = this.last()
    if (this.next === 0) return { ...this.tokens[0]!.at, length: 0 }
    const column = endLine === at.line ? at.column + end - at.offset : end - this.text.lastIndexOf('\n', end - 1)
    return { offset: end, length: 0, line: endLine, column }
  }

  report(message: string, span: Span, replacement?: string, fixSpan = span): void {
    if (this.unclosedLines.has(span.line)) return
    if (this.problems.length >= MAX_PROBLEMS) {
      this.next = this.tokens.length - 1
      return
    }
    this.problems.push(
      replacement === undefined ? { message, span } : { message, span, fix: { span: fixSpan, replacement } },
    )
  }

  /** Reports at the next token, unless that has been done or a text without an end has led here, and gives up. */
  fail(message: string, replacement?: string): never {
    const isKnown = this.broken === this.next || this.unclosedLines.has(this.last().endLine)
    if (!isKnown) this.report(message, this.spanOfToken(this.peek()), replacement)
    this.broken = this.next
    throw STOP
  }

  /** The column that the line of a token begins in. */
  indentation(token: MapToken): number {
    let index = this.tokens.indexOf(token, Math.max(0, this.next - 2))
    for (let steps = 0; steps < 100 && index > 0 && !this.tokens[index]!.fresh; steps++) index--
    return this.tokens[Math.max(index, 0)]!.at.column
  }

  /** What comes next, for a message. */
  found(): string {
    const token = this.peek()
    return token.kind === 'end' ? 'the end of the text' : shown(this.text.slice(token.at.offset, token.end))
  }

  /** A word of a list. A misspelt one is reported and read as the nearest word. */
  oneOf<Word extends string>(words: readonly Word[], what: string): Word {
    const token = this.peek()
    const exact = words.find(word => word === token.text)
    if (token.kind === 'name' && exact) {
      this.next++
      return exact
    }
    const meant = token.kind === 'name' ? nearest(token.text, words) : undefined
    const list = words.map(word => `\`${word}\``)
    const choice = list.length === 1 ? list[0] : `${list.slice(0, -1).join(', ')} or ${list.at(-1)}`
    if (!meant) this.fail(`${what} ${choice}; found ${this.found()}`)
    this.misspelt(token, meant!)
    this.next++
    return meant as Word
  }

  /** Says that a word must have been meant as another. */
  misspelt(token: MapToken, meant: string): void {
    this.report(`${shown(token.text)} is unknown${didYouMean(meant)}`, this.spanOfToken(token), meant)
  }

  name(what: string): Name {
    const token = this.peek()
    if (token.kind !== 'name' && token.kind !== 'quoted' && token.kind !== 'text')
      this.fail(`${what} is missing; found ${this.found()}`)
    this.next++
    return { kind: 'name', text: token.text, span: this.spanOfToken(token) }
  }

  /** Takes the comments up to the next token that are not attached yet. */
  before(): readonly Comment[] {
    const end = this.peek().comments
    if (end <= this.claimed) return NONE
    const found = this.comments.slice(this.claimed, end)
    this.claimed = end
    return found
  }

  /** The comments on the line that the last token ends on, if nothing else follows them there. */
  after(): readonly Comment[] {
    const next = this.peek()
    if (next.comments <= this.claimed || !(next.fresh || next.kind === 'end')) return NONE
    const line = this.last().endLine
    let end = this.claimed
    while (end < next.comments && this.comments[end]!.span.line === line) end++
    const found = this.comments.slice(this.claimed, end)
    this.claimed = end
    return found
  }

  /** Puts aside comments up to an offset: those within an expression, which keeps them itself. */
  skipComments(): void {
    this.claimed = Math.max(this.claimed, this.last().comments)
  }

  /**
   * To be called where a construct begins; the result, where it ends, gives its surroundings. `whole`: the construct
   * takes what comments are left within it.
   */
  surroundings(): (whole?: boolean) => Surroundings {
    const before = this.before()
    const { gap } = this.peek()
    return (whole = false) => {
      const within = whole ? this.within() : NONE
      const after = this.at(',') ? this.behindComma() : this.after()
      return { gap, before: within.length > 0 ? [...before, ...within] : before, after }
    }
  }

  /** Comments behind a comma are about what stands before it, if nothing else follows on the line. */
  private behindComma(): readonly Comment[] {
    const comma = this.peek()
    const next = this.peek(1)
    if (next.comments <= this.claimed || !next.fresh) return NONE
    let end = this.claimed
    while (end < next.comments && this.comments[end]!.span.line === comma.endLine) end++
    const found = this.comments.slice(this.claimed, end)
    this.claimed = end
    return found
  }

  /** Comments at odd places of the construct that ends here. */
  private within(): readonly Comment[] {
    const end = this.last().comments
    if (end <= this.claimed) return NONE
    const found = this.comments.slice(this.claimed, end)
    this.claimed = end
    return found
  }

  /** The opening brace has just been taken. */
  opening(): readonly Comment[] {
    return this.after()
  }

  closing(): readonly Comment[] {
    return this.before()
  }
}
