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

/** R4's search parameters and `own` beside them. */
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

/** A parameter that all the types have. */
export function commonParam(
  params: SearchParams,
  types: readonly string[],
  code: string,
): SearchParamModel | undefined {
  const [first, ...others] = types.map(type => params.find(type, code))
  return others.every(param => param) ? first : undefined
}

/** The key of a user's parameter: by its definition, not by its name alone. */
export const ownKey = (type: string, code: string, definition: string): ParamKey =>
  namedKey(`${type}.${code}~${definition}`)

/** True if resources that were stored before the parameter was defined are still being indexed by it. */
export const isWaiting = (param: SearchParamModel | undefined): param is OwnParam =>
  param !== undefined && 'isReady' in param && param.isReady === false

/** @throws Failure UNAVAILABLE if one of the parameters is still waiting. */
export function mustBeReady(params: SearchParams, asked: readonly OwnParam[]): void {
  const waiting = asked.map(({ of, code }) => params.find(of, code)).find(isWaiting)
  if (waiting) throw notReady(waiting)
}

function notReady({ of, code }: OwnParam): Failure {
  const message = `The search parameter ${code} of ${of} was defined a moment ago, and ${of} resources are still being indexed by it: try again soon.`
  return new Failure('UNAVAILABLE', message, {
    retryAfter: 5,
    details: [{ field: code, code: 'transient', message }],
  })
}
