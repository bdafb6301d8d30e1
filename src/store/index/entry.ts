// What a resource is found by: every search parameter of its type, turned into postings, intervals and words.

import type { SearchParamModel } from '../../definitions/model.ts'
import { compartmentParams, searchParams, typeModel } from '../../definitions/r4.ts'
import { compileTyped, type Steps, type Typed } from '../../fhirpath/compile.ts'
import { spend } from '../../fhirpath/steps.ts'
import type { JsonObject } from '../../lib/json.ts'
import type { Base } from '../base.ts'
import { expressionOptions } from '../search-params/expression.ts'
import { createSearchParams, type OwnParam, type SearchParams } from '../search-params/known.ts'
import { boundsOf } from '../size.ts'
import { tokensOf } from '../values.ts'
import { type Account, type Costly, createAccount, weighed } from './account.ts'
import { clinicalDate, mainCode } from './clinical-date.ts'
import { compositeAdder } from './composites.ts'
import { addContained, containedTargets } from './contained.ts'
import {
  type Addition,
  addDates,
  addMagnitudes,
  addMainCode,
  addOrderingDate,
  addPositions,
  addReferences,
  addToken,
  addUri,
  addWords,
  type Draft,
  type Extract,
  type Extractor,
  type IndexEntry,
  mustFit,
  noDate,
  type PatientRole,
} from './draft.ts'
import { isBare, isSingle, isStored, pathText, storedKeys } from './param-paths.ts'
import * as postings from './postings.ts'
import { type ParamKey, paramKey } from './postings.ts'
import { presenceOf, rowsOf } from './presence.ts'
import { subjectOf } from './subject.ts'
import { textPostings } from './text-postings.ts'

/** How the type's column-held parameters are found, for the search planner. */
interface Columns {
  /** Code of the date parameter that the columns date and date_high hold whole, if one is. */
  readonly date: string | undefined
  /** Codes of the reference parameters that the column patient holds whole. */
  readonly patient: ReadonlySet<string>
}

interface Compiled extends Columns {
  /** Keys of the parameters that are posted where they have no value. */
  readonly usual: ReadonlySet<ParamKey>
  /** Keys of those that read nothing with a system: only `|code` is posted of them. */
  readonly bare: ReadonlySet<ParamKey>
}

interface TypeIndex {
  readonly extractors: readonly Extractor[]
  readonly columns: Compiled
}

/** How resources are indexed: read by searches, used by writes. */
export interface Indexer {
  /** Address of this server's FHIR endpoint. */
  readonly base: Base
  readonly params: SearchParams
  /** Which state of the users' search parameters `params` is; 1 while none are defined. */
  readonly epoch: number
  columns(type: string): Compiled
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
  const draft = draftOf(indexing, resource, type, { account, most }, new Map())
  return {
    costly: account.costly(),
    entry: {
      ...draft,
      self: postings.selfHash(type, String(resource['id'])),
      tokens: [...draft.tokens],
      refs: [...draft.refs],
      texts: textPostings(resource, type),
      codes: [...draft.codes],
      ...subjectOf(resource, type, draft.patient, indexing.base),
    },
  }
}

/** @param contained the drafts of contained resources that exist already; undefined for a contained resource itself */
function draftOf(
  indexing: Indexing,
  resource: JsonObject,
  type: string,
  budget: Budget,
  contained?: Map<JsonObject, Draft>,
): Draft {
  const { account, most } = budget
  const draft = emptyDraft(most)
  for (const extractor of indexing.indexOf(type).extractors) {
    const { key, presence } = extractor
    const values = valuesOf(extractor, resource, account)
    if (values.length === 0) {
      if (presence === 'absent' && contained) draft.tokens.add(key.absent)
      continue
    }
    if (presence === 'present' || (presence === 'absent' && !contained)) draft.tokens.add(key.present)
    charged(extractor, account, steps => extractor.add(draft, values, resource, steps))
    mustFit(draft, key)
    if (!contained) continue
    for (const target of containedTargets(resource, values)) {
      const targetType = String(target['resourceType'])
      const inner = contained.get(target) ?? draftOf(indexing, target, targetType, budget)
      contained.set(target, inner)
      charged(extractor, account, steps => {
        if (steps) spend(steps, sizeOf(inner))
        addContained(draft, key, targetType, inner)
      })
      mustFit(draft, key)
    }
  }
  return draft
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
    charged(extractor, account, steps => extractor.add(draft, values, resource, steps))
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

/** What the parameter finds in the resource. */
export function valuesOf(extractor: Extractor, resource: JsonObject, account: Account): readonly Typed[] {
  const env = { resource }
  const run = (steps?: Steps) =>
    steps ? weighed(extractor.run(resource, env, steps), steps) : extractor.run(resource, env)
  return charged(extractor, account, run) ?? []
}

/** Work for a parameter, charged if a user defined it. */
function charged<T>({ own }: Extractor, account: Account, work: (steps?: Steps) => T): T | undefined {
  return own ? account.within(own, work) : work()
}

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

// Held by the table `resource` itself, not by postings.
const elsewhere = new Set(['_id', '_lastUpdated', '_text', '_content', '_list', '_has', '_filter', '_type', '_query'])

function compileType(type: string, base: Base, own: readonly OwnParam[]): TypeIndex {
  const columns = columnsOf(type)
  const [usual, bare] = [new Set<ParamKey>(), new Set<ParamKey>()]
  const extractors: Extractor[] = []
  for (const param of searchParams(type).values()) {
    if (!param.expression || elsewhere.has(param.code) || !isStored(type, param.code)) continue
    const run: Extract = compileTyped(param.expression, { model: { typeModel }, type })
    const key = paramKey(type, param.code)
    const presence = presenceOf(param, type, columns.patient.has(param.code) || columns.date === param.code)
    if (presence === 'absent') usual.add(key)
    if (isBare(param, type)) bare.add(key)
    extractors.push({ key, run, presence, add: adder(param, key, type, base, columns) })
  }
  const used = own.filter(param => param.suspended === undefined)
  return {
    extractors: [...extractors, ...used.map(param => ownExtractor(param, base))],
    columns: { ...columns, usual, bare },
  }
}

const noColumns: Columns = { date: undefined, patient: new Set() }

/** Extracts what a user's parameter finds a resource by. */
export function ownExtractor(param: OwnParam, base: Base): Extractor {
  const run: Extract = compileTyped(param.tree, expressionOptions(param.of))
  const add =
    param.type === 'token' ? tokenAdder(param.key, {}, base) : adder(param, param.key, param.of, base, noColumns)
  return { key: param.key, own: param, run, presence: 'present', add }
}

function columnsOf(type: string): Columns {
  const params = searchParams(type)
  const date = params.get(clinicalDate(type))
  const patient = params.get('patient')
  const held = new Set<string>()
  if (patient && isSingle(patient, type)) {
    for (const param of params.values()) {
      if (param.type === 'reference' && pathText(param, type) === pathText(patient, type)) held.add(param.code)
    }
  }
  return { date: date?.type === 'date' && isSingle(date, type) ? date.code : undefined, patient: held }
}

function adder(param: SearchParamModel, key: ParamKey, type: string, base: Base, columns: Columns): Extractor['add'] {
  switch (param.type) {
    case 'token':
      return tokenAdder(key, { isMainCode: param.code === mainCode(type), isBare: isBare(param, type) }, base)
    case 'reference': {
      const role = roleOf(key, param.code, type, columns)
      return (draft, values) => addReferences(draft, values, key, base, role)
    }
    case 'date':
      return param.code === columns.date ? addOrderingDate : (draft, values) => addDates(draft, values, key)
    case 'number':
    case 'quantity':
      return (draft, values) => addMagnitudes(draft, values, key.number, 0n)
    case 'string':
      return (draft, values) => addWords(draft, values, key)
    case 'uri':
      return (draft, values) => values.forEach(({ value }) => typeof value === 'string' && addUri(draft, key, value))
    case 'composite':
      return compositeAdder(param, key, type, base)
    case 'special':
      return (draft, values) => addPositions(draft, values, key)
  }
}

/** The column `patient` puts a resource into the compartment of a patient; for other parameters a posting does. A Patient is in its own. */
function roleOf(key: ParamKey, code: string, type: string, columns: Columns): PatientRole {
  if (columns.patient.has(code)) return 'subject'
  if (type === 'Patient') return undefined
  const ways = compartmentParams('Patient', type).filter(each => !columns.patient.has(each))
  return ways.some(each => storedKeys(type, each).includes(key)) ? 'member' : undefined
}

interface TokenKind {
  readonly isMainCode?: boolean
  readonly isBare?: boolean
}

function tokenAdder(key: ParamKey, { isMainCode, isBare }: TokenKind, base: Base): Extractor['add'] {
  return (draft, values) => {
    for (const { type, value } of values) {
      for (const token of tokensOf(type, value)) {
        addToken(draft, key, token, base, isBare)
        if (isMainCode) addMainCode(draft, key, token)
      }
    }
  }
}
