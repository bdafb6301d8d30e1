// npm run map -- COMMAND …: checks, tries, lays out and begins maps in the FHIR Mapping Language.

import { check } from './map/check.ts'
import { type Answer, type Command, callOf, commandNamed, helpOf, overview, UsageError } from './map/command.ts'
import { coverage } from './map/coverage.ts'
import { fmt } from './map/fmt.ts'
import { create } from './map/new.ts'
import { run } from './map/run.ts'
import { test } from './map/test.ts'
import { shapes } from './shapes/all.ts'

const commands: readonly Command[] = [check, test, run, fmt, create, coverage]

async function main([name, ...args]: readonly string[]): Promise<number> {
  if (name === undefined || name === '--help') return print(overview(commands), name === undefined ? 2 : 0)
  const command = commandNamed(name, commands)
  const call = callOf(command, args, shapes)
  if (call.isSet('help')) return print(helpOf(command), 0)
  const answer = await command.run(call)
  return call.isSet('json') ? printJson(answer) : printText(answer)
}

function printText({ text, notes, isGood }: Answer): number {
  if (notes) process.stderr.write(notes)
  return print(text, isGood ? 0 : 1)
}

function printJson({ json, isGood }: Answer): number {
  return print(`${JSON.stringify(json)}\n`, isGood ? 0 : 1)
}

function print(text: string, code: number): number {
  process.stdout.write(text)
  return code
}

main(process.argv.slice(2)).then(
  code => {
    process.exitCode = code
  },
  error => {
    const isExpected = error instanceof UsageError
    process.stderr.write(isExpected ? `${error.message}\nnpm run map -- --help says how.\n` : `${error.stack}\n`)
    process.exitCode = 2
  },
)
