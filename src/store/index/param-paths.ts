// The elements that the expression of a search parameter reads, where it is a plain path.
import type { ElementModel, SearchParamModel } from '../../definitions/model.ts'
import { searchParams, typeModel, valueSetCodes } from '../../definitions/r4.ts'
import { mainCode } from './clinical-date.ts'
import { codePosting, type ParamKey, paramKey, systemCodePosting } from './postings.ts'

/** One plain path of an expression: the elements it goes through, and the type it ends in. */
export interface ParamPath {
  readonly elements: readonly ElementModel[]
  readonly type: string
}

/** Paths of R4's parameters, which searches ask for again and again; null: the expression is none. */
const paths = new Map<string, ParamPath | null>()
const mostPaths = 10_000

/** The plain path of an expression, filters on the kind of a reference left aside; undefined if it is anything else. */
export function plainPath(expression: string | undefined, type: string): ParamPath | undefined {
  if (expression === undefined) return undefined
  const name = `${type} ${expression}`
  let path = paths.get(name)
  if (path === undefined) {
    if (paths.size >= mostPaths) paths.clear()
    paths.set(name, (path = readPath(expression, type) ?? null))
  }
  return path ?? undefined
}

function readPath(expression: string, type: string): ParamPath | undefined {
  const text = expression.trim().replace(/\.where\(resolve\(\) is \w+\)$/, '')
  const cast = /^\(?([\w.]+?)\)?(?:(?: as |\.as\(|\.ofType\()(\w+)\)?\)?)?$/.exec(text)
  if (!cast) return undefined
  const [root, ...steps] = cast[1]!.split('.')
  if (root !== type) return undefined
  const elements: ElementModel[] = []
  let current = type
  for (const step of steps) {
    const element = typeModel(current)?.elements.get(step)
    if (!element) return undefined
    elements.push(element)
    current = element.types[0]!
  }
  return elements.length > 0 ? { elements, type: cast[2] ?? current } : undefined
}

/** The datatypes of the elements that a parameter reads; undefined where its expression does not say. */
export function typesRead({ expression }: SearchParamModel, type: string): readonly string[] | undefined {
  const all: string[] = []
  for (const branch of (expression ?? '').split(' | ').map(each => each.trim())) {
    if (!branch.replace(/^\(/, '').startsWith(`${type}.`)) continue
    const path = plainPath(branch.replace(/\.where\((?:system|type)='[\w-]+'\)/, ''), type)
    if (!path) return undefined
    const isCast = / as |\.as\(|\.ofType\(/.test(branch)
    all.push(...(isCast ? [path.type] : path.elements.at(-1)!.types))
  }
  return all.length > 0 ? all : undefined
}

/** The path as a text by which two parameters that read the same elements are known to be alike. */
export function pathText(param: SearchParamModel, type: string): string | undefined {
  const path = plainPath(param.expression, type)
  return path && [...path.elements.map(element => element.name)].join('.')
}

/** True if the parameter can have only one value in a resource, so that one column holds it whole. */
export function isSingle(param: SearchParamModel, type: string): boolean {
  return plainPath(param.expression, type)?.elements.every(element => element.max === 1) ?? false
}

/** True if every resource of the type has a value of the parameter, as far as R4 can say. */
export function isRequired(param: SearchParamModel, type: string): boolean {
  if (param.expression?.includes('.where(')) return false
  return plainPath(param.expression, type)?.elements.every(({ min, types }) => min > 0 && types.length === 1) ?? false
}

const withoutSystem = new Set(['code', 'boolean', 'string', 'id', 'ContactPoint'])

const bare = new Map<string, ReadonlySet<ParamKey>>()

/**
 * The keys of a type's token parameters that read nothing with a system: of their codes only the posting with no system is there. The main
 * code of a type is posted like those with systems, since its rows of `coded` are found by the posting without regard to them.
 */
function bareKeys(type: string): ReadonlySet<ParamKey> {
  let known = bare.get(type)
  if (!known) {
    const params = [...searchParams(type).values()].filter(
      param =>
        param.type === 'token' &&
        param.code !== mainCode(type) &&
        typesRead(param, type)?.every(each => withoutSystem.has(each)),
    )
    bare.set(type, (known = new Set(params.map(param => paramKey(type, param.code)))))
  }
  return known
}

export const isBare = (type: string, key: ParamKey): boolean => bareKeys(type).has(key)

/** What finds a code of a parameter of the type without regard to its system. */
export const plainCodePosting = (type: string, key: ParamKey, code: string): bigint =>
  isBare(type, key) ? systemCodePosting(key, '', code) : codePosting(key, code)

/** The same under each key that holds the values of a parameter of R4. */
export const plainCodePostings = (type: string, code: string, value: string): bigint[] =>
  storedKeys(type, code).map(key => plainCodePosting(type, key, value))

/** The required value set of a parameter over a `code` element: it implies the system that the element itself does not name. */
export function codeValueSet(param: SearchParamModel, type: string): string | undefined {
  const path = plainPath(param.expression, type)
  const last = path?.elements.at(-1)
  return path?.type === 'code' ? last?.requiredValueSet : undefined
}

/** The codes that a parameter's element may have where it has at most one, of a set that R4 gives; undefined for any other. */
export function closedCodes(param: SearchParamModel, type: string): readonly string[] | undefined {
  const last = plainPath(param.expression, type)?.elements.at(-1)
  if (!last || last.types.length > 1 || !isSingle(param, type)) return undefined
  if (last.types[0] === 'boolean') return ['false', 'true']
  const set = codeValueSet(param, type)
  return set === undefined ? undefined : valueSetCodes(set)
}

/** The parameters that a composite's components are, in order; undefined where the type does not have it. */
export function componentParams(param: SearchParamModel, type: string): (SearchParamModel | undefined)[] {
  const all = [...searchParams(type).values()]
  return (param.components ?? []).map(component => all.find(candidate => candidate.url === component.definition))
}

/** Where a token, reference or uri parameter finds its sortable text in the JSON of a resource: the first value's code, reference or text. */
export function jsonPath(param: SearchParamModel, type: string): string[] | undefined {
  const path = plainPath(param.expression?.split('|')[0], type)
  if (!path) return undefined
  const steps = path.elements.flatMap((element, index) => {
    const last = index === path.elements.length - 1
    const name = element.choice && last ? element.name + path.type[0]!.toUpperCase() + path.type.slice(1) : element.name
    return element.max === 1 ? [name] : [name, '0']
  })
  const leaf: Readonly<Record<string, string[]>> = {
    CodeableConcept: ['coding', '0', 'code'],
    Coding: ['code'],
    Identifier: ['value'],
    ContactPoint: ['value'],
    Reference: ['reference'],
  }
  return [...steps, ...(leaf[path.type] ?? [])]
}

/** `a | b` of an expression, in parts. */
function branchesOf(param: SearchParamModel): string[] {
  const parts = (param.expression ?? '').split(' | ').map(part => part.trim())
  const components = (param.components ?? []).map(component => component.expression).join(' $ ')
  return parts.map(part => `${param.type} ${part} ${components}`)
}

const holders = new Map<string, ReadonlyMap<string, readonly ParamKey[]>>()

/**
 * Returns the keys under which the values of a parameter are stored: its own, or those of other parameters that together read the
 * same elements. `combo-code` is `code` and `component-code`, so a search looks there and nothing is stored twice.
 */
export function storedKeys(type: string, code: string): readonly ParamKey[] {
  let known = holders.get(type)
  if (!known) holders.set(type, (known = findHolders(type)))
  return known.get(code) ?? [paramKey(type, code)]
}

function findHolders(type: string): Map<string, ParamKey[]> {
  const params = [...searchParams(type).values()].filter(param => param.expression)
  const read = params.map(param => ({ code: param.code, branches: new Set(branchesOf(param)) }))
  const found = new Map<string, ParamKey[]>()
  // Those that hold their values themselves, and what they read.
  const holding: typeof read = []
  for (const each of read.toSorted((one, other) => one.branches.size - other.branches.size)) {
    const parts: typeof read = []
    const open = new Set(each.branches)
    for (const other of holding.toReversed()) {
      if (!other.branches.isSubsetOf(each.branches) || other.branches.isDisjointFrom(open)) continue
      parts.push(other)
      for (const branch of other.branches) open.delete(branch)
    }
    if (open.size > 0) holding.push(each)
    const holders = open.size > 0 ? [each] : parts.toReversed()
    found.set(
      each.code,
      holders.map(({ code }) => paramKey(type, code)),
    )
  }
  return found
}

/** True if the parameter's values are stored under its own key. */
export function isStored(type: string, code: string): boolean {
  return storedKeys(type, code).some(key => key.name === `${type}.${code}`)
}
