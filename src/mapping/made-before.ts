// The records that maps made of stored resources lately, so that a chart that is opened again is not translated again. A record is kept
// under the whole text that it follows from, for the program that made it, so it cannot be stale (docs/decisions/0104-made-before.md).
import type { TObject } from 'typebox'
import type { Program } from '../fml/compile.ts'

/** What one program made, by the texts. */
interface Shelf<Made> {
  readonly program: Program
  /** What was asked for since this generation began, and in the one before. */
  young: Map<string, Made>
  old: Map<string, Made>
  /** Characters of the texts in the young generation, and when it began. */
  characters: number
  since: number
}

export interface MadeBefore<Made> {
  /** Returns what the program made of the text in this shape; undefined if that is not kept. */
  recall(shape: TObject, program: Program, text: string): Made | undefined
  /** Keeps it for some minutes, as long as there is room. */
  keep(shape: TObject, program: Program, text: string, made: Made): void
}

/** Most characters of the texts of a generation, two of which are kept of each map, and of one text. */
const [mostKept, longest] = [1_000_000, 20_000]

/** Milliseconds for which a generation is young. What is not asked for again goes with the next one. */
const youth = 300_000

/** Keeps results in memory. @param now the clock, in milliseconds */
export function createMadeBefore<Made>(now: () => number = () => performance.now()): MadeBefore<Made> {
  const shelves = new WeakMap<TObject, Shelf<Made>>()
  const shelfOf = (shape: TObject, program: Program): Shelf<Made> => {
    const known = shelves.get(shape)
    if (known?.program === program) return known
    const shelf = { program, young: new Map(), old: new Map(), characters: 0, since: now() }
    shelves.set(shape, shelf)
    return shelf
  }
  const put = (shelf: Shelf<Made>, text: string, made: Made): void => {
    if (shelf.characters + text.length > mostKept) age(shelf, now())
    shelf.young.set(alone(text), made)
    shelf.characters += text.length
  }
  return {
    recall(shape, program, text) {
      const shelf = shelfOf(shape, program)
      if (now() - shelf.since >= youth) age(shelf, now())
      const made = shelf.young.get(text)
      if (made !== undefined) return made
      const before = shelf.old.get(text)
      if (before !== undefined) put(shelf, text, before)
      return before
    },
    keep(shape, program, text, made) {
      if (text.length <= longest) put(shelfOf(shape, program), text, made)
    },
  }
}

/** The text in memory of its own: as it was read, it is a part of the texts of a page, which it would keep all (src/db/rows.ts). */
const alone = (text: string): string => Buffer.from(text).toString()

function age<Made>(shelf: Shelf<Made>, since: number): void {
  Object.assign(shelf, { young: new Map(), old: shelf.young, characters: 0, since })
}
