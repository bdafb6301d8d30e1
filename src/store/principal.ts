// Who works with the store, as the store sees it; src/access supplies it.
import type { Queryable, Transaction, Transactional } from '../db/statement.ts'
import type { Access, Note, Witness } from './access.ts'
import type { Visibility } from './visibility.ts'

/** create, read, update, delete and search, as SMART v2 abbreviates them. */
export type Interaction = 'c' | 'r' | 'u' | 'd' | 's'

/** Where a change comes from, as its followers see it. */
export interface Origin {
  readonly organizationId: string
  readonly requestId: string
  /** Receives the ids of the events that a change causes, before it is committed. */
  readonly recorded?: (events: readonly string[]) => void
}

/**
 * The organisation for which a caller writes, and what it may end of others: rules of consents, and resources with owners
 * (owners/party.ts).
 */
export interface Party {
  /** Empty: none. */
  readonly organizationId: string
  /** All of them, or those about one patient (id); absent: none. */
  readonly ends?: 'all' | { readonly patient: string }
  /** It is the service itself, with or without an author. */
  readonly isService?: true
}

/** The service itself. */
export const serviceParty: Party = { organizationId: '', ends: 'all', isService: true }

/** The store's view of the caller; src/access supplies it. */
export interface Principal {
  may(type: string, interaction: Interaction): boolean
  /** The author recorded for what the caller creates; absent for the service itself. */
  readonly author?: string
  readonly party: Party
  /** What the caller may see within its scopes; absent: all of it. */
  readonly visibility?: Visibility
  /** The transaction that all the caller's acts are part of; undefined: each act has its own. */
  readonly within?: Transaction
  /**
   * Where the caller's statements run outside of `within`: its share of the database, with its deadline; absent: the service's own.
   */
  readonly database?: Transactional
  /** Receives every access; absent where none is recorded, as in work of the service itself. */
  readonly witness?: Witness
  /** True within an operation, which is recorded as one access: its changes are recorded one by one, its reads are not (operation.ts). */
  readonly isInOperation?: true
  /** Returns what to keep of changes, in their transaction, until the witness has recorded them; absent where none is recorded. */
  readonly note?: (changes: readonly Access[]) => Note
  /** The address of the service that the caller used, without trailing slash; absent where there was no request. */
  readonly at?: string
  /** The origin that followers see; absent: changes are not passed on to followers, as in a load of old data. */
  readonly origin?: Origin
}

/** Returns where statements of a principal run: its transaction, its share of the database, or else the service's own. */
export const databaseOf = (
  { within, database }: Pick<Principal, 'within' | 'database'>,
  own: Transactional,
): Transactional => within ?? database ?? own

/** The same, bound to the service's own database. */
export type DatabaseFor = (principal: Pick<Principal, 'within' | 'database'>) => Transactional

/** A connection, and the caller who reads by it. */
export interface Reading {
  readonly on: Queryable
  readonly principal: Principal
}
