// What the pages about the audit trail work with.
import type { TrailCheckParts } from '../../../audit/check.ts'
import type { Auditor, AuditReader } from '../../../audit/reader.ts'
import type { Database } from '../../../db/database.ts'
import type { DatabaseFor } from '../../../store/principal.ts'

export interface AuditPageParts {
  readonly database: Database
  readonly databaseFor: DatabaseFor
  readonly trailFor: (auditor: Auditor) => AuditReader
  /** Seals and anchor of the trail. */
  readonly trail: TrailCheckParts
  /** By which days begin and times are shown, by its IANA name. */
  readonly timeZone: string
}
