// npm run map -- check: everything that is wrong with maps, their examples, and what they speak of.

import { servedNeeds } from '../../app/map-needs.ts'
import type { CommandResult } from '../../lib/command.ts'
import { isWarning } from '../../mapping/set.ts'
import type { MapCall, MapCommand } from './command.ts'
import { counted, listed, openWorkspace, rendered } from './workspace.ts'

export const check: MapCommand = {
  name: 'check',
  usage: '[FILE…]',
  summary: 'Report all problems in the maps, or in the named ones',
  details: [
    'The running service uses a folder without errors; warnings do not prevent it. In its own folder, MAPPINGS_DIR,',
    'a map or a file that the service needs and does not find is an error too; with another --folder it is not.',
    'A reference to an unknown structure is also a warning.',
  ].join('\n'),
  options: {},
  run,
}

async function run(call: MapCall): Promise<CommandResult> {
  const { files, chosen, problems } = await openWorkspace(call, {
    isAboutNamed: true,
    ...(call.isServed && servedNeeds),
  })
  const errors = problems.filter(each => !isWarning(each)).length
  const warnings = problems.length - errors
  const counts = [
    counted(chosen.length, 'map'),
    errors > 0 ? counted(errors, 'problem') : 'no problems',
    ...(warnings > 0 ? [counted(warnings, 'warning')] : []),
  ]
  return {
    isGood: errors === 0,
    text: `${rendered(problems, files)}${counts.join(', ')}\n`,
    json: { maps: chosen.map(each => each.name), errors, warnings, problems: listed(problems) },
  }
}
