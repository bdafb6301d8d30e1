// What becomes of a stored resource when a message speaks of it again: messages are silent about much, and silence changes nothing.
import { elementOf, saidOver } from '../definitions/said.ts'
import { isObject, type JsonObject, objectsIn } from '../lib/json.ts'

/** Members that grow by what each message adds, by type. */
const growing: Readonly<Record<string, readonly string[]>> = {
  DiagnosticReport: ['result', 'specimen', 'basedOn'],
}

/**
 * Returns the stored resource with what a message says of it. Identifiers are never lost: other messages know it by them. What cannot be
 * true any more together with what is said now is gone.
 */
export function mergedBy(stored: JsonObject, sent: JsonObject): JsonObject {
  const type = String(sent['resourceType'])
  const members = ['identifier', ...(growing[type] ?? [])]
  const joined = members.flatMap((name): [string, unknown][] => {
    const all = [...objectsIn(stored[name]), ...objectsIn(sent[name])]
    return all.length === 0 ? [] : [[name, distinct(all)]]
  })
  const meta = { ...(isObject(stored['meta']) ? stored['meta'] : {}), ...(isObject(sent['meta']) ? sent['meta'] : {}) }
  const whole = type === 'Encounter' ? visit(stored, sent) : {}
  return {
    ...saidOver(stored, sent, ruledOutBy(stored, sent)),
    ...Object.fromEntries(joined),
    ...whole,
    id: stored['id'],
    meta,
  }
}

/** Members of a visit whose parts come in several messages: a discharge need not repeat when and how the visit began. */
function visit(stored: JsonObject, sent: JsonObject): JsonObject {
  const { start } = objectOf(stored['period'])
  const { period = sent['status'] === 'in-progress' ? {} : undefined } = sent
  const isBefore = isObject(period) && !(Date.parse(String(start)) > Date.parse(String(period['end'])))
  const { dischargeDisposition, destination, ...admission } = objectOf(stored['hospitalization'])
  const before = sent['status'] === 'in-progress' ? admission : objectOf(stored['hospitalization'])
  const stay = { ...before, ...objectOf(sent['hospitalization']) }
  return {
    ...(isBefore && start !== undefined && { period: { start, ...period } }),
    ...(Object.keys(stay).length > 0 && { hospitalization: stay }),
  }
}

const objectOf = (value: unknown): JsonObject => (isObject(value) ? value : {})

/** What an Observation found, or why nothing. */
const resultElements = ['value', 'dataAbsentReason', 'component']
/**
 * What is said of the result: by whom, where and how it was found, and what it means. When it was taken, of which specimen and at which
 * visit is true of a corrected result as well.
 */
const aboutResult = ['interpretation', 'referenceRange', 'note', 'method', 'bodySite', 'performer']
/** Statuses of an Observation that has no result any more. */
const withoutResult: ReadonlySet<unknown> = new Set(['cancelled', 'entered-in-error'])

/** Returns whether a stored element cannot stay beside what is sent. */
function ruledOutBy(stored: JsonObject, sent: JsonObject): (element: string) => boolean {
  const type = String(sent['resourceType'])
  const says = (element: string): boolean => Object.keys(sent).some(key => elementOf(type, key) === element)
  const out = new Set([
    ...(ruledOut[type]?.(sent, says) ?? []),
    ...(isBack(stored, says) ? ['verificationStatus'] : []),
  ])
  return element => out.has(element)
}

/** True if what was an error is stated again: a diagnosis or an allergy that was deleted and comes back. */
const isBack = ({ verificationStatus }: JsonObject, says: (element: string) => boolean): boolean =>
  says('clinicalStatus') && isOneOf(verificationStatus, ['entered-in-error'])

/** Elements that cannot stay beside what is sent, unless it says them too. */
const ruledOut: Readonly<Record<string, (sent: JsonObject, says: (element: string) => boolean) => readonly string[]>> =
  {
    // A result is sent as a whole: what was said of another value, such as an alarm, is not true of this one. obs-6: a result is there,
    // or the reason why it is not.
    Observation: ({ status }, says) =>
      withoutResult.has(status) || resultElements.some(says) ? [...resultElements, ...aboutResult] : [],
    // A visit that is opened again has no end any more.
    Encounter: ({ status }) => (status === 'in-progress' ? ['period'] : []),
    // con-4: what is active has not abated. con-5: an error has no clinical status.
    Condition: (sent, says) => [
      ...(isOneOf(sent['clinicalStatus'], ['active', 'recurrence', 'relapse']) ? ['abatement'] : []),
      ...(isOneOf(sent['verificationStatus'], ['entered-in-error']) || says('abatement') ? ['clinicalStatus'] : []),
    ],
    // What was not given has no amount, what was given no reason against it, and RXA says each time whether that was all of it.
    Immunization: ({ status }) => {
      const amount = status === 'not-done' ? ['doseQuantity'] : status === 'completed' ? ['statusReason'] : []
      return [...amount, 'isSubpotent', 'subpotentReason']
    },
    // ait-2
    AllergyIntolerance: sent => (isOneOf(sent['verificationStatus'], ['entered-in-error']) ? ['clinicalStatus'] : []),
  }

const isOneOf = (concept: unknown, codes: readonly string[]): boolean =>
  isObject(concept) && objectsIn(concept['coding']).some(({ code }) => codes.some(each => each === code))

/** Each once, as it was said last: identifiers by system and value, references by the number that they name, else by what they lead to. */
function distinct(all: readonly JsonObject[]): JsonObject[] {
  const nameOf = ({ system, value, reference, identifier, ...rest }: JsonObject): string =>
    JSON.stringify(identifier ?? reference ?? (value === undefined ? rest : [system, value]))
  return [...new Map(all.map(each => [nameOf(each), each])).values()]
}
