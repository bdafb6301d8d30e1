// Who works with the store, as the store sees it; src/access supplies it.
import type { Queryable, Transaction, Transactional } from '../db/statement.ts'
import type { Access, Note, Witness } from './access.ts'
import type { Visibility } from './visibility.ts'

/** create, read, update, delete and search, as SMART v2 abbreviates them. */
export type Interaction = 'c' | 'r' | 'u' | 'd' | 's'

/** Where a change comes from, as those who are told of it learn. */
export interface Origin {
  readonly organizationId: string
  readonly requestId: string
}

/** For which organisation a caller writes, and what of others he may end: rules of consents, and what others own (owners/party.ts). */
export interface Party {
  /** Empty: none. */
  readonly organizationId: string
  /** Everybody's, or those about one patient (id); absent: nobody's. */
  readonly ends?: 'all' | { readonly patient: string }
  /** It is the service itself, with or without an author. */
  readonly isService?: true
}

/** The service itself. */
export const serviceParty: Party = { organizationId: '', ends: 'all', isService: true }

/** The store's view of who asks; src/access supplies it. */
export interface Principal {
  may(type: string, interaction: Interaction): boolean
  /** Who counts as the author of what he creates; absent for the service itself. */
  readonly author?: string
  readonly party: Party
  /** What he may see of what his scopes open; absent: all of it. */
  readonly visibility?: Visibility
  /** The transaction that everything he does is part of; undefined: each thing is one of its own. */
  readonly within?: Transaction
  /** What his statements run by outside of `within`: his share of the database, as long as he waits; absent: the service's own. */
  readonly database?: Transactional
  /** Is told of every access; absent where nobody asks, as in work of the service itself. */
  readonly witness?: Witness
  /** True within an operation, which is recorded as one access: its changes are recorded one by one, its reads are not (operation.ts). */
  readonly isInOperation?: true
  /** What he keeps of changes, in their transaction, until his witness has told them; absent where nobody asks. */
  readonly note?: (changes: readonly Access[]) => Note
  /** The address of the service by which he came, without trailing slash; absent where nobody came. */
  readonly at?: string
  /** What is told of where his changes come from; absent: nobody is told of them, as of a load of old data. */
  readonly origin?: Origin
}

/** What statements of a principal run by: his transaction, his share of the database, or else the service's own room. */
export const databaseOf = (
  { within, database }: Pick<Principal, 'within' | 'database'>,
  own: Transactional,
): Transactional => within ?? database ?? own

/** The same, bound to the service's own database. */
export type DatabaseFor = (principal: Pick<Principal, 'within' | 'database'>) => Transactional

/** A connection, and who reads by it. */
export interface Reading {
  readonly on: Queryable
  readonly principal: Principal
}
