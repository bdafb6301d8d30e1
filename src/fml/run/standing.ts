// Where the values of a running map stand: in which resource, in what contains it, and in which Bundle. A map has no
// single focus, so each value is looked up in its source. https://hl7.org/fhir/R4/references.html#contained

import type { Items } from '../../fhirpath/compile.ts'
import type { Standing } from '../../fhirpath/node.ts'
import { isObject } from '../../lib/json.ts'
import { baseOfEntry, entryFinder, type FindEntry } from './entries.ts'
import { countSteps, type Frame, type Json, type Run } from './frame.ts'

/** The data of one run; `known` is created when an expression first needs a location. */
export interface Standings {
  readonly inputs: readonly unknown[]
  readonly made: readonly Json[]
  known: ReadonlyMap<object, Standing> | undefined
}

interface Place extends Standing {
  readonly find: FindEntry
}

const NOWHERE: Standing = { resource: undefined, rootResource: undefined, bundled: () => undefined }

/**
 * Where a value stands. An object stands where the data has it. A primitive, or what an expression computed, stands
 * where the value stands that the rule runs for.
 */
export function standingOf(value: unknown, frame: Frame): Standing {
  const { shared } = frame
  const { standings } = shared
  const known = (standings.known ??= placesIn(standings.inputs, shared))
  const own = isObject(value) ? (known.get(value) ?? placesIn(standings.made, shared).get(value)) : undefined
  return own ?? ofRule(frame, known) ?? known.get(standings.inputs[0] as object) ?? NOWHERE
}

/** Where the value stands that the rule runs for, or else the one of the rule around it. */
function ofRule({ shared, vars }: Frame, known: ReadonlyMap<object, Standing>): Standing | undefined {
  if (shared.frame?.vars !== vars) return undefined
  for (const slot of shared.mark?.around ?? []) {
    const value = (vars[slot] as Items | undefined)?.[0]?.value
    const found = isObject(value) ? known.get(value) : undefined
    if (found) return found
  }
  return undefined
}

/** Every object of these values. Without recursion: how deep data nests is up to its author. */
function placesIn(roots: readonly unknown[], run: Run): ReadonlyMap<object, Standing> {
  const known = new Map<object, Place>()
  const waiting: [Json, Place][] = roots.filter(isObject).map(root => [root, placeOfRoot(root)])
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const [object, place] = next
    countSteps(run)
    known.set(object, place)
    const base = baseOfEntry(object)
    for (const key in object) {
      const child = object[key]
      for (const each of Array.isArray(child) ? child : [child])
        if (isObject(each)) waiting.push([each, placeOfChild(each, key, place, base)])
    }
  }
  return known
}

function placeOfRoot(root: Json): Place {
  const find = root['resourceType'] === 'Bundle' ? entryFinder(root) : () => undefined
  return { resource: root, rootResource: root, find, bundled: reference => find(reference, undefined) }
}

function placeOfChild(child: Json, key: string, around: Place, base: string | undefined): Place {
  if (typeof child['resourceType'] !== 'string') return around
  if (key === 'contained') return { ...around, resource: child }
  const own = child['resourceType'] === 'Bundle' ? entryFinder(child) : undefined
  const find: FindEntry = own ? (text, at) => own(text, at) ?? around.find(text, undefined) : around.find
  return { resource: child, rootResource: child, find, bundled: reference => find(reference, own ? undefined : base) }
}
