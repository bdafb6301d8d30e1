// What the pages of the workbench share: how a file is named in addresses, and the roles that open it.

import type { Role } from '../../../access/caller.ts'
import { Failure } from '../../../lib/failure.ts'
import { Type } from '../../../lib/schema.ts'
import { isMap, mapName, type SourceFile } from '../../../mapping/files.ts'
import type { Workbench } from '../../../mapping/workbench/bench.ts'
import type { Matching } from '../../../mpi/matching/weights.ts'
import type { ConsentTypes } from '../../../shapes/consent-types.ts'
import { type Html, html } from '../html.ts'
import type { PageView } from '../page.ts'
import type { TextKey } from '../texts.ts'

export interface WorkbenchPageParts {
  readonly workbench: Workbench
  /** The weights that the service uses now. */
  readonly matchingInForce: () => Matching
  /** The consent types that the service uses now. */
  readonly consentTypes: () => ConsentTypes
  /** IANA name, for times. */
  readonly timeZone: string
}

export const roles = ['informaticist'] as const satisfies readonly Role[]

/** A map in an address: `hl7v2~oru-r01-to-fhir`. */
export const params = Type.Object({ name: Type.String({ pattern: '^[\\w~.-]{1,120}$' }) })

/** The name of a map or file from that of an address. */
export const nameIn = (name: string): string => name.replaceAll('~', '/')

/** The address of the page of a map. */
export const addressOf = (name: string, more = ''): string => `/portal/maps/${name.replaceAll('/', '~')}${more}`

/** The files of a map: its text, and its examples. */
export interface MapFiles {
  readonly map: SourceFile | undefined
  readonly examples: SourceFile | undefined
}

export function filesOf(name: string, files: readonly SourceFile[]): MapFiles {
  return {
    map: files.find(each => isMap(each.name) && mapName(each.name) === name),
    examples: files.find(each => each.name === `${name}.examples.json`),
  }
}

/** @throws Failure NOT_FOUND */
export function mustBeMap(name: string, files: readonly SourceFile[]): SourceFile {
  const { map } = filesOf(name, files)
  if (map) return map
  throw new Failure('NOT_FOUND', `There is no map ${name}.`)
}

const pages = [
  ['/portal/maps', 'maps.tab'],
  ['/portal/concept-maps', 'tables.title'],
  ['/portal/matching', 'matching.title'],
  ['/portal/consent-types', 'consent_types.title'],
] as const satisfies readonly (readonly [string, TextKey])[]

/** The pages of the workbench, as tabs. */
export function tabs({ t, path }: PageView): Html {
  return html`<ul class="tabs">${pages.map(
    ([to, title]) => html`<li><a href="${to}"${path === to && html` aria-current="page"`}>${t(title)}</a></li>`,
  )}</ul>`
}
