// A stored SearchParameter as the search parameters that it defines, one for each type, or what is wrong with it.
// https://hl7.org/fhir/R4/searchparameter.html
import type { SearchParamModel, SearchParamType } from '../../definitions/model.ts'
import { isResourceType, resourceTypes, searchParams } from '../../definitions/r4.ts'
import type { Expression } from '../../fhirpath/ast.ts'
import { compileTyped } from '../../fhirpath/compile.ts'
import { FhirPathError } from '../../fhirpath/errors.ts'
import { parse } from '../../fhirpath/parser.ts'
import { hash64 } from '../../lib/hash.ts'
import { isObject, type JsonObject } from '../../lib/json.ts'
import { plainPath } from '../index/param-paths.ts'
import type { Issue, Validate } from '../validate.ts'
import { objects, text } from '../values.ts'
import { longestExpression, mustBeAffordable } from './cost.ts'
import { expressionFor, expressionOptions, mustAskTypesOnly, resolvedType, understood } from './expression.ts'
import { type OwnParam, ownKey } from './known.ts'

export interface Definition {
  /** One for each type that R4's own parameters do not serve already. */
  readonly params: readonly DefinedParam[]
  readonly issues: readonly Issue[]
}

/** A parameter as its resource defines it, without what the service adds. */
export type DefinedParam = Omit<OwnParam, 'isReady' | 'client' | 'suspended'>

const nothing: Definition = { params: [], issues: [] }

/**
 * Reads a SearchParameter that is valid R4. One that is not active defines nothing; nor does one that gives a type the same
 * definition as R4's own parameter of that code, such as those of US Core.
 */
export function readDefinition(resource: JsonObject): Definition {
  if (resource['resourceType'] !== 'SearchParameter' || resource['status'] !== 'active') return nothing
  const written = text(resource['expression'])
  if (written === undefined || resource['type'] === 'special') return nothing
  const code = String(resource['code'])
  if (!/^[A-Za-z_][A-Za-z0-9_-]{0,63}$/.test(code) || controls.has(code))
    return wrong(
      'code',
      `"${code.slice(0, 64)}" cannot be the code of a search parameter: use letters, digits and hyphens, and no name of an R4 result parameter.`,
    )
  if (written.length > longestExpression)
    return wrong('expression', `The expression has more than ${longestExpression} characters.`, 'too-costly')
  const parsed = read(() => parse(written))
  if (parsed instanceof FhirPathError) return wrong('expression', said(parsed))
  const found = typesOf(resource).map(type => paramOf(resource, type, code, parsed))
  return {
    params: found.flatMap(each => each.params),
    issues: found.flatMap(each => each.issues).slice(0, 20),
  }
}

// They shape the answer (https://hl7.org/fhir/R4/search.html#control), or are no ordinary parameter.
const controls = new Set(
  '_count _cursor _sort _total _summary _elements _include _revinclude _format _pretty _contained _containedType _list _has _filter _type _query'.split(
    ' ',
  ),
)

/** The concrete types that it is about: all of them for `Resource`. */
function typesOf(resource: JsonObject): string[] {
  const bases = Array.isArray(resource['base']) ? resource['base'].map(String) : []
  return bases.some(base => base === 'Resource' || base === 'DomainResource')
    ? [...resourceTypes]
    : [...new Set(bases)].filter(isResourceType)
}

function paramOf(resource: JsonObject, type: string, code: string, whole: Expression): Definition {
  const published = searchParams(type).get(code)
  if (published)
    return isSame(resource, published)
      ? nothing
      : wrong(
          'code',
          `R4 already defines the search parameter ${code} for ${type} (${published.url}): use another code.`,
        )
  const written = expressionFor(type, whole)
  if (!written) return wrong('expression', `The expression does not cover ${type}, which is one of the bases.`)
  const cost = read(() => mustBeAffordable(written))
  if (cost instanceof FhirPathError) return wrong('expression', said(cost), 'too-costly')
  const asking = read(() => mustAskTypesOnly(written))
  if (asking instanceof FhirPathError) return wrong('expression', said(asking))
  const expression = read(() => understood(written, type))
  if (expression instanceof FhirPathError) return wrong('expression', said(expression))
  const model = { ...modelOf(resource, code), targets: targetsOf(resource, expression) }
  const definition = hash64(JSON.stringify([model.type, model.expression, model.components])).toString(36)
  const param = {
    ...model,
    tree: expression,
    id: String(resource['id']),
    of: type,
    key: ownKey(type, code, definition),
  }
  const issues = model.type === 'composite' ? componentIssues(model, type) : []
  return { params: issues.length === 0 ? [param] : [], issues }
}

// A guide repeats R4's parameters under addresses of its own; nothing else may take their names.
function isSame(resource: JsonObject, published: SearchParamModel): boolean {
  const url = text(resource['url']) ?? ''
  if (resource['type'] !== published.type) return false
  return (
    /^https?:\/\/hl7\.org\//.test(url) ||
    text(resource['derivedFrom']) !== undefined ||
    resource['expression'] === published.expression
  )
}

function modelOf(resource: JsonObject, code: string): SearchParamModel {
  const components = objects(resource['component']).map(each => ({
    definition: String(each['definition']).split('|')[0]!,
    expression: String(each['expression']),
  }))
  return {
    code,
    url: String(resource['url']),
    type: resource['type'] as SearchParamType,
    expression: String(resource['expression']),
    description: text(resource['description']) ?? '',
    ...(components.length > 0 ? { components } : {}),
  }
}

function targetsOf(resource: JsonObject, expression: Expression): string[] | undefined {
  const resolved = resolvedType(expression)
  if (resolved) return [resolved]
  const named = Array.isArray(resource['target']) ? resource['target'].map(String).filter(isResourceType) : []
  return named.length > 0 ? named : undefined
}

function componentIssues(param: SearchParamModel, type: string): readonly Issue[] {
  const { components = [] } = param
  if (components.length < 2) return wrong('component', 'A composite must have at least two components.').issues
  const focus = plainPath(param.expression, type)?.type ?? type
  const known = new Set([...searchParams(type).values()].map(each => each.url))
  return components.flatMap(({ definition, expression }, index) => {
    const place = `component[${index}]`
    if (!known.has(definition))
      return wrong(`${place}.definition`, `${definition} is not an R4 search parameter of ${type}.`).issues
    const compiled = read(() => {
      mustBeAffordable(parse(expression.slice(0, longestExpression)))
      return compileTyped(expression, expressionOptions(focus))
    })
    return compiled instanceof FhirPathError ? wrong(`${place}.expression`, said(compiled)).issues : []
  })
}

function read<T>(work: () => T): T | FhirPathError {
  try {
    return work()
  } catch (error) {
    if (error instanceof FhirPathError) return error
    throw error
  }
}

const said = (error: FhirPathError): string => `The FHIRPath expression cannot be used: ${error.message}`

function wrong(element: string, diagnostics: string, code: Issue['code'] = 'value'): Definition {
  const issue: Issue = { severity: 'error', code, diagnostics, expression: `SearchParameter.${element}` }
  return { params: [], issues: [issue] }
}

/** Returns a validator that also reports what keeps a SearchParameter from being used. */
export function withDefinitions(validate: Validate): Validate {
  return (resource, options) => {
    const issues = validate(resource, options)
    const isReadable = isObject(resource) && issues.every(issue => issue.severity !== 'error')
    return isReadable ? [...issues, ...readDefinition(resource).issues] : issues
  }
}
