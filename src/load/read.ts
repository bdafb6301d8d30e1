// Files as a stream of resources: NDJSON line by line, JSON whole, gzip by its ending, folders in order of name.
import { isUtf8 } from 'node:buffer'
import { createReadStream } from 'node:fs'
import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createGunzip, gunzip } from 'node:zlib'
import { Failure } from '../lib/failure.ts'
import { isObject, type JsonObject, parseJson } from '../lib/json.ts'
import { createJsonMeter } from '../lib/json-meter.ts'
import { syntaxProblem } from '../lib/json-tokens.ts'
import { isBlank, type Line, linesOf } from './lines.ts'

/** Where something stands: line 1 is the whole of a JSON file. */
export interface SourceLocation {
  readonly file: string
  readonly line: number
}

export type Item = SourceLocation &
  ({ readonly resource: JsonObject; readonly bytes: number } | { readonly problem: string; readonly bytes: number })

const loadable = /\.(ndjson|jsonl|json)(\.gz)?$/

// What others refer to by condition (`Practitioner?identifier=…`) has to be there first.
const first = ['Organization', 'Location', 'Practitioner', 'Patient', 'Device', 'Medication.']

function rank(name: string): number {
  const place = first.findIndex(type => name.startsWith(type))
  return place < 0 ? first.length : place
}

export interface SourceFile {
  readonly path: string
  readonly size: number
}

/** The files to load: those named, and those of the named folders and their folders. @throws Error for a path that is not there. */
export async function filesOf(paths: readonly string[]): Promise<SourceFile[]> {
  const found: SourceFile[] = []
  for (const path of paths) {
    const entry = await stat(path).catch(() => undefined)
    if (!entry) throw new Error(`There is no file or folder ${path}.`)
    if (!entry.isDirectory()) found.push({ path, size: entry.size })
    else {
      const names = (await readdir(path, { withFileTypes: true })).sort(
        (a, b) => rank(a.name) - rank(b.name) || (a.name < b.name ? -1 : 1),
      )
      const inside = names.filter(name => name.isDirectory() || loadable.test(name.name))
      found.push(...(await filesOf(inside.map(name => join(path, name.name)))))
    }
  }
  return found
}

/** The resources of a file, in order; what is no resource comes as a problem with its place. */
export async function* itemsOf(path: string): AsyncGenerator<Item> {
  if (/\.json(\.gz)?$/.test(path)) yield* wholeFile(path)
  else yield* lines(path)
}

async function* wholeFile(file: string): AsyncGenerator<Item> {
  const raw = await readFile(file)
  const bytes = file.endsWith('.gz') ? await promisify(gunzip)(raw) : raw
  const whole = parsed(bytes, { file, line: 1 })
  // Some files with the ending .json hold NDJSON.
  if ('problem' in whole && /}\s*\n\s*{/.test(bytes.toString('utf8'))) yield* lines(file)
  else yield whole
}

async function* lines(file: string): AsyncGenerator<Item> {
  const stream = createReadStream(file)
  const input = file.endsWith('.gz') ? stream.pipe(createGunzip()) : stream
  stream.on('error', error => input.destroy(error))
  let line = 0
  try {
    for await (const each of linesOf(input, { mostBytes: longestLine })) {
      line = each.line
      if (!isBlank(each)) yield itemOf(each, file)
    }
  } catch (error) {
    yield {
      file,
      line: line + 1,
      problem: `the rest of the file cannot be read: ${(error as Error).message}`,
      bytes: 0,
    }
  }
}

/** Longest line that is taken, which is the longest body that the service takes by default. */
const longestLine = 52_428_800

/** What a line holds: a resource, or what is wrong with it. */
export function itemOf({ line, bytes }: Line, file: string): Item {
  if (bytes === undefined) return { file, line, problem: 'the line is too long', bytes: 0 }
  if (!isUtf8(bytes)) return { file, line, problem: 'this is not valid UTF-8', bytes: bytes.length }
  return parsed(bytes, { file, line }, true)
}

/** @param isLine of a file with many lines */
function parsed(bytes: Buffer, place: SourceLocation, isLine = false): Item {
  const size = bytes.length
  const text = bytes.toString('utf8').replace(/^\uFEFF/, '')
  try {
    const meter = createJsonMeter()
    meter.add(bytes)
    const resource = meter.keepsDigits() ? JSON.parse(text) : parseJson(text)
    if (isObject(resource) && typeof resource['resourceType'] === 'string') return { ...place, resource, bytes: size }
    return { ...place, problem: 'this is JSON, but not a FHIR resource: it has no resourceType', bytes: size }
  } catch (error) {
    const { message } = error as Error
    const problem =
      error instanceof Failure ? message : `this is not valid JSON: ${syntaxProblem(text, message, isLine)}`
    return { ...place, problem, bytes: size }
  }
}
