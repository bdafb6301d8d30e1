// What the Connect operations work with.

import type { Database } from '../db/database.ts'
import type { Translator } from '../mapping/translator.ts'
import type { Caller } from '../policy/caller.ts'
import type { Principal } from '../store/session.ts'
import type { Store } from '../store/store.ts'
import type { Whole } from '../store/whole.ts'
import type { Cursors } from './cursor.ts'

export interface ConnectParts {
  readonly database: Database
  readonly storeFor: (principal: Principal) => Store
  readonly translator: Translator
  /** Of the service, without trailing slash: the systems of its identifiers begin with it. */
  readonly baseUrl: string
  readonly now: () => Date
  /** One transaction for several acts of a caller. */
  readonly whole: Whole
  readonly cursors: Cursors
  /** Whose calendar days count, by its IANA name. */
  readonly timeZone: string
}

/** What a map is told beside the record: who called, and when. */
export function contextOf(parts: ConnectParts, request: { readonly caller: Caller; readonly requestId: string }) {
  return {
    base_url: parts.baseUrl,
    received_at: parts.now().toISOString(),
    request_id: request.requestId,
    organization_id: request.caller.organizationId,
  }
}
