// Parts that the statements of row-texts.ts have in common.
import type { Note } from './access.ts'
import { shardSql, shards } from './index/shard.ts'
import type { ColumnGroup, ColumnPlace } from './row-arrays.ts'

/**
 * Fails the statement, so that the work is run again, if the writer does not know all search parameters, or if its time is before
 * the promise of an export (export/fence.ts). See the migration 0003-writing.
 */
export const guard = (epoch: string, times: string | undefined): string =>
  `guard as materialized (select may_write(${epoch}, ${times ? `(select min(updated_at) from ${times})` : 'null'}) as ok)`

const given = (place: ColumnPlace, ...groups: ColumnGroup[]): string =>
  `${place.unnest(...groups)} with ordinality as given(${place.names(...groups)}, ord)`

const versionColumns = 'updated_at, version, type, method, id, body'
const versionColumnsOf = (row: string): string => versionColumns.replace(/\w+/g, `${row}.$&`)
const readColumns = 'subject, author, about, owner, tokens'
export const readColumnsOf = (row: string): string => readColumns.replace(/\w+/g, `${row}.$&`)

/** New rows, under new row numbers. */
export const numbered = (place: ColumnPlace, ...groups: ColumnGroup[]): string =>
  `select nextval('resource_number') * ${shards} + given.shard as key, given.* from ${given(place, 'version', 'entry', 'placing', ...groups)}`

export const resourceColumns = 'key, shard, type, id, version, method, updated_at, body'
export const resourceValues = resourceColumns.replace('updated_at', 'to_timestamp(updated_at / 1000.0)')

export const searchValues = (
  place: ColumnPlace,
): string => `key, shard, self, nullif(patient, 0), date, date_high, type,
  (${place.array('tokens')})[token_from:token_to], (${place.array('refs')})[ref_from:ref_to], (${place.array('texts')})[text_from:text_to],
  subject, nullif((${place.array('about')})[about_from:about_to], '{}')`

export const searchColumns = 'key, shard, self, patient, date, date_high, type, tokens, refs, texts, subject, about'

/**
 * The narrow rows of what stands in `source`, as parts of a statement; none for groups that hold nothing.
 * @param author the column of the author, and what it comes from if not from `source`
 */
export function indexRows(
  source: string,
  { author, from }: { readonly author: string; readonly from: string },
  place: ColumnPlace,
  has: ReadonlySet<ColumnGroup>,
): string {
  const values = (group: ColumnGroup): string => `${place.unnest(group)} as v(${place.names(group)})`
  const parts: string[] = []
  if (has.has('spans'))
    parts.push(`spans as (
      insert into span (low, high, token, unit, key, shard, param)
      select v.low, v.high, v.token, v.unit, ${source}.key, ${source}.shard, v.param from ${values('spans')} join ${source} using (ord)
    )`)
  if (has.has('codes'))
    parts.push(`codes as (
      insert into coded (posting, date, key, shard, subject, author)
      select v.posting, ${source}.date, ${source}.key, ${source}.shard, ${source}.subject, ${author} from ${values('codes')} join ${source} using (ord)${from}
    )`)
  if (has.has('terms'))
    parts.push(`terms as (
      insert into term (posting, param, folded, grams)
      select posting, param, folded, (${place.array('grams')})[gram_from:gram_to] from ${values('terms')}
      where not exists (select 1 from term t where t.param = v.param and t.posting = v.posting)
    )`)
  if (has.has('words'))
    parts.push(`words as (
      insert into word (key, shard, param, folded, exact)
      select ${source}.key, ${source}.shard, v.param, v.folded, v.exact from ${values('words')} join ${source} using (ord)
    )`)
  return parts.map(part => `, ${part}`).join('')
}

/** What comes with the rows, as parts of their statement. */
export function notesIn(notes: readonly Note[], place: ColumnPlace, from: number): string {
  let next = from
  return notes
    .map(({ name, insertion, columns }) => `, note_${name} as (${insertion(columns.map(() => place.value(next++)))})`)
    .join('')
}

// The rows of a resource are found again by its postings and its date; a further index on the key would cost as much as it saves.
const deleteCodes = (source: string): string =>
  `delete from coded c using ${source} g join search s on s.shard = g.shard and s.key = g.key
    where c.posting = any(s.tokens) and c.date = s.date and c.shard = s.shard and c.key = s.key`

/** Rows of the table that belong to the resources of `source`. */
export const deleteRows = (table: string, source: string): string =>
  `delete from ${table} t using ${source} g where t.shard = g.shard and t.key = g.key`

/** The narrow rows of the resources of `source` go, as parts of a statement: before `search` changes, by which they are found. */
export const deleteEntries = (source: string): string => `old_codes as (
    ${deleteCodes(source)}
  ), old_spans as (
    ${deleteRows('span', source)}
  ), old_words as (
    ${deleteRows('word', source)}
  )`

/** Rows of known keys, which come as the statement's first value. */
export const keyed = (place: ColumnPlace, ...groups: ColumnGroup[]): string =>
  `select given.*, known.key, ${shardSql('known.key')} as shard from ${given(place, ...groups)} join unnest(${place.value(0)}) with ordinality as known(key, ord) using (ord)`

/**
 * The rows of `source` that are still in the version before. A writer holds the row of the directory of each resource that it changes.
 * The directory is on the server that the statement is sent to, wherever the resource is: one writer waits for another in one order, that of the names. The rows
 * themselves are read as they were when the statement began, so what writes them checks the version once more.
 */
export const lockedRows = (source: string): string => `held as materialized (
    select key, shard, version from (
      select d.key, d.shard, g.version from ${source} g join directory d on d.type = g.type and d.id = g.id and d.key = g.key, guard
      where guard.ok order by d.type, d.id for no key update of d
    ) held
  ), locked as materialized (
    select ${versionColumnsOf('r')}, r.key, r.shard from held join resource r using (shard, key) where r.version = held.version - 1
  )`

/** Takes the rows of resources that are locked, if they are as they were when they were read. */
export const deleteResources = `delete from resource t using locked g
    where t.shard = g.shard and t.key = g.key and t.version = g.version returning t.key`

/** @param written the part that has written the resources @param count the place of their number */
export const allWritten = (written: string, count: string): string =>
  `select are_current((select count(*) from ${written}), ${count})`

/** @param shard the bucket of the new row of history */
export const archived = (shard: string, more = ''): string => `
    insert into history (${versionColumns}, shard, ${readColumns})
    select ${versionColumnsOf('l')}, ${shard}, ${readColumnsOf('s')} from locked l join search s on s.shard = l.shard and s.key = l.key${more}`

/** Former versions of what is in another bucket from now on go there. @param source rows with `former`, the row number of before */
export const carriedHistory = (source: string): string => `left_history as (
    delete from history h using ${source} m
    where m.former <> 0 and ${shardSql('m.former')} <> m.shard
      and h.shard = ${shardSql('m.former')} and h.type = m.type and h.id = m.id
    returning ${versionColumnsOf('h')}, ${readColumnsOf('h')}, m.shard
  ), carried_history as (
    insert into history (${versionColumns}, ${readColumns}, shard) select ${versionColumns}, ${readColumns}, shard from left_history
  )`

/** The directory has the ids at their new rows, if nobody else has placed them since they were looked up. */
export const redirected = (source: string): string => `redirected as (
    update directory d set key = m.key, shard = m.shard from ${source} m
    where m.former <> 0 and d.type = m.type and d.id = m.id and d.key = m.former
    returning d.key
  )`
