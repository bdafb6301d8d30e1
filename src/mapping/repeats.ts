// Entries of one bundle that write the same resource.

import type { MessageProblem } from '../hl7v2/problem.ts'
import { type JsonObject, parseJson } from '../lib/json.ts'

/**
 * A transaction may not write a resource twice. Entries that write the same are one; where what they write differs, those behind the
 * first get a number of their own, so that nothing is lost. References lead to that which stays.
 */
export function withoutRepeats(bundle: JsonObject): { bundle: JsonObject; repeated: MessageProblem[] } {
  const first = new Map<string, { readonly entry: JsonObject; readonly contents: Set<string>; count: number }>()
  const repeated: MessageProblem[] = []
  const replaced = new Map<string, string>()
  const entries = ((bundle['entry'] ?? []) as readonly JsonObject[]).flatMap(entry => {
    const key = keyOf(entry)
    if (key === undefined) return [entry]
    const content = JSON.stringify(entry['resource'])
    const known = first.get(key)
    if (!known) {
      first.set(key, { entry, contents: new Set([content]), count: 1 })
      return [entry]
    }
    const type = String((entry['resource'] as JsonObject)['resourceType'])
    // The lines of a report are results of one code, and may be the same.
    const isLine = type === 'Observation'
    if ((known.contents.has(content) && !isLine) || (entry['request'] as JsonObject)['method'] === 'POST') {
      replaced.set(String(entry['fullUrl']), String(known.entry['fullUrl']))
      repeated.push({ code: 100, message: `the message has the same ${type} twice` })
      return []
    }
    known.contents.add(content)
    const message = `the message has several ${type} with one number: their order distinguishes them`
    if (!isLine) repeated.push({ code: 100, message })
    return [numbered(entry, ++known.count)]
  })
  if (replaced.size === 0) return { bundle: { ...bundle, entry: entries }, repeated }
  const text = JSON.stringify({ ...bundle, entry: entries }).replaceAll(
    /urn:uuid:[0-9a-f-]{36}/g,
    urn => replaced.get(urn) ?? urn,
  )
  return { bundle: parseJson(text) as JsonObject, repeated }
}

/** The entry with the count behind the number that it is found again by. */
function numbered(entry: JsonObject, count: number): JsonObject {
  const resource = entry['resource'] as JsonObject
  const [id, ...others] = resource['identifier'] as readonly JsonObject[]
  const request = entry['request'] as JsonObject
  const own = { ...id, value: `${String(id!['value'])}#${count}` }
  return {
    ...entry,
    resource: { ...resource, identifier: [own, ...others] },
    request: { ...request, url: `${String(request['url'])}%23${count}` },
  }
}

/** What an entry writes, if it says by which identifier. */
function keyOf({ request }: JsonObject): string | undefined {
  const { method, url, ifNoneExist } = request as JsonObject
  const isFound = ifNoneExist !== undefined || (method === 'PUT' && String(url).includes('?'))
  return isFound ? `${String(method)} ${String(url)} ${String(ifNoneExist)}` : undefined
}
