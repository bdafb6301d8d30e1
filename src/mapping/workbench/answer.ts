// The side of the workbench that runs in a thread: it keeps the last folder it was given as a compiled set, so that a change of one
// map costs the compilation of one map.

import { complete } from '../../fml/assist/complete.ts'
import { explain } from '../../fml/assist/explain.ts'
import { shapes } from '../../shapes/all.ts'
import type { SourceFile } from '../files.ts'
import { type MappingSet, mappingSet } from '../set.ts'
import { createInspect, type Inspect } from '../validity.ts'
import type { Answers, Ask, DeskReply, DeskTask, Draft } from './asks.ts'
import { type Desk, isPart, sightsOf } from './desk.ts'
import { exampled, judged, listed } from './judged.ts'
import { tablesOf } from './tables.ts'
import { tried } from './tried.ts'

/** A folder, compiled. */
interface Base {
  readonly id: string
  readonly files: readonly SourceFile[]
  readonly set: MappingSet
}

let kept: Base | undefined
let inspect: Inspect | undefined

/** Answers one ask. Never throws for problems of the files or the data. */
export function answerAsk({ base, needs, drafts, ask }: DeskTask): DeskReply {
  if (kept?.id !== base.id && base.files)
    kept = { id: base.id, files: base.files, set: mappingSet(base.files.filter(isPart), { shapes, before: kept?.set }) }
  if (kept?.id !== base.id) return 'unknown base'
  const files = withDrafts(kept.files, drafts)
  const draft = files.find(({ name }) => name === drafts[0]?.name)
  inspect ??= createInspect(shapes)
  return { answer: answers({ base: kept.set, files, needs, drafts, draft, inspect }, ask) }
}

function answers(desk: Desk, ask: Ask): Answers[Ask['kind']] {
  switch (ask.kind) {
    case 'try':
      return tried(desk, ask)
    case 'complete':
      return desk.draft && completed(desk, desk.draft, ask.offset)
    case 'explain': {
      const { draft, base } = desk
      return draft && explain(draft.text, ask.offset, sightsOf(desk, draft, draft.text), base.structures)
    }
    case 'judge':
      return judged(desk)
    case 'examples':
      return exampled(desk, ask.maps)
    case 'list':
      return listed(desk, ask.maps)
    case 'tables':
      return tablesOf(desk)
  }
}

/** The folder with drafts in the place of its files, or behind them: a set of files in another order would be another set. */
function withDrafts(files: readonly SourceFile[], drafts: readonly Draft[]): SourceFile[] {
  const known = new Map(files.map(each => [each.name, each]))
  for (const { name, text } of drafts) known.set(name, { path: known.get(name)?.path ?? name, name, text })
  return [...known.values()]
}

function completed(desk: Desk, draft: SourceFile, offset: number): Answers['complete'] {
  const { base } = desk
  const urls = [...base.mappings.values()].map(({ text }) => text.url)
  return complete(draft.text, offset, {
    structures: base.structures,
    maps: urls.filter(each => each !== undefined),
    see: text => sightsOf(desk, draft, text),
  })
}
