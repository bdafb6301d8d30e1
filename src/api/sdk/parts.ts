// What the SDK operations work with.
import type { Caller } from '../../access/caller.ts'
import type { AuditReader } from '../../audit/reader.ts'
import type { ConsentService } from '../../consents/service.ts'
import type { People } from '../../interactions/people.ts'
import type { MapService } from '../../mapping/service.ts'
import type { Translator } from '../../mapping/translator.ts'
import type { ConsentTypes } from '../../shapes/consent-types.ts'
import type { Acting } from '../../store/unit-of-work.ts'

export interface SdkParts extends Acting {
  readonly translator: Translator
  readonly consents: ConsentService
  /** The consent types in force. */
  readonly consentTypes: () => ConsentTypes
  readonly mapsFor: (client: string) => MapService
  readonly peopleFor: (caller: Caller) => People
  readonly trailFor: (caller: Caller) => AuditReader
  readonly now: () => Date
}
