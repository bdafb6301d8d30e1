// Where terminology is looked up: stored ValueSets, CodeSystems and ConceptMaps as one caller may see them, and the
// required value sets of R4 itself. A library lasts one request, so nothing in it can be stale.
// https://hl7.org/fhir/R4/references.html#canonical

import { int8Array } from '../../db/arrays.ts'
import { preparedName } from '../../db/database.ts'
import type { Queryable } from '../../db/statement.ts'
import { valueSetSystems } from '../../definitions/r4.ts'
import { Failure } from '../../lib/failure.ts'
import { isObject, type JsonObject, parseJson } from '../../lib/json.ts'
import type { Base } from '../base.ts'
import { isId } from '../ids.ts'
import { storedKeys } from '../index/param-paths.ts'
import * as postings from '../index/postings.ts'
import { createBinder } from '../search/binder.ts'
import { readSeen } from '../sight.ts'
import { typeNumber } from '../type-number.ts'
import { referenceTarget } from '../values.ts'
import { type Seen, seen, type Visibility } from '../visibility.ts'
import { keep, recall } from './recent.ts'

export type LibraryType = 'ValueSet' | 'CodeSystem' | 'ConceptMap' | 'List' | 'StructureMap' | 'StructureDefinition'

export interface Library {
  /** Address of this server's FHIR endpoint. */
  readonly base: Base
  /** @throws Failure NOT_FOUND, GONE, INSUFFICIENT_SCOPE. */
  byId(type: LibraryType, id: string): Promise<JsonObject>
  /** @throws Failure INSUFFICIENT_SCOPE unless the caller may read the type. */
  mustSee(type: LibraryType): void
  /** By `url` or `url|version`. @throws Failure NOT_FOUND naming it, INSUFFICIENT_SCOPE. */
  byUrl(type: LibraryType, canonical: string): Promise<JsonObject>
  /** As byUrl; undefined if there is none, or none that the caller may read. */
  find(type: LibraryType, canonical: string): Promise<JsonObject | undefined>
}

export interface LibraryOptions extends Seen {
  /** Whether resources of a type may be shown. */
  readonly maySee: (type: string) => boolean
  readonly base: Base
}

/** Most resources, and most characters of them, that one request may draw upon. */
const mostResources = 200
const mostCharacters = 64_000_000

/** What cannot be worked out: 422, with words. */
export const unworkable = (message: string, issue = 'not-supported'): Failure =>
  new Failure('VALIDATION_FAILED', message, { issue })

export function createLibrary(on: Queryable, { maySee, base, visibility }: LibraryOptions): Library {
  const known = new Map<string, Promise<JsonObject | undefined>>()
  let characters = 0
  const once = (name: string, load: () => Promise<Loaded | undefined>): Promise<JsonObject | undefined> => {
    const ready = known.get(name)
    if (ready) return ready
    if (known.size >= mostResources)
      throw unworkable(`This draws upon more than ${mostResources} resources.`, 'too-costly')
    const loaded = load().then(found => {
      characters += found?.size ?? 0
      if (characters > mostCharacters) throw unworkable('The terminology resources needed are too large.', 'too-costly')
      return found?.resource
    })
    known.set(name, loaded)
    return loaded
  }
  const stored = (type: LibraryType, canonical: string): Promise<JsonObject | undefined> =>
    once(`${type} ${canonical}`, () => loadByUrl(on, type, canonical, visibility))
  // Nobody's emergency is a list.
  const principal = { may: maySee, visibility: visibility && { ...visibility, override: undefined } }
  const library: Library = {
    base,
    mustSee: type => mustSee(maySee, type),
    async byId(type, id) {
      mustSee(maySee, type)
      return (await once(`${type}/${id}`, async () => parsed((await readSeen({ on, principal }, type, id)).body)))!
    },
    async byUrl(type, canonical) {
      mustSee(maySee, type)
      const found = await stored(type, canonical)
      if (found) return found
      throw new Failure('NOT_FOUND', `The ${type} ${shown(canonical)} is not known here: store it first.`)
    },
    find: async (type, canonical) => (maySee(type) ? stored(type, canonical) : undefined),
  }
  return library
}

/** A resource as a search names it: by canonical address, by `Type/id`, or by that under this server's own address. */
export function named(library: Library, type: LibraryType, name: string): Promise<JsonObject> {
  const [kind, id, ...more] = (referenceTarget(name, library.base) ?? name).split('/')
  return kind === type && isId(id) && more.length === 0 ? library.byId(type, id!) : library.byUrl(type, name)
}

const shown = (canonical: string): string => (canonical.length > 200 ? `${canonical.slice(0, 200)}…` : canonical)

function mustSee(maySee: (type: string) => boolean, type: string): void {
  if (maySee(type)) return
  throw new Failure('INSUFFICIENT_SCOPE', `The token's scopes do not allow to read ${type}; system/${type}.r would.`)
}

/** `url|version` in its parts. */
export function canonicalParts(canonical: string): { url: string; version: string | undefined } {
  const bar = canonical.lastIndexOf('|')
  return bar < 0
    ? { url: canonical, version: undefined }
    : { url: canonical.slice(0, bar), version: canonical.slice(bar + 1) || undefined }
}

interface Loaded {
  readonly resource: JsonObject
  /** Of its JSON. */
  readonly size: number
}

const parsed = (body: string): Loaded => ({ resource: parseJson(body) as JsonObject, size: body.length })

interface FoundRow {
  readonly key: number
  readonly version: number
  readonly size: number
  /** Null if it is large. */
  readonly body: string | null
}

/** Bytes up to which a body is simply read again. */
const largest = 50_000

// Of several versions an active one comes first, then the one written last.
async function loadByUrl(
  on: Queryable,
  type: LibraryType,
  canonical: string,
  visibility: Visibility | undefined,
): Promise<Loaded | undefined> {
  const { url, version } = canonicalParts(canonical)
  const token = (code: string, value: string): Buffer =>
    int8Array(storedKeys(type, code).map(key => postings.codePosting(key, value)))
  const binder = createBinder()
  binder.bind(typeNumber(type))
  binder.bind(int8Array(storedKeys(type, 'url').map(key => postings.uriPosting(key, url))))
  binder.bind(token('status', 'active'))
  if (version !== undefined) binder.bind(token('version', version))
  const may = seen('s', { ...binder, visibility }).map(each => ` and ${each}`)
  const text = `select r.key, r.version, octet_length(r.body) as size,
        case when octet_length(r.body) <= ${largest} then r.body end as body from search s join resource r using (key)
      where s.type = $1 and s.tokens && $2::bigint[] ${version === undefined ? '' : 'and s.tokens && $4::bigint[]'}${may.join('')}
      order by s.tokens && $3::bigint[] desc, r.updated_at desc, r.key desc limit 1`
  const [row] = await on.query<FoundRow>({ name: preparedName(text), text, values: binder.values })
  if (row) return row.body === null ? large(on, type, row) : parsed(row.body)
  const published = type === 'ValueSet' ? builtIn(url, version) : undefined
  return published === undefined ? undefined : parsed(published)
}

// Value sets depend on others and on their reader, so that only code systems are kept.
async function large(on: Queryable, type: LibraryType, found: FoundRow): Promise<Loaded | undefined> {
  const known = type === 'CodeSystem' ? recall(found.key, found.version) : undefined
  if (known) return { resource: known, size: found.size }
  const [row] = await on.query<FoundRow>({
    name: 'term-body',
    text: 'select version, body from resource where key = $1',
    values: [found.key],
  })
  if (!row?.body) return undefined
  const loaded = parsed(row.body)
  if (type === 'CodeSystem') keep(found.key, row.version, loaded.resource, loaded.size)
  return loaded
}

/** A required value set of R4 as the resource it is published as. */
function builtIn(url: string, version: string | undefined): string | undefined {
  const systems = version === undefined || version === '4.0.1' ? valueSetSystems(url) : undefined
  if (!systems) return undefined
  const include = [...systems].map(([system, codes]) => ({ system, concept: [...codes].map(code => ({ code })) }))
  return JSON.stringify({ resourceType: 'ValueSet', url, version: '4.0.1', status: 'active', compose: { include } })
}

/** A resource given with the request instead of being stored. @throws Failure MALFORMED_REQUEST if it is of another type. */
export function inline(resource: unknown, type: LibraryType): JsonObject {
  if (isObject(resource) && resource['resourceType'] === type) return resource
  throw new Failure('MALFORMED_REQUEST', `The parameter must hold a ${type}.`)
}
