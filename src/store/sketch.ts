// Sketches of what callers may see: for each group of callers that the same consents concern, a bit field that has a bit set for every
// patient of whom they may see anything. Others may share the bit, so a sketch only passes over rows, and decides nothing
// (docs/decisions/0084-consent-crowds.md).
import type { Queryable } from '../db/statement.ts'
import { noPatient, several } from './index/subject.ts'
import type { Visibility } from './visibility.ts'

/** What was granted to a group when the sketch was made, and from which transaction on grants may be missing. */
export interface Sketch {
  /** True if these are more grants than a search is narrowed to (`Visibility.reach`). */
  readonly isMany: boolean
  /** True if these are few, and if the caller wrote little as well. */
  readonly isLittle: boolean
  /** Types, as numbers, of which the caller wrote so much that a search is not narrowed to that. */
  readonly wroteMuch: ReadonlySet<number>
  /** Absent if so much is granted that little would be passed over. */
  readonly field?: { readonly bits: Buffer; readonly since: string }
}

/** Returns the sketch for a caller; undefined while there is none. */
export type SketchFor = (visibility: Visibility | undefined) => Sketch | undefined

/** A row of `Visibility.sketched`. */
interface SketchRow {
  readonly since: string
  readonly is_many: boolean
  readonly is_little: boolean
  readonly much: readonly number[]
  /** The last bits of the hashes of patients; null: too many. */
  readonly marks: readonly number[] | null
}

/** Bits of a field. Its length is the same for all, so that they share kept plans. */
export const sketchBits = 1 << 17

/** Marks in place of a patient. Who may see these is not decided by the patient alone, so their bits are always set. */
const unpatients = [noPatient, several].map(Number)

/** Milliseconds after which a sketch is made anew, and after which it is no longer used. */
const [renewed, longest] = [30_000, 60_000]

/** Most groups whose sketches are kept: 16 KiB each. */
const mostGroups = 200

interface Kept {
  sketch: Sketch | undefined
  /** When the sketch was made, and when it was last asked for. */
  made: number
  asked: number
}

/** Keeps sketches in memory. They are made in the background: no search waits for one. */
export function createSketches(database: Queryable, now: () => number = () => performance.now()): SketchFor {
  const groups = new Map<string, Kept>()
  const renew = (visibility: Visibility, kept: Kept): void => {
    const made = now()
    kept.asked = made
    makeSketch(database, visibility).then(
      sketch => Object.assign(kept, { sketch, made }),
      // The next search asks again: until then, it looks at every row.
      () => {},
    )
  }
  return visibility => {
    if (!visibility) return undefined
    const kept = groups.get(visibility.group) ?? { sketch: undefined, made: -longest, asked: -longest }
    if (!groups.has(visibility.group)) {
      if (groups.size >= mostGroups) groups.delete(groups.keys().next().value!)
      groups.set(visibility.group, kept)
    }
    if (now() - kept.asked >= renewed) renew(visibility, kept)
    return now() - kept.made < longest ? kept.sketch : undefined
  }
}

/** Makes the sketch for the group of a caller. */
export async function makeSketch(database: Queryable, visibility: Visibility): Promise<Sketch> {
  const values: unknown[] = []
  const text = visibility.sketched({ bind: value => `$${values.push(value)}` })
  const [row] = await database.query<SketchRow>({ name: 'sketch', text, values })
  const { since, is_many: isMany, is_little: isLittle, much, marks } = row!
  const known = { isMany, isLittle, wroteMuch: new Set(much) }
  if (!marks) return known
  const bits = Buffer.alloc(sketchBits / 8)
  // As get_bit of PostgreSQL counts: the lowest bit of a byte first.
  for (const mark of [...unpatients, ...marks]) bits[mark >> 3]! |= 1 << (mark & 7)
  return { ...known, field: { bits, since } }
}
