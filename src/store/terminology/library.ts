// Where terminology is looked up: stored ValueSets, CodeSystems and ConceptMaps as one caller finds them, and the required
// value sets of R4 itself. A library lasts one request, so nothing in it can be stale.
// https://hl7.org/fhir/R4/references.html#canonical
import type { Queryable } from '../../db/statement.ts'
import { valueSetSystems } from '../../definitions/r4.ts'
import { Failure } from '../../lib/failure.ts'
import { isObject, type JsonObject } from '../../lib/json.ts'
import type { Base } from '../base.ts'
import { isId } from '../ids.ts'
import { readSeen } from '../sight.ts'
import { referenceTarget } from '../values.ts'
import { createSteps, type Steps } from './steps.ts'
import { elsewhere, type Loaded, type Looking, loadBelow, loadByUrl, parsed } from './stored.ts'

export type LibraryType = 'ValueSet' | 'CodeSystem' | 'ConceptMap' | 'List' | 'StructureMap' | 'StructureDefinition'

export interface Library extends Steps {
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
  /** Those whose URL lies below a path, at most `most`; of one URL what `find` would prefer comes last. */
  below(type: LibraryType, path: string, most: number): Promise<JsonObject[]>
}

export interface LibraryOptions extends Looking {
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

export function createLibrary(on: Queryable, { maySee, base, visibility, party }: LibraryOptions): Library {
  const known = new Map<string, Promise<JsonObject | undefined>>()
  let characters = 0
  const once = (name: string, load: () => Promise<Loaded | undefined>): Promise<JsonObject | undefined> => {
    const ready = known.get(name)
    if (ready) return ready
    if (known.size >= mostResources)
      throw unworkable(`The operation needs more than ${mostResources} terminology resources.`, 'too-costly')
    const loaded = load().then(found => {
      characters += found?.size ?? 0
      if (characters > mostCharacters)
        throw unworkable('The required terminology resources are too large.', 'too-costly')
      return found?.resource
    })
    known.set(name, loaded)
    return loaded
  }
  const stored = (type: LibraryType, canonical: string): Promise<JsonObject | undefined> =>
    once(`${type} ${canonical}`, () => loaded(on, type, canonical, { visibility, party }))
  // Nobody's emergency is a list.
  const principal = { may: maySee, party, visibility: visibility && { ...visibility, override: undefined } }
  const library: Library = {
    base,
    ...createSteps(),
    mustSee: type => mustSee(maySee, type),
    async byId(type, id) {
      mustSee(maySee, type)
      return (await once(`${type}/${id}`, async () => parsed((await readSeen({ on, principal }, type, id)).body)))!
    },
    async byUrl(type, canonical) {
      mustSee(maySee, type)
      const found = await stored(type, canonical)
      if (found) return found
      throw await unknown(on, type, canonical, { visibility, party })
    },
    find: async (type, canonical) => (maySee(type) ? stored(type, canonical) : undefined),
    below: async (type, path, most) => (maySee(type) ? loadBelow(on, type, path, { visibility, party }, most) : []),
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
  throw new Failure(
    'INSUFFICIENT_SCOPE',
    `The scopes of the token do not permit reading ${type}: system/${type}.r does.`,
  )
}

/** `url|version` in its parts. */
export function canonicalParts(canonical: string): { url: string; version: string | undefined } {
  const bar = canonical.lastIndexOf('|')
  return bar < 0
    ? { url: canonical, version: undefined }
    : { url: canonical.slice(0, bar), version: canonical.slice(bar + 1) || undefined }
}

async function loaded(
  on: Queryable,
  type: LibraryType,
  canonical: string,
  looking: Looking,
): Promise<Loaded | undefined> {
  const parts = canonicalParts(canonical)
  const found = await loadByUrl(on, type, parts, looking)
  const published = found || type !== 'ValueSet' ? undefined : builtIn(parts.url, parts.version)
  return published === undefined ? found : parsed(published)
}

/** A URL resolves to what the caller's organisation or a shared publisher has stored under it. */
async function unknown(on: Queryable, type: LibraryType, canonical: string, looking: Looking): Promise<Failure> {
  const other = await elsewhere(on, type, canonicalParts(canonical).url, looking)
  const reason = other
    ? `belongs to Organization/${other.owner}, so other organisations cannot use its URL: refer to ${type}/${other.id} by id, store your own, or have a consent-exempt client store it for everyone`
    : 'is not stored on this server: store it first'
  return new Failure('NOT_FOUND', `The ${type} ${shown(canonical)} ${reason}.`)
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
  throw new Failure('MALFORMED_REQUEST', `The parameter must contain a ${type}.`)
}
