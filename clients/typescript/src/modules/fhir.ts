// client.fhir
import type { AnyResource, Bundle, FhirResource, SearchParams } from '../fhir.ts'
import { FhirByType } from '../generated/fhir-types.ts'
import { normalizeHealthId } from '../health-id.ts'
import { redacted } from '../log.ts'
import type { CallOptions } from '../options.ts'
import { resourcesOf } from '../pages.ts'
import { at } from '../request.ts'
import type { Sender } from '../sender.ts'

/** FHIR R4: search, read, and the resources about a patient by type. */
export class Fhir extends FhirByType {
  readonly #sender: Sender

  /** @internal */
  constructor(sender: Sender) {
    super()
    this.#sender = sender
  }

  /** Searches the resources of a type: one page. Pass it to `iterate` for all, or use `searchAll`. */
  async search<R extends AnyResource = FhirResource>(
    type: R['resourceType'],
    params?: SearchParams,
    options?: CallOptions,
  ): Promise<Bundle<R>> {
    return this.#sender.send({ method: 'GET', place: at('/api/fhir/R4/{type}', { type }), query: params, options })
  }

  /** Searches the resources of a type, over all pages: `for await (const each of client.fhir.searchAll('Patient'))`. */
  async *searchAll<R extends AnyResource = FhirResource>(
    type: R['resourceType'],
    params?: SearchParams,
    options?: CallOptions,
  ): AsyncGenerator<R, void, undefined> {
    yield* this.iterate(await this.search<R>(type, params, options), options)
  }

  /** Reads one resource. @throws NotFoundException if there is none, or it was deleted. */
  async read<R extends AnyResource = FhirResource>(
    type: R['resourceType'],
    id: string,
    options?: CallOptions,
  ): Promise<R> {
    return this.#sender.send({ method: 'GET', place: at('/api/fhir/R4/{type}/{id}', { type, id }), options })
  }

  /** Yields the resources of a page and of all following ones; resources that were only included are left out. */
  iterate<R extends AnyResource = FhirResource>(
    bundle: Bundle<R>,
    options?: CallOptions,
  ): AsyncGenerator<R, void, undefined> {
    return resourcesOf(bundle, path =>
      this.#sender.send({ method: 'GET', place: { path, label: redacted(path) }, options }),
    )
  }

  /**
   * Searches the resources of a type that are about a patient: one page.
   * @throws ConsentRequiredError unless the patient has consented.
   */
  async patientSearch<R extends AnyResource = FhirResource>(
    healthId: string,
    type: R['resourceType'],
    filters?: SearchParams,
    options?: CallOptions,
  ): Promise<Bundle<R>> {
    const place = at('/api/v1/sdk/patients/{health_id}/fhir/{type}', { health_id: normalizeHealthId(healthId), type })
    return this.#sender.send({ method: 'GET', place, query: filters, options })
  }

  /** Gets everything about a patient that consent opens, page by page. */
  async patientEverything<R extends AnyResource = FhirResource>(
    healthId: string,
    filters?: SearchParams,
    options?: CallOptions,
  ): Promise<Bundle<R>> {
    const place = at('/api/v1/sdk/patients/{health_id}/fhir/$everything', { health_id: normalizeHealthId(healthId) })
    return this.#sender.send({ method: 'GET', place, query: filters, options })
  }
}
