// The owners of the stored resources that a write concerns: from the column, and from their last versions.
import { int2Array, textArray } from '../../db/arrays.ts'
import { isObject, parseJson } from '../../lib/json.ts'
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
    text: `select d.type, d.id, found.* from unnest($1::smallint[], $2::text[]) as given(type, id) join directory d using (type, id)
      cross join lateral (
        select s.owner, false as is_deleted, ${isPatients('s')} as is_patients, null as body
        from search s where s.shard = d.shard and s.key = d.key
        union all
        (select h.owner, true, ${isPatients('h')}, (
            select b.body from history b where b.shard = d.shard and b.type = d.type and b.id = d.id and b.body is not null
              and b.type in (${naming.join(', ')}) order by b.version desc limit 1)
          from history h where h.shard = d.shard and h.type = d.type and h.id = d.id
            and not exists (select from search s where s.shard = d.shard and s.key = d.key)
          order by h.version desc limit 1)
      ) found`,
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
