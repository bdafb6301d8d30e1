// What the Connect operations work with.

import type { ConsentService } from '../../consents/service.ts'
import type { Outbox } from '../../events/outbox.ts'
import type { Cursors } from '../../lib/cursor.ts'
import type { Translator } from '../../mapping/translator.ts'
import type { Addresses } from '../../mpi/register/patient.ts'
import type { Register } from '../../mpi/register/register.ts'
import type { Reach } from '../../outbound/address.ts'
import type { ConsentTypes } from '../../shapes/consent-types.ts'
import type { Registered } from '../../store/owners/speaking.ts'
import type { Acting } from '../../store/unit-of-work.ts'

export interface ConnectParts extends Acting {
  readonly registered: Registered
  readonly translator: Translator
  readonly register: Register
  readonly consents: ConsentService
  /** What patients can consent to at the moment. */
  readonly consentTypes: () => ConsentTypes
  /** Of the identifiers that this service gives. */
  readonly addresses: Addresses
  readonly now: () => Date
  readonly cursors: Cursors
  /** Whose calendar days count, by its IANA name. */
  readonly timeZone: string
  /** Events that follow from no resource. */
  readonly outbox: Outbox
  /** Where webhooks may be sent to. */
  readonly reach: Reach
  /** The key that encrypts stored secrets. */
  readonly encryptionKey: Buffer
  /** local, sandbox or production. */
  readonly environment: string
  /** Makes this process look for deliveries. */
  readonly wakeWebhooks: () => void
}
