// Which element of the source probably becomes which element of the target.

import type { ElementModel, TypeModel } from '../../definitions/model.ts'
import type { Structures } from '../../fml/structures.ts'
import { likeness } from './meaning.ts'
import { type Way, wayBetween } from './ways.ts'

export interface Pair {
  readonly from: ElementModel
  readonly to: ElementModel
  /** Undefined if nothing is known that leads from the one to the other. */
  readonly way: Way | undefined
}

/** What every resource or element has; a map begins without it. */
const FRAME = new Set(['implicitRules', 'language', 'text', 'contained', 'extension', 'modifierExtension', 'meta'])

/** The elements that are about the thing itself. */
export function elementsOf({ kind, elements }: TypeModel): ElementModel[] {
  const isFrame = (name: string) => FRAME.has(name) && elements.has('extension')
  const isInnerId = (name: string) => name === 'id' && kind !== 'resource' && elements.has('extension')
  return [...elements.values()].filter(({ name }) => !isFrame(name) && !isInnerId(name))
}

/** Names that share less are about different things. */
const LEAST = 0.5

/** The likely pairs, each source element in one, those that are most alike first served; in the order of the source. */
export function pairsOf(from: TypeModel, to: TypeModel, structures: Structures): Pair[] {
  const sources = elementsOf(from)
  const candidates = sources.flatMap(source =>
    elementsOf(to).map(target => ({ source, target, score: likeness(source.name, target.name) })),
  )
  const found = new Map<ElementModel, Pair>()
  const filled = new Set<ElementModel>()
  for (const { source, target, score } of candidates.toSorted((a, b) => b.score - a.score)) {
    if (score < LEAST || found.get(source)?.way || filled.has(target)) continue
    const way = wayBetween(source, target, structures)
    if (!way && found.has(source)) continue
    found.set(source, { from: source, to: target, way })
    if (way && target.max === 1) filled.add(target)
  }
  return sources.flatMap(source => found.get(source) ?? [])
}
