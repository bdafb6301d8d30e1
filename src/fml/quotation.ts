// Where quoted text ends, even if its closing quotation mark is missing. https://hl7.org/fhirpath/N1/#string

import { quoted } from './text.ts'

export type Marks = "'" | '"' | '`'

/** How far a text that goes over several lines is looked for; keeps unclosed texts from costing much. */
const LOOKAHEAD = 5_000

/** What can follow a text. After a mark that opens another text comes its content, `, ` for one. */
const FOLLOWING = /[ \t\r]*(?:$|\n|[;)\]]|->|,[ \t]*[^\s'"]|(?:as|where|check|then)\b)/y

/**
 * The offset behind the text that begins with the mark at `start`. Text without a closing mark on its line is taken
 * to go on below only if what comes after the next mark could follow a text; otherwise it is not closed, and ends with
 * its line (before a final `;`).
 */
export function endOfText(text: string, start: number, mark: Marks): { end: number; closed: boolean } {
  const code = mark.charCodeAt(0)
  let at = start + 1
  let lineEnd = -1
  for (; at < text.length; at++) {
    const current = text.charCodeAt(at)
    if (current === 92) at++
    else if (current === code) break
    else if (current === 10) {
      if (lineEnd < 0) lineEnd = at
      if (mark === '`' || at - start > LOOKAHEAD) break
    }
    if (lineEnd >= 0 && at - lineEnd > LOOKAHEAD) break
  }
  const found = at < text.length && text.charCodeAt(at) === code
  if (found && (lineEnd < 0 || mayFollow(text, at + 1))) return { end: at + 1, closed: true }
  return { end: beforeSemicolon(text, start + 1, lineEnd < 0 ? text.length : lineEnd), closed: false }
}

function mayFollow(text: string, offset: number): boolean {
  FOLLOWING.lastIndex = offset
  return FOLLOWING.test(text)
}

function beforeSemicolon(text: string, from: number, lineEnd: number): number {
  let end = trimmed(text, from, lineEnd)
  if (text[end - 1] === ';') end = trimmed(text, from, end - 1)
  if (text[end - 1] === ')' && end > from) end = trimmed(text, from, end - 1)
  return Math.max(end, from)
}

function trimmed(text: string, from: number, to: number): number {
  let end = to
  while (end > from && text.charCodeAt(end - 1) <= 32) end--
  return end
}

const CLOSING: Readonly<Record<string, string>> = { '“': '”"', '”': '”"', '„': '“”"', '«': '»', '‘': "’'", '’': "’'" }

/** True for the quotation marks that word processors put in place of straight ones. */
export function isMark(char: string): boolean {
  return Object.hasOwn(CLOSING, char)
}

/** A text in typographic marks on one line, and the same in straight ones; undefined if it does not end on its line. */
export function typographic(text: string, start: number) {
  const closing = CLOSING[text[start]!]!
  for (let at = start + 1; at < text.length && text[at] !== '\n' && at - start < LOOKAHEAD; at++) {
    if (!closing.includes(text[at]!)) continue
    const inner = text.slice(start + 1, at)
    const single = closing.includes("'")
    return {
      end: at + 1,
      inner,
      kind: single ? ('string' as const) : ('text' as const),
      straight: quoted(inner, single ? "'" : '"'),
    }
  }
  return undefined
}
