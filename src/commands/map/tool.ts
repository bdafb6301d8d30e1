// The commands that check, try, lay out and begin maps in the FHIR Mapping Language.
import type { Tool } from '../../lib/command.ts'
import { verdictFiles } from '../../mapping/verdict-files.ts'
import { shapes } from '../../shapes/all.ts'
import { check } from './check.ts'
import { callWith, common, type MapCall } from './command.ts'
import { coverage } from './coverage.ts'
import { fmt } from './fmt.ts'
import { create } from './new.ts'
import { pack } from './package.ts'
import { run } from './run.ts'
import { test } from './test.ts'

/** `npm run map`. */
export const mapTool: Tool<MapCall> = {
  name: 'npm run map --',
  about: 'Tools for the maps in mappings/, which convert records to FHIR and back. See mappings/README.md.',
  footer: [
    'A file is a path, or the name of a map in the folder: allergy-to-fhir.',
    'Exit code: 0 without problems, 1 with problems, 2 for wrong arguments.',
  ],
  options: common,
  commands: [check, test, run, fmt, create, coverage, pack],
  perform: (command, given) => command.run({ ...callWith(given, shapes), verdicts: verdictFiles() }),
}
