// What the expression of a search parameter says about the elements it reads, where it is a plain path.
import type { ElementModel, SearchParamModel } from '../definitions/model.ts'
import { searchParams, typeModel } from '../definitions/r4.ts'

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

/** The types of a composite's components, in order. */
export function componentTypes(param: SearchParamModel, type: string): SearchParamModel['type'][] {
  const all = [...searchParams(type).values()]
  return (param.components ?? []).map(
    component => all.find(candidate => candidate.url === component.definition)?.type ?? 'token',
  )
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
