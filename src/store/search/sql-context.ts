// What every condition is built with: the statement's parameters, and the keys under which values are stored.

import { int4Array, int8Array } from '../../db/arrays.ts'
import type { Layout } from '../../db/statement.ts'
import type { Base } from '../base.ts'
import { shiftOfNumbers } from '../index/contained.ts'
import type { Indexer } from '../index/entry.ts'
import type { ParamKey } from '../index/postings.ts'
import type { Party } from '../principal.ts'
import type { Seen } from '../visibility.ts'
import type { Binder } from './binder.ts'
import type { Reaching } from './ranges.ts'
import type { ParamCriterion } from './request.ts'

/** Names for tables that no other part of a statement has: t1, t2… */
export function createAliases(): () => string {
  let aliases = 0
  return () => `t${++aliases}`
}

/** What a search works with in addition to its request. */
export interface SearchOptions extends Seen {
  readonly indexer: Indexer
  readonly base: Base
  /** Absent: `whole`. */
  readonly layout?: Layout | undefined
  readonly party: Party
  /** Whether included resources of a type may be shown. */
  readonly maySee: (type: string) => boolean
  /** Most included resources of one page; the rest continue on further pages. */
  readonly maxIncluded: number
  /** Which resources from a date on are looked at; only for searches by tokens, by one date at a time, and by the last change. */
  readonly reaching?: Reaching
  /** True if few rows are looked at: then what is in other rows, as with chains, is looked for from each of them. */
  readonly isOfFewRows?: boolean
  /** True if an index finds the rows by what else is asked for: dates are compared as an expression, for which the planner looks for no index. */
  readonly isFound?: boolean
  /** True if rows are looked at in an order, each by itself, until the page is full. */
  readonly isWalking?: boolean
}

export interface SqlContext extends Binder, Seen {
  /** As in the options, all of them. */
  readonly layout?: Layout | undefined
  readonly reaching?: Reaching | undefined
  readonly isOfFewRows?: boolean | undefined
  readonly isFound?: boolean | undefined
  /** True if one criterion alone is asked for, and whatever meets it is found: it may lead the way. */
  readonly isLed?: boolean
  /** Parts of the statement that are worked out once (`withParts`); absent: there can be none. */
  readonly parts?: string[]
  readonly indexer: Indexer
  /** Address of this server's FHIR endpoint. */
  readonly base: Base
  /** The row whose column date is that of the row of search: another table's, when that one is walked in its order. */
  readonly dateRow: string
  /** A table alias that no other part of the statement has. */
  nextAlias(): string
  /** Within contained resources: what their postings are xor-ed with, and the context outside of them. */
  readonly shift?: bigint
  readonly outside?: SqlContext
  /**
   * True if the search names a token and a patient: then both are looked up in the index of postings, which reads only the
   * resources that have both, instead of everything about the patient.
   */
  readonly meetsInPostings: boolean
}

export const postingArray = (context: Pick<SqlContext, 'bind' | 'shift'>, hashes: readonly bigint[]): string => {
  const { shift } = context
  return `${context.bind(int8Array(shift === undefined ? hashes : hashes.map(hash => hash ^ shift)))}::bigint[]`
}

/** Every key under which the parameter's values are stored, for each type of a search across types. */
export const keysOf = (criterion: ParamCriterion, { indexer }: Pick<SqlContext, 'indexer'>): ParamKey[] =>
  criterion.types.flatMap(type => indexer.params.keys(type, criterion.param.code))

export const numbersOf = (
  criterion: ParamCriterion,
  context: Pick<SqlContext, 'bind' | 'indexer' | 'shift'>,
): string => {
  const shift = context.shift === undefined ? 0 : shiftOfNumbers(context.shift)
  return `any(${context.bind(int4Array(keysOf(criterion, context).map(key => key.number ^ shift)))}::integer[])`
}

export const anyOf = (conditions: readonly string[]): string =>
  conditions.length === 1 ? conditions[0]! : `(${conditions.join(' or ')})`

export const likeText = (text: string): string => text.replace(/[\\%_]/g, '\\$&')

export const isUri = (text: string): boolean => /^[a-z][a-z0-9+.-]*:/i.test(text)
