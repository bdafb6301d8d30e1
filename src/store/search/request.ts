// A search request: the data structure between parsing and SQL. https://hl7.org/fhir/R4/search.html
import type { SearchParamModel } from '../../definitions/model.ts'
import type { OwnParam } from '../search-params/known.ts'
import type { TextQuery } from './text-query.ts'

export type Prefix = 'eq' | 'ne' | 'gt' | 'lt' | 'ge' | 'le' | 'sa' | 'eb' | 'ap'

/** Modifiers of tokens that stand for many codes. */
export const codeModifiers: ReadonlySet<string> = new Set(['in', 'not-in', 'above', 'below'])

export interface Coding {
  readonly system: string
  readonly code: string
}

/**
 * On strings: the whole text, its ending, or its place in the order of code points; on dates: overlap (`po`), and inclusion of the
 * query's period (`co`).
 */
export type ParamOperator = 'eq' | 'ne' | 'ew' | 'gt' | 'lt' | 'ge' | 'le' | 'po' | 'co'

/** `code=a,b` on one type: the resource matches if one of the values does. */
export interface ParamCriterion {
  readonly kind: 'param'
  /** The types searched: one, except in a search across types. */
  readonly types: readonly string[]
  readonly param: SearchParamModel
  /** Without the colon; `''` for none. A type name on reference parameters (`subject:Patient`). */
  readonly modifier: string
  /** Still escaped as in the query, split at commas. */
  readonly values: readonly string[]
  /** An operator of `_filter` that ordinary parameters have neither a prefix nor a modifier for. */
  readonly operator?: ParamOperator
  /** True if resources without a value meet it, too: with the codes that are not excluded, it stands for `:not`. */
  readonly orAbsent?: boolean
  /** What `:in`, `:not-in`, `:above` and `:below` stand for, once they have been looked up. */
  readonly codes?: readonly Coding[]
  /** The display texts that `:text` found, as postings, once they have been looked up; absent if they are very many. */
  readonly texts?: readonly bigint[]
  /** The strings, folded, that contain the search text, once they have been looked up; absent if they are very many. */
  readonly strings?: readonly string[]
  /** The row numbers of what has a value, for `:missing=false`, once they have been looked up; absent if they are very many. */
  readonly holders?: readonly number[] | undefined
}

/** The `self` of every resource that a step of a chain leads through, as far as they may be seen; `many` if they are too many to be listed. */
export type Found = readonly bigint[] | 'many'

export interface ChainTarget {
  readonly type: string
  readonly criterion: Criterion
  /** What meets the criterion, once it has been looked up. */
  readonly found?: Found
}

/** `subject:Patient.name=x`: what the reference points at matches one of the inner criteria (one for each possible target type). */
export interface ChainCriterion {
  readonly kind: 'chain'
  readonly types: readonly string[]
  readonly param: SearchParamModel
  readonly targets: readonly ChainTarget[]
  /** True if some resource contains a Patient that the parameter points at, once that has been looked up. */
  readonly meetsContainedPatients?: boolean
}

/** `_has:Observation:patient:code=x`: some resource that refers here by the parameter matches. */
export interface HasCriterion {
  readonly kind: 'has'
  readonly types: readonly string[]
  readonly from: string
  readonly param: SearchParamModel
  readonly criterion: Criterion
  /** What such resources refer to, once it has been looked up: among it, what the parameter does not refer to. */
  readonly found?: Found
}

/** `_list=1`: an entry of the List with this id. */
export interface ListCriterion {
  readonly kind: 'list'
  readonly types: readonly string[]
  readonly lists: readonly string[]
  /** The `self` of every entry, once the lists have been looked up. */
  readonly entries?: readonly bigint[]
}

/** `Patient/1/Observation`: the resource is in the compartment of that patient, encounter, practitioner… */
export interface CompartmentCriterion {
  readonly kind: 'compartment'
  readonly types: readonly string[]
  /** The type whose compartment it is. */
  readonly of: string
  readonly id: string
}

/** `_text=bone OR liver`: words of the narrative, or of everything that can be read. */
export interface TextCriterion {
  readonly kind: 'text'
  readonly types: readonly string[]
  readonly param: '_text' | '_content'
  readonly query: TextQuery
}

/** No clinical date: what the comparisons of that date do not find. For the service's own searches (undated.ts). */
export interface UndatedCriterion {
  readonly kind: 'undated'
  readonly types: readonly string[]
  readonly instead: Instead
  /** Bounds on the date that stands in, in ms, both inclusive. */
  readonly from: number | undefined
  readonly to: number | undefined
}

/** What stands in for a clinical date: an element of type instant where the resource has it, else the last change. */
export interface Instead {
  readonly element: string | undefined
}

/** All of the parts, or one of them. */
interface LogicalCriterion {
  readonly kind: 'and' | 'or'
  readonly parts: readonly Criterion[]
}

interface NotCriterion {
  readonly kind: 'not'
  readonly part: Criterion
}

export type Criterion =
  | ParamCriterion
  | ChainCriterion
  | HasCriterion
  | CompartmentCriterion
  | ListCriterion
  | TextCriterion
  | UndatedCriterion
  | LogicalCriterion
  | NotCriterion

/** The criteria directly within a criterion. */
export function partsOf(criterion: Criterion): readonly Criterion[] {
  switch (criterion.kind) {
    case 'and':
    case 'or':
      return criterion.parts
    case 'not':
      return [criterion.part]
    case 'chain':
      return criterion.targets.map(target => target.criterion)
    case 'has':
      return [criterion.criterion]
    default:
      return []
  }
}

export interface SortKey {
  readonly param: SearchParamModel
  readonly descending: boolean
  /** Only with `_lastUpdated`: what is ordered by instead. */
  readonly instead?: Instead
}

/** `_include=Observation:patient:Patient`; with `param` undefined every reference parameter (`*`). */
export interface Include {
  /** The type that holds the reference. */
  readonly source: string
  readonly param: SearchParamModel | undefined
  readonly target: string | undefined
  readonly reverse: boolean
  readonly iterate: boolean
}

export type Summary = 'true' | 'text' | 'data' | 'count' | 'false'

/** What resources are looked for. */
export type Sought = Pick<SearchRequest, 'types' | 'criteria'>

export interface SearchRequest {
  /** One type, or several for a search across types. */
  readonly types: readonly string[]
  readonly criteria: readonly Criterion[]
  readonly sort: readonly SortKey[]
  readonly count: number
  /** Undefined: not requested. */
  readonly total: 'none' | 'estimate' | 'accurate' | undefined
  readonly summary: Summary
  readonly elements: readonly string[]
  readonly includes: readonly Include[]
  readonly cursor: Cursor | undefined
  /** The parameters that were applied, as they were sent, for the self link. */
  readonly applied: readonly (readonly [string, string])[]
  /** The users' parameters that it uses: older resources may not be indexed by them yet, or they are suspended. */
  readonly own: readonly OwnParam[]
  /** What was not applied, in words, for an outcome entry. */
  readonly warnings: readonly string[]
}

/** A place between two matches: the sort values and key of the match next to it, and which way to go. */
export interface Cursor {
  readonly direction: 'next' | 'previous'
  readonly values: readonly string[]
  readonly key: number
  /** Row number of the last resource returned of those that the match itself includes: the page continues with the rest of them. */
  readonly within?: number
}

/** Writes a cursor for a link. It is opaque to clients and holds sort values and row numbers only. */
export function encodeCursor({ direction, key, within, values }: Cursor): string {
  const place = within === undefined ? [direction === 'next' ? 1 : 0, key] : [2, key, within]
  return Buffer.from(JSON.stringify([...place, ...values])).toString('base64url')
}

/** Reads a cursor; undefined if it is not one of ours for this many values. */
export function decodeCursor(text: string, length: number): Cursor | undefined {
  try {
    const parts: unknown = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'))
    if (!Array.isArray(parts)) return undefined
    const [kind, key, ...rest] = parts
    const within: unknown = kind === 2 ? rest.shift() : undefined
    if (![0, 1, 2].includes(kind) || !Number.isSafeInteger(key) || rest.length !== length) return undefined
    if (kind === 2 && !Number.isSafeInteger(within)) return undefined
    if (!rest.every(value => typeof value === 'string' && !value.includes('\0'))) return undefined
    const place: Cursor = { direction: kind === 0 ? 'previous' : 'next', key, values: rest }
    return kind === 2 ? { ...place, within: within as number } : place
  } catch {
    return undefined
  }
}
