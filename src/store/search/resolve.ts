// What a search asks for by way of other resources, looked up before it becomes SQL: the codes of value sets, the codes
// above and below a code, the members of a list. https://hl7.org/fhir/R4/search.html#token
import { Failure } from '../../lib/failure.ts'
import { closure, codeSystemOf } from '../terminology/code-system.ts'
import { membersOf, mostMembers } from '../terminology/expand.ts'
import { type Library, named } from '../terminology/library.ts'
import { entriesOf } from './lists.ts'
import { unescaped } from './query-text.ts'
import {
  type Coding,
  type Criterion,
  codeModifiers,
  type ParamCriterion,
  partsOf,
  type SearchRequest,
} from './request.ts'
import { queryToken } from './values.ts'

/** The request with everything looked up. @throws Failure MALFORMED_REQUEST naming what is not known, INSUFFICIENT_SCOPE. */
export async function resolve(request: SearchRequest, library: Library): Promise<SearchRequest> {
  if (!request.criteria.some(needsLookup)) return request
  const criteria: Criterion[] = []
  for (const criterion of request.criteria) criteria.push(await resolved(criterion, library))
  return { ...request, criteria }
}

function needsLookup(criterion: Criterion): boolean {
  return criterion.kind === 'list' || isOfCodes(criterion) || partsOf(criterion).some(needsLookup)
}

const isOfCodes = (criterion: Criterion): criterion is ParamCriterion =>
  criterion.kind === 'param' && criterion.param.type === 'token' && codeModifiers.has(criterion.modifier)

async function resolved(criterion: Criterion, library: Library): Promise<Criterion> {
  if (!needsLookup(criterion)) return criterion
  if (criterion.kind === 'not') return { ...criterion, part: await resolved(criterion.part, library) }
  if (criterion.kind === 'and' || criterion.kind === 'or') {
    const parts = []
    for (const part of criterion.parts) parts.push(await resolved(part, library))
    return { ...criterion, parts }
  }
  if (criterion.kind === 'has') return { ...criterion, criterion: await resolved(criterion.criterion, library) }
  if (criterion.kind === 'list')
    return { ...criterion, entries: await asQuery('_list', () => entriesOf(criterion, library)) }
  if (criterion.kind === 'chain') {
    const targets = []
    for (const { type, criterion: inner } of criterion.targets)
      targets.push({ type, criterion: await resolved(inner, library) })
    return { ...criterion, targets }
  }
  return isOfCodes(criterion) ? { ...criterion, codes: await codesOf(criterion, library) } : criterion
}

/** Most value sets, or codes with a hierarchy, that one parameter names. */
const mostLookups = 100

async function codesOf(criterion: ParamCriterion, library: Library): Promise<Coding[]> {
  const name = `${criterion.param.code}:${criterion.modifier}`
  const codes: Coding[] = []
  const values = new Set(criterion.values)
  if (values.size > mostLookups) throw refused(name, `${name} takes at most ${mostLookups} values.`)
  for (const value of values) {
    const found =
      criterion.modifier === 'in' || criterion.modifier === 'not-in'
        ? await asQuery(name, () => setCodes(unescaped(value), library))
        : await asQuery(name, () => relatedCodes(value, criterion, library))
    codes.push(...found)
    if (codes.length > mostMembers)
      throw refused(name, `${name} stands for more than ${mostMembers} codes, which is too many to search for.`)
  }
  return codes
}

const setCodes = async (canonical: string, library: Library): Promise<Coding[]> => [
  ...(await membersOf(library, await named(library, 'ValueSet', canonical))).values(),
]

async function relatedCodes(value: string, { param, modifier }: ParamCriterion, library: Library): Promise<Coding[]> {
  const { system, code } = queryToken(param.code, value)
  if (!system || code === undefined)
    throw refused(param.code, `${param.code}:${modifier} takes system|code: a hierarchy is that of a code system.`)
  const graph = codeSystemOf(await library.byUrl('CodeSystem', system))
  if (graph.concepts.size === 0)
    throw refused(param.code, `The CodeSystem ${system} is stored without its codes, so it has no hierarchy here.`)
  return [...closure(graph, code, modifier === 'below' ? 'children' : 'parents')].map(each => ({ system, code: each }))
}

const refused = (field: string, message: string, issue = 'not-supported'): Failure =>
  new Failure('MALFORMED_REQUEST', message, { details: [{ field, code: issue, message }] })

/** What is not there or cannot be worked out is a fault of the query: it has no meaning then. */
async function asQuery<T>(field: string, look: () => Promise<T>): Promise<T> {
  try {
    return await look()
  } catch (error) {
    if (error instanceof Failure && [404, 410, 422].includes(error.status))
      throw refused(field, `${field}: ${error.message}`, error.issue)
    throw error
  }
}
