// Many stored resources become records: after long ones others have their turn.

import type { TObject } from 'typebox'
import type { StoredText } from '../lib/stored-text.ts'
import type { Context } from '../shapes/context.ts'
import { createPause } from '../store/pause.ts'
import type { Translated, Translator } from './translator.ts'

/** What becomes of the texts of stored resources, in their order. */
export async function allStored<Shape extends TObject>(
  translator: Translator,
  { map, shape }: { readonly map: string; readonly shape: Shape },
  bodies: readonly (string | StoredText)[],
  context: Context,
): Promise<Translated<Shape>[]> {
  const all: Translated<Shape>[] = []
  const pause = createPause()
  for (const body of bodies) {
    all.push(translator.fromStored(map, shape, String(body), context))
    await pause.afterText(body)
  }
  return all
}
