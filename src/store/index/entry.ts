// What a resource is found by: every search parameter of its type, turned into postings, intervals and words.
// biome-ignore-all lint/plugin: A service has one of these.

import type { Steps, Typed } from '../../fhirpath/compile.ts'
import { spend } from '../../fhirpath/steps.ts'
import type { JsonObject } from '../../lib/json.ts'
import type { Base } from '../base.ts'
import { createSearchParams, type OwnParam, type SearchParams } from '../search-params/known.ts'
import { boundsOf } from '../size.ts'
import { type Account, type Costly, createAccount, weighed } from './account.ts'
import { addContained, containedTargets, firstEntries } from './contained.ts'
import { type Addition, type Draft, type Extractor, type IndexEntry, mustFit, noDate } from './draft.ts'
import * as postings from './postings.ts'
import { rowsOf } from './presence.ts'
import { subjectOf } from './subject.ts'
import { textPostings } from './text-postings.ts'
import { type Columns, compileType, type TypeIndex } from './type-index.ts'

/** How resources are indexed: read by searches, used by writes. */
export interface Indexer {
  /** Address of this server's FHIR endpoint. */
  readonly base: Base
  readonly params: SearchParams
  /** Which state of the users' search parameters `params` is; 1 while none are defined. */
  readonly epoch: number
  columns(type: string): Columns
  /**
   * What the resource is found by.
   * @param isStored it has been taken already, so that no bound keeps it from being indexed.
   * @throws Failure VALIDATION_FAILED if that is too much (`boundsOf`).
   */
  entry(resource: JsonObject, isStored?: boolean): IndexEntry
  /** The same, with the users' parameters that cost too much on it: suspend these before the entry is stored. */
  indexed(resource: JsonObject, isStored?: boolean): { readonly entry: IndexEntry; readonly costly: readonly Costly[] }
  /** True if every change of the type has a follower. */
  isWatched(type: string): boolean
  /** Records that the type has a follower from now on, as far as this process knows. */
  alsoWatch(type: string): void
  /** Adopts the state of an epoch: the users' search parameters, and the types that have followers. */
  adopt(known: Known): void
}

interface Known {
  readonly own: readonly OwnParam[]
  readonly watched: ReadonlySet<string>
  readonly epoch: number
}

/** Builds index entries. @param base recognises absolute references to this server's own resources, and its naming systems */
export function createIndexer(base: Base): Indexer {
  const types = new Map<string, TypeIndex>()
  let params = createSearchParams([])
  let watched: ReadonlySet<string> = new Set()
  let epoch = 1
  const indexOf = (type: string): TypeIndex => {
    let index = types.get(type)
    if (!index) types.set(type, (index = compileType(type, base, params.own(type))))
    return index
  }
  return {
    base,
    get params() {
      return params
    },
    get epoch() {
      return epoch
    },
    isWatched: type => watched.has(type),
    alsoWatch: type => void (watched = new Set([...watched, type])),
    adopt(known) {
      if (known.epoch < epoch) return
      if (known.epoch !== epoch) types.clear()
      else if (known.own.every((param, index) => isAlike(param, params.own()[index]))) return
      else types.clear()
      params = createSearchParams(known.own)
      watched = known.watched
      epoch = known.epoch
    },
    columns: type => indexOf(type).columns,
    entry: (resource, isStored) => indexed({ base, indexOf }, resource, isStored).entry,
    indexed: (resource, isStored) => indexed({ base, indexOf }, resource, isStored),
  }
}

interface Indexing {
  readonly base: Base
  readonly indexOf: (type: string) => TypeIndex
}

function indexed(
  indexing: Indexing,
  resource: JsonObject,
  isStored = false,
): { entry: IndexEntry; costly: readonly Costly[] } {
  const type = String(resource['resourceType'])
  const account = createAccount(resource)
  const most = isStored ? Infinity : boundsOf(type).entries
  const draft = draftOf(indexing, resource, type, { account, most })
  return {
    costly: account.costly(),
    entry: {
      ...draft,
      self: postings.writtenHash(type, String(resource['id'])),
      tokens: [...draft.tokens],
      refs: [...draft.refs],
      texts: textPostings(resource, type),
      codes: [...draft.codes],
      ...subjectOf(resource, type, draft.patient, indexing.base),
    },
  }
}

function draftOf(indexing: Indexing, resource: JsonObject, type: string, budget: Budget, isContained = false): Draft {
  const { account, most } = budget
  const draft = emptyDraft(most)
  let drafts: Map<JsonObject, Draft> | undefined
  for (const extractor of indexing.indexOf(type).extractors) {
    const { key, presence } = extractor
    const values = valuesOf(extractor, resource, account)
    if (values.length === 0) {
      if (presence === 'absent' && !isContained) draft.tokens.add(key.absent)
      continue
    }
    if (presence === 'present' || (presence === 'absent' && isContained)) draft.tokens.add(key.present)
    add(extractor, draft, values, resource, account)
    mustFit(draft, key)
    if (isContained || (resource['contained'] === undefined && type !== 'Bundle')) continue
    drafts ??= new Map()
    const targets = type === 'Bundle' ? firstEntries(values) : containedTargets(resource, values)
    addTargets(extractor, draft, targets, { ...indexing, budget, drafts })
  }
  return draft
}

interface Containing extends Indexing {
  readonly budget: Budget
  /** The drafts of contained resources that exist already. */
  readonly drafts: Map<JsonObject, Draft>
}

/** Adds what the contained resources are found by that the values of a parameter point at. */
function addTargets(
  extractor: Extractor,
  draft: Draft,
  targets: readonly JsonObject[],
  { budget, drafts, ...indexing }: Containing,
): void {
  for (const target of targets) {
    const type = String(target['resourceType'])
    const inner = drafts.get(target) ?? draftOf(indexing, target, type, budget, true)
    drafts.set(target, inner)
    const { own, key } = extractor
    const take = (steps?: Steps): void => {
      if (steps) spend(steps, sizeOf(inner))
      addContained(draft, key, type, inner)
    }
    if (own) budget.account.within(own, take)
    else take()
    mustFit(draft, key)
  }
}

/**
 * What a stored resource is found by through further parameters, but for what it contains; undefined if they find nothing in it.
 * Rows that show that a value is there take the place of its posting, which would have the whole row of `search` written again.
 */
export function additionTo(
  resource: JsonObject,
  extractors: readonly Extractor[],
  account: Account,
): Addition | undefined {
  const draft = emptyDraft(Infinity)
  let isFound = false
  for (const extractor of extractors) {
    const values = valuesOf(extractor, resource, account)
    if (values.length === 0) continue
    isFound = true
    const before = draft.spans.length + draft.words.length
    add(extractor, draft, values, resource, account)
    const isShown = rowsOf(extractor.own?.type) !== undefined && draft.spans.length + draft.words.length > before
    if (!isShown) draft.tokens.add(extractor.key.present)
  }
  return isFound ? { ...draft, tokens: [...draft.tokens], refs: [...draft.refs] } : undefined
}

/** What indexing one resource may cost. */
interface Budget {
  /** Pays for the parameters of users. */
  readonly account: Account
  /** Most entries. */
  readonly most: number
}

const none: readonly Typed[] = []

/** What the parameter finds in the resource; the work is charged to the account if a user defined the parameter. */
export function valuesOf(extractor: Extractor, resource: JsonObject, account: Account): readonly Typed[] {
  if (!mayFind(extractor, resource)) return none
  return extractor.own ? chargedValues(extractor, resource, account) : extractor.run(resource, { resource })
}

// Loops without closures: of some forty parameters of a type most have no value in a resource.
function mayFind({ needs }: Extractor, resource: JsonObject): boolean {
  for (const names of needs) if (!hasOne(names, resource)) return false
  return true
}

function hasOne(names: readonly string[], resource: JsonObject): boolean {
  for (const name of names) if (name in resource) return true
  return false
}

const chargedValues = ({ own, run }: Extractor, resource: JsonObject, account: Account): readonly Typed[] =>
  account.within(own!, steps => weighed(run(resource, { resource }, steps), steps)) ?? none

/** Adds the values of a parameter to the draft. */
function add(
  extractor: Extractor,
  draft: Draft,
  values: readonly Typed[],
  resource: JsonObject,
  account: Account,
): void {
  if (extractor.own) chargedAdding(extractor, draft, values, resource, account)
  else extractor.add(draft, values, resource)
}

const chargedAdding = (
  extractor: Extractor,
  draft: Draft,
  values: readonly Typed[],
  resource: JsonObject,
  account: Account,
): void => account.within(extractor.own!, steps => extractor.add(draft, values, resource, steps))

const sizeOf = ({ tokens, refs, spans, words, terms }: Draft): number =>
  tokens.size + refs.size + spans.length + words.length + terms.length

const isAlike = (one: OwnParam, other: OwnParam | undefined): boolean =>
  one.isReady === other?.isReady && one.suspended?.reason === other.suspended?.reason

const emptyDraft = (most: number): Draft => ({
  most,
  tokens: new Set(),
  refs: new Set(),
  spans: [],
  words: [],
  known: new Set(),
  terms: [],
  codes: new Set(),
  patient: undefined,
  date: noDate,
  dateHigh: noDate,
})
