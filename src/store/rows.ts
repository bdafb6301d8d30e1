// The statements that put rows into the tables of the store, each a single round trip for any number of resources.
import { float8Array, int2Array, int4Array, int8Array, safeInt8Array, textArray } from '../db/arrays.ts'
import type { Queryable } from '../db/database.ts'
import { gramsOf } from './grams.ts'
import type { IndexEntry } from './index-draft.ts'
import { methods, typeNumber } from './type-number.ts'

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

// Arrays of unequal length cannot be nested, so postings travel as one long array and each row says where its own begin and end.
const inputColumns = `type, id, version, method, updated_at, body, self, patient, date, date_high, token_from, token_to, ref_from, ref_to, text_from, text_to`
const inputArrays = `$1::smallint[], $2::text[], $3::integer[], $4::smallint[], $5::bigint[], $6::text[], $7::bigint[], $8::bigint[], $9::bigint[], $10::bigint[],
  $11::integer[], $12::integer[], $13::integer[], $14::integer[], $33::integer[], $34::integer[]`

const searchValues = `key, self, nullif(patient, 0), date, date_high, type,
  ($15::bigint[])[token_from:token_to], ($16::bigint[])[ref_from:ref_to], ($32::bigint[])[text_from:text_to]`

const indexRows = (source: string): string => `
  spans as (
    insert into span (low, high, token, unit, key, param)
    select v.low, v.high, v.token, v.unit, ${source}.key, v.param
    from unnest($17::bigint[], $18::integer[], $19::bigint[], $20::bigint[], $21::double precision[], $22::double precision[])
      as v(ord, param, token, unit, low, high) join ${source} using (ord)
  ), codes as (
    insert into coded (posting, date, key)
    select v.posting, ${source}.date, ${source}.key from unnest($30::bigint[], $31::bigint[]) as v(ord, posting) join ${source} using (ord)
  ), terms as (
    insert into term (posting, param, folded, grams)
    select distinct on (param, posting) posting, param, folded, ($35::integer[])[gram_from:gram_to]
    from unnest($27::bigint[], $28::integer[], $29::text[], $36::integer[], $37::integer[])
      as v(posting, param, folded, gram_from, gram_to)
    where not exists (select from term t where t.param = v.param and t.posting = v.posting)
  ), words as (
    insert into word (key, param, folded, exact)
    select ${source}.key, v.param, v.folded, v.exact
    from unnest($23::bigint[], $24::integer[], $25::text[], $26::text[]) as v(ord, param, folded, exact) join ${source} using (ord)
  )`

/**
 * Nothing is written by one who does not know all search parameters, nor with a time before the promise of an export
 * (fence.ts): then the statement fails, and the work is run again. See the migration 0003-writing.
 */
const guard = (epoch: string, times: string | undefined): string =>
  `guard as materialized (select may_write(${epoch}::bigint, ${times ? `(select min(at) from unnest(${times}::bigint[]) as at)` : 'null'}) as ok)`

const insertText = `
  with ${guard('$38', '$5')}, input as (
    select nextval('resource_key_seq') as key, given.*
    from guard, unnest(${inputArrays}) with ordinality as given(${inputColumns}, ord) where guard.ok
  ), resources as (
    insert into resource (key, type, id, version, method, updated_at, body) overriding system value
    select key, type, id, version, method, to_timestamp(updated_at / 1000.0), body from input
    returning type, id, version
  ), searches as (
    insert into search (key, self, patient, date, date_high, type, tokens, refs, texts) select ${searchValues} from input
  ), ${indexRows('input')}
  select bool_and(is_latest(type, id, version)) from resources where $39::boolean`

/**
 * Inserts new resources with all that they are found by, as of the epoch in which that was worked out. Those that are
 * fresh have ids that this server made for them.
 * @throws the database's unique_violation if an id is taken, HI001 if the epoch has passed, HI002 if a version was used
 * since it was looked for (what does not exist yet cannot be locked); Failure CONFLICT before an export's fence.
 */
export async function insert(
  on: Queryable,
  rows: readonly Row[],
  { epoch, isFresh }: { epoch: number; isFresh: boolean },
): Promise<void> {
  await on.run({ name: 'insert-resources', text: insertText, values: [...parameters(rows), epoch, !isFresh] })
}

/** True if the error says that somebody created a resource under the same id before us. */
export const isTaken = (error: unknown): boolean => (error as { constraint?: unknown }).constraint === 'resource_id'

/** True if the error says that somebody created and deleted a resource while we were about to create it. */
export const isOvertaken = (error: unknown): boolean => (error as { code?: unknown }).code === 'HI002'

// The rows of a resource are found again by its postings and its date; a further index on the key would cost as much as it saves.
const deleteCodes = (source: string): string =>
  `delete from coded c using ${source} join search s using (key) where c.posting = any(s.tokens) and c.date = s.date and c.key = s.key`

const replaceIndex = `searches as (
    update search s set patient = v.patient, date = v.date, date_high = v.date_high, tokens = v.tokens, refs = v.refs, texts = v.texts
    from (select ${searchValues} from changed) as v(key, self, patient, date, date_high, type, tokens, refs, texts) where s.key = v.key
  ), old_codes as (
    ${deleteCodes('changed')}
  ), old_spans as (
    delete from span where key in (select key from changed)
  ), old_words as (
    delete from word where key in (select key from changed)
  ), ${indexRows('changed')}`

const replaceText = `
  with ${guard('$40', '$5')}, input as (
    select given.*, key.key, again.again
    from guard, unnest(${inputArrays}) with ordinality as given(${inputColumns}, ord)
    join unnest($38::bigint[]) with ordinality as key(key, ord) using (ord)
    join unnest($39::smallint[]) with ordinality as again(again, ord) using (ord)
    where guard.ok
  ), archived as (
    insert into history (updated_at, version, type, method, id, body)
    select r.updated_at, r.version, r.type, r.method, r.id, r.body from resource r join input using (key)
  ), resources as (
    update resource r set version = input.version, method = input.method, updated_at = to_timestamp(input.updated_at / 1000.0), body = input.body
    from input where r.key = input.key
  ), changed as (
    select * from input where again = 1
  ), ${replaceIndex}
  select`

const reindexText = `
  with ${guard('$39', undefined)}, changed as (
    select given.*, key.key
    from guard, unnest(${inputArrays}) with ordinality as given(${inputColumns}, ord)
    join unnest($38::bigint[]) with ordinality as key(key, ord) using (ord)
    where guard.ok
  ), ${replaceIndex}
  select`

/** Indexes stored resources anew, without changing them; they must be locked. @throws the database's HI001 if the epoch has passed. */
export async function reindex(on: Queryable, rows: readonly (Row & { key: number })[], epoch: number): Promise<void> {
  const keys = safeInt8Array(rows.map(row => row.key))
  await on.run({ name: 'reindex-resources', text: reindexText, values: [...parameters(rows), keys, epoch] })
}

/** Puts new versions in the place of current ones, which go to history; index rows are touched only where they changed. @throws as insert. */
export async function replace(
  on: Queryable,
  rows: readonly (Row & { key: number; isReindexed: boolean })[],
  epoch: number,
): Promise<void> {
  const keys = safeInt8Array(rows.map(row => row.key))
  const again = int2Array(rows.map(row => (row.isReindexed ? 1 : 0)))
  const values = parameters(
    rows.map(row =>
      row.isReindexed ? row : { ...row, entry: { ...row.entry, spans: [], words: [], terms: [], codes: [] } },
    ),
  )
  await on.run({ name: 'replace-resources', text: replaceText, values: [...values, keys, again, epoch] })
}

const removeText = `
  with ${guard('null', '$5')}, gone as (
    select gone.* from guard, unnest($1::bigint[], $2::smallint[], $3::text[], $4::integer[], $5::bigint[]) as gone(key, type, id, version, updated_at)
    where guard.ok
  ), archived as (
    insert into history (updated_at, version, type, method, id, body)
    select r.updated_at, r.version, r.type, r.method, r.id, r.body from resource r join gone using (key)
    union all
    select to_timestamp(updated_at / 1000.0), version, type, $6::smallint, id, null from gone
  ), codes as (
    ${deleteCodes('gone')}
  ), spans as (
    delete from span where key in (select key from gone)
  ), words as (
    delete from word where key in (select key from gone)
  ), searches as (
    delete from search where key in (select key from gone)
  )
  delete from resource where key in (select key from gone)`

/** Takes resources out of everything but history, which gains the last version and a mark of the deletion. */
export async function remove(
  on: Queryable,
  gone: readonly { key: number; type: string; id: string; version: number; updatedAt: Date }[],
): Promise<void> {
  await on.run({
    name: 'remove-resources',
    text: removeText,
    values: [
      safeInt8Array(gone.map(row => row.key)),
      int2Array(gone.map(row => typeNumber(row.type))),
      textArray(gone.map(row => row.id)),
      int4Array(gone.map(row => row.version)),
      safeInt8Array(gone.map(row => row.updatedAt.getTime())),
      methods.DELETE,
    ],
  })
}

function parameters(rows: readonly Row[]): Buffer[] {
  const entries = rows.map(row => row.entry)
  const tokens = bounds(entries.map(entry => entry.tokens))
  const refs = bounds(entries.map(entry => entry.refs))
  const spans = entries.flatMap((entry, index) => entry.spans.map(span => ({ ...span, ord: index + 1 })))
  const words = entries.flatMap((entry, index) => entry.words.map(word => ({ ...word, ord: index + 1 })))
  const terms = entries.flatMap(entry => entry.terms)
  const grams = terms.map(term => gramsOf(term.folded))
  const gramBounds = bounds(grams)
  const texts = bounds(entries.map(entry => entry.texts))
  const codes = entries.flatMap((entry, index) => entry.codes.map(posting => ({ posting, ord: index + 1 })))
  return [
    int2Array(rows.map(row => row.type)),
    textArray(rows.map(row => row.id)),
    int4Array(rows.map(row => row.version)),
    int2Array(rows.map(row => row.method)),
    safeInt8Array(rows.map(row => row.updatedAt.getTime())),
    textArray(rows.map(row => row.body)),
    int8Array(entries.map(entry => entry.self)),
    int8Array(entries.map(entry => entry.patient ?? 0n)),
    safeInt8Array(entries.map(entry => entry.date)),
    safeInt8Array(entries.map(entry => entry.dateHigh)),
    int4Array(tokens.from),
    int4Array(tokens.to),
    int4Array(refs.from),
    int4Array(refs.to),
    int8Array(entries.flatMap(entry => [...entry.tokens])),
    int8Array(entries.flatMap(entry => [...entry.refs])),
    safeInt8Array(spans.map(span => span.ord)),
    int4Array(spans.map(span => span.param)),
    int8Array(spans.map(span => span.token)),
    int8Array(spans.map(span => span.unit)),
    float8Array(spans.map(span => span.low)),
    float8Array(spans.map(span => span.high)),
    safeInt8Array(words.map(word => word.ord)),
    int4Array(words.map(word => word.param)),
    textArray(words.map(word => word.folded)),
    textArray(words.map(word => word.exact)),
    int8Array(terms.map(term => term.posting)),
    int4Array(terms.map(term => term.param)),
    textArray(terms.map(term => term.folded)),
    safeInt8Array(codes.map(code => code.ord)),
    int8Array(codes.map(code => code.posting)),
    int8Array(entries.flatMap(entry => [...entry.texts])),
    int4Array(texts.from),
    int4Array(texts.to),
    int4Array(grams.flat()),
    int4Array(gramBounds.from),
    int4Array(gramBounds.to),
  ]
}

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
