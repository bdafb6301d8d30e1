// What can be searched by: R4's parameters, and those that users of this server have defined as SearchParameter resources.
import type { SearchParamModel } from '../../definitions/model.ts'
import { searchParams } from '../../definitions/r4.ts'
import type { Expression } from '../../fhirpath/ast.ts'
import { Failure } from '../../lib/failure.ts'
import { storedKeys } from '../index/param-paths.ts'
import { namedKey, type ParamKey } from '../index/postings.ts'

/** A search parameter that a user defined, for one of the types that it is about. */
export interface OwnParam extends SearchParamModel {
  /** Its expression as far as it concerns this type. */
  readonly tree: Expression
  /** Id of the SearchParameter resource. */
  readonly id: string
  /** The resource type that is searched. */
  readonly of: string
  /** What its values are stored under; another one whenever its definition changes, so that old values are never found. */
  readonly key: ParamKey
  /** False while resources that were stored before it are still being indexed. */
  readonly isReady: boolean
  /** Id of the client that defined it; empty if that was the service itself. */
  readonly client: string
  /** Why nothing is indexed by it any more, and why it cannot be searched by; undefined if it can. */
  readonly suspended: Suspended | undefined
}

/** Why a parameter is out of use: its work costs too much or fails, or an operator has switched it off. */
export interface Suspended {
  readonly cause: 'work' | 'operator'
  readonly reason: string
}

export interface SearchParams {
  /** The parameters of a type by code, those still being indexed included. */
  of(type: string): ReadonlyMap<string, SearchParamModel>
  /** The parameter, if the type has it. */
  find(type: string, code: string): SearchParamModel | undefined
  /** The keys under which the values of a parameter are stored. */
  keys(type: string, code: string): readonly ParamKey[]
  /** Those that users defined, of one type or of all. */
  own(type?: string): readonly OwnParam[]
}

/** Returns R4's search parameters together with `own`. */
export function createSearchParams(own: readonly OwnParam[]): SearchParams {
  const byType = Map.groupBy(own, param => param.of)
  const known = new Map<string, ReadonlyMap<string, SearchParamModel>>()
  const ownParam = (type: string, code: string): OwnParam | undefined =>
    byType.get(type)?.find(param => param.code === code)
  return {
    of(type) {
      const added = byType.get(type)
      if (!added) return searchParams(type)
      let all = known.get(type)
      if (!all)
        known.set(type, (all = new Map([...searchParams(type), ...added.map(each => [each.code, each] as const)])))
      return all
    },
    find: (type, code) => ownParam(type, code) ?? searchParams(type).get(code),
    keys(type, code) {
      const param = ownParam(type, code)
      return param ? [param.key] : storedKeys(type, code)
    },
    own: type => (type === undefined ? own : (byType.get(type) ?? [])),
  }
}

/** A parameter that all the types have, of the same kind in each. */
export function commonParam(
  params: SearchParams,
  types: readonly string[],
  code: string,
): SearchParamModel | undefined {
  const [first, ...others] = types.map(type => params.find(type, code))
  return others.every(param => param?.type === first?.type) ? first : undefined
}

/** The key of a user's parameter: by its definition, not by its name alone. */
export const ownKey = (type: string, code: string, definition: string): ParamKey =>
  namedKey(`${type}.${code}~${definition}`)

/** True for a parameter that a user defined. */
export const isOwn = (param: SearchParamModel | undefined): param is OwnParam =>
  param !== undefined && 'isReady' in param

/** True if resources that were stored before the parameter was defined are still being indexed by it. */
const isWaiting = (param: SearchParamModel | undefined): param is OwnParam => isOwn(param) && !param.isReady

/** True if the parameter can be searched by now. */
export const isInUse = (param: SearchParamModel): boolean => !isWaiting(param) && suspensionOf(param) === undefined

const suspensionOf = (param: SearchParamModel): Suspended | undefined => (isOwn(param) ? param.suspended : undefined)

/** @throws Failure VALIDATION_FAILED if one of the parameters is suspended, UNAVAILABLE if one is still waiting. */
export function mustBeReady(params: SearchParams, asked: readonly OwnParam[]): void {
  const current = asked.map(({ of, code }) => params.find(of, code)).filter(param => param !== undefined) as OwnParam[]
  const stopped = current.find(param => suspensionOf(param))
  if (stopped) throw notInUse(stopped, stopped.suspended!)
  const waiting = current.find(isWaiting)
  if (waiting) throw notReady(waiting)
}

/** A search by a parameter that is suspended; it would miss resources. */
export function notInUse(
  { of, code, id }: Pick<OwnParam, 'of' | 'code' | 'id'>,
  { cause, reason }: Suspended,
): Failure {
  const who = cause === 'operator' ? 'An operator has suspended the search parameter' : 'The search parameter'
  const what = cause === 'operator' ? `: ${reason}` : ` is suspended, because ${reason}`
  const message = `${who} ${code} of ${of} (SearchParameter/${id})${what}. Search without it; its owner can define it again.`
  const issue = cause === 'operator' ? 'not-supported' : 'too-costly'
  return new Failure('VALIDATION_FAILED', message, { issue, details: [{ field: code, code: issue, message }] })
}

function notReady({ of, code }: OwnParam): Failure {
  const message = `The search parameter ${code} of ${of} is new, and the ${of} resources are still being indexed: try again soon.`
  return new Failure('UNAVAILABLE', message, {
    retryAfter: 5,
    details: [{ field: code, code: 'transient', message }],
  })
}
