// Where the rows of a resource are. Tables on one server are joined to the directory; an engine that distributes them chooses the node of
// a statement by the values it comes with, so that the directory is asked first, by a statement of its own.
import { int2Array, textArray } from '../db/arrays.ts'
import { lookUp, type Placed, questionOf } from '../db/look-up.ts'
import type { Queryable } from '../db/statement.ts'
import { namesArrays, type ResourceName } from './lock.ts'
import { typeNumber } from './type-number.ts'

/** A row of the directory. */
export interface DirectoryRow extends Placed {
  readonly key: number
  readonly shard: number
  readonly type: number
  readonly id: string
}

const text = `select g.place::integer, d.key, d.shard, d.type, d.id
  from unnest($1::smallint[], $2::text[]) with ordinality as g(type, id, place) join directory d using (type, id)`

const asked = questionOf({ name: 'place', text, constants: [], arrays: [int2Array, textArray] })

/** Where a resource is, or was before its deletion; undefined if there never was one. */
export const placeOf = (on: Queryable, { type, id }: ResourceName): Promise<DirectoryRow | undefined> =>
  lookUp<DirectoryRow>(on, { question: asked, key: [typeNumber(type), id] })

/** The same for each of the names that has a row, with its place among them from 1. */
export const placesOf = (on: Queryable, named: readonly ResourceName[]): Promise<DirectoryRow[]> =>
  on.query<DirectoryRow>({ name: 'place', isFixed: true, text, values: namesArrays(named) })
