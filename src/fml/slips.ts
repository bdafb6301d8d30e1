// Slips in rules that can be understood all the same: a wrong arrow, a misspelt word, a missing comma.

import { nearest } from '../lib/nearest.ts'
import { shown } from './problem.ts'
import type { Reader } from './reader.ts'

const ARROW_LIKE = new Set(['=', '>', '-', '>=', '<-', '~', '->', '|'])

/** Takes `->`; reports similar symbols and a missing one. */
export function arrow(reader: Reader, from: number): boolean {
  if (reader.accept('->')) return true
  const token = reader.peek()
  if (token.kind === 'symbol' && ARROW_LIKE.has(token.text)) {
    reader.take()
    while (reader.peek().kind === 'symbol' && ARROW_LIKE.has(reader.peek().text) && reader.touching()) reader.take()
    const span = reader.since(token.at)
    const written = shown(reader.text.slice(token.at.offset, reader.last().end))
    reader.report(`${written} is not an arrow; between source and target, write \`->\``, span, '->')
    return true
  }
  const isTarget = token.kind === 'name' && (reader.at('.', 1) || reader.at('=', 1)) && !token.fresh
  if (!isTarget || reader.problems.length > from) return false
  const span = reader.spanOfToken(token)
  reader.report(`an arrow is missing before ${shown(token.text)}: \`->\``, span, '-> ', { ...span, length: 0 })
  return true
}

/** Takes a word that must have been meant as `then`. */
export function misspeltThen(reader: Reader): boolean {
  const token = reader.peek()
  const opens = reader.at('{', 1) || (reader.peek(1).kind === 'name' && reader.at('(', 2))
  if (token.kind !== 'name' || !opens || nearest(token.text, ['then']) === undefined) return false
  reader.misspelt(token, 'then')
  reader.take()
  return true
}

/** A name where only a comma can stand. */
export function commaMissing(reader: Reader): boolean {
  const token = reader.peek()
  if (token.kind !== 'name' || token.fresh) return false
  const span = reader.spanOfToken(token)
  reader.report(`a comma is missing before ${shown(token.text)}`, span, ',', reader.behind())
  return true
}

const CLAUSES = [
  'as',
  'where',
  'check',
  'log',
  'default',
  'then',
  'first',
  'last',
  'share',
  'collate',
  'not_first',
  'not_last',
  'only_one',
]

/** Reports a token that no rule accepts. */
export function unexpected(reader: Reader): void {
  const token = reader.peek()
  const span = reader.spanOfToken(token)
  const meant = token.kind === 'name' ? nearest(token.text, CLAUSES) : undefined
  if (meant && meant !== token.text) {
    return reader.misspelt(token, meant)
  }
  if (reader.at(')')) return reader.report('this parenthesis has no opening parenthesis', span, '')
  reader.report(`${reader.found()} is not allowed here; end the rule with a semicolon`, span)
}
