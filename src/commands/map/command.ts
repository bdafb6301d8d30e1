// What a command of `npm run map` works with: its arguments, the folder of maps, and the records that maps can speak of.
import { resolve } from 'node:path'
import type { TObject } from 'typebox'
import { type Command as AnyCommand, type Arguments, type Options, readArguments } from '../../lib/command.ts'
import { settings } from '../../lib/config.ts'
import type { Verdicts } from '../../mapping/verdict.ts'

/** A command as it was called. */
export interface MapCall extends Arguments {
  readonly files: readonly string[]
  /** The folder of maps. */
  readonly folder: string
  /** True if it is the folder that the service serves. */
  readonly isServed: boolean
  /** The records that maps can speak of beside R4. */
  readonly shapes: readonly TObject[]
  /** What was said of maps before. */
  readonly verdicts?: Verdicts
}

export type MapCommand = AnyCommand<MapCall>

/** Options of every command. */
export const common: Options = {
  folder: { value: 'FOLDER', meaning: 'the folder of maps (default MAPPINGS_DIR)' },
  with: {
    value: 'PATH',
    repeats: true,
    meaning: 'a file or folder that the maps depend on: maps, StructureDefinitions, ConceptMaps; can be repeated',
  },
}

/** A call with these arguments. */
export function callWith(given: Arguments, shapes: readonly TObject[]): MapCall {
  const { default: fallback, name, parse } = settings.mappingsDir
  const served = parse(process.env[name]?.trim() || fallback)
  const folder = parse(given.text('folder') ?? served)
  return { ...given, files: given.positionals, folder, isServed: resolve(folder) === resolve(served), shapes }
}

/** Reads the arguments of a command. @throws UsageError */
export function callOf({ options }: MapCommand, args: readonly string[], shapes: readonly TObject[]): MapCall {
  return callWith(readArguments({ ...options, ...common }, args), shapes)
}
