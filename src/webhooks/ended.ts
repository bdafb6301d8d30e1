// FHIR subscriptions whose time is over are turned off, as Subscription.end asks (https://hl7.org/fhir/R4/subscription-definitions.html#Subscription.end):
// nothing is sent from that moment on, and within a minute the resource says so.
import { type Caller, system } from '../access/caller.ts'
import type { Queryable } from '../db/statement.ts'
import { Failure } from '../lib/failure.ts'
import { type JsonObject, parseJson } from '../lib/json.ts'
import type { Store } from '../store/store.ts'

/** Most of one round. */
const most = 100

/** Turns off those that have ended. */
export async function turnOffEnded(on: Queryable, storeFor: (caller: Caller) => Store): Promise<void> {
  const ended = await on.query<{ id: string }>({
    text: `select id from webhook_endpoint where watches is not null and is_active and ends_at <= statement_timestamp() order by ends_at limit ${most}`,
    values: [],
  })
  for (const { id } of ended) await setStatus(storeFor, id, { status: 'off' }, hasEnded)
}

/** False for one that has been given more time meanwhile. */
const hasEnded = ({ end }: JsonObject): boolean => Date.parse(String(end)) <= Date.now()

/**
 * Changes what a Subscription says of itself; one that changes or is deleted meanwhile stays as its owner wants it.
 * @param id `Subscription/…`
 * @param isDue whether this Subscription, as it is read now, is to be changed
 */
export async function setStatus(
  storeFor: (caller: Caller) => Store,
  id: string,
  status: JsonObject,
  isDue: (subscription: JsonObject) => boolean = () => true,
): Promise<void> {
  const store = storeFor(system)
  const name = id.slice('Subscription/'.length)
  try {
    const { body, version } = await store.read('Subscription', name)
    const subscription = parseJson(body) as JsonObject
    if (isDue(subscription))
      await store.update('Subscription', name, { ...subscription, ...status }, { ifMatch: version })
  } catch (error) {
    if (!(error instanceof Failure)) throw error
  }
}
