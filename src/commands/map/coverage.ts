// npm run map -- coverage: which elements of the source no rule reads, and which required ones of the target no rule sets.

import type { Structures } from '../../fml/structures.ts'
import type { CommandResult } from '../../lib/command.ts'
import { coverageOf } from '../../mapping/coverage.ts'
import type { Mapping } from '../../mapping/mapping.ts'
import type { MapCall, MapCommand } from './command.ts'
import { listed, openWorkspace, paragraph, rendered } from './workspace.ts'

export const coverage: MapCommand = {
  name: 'coverage',
  usage: '[FILE…]',
  summary: 'Report source elements that no rule reads, and required target elements that no rule sets',
  details: 'Elements that no rule reads are lost. Elements named in expressions count as read.',
  options: {},
  run,
}

async function run(call: MapCall): Promise<CommandResult> {
  const { files, set, chosen } = await openWorkspace(call)
  const reports = chosen.flatMap(each => reportOn(each, set.structures))
  const unreadable = chosen.filter(each => !each.coverage).flatMap(each => each.problems)
  return {
    isGood: unreadable.length === 0 && reports.every(({ unset }) => unset.length === 0),
    text: `${rendered(unreadable, files)}${reports.map(reportText).join('')}`,
    json: { problems: listed(unreadable), maps: reports },
  }
}

/** The report of a map as the command shows it. */
interface Report {
  readonly map: string
  readonly from: string | undefined
  readonly to: string | undefined
  /** `AllergyRecord.created_at` */
  readonly unread: readonly string[]
  readonly unset: readonly string[]
}

function reportOn(mapping: Mapping, structures: Structures): Report[] {
  const found = coverageOf(mapping, structures)
  if (!found) return []
  const { map, from, to, source, unset } = found
  return [{ map, from, to, unread: source.filter(each => !each.isCovered).map(each => each.path), unset }]
}

function reportText({ map, from, to, unread, unset }: Report): string {
  const ends = from && to ? ` (${from} to ${to})` : ''
  const names = unread.map(each => each.slice(from!.length + 1))
  const rows = [
    ...(names.length > 0 ? [paragraph('never read:', names, '  ')] : []),
    ...(unset.length > 0 ? [paragraph('required, but never set:', unset, '  ')] : []),
  ]
  return `${map}${ends}${rows.length === 0 ? ': complete' : ''}\n${rows.join('')}`
}
