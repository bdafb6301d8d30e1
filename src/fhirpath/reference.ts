// The target of a Reference, read from its text; and contained or bundled resources, found within the data.
// https://hl7.org/fhir/R4/references.html · https://hl7.org/fhir/R4/fhirpath.html#functions (resolve)

import type { State } from './node.ts'
import { spend } from './steps.ts'
import type { TypeSystem } from './types.ts'
import { typeOfJson } from './values.ts'

interface Json {
  readonly [key: string]: unknown
}

/** The resource type a Reference, canonical or uri points at, without fetching it; undefined if it does not say. */
export function referencedType(system: TypeSystem, value: unknown, state: State): string | undefined {
  const text = referenceText(value)
  const declared = typeof value === 'object' && value !== null ? (value as Json).type : undefined
  const found = text === undefined ? undefined : typeInText(system, text, value, state)
  return found ?? (typeof declared === 'string' ? declared : undefined)
}

/** The reference itself: `Reference.reference`, or a uri or canonical as it is. */
export function referenceText(value: unknown): string | undefined {
  const text = typeof value === 'object' && value !== null ? (value as Json).reference : value
  return typeof text === 'string' ? text : undefined
}

function typeInText(system: TypeSystem, text: string, value: unknown, state: State): string | undefined {
  if (text.startsWith('#')) {
    const found = contained(text, value, state)
    return found === undefined ? undefined : typeOfJson(system, found) || undefined
  }
  const { type } = splitReference(text)
  if (type !== '' && system.model.typeModel(type)?.kind === 'resource') return type
  const bundled = inBundle(text, value, state)
  return bundled === undefined ? undefined : typeOfJson(system, bundled) || undefined
}

/** `http://server/fhir/Patient/1/_history/2` is Patient 1; `Patient?identifier=x` a Patient. */
export function splitReference(text: string): { readonly type: string; readonly id: string } {
  const query = text.indexOf('?')
  if (query > 0) return { type: text.slice(text.lastIndexOf('/', query) + 1, query), id: '' }
  const history = text.lastIndexOf('/_history/')
  const end = history < 0 ? text.length : history
  const slash = text.lastIndexOf('/', end - 1)
  if (slash < 0) return { type: '', id: text }
  return { type: text.slice(text.lastIndexOf('/', slash - 1) + 1, slash), id: text.slice(slash + 1, end) }
}

/** The resource that a reference in `value` points at: contained, in the same Bundle, or what `env.resolve` finds. */
export function resolveReference(text: string, value: unknown, state: State): unknown {
  if (text.startsWith('#')) return contained(text, value, state)
  return inBundle(text, value, state) ?? state.env.resolve?.(text)
}

/** The resource that holds the focus. */
export function holder(state: State): unknown {
  const focus = state.context[0]?.value
  return state.env.standingOf?.(focus, state.env)?.resource ?? state.env.resource ?? focus
}

/** The resource that contains the one that holds the focus, or this itself. */
export function rootHolder(state: State): unknown {
  const standing = state.env.standingOf?.(state.context[0]?.value, state.env)
  return standing?.rootResource ?? state.env.rootResource ?? holder(state)
}

function contained(text: string, value: unknown, state: State): unknown {
  const standing = state.env.standingOf?.(value, state.env)
  const root = standing ? standing.rootResource : state.env.rootResource
  for (const resource of [standing ? standing.resource : holder(state), root]) {
    if (typeof resource !== 'object' || resource === null) continue
    if (text === '#') return root ?? resource
    const list = (resource as Json).contained
    if (Array.isArray(list)) spend(state, list.length)
    const found = Array.isArray(list) ? list.find(one => one?.id === text.slice(1)) : undefined
    if (found) return found
  }
  return undefined
}

/** https://hl7.org/fhir/R4/bundle.html#references */
function inBundle(text: string, value: unknown, state: State): unknown {
  const standing = state.env.standingOf?.(value, state.env)
  if (standing) return standing.bundled(text)
  for (const bundle of [state.env.rootResource, holder(state)]) {
    if (typeof bundle !== 'object' || bundle === null || (bundle as Json).resourceType !== 'Bundle') continue
    const entries = (bundle as Json).entry
    if (Array.isArray(entries)) spend(state, entries.length)
    const found = Array.isArray(entries) ? entries.find(entry => matchesUrl(entry?.fullUrl, text)) : undefined
    if (found) return found.resource
  }
  return undefined
}

function matchesUrl(fullUrl: unknown, text: string): boolean {
  return typeof fullUrl === 'string' && (fullUrl === text || (!text.includes(':') && fullUrl.endsWith(`/${text}`)))
}
