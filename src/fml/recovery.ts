// Recovers from syntax errors, so that one error hides nothing that follows.

import type { Reader } from './reader.ts'

const WITH_TEXT = new Set(['map', 'uses', 'imports', 'conceptmap'])

/** True where a declaration begins: on a new line, with its word and what must follow it. */
export function isDeclaration(reader: Reader): boolean {
  const token = reader.peek()
  if (token.kind !== 'name' || !token.fresh) return false
  const next = reader.peek(1)
  if (WITH_TEXT.has(token.text)) return next.kind === 'text' || next.kind === 'string'
  if (token.text === 'let') return next.kind === 'name' && reader.at('=', 2)
  return token.text === 'group' && (next.kind === 'name' || next.kind === 'quoted')
}

/** Most tokens to look ahead for the arrow of a rule. */
const LOOKAHEAD = 40

/** True on a new line from which an arrow can be seen before anything that ends a rule. */
export function looksLikeRule(reader: Reader): boolean {
  const token = reader.peek()
  if ((token.kind !== 'name' && token.kind !== 'quoted') || !token.fresh) return false
  for (let ahead = 1; ahead < LOOKAHEAD; ahead++) {
    const { kind, text } = reader.peek(ahead)
    if (kind === 'end') return false
    if (kind !== 'symbol') continue
    if (text === '->') return true
    if (text === ';' || text === '{' || text === '}' || text === ',') return false
  }
  return false
}

/** Skips to what the rule may go on or end with: `->`, `then`, a block, `;`, `}`, another rule, a declaration. */
export function resync(reader: Reader): void {
  const start = reader.next
  for (; !reader.ended; reader.take()) {
    if (reader.at(';') || reader.at('}') || reader.at('->') || reader.atWord('then')) return
    if (reader.at('{')) {
      if (!reader.at('}', 1)) return
      reader.take()
    } else if (isDeclaration(reader) || (reader.next > start && looksLikeRule(reader))) return
  }
}

/** Skips to the brace that closes the block whose opening one has been taken. */
export function skipBlock(reader: Reader): void {
  for (let depth = 1; !reader.ended; ) {
    const token = reader.take()
    if (token.kind !== 'symbol') continue
    if (token.text === '{') depth++
    else if (token.text === '}' && --depth === 0) return
  }
}

/** Skips to the next line, or to a closing brace. */
export function skipLine(reader: Reader): void {
  const start = reader.next
  while (!reader.ended && !reader.at('}') && (reader.next === start || !reader.peek().fresh)) reader.take()
}
