// Cuts the text of a map into tokens that the FHIRPath parser understands too. https://hl7.org/fhir/R4/mapping-language.html

import type { Position } from '../fhirpath/ast.ts'
import type { TokenKind } from '../fhirpath/lexer.ts'
import { MAX_PROBLEMS, type Problem, shown, spanOf } from './problem.ts'
import { endOfText, isMark, type Marks, typographic } from './quotation.ts'
import { Scanner, type Tokens } from './scanner.ts'
import { unescaped } from './text.ts'

/** More than an honest map of the greatest size has. */
const MAX_TOKENS = 600_000

const NAME_START = charTable(/[A-Za-z_]/)
const NAME_PART = charTable(/[A-Za-z0-9_]/)
const SYMBOL = charTable(/[.,()[\]{}+\-*/&|<>=~%;:]/)
const NUMBER = /\d+(?:\.\d+)?/y
const MOMENT =
  /@(?:T\d\d(?::\d\d(?::\d\d(?:\.\d+)?)?)?|\d{4}(?:-\d\d(?:-\d\d)?)?(?:T(?:\d\d(?::\d\d(?::\d\d(?:\.\d+)?)?)?(?:Z|[+-]\d\d:\d\d)?)?)?)/y
const SPECIAL = /\$(?:this|index|total)\b/y
const SETTING = /\/\/\/[ \t]*[A-Za-z_`][\w.`]*[ \t]*=/y
/** What runs on to the next character that means something. */
const STRANGE = /[^\sA-Za-z0-9_.,()[\]{}+\-*/&|<>=~%;:'"`@$!“”„«‘’→⟶⇒–—\p{L}]+/uy
const FOREIGN_NAME = /[\p{L}\p{M}\p{N}_]+/uy
const ARROWS: Readonly<Record<string, string>> = { '→': '->', '⟶': '->', '⇒': '->', '–': '-', '—': '-' }

/** The tokens and comments of a map's text; what cannot be cut is reported and left out. Takes time linear in the text. */
export function tokenize(text: string, problems: Problem[]): Tokens {
  return new Lexer(text, problems).all()
}

function charTable(pattern: RegExp): Uint8Array {
  return Uint8Array.from({ length: 128 }, (_, code) => (pattern.test(String.fromCharCode(code)) ? 1 : 0))
}

class Lexer extends Scanner {
  private unclosedComment = false

  all(): Tokens {
    const { text } = this
    this.newlines = 1
    while (this.offset < text.length) {
      const code = text.charCodeAt(this.offset)
      if (code === 10) this.newline()
      else if (code === 32 || code === 9 || code === 13) this.offset++
      else if (code < 128 && NAME_START[code]) this.name()
      else this.other(code)
      if (this.problems.length >= MAX_PROBLEMS) break
      if (this.tokens.length > MAX_TOKENS) {
        this.report('the map is too long', this.here(1))
        break
      }
    }
    this.push('end', '', this.offset)
    return { tokens: this.tokens, comments: this.comments, unclosedLines: this.unclosedLines }
  }

  private name(): void {
    const { text } = this
    let end = this.offset + 1
    while (NAME_PART[text.charCodeAt(end)]) end++
    this.push('name', text.slice(this.offset, end), end)
  }

  private other(code: number): void {
    if (code === 47) this.slash()
    else if (code < 128 && SYMBOL[code]) this.symbol(code)
    else if (code >= 48 && code <= 57) this.matched('number', NUMBER)
    else if (code === 39 || code === 34 || code === 96) this.quotation(code)
    else if (code === 33) this.exclamation()
    else if (code === 64) this.moment()
    else if (code === 36) this.special()
    else if (/\s/.test(this.text[this.offset]!)) this.offset++
    else this.strange()
  }

  private symbol(code: number): void {
    const next = this.text.charCodeAt(this.offset + 1)
    const pair = (code === 45 && next === 62) || ((code === 60 || code === 62) && next === 61)
    const end = this.offset + (pair ? 2 : 1)
    this.push('symbol', this.text.slice(this.offset, end), end)
  }

  private exclamation(): void {
    const next = this.text[this.offset + 1]
    if (next === '=' || next === '~') this.push('symbol', `!${next}`, this.offset + 2)
    else this.strange()
  }

  private slash(): void {
    const { text, offset } = this
    const next = text[offset + 1]
    if (next === '*') this.blockComment()
    else if (next !== '/') this.push('symbol', '/', offset + 1)
    else if (text[offset + 2] !== '/' || text[offset + 3] === '/' || this.started) this.lineComment(2)
    else if (this.found(SETTING)) {
      this.setting = true
      this.push('symbol', '///', offset + 3)
    } else {
      const message =
        "a line that begins with three slashes sets a property of the map, as in `/// title = 'Births'`; begin a comment with two"
      this.report(message, this.here(3), '//')
      this.lineComment(3)
    }
  }

  private lineComment(mark: number): void {
    let end = this.offset
    for (let code = 0; end < this.text.length; end++) {
      code = this.text.charCodeAt(end)
      if (code === 10 || code === 13) break
    }
    this.comment('line', this.text.slice(this.offset + mark, end).trimEnd(), end)
  }

  private blockComment(): void {
    const { text, offset } = this
    const close = this.unclosedComment ? -1 : text.indexOf('*/', offset + 2)
    if (close >= 0) return this.comment('block', text.slice(offset + 2, close), close + 2)
    this.unclosedComment = true
    this.report('the comment that begins here is not closed; close it with `*/`', this.here(2))
    this.lineComment(2)
  }

  private quotation(code: number): void {
    if (code === 34 && this.setting && this.markdown()) return
    const mark = String.fromCharCode(code) as Marks
    const { end, closed } = endOfText(this.text, this.offset, mark)
    if (!closed) {
      this.unclosedLines.add(this.line)
      const what = mark === '`' ? 'the name that begins here has no closing backtick' : unclosed
      const open = this.swallowing(mark) ?? { at: this.position(), end }
      const place = spanOf({ ...open.at, offset: open.end, column: open.end - this.lineStart + 1 }, open.end)
      this.problems.push({ message: what, span: spanOf(open.at, open.end), fix: { span: place, replacement: mark } })
    }
    const raw = this.text.slice(this.offset + 1, closed ? end - 1 : end)
    this.push(KINDS[mark], this.unescaped(raw), end)
  }

  /**
   * A text of this line that a word follows at once: it has taken the opening mark of the next text for its own closing
   * one, and ends before the comma between the two.
   */
  private swallowing(mark: Marks): { at: Position; end: number } | undefined {
    let found: { at: Position; end: number } | undefined
    for (let index = this.tokens.length - 1; index >= 0; index--) {
      const { kind, at, end } = this.tokens[index]!
      if (at.line !== this.line) break
      const taken = /\s*,\s*$/.exec(this.text.slice(at.offset + 1, end - 1))
      if (kind === KINDS[mark] && taken && NAME_START[this.text.charCodeAt(end)])
        found = { at, end: end - 1 - taken[0].length }
    }
    return found
  }

  private markdown(): boolean {
    const { text, offset } = this
    const close = text.startsWith('"""', offset) ? text.indexOf('"""', offset + 3) : -1
    if (close < 0) return false
    this.push(
      'text',
      text
        .slice(offset + 3, close)
        .replace(/^\r?\n/, '')
        .replace(/\r?\n$/, ''),
      close + 3,
    )
    return true
  }

  private unescaped(raw: string): string {
    return unescaped(raw, (at, letter) => {
      if (this.problems.length >= MAX_PROBLEMS) return
      const span = spanOf(this.within(this.offset + 1 + at), this.offset + 2 + at + letter.length)
      const message =
        letter === 'u'
          ? '`\\u` must be followed by four hexadecimal digits'
          : `${shown(`\\${letter}`)} is not an escape sequence; for a backslash, write two`
      this.problems.push({ message, span, fix: { span, replacement: `\\\\${letter}` } })
    })
  }

  private moment(): void {
    const found = this.found(MOMENT)?.[0]
    if (!found) return this.strange('this is not a date or time; write it like `@2024-02-29`, `@T14:30`')
    const kind = found[1] === 'T' ? 'time' : found.includes('T') ? 'dateTime' : 'date'
    this.push(kind, found.slice(kind === 'time' ? 2 : 1), this.offset + found.length)
  }

  private special(): void {
    const found = this.found(SPECIAL)?.[0]
    if (found) this.push('special', found.slice(1), this.offset + found.length)
    else this.strange()
  }

  private matched(kind: TokenKind, pattern: RegExp): void {
    const found = this.found(pattern)![0]
    this.push(kind, found, this.offset + found.length)
  }

  private strange(message?: string): void {
    const char = this.text[this.offset]!
    const curly = isMark(char) ? typographic(this.text, this.offset) : undefined
    if (curly) {
      this.report(
        'these quotation marks are typographic; use straight ones',
        this.here(curly.end - this.offset),
        curly.straight,
      )
      return this.push(curly.kind, this.unescaped(curly.inner), curly.end)
    }
    const arrow = Object.hasOwn(ARROWS, char) ? ARROWS[char]! : undefined
    if (arrow) {
      this.report(`write \`${arrow}\` instead of ${shown(char)}`, this.here(1), arrow)
      return this.push('symbol', arrow, this.offset + 1)
    }
    if (this.found(FOREIGN_NAME)) return this.foreignName()
    const run = this.found(STRANGE)?.[0] ?? char
    this.report(message ?? `${shown(run)} is not valid in a map`, this.here(run.length))
    this.advance(this.offset + run.length)
  }

  /** `größe`: understood, together with the plain letters before it, but not how it is written. */
  private foreignName(): void {
    const end = this.offset + this.found(FOREIGN_NAME)![0].length
    const last = this.tokens.at(-1)
    if (last?.kind === 'name' && last.end === this.offset) {
      this.tokens.pop()
      this.offset = last.at.offset
    }
    const name = this.text.slice(this.offset, end)
    const message = `put a name with letters other than a to z in backticks: \`${name}\``
    this.report(message, this.here(name.length), `\`${name}\``)
    this.push('quoted', name, end)
  }
}

const unclosed = 'the text that begins here has no closing quotation mark'
const KINDS: Readonly<Record<Marks, TokenKind>> = { "'": 'string', '"': 'text', '`': 'quoted' }
