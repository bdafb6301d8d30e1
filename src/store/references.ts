// References inside a bundle: placeholders become the addresses of what was stored (https://hl7.org/fhir/R4/http.html#trules).
import { elementByJsonKey, isResourceType, jsonKey, typeModel, typeNames } from '../definitions/r4.ts'
import { Failure } from '../lib/failure.ts'
import { type Around, isObject, type JsonObject, withTexts } from '../lib/json.ts'

/** The placeholders of a bundle. */
export interface Links {
  /** What a placeholder (a fullUrl, or a conditional reference) stands for: `Type/id`. */
  readonly addresses: ReadonlyMap<string, string>
  /** The fullUrls that are the canonical URLs of their resources too: as a uri they name a definition, wherever it is stored. */
  readonly canonicals: ReadonlySet<string>
}

/** Links to these addresses, for the entries of one bundle. https://hl7.org/fhir/R4/http.html#trules */
export function linksTo(
  addresses: ReadonlyMap<string, string>,
  entries: readonly { readonly fullUrl?: string | undefined; readonly resource?: unknown }[],
): Links {
  const canonicals = entries.flatMap(({ fullUrl, resource }) =>
    fullUrl !== undefined && isObject(resource) && resource['url'] === fullUrl ? [fullUrl] : [],
  )
  return { addresses, canonicals: new Set(canonicals) }
}

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

/**
 * The resource with every placeholder replaced: a copy of what holds one, in references, elements of type uri and url, and links of the
 * narrative alike. Identities are no links: canonicals, the url of a definition or an extension, systems. Nor is what has to be a UUID or an
 * OID. https://hl7.org/fhir/R4/http.html#trules
 * @param fullUrl of the resource's entry: relative references are relative to it
 * @param stored the body of the version before a patch: placeholders that it holds already are texts that nobody sent now
 */
export function resolveLinks(
  resource: JsonObject,
  links: Links,
  fullUrl: string | undefined,
  stored: string | undefined = undefined,
): JsonObject {
  if (links.addresses.size === 0) return resource
  const root = restRoot(fullUrl)
  const replace = (text: string): string => {
    const found = target(text, links.addresses, root)
    return found !== text && stored?.includes(text) ? text : found
  }
  return withTexts(resource, (text, name, around) => {
    if (name === 'reference') return replace(text)
    if (name === 'div') return replacedNarrative(text, replace)
    if (!mayLink(text, name, around)) return text
    const found = replace(text)
    return found !== text && isLink(text, name, around, links) ? found : text
  })
}

/** `http://server/base/` of a RESTful fullUrl: relative references are relative to it. */
function restRoot(fullUrl: string | undefined): string | undefined {
  const match = /^(https?:\/\/.*\/)[A-Z][A-Za-z]+\/[A-Za-z0-9.-]{1,64}$/.exec(fullUrl ?? '')
  return match?.[1]
}

function target(text: string, links: Links['addresses'], root: string | undefined): string {
  const [plain, fragment] = text.split('#', 2)
  const found =
    links.get(text) ??
    links.get(plain!) ??
    (root && /^[A-Z][A-Za-z]+\/[^/]+$/.test(plain!) ? links.get(root + plain) : undefined)
  if (found === undefined) return text
  return links.has(text) || fragment === undefined ? found : `${found}#${fragment}`
}

let linkKeys: ReadonlySet<string> | undefined

/** The JSON keys of elements that are links in some type; `system` and `fullUrl` say what something is, not where. */
function keysOfLinks(): ReadonlySet<string> {
  const keys = typeNames.flatMap(type =>
    [...typeModel(type)!.elements.values()].flatMap(element =>
      element.types.filter(isLinkType).map(each => jsonKey(element, each)),
    ),
  )
  return new Set(keys.filter(key => key !== 'system' && key !== 'fullUrl'))
}

function isLinkType(type: string): boolean {
  return type === 'uri' || type === 'url'
}

/** True for what may be a link by its name and its look: only a whole URN or URL is one outside of references. Most texts are not. */
function mayLink(text: string, name: string, { names }: Around): boolean {
  linkKeys ??= keysOfLinks()
  return (
    linkKeys.has(name) &&
    (text.startsWith('urn:') || text.startsWith('http')) &&
    !(name === 'url' && isExtension(names.at(-1)!))
  )
}

const isExtension = (name: string): boolean => name === 'extension' || name === 'modifierExtension'

/** True if the text is an element of type url, or a uri that does not identify a definition. */
function isLink(text: string, name: string, around: Around, { canonicals }: Links): boolean {
  const holder = typeAround(around)
  const type = elementByJsonKey(holder, name)?.type
  if (type === 'url') return true
  return type === 'uri' && !(name === 'url' && isResourceType(holder)) && !canonicals.has(text.split('#', 1)[0]!)
}

/** The type of the innermost object; empty if it has none that is known. */
function typeAround({ objects, names }: Around): string {
  let type = ''
  for (const [index, object] of objects.entries()) {
    const own = object['resourceType']
    if (typeof own === 'string') type = isResourceType(own) ? own : ''
    else type = names[index]!.startsWith('_') ? 'Element' : (elementByJsonKey(type, names[index]!)?.type ?? '')
  }
  return type
}

function replacedNarrative(div: string, replace: (text: string) => string): string {
  return div.replace(
    /(?<=\s)((?:href|src)\s*=\s*)(?:"([^"]+)"|'([^']+)')/g,
    (_match, before: string, double: string | undefined, single: string | undefined) =>
      double === undefined ? `${before}'${replace(single!)}'` : `${before}"${replace(double)}"`,
  )
}
