// client.healthIds
import type { ResolveReply, ResolveRequest, VerifyReply } from '../generated/types.ts'
import { normalizeHealthId } from '../health-id.ts'
import type { CallOptions } from '../options.ts'
import { at } from '../request.ts'
import type { Sender } from '../sender.ts'

/** Health IDs: check, resolve, verify. */
export class HealthIds {
  readonly #sender: Sender

  /** @internal */
  constructor(sender: Sender) {
    this.#sender = sender
  }

  /**
   * Checks a Health ID and returns its canonical form, without a request. Small letters, spaces and dashes do not matter.
   * @throws ValidationError `INVALID_HEALTH_ID` if it is none.
   */
  normalize(text: string): string {
    return normalizeHealthId(text)
  }

  /**
   * Finds a patient by Health ID or demographics, or registers a new one. `status` says which: `found`, `created` or `not_found`.
   * @param person a `health_id`, or `first_name`, `last_name` and `date_of_birth`.
   */
  async resolve(person: ResolveRequest, options?: CallOptions): Promise<ResolveReply> {
    const place = at('/api/v1/connect/patients/resolve', {})
    return this.#sender.send({ method: 'POST', place, body: person, options })
  }

  /** Verifies a Health ID: whether its symbols are right, and whether it is registered. */
  async verify(healthId: string, options?: CallOptions): Promise<VerifyReply> {
    const place = at('/api/v1/connect/patients/verify/{health_id}', { health_id: healthId })
    return this.#sender.send({ method: 'GET', place, options })
  }
}
