// What an import works with.
import type { Database } from '../../db/database.ts'
import type { Store } from '../../store/store.ts'
import type { Outputs } from './files.ts'
import type { Folder } from './folder.ts'
import type { HeldJob } from './jobs.ts'

export interface ImportParts {
  readonly database: Database
  readonly job: HeldJob
  readonly store: Store
  readonly folder: Folder
  readonly outputs: Outputs
  readonly signal: AbortSignal
  readonly now: () => Date
  /** Downloads an address to a file, within the bounds of the settings, and returns its size. */
  readonly download: (url: string, path: string, signal: AbortSignal) => Promise<number>
  /** Longest line that is taken. */
  readonly mostBytes: number
}
