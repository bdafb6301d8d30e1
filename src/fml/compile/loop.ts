// The loop of a rule: its body runs for each value of its source, or each combination of several.

import type { Items } from '../../fhirpath/compile.ts'
import { type Action, at, countSteps, type Frame, itemsAt, type Mark } from '../run/frame.ts'
import type { SourceCode } from './source.ts'

/** Runs the body for every combination of what the sources find. */
export function looping(sources: readonly SourceCode[], body: Action, mark: Mark): Action {
  const last = sources.at(-1)
  if (!last) return body
  const loop = sources
    .slice(0, -1)
    .reduceRight((inner, source) => over(source, inner, mark), innermost(last, body, mark))
  return sources.length === 1 ? loop : clearing(sources, loop)
}

/** Clears the matches of the last run of the rule, so that they do not count for this one. */
function clearing(sources: readonly SourceCode[], loop: Action): Action {
  return frame => {
    for (const { slot } of sources) frame.vars[slot] = undefined
    loop(frame)
  }
}

function over({ select, slot }: SourceCode, body: Action, mark: Mark): Action {
  return frame => {
    const items = begin(frame, select, slot, mark)
    for (let i = 0; i < items.length; i++) {
      frame.vars[slot] = items.length === 1 ? items : [items[i]]
      body(frame)
    }
  }
}

/** The loop whose body is the action of the rule. */
function innermost({ select, slot }: SourceCode, body: Action, mark: Mark): Action {
  return frame => {
    const items = begin(frame, select, slot, mark)
    const { shared, vars } = frame
    for (let i = 0; i < items.length; i++) {
      vars[slot] = items.length === 1 ? items : [items[i]]
      countSteps(shared)
      at(frame, mark)
      if (shared.trace) traceRun(frame, mark)
      body(frame)
    }
  }
}

function begin(frame: Frame, select: SourceCode['select'], slot: number, mark: Mark): Items {
  countSteps(frame.shared)
  if (slot === mark.slot) frame.vars[slot] = undefined
  at(frame, mark)
  return select(frame)
}

function traceRun(frame: Frame, { site, slot, depth }: Mark): void {
  const { trace, depth: calls } = frame.shared
  const item = slot === undefined ? undefined : itemsAt(frame, slot)[0]
  trace?.({ site, depth: depth + calls - 1, path: item?.path, value: item?.value })
}
