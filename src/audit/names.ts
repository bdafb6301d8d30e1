// What the rows of a chain say over and over is one row of its own, and they name it by number: who asked, and what was done.
import { int2Array, int4Array, textArray } from '../db/arrays.ts'
import { clientKey } from './packed.ts'
import type { AuditRecord } from './record.ts'

/** How rows of a chain name a row of `audit_source` or `audit_kind`. */
interface Named {
  /** The sequence of the first row that names it, so no other one of the chain has it. */
  readonly number: number
  /** Of its client. */
  readonly key: number
}

/** One that is to be added: what the record says of it. */
interface Fresh extends Named {
  readonly record: AuditRecord
}

/** What a chain has named, by its text. */
export interface Names<Each = Named> {
  readonly sources: Map<string, Each>
  readonly kinds: Map<string, Each>
}

export type FreshNames = Names<Fresh>

export const newNames = <Each = Named>(): Names<Each> => ({ sources: new Map(), kinds: new Map() })

/** Names that a process remembers of each sort. What it forgets is named once more. */
const most = 10_000

const sourceOf = ({ clientId, organizationId, tokenId, address, purpose }: AuditRecord): string =>
  `${clientId}\0${tokenId}\0${address}\0${purpose}\0${organizationId}`

const kindOf = ({ interaction, type, action, outcome, problem }: AuditRecord): string =>
  `${interaction}\0${type}\0${action}\0${outcome}\0${problem}`

/** Finds the names of records among those that are known and those that are new. */
export function naming(known: Names, fresh: FreshNames) {
  const find = (sort: keyof Names, text: string, record: AuditRecord, sequence: number): Named => {
    const found = known[sort].get(text) ?? fresh[sort].get(text)
    if (found) return found
    const named = { number: sequence, record, key: sort === 'sources' ? clientKey(record.clientId) : 0 }
    fresh[sort].set(text, named)
    return named
  }
  return {
    source: (record: AuditRecord, sequence: number) => find('sources', sourceOf(record), record, sequence),
    kind: (record: AuditRecord, sequence: number) => find('kinds', kindOf(record), record, sequence),
  }
}

/** Remembers names that are committed. */
export function learn(known: Names, fresh: FreshNames): void {
  for (const sort of ['sources', 'kinds'] as const) {
    if (known[sort].size + fresh[sort].size > most) known[sort].clear()
    for (const [text, { number, key }] of fresh[sort]) known[sort].set(text, { number, key })
  }
}

export const hasNames = ({ sources, kinds }: FreshNames): boolean => sources.size + kinds.size > 0

/** The statements that add them, as parts of another, whose first value is the chain. @param first the place of the first value */
export const namesText = (first: number): string => {
  const at = (place: number, type: string): string => `$${first + place}::${type}[]`
  const texts = (from: number, count: number): string =>
    Array.from({ length: count }, (_, index) => at(from + index, 'text')).join(', ')
  return `source as (
    insert into audit_source (chain, number, client_id, organization_id, token_id, address, purpose)
    select $1::integer, t.* from unnest(${at(0, 'integer')}, ${texts(1, 5)}) as t
  ), kind as (
    insert into audit_kind (chain, number, outcome, action, interaction, problem, resource_type)
    select $1::integer, number, outcome, action::"char", interaction, problem, type
    from unnest(${at(6, 'integer')}, ${at(7, 'smallint')}, ${texts(8, 4)}) as t (number, outcome, action, interaction, problem, type)
  ), `
}

export function namesValues({ sources, kinds }: FreshNames): Buffer[] {
  const [source, kind] = [[...sources.values()], [...kinds.values()]]
  const texts = (of: readonly Fresh[], pick: (record: AuditRecord) => string): Buffer =>
    textArray(of.map(({ record }) => pick(record)))
  return [
    int4Array(source.map(({ number }) => number)),
    texts(source, record => record.clientId),
    texts(source, record => record.organizationId),
    texts(source, record => record.tokenId),
    texts(source, record => record.address),
    texts(source, record => record.purpose),
    int4Array(kind.map(({ number }) => number)),
    int2Array(kind.map(({ record }) => record.outcome)),
    texts(kind, record => record.action),
    texts(kind, record => record.interaction),
    texts(kind, record => record.problem),
    texts(kind, record => record.type),
  ]
}
