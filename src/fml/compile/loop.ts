// The loop of a rule: its body runs for each value of its source, or each combination of several.

import { type Action, alone, at, countSteps, type Frame, type Mark } from '../run/frame.ts'
import type { SourceCode } from './source.ts'

/** Runs the body for every combination of what the sources find. */
export function looping(sources: readonly SourceCode[], body: Action, mark: Mark): Action {
  const [first, ...more] = sources
  if (!first) return body
  const inner = more.reduceRight((action, source) => over(source, action, mark), entering(body, mark))
  return over(first, inner, mark)
}

function over({ select, slot }: SourceCode, body: Action, mark: Mark): Action {
  const isFirst = slot === mark.slot
  return frame => {
    countSteps(frame.shared)
    if (isFirst) frame.vars[slot] = undefined
    at(frame, mark)
    const items = select(frame)
    for (let i = 0; i < items.length; i++) {
      frame.vars[slot] = alone(items, items[i]!)
      body(frame)
    }
  }
}

function entering(body: Action, mark: Mark): Action {
  return frame => {
    countSteps(frame.shared)
    at(frame, mark)
    if (frame.shared.options.trace) trace(frame, mark)
    body(frame)
  }
}

function trace(frame: Frame, { site, slot, depth }: Mark): void {
  const { options, depth: calls } = frame.shared
  const item = slot === undefined ? undefined : (frame.vars[slot] as readonly [{ path?: string; value: unknown }])[0]
  options.trace?.({ site, depth: depth + calls - 1, path: item?.path, value: item?.value })
}
