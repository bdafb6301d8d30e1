// Completion: what can be written at a place of a map that is being written, and therefore seldom complete.
// A name that nothing has is put where the cursor is, the text is compiled, and what the compiler looks up there is offered.

import { codeSystemCodes, typeNames } from '../../definitions/r4.ts'
import type { Sight } from '../sight.ts'
import type { Structures } from '../structures.ts'
import { elements, groups, pathFunctions, plain, type Suggestion, transforms, variables } from './suggestion.ts'

/** What completion needs of the map's surroundings. */
export interface CompletionScope {
  readonly structures: Structures
  /** The URLs of all maps, for `imports`. */
  readonly maps: readonly string[]
  /** Compiles a text of this map, and returns what the compiler knows at its names. */
  see(text: string): readonly Sight[]
}

/** What can stand between two offsets of the text. */
export interface Suggestions {
  readonly from: number
  readonly to: number
  readonly options: readonly Suggestion[]
}

/** A name that no element, variable or group has. */
const PLACEHOLDER = 'zzzplaceholder'

/** Most suggestions for one place. */
const MOST = 1000

/** Returns what can be written at an offset; undefined where nothing is known. */
export function complete(text: string, offset: number, around: CompletionScope): Suggestions | undefined {
  const place = placeAt(text, offset)
  if (place.isComment) return undefined
  const options = unique(place.quote === '' ? inCode(text, place, around) : inQuotes(text, place, around))
  return options.length > 0 ? { from: place.from, to: place.to, options: options.slice(0, MOST) } : undefined
}

/** The word that the cursor is in. */
interface Place {
  readonly from: number
  readonly to: number
  /** The line up to the word. */
  readonly before: string
  /** The quotation mark that the word stands in, if it does. */
  readonly quote: string
  readonly isComment: boolean
}

function placeAt(text: string, offset: number): Place {
  const start = text.lastIndexOf('\n', offset - 1) + 1
  const lineEnd = text.indexOf('\n', offset)
  const end = lineEnd < 0 ? text.length : lineEnd
  let [quote, opened, isComment] = ['', start, false]
  for (let i = start; i < offset && !isComment; i++) {
    const character = text[i]!
    if (quote === '' && character === '/' && text[i + 1] === '/') isComment = true
    else if (quote === '' && /['"`]/.test(character)) [quote, opened] = [character, i + 1]
    else if (character === '\\') i++
    else if (character === quote) quote = ''
  }
  if (quote !== '') {
    const closing = text.indexOf(quote, offset)
    const to = closing < 0 || closing > end ? offset : closing
    return { from: opened, to, before: text.slice(start, opened - 1), quote, isComment }
  }
  const word = /[%\w]*$/.exec(text.slice(start, offset))![0]
  const rest = /^\w*/.exec(text.slice(offset, end))![0]
  const from = offset - word.length
  return { from, to: offset + rest.length, before: text.slice(start, from), quote, isComment }
}

function inQuotes(text: string, place: Place, around: CompletionScope): Suggestion[] {
  const { structures, maps } = around
  const { before, from, to, quote } = place
  if (/^\s*uses\s*$/.test(before)) return plain('url', structures.urls)
  if (/^\s*imports\s*$/.test(before)) return plain('url', maps)
  const table = tableAt(text, from)
  if (table) return codesOf(text, before, table, around)
  const isOpen = text[to] !== quote
  const trial = `${text.slice(0, from)}${PLACEHOLDER}${isOpen ? quote : ''}${text.slice(to)}`
  const at = sightsAt(trial, from, isOpen, around, each => QUOTED.has(each.kind))
  return at.flatMap(sight => {
    if (sight.kind === 'codes') return plain('code', sight.codes)
    if (sight.kind === 'table') return plain('table', sight.tables())
    if (sight.kind === 'type') return plain('type', sight.types ?? dataTypes)
    return []
  })
}

/** The sights of texts in quotation marks. */
const QUOTED = new Set<Sight['kind']>(['codes', 'table', 'type'])

const dataTypes = typeNames.filter(name => !name.includes('.'))

function inCode(text: string, place: Place, around: CompletionScope): Suggestion[] {
  const { before, from, to } = place
  const table = tableAt(text, from)
  if (table) return inTable(text, before, table, around)
  if (/^\s*uses\s+"[^"]*"\s+(?:alias\s+\w+\s+)?$/.test(before)) return plain('keyword', ['alias', 'as'])
  if (/^\s*uses\s+"[^"]*"\s+(?:alias\s+\w+\s+)?as\s+$/.test(before)) return plain('keyword', ['source', 'target'])
  if (/^\w*$/.test(before) && !isInGroup(text, from)) return plain('keyword', DECLARATIONS)
  if (/\w\s*:\s*$/.test(before)) return plain('type', [...aliasesIn(text), ...dataTypes])
  const word = text.slice(from, to)
  const name = word.startsWith('%') ? `%${PLACEHOLDER}` : PLACEHOLDER
  const found = sightsAt(
    `${text.slice(0, from)}${name}${text.slice(to)}`,
    from,
    true,
    around,
    each => !QUOTED.has(each.kind),
  )
  const isValue = /=\s*$/.test(before)
  const named = found.flatMap(sight => suggestionsFor(sight, around.structures, isValue, word.startsWith('%')))
  const isAfterWord = /[\w)'"]\s+$/.test(before)
  return [...named, ...(isAfterWord ? plain('keyword', CLAUSES) : [])]
}

const DECLARATIONS = ['uses', 'imports', 'let', 'group', 'conceptmap']
const CLAUSES = ['as', 'where', 'then', 'check', 'log', 'default', 'first', 'last', 'only_one', 'not_first', 'not_last']

function suggestionsFor(sight: Sight, structures: Structures, isValue: boolean, isMarked: boolean): Suggestion[] {
  switch (sight.kind) {
    case 'element':
      return elements(structures, sight.types ?? [])
    case 'variable':
      return [...variables(sight.variables()), ...(isValue ? transforms() : [])]
    case 'expression':
      if (isMarked) return variables(sight.variables?.() ?? new Map(), '%')
      return [
        ...elements(structures, sight.types ?? []),
        ...variables(sight.variables?.() ?? new Map()),
        ...pathFunctions(),
      ]
    case 'transform':
      return transforms()
    case 'group':
      return groups(sight.groups())
    default:
      return []
  }
}

/** What may be missing behind the name for the compiler to come to it: at the end of a line, and within one. */
const LAST = ['', ';', ' -> zzz.zzz;', '();', ');', '));']
const INNER = ['', '()']

/**
 * Compiles the text with something in place of the word until the compiler has looked it up: what stands behind the
 * cursor is often missing.
 */
function sightsAt(
  trial: string,
  from: number,
  isEndOpen: boolean,
  around: CompletionScope,
  isMeant: (sight: Sight) => boolean,
): readonly Sight[] {
  const line = trial.indexOf('\n', from)
  const end = line < 0 ? trial.length : line
  const word = /^%?\w+['"`]?/.exec(trial.slice(from))![0]
  const isLast = trial.slice(from + word.length, end).trim() === ''
  for (const ending of isEndOpen && isLast ? LAST : INNER) {
    const at = from + word.length
    const found = around
      .see(trial.slice(0, at) + ending + trial.slice(at))
      .filter(each => covers(each.span, from) && isMeant(each))
    if (found.length > 0) return found
  }
  return []
}

/** True if something begins at most at a place and ends behind it. */
export const covers = ({ offset, length }: { readonly offset: number; readonly length: number }, at: number): boolean =>
  offset <= at && at <= offset + length

/** The concept map that a place is in: its head and the prefixes of its code systems. */
interface TablePlace {
  readonly id: string
  readonly prefixes: ReadonlyMap<string, string>
}

function tableAt(text: string, offset: number): TablePlace | undefined {
  const start = text.lastIndexOf('\nconceptmap', offset)
  const head = /^\s*conceptmap\s+"([^"]*)"\s*\{/.exec(text.slice(Math.max(0, start)))
  const body = head && text.slice(Math.max(0, start) + head[0].length, offset)
  if (!head || body === null || body.includes('}')) return undefined
  if (start < 0 && !/^conceptmap/.test(text)) return undefined
  const end = text.indexOf('}', offset)
  const whole = text.slice(Math.max(0, start), end < 0 ? offset : end)
  const found = [...whole.matchAll(/^\s*prefix\s+(\w+)\s*=\s*"([^"]*)"/gm)]
  return { id: head[1]!, prefixes: new Map(found.map(([, name, url]) => [name!, url!])) }
}

function inTable(text: string, before: string, table: TablePlace, around: CompletionScope): Suggestion[] {
  if (/\w+:$/.test(before)) return codesOf(text, before, table, around)
  const marks = [...table.prefixes].map(
    ([name, url]): Suggestion => ({ label: `${name}:`, kind: 'table', detail: url }),
  )
  return [...marks, ...plain('keyword', ['prefix', 'unmapped'])]
}

/** The codes of one side of a line: those that are looked up in the concept map, or those of the code system. */
function codesOf(text: string, before: string, { id, prefixes }: TablePlace, around: CompletionScope): Suggestion[] {
  const prefix = /(\w+):$/.exec(before)?.[1] ?? ''
  const isSource = new RegExp(`^\\s*${prefix}:$`).test(before)
  const known = codeSystemCodes(prefixes.get(prefix) ?? '') ?? []
  const asked = isSource ? lookedUp(around.see(text), id) : []
  return plain('code', [...asked, ...known])
}

/** The codes that rules look up in a concept map of this map. */
export function lookedUp(sights: readonly Sight[], id: string): string[] {
  return sights.flatMap(sight =>
    sight.kind === 'table' && sight.name === `#${id.replace(/^#/, '')}` ? [...(sight.codes ?? [])] : [],
  )
}

function isInGroup(text: string, offset: number): boolean {
  const start = text.lastIndexOf('\ngroup ', offset)
  return start >= 0 && !/^\}/m.test(text.slice(start, offset))
}

const aliasesIn = (text: string): string[] =>
  [...text.matchAll(/^\s*uses\s+"([^"]*)"(?:\s+alias\s+(\w+))?/gm)].map(
    ([, url, alias]) => alias ?? url!.slice(url!.lastIndexOf('/') + 1),
  )

function unique(all: readonly Suggestion[]): Suggestion[] {
  return [...new Map(all.map(each => [`${each.kind} ${each.label}`, each])).values()]
}
