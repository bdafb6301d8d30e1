// The texts of the statements that put rows into the tables of the store, or take them out. A text has only the parts that it needs:
// PostgreSQL opens every table and index that one names, used or not.
import type { Note } from './access.ts'
import { shardSql } from './index/shard.ts'
import { ownedTypes } from './owners/rules.ts'
import { type ColumnGroup, type ColumnPlace, nobody } from './row-arrays.ts'
import {
  allWritten,
  archived,
  carriedHistory,
  deleteEntries,
  deleteResources,
  deleteRows,
  guard,
  indexRows,
  keyed,
  lockedRows,
  notesIn,
  numbered,
  readColumnsOf,
  redirected,
  resourceColumns,
  resourceValues,
  searchColumns,
  searchValues,
} from './row-parts.ts'
import { typeNumber } from './type-number.ts'

const owned = ownedTypes.map(typeNumber).join(', ')

export const insertText = (
  place: ColumnPlace,
  has: ReadonlySet<ColumnGroup>,
  { notes, isAgain }: { readonly notes: readonly Note[]; readonly isAgain: boolean },
): string => `
  with input as (${numbered(place, 'creation')}), ${guard(place.value(0), 'input')}, resources as (
    insert into resource (${resourceColumns}) select ${resourceValues} from input, guard where guard.ok
  ), placed as (
    insert into directory (key, type, shard, id) select key, type, shard, id from input where former = 0
  )${isAgain ? `, ${redirected('input')}, ${carriedHistory('input')}` : ''}, searches as (
    insert into search (${searchColumns}, author, owner)
    select ${searchValues(place)}, author, case when type in (${owned}) then nullif(owner, '${nobody}') end from input
  )${indexRows('input', { author: 'input.author', from: '' }, place, has)}${notesIn(notes, place, 1)}
  select${isAgain ? ` are_current((select count(*) from redirected), (select count(*) from input where former <> 0))` : ''}`

// An engine that distributes tables runs the parts one after the other, and each sees what those before it did. So what is found by the
// rows of before comes before these change.
const replaceIndex = (
  place: ColumnPlace,
  has: ReadonlySet<ColumnGroup>,
): string => `${deleteEntries('changed')}, searches as (
    update search s set patient = v.patient, date = v.date, date_high = v.date_high, tokens = v.tokens, refs = v.refs, texts = v.texts,
      subject = v.subject, about = v.about
    from (select ${searchValues(place)} from changed) as v(${searchColumns}) where s.shard = v.shard and s.key = v.key
  )${indexRows('changed', authorOfChanged, place, has)}`

const authorOfChanged = {
  author: 's.author',
  from: ' join search s on s.shard = changed.shard and s.key = changed.key',
}

const replaceBody = `${lockedRows('input')}, archived as (${archived('l.shard')}
  ), resources as (
    update resource r set version = input.version, method = input.method, updated_at = to_timestamp(input.updated_at / 1000.0), body = input.body
    from input join locked using (shard, key) where r.shard = input.shard and r.key = input.key and r.version = locked.version
    returning r.key
  )`

export const replaceText = (place: ColumnPlace, has: ReadonlySet<ColumnGroup>): string => `
  with input as (${keyed(place, 'version', 'entry')}), ${guard(place.value(1), 'input')}, ${replaceBody}, changed as (
    select * from input
  ), ${replaceIndex(place, has)}
  ${allWritten('resources', place.value(2))}`

export const replaceBodyText = (place: ColumnPlace): string => `
  with input as (${keyed(place, 'version')}), ${guard(place.value(1), 'input')}, ${replaceBody}
  ${allWritten('resources', place.value(2))}`

// All rows go, and come again under the new row number: as a new version, or as the version that there is.
export const moveText = (place: ColumnPlace, has: ReadonlySet<ColumnGroup>, isNew: boolean): string => `
  with input as (${numbered(place)}), ${guard(place.value(0), isNew ? 'input' : undefined)}, leaving as (
    select type, id, former as key, version + ${isNew ? 0 : 1} as version from input
  ), ${lockedRows('leaving')}, ${carriedHistory('input')}, ${isNew ? `archived as (${archived('m.shard', ' join input m on m.former = l.key')}), ` : ''}${redirected('input')}, ${deleteEntries('locked')}, old_resources as (
    ${deleteResources}
  ), old_searches as (
    ${deleteRows('search', 'locked')} returning t.key, t.author, t.owner
  ), ${isNew ? newVersions : sameVersions}, searches as (
    insert into search (${searchColumns}, author, owner)
    select new.*, old.author, old.owner
    from (select ${searchValues(place)} from input) as new(${searchColumns}) join input m using (key) join old_searches old on old.key = m.former
  ), forwarded as (
    update moved f set key = m.key from input m where f.key = m.former
  ), noted as (
    insert into moved (former, key) select m.former, m.key from input m join locked l on l.key = m.former
  )${indexRows('input', authorOfMoved, place, has)}
  ${allWritten('old_resources', place.value(1))}`

const authorOfMoved = { author: 'old.author', from: ' join old_searches old on old.key = input.former' }

const newVersions = `resources as (
    insert into resource (${resourceColumns}) select ${resourceValues} from input
  )`

const sameVersions = `resources as (
    insert into resource (${resourceColumns})
    select m.key, m.shard, l.type, l.id, l.version, l.method, l.updated_at, l.body from locked l join input m on m.former = l.key
  )`

export const reindexText = (place: ColumnPlace, has: ReadonlySet<ColumnGroup>): string => `
  with ${guard(place.value(1), undefined)}, changed as (
    select known.* from guard, (${keyed(place, 'version', 'entry')}) known where guard.ok
  ), ${replaceIndex(place, has)}
  select`

export const removeText = `
  with gone as (
    select gone.*, ${shardSql('gone.key')} as shard
    from unnest($1::bigint[], $2::smallint[], $3::text[], $4::integer[], $5::bigint[]) as gone(key, type, id, version, updated_at)
  ), ${guard('null', 'gone')}, ${lockedRows('gone')}, archived as (${archived('l.shard')}
    union all
    select to_timestamp(g.updated_at / 1000.0), g.version, g.type, $6::smallint, g.id, null::text, g.shard, ${readColumnsOf('s')}
    from gone g join locked l using (shard, key) join search s on s.shard = g.shard and s.key = g.key
  ), ${deleteEntries('gone')}, searches as (
    ${deleteRows('search', 'gone')}
  ), resources as (
    ${deleteResources}
  )
  ${allWritten('resources', '$7::bigint')}`

/** Entries beside those that there are. */
export const addText = (place: ColumnPlace, has: ReadonlySet<ColumnGroup>): string => `
  with ${guard(place.value(1), undefined)}, changed as (
    select known.* from guard, (${keyed(place, 'addition')}) known where guard.ok
  ), searches as (
    update search s set tokens = s.tokens || (${place.array('tokens')})[token_from:token_to], refs = s.refs || (${place.array('refs')})[ref_from:ref_to]
    from changed where s.shard = changed.shard and s.key = changed.key and (token_to >= token_from or ref_to >= ref_from)
  )${indexRows('changed', { author: '0', from: '' }, place, has)}
  select`
