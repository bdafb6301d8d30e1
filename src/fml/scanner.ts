// Goes through the characters of a map, knows line and column, and collects tokens and comments.

import type { Position } from '../fhirpath/ast.ts'
import type { Token, TokenKind } from '../fhirpath/lexer.ts'
import type { Comment, Span } from './ast.ts'
import { type Problem, spanOf } from './problem.ts'

/** A token, with the layout around it. Marks such as `///`, `->`, `;` and `:` are symbols. */
export interface MapToken extends Token {
  /** The offset behind it. */
  readonly end: number
  /** The line it ends on. */
  readonly endLine: number
  /** It is the first of its line. */
  readonly fresh: boolean
  /** An empty line stands before it. */
  readonly gap: boolean
  /** How many comments of the text stand before it. */
  readonly comments: number
}

export interface Tokens {
  /** The last one is of kind `end`. */
  readonly tokens: readonly MapToken[]
  readonly comments: readonly Comment[]
  /** Lines with a text that has no end. */
  readonly unclosedLines: ReadonlySet<number>
}

export class Scanner {
  protected readonly text: string
  protected readonly problems: Problem[]
  protected readonly tokens: MapToken[] = []
  protected readonly comments: Comment[] = []
  protected readonly unclosedLines = new Set<number>()
  protected offset = 0
  protected line = 1
  protected lineStart = 0
  /** Line ends since the last token or comment. */
  protected newlines = 0
  /** Something stands between the last line end and here. */
  protected started = false
  /** This line sets metadata, so text over several lines may follow. */
  protected setting = false

  constructor(text: string, problems: Problem[]) {
    this.text = text
    this.problems = problems
  }

  protected newline(): void {
    this.offset++
    this.line++
    this.lineStart = this.offset
    this.newlines++
    this.started = false
    this.setting = false
  }

  protected comment(style: Comment['style'], text: string, end: number): void {
    const span = spanOf(this.position(), end)
    this.comments.push({ kind: 'comment', style, text, gap: this.newlines > 1, span })
    this.advance(end)
  }

  /** A place in the text being read, which may go over several lines. */
  protected within(offset: number): Position {
    const lines = this.text.slice(this.offset, offset).split('\n')
    const column = lines.length === 1 ? offset - this.lineStart + 1 : lines.at(-1)!.length + 1
    return { offset, line: this.line + lines.length - 1, column }
  }

  protected found(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.offset
    return pattern.exec(this.text)
  }

  protected position() {
    return { offset: this.offset, line: this.line, column: this.offset - this.lineStart + 1 }
  }

  protected here(length: number): Span {
    return spanOf(this.position(), Math.min(this.offset + length, this.text.length))
  }

  protected report(message: string, span: Span, replacement?: string): void {
    this.problems.push({ message, span, fix: replacement === undefined ? undefined : { span, replacement } })
  }

  protected push(kind: TokenKind, text: string, end: number): void {
    const at = this.position()
    const fresh = !this.started
    const gap = this.newlines > 1
    this.advance(end)
    this.tokens.push({ kind, text, at, end, endLine: this.line, fresh, gap, comments: this.comments.length })
  }

  /** Goes behind a token or comment, which may end on a later line. */
  protected advance(end: number): void {
    for (let at = this.offset; at < end; at++) {
      if (this.text.charCodeAt(at) !== 10) continue
      this.line++
      this.lineStart = at + 1
    }
    this.offset = end
    this.newlines = 0
    this.started = true
  }
}
