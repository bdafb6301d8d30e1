// What the elements of R4 are, in the few words of the specification: for people who write maps.

import type { TypeRow, WordRows } from '../rows.ts'
import type { Source } from './source.ts'

export function wordRows(source: Source, types: readonly TypeRow[]): WordRows {
  const words = new Map(
    source.structures.flatMap(({ snapshot }) => snapshot.element.map(each => [each.path, each.short] as const)),
  )
  const wordsOf = (type: string, element: string): string => {
    const text = words.get(`${type}.${element}`) ?? words.get(`${type}.${element}[x]`) ?? ''
    return text.replace(/\s+/g, ' ').trim()
  }
  const rows = types.map(([type, , , , elements]) => [type, elements.map(([name]) => wordsOf(type, name))] as const)
  return Object.fromEntries(rows.filter(([, all]) => all.some(each => each !== '')))
}
