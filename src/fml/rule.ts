// Rules, and the blocks they stand in. https://hl7.org/fhir/R4/mapping-language.html#7.7.0.7

import type { Batch, Block, Dependent, Name, Path, Rule, Source, Span } from './ast.ts'
import { attempt } from './expression.ts'
import { shown, spanOf } from './problem.ts'
import type { Reader } from './reader.ts'
import { isDeclaration, looksLikeRule, resync, skipBlock } from './recovery.ts'
import { arrow, commaMissing, misspeltThen, unexpected } from './slips.ts'
import { sources } from './source.ts'
import { args, targets } from './target.ts'

/** Blocks in blocks in blocks, so far and no further. */
const MAX_DEPTH = 60

/** The rules between braces; the next token is the opening one. */
export function block(reader: Reader): Block {
  const open = reader.take()
  const indent = reader.indentation(open)
  if (reader.depth >= MAX_DEPTH) return tooDeep(reader)
  const opening = reader.opening()
  if (reader.depth++ === 0) reader.suspect = undefined
  const found = rules(reader)
  reader.depth--
  const closing = reader.closing()
  const close = reader.peek()
  if (!reader.accept('}')) unclosed(reader, spanOf(open.at, open.end))
  else if (close.fresh && close.at.column < indent) reader.suspect = spanOf(open.at, open.end)
  return { kind: 'block', rules: found, inside: { opening, closing }, span: reader.since(open.at) }
}

function tooDeep(reader: Reader): Block {
  const open = reader.last()
  reader.report(`blocks can be nested ${MAX_DEPTH} deep; this one is deeper`, spanOf(open.at, open.end))
  skipBlock(reader)
  return { kind: 'block', rules: [], inside: { opening: [], closing: [] }, span: reader.since(open.at) }
}

/**
 * Of several blocks that end with the text, one is named: one that was closed by a brace further to the left than its
 * own line, if there is one, or the innermost.
 */
function unclosed(reader: Reader, span: Span): void {
  if (reader.unclosedAt === reader.next) return
  reader.unclosedAt = reader.next
  const message = 'the brace that opens here is never closed'
  if (reader.suspect) reader.report(message, reader.suspect)
  else reader.report(message, span, '\n}', reader.behind())
}

/** Rules up to a closing brace, the next declaration or the end. */
export function rules(reader: Reader): (Rule | Batch)[] {
  const found: (Rule | Batch)[] = []
  while (!reader.ended && !reader.at('}') && !isDeclaration(reader)) {
    const start = reader.next
    const read = rule(reader)
    if (read) found.push(read)
    if (reader.next === start) reader.take()
  }
  return found
}

function rule(reader: Reader): Rule | Batch | undefined {
  if (stray(reader)) return undefined
  const around = reader.surroundings()
  const { at } = reader.peek()
  const from = reader.problems.length
  const read = attempt(() => sources(reader)) ?? lost(reader)
  const onward = arrow(reader, from)
  if (onward && read && isBatch(reader, read)) return batch(reader, read[0]!.path, around)
  const made = onward ? (attempt(() => targets(reader)) ?? lost(reader)) : []
  const then = following(reader)
  const written = reader.last().end
  const head = () => headText(reader, at.offset, written, then.block)
  const name = ruleName(reader)
  end(reader, head, reader.problems.length > from || (reader.ended && then.block !== undefined))
  const rest = { ...then, name, around: around(true), span: reader.since(at) }
  return { kind: 'rule', sources: read ?? [], targets: made ?? [], ...rest }
}

function lost(reader: Reader): undefined {
  resync(reader)
  return undefined
}

/** What cannot begin a rule but is often found where one should: a second semicolon, a setting, a block without a rule. */
function stray(reader: Reader): boolean {
  if (reader.at(';')) {
    const span = reader.spanOfToken(reader.take())
    reader.report('this semicolon is not needed', span, '')
    return true
  }
  if (reader.at('///')) {
    reader.report('put lines with three slashes at the top of the map', reader.spanOfToken(reader.take()))
    while (!reader.ended && !reader.peek().fresh) reader.take()
    return true
  }
  if (!reader.at('{')) return false
  reader.report(
    'a rule is missing before this brace: `src.name as a -> tgt.name as b then {`',
    reader.spanOfToken(reader.peek()),
  )
  block(reader)
  return true
}

/** `src -> tgt: id, active;` */
function isBatch(reader: Reader, read: readonly Source[]): boolean {
  return read.length === 1 && reader.peek().kind === 'name' && reader.at(':', 1)
}

function batch(reader: Reader, source: Path, around: ReturnType<Reader['surroundings']>): Batch {
  const from = reader.problems.length
  const only = reader.name('a target')
  const target: Path = { kind: 'path', names: [only], span: only.span }
  reader.take()
  const elements = attempt(() => {
    const found = [reader.name('the name of an element')]
    while (reader.accept(',') || commaMissing(reader)) found.push(reader.name('the name of an element'))
    return found
  })
  const written = reader.last().end
  const head = () => headText(reader, source.span.offset, written)
  const name = elements ? ruleName(reader) : lost(reader)
  end(reader, head, reader.problems.length > from)
  return {
    kind: 'batch',
    source,
    target,
    elements: elements ?? [],
    name,
    around: around(true),
    span: reader.since(source.span),
  }
}

/** The part after `then`; a brace without `then` is reported, and read as if `then` preceded it. */
function following(reader: Reader): { dependents: Dependent[]; block?: Block } {
  const word = reader.peek()
  const said = reader.acceptWord('then') || misspeltThen(reader)
  if (!said && !reader.at('{')) return { dependents: [] }
  if (!said) {
    reader.report('`then` is missing before this brace', reader.spanOfToken(word), 'then ', {
      ...reader.spanOfToken(word),
      length: 0,
    })
  }
  const dependents = reader.at('{') ? [] : (attempt(() => calls(reader)) ?? lost(reader) ?? [])
  return reader.at('{') ? { dependents, block: block(reader) } : { dependents }
}

function calls(reader: Reader): Dependent[] {
  const found = [dependent(reader)]
  while (reader.accept(',')) found.push(dependent(reader))
  return found
}

function dependent(reader: Reader): Dependent {
  const around = reader.surroundings()
  const name = reader.name('the name of a group, or a block in braces, after `then`')
  if (!reader.at('('))
    reader.fail(`call a group with its variables in parentheses: \`${name.text}(a, b)\`; found ${reader.found()}`)
  const read = args(reader)
  return { kind: 'dependent', name, args: read, around: around(), span: reader.since(name.span) }
}

/** A rule's name is a text; a bare word is one only right before the semicolon. */
function ruleName(reader: Reader): Name | undefined {
  const token = reader.peek()
  const isBare = token.kind === 'name' && reader.at(';', 1) && (!token.fresh || !looksLikeRule(reader))
  if (token.kind === 'text' || token.kind === 'string' || isBare) {
    reader.take()
    return { kind: 'name', text: token.text, span: reader.spanOfToken(token) }
  }
  return undefined
}

/** The rule as its author will recognize it. */
function headText(reader: Reader, start: number, end: number, nested?: Block): string {
  const last = nested ? nested.span.offset : end
  const text = reader.text.slice(start, Math.min(last, start + 200))
  return shown(nested ? `${text.trim()} { … }` : text)
}

function end(reader: Reader, head: () => string, broken: boolean): void {
  if (reader.accept(';')) return
  const token = reader.peek()
  const onward = token.fresh || token.kind === 'end' || reader.at('}')
  if (reader.at('}') && reader.depth === 1 && (reader.peek(1).kind === 'text' || reader.peek(1).kind === 'string')) {
    reader.report('this brace has no opening brace', reader.spanOfToken(reader.take()), '')
    ruleName(reader)
    return void reader.accept(';')
  }
  if (onward && !broken) {
    return reader.report(`a rule ends with a semicolon; one is missing after ${head()}`, reader.behind(), ';')
  }
  if (onward && looksLikeRule(reader)) return
  if (!broken) unexpected(reader)
  resync(reader)
  if (reader.at('->') || reader.atWord('then')) remainder(reader)
  reader.accept(';')
}

/** After something that does not belong: what still can be read of the rule, for the problems in it. */
function remainder(reader: Reader): void {
  if (reader.accept('->') && !attempt(() => targets(reader))) resync(reader)
  following(reader)
  ruleName(reader)
}
