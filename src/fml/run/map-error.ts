// What goes wrong when a map runs: which rule, where it stands, and which place of the data it was about.

import type { Span } from '../ast.ts'

/** A rule, as errors and traces name it. */
export interface Site {
  /** The map's file, or its name or URL where it has none. */
  readonly map: string
  readonly group: string
  /** The rule's name, or the element that it reads. */
  readonly rule: string
  readonly span: Span
}

/**
 * The data cannot be mapped by this map. The message holds no values of the data but codes, so the sender of the data may see it;
 * logs need no more than `place`.
 */
export class MapError extends Error {
  override readonly name = 'MapError'
  readonly map: string
  readonly group: string
  readonly rule: string
  /** One-based; line and column of the rule in the map. */
  readonly line: number
  readonly column: number
  /** The position in the data, `AllergyRecord.codes[1].code`, if known. */
  readonly path: string | undefined
  /** The reason, without the places. */
  readonly reason: string

  constructor(reason: string, site: Site, path: string | undefined, cause?: unknown) {
    const { map, group, rule, span } = site
    const at = path === undefined ? '' : ` (at ${path})`
    super(`${map}:${span.line}:${span.column}: rule ${JSON.stringify(rule)} of ${group}: ${reason}${at}`, { cause })
    this.reason = reason
    this.map = map
    this.group = group
    this.rule = rule
    this.line = span.line
    this.column = span.column
    this.path = path
  }

  /** Where in the map: `allergy-to-fhir.fml:31:5`. */
  get place(): string {
    return `${this.map}:${this.line}:${this.column}`
  }
}

/** A reason to stop, raised where the rule is unknown; the running rule turns it into a MapError. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  /** The place in the data, where it is nearer than that of the value the rule runs for. */
  readonly path: string | undefined

  constructor(reason: string, path?: string) {
    super(reason)
    this.path = path
  }
}

/** The run has become too long; the place in the data does not explain why. */
export class Exhausted extends Refusal {}
