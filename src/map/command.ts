// What a command of `npm run map` is: one value from which its help is printed, its arguments are read, and that runs it.

import { parseArgs } from 'node:util'
import type { TObject } from 'typebox'
import { settings } from '../lib/config.ts'
import { nearest } from '../lib/nearest.ts'

export interface Option {
  /** What stands for the value in the help; absent: the option is a switch. */
  readonly value?: string
  /** It may be given several times. */
  readonly repeats?: true
  readonly meaning: string
}

export interface Command {
  readonly name: string
  /** How the arguments are written in the help: `[FILE…]`. */
  readonly usage: string
  /** One line. */
  readonly summary: string
  /** What else the help says. */
  readonly details: string
  readonly options: Readonly<Record<string, Option>>
  run(call: Call): Promise<Answer> | Answer
}

/** A command as it was called. */
export interface Call {
  readonly files: readonly string[]
  /** The value of an option; undefined if it was not given. */
  text(option: string): string | undefined
  /** The values of an option that may be given several times. */
  texts(option: string): readonly string[]
  isSet(option: string): boolean
  /** The folder of maps. */
  readonly folder: string
  /** The records that maps can speak of beside R4. */
  readonly shapes: readonly TObject[]
}

export interface Answer {
  /** Exit code 0, not 1. */
  readonly isGood: boolean
  /** For people, on standard output. */
  readonly text: string
  /** For people, on standard error, while standard output goes into a file or another program. */
  readonly notes?: string
  /** The same for programs. */
  readonly json: unknown
}

/** The command was called wrongly: exit code 2. */
export class UsageError extends Error {}

const COMMON: Readonly<Record<string, Option>> = {
  folder: { value: 'FOLDER', meaning: 'the folder of maps, if it is not MAPPINGS_DIR' },
  with: {
    value: 'PATH',
    repeats: true,
    meaning: 'a file or folder that maps draw upon: maps, StructureDefinitions, ConceptMaps; may be repeated',
  },
  json: { meaning: 'the answer as JSON, for editors and scripts' },
  help: { meaning: 'this text' },
}

/** The help of one command. */
export function helpOf({ name, usage, summary, details, options }: Command): string {
  const rows = Object.entries({ ...options, ...COMMON }).map(
    ([key, { value, meaning }]) => [`--${key}${value ? ` ${value}` : ''}`, meaning] as const,
  )
  const width = Math.max(...rows.map(([left]) => left.length))
  return [
    `Usage: npm run map -- ${name} ${usage}`.trimEnd(),
    '',
    `${summary}.`,
    ...(details ? ['', details] : []),
    '',
    ...rows.map(([left, meaning]) => `  ${left.padEnd(width)}   ${meaning}`),
    '',
    'A file is a path, or the name of a map in the folder: allergy-to-fhir.',
    'Exit code 0 if all is well, 1 if it is not, 2 for wrong arguments.',
    '',
  ].join('\n')
}

/** The help of all commands. */
export function overview(commands: readonly Command[]): string {
  const rows = commands.map(({ name, usage, summary }) => [`${name} ${usage}`.trimEnd(), summary] as const)
  const width = Math.max(...rows.map(([left]) => left.length))
  return [
    'Usage: npm run map -- COMMAND …',
    '',
    'Tools for the maps in mappings/, which turn records into FHIR and back. mappings/README.md teaches them.',
    '',
    ...rows.map(([left, summary]) => `  ${left.padEnd(width)}   ${summary}`),
    '',
    'npm run map -- COMMAND --help says more.',
    '',
  ].join('\n')
}

/** The command of a name. @throws UsageError */
export function commandNamed(name: string, commands: readonly Command[]): Command {
  const found = commands.find(each => each.name === name)
  if (found) return found
  const names = commands.map(each => each.name)
  const meant = nearest(name, names)
  throw new UsageError(
    `there is no command ${name}; ${meant ? `did you mean ${meant}?` : `there are ${names.join(', ')}`}`,
  )
}

/** Reads the arguments of a command. @throws UsageError */
export function callOf({ options }: Command, args: readonly string[], shapes: readonly TObject[]): Call {
  const config = Object.entries({ ...options, ...COMMON }).map(
    ([key, { value, repeats = false }]) =>
      [key, { type: value ? ('string' as const) : ('boolean' as const), multiple: repeats }] as const,
  )
  const { values, positionals } = parsed(args, Object.fromEntries(config))
  const text = (option: string) => {
    const value = values[option]
    return typeof value === 'string' ? value : undefined
  }
  const { default: fallback, name, parse } = settings.mappingsDir
  return {
    files: positionals,
    text,
    texts: option => [values[option] ?? []].flat().filter(each => typeof each === 'string'),
    isSet: option => values[option] === true,
    folder: parse(text('folder') ?? (process.env[name]?.trim() || fallback)),
    shapes,
  }
}

function parsed(args: readonly string[], options: Record<string, { type: 'string' | 'boolean'; multiple: boolean }>) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true })
  } catch (error) {
    throw new UsageError((error as Error).message.replace(/\. .*/s, ''))
  }
}
