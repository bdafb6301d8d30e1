// client.inventory
import type {
  BloodInventory,
  InventoryBloodBankParams,
  InventoryPharmacyStockParams,
  StockOutcomes,
  StockPage,
  StockReport,
} from '../generated/types.ts'
import type { CallOptions } from '../options.ts'
import { at } from '../request.ts'
import type { Sender } from '../sender.ts'

/** Pharmacy stock and blood bank. */
export class Inventory {
  readonly #sender: Sender

  /** @internal */
  constructor(sender: Sender) {
    this.#sender = sender
  }

  /** Lists pharmacy stock: one page. */
  async pharmacyStock(params: InventoryPharmacyStockParams = {}, options?: CallOptions): Promise<StockPage> {
    const { facilityId, medicationCode, codeSystem, stockStatus, q, expiringBefore, limit, cursor } = params
    const query = {
      ...{
        facility_id: facilityId,
        medication_code: medicationCode,
        code_system: codeSystem,
        stock_status: stockStatus,
      },
      ...{ q, expiring_before: expiringBefore, limit, cursor },
    }
    return this.#sender.send({ method: 'GET', place: at('/api/v1/connect/pharmacy/stock', {}), query, options })
  }

  /** Reports the stock of a pharmacy. */
  async reportPharmacyStock(report: StockReport, options?: CallOptions): Promise<StockOutcomes> {
    return this.#sender.send({ method: 'PUT', place: at('/api/v1/connect/pharmacy/stock', {}), body: report, options })
  }

  /** Lists the units of the blood bank by group and component: one page. */
  async bloodBank(params: InventoryBloodBankParams = {}, options?: CallOptions): Promise<BloodInventory> {
    const { facilityId, bloodGroup, component, limit, cursor } = params
    const query = { facility_id: facilityId, blood_group: bloodGroup, component, limit, cursor }
    return this.#sender.send({ method: 'GET', place: at('/api/v1/connect/blood-bank/inventory', {}), query, options })
  }
}
