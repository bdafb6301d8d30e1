// The owners of the stored resources that a write concerns: from the column, and from their last versions.

import { int2Array, textArray } from '../../db/arrays.ts'
import { isObject, parseJson } from '../../lib/json.ts'
import { lastVersionsOf } from '../relations.ts'
import { typeName, typeNumber } from '../type-number.ts'
import { type Named, namesOwners, ownedTypes, ownersNamed } from './rules.ts'
import type { Ground } from './speaking.ts'

/** An owned resource as it is stored, or as it was when it was deleted. */
export interface Stored {
  /** The column `owner`. */
  readonly owner: string | null
  readonly isDeleted: boolean
  /** It is about patients. */
  readonly isPatients: boolean
  /** The owners that its last version names. */
  readonly named: readonly Named[]
}

/** JSON of what is stored, by `Type/id`; null: it is deleted. */
export type Bodies = ReadonlyMap<string, { readonly body: string | null }>

interface Row {
  readonly type: number
  readonly id: string
  readonly owner: string | null
  readonly is_deleted: boolean
  readonly is_patients: boolean
  /** Of what is deleted and may name owners. */
  readonly body: string | null
}

const naming = ownedTypes.filter(namesOwners).map(typeNumber)

const isPatients = (row: string): string => `(${row}.subject not in (0, 1) or ${row}.about is not null)`

/** Of the resources, those that are stored or deleted, by `Type/id`. */
export async function storedAmong(
  { on, base }: Ground,
  asked: readonly { readonly type: string; readonly id: string; readonly fresh?: boolean }[],
  current: Bodies,
): Promise<Map<string, Stored>> {
  const known = asked.filter(({ type, id, fresh }) => !fresh && current.has(`${type}/${id}`))
  if (known.length === 0) return new Map()
  const rows = await on.query<Row>({
    name: 'stored-owners',
    text: `with placed as materialized (
        select d.type, d.id, d.shard, d.key from unnest($1::smallint[], $2::text[]) with ordinality as given(type, id) join directory d using (type, id)
      ), now as materialized (
        select placed.type, placed.id, s.owner, ${isPatients('s')} as is_patients from placed join search s using (shard, key)
      ), gone as materialized (
        select placed.type, placed.id from placed where not exists (select 1 from now n where n.type = placed.type and n.id = placed.id)
      ), last as materialized (
        select h.type, h.id, h.owner, ${isPatients('h')} as is_patients from ${lastVersionsOf('gone', 'true')} h
      ), body as materialized (
        select h.type, h.id, h.body from ${lastVersionsOf('gone', `h.body is not null and h.type in (${naming.join(', ')})`)} h
      )
      select now.type, now.id, now.owner, false as is_deleted, now.is_patients, null as body from now
      union all
      select last.type, last.id, last.owner, true, last.is_patients, body.body from last left join body using (type, id)`,
    values: [int2Array(known.map(({ type }) => typeNumber(type))), textArray(known.map(({ id }) => id))],
  })
  return new Map(
    rows.map(({ type, id, owner, is_deleted: isDeleted, is_patients, body }) => {
      const [kind, name] = [typeName(type), `${typeName(type)}/${id}`]
      const last = body ?? (namesOwners(kind) ? current.get(name)?.body : null)
      const resource = last ? parseJson(last) : undefined
      const named = isObject(resource) ? ownersNamed(resource, kind, base) : []
      return [name, { owner, isDeleted, isPatients: is_patients, named }]
    }),
  )
}
