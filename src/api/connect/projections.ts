// The tables of Connect that follow resources.

import { bloodTable } from '../../inventory/blood-table.ts'
import { stockTable } from '../../inventory/stock-table.ts'
import { paymentTable } from '../../payments/payment-table.ts'
import type { Base } from '../../store/base.ts'
import type { Projection } from '../../store/projection.ts'

/**
 * @param base address of this server's FHIR endpoint
 * @param timeZone of the service
 */
export const connectProjections = (base: Base, timeZone: string): Projection[] => [
  stockTable(base),
  bloodTable(base, timeZone),
  paymentTable(base, timeZone),
]
