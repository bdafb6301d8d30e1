// client.tokens
import type { SdkIntrospection } from '../generated/types.ts'
import type { CallOptions } from '../options.ts'
import { at } from '../request.ts'
import type { Sender } from '../sender.ts'

/** The access token of this client. */
export class TokenDetails {
  readonly #sender: Sender

  /** @internal */
  constructor(sender: Sender) {
    this.#sender = sender
  }

  /** Describes the access token that this client uses: its scopes, and when it expires. */
  async introspect(options?: CallOptions): Promise<SdkIntrospection> {
    return this.#sender.send({ method: 'GET', place: at('/api/v1/sdk/token/introspect', {}), options })
  }
}
