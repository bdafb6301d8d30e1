// The concept map of a first draft: codes that are the same on both sides, and a comment for each that has to be thought about.

import type { ElementModel } from '../../definitions/model.ts'
import type { Structures } from '../../fml/structures.ts'
import { quoted } from '../../fml/text.ts'

/** The lines of a `conceptmap` between the codes of two elements. */
export function conceptMapLines(id: string, from: ElementModel, to: ElementModel, structures: Structures): string[] {
  const sources = systemsOf(from, id, structures)
  const targets = systemsOf(to, id, structures)
  const prefixes = (systems: Systems, letter: string) =>
    [...systems.keys()].map((url, index) => `prefix ${letter}${index || ''} = ${quoted(url, '"')}`)
  const entries = [...sources.values()].flatMap((codes, index) =>
    [...codes].map(code => entry(`s${index || ''}`, code, targets)),
  )
  return [
    `conceptmap ${quoted(id, '"')} {`,
    ...prefixes(sources, 's'),
    ...prefixes(targets, 't'),
    '',
    ...entries,
    ...(entries.some(each => each.startsWith('//')) ? [`// There are: ${listed(targets)}`] : []),
    '}',
  ]
}

function listed(targets: Systems): string {
  const codes = [...targets.values()].flatMap(each => [...each])
  return codes.length > 20 ? `${codes.slice(0, 20).join(', ')}…` : codes.join(', ')
}

type Systems = ReadonlyMap<string, ReadonlySet<string>>

/** Codes by the URL of their system; where a record merely lists its codes, the list gets one. */
function systemsOf({ name, requiredValueSet }: ElementModel, id: string, structures: Structures): Systems {
  const systems = [...(structures.valueSet(requiredValueSet!) ?? [])]
  return new Map(systems.map(([url, codes]) => [url || `${requiredValueSet!.split('#')[0]}/${name || id}`, codes]))
}

function entry(prefix: string, code: string, targets: Systems): string {
  const source = `${prefix}:${quoted(code, '"')}`
  for (const [index, codes] of [...targets.values()].entries()) {
    const same = [...codes].find(each => plain(each) === plain(code))
    if (same !== undefined) return `${source} == t${index || ''}:${quoted(same, '"')}`
  }
  return `// ${source} - t:?`
}

function plain(code: string): string {
  return code.toLowerCase().replace(/[^a-z0-9]/g, '')
}
