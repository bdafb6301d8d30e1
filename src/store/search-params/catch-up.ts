// What a process knows of the search parameters that users defined, brought up to date.
import type { Transactional } from '../../db/statement.ts'
import { isObject, parseJson } from '../../lib/json.ts'
import type { Indexer } from '../index/entry.ts'
import { typeName, typeNumber } from '../type-number.ts'
import { watchedTypes } from '../watched.ts'
import { type DefinedParam, readDefinition } from './definition.ts'
import type { OwnParam, Suspended } from './known.ts'
import { withSuspension } from './suspension.ts'

/** Definitions that were read before, by their text: most of them stay as they are. */
const readBefore = new WeakMap<Indexer, ReadonlyMap<string, readonly DefinedParam[]>>()

/** Reads the table again, so that the indexer works by its current state. Definitions are compiled after all locks are released. */
export async function catchUp(database: Transactional, indexer: Indexer): Promise<void> {
  const { rows, watched, epoch } = await database.transaction(async on => {
    await on.query({ text: 'select pg_advisory_xact_lock_shared(1, 2)', values: [] })
    const [state] = await on.query<{ epoch: number }>({
      text: 'select last_value as epoch from index_epoch',
      values: [],
    })
    const rows = await on.query<Row>({ name: 'search-parameters', text: rowsText, values: [] })
    return { rows, watched: await watchedTypes(on), epoch: state!.epoch }
  })
  const before = readBefore.get(indexer)
  const read = new Map<string, readonly DefinedParam[]>()
  for (const { body } of rows) if (!read.has(body)) read.set(body, before?.get(body) ?? definedBy(body))
  readBefore.set(indexer, read)
  indexer.adopt({ own: rows.flatMap(row => paramOf(row, read.get(row.body)!) ?? []), watched, epoch })
}

interface Row {
  readonly type: number
  readonly code: string
  readonly client: string
  readonly is_ready: boolean
  readonly cause: Suspended['cause'] | null
  readonly reason: string | null
  readonly body: string
}

const rowsText = `select p.type, p.code, p.client, p.is_ready, p.cause, p.reason, r.body
  from (
    select p.type, p.code, p.client, p.is_ready, s.cause, s.reason, d.shard, d.key
    from search_parameter p join directory d on d.type = ${typeNumber('SearchParameter')} and d.id = p.id ${withSuspension}
  ) p join resource r using (shard, key)
  order by p.type, p.code`

function definedBy(body: string): readonly DefinedParam[] {
  const resource = parseJson(body)
  if (!isObject(resource)) throw new Error('a stored SearchParameter is not an object')
  return readDefinition(resource).params
}

function paramOf(row: Row, defined: readonly DefinedParam[]): OwnParam | undefined {
  const param = defined.find(each => each.code === row.code && each.of === typeName(row.type))
  const suspended = row.cause === null ? undefined : { cause: row.cause, reason: row.reason! }
  return param && { ...param, client: row.client, isReady: row.is_ready, suspended }
}
