// Every function an expression can call, by name.

import { boundary } from './boundary.ts'
import { conversion } from './conversion.ts'
import { existence } from './existence.ts'
import { fhir } from './fhir.ts'
import { filtering } from './filtering.ts'
import { math } from './math.ts'
import type { FunctionSpec } from './spec.ts'
import { strings } from './strings.ts'
import { subsetting } from './subsetting.ts'
import { utility } from './utility.ts'

/** A Map, so that a call to `constructor()` finds nothing. */
export const functions: ReadonlyMap<string, FunctionSpec> = new Map(
  [existence, filtering, subsetting, strings, conversion, math, boundary, utility, fhir].flatMap(each =>
    Object.entries(each),
  ),
)
