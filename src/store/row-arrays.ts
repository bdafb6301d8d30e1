// The form in which rows are sent to PostgreSQL: one array per column, in groups; a statement takes only the groups that hold
// something.
import { float8Array, int2Array, int4Array, int8Array, safeInt8Array, textArray } from '../db/arrays.ts'
import type { Addition, IndexEntry } from './index/draft.ts'
import { gramsOf } from './index/grams.ts'
import { shardOfEntry } from './index/shard.ts'

/** A version of a resource on its way into the tables. */
export interface Row {
  readonly type: number
  readonly id: string
  readonly version: number
  readonly method: number
  readonly updatedAt: Date
  readonly body: string
  readonly entry: IndexEntry
}

/** A resource that is stored for the first time. */
export interface Created extends Row {
  /** The hash of its creator. */
  readonly author: bigint
  /** Kept with types that have owners (owners/party.ts). */
  readonly owner: string | null
  /** Its id was made by this server, so that nothing can be stored under it yet. */
  readonly isFresh: boolean
  /** The row number of its last version, if it was deleted; 0 if its id is new. */
  readonly former: number
}

/** How no owner travels: no id has this form. */
export const nobody = ' '

/** The columns of each group with the type of their values. `ord` gives the row that a value belongs to, counted from 1. */
const columns = {
  version: {
    type: 'smallint',
    id: 'text',
    version: 'integer',
    method: 'smallint',
    updated_at: 'bigint',
    body: 'text',
  },
  creation: { author: 'bigint', owner: 'text' },
  // Where new rows are to be, and the row number under which the id was stored before, or 0.
  placing: { shard: 'smallint', former: 'bigint' },
  // PostgreSQL cannot nest arrays of different lengths, so postings travel as one long array, and each row states where its own
  // begin and end.
  entry: {
    self: 'bigint',
    patient: 'bigint',
    date: 'bigint',
    date_high: 'bigint',
    token_from: 'integer',
    token_to: 'integer',
    ref_from: 'integer',
    ref_to: 'integer',
    text_from: 'integer',
    text_to: 'integer',
    subject: 'bigint',
    about_from: 'integer',
    about_to: 'integer',
  },
  addition: { token_from: 'integer', token_to: 'integer', ref_from: 'integer', ref_to: 'integer' },
  tokens: { posting: 'bigint' },
  refs: { posting: 'bigint' },
  texts: { posting: 'bigint' },
  about: { patient: 'bigint' },
  spans: {
    ord: 'bigint',
    param: 'integer',
    token: 'bigint',
    unit: 'bigint',
    low: 'double precision',
    high: 'double precision',
  },
  codes: { ord: 'bigint', posting: 'bigint' },
  words: { ord: 'bigint', param: 'integer', folded: 'text', exact: 'text' },
  terms: { posting: 'bigint', param: 'integer', folded: 'text', gram_from: 'integer', gram_to: 'integer' },
  grams: { gram: 'integer' },
} as const satisfies Record<string, Record<string, string>>

export type ColumnGroup = keyof typeof columns

/** How a statement names what it is sent. */
export interface ColumnPlace {
  /** The array of a group that has one column, `$15::bigint[]`. */
  array(group: ColumnGroup): string
  /** `unnest($1::smallint[], …)` over all columns of the groups. */
  unnest(...groups: ColumnGroup[]): string
  /** The names of these columns, in the same order. */
  names(...groups: ColumnGroup[]): string
  /** The nth value that is no array. */
  value(index: number): string
}

/** Numbers the parameters of a statement: the columns of the groups in order, then single values of these types. */
export function placesOf(groups: readonly ColumnGroup[], values: readonly string[]): ColumnPlace {
  const places = new Map<ColumnGroup, string[]>()
  let number = 0
  for (const group of groups)
    places.set(
      group,
      Object.values(columns[group]).map(type => `$${++number}::${type}[]`),
    )
  const singles = values.map(type => `$${++number}::${type}`)
  return {
    array: group => places.get(group)![0]!,
    unnest: (...wanted) => `unnest(${wanted.flatMap(group => places.get(group)!).join(', ')})`,
    names: (...wanted) => wanted.flatMap(group => Object.keys(columns[group])).join(', '),
    value: index => singles[index]!,
  }
}

/** The groups of every row. */
export type IndexedGroup = Exclude<ColumnGroup, 'creation' | 'placing' | 'addition'>

/** The arrays of each group, in the order of its columns; a group that holds nothing is empty. */
export type Arrays = Readonly<Record<IndexedGroup, readonly Buffer[]>>

/** The versions alone, for those whose index entries stay as they are. */
export function versionArrays(rows: readonly Row[]): readonly Buffer[] {
  return [
    int2Array(rows.map(row => row.type)),
    textArray(rows.map(row => row.id)),
    int4Array(rows.map(row => row.version)),
    int2Array(rows.map(row => row.method)),
    safeInt8Array(rows.map(row => row.updatedAt.getTime())),
    textArray(rows.map(row => row.body)),
  ]
}

export const creationArrays = (rows: readonly Created[]): readonly Buffer[] => [
  int8Array(rows.map(row => row.author)),
  textArray(rows.map(row => row.owner ?? nobody)),
]

/** Where rows are to be, which were somewhere else before, or nowhere. */
export const placingArrays = (rows: readonly (Row & { readonly former: number })[]): readonly Buffer[] => [
  int2Array(rows.map(row => shardOfEntry(row.entry))),
  safeInt8Array(rows.map(row => row.former)),
]

export function arraysOf(rows: readonly Row[]): Arrays {
  const entries = rows.map(row => row.entry)
  return {
    version: versionArrays(rows),
    ...entryArrays(entries),
    ...spanArrays(entries),
    ...wordArrays(entries),
    ...termArrays(entries),
  }
}

/** The arrays of what is added to stored rows. */
export function additionArrays(additions: readonly Addition[]) {
  const tokens = bounds(additions.map(addition => addition.tokens))
  const refs = bounds(additions.map(addition => addition.refs))
  return {
    addition: [tokens.from, tokens.to, refs.from, refs.to].map(int4Array),
    tokens: [int8Array(additions.flatMap(addition => addition.tokens))],
    refs: [int8Array(additions.flatMap(addition => addition.refs))],
    ...spanArrays(additions),
    ...wordArrays(additions),
    ...termArrays(additions),
  } satisfies Partial<Record<ColumnGroup, readonly Buffer[]>>
}

function entryArrays(entries: readonly IndexEntry[]) {
  const tokens = bounds(entries.map(entry => entry.tokens))
  const refs = bounds(entries.map(entry => entry.refs))
  const texts = bounds(entries.map(entry => entry.texts))
  const about = bounds(entries.map(entry => entry.about))
  const codes = entries.flatMap(entry => entry.codes)
  return {
    entry: [
      int8Array(entries.map(entry => entry.self)),
      int8Array(entries.map(entry => entry.patient ?? 0n)),
      safeInt8Array(entries.map(entry => entry.date)),
      safeInt8Array(entries.map(entry => entry.dateHigh)),
      ...[tokens.from, tokens.to, refs.from, refs.to, texts.from, texts.to].map(int4Array),
      int8Array(entries.map(entry => entry.subject)),
      ...[about.from, about.to].map(int4Array),
    ],
    tokens: [int8Array(entries.flatMap(entry => entry.tokens))],
    refs: [int8Array(entries.flatMap(entry => entry.refs))],
    texts: [int8Array(entries.flatMap(entry => entry.texts))],
    about: [int8Array(entries.flatMap(entry => entry.about))],
    codes: unless(codes.length === 0, () => [
      safeInt8Array(ordinals(entries.map(entry => entry.codes))),
      int8Array(codes),
    ]),
  }
}

function spanArrays(entries: readonly Addition[]) {
  const spans = entries.flatMap(entry => entry.spans)
  return {
    spans: unless(spans.length === 0, () => [
      safeInt8Array(ordinals(entries.map(entry => entry.spans))),
      int4Array(spans.map(span => span.param)),
      int8Array(spans.map(span => span.token)),
      int8Array(spans.map(span => span.unit)),
      float8Array(spans.map(span => span.low)),
      float8Array(spans.map(span => span.high)),
    ]),
  }
}

function wordArrays(entries: readonly Addition[]) {
  const words = entries.flatMap(entry => entry.words)
  return {
    words: unless(words.length === 0, () => [
      safeInt8Array(ordinals(entries.map(entry => entry.words))),
      int4Array(words.map(word => word.param)),
      textArray(words.map(word => word.folded)),
      textArray(words.map(word => word.exact)),
    ]),
  }
}

/** Each text comes once: in a bundle most recur, and the statement relies on it. */
function termArrays(entries: readonly Addition[]) {
  const known = new Map<bigint, Addition['terms'][number]>()
  for (const { terms } of entries) for (const term of terms) known.set(term.posting, term)
  const terms = [...known.values()]
  const grams = terms.map(term => gramsOf(term.folded))
  const { from, to } = bounds(grams)
  return {
    terms: unless(terms.length === 0, () => [
      int8Array(terms.map(term => term.posting)),
      int4Array(terms.map(term => term.param)),
      textArray(terms.map(term => term.folded)),
      int4Array(from),
      int4Array(to),
    ]),
    grams: unless(terms.length === 0, () => [int4Array(grams.flat())]),
  }
}

const unless = (isEmpty: boolean, arrays: () => Buffer[]): readonly Buffer[] => (isEmpty ? [] : arrays())

/** For each element of the lists, laid end to end, the number of its list, counted from 1. */
const ordinals = (lists: readonly (readonly unknown[])[]): number[] =>
  lists.flatMap((list, index) => new Array<number>(list.length).fill(index + 1))

/** Where each list begins and ends (1-based, inclusive) when all are laid end to end. */
function bounds(lists: readonly (readonly unknown[])[]): { from: number[]; to: number[] } {
  const from: number[] = []
  const to: number[] = []
  let at = 0
  for (const list of lists) {
    from.push(at + 1)
    to.push((at += list.length))
  }
  return { from, to }
}
