// The one door to FHIR data: what a caller can do with it. A store is bound to its caller (bind.ts).

import type { Memory } from '../lib/blocks.ts'
import type { Base } from './base.ts'
import type * as change from './change.ts'
import type { EverythingPage } from './everything/everything.ts'
import type { EverythingRequest } from './everything/request.ts'
import type { Exporting } from './export/export.ts'
import type { HistoryPage, HistoryRequest } from './history.ts'
import type { Patch } from './patch/patch.ts'
import type { Interaction } from './principal.ts'
import type { Hit } from './search/hit.ts'
import type { SearchRequest } from './search/request.ts'
import type { SearchResult } from './search/run.ts'
import type { Library } from './terminology/library.ts'
import type { TransactionEntry } from './transaction/entries.ts'
import type { EntryResult } from './transaction/transaction.ts'
import type { Issue } from './validate.ts'
import type { Version } from './versions.ts'
import type { Written } from './write/next-version.ts'

/** What one caller can do with the store. */
export interface Store {
  read(type: string, id: string): Promise<Version & { body: string }>
  readVersion(type: string, id: string, version: number): Promise<Version & { body: string }>
  history(request: Omit<HistoryRequest, 'types'>): Promise<HistoryPage>
  /** Understands a search; separate from running it, because links and errors need its parts. */
  parse(types: readonly string[], params: Iterable<readonly [string, string]>, strict: boolean): SearchRequest
  /**
   * `withheld`: the remark on named patients whose data stayed closed for lack of consent.
   * @param memory where long bodies stay, for a caller that gives it back; absent: they are strings
   */
  search(request: SearchRequest, memory?: Memory): Promise<SearchResult & { readonly withheld: readonly string[] }>
  /** A patient's compartment and what it refers to, or those of all patients. */
  everything(request: EverythingRequest): Promise<EverythingPage>
  /** The newest of each kind among the observations that a search finds. */
  lastn(request: SearchRequest, max: number): Promise<{ matches: readonly Hit[]; warnings: readonly string[] }>
  /** Returns every problem of a resource that is not stored; for callers with any permission on the type. */
  validate(type: string, resource: unknown): Issue[]
  create(type: string, resource: unknown, ifNoneExist?: string): Promise<Written>
  update(type: string, id: string, resource: unknown, preconditions: change.Preconditions): Promise<Written>
  updateWhere(type: string, query: string, resource: unknown, preconditions: change.Preconditions): Promise<Written>
  patch(type: string, id: string, patch: Patch, preconditions: change.Preconditions): Promise<Written>
  patchWhere(type: string, query: string, patch: Patch, preconditions: change.Preconditions): Promise<Written>
  remove(type: string, id: string, preconditions: change.Preconditions): Promise<Written>
  removeWhere(type: string, query: string, preconditions: change.Preconditions): Promise<Written | undefined>
  /** All entries or none; `readEntry` answers the reads among them with a store that sees what was written. */
  transaction<Reply>(
    entries: readonly TransactionEntry[],
    readEntry: (store: Store, entry: TransactionEntry, index: number) => Promise<Reply>,
  ): Promise<EntryResult<Reply>[]>
  /** True if everything is part of a transaction of the caller's. */
  readonly isPart: boolean
  /** Runs work that may fail without harm to the rest: within a transaction, it alone is rolled back. */
  separately<T>(work: (store: Store) => Promise<T>): Promise<T>
  /** What background exports need beyond searching. */
  exporting(): Exporting
  /** The meaning of texts that name this data set by an address. */
  readonly base: Base
  /** Value sets, code systems and concept maps as the caller may see them, for one request. */
  library(): Library
  /** Returns the types on which the caller may do this. */
  allowedTypes(interaction: 'r' | 's'): string[]
  may(type: string, interaction: Interaction): boolean
}
