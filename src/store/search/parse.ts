// Reads the parameters of a search strictly: what is malformed is refused, what is unknown is left out with a warning.
// https://hl7.org/fhir/R4/search.html
import { isResourceType } from '../../definitions/r4.ts'
import type { Failure } from '../../lib/failure.ts'
import { commonParam, isOwn, type OwnParam, type SearchParams } from '../search-params/known.ts'
import { mustLead } from './answerable.ts'
import { mustBeBounded } from './costs.ts'
import { readCriterion } from './criteria.ts'
import { malformed, shown, tooCostly } from './query-text.ts'
import {
  type Criterion,
  decodeCursor,
  type Include,
  type SearchRequest,
  type SortKey,
  type Summary,
} from './request.ts'
import { isSortable, placeLength } from './sort.ts'

export interface ParseOptions {
  readonly params: SearchParams
  /** Unknown parameters are refused instead of ignored (Prefer: handling=strict). */
  readonly strict: boolean
  readonly defaultCount: number
  readonly maxCount: number
}

/** Most values that one search may name, commas counted. */
const mostValues = 10_000
const mostCriteria = 100

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
  own: OwnParam[]
}

/**
 * Reads a search over `types` (one, or all of them for a search across types).
 * @throws Failure MALFORMED_REQUEST naming the parameter that cannot be understood.
 */
export function parseSearch(
  types: readonly string[],
  params: Iterable<readonly [string, string]>,
  given: ParseOptions,
): SearchRequest {
  const { options, own } = watched(given)
  const draft: Draft = {
    criteria: [],
    sort: [],
    sortText: undefined,
    count: options.defaultCount,
    total: undefined,
    summary: 'false',
    elements: [],
    includes: [],
    cursorText: undefined,
    applied: [],
    warnings: [],
    own,
  }
  let values = 0
  // A repeated criterion is applied once.
  const said = new Set<string>()
  for (const [name, value] of params) {
    const parameter = `${name}=${value}`
    if (isEmpty(value) || said.has(parameter)) continue
    said.add(parameter)
    if (name.includes('\0') || value.includes('\0'))
      throw malformed(shown(name), 'The search contains a NUL character.')
    values += value.split(',').length
    if (values > mostValues || draft.criteria.length > mostCriteria)
      throw tooCostly(
        name,
        `The search has too many values: at most ${mostValues} values in ${mostCriteria} parameters.`,
      )
    readParameter(draft, types, name, value, options)
  }
  return finish(draft, types)
}

/** True if the value is nothing but separators. */
const isEmpty = (value: string): boolean => /^,*$/.test(value)

/** The same options, noting the parameters of users that are met. */
function watched(options: ParseOptions): { options: ParseOptions; own: OwnParam[] } {
  const own: OwnParam[] = []
  if (options.params.own().length === 0) return { options, own }
  const find: SearchParams['find'] = (type, code) => {
    const param = options.params.find(type, code)
    if (isOwn(param)) own.push(param)
    return param
  }
  return { options: { ...options, params: { ...options.params, find } }, own }
}

function finish(draft: Draft, types: readonly string[]): SearchRequest {
  mustBeBounded(draft)
  const { cursorText, sortText: _sortText, ...request } = draft
  const cursor = cursorText === undefined ? undefined : decodeCursor(cursorText, placeLength(draft.sort))
  if (cursorText !== undefined && !cursor)
    throw malformed(
      '_cursor',
      'The page link is not valid: follow the links of the previous page, or repeat the search.',
    )
  return { ...request, types, cursor }
}

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
  const criterion = readCriterion(options.params, types, name, value, 0)
  if (criterion) {
    draft.criteria.push(...joined(criterion))
    draft.applied.push([name, value])
    return
  }
  if (types.length > 1 && types.some(type => options.params.of(type).has(name.split(/[:.]/, 1)[0]!)))
    throw malformed(
      name,
      `${shown(name)} is not one parameter of all searched types: name types with _type that have it for the same kind of values.`,
    )
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
      if (Number(value) > options.maxCount) draft.warnings.push(`_count was limited to ${options.maxCount}.`)
      if (draft.count === 0) draft.summary = 'count'
    },
    _cursor(draft, _types, value) {
      draft.cursorText = value
    },
    _sort(draft, types, value, name, options) {
      draft.sort = value.split(',').flatMap(part => readSort(draft, types, part.trim(), name, options))
      if (draft.sort.length > 5) throw tooCostly(name, '_sort supports at most five keys.')
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
    _include(draft, types, value, name, options) {
      draft.includes.push(...readInclude(options, types, value, name, false))
    },
    _revinclude(draft, types, value, name, options) {
      draft.includes.push(...readInclude(options, types, value, name, true))
    },
    _format() {},
    _pretty() {},
    _type() {},
    _contained(_draft, _types, value, name) {
      if (value !== 'false') throw noContained(name)
    },
    _containedType(_draft, _types, _value, name) {
      throw noContained(name)
    },
    _query(_draft, _types, _value, name) {
      throw malformed(name, 'Named queries (_query) are not supported.')
    },
  }),
)

const noContained = (name: string): Failure =>
  malformed(
    name,
    `Only _contained=false is supported: search for contained resources with a chain through their container, e.g. MedicationRequest?medication.code=x.`,
  )

function readSort(draft: Draft, types: readonly string[], key: string, name: string, options: ParseOptions): SortKey[] {
  const descending = key.startsWith('-')
  const code = key.replace(/^-/, '')
  const param = commonParam(options.params, types, code)
  const isSortedBy = (type: string): boolean => isSortable(options.params.find(type, code)!, type)
  if (param && types.every(isSortedBy)) return [{ param, descending }]
  const warning = `Results cannot be sorted by "${shown(code)}"`
  if (options.strict) throw malformed(name, `${warning}.`)
  draft.warnings.push(`${warning}; that key was not applied.`)
  return []
}

function readInclude(
  { params }: ParseOptions,
  types: readonly string[],
  value: string,
  name: string,
  reverse: boolean,
): Include[] {
  const modifier = name.split(':')[1]
  if (modifier !== undefined && modifier !== 'iterate' && modifier !== 'recurse')
    throw malformed(name, `${name} is not known: the only supported modifier is :iterate.`)
  const iterate = modifier !== undefined
  const [source, code, target] = value.split(':')
  if (value === '*' && !reverse)
    return types.map(type => ({ source: type, param: undefined, target: undefined, reverse, iterate }))
  if (!source || !isResourceType(source))
    throw malformed(name, `${name}=${shown(value)}: "${shown(source ?? '')}" is not a resource type.`)
  if (target !== undefined && !isResourceType(target))
    throw malformed(name, `${name}=${shown(value)}: "${shown(target)}" is not a resource type.`)
  if (code === undefined)
    throw malformed(
      name,
      `${name}=${source}: name a reference parameter of ${source} too, such as ${source}:subject, or ${source}:* for all.`,
    )
  if (code === '*') return [{ source, param: undefined, target, reverse, iterate }]
  const param = params.find(source, code)
  if (param?.type !== 'reference')
    throw malformed(name, `${name}=${shown(value)}: ${source} has no reference parameter "${shown(code)}".`)
  mustLead(param, [source], `${name}=${value}`)
  return [{ source, param, target, reverse, iterate }]
}

/** The criteria that a filter joins by `and`, which are met like those of several parameters. */
const joined = (criterion: Criterion): Criterion[] =>
  criterion.kind === 'and' ? criterion.parts.flatMap(joined) : [criterion]
