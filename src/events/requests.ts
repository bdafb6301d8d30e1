// What orders and prescriptions share: the period in which they are to be carried out.
// https://hl7.org/fhir/R4/valueset-request-status.html https://hl7.org/fhir/R4/valueset-request-intent.html

import { both, type State, status } from './claims.ts'

const orders: ReadonlySet<unknown> = new Set([
  ...['order', 'original-order', 'reflex-order', 'filler-order', 'instance-order'],
])

/** True for an order to be acted on, not for a proposal or a plan. */
const isMeant: State = ({ intent }) => orders.has(intent)

/** It is to be carried out now, or once it is no longer on hold. */
export const isOpen: State = both(status('active', 'on-hold'), isMeant)

/** It is to be carried out, or has been. */
export const isOrder: State = both(status('active', 'on-hold', 'completed'), isMeant)
