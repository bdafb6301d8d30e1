// client.payments
import type { PaymentsReconciliationParams, Reconciliation } from '../generated/types.ts'
import type { CallOptions } from '../options.ts'
import { at } from '../request.ts'
import type { Sender } from '../sender.ts'

/** Payment reconciliation. */
export class Payments {
  readonly #sender: Sender

  /** @internal */
  constructor(sender: Sender) {
    this.#sender = sender
  }

  /**
   * Gets the payments of a day, matched with invoices: one page.
   * @param date such as `2026-01-31`.
   */
  async reconciliation(
    date: string,
    params?: PaymentsReconciliationParams,
    options?: CallOptions,
  ): Promise<Reconciliation> {
    const place = at('/api/v1/connect/payments/reconciliation', {})
    return this.#sender.send({ method: 'GET', place, query: { date, ...params }, options })
  }
}
