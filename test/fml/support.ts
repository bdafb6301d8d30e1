// The maps of the project, published ones, and trees without what layout changes.

import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sharedData } from '../support/data.ts'

const folder = sharedData('fml')

export interface Sample {
  /** The path below the folder of all maps. */
  readonly name: string
  readonly text: string
}

const mapsIn = (from: string): Sample[] =>
  globSync('**/*.{map,fml}', { cwd: from })
    .toSorted()
    .map(name => ({ name, text: readFileSync(join(from, name), 'utf8') }))

/** 93 maps of HL7, the FHIR test cases and the ahdis tutorial; none where they are absent. */
export const published: readonly Sample[] = folder ? mapsIn(folder) : []

/** What tests on published maps are skipped without. */
export const absent = published.length === 0

/** The maps of the project. */
export const delivered: readonly Sample[] = mapsIn(join(import.meta.dirname, '../../mappings'))

/** All maps there are. */
export const samples: readonly Sample[] = [...delivered, ...published]

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
