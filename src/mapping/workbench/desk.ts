// What an ask of the workbench is about: the folder as a compiled set, and the drafts in it.

import { compileMap } from '../../fml/compile.ts'
import { parse } from '../../fml/parser.ts'
import { errorsIn } from '../../fml/problem.ts'
import type { Sight } from '../../fml/sight.ts'
import { shapes } from '../../shapes/all.ts'
import { isExamples } from '../examples.ts'
import { isMap, mapName, type SourceFile } from '../files.ts'
import { type MappingSet, mappingSet } from '../set.ts'
import type { Inspect } from '../validity.ts'
import type { DeskTask, Draft } from './asks.ts'

/** What an ask is about. */
export interface Desk {
  readonly base: MappingSet
  /** All files, drafts among them. */
  readonly files: readonly SourceFile[]
  readonly needs: DeskTask['needs']
  readonly drafts: readonly Draft[]
  /** The first of them. */
  readonly draft: SourceFile | undefined
  readonly inspect: Inspect
}

/** Examples are no part of a set of maps. */
export const isPart = (file: SourceFile): boolean => !isExamples(file)

/** What the compiler knows at the names of a text in the place of a draft. */
export function sightsOf({ base }: Pick<Desk, 'base'>, { path }: SourceFile, text: string): readonly Sight[] {
  const { map, problems } = parse(text, path)
  const sights: Sight[] = []
  compileMap(map, base.library, { unread: errorsIn(problems), see: sight => void sights.push(sight) })
  // Names in other maps that this one imports are not places of this text.
  return sights
}

/** The set with the drafts, of which only these maps are compiled anew; all, if none are named. */
export function setOf({ base, files, needs }: Desk, compiled?: readonly string[]): MappingSet {
  const paths =
    compiled &&
    new Set(files.filter(({ name }) => isMap(name) && compiled.includes(mapName(name))).map(({ path }) => path))
  const options = { shapes, before: base, needs, needsMatching: true, needsConsents: true }
  return mappingSet(files.filter(isPart), { ...options, ...(paths && { compiled: paths }) })
}
