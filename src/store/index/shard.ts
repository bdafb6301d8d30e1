// The bucket of a resource, by which an engine can distribute the tables of resources: all that is about one patient is in one bucket
// (docs/decisions/0095-shard.md).
import { int2Array, safeInt8Array } from '../../db/arrays.ts'
import type { IndexEntry } from './draft.ts'
import { noPatient, several } from './subject.ts'

/** How many buckets there are, for ever: a row number holds its bucket in as many bits. */
export const shards = 1024

/** The bucket of a patient, or of a resource that is about no single patient, by its hash. */
export const shardOf = (self: bigint): number => Number(BigInt.asUintN(10, self))

/** The bucket of a resource: that of the one patient that it is about, else its own. */
export function shardOfEntry({ patient, subject, self }: Pick<IndexEntry, 'patient' | 'subject' | 'self'>): number {
  const isAboutOne = subject !== noPatient && subject !== several
  return shardOf(patient ?? (isAboutOne ? subject : self))
}

/** The bucket that a row number holds. */
export const shardOfKey = (key: number): number => key % shards

/** The buckets of row numbers, each once, as a parameter of type `smallint[]`. */
export const shardArray = (keys: readonly number[]): Buffer => int2Array([...new Set(keys.map(shardOfKey))])

/** SQL for the bucket that a hash, or a row number, leads to. */
export const shardSql = (value: string): string => `(${value} & ${shards - 1})::smallint`

/** Row numbers as two parameters for conditions on `shard` and `key`, `smallint[]` and `bigint[]`. */
export const rowArrays = (keys: readonly number[]): [shards: Buffer, keys: Buffer] => [
  shardArray(keys),
  safeInt8Array(keys),
]
