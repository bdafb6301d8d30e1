// Examples of maps, in `NAME.examples.json` next to `NAME.fml`: the input, and the expected output.

import type { Problem } from '../fml/problem.ts'
import { isObject, type JsonObject } from '../lib/json.ts'
import { isMap, mapName, type SourceFile } from './files.ts'
import { jsonOf, placeOf, problemIn } from './json-file.ts'

export interface Example {
  /** What it shows, in a few words. */
  readonly name: string
  /** A message of HL7 v2 is the list of its segments. */
  readonly from: JsonObject | readonly string[]
  /** The second source, where the map has one. */
  readonly context?: JsonObject
  /** Absent where `error` is expected. */
  readonly to?: JsonObject | readonly string[]
  /** Words of the reason why the map refuses it. */
  readonly error?: string
  /** The source of the data, with its licence. */
  readonly origin?: string
  /** The file that holds it. */
  readonly file: string
  readonly line: number
}

export interface Examples {
  /** By the name of their map. */
  readonly byMap: ReadonlyMap<string, readonly Example[]>
  readonly problems: readonly Problem[]
}

const SUFFIX = '.examples.json'

/** Returns the path of the examples of a map, from the path of its file. */
export function examplesPath(path: string): string {
  return `${mapName(path)}${SUFFIX}`
}

/** True for files that hold examples. */
export function isExamples({ name }: SourceFile): boolean {
  return name.endsWith(SUFFIX)
}

/** Returns the examples in these files, and their problems: malformed ones, and those of maps that do not exist. */
export function examplesIn(files: readonly SourceFile[]): Examples {
  const maps = new Set(files.flatMap(({ name }) => (isMap(name) ? [mapName(name)] : [])))
  const byMap = new Map<string, readonly Example[]>()
  const problems: Problem[] = []
  for (const file of files.filter(isExamples)) {
    const map = file.name.slice(0, -SUFFIX.length)
    if (!maps.has(map)) problems.push(problemIn(file, `there is no map ${map}.fml for these examples`))
    byMap.set(map, examplesOf(file, problems))
  }
  return { byMap, problems }
}

function examplesOf(file: SourceFile, problems: Problem[]): Example[] {
  const read = jsonOf(file)
  if ('problem' in read) {
    problems.push(read.problem)
    return []
  }
  if (!Array.isArray(read.value)) {
    problems.push(problemIn(file, 'examples are a list: `[{ "name": …, "from": …, "to": … }]`'))
    return []
  }
  const seen = new Set<string>()
  return read.value.flatMap((value, index) => {
    const wrong = fault(value, seen)
    if (wrong === undefined) return [exampleOf(value, file)]
    const name = isObject(value) && typeof value['name'] === 'string' ? value['name'] : undefined
    const place = name === undefined ? undefined : placeOf(file, 'name', name)
    problems.push(problemIn(file, `example ${name ?? index + 1}: ${wrong}`, place))
    return []
  })
}

const KEYS = new Set(['name', 'from', 'context', 'to', 'error', 'origin'])

function fault(value: unknown, seen: Set<string>): string | undefined {
  if (!isObject(value)) return 'this is not an object'
  const unknown = Object.keys(value).find(key => !KEYS.has(key))
  if (unknown !== undefined) return `there is no \`${unknown}\` in an example; it has ${[...KEYS].join(', ')}`
  const { name, from, context, to, error } = value
  if (typeof name !== 'string' || name === '') return '`name` is missing: what the example shows'
  if (seen.has(name)) return 'another example has this name'
  seen.add(name)
  if (!isEnd(from)) return '`from` is missing: the object that comes in'
  if (error !== undefined && (typeof error !== 'string' || to !== undefined))
    return '`error` must be a text, without `to`'
  if (error === undefined && !isEnd(to)) return '`to` is missing: the object that has to come out'
  return context === undefined || isObject(context) ? undefined : '`context` is not an object'
}

function isEnd(value: unknown): boolean {
  return isObject(value) || (Array.isArray(value) && value.length > 0 && value.every(each => typeof each === 'string'))
}

function exampleOf(value: JsonObject, file: SourceFile): Example {
  const { name, from, context, to, error, origin } = value as unknown as Example
  return { name, from, context, to, error, origin, file: file.path, line: placeOf(file, 'name', name).line }
}
