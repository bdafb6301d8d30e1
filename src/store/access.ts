// An access to data, as the record of accesses receives it.
import type { ColumnType } from '../db/arrays.ts'
import type { WriteMethod } from './type-number.ts'

/** What was done, as a code of http://hl7.org/fhir/restful-interaction; `emergency`: emergency access to a patient began; `login`, `logout`: a user's session. */
export type Deed =
  | 'read'
  | 'vread'
  | 'history-instance'
  | 'history-type'
  | 'history-system'
  | 'search-type'
  | 'search-system'
  | 'create'
  | 'update'
  | 'patch'
  | 'delete'
  | 'transaction'
  | 'operation'
  | 'emergency'
  | 'login'
  | 'logout'

/** What each method of HTTP does to a resource that it changes. */
export const deedOfMethod = {
  POST: 'create',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
} as const satisfies Readonly<Record<WriteMethod, Deed>>

/** True for a change, or an attempt at one. */
export const isChange = (deed: Deed): boolean => changes.has(deed)

const changes: ReadonlySet<Deed> = new Set([...Object.values(deedOfMethod), 'transaction'])

/** One access to data, or the attempt at one. */
export interface Access {
  readonly deed: Deed
  readonly type?: string
  readonly id?: string
  readonly version?: number
  /** What the caller asked for beyond type and id: path and parameters, as the service understood them. */
  readonly query?: string
  /** Ids of the patients named, and of those whose data was disclosed or changed. */
  readonly patients: readonly string[]
  /** How many resources were disclosed or changed. */
  readonly resources: number
  /** Why it failed. */
  readonly failure?: unknown
}

export type Witness = (access: Access) => void

/** Rows that exist exactly if the changes do. Those of several changes can be written together. */
export interface Note {
  /** Identifies its statement: notes of one name have the same statement and columns. */
  readonly name: string
  /** The text of the statement that writes it, from the arrays of its columns. */
  readonly insertion: (arrays: readonly string[]) => string
  /** The type of each column. */
  readonly columns: readonly ColumnType[]
  /** The values of each row, in the order of the columns. */
  readonly rows: readonly (readonly unknown[])[]
  /** Called once it is committed. */
  readonly committed: () => void
}
