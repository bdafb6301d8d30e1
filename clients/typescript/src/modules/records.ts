// client.records
import { invalid } from '../errors.ts'
import type { EncounterPush, LabResultPush, PatientRecords, PushReply, RecordsListParams } from '../generated/types.ts'
import { normalizeHealthId } from '../health-id.ts'
import type { CallOptions } from '../options.ts'
import { entriesOf } from '../pages.ts'
import { at } from '../request.ts'
import type { Sender } from '../sender.ts'

/** Records of a patient, and encounters and lab results to push. */
export class Records {
  readonly #sender: Sender

  /** @internal */
  constructor(sender: Sender) {
    this.#sender = sender
  }

  /**
   * Lists the records of a patient: diagnoses, prescriptions, lab results, vitals.
   * @throws ConsentRequiredError unless the patient has consented.
   */
  async list(healthId: string, params?: RecordsListParams, options?: CallOptions): Promise<PatientRecords> {
    const place = at('/api/v1/connect/patient/{health_id}/records', { health_id: normalizeHealthId(healthId) })
    return this.#sender.send({ method: 'GET', place, query: { ...params }, options })
  }

  /**
   * Yields all records of one type, over all pages.
   * @throws ValidationError `INVALID_ARGUMENT` without a type or for `all`.
   */
  async *listAll<T extends RecordType>(
    healthId: string,
    type: T,
    params: Omit<RecordsListParams, 'type'> = {},
    options?: CallOptions,
  ): AsyncGenerator<RecordOf<T>, void, undefined> {
    if (!type || (type as string) === 'all') throw invalid('INVALID_ARGUMENT', 'type must be one type of records.')
    const fetchPage = (cursor?: string) =>
      this.list(healthId, { type, ...params, ...(cursor ? { cursor } : {}) }, options)
    yield* entriesOf(fetchPage, page => (page.data[type] ?? []) as readonly RecordOf<T>[], params.cursor)
  }

  /** Pushes an encounter, such as an alert of decision support. Repeats of one call are done once. */
  async pushEncounter(encounter: EncounterPush, options?: CallOptions): Promise<PushReply> {
    return this.#sender.send({
      method: 'POST',
      place: at('/api/v1/sdk/records/encounters', {}),
      body: encounter,
      options,
    })
  }

  /** Pushes a lab result. Repeats of one call are done once. */
  async pushLabResult(labResult: LabResultPush, options?: CallOptions): Promise<PushReply> {
    return this.#sender.send({
      method: 'POST',
      place: at('/api/v1/sdk/records/lab-results', {}),
      body: labResult,
      options,
    })
  }
}

/** A type of records. */
export type RecordType = keyof PatientRecords['data']

/** A record of a type. */
export type RecordOf<T extends RecordType> = NonNullable<PatientRecords['data'][T]>[number]
