// What is said of a map when it is read and checked: all that a set needs of it before it runs. It follows from the text of the map,
// the texts of the maps that it refers to, the resources beside them, the records, and the code of this project, and from nothing else;
// so it can be kept (verdict-files.ts), under a key that covers all of that except for the other maps, whose texts it notes itself.

import { hash } from 'node:crypto'
import type { TObject } from 'typebox'
import type { ProgramEnds } from '../fml/compile/program.ts'
import type { Shared } from '../fml/compile/shared.ts'
import { type Coverage, compileMap, type MapLibrary, type Program } from '../fml/compile.ts'
import { errorsIn, type Problem } from '../fml/problem.ts'
import { isExamples } from './examples.ts'
import type { SourceFile } from './files.ts'
import type { MapText, TextFacts } from './map-text.ts'

export interface MapVerdict extends TextFacts {
  /** Those of the map and of its imports. */
  readonly problems: readonly Problem[]
  /** Absent if the map could not be read. */
  readonly coverage: Coverage | undefined
  /** Absent if the map has problems other than warnings. */
  readonly program: ProgramEnds | undefined
  /** The marks of the maps that it was checked with, by the URLs that it refers to. */
  readonly others: ReadonlyMap<string, readonly string[]>
}

/** Verdicts that are kept from one process to the next. */
export interface Verdicts {
  /** Returns what is kept under a key; undefined if there is none, or if it is not as it was written. */
  find(key: string): MapVerdict | undefined
  keep(fresh: ReadonlyMap<string, MapVerdict>): void
}

/** The maps of a URL, which may hold `*`. */
export type FindMaps = (url: string) => readonly MapText[]

/** Returns what the keys of verdicts have in common: the records, and all that stands beside the maps. */
export function basisOf(files: readonly SourceFile[], shapes: readonly TObject[]): string {
  const beside = files.filter(each => !isExamples(each)).map(({ path, text }) => [path, text])
  return hash('sha256', JSON.stringify([shapes, beside]))
}

export function keyOf({ path, text }: SourceFile, basis: string, lenient: boolean): string {
  return hash('sha256', JSON.stringify([basis, lenient, path, text]))
}

/** Tells the text of a map at its path from any other. */
function markOf({ source: { path, text } }: MapText): string {
  return hash('sha256', JSON.stringify([path, text]))
}

/** True if the maps that a verdict was made with are those of these URLs now. */
export function holds({ others }: MapVerdict, find: FindMaps): boolean {
  return [...others].every(([url, marks]) => {
    const now = find(url)
    return now.length === marks.length && now.every((each, index) => markOf(each) === marks[index])
  })
}

/** What a map is checked with, and compiled with again. */
export interface Context {
  readonly library: MapLibrary
  readonly find: FindMaps
  /** True for maps of others, which may name what is not known here. */
  readonly lenient: boolean
}

export interface Checked {
  readonly verdict: MapVerdict
  /** Absent if the verdict was known, or says that nothing can run. */
  readonly program: Program | undefined
}

/** Checks a map. If part of it could not be read, the rest is still checked, except for what seems to be missing. */
export function checkMap(text: MapText, { library, find, lenient }: Context, shared: Shared): Checked {
  const { url, unread, parsed } = text
  const errors = errorsIn(unread)
  const asked = new Set<string>()
  const maps: MapLibrary['maps'] = each => {
    asked.add(each)
    return library.maps(each)
  }
  const { program, coverage, problems } = compileMap(
    parsed.map,
    { ...library, maps },
    { lenient, unread: errors, shared },
  )
  addImports(asked, text, find)
  const others = new Map([...asked].map(each => [each, find(each).map(markOf)]))
  const isRead = errors.length === 0
  const { run: _, ...ends } = program ?? { run: undefined }
  return {
    program: isRead ? program : undefined,
    verdict: {
      url,
      unread,
      problems: [...unread, ...problems],
      coverage: isRead ? coverage : undefined,
      program: isRead && program ? (ends as ProgramEnds) : undefined,
      others,
    },
  }
}

/** Adds all that a map imports, directly or not: of groups that it shares with other maps, these asked. */
function addImports(asked: Set<string>, text: MapText, find: FindMaps): void {
  const add = ({ parsed }: MapText) => parsed.map.imports.forEach(({ url }) => asked.add(url.text))
  add(text)
  for (const url of asked) find(url).forEach(add)
}
