// What is wrong with a resource, gathered while it is walked (https://hl7.org/fhir/R4/operationoutcome.html).

import { isJsonNumber } from '../../lib/json.ts'

/** One problem. `code` is a FHIR issue type, `expression` the FHIRPath of the element: `Patient.name[0].given[1]`. */
export interface Issue {
  readonly severity: 'error' | 'warning'
  readonly code: 'structure' | 'required' | 'value' | 'code-invalid' | 'invariant' | 'extension' | 'too-costly'
  readonly diagnostics: string
  readonly expression: string
}

/** The state of one walk. The path is a stack, so a valid resource never builds a path string. */
export interface Walk {
  readonly path: (string | number)[]
  readonly issues: Issue[]
  /** Problems met, listed or not. */
  found: number
  /** Those of them that are not failed invariants. */
  broken: number
  depth: number
  root: object
  resource: object
  /** True where references such as `Patient?identifier=x` may stand. */
  conditional: boolean
  container: Container
}

/** The resource that holds contained ones, and the local references met in it. */
export interface Container {
  /** Ids of the contained resources. */
  readonly ids: ReadonlySet<string>
  /** Texts such as `#med` met in references, canonicals and URIs. */
  readonly referenced: Set<string>
  /** The contained resources that have a `#`, which is a reference to their container. */
  readonly referring: Set<object>
}

/** Of a resource that contains none. */
const emptyContainer: Container = { ids: new Set(), referenced: new Set(), referring: new Set() }

/** More problems than this are not listed, so a hostile body cannot grow its own answer. */
const mostIssues = 100

/** A walk that starts at a resource. */
export function startWalk(resource: object, name: string): Walk {
  return {
    path: [name],
    issues: [],
    found: 0,
    broken: 0,
    depth: 0,
    root: resource,
    resource,
    conditional: false,
    container: emptyContainer,
  }
}

/** A container of resources with these ids, no reference met yet. */
export function containerOf(ids: ReadonlySet<string>): Container {
  return ids.size === 0 ? emptyContainer : { ids, referenced: new Set(), referring: new Set() }
}

/** Remembers a local reference, `#` or `#med`, where it can lead to a contained resource. */
export function noteLocal(walk: Walk, reference: string): void {
  if (walk.container === emptyContainer) return
  if (reference === '#') walk.container.referring.add(walk.resource)
  else walk.container.referenced.add(reference)
}

/** Notes a problem at the element the walk has reached, or at one of its children; a costly text is made when needed. */
export function report(walk: Walk, code: Issue['code'], problem: string | (() => string), child?: string): void {
  walk.broken++
  if (walk.issues[mostIssues]?.severity === 'error') return void walk.found++
  const diagnostics = typeof problem === 'string' ? problem : problem()
  note(walk, { severity: 'error', code, diagnostics, expression: expressionOf(walk, child) })
}

/** Notes what does not make a resource invalid; its text is made when it is listed. */
export function warn(walk: Walk, code: Issue['code'], problem: () => string, child?: string): void {
  const diagnostics = walk.found < mostIssues ? problem() : ''
  note(walk, { severity: 'warning', code, diagnostics, expression: expressionOf(walk, child) })
}

/** Notes a problem; the hundred and first becomes a notice that there are more, an error if one of those is. */
export function note(walk: Walk, issue: Issue): void {
  walk.found++
  if (walk.found <= mostIssues) walk.issues.push(issue)
  else if (walk.issues[mostIssues]?.severity !== 'error') {
    const diagnostics = ''
    const expression = String(walk.path[0])
    walk.issues[mostIssues] = { severity: issue.severity, code: 'too-costly', diagnostics, expression }
  }
}

/** The problems of a walk that has ended, and, where there are more, how many. */
export function listed({ issues, found }: Walk): Issue[] {
  const more = issues[mostIssues]
  if (!more) return issues
  const diagnostics = `Only the first ${mostIssues} of ${found} problems are listed`
  return [...issues.slice(0, mostIssues), { ...more, diagnostics }]
}

/** The element's own name, without its place in a list. */
export function nameOf(walk: Walk): string {
  const last = walk.path.findLast(step => typeof step === 'string')
  return `\`${last}\``
}

/** The start of a value, quoted, for a message. */
export function quoted(value: string): string {
  return JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value)
}

/** What kind of JSON value this is, with its article. */
export function kindOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'a list'
  if (isJsonNumber(value)) return 'a number'
  return { string: 'a string', boolean: 'a boolean' }[typeof value as 'string'] ?? 'an object'
}

/** The FHIRPath of the element the walk has reached, or of one of its children. */
export function expressionOf({ path }: Walk, child?: string): string {
  const steps = path.map((step, i) => (typeof step === 'number' ? `[${step}]` : i === 0 ? step : `.${step}`))
  return steps.join('') + (child === undefined ? '' : `.${child}`)
}
