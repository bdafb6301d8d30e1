// Results name their order by the number that its placer gave (basedOn.identifier). Where the service has the order, they refer to it.
import { type Caller, system } from '../access/caller.ts'
import { isObject, type JsonObject, objectsIn } from '../lib/json.ts'
import { isId } from '../store/ids.ts'
import type { Acting } from '../store/unit-of-work.ts'
import type { Planned } from './known.ts'
import { identifiedBy, storedAt, storedWhere } from './stored.ts'

/** What the system of a number ends with that is an id of the service: `IdToEi` in mappings/hl7v2/out.fml. */
const ownNumbers = '/placer-order/HEALTH-INTEROP'

/** The number of an order, and whose it is. */
interface OrderNumber {
  readonly system: string
  readonly value: string
}

/** Names, as `Type system|value`, of the orders that entries refer to by number. */
export const orderNames = (entries: readonly Planned[]): string[] =>
  entries.flatMap(entry => numbersIn(entry).map(({ system, value }) => `ServiceRequest ${system}|${value}`))

/**
 * Returns the entries with references to the orders that are stored: of the same patient, or of one that is the same person by a merge. Other
 * numbers stay as they are.
 */
export async function withOrders(
  parts: Acting,
  caller: Caller,
  entries: readonly Planned[],
): Promise<readonly Planned[]> {
  const found = new Map<string, string | undefined>()
  for (const entry of entries) {
    const patients = patientsOf(entry)
    for (const number of patients === '' ? [] : numbersIn(entry)) {
      const name = nameOf(number, patients)
      if (!found.has(name)) found.set(name, await orderOf(parts, caller, number, patients))
    }
  }
  if (![...found.values()].some(each => each !== undefined)) return entries
  return entries.map(entry => ({ ...entry, resource: linked(entry, found) }))
}

const nameOf = ({ system, value }: OrderNumber, patients: string): string => JSON.stringify([system, value, patients])

const resourceOf = ({ resource }: Planned): JsonObject => (isObject(resource) ? resource : {})

/** Ids of the patients of whom one is the subject, joined: the condition of the entry names them (whose.ts). */
const patientsOf = ({ query }: Planned): string => new URLSearchParams(query).get('patient') ?? ''

/** Of messages only, which are merged: a resource is stored as it was sent. */
const numbersIn = (entry: Planned): OrderNumber[] =>
  entry.merge ? objectsIn(resourceOf(entry)['basedOn']).flatMap(each => numberIn(each) ?? []) : []

function numberIn({ type, reference, identifier }: JsonObject): OrderNumber | undefined {
  if (type !== 'ServiceRequest' || reference !== undefined || !isObject(identifier)) return undefined
  const { system, value } = identifier
  return typeof system === 'string' && typeof value === 'string' ? { system, value } : undefined
}

function linked(entry: Planned, found: ReadonlyMap<string, string | undefined>): unknown {
  if (numbersIn(entry).length === 0) return entry.resource
  const basedOn = objectsIn(resourceOf(entry)['basedOn']).map(each => {
    const number = numberIn(each)
    const reference = number && found.get(nameOf(number, patientsOf(entry)))
    return reference === undefined ? each : { reference, ...each }
  })
  return { ...resourceOf(entry), basedOn }
}

/** An id of the service was in the order that the sender received. Of other orders, an agent finds what its organisation's agents wrote. */
async function orderOf(
  parts: Acting,
  caller: Caller,
  { system: of, value }: OrderNumber,
  patients: string,
): Promise<string | undefined> {
  if (of.endsWith(ownNumbers)) {
    if (!isId(value)) return undefined
    const order = await storedAt(parts, { ...system, within: caller.within }, 'ServiceRequest', value)
    const subject = isObject(order?.['subject']) ? String(order['subject']['reference']) : ''
    return patients.split(',').some(id => subject === `Patient/${id}`) ? `ServiceRequest/${value}` : undefined
  }
  const query = `${identifiedBy(of, value)}&patient=${patients}`
  const [order, ...more] = await storedWhere(parts, caller, 'ServiceRequest', query)
  return order && more.length === 0 ? `ServiceRequest/${String(order['id'])}` : undefined
}
