// Pauses in long computations on the event loop, counted in what was looked at, so that others are answered in between.
import { setImmediate as breath } from 'node:timers/promises'
import { elementsOf } from '../fhirpath/steps.ts'

/** Values that are looked at between two pauses: some milliseconds' work. */
const between = 2000
/** Characters of JSON that stand for a value, about. */
const charactersOfValue = 16

export interface Pause {
  /** Waits for others, if this and what came before is enough work for a while. */
  after(work: unknown): Promise<void> | undefined
  /** The same after work on the JSON of a text. */
  afterText(text: { readonly length: number }): Promise<void> | undefined
}

export function createPause(): Pause {
  let looked = 0
  const afterValues = (count: number): Promise<void> | undefined => {
    looked += count
    if (looked < between) return undefined
    looked = 0
    return breath()
  }
  return {
    after: work => afterValues(elementsOf(work)),
    afterText: ({ length }) => afterValues(length / charactersOfValue),
  }
}
