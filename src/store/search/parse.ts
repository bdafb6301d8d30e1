// Reads the parameters of a search strictly: what is malformed is refused, what is unknown is left out with a warning.
// https://hl7.org/fhir/R4/search.html
import type { SearchParamModel } from '../../definitions/model.ts'
import { isResourceType, resourceTypes, searchParams } from '../../definitions/r4.ts'
import { Failure } from '../../lib/failure.ts'
import { readList } from './lists.ts'
import {
  type Criterion,
  decodeCursor,
  type Include,
  type SearchRequest,
  type SortKey,
  type Summary,
} from './request.ts'
import { isSortable } from './sort.ts'

export interface ParseOptions {
  /** Unknown parameters are refused instead of ignored (Prefer: handling=strict). */
  readonly strict: boolean
  readonly defaultCount: number
  readonly maxCount: number
}

/** Most values that one search may name, commas counted. */
const mostValues = 10_000
const mostCriteria = 100
const mostHops = 5

/** A search that cannot be understood. */
function malformed(name: string, message: string): Failure {
  return new Failure('MALFORMED_REQUEST', message, { details: [{ field: name, code: 'invalid', message }] })
}

interface Draft {
  criteria: Criterion[]
  sort: SortKey[]
  sortText: string | undefined
  count: number
  total: SearchRequest['total']
  summary: Summary
  elements: string[]
  includes: Include[]
  cursorText: string | undefined
  applied: [string, string][]
  warnings: string[]
}

/**
 * Reads a search over `types` (one, or all of them for a search across types).
 * @throws Failure MALFORMED_REQUEST naming the parameter that cannot be understood.
 */
export function parseSearch(
  types: readonly string[],
  params: Iterable<readonly [string, string]>,
  options: ParseOptions,
): SearchRequest {
  const draft: Draft = {
    criteria: [],
    sort: [],
    sortText: undefined,
    count: options.defaultCount,
    total: 'none',
    summary: 'false',
    elements: [],
    includes: [],
    cursorText: undefined,
    applied: [],
    warnings: [],
  }
  let values = 0
  for (const [name, value] of params) {
    if (splitOr(value).length === 0) continue
    if (name.includes('\0') || value.includes('\0')) throw malformed(shown(name), 'The search holds a NUL character.')
    values += value.split(',').length
    if (values > mostValues || draft.criteria.length > mostCriteria)
      throw malformed(
        name,
        `The search names too many values: at most ${mostValues} values in ${mostCriteria} parameters.`,
      )
    readParameter(draft, types, name, value, options)
  }
  return finish(draft, types)
}

function finish(draft: Draft, types: readonly string[]): SearchRequest {
  const { cursorText, sortText: _sortText, ...request } = draft
  const cursor = cursorText === undefined ? undefined : decodeCursor(cursorText, sortLength(draft))
  if (cursorText !== undefined && !cursor)
    throw malformed('_cursor', 'The page link is not valid: follow the links of the previous page, or search anew.')
  return { ...request, types, cursor }
}

/** Without a sort of its own a search has one: the clinical date. */
const sortLength = (draft: Draft): number => Math.max(1, draft.sort.length)

function readParameter(
  draft: Draft,
  types: readonly string[],
  name: string,
  value: string,
  options: ParseOptions,
): void {
  const control = controls.get(name.split(':', 1)[0]!)
  if (control) {
    control(draft, types, value, name, options)
    if (!isPaging(name)) draft.applied.push([name, value])
    return
  }
  const criterion = readCriterion(types, name, value, 0)
  if (criterion) {
    draft.criteria.push(criterion)
    draft.applied.push([name, value])
    return
  }
  if (types.length > 1 && types.some(type => searchParams(type).has(name.split(/[:.]/, 1)[0]!)))
    throw malformed(name, `${shown(name)} is not a parameter of every type that is searched; name types with _type.`)
  const warning = `The parameter ${name} is not known for ${types.length === 1 ? types[0] : 'a search across types'} and was not applied.`
  if (options.strict) throw malformed(name, warning.replace(' and was not applied', ''))
  draft.warnings.push(warning)
}

const isPaging = (name: string): boolean => name === '_cursor'

type Control = (draft: Draft, types: readonly string[], value: string, name: string, options: ParseOptions) => void

const summaries = ['true', 'text', 'data', 'count', 'false']
const totals = ['none', 'estimate', 'accurate']

/** Parameters that shape the answer instead of choosing resources. */
const controls = new Map<string, Control>(
  Object.entries<Control>({
    _count(draft, _types, value, name, options) {
      if (!/^\d+$/.test(value)) throw malformed(name, `_count must be a whole number, not "${shown(value)}".`)
      draft.count = Math.min(Number(value), options.maxCount)
      if (Number(value) > options.maxCount) draft.warnings.push(`_count is limited to ${options.maxCount} here.`)
      if (draft.count === 0) draft.summary = 'count'
    },
    _cursor(draft, _types, value) {
      draft.cursorText = value
    },
    _sort(draft, types, value, name, options) {
      draft.sort = value.split(',').flatMap(part => readSort(draft, types, part.trim(), name, options))
      if (draft.sort.length > 5) throw malformed(name, '_sort takes at most five keys.')
    },
    _total(draft, _types, value, name) {
      if (!totals.includes(value))
        throw malformed(name, `_total must be one of ${totals.join(', ')}, not "${shown(value)}".`)
      draft.total = value as SearchRequest['total']
    },
    _summary(draft, _types, value, name) {
      if (!summaries.includes(value))
        throw malformed(name, `_summary must be one of ${summaries.join(', ')}, not "${shown(value)}".`)
      draft.summary = value as Summary
    },
    _elements(draft, _types, value) {
      draft.elements.push(
        ...value
          .split(',')
          .map(element => element.trim())
          .filter(Boolean),
      )
    },
    _include(draft, types, value, name) {
      draft.includes.push(readInclude(types, value, name, false))
    },
    _revinclude(draft, types, value, name) {
      draft.includes.push(readInclude(types, value, name, true))
    },
    _format() {},
    _pretty() {},
    _type() {},
    _contained(_draft, _types, value, name) {
      if (value !== 'false')
        throw malformed(name, 'Only _contained=false is supported: contained resources are not searched.')
    },
    _query(_draft, _types, _value, name) {
      throw malformed(name, 'Named queries (_query) are not supported.')
    },
  }),
)

/** A piece of the caller's own text for a message, short. */
function shown(value: string): string {
  return value.length > 60 ? `${value.slice(0, 60)}…` : value
}

function readSort(draft: Draft, types: readonly string[], key: string, name: string, options: ParseOptions): SortKey[] {
  const descending = key.startsWith('-')
  const code = key.replace(/^-/, '')
  const param = commonParam(types, code)
  if (param && isSortable(param, types[0]!)) return [{ param, descending }]
  const warning = `Results cannot be sorted by "${shown(code)}"`
  if (options.strict) throw malformed(name, `${warning}.`)
  draft.warnings.push(`${warning}; that key was not applied.`)
  return []
}

/** A parameter that all the types have. */
function commonParam(types: readonly string[], code: string): SearchParamModel | undefined {
  const first = searchParams(types[0] ?? 'Patient').get(code)
  return types.every(type => searchParams(type).has(code)) ? first : undefined
}

function readInclude(types: readonly string[], value: string, name: string, reverse: boolean): Include {
  const modifier = name.split(':')[1]
  if (modifier !== undefined && modifier !== 'iterate' && modifier !== 'recurse')
    throw malformed(name, `${name} is not known; the only modifier is :iterate.`)
  const iterate = modifier !== undefined
  const [source, code, target] = value.split(':')
  if (value === '*' && !reverse) return { source: types[0]!, param: undefined, target: undefined, reverse, iterate }
  if (!source || !isResourceType(source))
    throw malformed(name, `${name}=${shown(value)}: "${shown(source ?? '')}" is not a resource type.`)
  if (target !== undefined && !isResourceType(target))
    throw malformed(name, `${name}=${shown(value)}: "${shown(target)}" is not a resource type.`)
  if (code === '*' || code === undefined) return { source, param: undefined, target, reverse, iterate }
  const param = searchParams(source).get(code)
  if (param?.type !== 'reference')
    throw malformed(name, `${name}=${shown(value)}: ${source} has no reference parameter "${shown(code)}".`)
  return { source, param, target, reverse, iterate }
}

/** Reads one criterion; undefined if its parameter is not known. */
function readCriterion(types: readonly string[], name: string, value: string, hops: number): Criterion | undefined {
  if (hops > mostHops) throw malformed(name, `A chain may have at most ${mostHops} hops.`)
  if (name.split(':', 1)[0] === '_list') return readList(types, name, splitOr(value).map(unescaped))
  if (name.startsWith('_has:')) return readHas(types, name, value, hops)
  const dot = name.indexOf('.')
  if (dot > 0) return readChain(types, name.slice(0, dot), name.slice(dot + 1), value, hops)
  const [code, ...rest] = name.split(':')
  const param = commonParam(types, code!)
  if (!param) return undefined
  const modifier = rest.join(':')
  checkModifier(param, modifier, name)
  return { kind: 'param', types, param, modifier, values: splitOr(value) }
}

function readHas(types: readonly string[], name: string, value: string, hops: number): Criterion | undefined {
  const [, from, code, ...rest] = name.split(':')
  const inner = rest.join(':')
  if (!from || !isResourceType(from))
    throw malformed(name, `${shown(name)}: after _has: comes a resource type, e.g. _has:Observation:patient:code.`)
  const param = code ? searchParams(from).get(code) : undefined
  if (param?.type !== 'reference')
    throw malformed(name, `${shown(name)}: ${from} has no reference parameter "${shown(code ?? '')}".`)
  const criterion = readCriterion([from], inner, value, hops + 1)
  if (!criterion) throw malformed(name, `${shown(name)}: ${from} has no parameter "${shown(inner)}".`)
  return { kind: 'has', types, from, param, criterion }
}

function readChain(
  types: readonly string[],
  head: string,
  tail: string,
  value: string,
  hops: number,
): Criterion | undefined {
  const [code, wanted] = head.split(':')
  const param = commonParam(types, code!)
  if (param?.type !== 'reference') return undefined
  if (wanted !== undefined && !isResourceType(wanted))
    throw malformed(head, `"${shown(wanted)}" is not a resource type.`)
  const possible = wanted ? [wanted] : (param.targets ?? resourceTypes)
  const targets = possible.flatMap(type => {
    const criterion = readCriterion([type], tail, value, hops + 1)
    return criterion ? [{ type, criterion }] : []
  })
  if (targets.length === 0)
    throw malformed(
      head,
      `${shown(head)}.${shown(tail)}: no type that ${code} may point at has the parameter "${shown(tail)}".`,
    )
  return { kind: 'chain', types, param, targets }
}

const modifiers: Readonly<Record<SearchParamModel['type'], readonly string[]>> = {
  string: ['missing', 'exact', 'contains'],
  token: ['missing', 'not', 'text', 'of-type', 'in', 'not-in', 'above', 'below'],
  reference: ['missing', 'identifier'],
  uri: ['missing', 'above', 'below'],
  date: ['missing'],
  number: ['missing'],
  quantity: ['missing'],
  composite: ['missing'],
  special: [],
}

/** An unknown modifier changes the meaning, so it is always refused (search.html#modifiers). */
function checkModifier(param: SearchParamModel, modifier: string, name: string): void {
  if (modifier === '' || modifiers[param.type].includes(modifier)) return
  if (param.type === 'reference' && isResourceType(modifier)) return
  const known = modifiers[param.type].map(one => `:${one}`).join(', ')
  throw malformed(
    name,
    `:${shown(modifier)} is not supported on ${param.code}, which is a ${param.type} parameter${known ? `; it takes ${known}` : ''}.`,
  )
}

/** Splits at commas that are not escaped; the escapes stay for whoever reads the value. */
export function splitOr(value: string): string[] {
  return splitEscaped(value, ',').filter(part => part !== '')
}

/** Splits at a separator that is not preceded by a backslash. */
export function splitEscaped(value: string, separator: string): string[] {
  const parts = ['']
  for (let at = 0; at < value.length; at++) {
    if (value[at] === '\\' && at + 1 < value.length) parts[parts.length - 1] += value[at]! + value[++at]!
    else if (value[at] === separator) parts.push('')
    else parts[parts.length - 1] += value[at]!
  }
  return parts
}

/** Takes the backslashes off `\,` `\|` `\$` and `\\` (search.html#escaping). */
export function unescaped(value: string): string {
  return value.replace(/\\([,|$\\])/g, '$1')
}
