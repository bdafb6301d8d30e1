// Who created a resource, as the column `author` holds it.
import { resourceTypes } from '../definitions/r4.ts'
import { hash64 } from '../lib/hash.ts'

/** The hash of an author; 0 for the service itself. */
export const authorHash = (author: string | undefined): bigint =>
  author === undefined ? 0n : hash64(`author ${author}`)

/**
 * Returns SQL for the keys of the resources of the types that the author wrote, or null if there are more than `most`.
 * Both `author` and `types` are SQL for values: a hash, and an array of type numbers.
 *
 * Read in the order of `search_author`, from the first place to the last: a plan that counts on authors who wrote a lot would
 * look through the table, or through the types in another index, and never end for one who wrote nothing. Only that index has the
 * order (test/store/plans-consent.test.ts).
 */
export const keysWrittenBy = (author: string, types: string, most: number): string =>
  `(select case when count(*) <= ${most} then coalesce(array_agg(own.key), '{}') end from (
      select s.key from search s where s.author <> 0 and s.type = any(${types})
        and (s.author, s.type) >= (${author}, (select min(type) from unnest(${types}) as type))
        and (s.author, s.type) <= (${author}, (select max(type) from unnest(${types}) as type))
      order by s.author, s.type limit ${most + 1}) own)`

/** Returns the condition that an author wrote at most so many resources; SQL as above. */
export const wroteAtMost = (author: string, most: number): string =>
  `(select count(*) from (select 1 from search s where s.author = ${author} and s.author <> 0 limit ${most + 1}) own) <= ${most}`

/** Of so few resources, or such a part of all, nothing else is quicker than reading just these. */
const [few, part] = [50, 5]

/**
 * Returns SQL for an array of the types of which an author wrote more than `most` resources, or a fifth of all that there are: to
 * read them all then takes longer than to pass over those of others.
 */
export const writtenMuch = (author: string, most: number): string =>
  `array(select t.type from generate_series(1, ${resourceTypes.length}) as t(type)
      cross join lateral (select count(*) from (
        select 1 from search s where s.author = ${author} and s.author <> 0 and s.type = t.type limit ${most + 1}) own) own
      where own.count > ${most} or own.count > ${few} and own.count * ${part} > (select count(*) from (
        select 1 from search s where s.type = t.type limit ${most * part}) existing))`
