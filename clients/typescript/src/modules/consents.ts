// client.consents
import type { ConsentGrant, ConsentRecord, ConsentRequested, ConsentTypeList } from '../generated/types.ts'
import { normalizeHealthId } from '../health-id.ts'
import type { CallOptions } from '../options.ts'
import { at } from '../request.ts'
import type { Sender } from '../sender.ts'

/** Consents: request, status, grant, deny, revoke. */
export class Consents {
  readonly #sender: Sender

  /** @internal */
  constructor(sender: Sender) {
    this.#sender = sender
  }

  /**
   * Requests consent of a patient. The event `consent.granted` or `consent.denied` tells the answer.
   * @param requestedScopes such as `['patients:read', 'labs:read']`.
   */
  async request(
    healthId: string,
    purpose: string,
    requestedScopes: readonly string[],
    options?: CallOptions,
  ): Promise<ConsentRequested> {
    const body = { health_id: normalizeHealthId(healthId), purpose, requested_scopes: requestedScopes }
    return this.#sender.send({ method: 'POST', place: at('/api/v1/sdk/consents/requests', {}), body, options })
  }

  /** Gets the status of the consent between a patient and this client's organisation. */
  async status(healthId: string, options?: CallOptions): Promise<ConsentRecord> {
    return this.#sender.send({ method: 'GET', place: consent(healthId, 'status'), options })
  }

  /** Records that the patient, who is present or verified, granted consent. */
  async grant(healthId: string, grant: ConsentGrant, options?: CallOptions): Promise<ConsentRecord> {
    return this.#sender.send({ method: 'POST', place: consent(healthId, 'grant'), body: grant, options })
  }

  /** Records that the patient denied consent. */
  async deny(healthId: string, options?: CallOptions): Promise<ConsentRecord> {
    return this.#sender.send({ method: 'POST', place: consent(healthId, 'deny'), options })
  }

  /** Records that the patient revoked consent: access ends with the next request. */
  async revoke(healthId: string, options?: CallOptions): Promise<ConsentRecord> {
    return this.#sender.send({ method: 'POST', place: consent(healthId, 'revoke'), options })
  }

  /** Lists the types of consents, and what each opens. */
  async types(options?: CallOptions): Promise<ConsentTypeList> {
    return this.#sender.send({ method: 'GET', place: at('/api/v1/connect/consent-types', {}), options })
  }
}

const consent = (healthId: string, action: string) =>
  at(`/api/v1/connect/patient/{health_id}/consent/${action}`, { health_id: normalizeHealthId(healthId) })
