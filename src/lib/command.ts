// A tool such as `npm run map`: its commands are values, from which it prints help, reads arguments, and runs.
import { parseArgs } from 'node:util'
import { nearest } from './nearest.ts'

interface Option {
  /** What stands for the value in the help; absent: the option is a switch. */
  readonly value?: string
  /** It may be given several times. */
  readonly repeats?: true
  readonly meaning: string
}

export type Options = Readonly<Record<string, Option>>

/** The arguments of a command. */
export interface Arguments {
  /** Those that belong to no option. */
  readonly positionals: readonly string[]
  /** The value of an option; undefined if it was not given. */
  text(option: string): string | undefined
  /** The values of an option that may be given several times. */
  texts(option: string): readonly string[]
  isSet(option: string): boolean
}

export interface Command<Call> {
  /** One word or several: `check`, `client create`. */
  readonly name: string
  /** How the arguments are written in the help: `[FILE…]`. */
  readonly usage: string
  /** One line. */
  readonly summary: string
  /** The rest of the help text. */
  readonly details: string
  readonly options: Options
  run(call: Call): Promise<CommandResult> | CommandResult
}

export interface CommandResult {
  /** Exit code 0, not 1. */
  readonly isGood: boolean
  /** For people, on standard output. */
  readonly text: string
  /** For people, on standard error, while standard output goes into a file or another program. */
  readonly notes?: string
  /** The same for programs. */
  readonly json: unknown
}

export interface Tool<Call> {
  /** How it is called: `npm run map --`. */
  readonly name: string
  readonly about: string
  /** The last lines of every command's help. */
  readonly footer: readonly string[]
  /** Options that every command has in addition to --json and --help. */
  readonly options: Options
  readonly commands: readonly Command<Call>[]
  perform(command: Command<Call>, given: Arguments): Promise<CommandResult> | CommandResult
  /** Returns an error as a sentence if the user can fix it. */
  explain?(error: unknown): string | undefined
}

/** Wrong usage of the command: exit code 2. */
export class UsageError extends Error {}

const everywhere: Options = {
  json: { meaning: 'print the result as JSON' },
  help: { meaning: 'show this help' },
}

/** Where a tool writes to. */
export interface Streams {
  readonly stdout: { write(text: string): unknown }
  readonly stderr: { write(text: string): unknown }
}

/** Runs the command that the arguments name, prints its answer, and returns the exit code. */
export async function runTool<Call>(
  tool: Tool<Call>,
  args: readonly string[],
  { stdout, stderr }: Streams = process,
): Promise<number> {
  const print = (text: string, code: number): number => {
    stdout.write(text)
    return code
  }
  try {
    const group = groupOf(tool, args)
    if (group) return print(overview(tool, group), group.isAsked ? 0 : 2)
    const { command, rest } = commandOf(tool, args)
    const given = readArguments({ ...command.options, ...tool.options }, rest)
    if (given.isSet('help')) return print(helpOf(tool, command), 0)
    const { text, notes, json, isGood } = await tool.perform(command, given)
    if (given.isSet('json')) return print(`${JSON.stringify(json)}\n`, isGood ? 0 : 1)
    if (notes) stderr.write(notes)
    return print(text, isGood ? 0 : 1)
  } catch (error) {
    const explained = tool.explain?.(error)
    if (error instanceof UsageError) stderr.write(`${error.message}\nSee ${tool.name} --help.\n`)
    else stderr.write(`${explained ?? (error as Error).stack}\n`)
    return explained === undefined ? 2 : 1
  }
}

/** Reads arguments. @throws UsageError for what is no option, or lacks its value. */
export function readArguments(options: Options, args: readonly string[]): Arguments {
  const config = Object.entries({ ...options, ...everywhere }).map(
    ([key, { value, repeats = false }]) =>
      [key, { type: value ? ('string' as const) : ('boolean' as const), multiple: repeats }] as const,
  )
  const { values, positionals } = parsed(args, Object.fromEntries(config))
  return {
    positionals,
    text(option) {
      const value = values[option]
      return typeof value === 'string' ? value : undefined
    },
    texts: option => [values[option] ?? []].flat().filter(each => typeof each === 'string'),
    isSet: option => values[option] === true,
  }
}

function parsed(args: readonly string[], options: Record<string, { type: 'string' | 'boolean'; multiple: boolean }>) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true })
  } catch (error) {
    throw new UsageError((error as Error).message.replace(/\. .*/s, ''))
  }
}

/** Commands whose names begin with the same words, none of which is the name of a command. */
interface Group<Call> {
  /** `client`; empty for the group of all commands. */
  readonly name: string
  readonly commands: readonly Command<Call>[]
  /** False if the arguments end where the rest of a name should be. */
  readonly isAsked: boolean
}

/** The group whose help is to be shown: arguments that end, or continue with --help, before they name a command. */
function groupOf<Call>({ commands }: Tool<Call>, args: readonly string[]): Group<Call> | undefined {
  const asked = args.indexOf('--help')
  const words = asked < 0 ? args : args.slice(0, asked)
  const members = commands.filter(({ name }) => words.every((word, at) => word === name.split(' ')[at]))
  const name = words.join(' ')
  if (members.length === 0 || members.some(member => member.name === name)) return undefined
  return { name, commands: members, isAsked: asked >= 0 }
}

function commandOf<Call>({ commands }: Tool<Call>, args: readonly string[]): Named<Call> {
  for (const command of commands) {
    const words = command.name.split(' ')
    if (words.every((word, at) => word === args[at])) return { command, rest: args.slice(words.length) }
  }
  const names = commands.map(each => each.name)
  const words = names[0]!.split(' ').length
  const options = args.findIndex(each => each.startsWith('-'))
  const name = args.slice(0, options < 1 ? words : Math.min(words, options)).join(' ')
  const meant = nearest(name, names)
  throw new UsageError(
    `there is no command ${name}; ${meant ? `did you mean ${meant}?` : `there are ${names.join(', ')}`}`,
  )
}

interface Named<Call> {
  readonly command: Command<Call>
  readonly rest: readonly string[]
}

function helpOf<Call>(tool: Tool<Call>, { name, usage, summary, details, options }: Command<Call>): string {
  const rows = Object.entries({ ...options, ...tool.options, ...everywhere }).map(
    ([key, { value, meaning }]) => [`--${key}${value ? ` ${value}` : ''}`, meaning] as const,
  )
  return [
    `Usage: ${tool.name} ${name} ${usage}`.trimEnd(),
    '',
    `${summary}.`,
    ...(details ? ['', details] : []),
    '',
    ...columns(rows),
    '',
    ...tool.footer,
    '',
  ].join('\n')
}

function overview<Call>({ name: tool, about }: Tool<Call>, { name: group, commands }: Group<Call>): string {
  const rows = commands.map(({ name, usage, summary }) => [`${name} ${usage}`.trimEnd(), summary] as const)
  return [
    `Usage: ${tool} ${group ? `${group} ` : ''}COMMAND …`,
    '',
    about,
    '',
    ...columns(rows),
    '',
    `${tool} ${group ? `${group} ` : ''}COMMAND --help shows the options of a command.`,
    '',
  ].join('\n')
}

function columns(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(...rows.map(([left]) => left.length))
  return rows.map(([left, meaning]) => `  ${left.padEnd(width)}   ${meaning}`)
}
