// npm run map -- fmt: gives maps their canonical layout.

import { writeFile } from 'node:fs/promises'
import { format } from '../../fml/format.ts'
import { parse } from '../../fml/parser.ts'
import { errorsIn } from '../../fml/problem.ts'
import type { CommandResult } from '../../lib/command.ts'
import { encodingProblems } from '../../mapping/json-file.ts'
import type { MapCall, MapCommand } from './command.ts'
import { counted, listed, openWorkspace, rendered } from './workspace.ts'

export const fmt: MapCommand = {
  name: 'fmt',
  usage: '[FILE…] [--check]',
  summary: 'Format maps in the canonical layout',
  details: 'Keeps comments in place. Leaves a map with syntax errors unchanged and reports its problems.',
  options: { check: { meaning: 'change nothing; exit code 1 if a file would change' } },
  run,
}

async function run(call: MapCall): Promise<CommandResult> {
  const { files, chosen } = await openWorkspace(call)
  const isOnlyCheck = call.isSet('check')
  const unread = chosen.flatMap(({ source }) => [
    ...encodingProblems(source),
    ...errorsIn(parse(source.text, source.path).problems),
  ])
  // Its letters are not what was read: written again, they would be lost.
  const sound = chosen.filter(({ source }) => source.foreignLine === undefined)
  const other = sound.filter(({ source }) => format(source.text) !== source.text).map(({ source }) => source)
  if (!isOnlyCheck) for (const { path, text } of other) await writeFile(path, format(text))
  const paths = other.map(({ path }) => path)
  const verb = isOnlyCheck ? 'has another layout' : 'laid out'
  return {
    isGood: unread.length === 0 && (paths.length === 0 || !isOnlyCheck),
    text: `${rendered(unread, files)}${paths.map(path => `${path}: ${verb}\n`).join('')}${counted(chosen.length, 'map')}, ${
      isOnlyCheck ? `${paths.length} to lay out` : `${paths.length} changed`
    }\n`,
    json: { changed: paths, isOnlyCheck, problems: listed(unread) },
  }
}
