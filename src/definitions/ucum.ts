// The units and prefixes of UCUM 2.2, made of its file ucum-essence.xml. https://ucum.org/ucum

import table from './ucum.json' with { type: 'json' }

/**
 * A unit as UCUM defines it. `of` is absent for units that are not a multiple of others here: the base units, those that
 * a procedure defines (`[iU]`), those on a logarithmic scale (`[pH]`), and the mole, which UCUM has as a number.
 */
export interface UcumUnit {
  /** True where prefixes may stand before it. */
  readonly metric: boolean
  /** It is `factor` times this unit. */
  readonly of?: { readonly factor: string; readonly unit: string }
  /** For temperatures: what is added to a value before it is multiplied. */
  readonly shift?: string
}

type Row = readonly [code: string, metric: number, factor?: string, unit?: string, shift?: string]

/** Every unit by its case sensitive code. */
export const ucumUnits: ReadonlyMap<string, UcumUnit> = new Map((table.units as unknown as readonly Row[]).map(toUnit))

/** Every prefix with its factor: `k` is `1e3`. */
export const ucumPrefixes: ReadonlyMap<string, string> = new Map(Object.entries(table.prefixes))

function toUnit([code, metric, factor, unit, shift]: Row): [string, UcumUnit] {
  const of = factor !== undefined && unit !== undefined ? { factor, unit } : undefined
  return [code, { metric: metric === 1, of, shift }]
}
