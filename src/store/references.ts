// References inside a bundle: placeholders become the addresses of what was stored (https://hl7.org/fhir/R4/http.html#trules).
import { isResourceType } from '../definitions/r4.ts'
import { Failure } from '../lib/failure.ts'
import { isObject, type JsonObject, withTexts } from '../lib/json.ts'

/** What a placeholder (a fullUrl, or a conditional reference) stands for: `Type/id`. */
export type Links = ReadonlyMap<string, string>

/** Every `reference` anywhere in a resource. @throws Failure MALFORMED_REQUEST if it is nested too deeply. */
export function references(resource: unknown): string[] {
  const found: string[] = []
  visit(resource, found, 0)
  return found
}

/** The conditional references (`Practitioner?identifier=…`) anywhere in a resource. */
export function conditionalReferences(resource: unknown): string[] {
  return references(resource).filter(isConditional)
}

function isConditional(reference: string): boolean {
  const mark = reference.indexOf('?')
  return mark > 0 && isResourceType(reference.slice(0, mark))
}

/** Lists and objects within each other; validation stops much earlier, but runs later. */
const deepest = 500

function visit(node: unknown, found: string[], depth: number): void {
  if (depth > deepest)
    throw new Failure('MALFORMED_REQUEST', `The resource is nested deeper than ${deepest} levels.`, {
      issue: 'too-costly',
    })
  if (Array.isArray(node)) for (const item of node) visit(item, found, depth + 1)
  else if (isObject(node)) {
    if (typeof node['reference'] === 'string') found.push(node['reference'])
    for (const key in node) if (typeof node[key] === 'object') visit(node[key], found, depth + 1)
  }
}

/** The resource with every placeholder replaced: a copy of what holds one, in references, uri elements and links of the narrative alike. */
export function resolveLinks(resource: JsonObject, links: Links, fullUrl: string | undefined): JsonObject {
  if (links.size === 0) return resource
  const root = restRoot(fullUrl)
  const replace = (text: string): string => target(text, links, root)
  return withTexts(resource, (text, name) => {
    if (name === 'div') return replacedNarrative(text, replace)
    return mayLink(text, name) ? replace(text) : text
  })
}

/** `http://server/base/` of a RESTful fullUrl: relative references are relative to it. */
function restRoot(fullUrl: string | undefined): string | undefined {
  const match = /^(https?:\/\/.*\/)[A-Z][A-Za-z]+\/[A-Za-z0-9.-]{1,64}$/.exec(fullUrl ?? '')
  return match?.[1]
}

function target(text: string, links: Links, root: string | undefined): string {
  const [plain, fragment] = text.split('#', 2)
  const found =
    links.get(text) ??
    links.get(plain!) ??
    (root && /^[A-Z][A-Za-z]+\/[^/]+$/.test(plain!) ? links.get(root + plain) : undefined)
  if (found === undefined) return text
  return links.has(text) || fragment === undefined ? found : `${found}#${fragment}`
}

/** A reference may be relative; elsewhere only a whole URN or URL can be a placeholder, but never an identifier's value. */
function mayLink(text: string, key: string): boolean {
  return (
    key === 'reference' ||
    (key !== 'value' && text.startsWith('urn:')) ||
    (key === 'url' && text.startsWith('http')) ||
    (key === 'uri' && text.startsWith('http'))
  )
}

function replacedNarrative(div: string, replace: (text: string) => string): string {
  return div.replace(/\b(href|src)="([^"]+)"/g, (_match, name: string, link: string) => `${name}="${replace(link)}"`)
}
