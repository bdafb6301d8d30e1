// The code systems that R4 is published with, for maps: whether a system and a code exist.

import type { CodeSystemRows } from '../rows.ts'
import type { Concept, Source } from './source.ts'

/** Larger systems are terminologies of their own, which R4 only carries a copy of. */
const MOST_CODES = 1500

export function codeSystemRows({ codeSystems }: Source): CodeSystemRows {
  const rows = [...codeSystems].map(([url, { content, concept }]) => {
    const codes = flat(concept ?? [])
    const isWhole = content === 'complete' && codes.length > 0 && codes.length <= MOST_CODES
    return [url, isWhole ? joined(codes) : ''] as const
  })
  return Object.fromEntries(rows.toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

function flat(concepts: readonly Concept[]): string[] {
  return concepts.flatMap(it => [it.code, ...flat(it.concept ?? [])])
}

function joined(codes: readonly string[]): string {
  for (const code of codes) if (code.includes('|')) throw new Error(`the code '${code}' holds a bar`)
  return [...new Set(codes)].join('|')
}
