// What becomes of a stored resource when a message speaks of it again: messages are silent about much, and silence changes nothing.
import { isObject, type JsonObject, objectsIn } from '../lib/json.ts'

/** Members that grow by what each message adds, by type. */
const growing: Readonly<Record<string, readonly string[]>> = {
  DiagnosticReport: ['result', 'specimen', 'basedOn'],
}

/** Returns the stored resource with what a message says of it. Identifiers are never lost: other messages know it by them. */
export function mergedBy(stored: JsonObject, sent: JsonObject): JsonObject {
  const members = ['identifier', ...(growing[String(sent['resourceType'])] ?? [])]
  const joined = members.flatMap((name): [string, unknown][] => {
    const all = [...objectsIn(stored[name]), ...objectsIn(sent[name])]
    return all.length === 0 ? [] : [[name, distinct(all)]]
  })
  const meta = { ...(isObject(stored['meta']) ? stored['meta'] : {}), ...(isObject(sent['meta']) ? sent['meta'] : {}) }
  return { ...stored, ...sent, ...Object.fromEntries(joined), id: stored['id'], meta }
}

/** Each once: identifiers by system and value, references by what they lead to. */
function distinct(all: readonly JsonObject[]): JsonObject[] {
  const nameOf = ({ system, value, reference, ...rest }: JsonObject): string =>
    JSON.stringify(reference ?? (value === undefined ? rest : [system, value]))
  return [...new Map(all.map(each => [nameOf(each), each])).values()]
}
