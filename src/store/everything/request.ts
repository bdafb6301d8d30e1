// A request for $everything, and how its second part receives what the first one found.

import type { Memory } from '../../lib/blocks.ts'
import type { Piece } from '../../lib/pieces.ts'

/** Where a page begins: after this row of the compartments, or of what lies outside. */
export interface EverythingPlace {
  readonly part: 'compartment' | 'outside'
  readonly key: number
  /** How many the compartments have, if an earlier page found that out. */
  readonly total?: number
}

export interface EverythingRequest {
  /** Undefined: all patients. */
  readonly patient: string | undefined
  /** Dates of care, in ms (care-dates.ts); what has none is always in. */
  readonly start: number | undefined
  readonly end: number | undefined
  /** Only what changed since (ms). */
  readonly since: number | undefined
  /** Only these types; undefined: all. */
  readonly types: readonly string[] | undefined
  readonly count: number
  readonly after: EverythingPlace | undefined
  /** Where long bodies stay, for a caller that gives it back; absent: they are strings. */
  readonly memory?: Memory
}

export interface Outside {
  /** What may be shown. */
  readonly types: readonly string[]
  /** The types of the compartment whose references count. */
  readonly sources: readonly string[]
  /** The whole compartment, if it is at hand. */
  readonly bodies: readonly Piece[] | undefined
  readonly after: number
  readonly limit: number
}
