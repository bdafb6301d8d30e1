// "All available Provenance resources whose Provenance.target is a resource in the Patient compartment" belong to an export of patients:
// these are found before the others, https://hl7.org/fhir/uv/bulkdata/export.html
import { int8Array } from '../../db/arrays.ts'
import type { Queryable } from '../../db/statement.ts'
import { storedKeys } from '../index/param-paths.ts'
import { membersOf } from '../search/sql-compartment.ts'
import type { Session } from '../session.ts'
import { typeNumber } from '../type-number.ts'
import { createContext, type ExportScope, membership } from './scope.ts'

/** Provenances that are looked at by a statement. */
const together = 10_000

/** Puts Provenances whose targets belong to the export into a temporary table, which the conditions on Provenances name. */
export async function addTraced(session: Session, on: Queryable, scope: ExportScope): Promise<void> {
  await on.query({
    text: 'create temporary table traced (key bigint primary key, shard smallint) on commit drop',
    values: [],
  })
  let after: readonly unknown[] | undefined
  do after = await addSome(session, on, scope, after)
  while (after)
  await on.query({ text: 'analyze traced', values: [] })
}

/** Looks at the next ones, from the newest on. @returns the place of the last; undefined if there are no more */
async function addSome(
  session: Session,
  on: Queryable,
  scope: ExportScope,
  after: readonly unknown[] | undefined,
): Promise<readonly unknown[] | undefined> {
  const context = createContext(session)
  const { bind } = context
  const salts = `unnest(${bind(int8Array(storedKeys('Provenance', 'target').map(key => key.salt)))}::bigint[]) as salt`
  const place = after ? ` and (s.date, s.key) < (${bind(after[0])}::bigint, ${bind(after[1])}::bigint)` : ''
  const [last] = await on.query<{ date: number; key: number; found: number }>({
    text: `with few as materialized (
        select s.shard, s.key, s.date, s.refs from search s where s.type = ${typeNumber('Provenance')}${place}
        order by s.date desc, s.key desc limit ${together}
      ), named as materialized (select few.shard, few.key, ref # salt as self from few, unnest(few.refs) as ref, ${salts}),
      inside as materialized (
        select distinct t.self from search t
        where t.self = any(array(select self from named)) and ${membership(scope, membersOf('Patient'), 't', context.indexer, context)}
      ), added as (
        insert into traced select distinct named.key, named.shard from named join inside using (self)
      )
      select date, key, (select count(*) from few) as found from few order by date, key limit 1`,
    values: context.values,
  })
  return last && last.found === together ? [last.date, last.key] : undefined
}
