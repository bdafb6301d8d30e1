// The published maps, and trees without what layout changes.

import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sharedData } from '../support/data.ts'

const folder = sharedData('fml')

export interface Sample {
  /** The path below the folder of all maps. */
  readonly name: string
  readonly text: string
}

/** 93 maps of HL7, the FHIR test cases and the ahdis tutorial; none where they are absent. */
export const samples: readonly Sample[] = folder
  ? globSync('**/*.{map,fml}', { cwd: folder })
      .toSorted()
      .map(name => ({ name, text: readFileSync(join(folder, name), 'utf8') }))
  : []

/** What tests on published maps are skipped without. */
export const absent = samples.length === 0

/** A file beside the maps. */
export function beside(path: string): string {
  return readFileSync(join(folder!, path), 'utf8')
}

const PLACES = new Set(['span', 'at', 'gap', 'file'])

/** A tree without its places and empty lines. */
export function meaning(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(meaning)
  if (value === null || typeof value !== 'object') return value
  const kept = Object.entries(value).filter(([key, inner]) => !PLACES.has(key) && inner !== undefined)
  return Object.fromEntries(kept.map(([key, inner]) => [key, meaning(inner)]))
}
