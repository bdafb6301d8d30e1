// The operations on a patient's consents, and the form in which the interface shows them.
import type { Asker } from '../access/caller.ts'
import type { ConsentRecord } from '../shapes/consent.ts'
import type { Filled } from '../shapes/filled.ts'

/** A consent in the form of the interface. */
export type ConsentStatus = Filled<typeof ConsentRecord>

/** The patient that a consent belongs to. */
export interface Subject {
  /** Id of the Patient. */
  readonly patient: string
  /** In canonical form. */
  readonly healthId: string
}

/** The terms that a patient is asked for, or gives. */
export interface Terms {
  readonly consentType: string
  readonly purpose?: string
  readonly scopes?: readonly string[]
  /** When it ends; undefined: after the usual time. */
  readonly expiresAt?: string
}

export interface ConsentService {
  /** Returns all consents of a patient, or those that concern an organisation, the newest first. */
  list(request: ConsentCall, subject: Subject, organization?: string): Promise<ConsentStatus[]>
  /** Returns the consent for an organisation: the one in force, else the requested one, else the last one. */
  status(request: ConsentCall, subject: Subject, organization: string): Promise<ConsentStatus>
  /** Returns what became of the consents of a patient over time, or of those that concern an organisation, the newest step first. */
  timeline(request: ConsentCall, subject: Subject, organization?: string): Promise<ConsentTimeline>
  /** Requests consent, once: a request that is pending already is answered with the same consent. */
  ask(request: ConsentCall, subject: Subject, organization: string, terms: Terms): Promise<ConsentStatus>
  /** Records that the patient has consented; it replaces what was requested or given of the same type before. */
  grant(
    request: ConsentCall,
    subject: Subject,
    organization: string,
    terms: Terms,
    proof?: string,
  ): Promise<ConsentStatus>
  /**
   * Records the patient's answer to one consent. @throws Failure NOT_FOUND, CONFLICT if its status does not permit the
   * answer.
   */
  answer(
    request: ConsentCall,
    subject: Subject,
    consent: string,
    answer: ConsentDecision,
    expiresAt?: string,
  ): Promise<ConsentStatus>
  /** Records the patient's answer to all consents for an organisation. @throws Failure CONFLICT if there is none. */
  answerAll(
    request: ConsentCall,
    subject: Subject,
    organization: string,
    answer: Exclude<ConsentDecision, 'grant'>,
  ): Promise<ConsentStatus>
}

/** `unanswered`: the time of a request was over; `withdrawn`: deleted, or entered in error. */
export type StepKind =
  | 'requested'
  | 'granted'
  | 'changed'
  | 'denied'
  | 'revoked'
  | 'expired'
  | 'unanswered'
  | 'withdrawn'

/** What happened to a consent. */
export interface ConsentStep {
  readonly kind: StepKind
  readonly at: Date
  /** Id of the Consent, and the version that the step led to or ended. */
  readonly consent: string
  readonly version: number
  /** Who recorded it, as a reference to a Patient or an Organization; undefined where nobody is on record, or time did it. */
  readonly by: string | undefined
  /** The consent after the step; of one that ended, before it. */
  readonly record: ConsentStatus
}

export interface ConsentTimeline {
  readonly steps: readonly ConsentStep[]
  /** True if the patient has older consents, which are not followed. */
  readonly isCut: boolean
}

export type ConsentDecision = 'grant' | 'deny' | 'revoke'

/** The caller, and its request. */
export interface ConsentCall {
  readonly caller: Asker
  readonly requestId: string
}
