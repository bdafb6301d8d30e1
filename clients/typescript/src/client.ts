// The client: one object for one integration client of the service.
import { invalid } from './errors.ts'
import { version } from './generated/version.ts'
import { redacted } from './log.ts'
import { Consents } from './modules/consents.ts'
import { Fhir } from './modules/fhir.ts'
import { HealthIds } from './modules/health-ids.ts'
import { Inventory } from './modules/inventory.ts'
import { Patients } from './modules/patients.ts'
import { Payments } from './modules/payments.ts'
import { Records } from './modules/records.ts'
import { TokenDetails } from './modules/tokens.ts'
import { Webhooks } from './modules/webhooks.ts'
import { type CallOptions, type ClientOptions, checkedOptions } from './options.ts'
import type { Query } from './request.ts'
import type { ResponseInfo } from './response.ts'
import { createSender, type Sender } from './sender.ts'
import { type World, world } from './world.ts'

/** What `client.request` takes beside the options of one call. */
export interface RequestOptions extends CallOptions {
  readonly query?: Query
  /** Written as JSON. */
  readonly body?: unknown
}

/** A client of the service. Make one, and share it: it holds the access token. */
export class ServiceClient {
  /** Health IDs: check, resolve, verify. */
  readonly healthIds: HealthIds
  /** Patients: summary, search. */
  readonly patients: Patients
  /** FHIR R4: search, read, and the resources about a patient by type. */
  readonly fhir: Fhir
  /** Records of a patient, and encounters and lab results to push. */
  readonly records: Records
  /** Consents: request, status, grant, deny, revoke. */
  readonly consents: Consents
  /** Webhook subscriptions, and the verification of what they deliver. */
  readonly webhooks: Webhooks
  /** Pharmacy stock and blood bank. */
  readonly inventory: Inventory
  /** Payment reconciliation. */
  readonly payments: Payments
  /** The access token of this client. */
  readonly tokens: TokenDetails
  readonly #sender: Sender

  private constructor(sender: Sender) {
    this.#sender = sender
    this.healthIds = new HealthIds(sender)
    this.patients = new Patients(sender)
    this.fhir = new Fhir(sender)
    this.records = new Records(sender)
    this.consents = new Consents(sender)
    this.webhooks = new Webhooks(sender)
    this.inventory = new Inventory(sender)
    this.payments = new Payments(sender)
    this.tokens = new TokenDetails(sender)
  }

  /**
   * Creates a client and fetches its access token, so that wrong credentials show at once.
   * @throws AuthenticationError if the credentials are wrong.
   * @throws ValidationError `INVALID_OPTION` if an option is, before any request.
   */
  static async create(options: ClientOptions): Promise<ServiceClient> {
    return ServiceClient.createIn(world, options)
  }

  /** @internal For the tests of the library. */
  static async createIn(surroundings: World, options: ClientOptions): Promise<ServiceClient> {
    const sender = createSender(checkedOptions(options, `health-interop-typescript/${version}`), surroundings)
    await sender.signIn()
    return new ServiceClient(sender)
  }

  /** Details of the response to the last finished call; null before the first. `responseOf(result)` gives those of one result. */
  get lastResponse(): ResponseInfo | null {
    return this.#sender.lastResponse()
  }

  /**
   * Sends a request to any path of the service, with token, retries and errors as for every call.
   * @param path begins with one slash, such as `/api/fhir/R4/metadata`.
   */
  async request<T = unknown>(method: string, path: string, options: RequestOptions = {}): Promise<T> {
    if (!/^[A-Z]+$/.test(method) || !/^\/(?![/\\])[\x21-\x7e]*$/.test(path))
      throw invalid('INVALID_ARGUMENT', 'method must be upper case, and path must begin with one slash.')
    const { query, body } = options
    return this.#sender.send<T>({ method, place: { path, label: redacted(path) }, query, body, options })
  }
}
