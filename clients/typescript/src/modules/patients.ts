// client.patients
import type { PatientSearchReply, PatientSummary } from '../generated/types.ts'
import { normalizeHealthId } from '../health-id.ts'
import type { CallOptions } from '../options.ts'
import { at } from '../request.ts'
import type { Sender } from '../sender.ts'

/** Patients: summary, search. */
export class Patients {
  readonly #sender: Sender

  /** @internal */
  constructor(sender: Sender) {
    this.#sender = sender
  }

  /**
   * Gets the summary of a patient: active medications and allergies, recent lab results and visits.
   * @throws ConsentRequiredError unless the patient has consented.
   */
  async getSummary(healthId: string, options?: CallOptions): Promise<PatientSummary> {
    const place = at('/api/v1/sdk/patients/{health_id}/summary', { health_id: normalizeHealthId(healthId) })
    return this.#sender.send({ method: 'GET', place, options })
  }

  /** Searches for a patient by Health ID. */
  async search(healthId: string, options?: CallOptions): Promise<PatientSearchReply> {
    const place = at('/api/v1/connect/patient/search', {})
    return this.#sender.send({ method: 'GET', place, query: { health_id: healthId }, options })
  }
}
