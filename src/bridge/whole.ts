// Corrections of results that only their order in the message distinguishes (src/mapping/repeats.ts): one alone could be of any of them.
import type { Caller } from '../access/caller.ts'
import { isObject, objectsIn } from '../lib/json.ts'
import type { TransactionEntry } from '../store/transaction/entries.ts'
import type { Acting } from '../store/unit-of-work.ts'
import { refused } from './refuse.ts'
import { identifiedBy, storedWhere } from './stored.ts'

const corrections = ['amended', 'corrected', 'entered-in-error']

/**
 * Makes sure that a correction has all results that share its order and code.
 * @throws Failure VALIDATION_FAILED: it could replace a result that was right
 */
export async function mustBeWhole(parts: Acting, caller: Caller, entries: readonly TransactionEntry[]): Promise<void> {
  const numbers = entries.flatMap(numberOf)
  const corrected = new Map(numbers.filter(each => each.isCorrection).map(each => [each.value, each]))
  for (const { system, value, query } of corrected.values()) {
    const sent = numbers.filter(each => each.value === value).length
    const next = query.replace(/^identifier=[^&]*/, identifiedBy(system, `${value}#${sent + 1}`))
    if ((await storedWhere(parts, caller, 'Observation', next)).length > 0)
      throw refused(
        'More results with this order and code are stored than are sent: send all, or distinguish them by OBX-4.',
        'OBX-4',
      )
  }
}

/** The number that a message made of order, code and sub-id, without the count behind it. */
function numberOf({ type, method, query, resource }: TransactionEntry) {
  if (type !== 'Observation' || method !== 'PUT' || query === undefined || !isObject(resource)) return []
  const [{ system, value } = {}] = objectsIn(resource['identifier'])
  if (!String(system).endsWith('/result-of')) return []
  const isCorrection = corrections.includes(String(resource['status']))
  return [{ system, query, value: String(value).replace(/#\d+$/, ''), isCorrection }]
}
