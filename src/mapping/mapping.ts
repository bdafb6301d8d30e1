// One map of the set that the service runs, with all its properties.
// biome-ignore-all lint/plugin: A map has one of these.

import { resting } from '../fml/compile/resting.ts'
import { type Coverage, compileMap, type MapLibrary, type Program } from '../fml/compile.ts'
import type { Parsed } from '../fml/parser.ts'
import type { Problem } from '../fml/problem.ts'
import { mapName, type SourceFile } from './files.ts'
import type { MapText } from './map-text.ts'
import type { Checked, Context } from './verdict.ts'

/** One map of a set. */
export interface Mapping {
  /** Its file below the folder, without `.fml`: `allergy-to-fhir`. */
  readonly name: string
  readonly text: MapText
  readonly source: SourceFile
  /** Read when it is first asked for. */
  readonly parsed: Parsed
  /** Absent if the map has problems other than warnings. */
  readonly program: Program | undefined
  /** Its problems and those of its imports. */
  readonly problems: readonly Problem[]
  /** Absent if the map could not be read. */
  readonly coverage: Coverage | undefined
  /** The other maps that it was compiled with, by the URLs that it refers to. */
  readonly others: ReadonlyMap<string, readonly MapText[]>
}

/** A map that was checked, now or before. */
export function mappingFrom(
  text: MapText,
  { verdict, program }: Checked,
  { library, find, lenient }: Context,
): Mapping {
  const { problems, coverage } = verdict
  const others = new Map([...verdict.others.keys()].map(url => [url, find(url)]))
  const ends = program ?? verdict.program
  const again = () => compiledAgain(text, { ...library, maps: mapsOf(others) }, lenient)
  return withParts(text, { problems, coverage, others, program: ends && resting(ends, again) })
}

/** A map that is only here for others to import. */
export function readOnly(text: MapText): Mapping {
  return withParts(text, { problems: text.unread, coverage: undefined, others: new Map(), program: undefined })
}

function withParts(text: MapText, said: Pick<Mapping, 'program' | 'problems' | 'coverage' | 'others'>): Mapping {
  const { source } = text
  return {
    name: mapName(source.name),
    text,
    source,
    get parsed() {
      return text.parsed
    },
    ...said,
  }
}

function mapsOf(others: Mapping['others']): MapLibrary['maps'] {
  return url => (others.get(url) ?? []).map(({ parsed }) => parsed.map)
}

function compiledAgain({ parsed }: MapText, library: MapLibrary, lenient: boolean): Program {
  const { program, problems } = compileMap(parsed.map, library, { lenient })
  if (!program)
    throw new Error(`${parsed.map.file} has problems that checking it did not find: ${problems[0]?.message}`)
  return program
}
