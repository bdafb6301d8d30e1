// What the pages about the service itself work with.
import type { Database } from '../../../db/database.ts'
import type { DemoData } from '../../../demo/data.ts'
import type { Config, Environment } from '../../../lib/config.ts'
import type { DatabaseFor } from '../../../store/principal.ts'

export interface OperationPageParts {
  readonly database: Database
  readonly databaseFor: DatabaseFor
  readonly environment: Environment
  /** The settings in force. */
  readonly config: Pick<Config, 'texts'>
  /** The figures of all processes, as Prometheus scrapes them. */
  readonly metrics: () => Promise<string>
  readonly demo: DemoData
  /** Of the interface. */
  readonly version: string
  readonly now: () => Date
  readonly timeZone: string
}
