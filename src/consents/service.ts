// What can be done about a patient's consents, and how they are told of.
import type { Asker } from '../access/caller.ts'
import type { ConsentRecord } from '../shapes/consent.ts'
import type { Filled } from '../shapes/filled.ts'

/** How a consent stands, as the interface gives it. */
export type ConsentStatus = Filled<typeof ConsentRecord>

/** Whose consent it is. */
export interface Subject {
  /** Id of the Patient. */
  readonly patient: string
  /** In canonical form. */
  readonly healthId: string
}

/** What a patient is asked for, or gives. */
export interface Terms {
  readonly consentType: string
  readonly purpose?: string
  readonly scopes?: readonly string[]
  /** When it ends; undefined: after the usual time. */
  readonly expiresAt?: string
}

export interface ConsentService {
  /** All consents of a patient, the newest first. */
  list(request: ConsentCall, subject: Subject): Promise<ConsentStatus[]>
  /** How the consent for an organisation stands: what is in force, else what is asked for, else what was last. */
  status(request: ConsentCall, subject: Subject, organization: string): Promise<ConsentStatus>
  /** Asks for consent, once: what is asked for already is answered again. */
  ask(request: ConsentCall, subject: Subject, organization: string, terms: Terms): Promise<ConsentStatus>
  /** Records that the patient has consented; in place of what was asked for or given of the same type before. */
  grant(
    request: ConsentCall,
    subject: Subject,
    organization: string,
    terms: Terms,
    proof?: string,
  ): Promise<ConsentStatus>
  /** The patient's answer to one consent. @throws Failure NOT_FOUND, CONFLICT if it does not stand so that this can be answered. */
  answer(
    request: ConsentCall,
    subject: Subject,
    consent: string,
    answer: ConsentDecision,
    expiresAt?: string,
  ): Promise<ConsentStatus>
  /** The patient's answer to whatever there is for an organisation. @throws Failure CONFLICT if there is nothing. */
  answerAll(
    request: ConsentCall,
    subject: Subject,
    organization: string,
    answer: Exclude<ConsentDecision, 'grant'>,
  ): Promise<ConsentStatus>
}

export type ConsentDecision = 'grant' | 'deny' | 'revoke'

/** Who asks, and by which request. */
export interface ConsentCall {
  readonly caller: Asker
  readonly requestId: string
}
