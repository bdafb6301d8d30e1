// Entries of one bundle that write the same resource.

import type { MessageProblem } from '../hl7v2/problem.ts'
import { type JsonObject, parseJson } from '../lib/json.ts'

/**
 * A transaction may not write a resource twice. Entries that write the same are one; where what they write differs, those behind the
 * first get a number of their own, so that nothing is lost. References lead to that which stays.
 */
export function withoutRepeats(bundle: JsonObject): { bundle: JsonObject; repeated: MessageProblem[] } {
  const first = new Map<string, { readonly entry: JsonObject; readonly contents: string[] }>()
  const repeated: MessageProblem[] = []
  const replaced = new Map<string, string>()
  const entries = ((bundle['entry'] ?? []) as readonly JsonObject[]).flatMap(entry => {
    const key = keyOf(entry)
    if (key === undefined) return [entry]
    const content = JSON.stringify(entry['resource'])
    const known = first.get(key)
    if (!known) {
      first.set(key, { entry, contents: [content] })
      return [entry]
    }
    const type = String((entry['resource'] as JsonObject)['resourceType'])
    if (known.contents.includes(content) || (entry['request'] as JsonObject)['method'] === 'POST') {
      replaced.set(String(entry['fullUrl']), String(known.entry['fullUrl']))
      repeated.push({ code: 100, message: `the message has the same ${type} twice` })
      return []
    }
    known.contents.push(content)
    repeated.push({
      code: 100,
      message: `the message has several ${type} of one number; they are told apart by their order`,
    })
    return [numbered(entry, known.contents.length)]
  })
  if (repeated.length === 0) return { bundle, repeated }
  const text = [...replaced].reduce(
    (result, [from, to]) => result.replaceAll(from, to),
    JSON.stringify({ ...bundle, entry: entries }),
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
