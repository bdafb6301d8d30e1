// Shows a problem to people: the place, the line it is on, what is wrong, the way out.

import type { Fix, Problem } from './problem.ts'

/** Columns of a terminal that a line of the map may take. */
const WIDTH = 100

/**
 * A problem as several lines of text: `file:line:column`, the message, the line of the map with the place underlined,
 * and what to write instead. `text` is the map's; long lines are cut around the place.
 */
export function render(problem: Problem, text: string): string {
  const { span, message, fix, file } = problem
  const where = `${file ?? 'map'}:${span.line}:${span.column}`
  const { shown, from, width } = excerpt(lineAt(text, span.offset), span.column - 1, span.length)
  const gutter = String(span.line).padStart(4)
  const blank = ' '.repeat(gutter.length)
  const result = [`${where}: ${message}`, `${gutter} | ${shown}`, `${blank} | ${' '.repeat(from)}${'^'.repeat(width)}`]
  if (fix) result.push(`${blank} = ${wayOut(fix)}`)
  return result.map(each => each.trimEnd()).join('\n')
}

function wayOut({ span, replacement }: Fix): string {
  if (replacement === '') return 'leave it out'
  const bare = replacement.trim()
  const written = bare.includes('`') ? bare : `\`${bare}\``
  return span.length === 0 ? `add ${written}` : `write ${written}`
}

function lineAt(text: string, offset: number): string {
  const start = text.lastIndexOf('\n', offset - 1) + 1
  const end = text.indexOf('\n', Math.max(offset, start))
  return text.slice(offset === 0 ? 0 : start, end < 0 ? text.length : end).replace(/\r$/, '')
}

/** The part of a line around a place, tabs and odd characters replaced, and where the place is in it, in columns. */
function excerpt(line: string, start: number, length: number): { shown: string; from: number; width: number } {
  const left = start > WIDTH - 30 ? start - 40 : 0
  const before = left > 0 ? `…${visible(line.slice(left, start))}` : visible(line.slice(0, start))
  const place = visible(line.slice(start, Math.min(start + length, start + WIDTH)))
  const after = visible(line.slice(start + length, start + length + WIDTH))
  const whole = before + place + after
  const shown = cut(whole)
  const from = columns(before)
  return { shown, from, width: Math.max(1, Math.min(columns(place), columns(shown) - from)) }
}

function cut(text: string): string {
  let width = 0
  let result = ''
  for (const char of text) {
    width += columns(char)
    if (width > WIDTH) return `${result}…`
    result += char
  }
  return result
}

/** A tab as two spaces; a character that has no shape, or would turn the line round, as a replacement. */
function visible(text: string): string {
  return text.replace(/\t/g, '  ').replace(/[\p{Cc}\p{Cf}\p{Cs}]/gu, '\ufffd')
}

const NARROW = /^[\x20-\x7e]*$/
const COMBINING = /\p{M}/u
const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u

/** How many columns a terminal takes for a text. */
function columns(text: string): number {
  if (NARROW.test(text)) return text.length
  let width = 0
  for (const char of text) width += COMBINING.test(char) ? 0 : WIDE.test(char) ? 2 : 1
  return width
}
