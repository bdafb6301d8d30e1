// npm run map -- COMMAND …: checks, tries, lays out and begins maps in the FHIR Mapping Language.

import { runTool, type Tool } from './lib/command.ts'
import { check } from './map/check.ts'
import { type Call, callWith, common } from './map/command.ts'
import { coverage } from './map/coverage.ts'
import { fmt } from './map/fmt.ts'
import { create } from './map/new.ts'
import { pack } from './map/package.ts'
import { run } from './map/run.ts'
import { test } from './map/test.ts'
import { shapes } from './shapes/all.ts'

const tool: Tool<Call> = {
  name: 'npm run map',
  about: 'Tools for the maps in mappings/, which turn records into FHIR and back. mappings/README.md teaches them.',
  footer: [
    'A file is a path, or the name of a map in the folder: allergy-to-fhir.',
    'Exit code 0 if all is well, 1 if it is not, 2 for wrong arguments.',
  ],
  options: common,
  commands: [check, test, run, fmt, create, coverage, pack],
  perform: (command, given) => command.run(callWith(given, shapes)),
}

process.exitCode = await runTool(tool, process.argv.slice(2))
