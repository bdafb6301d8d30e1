// npm run map -- coverage: which elements of the source no rule reads, and which required ones of the target no rule sets.

import type { TypeModel } from '../../definitions/model.ts'
import { jsonKey } from '../../definitions/r4.ts'
import type { Coverage } from '../../fml/compile.ts'
import type { Structures } from '../../fml/structures.ts'
import type { CommandResult } from '../../lib/command.ts'
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

interface Report {
  readonly map: string
  readonly from: string | undefined
  readonly to: string | undefined
  /** `AllergyRecord.created_at` */
  readonly unread: readonly string[]
  readonly unset: readonly string[]
}

async function run(call: MapCall): Promise<CommandResult> {
  const { files, set, chosen } = await openWorkspace(call)
  const reports = chosen.flatMap(each => (each.coverage ? [reportOn(each, each.coverage, set.structures)] : []))
  const unreadable = chosen.filter(each => !each.coverage).flatMap(each => each.problems)
  return {
    isGood: unreadable.length === 0 && reports.every(({ unset }) => unset.length === 0),
    text: `${rendered(unreadable, files)}${reports.map(reportText).join('')}`,
    json: { problems: listed(unreadable), maps: reports },
  }
}

/** The first source is what is translated; a second one is there for whatever a map needs of it. */
function reportOn({ name, parsed, program }: Mapping, coverage: Coverage, structures: Structures): Report {
  const used = (mode: 'source' | 'target') =>
    parsed.map.uses.filter(each => each.mode === mode).map(({ url }) => structures.byUrl(url.text))
  const [from] = program?.sources.map(({ type }) => type) ?? used('source')
  const [to] = program?.targets.map(({ type }) => type) ?? used('target')
  const unread = from === undefined ? [] : unreadOf(from, from, coverage, structures)
  const unset = new Set(coverage.missing.map(({ type, element }) => `${type}.${element}`))
  return { map: name, from, to, unread, unset: [...unset] }
}

/** What every resource and element has, and what says nothing about a patient. */
const FRAME = new Set(['implicitRules', 'language', 'text', 'contained', 'extension', 'modifierExtension', 'meta'])

function unreadOf(type: string, path: string, coverage: Coverage, structures: Structures): string[] {
  const model = structures.typeModel(type)
  const reads = coverage.reads.get(type) ?? new Set()
  if (!model || reads.has('*')) return []
  return elementsOf(model).flatMap(element => {
    const { name, types, choice } = element
    const names = [name, ...types.map(each => jsonKey(element, each))]
    const place = `${path}.${name}${choice ? '[x]' : ''}`
    if (!names.some(each => reads.has(each) || coverage.mentions.has(each))) return [place]
    // Of what is read, the parts: where rules read any of them, and these are not a datatype's.
    const parts = types.filter(each => each !== type && coverage.reads.has(each) && isOwn(each, structures))
    return parts.flatMap(each => unreadOf(each, place, coverage, structures))
  })
}

function elementsOf({ kind, elements }: TypeModel) {
  return [...elements.values()].filter(({ name }) => !FRAME.has(name) && !(kind === 'backbone' && name === 'id'))
}

function isOwn(type: string, structures: Structures): boolean {
  return structures.typeModel(type)?.kind === 'backbone'
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
