// The elements that the expression of a search parameter reads, where it is a plain path.
import type { ElementModel, SearchParamModel } from '../../definitions/model.ts'
import { searchParams, typeModel } from '../../definitions/r4.ts'
import { type ParamKey, paramKey } from './postings.ts'

/** One plain path of an expression: the elements it goes through, and the type it ends in. */
export interface ParamPath {
  readonly elements: readonly ElementModel[]
  readonly type: string
}

/** The plain path of an expression, filters on the kind of a reference left aside; undefined if it is anything else. */
export function plainPath(expression: string | undefined, type: string): ParamPath | undefined {
  const text = expression?.trim().replace(/\.where\(resolve\(\) is \w+\)$/, '') ?? ''
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
    const path = plainPath(branch.replace(/\.where\(system='\w+'\)$/, ''), type)
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

/** The required value set of a parameter over a `code` element: it implies the system that the element itself does not name. */
export function codeValueSet(param: SearchParamModel, type: string): string | undefined {
  const path = plainPath(param.expression, type)
  const last = path?.elements.at(-1)
  return path?.type === 'code' ? last?.requiredValueSet : undefined
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
  const single = new Map<string, string>()
  const params = [...searchParams(type).values()].filter(param => param.expression)
  for (const param of params) {
    const [branch, ...more] = branchesOf(param)
    if (branch && more.length === 0 && !single.has(branch)) single.set(branch, param.code)
  }
  const found = new Map<string, ParamKey[]>()
  for (const param of params) {
    const codes = branchesOf(param).map(branch => single.get(branch))
    const complete = codes.every(code => code !== undefined)
    found.set(param.code, complete ? codes.map(code => paramKey(type, code!)) : [paramKey(type, param.code)])
  }
  return found
}

/** True if the parameter's values are stored under its own key. */
export function isStored(type: string, code: string): boolean {
  return storedKeys(type, code).some(key => key.name === `${type}.${code}`)
}
