// Reads the parts of a file of JSON that people write, and notes all that is wrong with it, each with its place.
import { isObject, type JsonObject } from '../../lib/json.ts'
import { nearest } from '../../lib/nearest.ts'

/** The position in the file, and the list of what is wrong with it. */
export interface Reader {
  readonly path: string
  readonly problems: string[]
}

/** An object with these members; `why` may stand anywhere. */
export function objectIn(
  value: unknown,
  names: readonly string[],
  { path, problems }: Reader,
  optional: readonly string[] = [],
): JsonObject {
  if (value === undefined && path !== '') return {}
  if (!isObject(value)) {
    problems.push(`${path || 'the file'} must be an object with ${names.join(', ')}`)
    return {}
  }
  const at = (name: string): string => (path ? `${path}.${name}` : name)
  const allowed = [...names, ...optional, 'why']
  for (const name of names) if (value[name] === undefined) problems.push(`${at(name)} is missing`)
  for (const name of Object.keys(value)) {
    if (allowed.includes(name)) continue
    const meant = nearest(name, allowed)
    problems.push(
      `${at(name)} is not a known field${meant ? `; did you mean ${meant}?` : `: ${allowed.join(', ')} are`}`,
    )
  }
  if (value['why'] !== undefined && typeof value['why'] !== 'string') problems.push(`${at('why')} must be text`)
  return value
}

/** Most items of a list. */
const mostItems = 1000

/** Returns what is read of each text of a list; `read` returns undefined for one that is not as expected. */
export function listIn<Item>(
  value: unknown,
  { path, problems }: Reader,
  expected: string,
  read: (text: string) => Item | undefined,
): Item[] {
  if (value === undefined) return []
  if (!Array.isArray(value) || value.length > mostItems) {
    problems.push(`${path} must be a list of at most ${mostItems} texts`)
    return []
  }
  const items: Item[] = []
  for (const [index, each] of value.entries()) {
    const item = typeof each === 'string' ? read(each) : undefined
    if (item === undefined) problems.push(`${path}[${index}] must be ${expected}`)
    else items.push(item)
  }
  return items
}

export function shareIn(object: JsonObject, name: string, reader: Reader): number {
  const value = object[name]
  if (value === undefined || (typeof value === 'number' && value > 0 && value < 1)) return value ?? 0.5
  reader.problems.push(`${within(reader, name).path} must be a share between 0 and 1, such as 0.02 (neither of both)`)
  return 0.5
}

export function numberIn(object: JsonObject, name: string, reader: Reader, least: number, most: number): number {
  const value = object[name]
  if (value === undefined || (typeof value === 'number' && value >= least && value <= most)) return value ?? least
  reader.problems.push(`${within(reader, name).path} must be a number from ${least} to ${most}`)
  return least
}

export function within({ path, problems }: Reader, name: string): Reader {
  return { path: path ? `${path}.${name}` : name, problems }
}
