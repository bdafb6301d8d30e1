// Makes a large set out of a small one: the same bundles again as those of other people, with other ids, names, numbers and dates.
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { createGzip } from 'node:zlib'
import { type JsonObject, objectsIn } from '../../src/lib/json.ts'
import { filesOf, itemsOf } from '../../src/load/read.ts'

/** Bundles of people, which can be had again as those of any number of other people. */
export interface Originals {
  readonly bundles: readonly string[]
  /** Of each bundle, the resources that no bundle before it has. */
  readonly sizes: readonly number[]
  readonly names: Names
}

/** All names of the people, by their gender, and families. */
interface Names {
  readonly families: readonly string[]
  readonly given: ReadonlyMap<string, readonly string[]>
}

/** Reads the bundles under a path, in order. */
export async function readOriginals(path: string): Promise<Originals> {
  const [bundles, sizes, patients]: [string[], number[], JsonObject[]] = [[], [], []]
  const met = new Set<string>()
  for (const file of await filesOf([path]))
    for await (const item of itemsOf(file.path)) {
      if ('problem' in item) continue
      const resources = resourcesOf(item.resource)
      const before = met.size
      for (const { resourceType, id } of resources) met.add(`${resourceType}/${id}`)
      bundles.push(JSON.stringify(item.resource))
      sizes.push(met.size - before)
      patients.push(...resources.filter(each => each['resourceType'] === 'Patient'))
    }
  if (bundles.length === 0) throw new Error(`There is no resource under ${path}.`)
  return { bundles, sizes, names: namesOf(patients) }
}

const resourcesOf = (bundle: JsonObject): JsonObject[] =>
  Array.isArray(bundle['entry'])
    ? objectsIn(bundle['entry']).flatMap(({ resource }) => objectsIn([resource]))
    : [bundle]

function namesOf(patients: readonly JsonObject[]): Names {
  const official = patients.flatMap(patient =>
    objectsIn(patient['name'])
      .slice(0, 1)
      .map(name => ({
        family: String(name['family']),
        given: String((name['given'] as string[])[0]),
        gender: String(patient['gender']),
      })),
  )
  const byGender = [...Map.groupBy(official, ({ gender }) => gender)]
  return {
    families: official.map(({ family }) => family),
    given: new Map(byGender.map(([gender, names]) => [gender, names.map(name => name.given)])),
  }
}

/** The bundle at a place of the endless set: the originals come first, then copy after copy of them. */
function bundleAt({ bundles, names }: Originals, place: number): string {
  const [copy, original] = [Math.floor(place / bundles.length), place % bundles.length]
  const text = bundles[original]!
  if (copy === 0) return text
  const bundle = JSON.parse(dated(renamed(text, copy), (copy * 397 + original * 31) % 1500)) as JsonObject
  for (const resource of resourcesOf(bundle)) {
    if (resource['resourceType'] === 'Patient') becomeSomebody(resource, names, copy, original)
    for (const identifier of objectsIn(resource['identifier']))
      identifier['value'] = numbered(
        String(identifier['value']),
        copy + (resource['resourceType'] === 'Patient' ? original : 0),
      )
  }
  return JSON.stringify(bundle)
}

/** Resources of the set before a place. */
export function sizeBefore({ sizes }: Originals, place: number): number {
  const sum = (some: readonly number[]): number => some.reduce((total, size) => total + size, 0)
  return Math.floor(place / sizes.length) * sum(sizes) + sum(sizes.slice(0, place % sizes.length))
}

const uuid = /\b[0-9a-f]{8}(?=-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b)/g

/** The text with every UUID turned into another, the same one for the same copy. */
const renamed = (text: string, copy: number): string =>
  text.replace(uuid, head => ((Number.parseInt(head, 16) ^ (copy * 0x9e3779b1)) >>> 0).toString(16).padStart(8, '0'))

/** The text with every date so many days earlier. */
const dated = (text: string, days: number): string =>
  text.replace(/(?<=")\d{4}-\d\d-\d\d(?=["T])/g, date =>
    new Date(Date.parse(date) - days * 86_400_000).toISOString().slice(0, 10),
  )

function becomeSomebody(patient: JsonObject, { families, given }: Names, copy: number, original: number): void {
  const firsts = given.get(String(patient['gender']))!
  for (const name of objectsIn(patient['name'])) {
    name['family'] = families[(original + copy * 7919) % families.length]
    name['given'] = [firsts[(original + copy * 104_729) % firsts.length]]
  }
  for (const telecom of objectsIn(patient['telecom']))
    telecom['value'] = numbered(String(telecom['value']), copy + original)
}

/** The text with other digits; a UUID has become another one already. */
const numbered = (text: string, seed: number): string =>
  text.length === 36
    ? text
    : text.replace(/\d/g, (digit, at: number) =>
        String((Number(digit) + Math.floor(seed / 10 ** (at % 5)) + at * seed) % 10),
      )

/** Writes the bundles from one place of the set to another into a file. */
export async function writeBundles(originals: Originals, from: number, until: number, path: string): Promise<void> {
  const gzip = createGzip({ level: 1 })
  const file = gzip.pipe(createWriteStream(path))
  for (let place = from; place < until; place++)
    if (!gzip.write(`${bundleAt(originals, place)}\n`)) await once(gzip, 'drain')
  gzip.end()
  await once(file, 'finish')
}

/**
 * Writes copies of the bundles under `path` into `folder`, one file for each copy, until there are `target` resources.
 * @returns the folder.
 */
export async function writeCopies(path: string, folder: string, target: number): Promise<string> {
  await mkdir(folder, { recursive: true })
  const originals = await readOriginals(path)
  const { length } = originals.bundles
  for (let copy = 1; sizeBefore(originals, copy * length) < target; copy++) {
    const name = `copy-${String(copy).padStart(3, '0')}.ndjson.gz`
    await writeBundles(originals, copy * length, (copy + 1) * length, join(folder, name))
  }
  return folder
}
