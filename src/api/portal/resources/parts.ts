// What the pages about FHIR resources work with, and how they name a resource.
import { isObject, type JsonObject, objectsIn } from '../../../lib/json.ts'
import type { Base } from '../../../store/base.ts'
import type { Indexer } from '../../../store/index/entry.ts'
import type { Principal } from '../../../store/principal.ts'
import type { Store } from '../../../store/store.ts'
import { referenceTarget } from '../../../store/values.ts'
import { type Html, html } from '../html.ts'

export interface ResourcePageParts {
  readonly storeFor: (principal: Principal) => Store
  readonly base: Base
  /** Which search parameters there are, and when the care took place that a resource is about. */
  readonly indexer: Pick<Indexer, 'params' | 'entry'>
  /** By which times are shown, by its IANA name. */
  readonly timeZone: string
}

export const idPattern = '^[A-Za-z0-9.-]{1,64}$'

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

/** Returns a concept in words: its text, the display of a code, or a code. */
function conceptText(value: unknown): string {
  if (Array.isArray(value)) return value.map(conceptText).find(each => each !== '') ?? ''
  if (!isObject(value)) return ''
  const codings = objectsIn(value['coding'])
  const words = [value['text'], ...codings.map(each => each['display']), ...codings.map(each => each['code'])]
  return words.map(textOf).find(each => each !== '') ?? ''
}

function nameText(value: unknown): string {
  if (typeof value === 'string') return value
  const [first] = objectsIn(value)
  if (!first) return ''
  const given = Array.isArray(first['given']) ? first['given'] : []
  return [...given, first['family']].map(textOf).filter(Boolean).join(' ') || textOf(first['text'])
}

const concepts = ['code', 'medicationCodeableConcept', 'vaccineCode', 'type', 'class', 'category', 'scope'] as const

/** Returns what a resource is, in a few words of its own; empty where it has none. */
export function titleOf(resource: JsonObject): string {
  const name = nameText(resource['name']) || textOf(resource['title'])
  return name || (concepts.map(each => conceptText(resource[each])).find(each => each !== '') ?? '')
}

/** Returns a reference as a link, if it leads to a resource of this service; otherwise as text. */
export function referenceLink(reference: string, base: Base): Html {
  const version = /\/_history\/(\d{1,9})$/.exec(reference)?.[1]
  const target = referenceTarget(reference, base) ?? ''
  if (!/^[A-Z][A-Za-z]{1,60}\/[A-Za-z0-9.-]{1,64}$/.test(target)) return html`${reference}`
  return html`<a href="/portal/resources/${target}${version && `?version=${version}`}">${reference}</a>`
}
