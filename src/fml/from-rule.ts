// Rules of an R4 StructureMap as rules of a map. https://hl7.org/fhir/R4/structuremap-definitions.html#StructureMap.group.rule

import { digitsOf, isJsonNumber } from '../lib/json.ts'
import type { Argument, Dependent, ListMode, Rule, Source, Target, Transform } from './ast.ts'
import { NOWHERE, type Problem } from './problem.ts'
import {
  AUTOMATIC,
  argumentOf,
  around,
  EXTENSIONS,
  expressionOf,
  extended,
  isAutomaticName,
  isJson,
  type Json,
  literalOf,
  nameOf,
  namesIn,
  numberLiteral,
  objects,
  pathOf,
  string,
  whole,
} from './resource-parts.ts'
import { SOURCE_LIST_MODES } from './source.ts'
import { call, LATER_TRANSFORMS, TARGET_LIST_MODES } from './target.ts'

/** Deeper rules are left out: the text could not be read again. */
const MAX_DEPTH = 55

/** A rule of the resource, without its name if it is the one it would be given. */
export function ruleFrom(json: Json, problems: Problem[], depth: number): Rule {
  const isCopy = isSimpleCopy(json)
  const nested = depth < MAX_DEPTH ? objects(json.rule).map(each => ruleFrom(each, problems, depth + 1)) : []
  const name = string(json.name)
  const inside = { opening: [], closing: [] }
  return {
    kind: 'rule',
    sources: objects(json.source).map(each => sourceFrom(each, problems, isCopy)),
    targets: objects(json.target).map(each => (isCopy ? bareTarget(each) : targetFrom(each, problems))),
    dependents: objects(json.dependent).map(each => dependentFrom(each, problems)),
    block: nested.length > 0 ? { kind: 'block', rules: nested, inside, span: NOWHERE } : undefined,
    name: name === undefined || isImplied(name, objects(json.source)) ? undefined : nameOf(name),
    around: around(json.documentation),
    span: NOWHERE,
  }
}

/** Where every engine would give the rule this name: those that are not about one element must have one for some. */
function isImplied(name: string, sources: readonly Json[]): boolean {
  return sources.length === 1 && string(sources[0]!.element) !== undefined && isAutomaticName(name, sources)
}

/** The form that the reference implementation gives `a.x -> b.y`. */
function isSimpleCopy({ source, target }: Json): boolean {
  const [from] = objects(source)
  const [to] = objects(target)
  const isAutomatic = from?.variable === AUTOMATIC && to?.variable === AUTOMATIC
  return isAutomatic && to.transform === 'create' && objects(to.parameter).length === 0
}

function sourceFrom(json: Json, problems: Problem[], isCopy: boolean): Source {
  const variable = isCopy ? undefined : string(json.variable)
  const expression = (value: unknown) => (string(value) ? expressionOf(string(value)!, problems) : undefined)
  return {
    kind: 'source',
    path: pathFrom(json),
    type: string(json.type) ? pathOf(...namesIn(string(json.type)!)) : undefined,
    cardinality: cardinality(json),
    default: fallback(json, problems),
    listMode: SOURCE_LIST_MODES.find(mode => mode === json.listMode),
    variable: variable === undefined ? undefined : nameOf(variable),
    where: expression(json.condition),
    check: expression(json.check),
    log: expression(json.logMessage),
    around: around(),
    span: NOWHERE,
  }
}

function pathFrom({ context, element }: Json) {
  return pathOf(string(context) ?? '', ...(string(element) ? namesIn(string(element)!) : []))
}

function cardinality({ min, max }: Json): Source['cardinality'] {
  if (min === undefined && max === undefined) return undefined
  const most = max === undefined || max === '*' ? Number.POSITIVE_INFINITY : Number(max)
  return {
    min: typeof min === 'number' ? min : 0,
    max: Number.isNaN(most) ? Number.POSITIVE_INFINITY : most,
    span: NOWHERE,
  }
}

function fallback(json: Json, problems: Problem[]): Source['default'] {
  const [extension] = extended(json, EXTENSIONS.defaultValue)
  const text = string(extension?.valueString)
  if (text) return expressionOf(text, problems)
  // R5 has an expression here, where R4 has a value of some type.
  if (typeof json.defaultValue === 'string') return expressionOf(json.defaultValue, problems)
  const key = Object.keys(json).find(each => each.startsWith('defaultValue'))
  const value = key === undefined ? undefined : json[key]
  if (typeof value === 'string') return expressionOf(`'${value.replace(/[\\']/g, '\\$&')}'`, problems)
  if (isJsonNumber(value)) return expressionOf(digitsOf(value), problems)
  return typeof value === 'boolean' ? expressionOf(String(value), problems) : undefined
}

function bareTarget(json: Json): Target {
  return { kind: 'target', path: pathFrom(json), listModes: [], around: around(), span: NOWHERE }
}

function targetFrom(json: Json, problems: Problem[]): Target {
  const transform = transformFrom(json, problems)
  const variable = string(json.variable)
  const isOnlyVariable = json.context === undefined && transform?.kind === 'path' && transform.names.length === 1
  return {
    kind: 'target',
    path: isOnlyVariable ? transform : json.context === undefined ? undefined : pathFrom(json),
    transform: isOnlyVariable ? undefined : transform,
    variable: variable === undefined ? undefined : nameOf(variable),
    listModes: listModes(json),
    around: around(),
    span: NOWHERE,
  }
}

function listModes(json: Json): ListMode[] {
  const modes = Array.isArray(json.listMode) ? json.listMode.filter(each => typeof each === 'string') : []
  const single = extended(json, EXTENSIONS.listMode).map(() => 'single')
  const share = string(json.listRuleId)
  const known = [...modes, ...single].flatMap(mode => TARGET_LIST_MODES.filter(each => each === mode))
  return known.map(mode => ({
    mode,
    share: mode === 'share' && share ? nameOf(share) : undefined,
    span: NOWHERE,
  }))
}

function transformFrom(json: Json, problems: Problem[]): Transform | undefined {
  const name = string(json.transform)
  if (!name) return undefined
  const parameters = objects(json.parameter)
  const [first, second] = parameters
  if (name === 'copy' && first && parameters.length === 1) return argumentFrom(first, problems)
  if (name === 'evaluate' && first && !second) return evaluated(string(first.valueString) ?? '', problems)
  const args = parameters.map((each, index) => {
    const isExpression = name === 'evaluate' && index === 1
    return isExpression ? argumentOf(string(each.valueString) ?? '', problems) : argumentFrom(each, problems)
  })
  return { kind: 'call', name: nameOf(name), args: args.filter(each => each !== undefined), span: NOWHERE }
}

/** R4 has no code for the later transforms: they stand in it as if they were expressions. */
function evaluated(text: string, problems: Problem[]): Transform | undefined {
  const name = /^(\w+)\((?!\))/.exec(text)?.[1]
  const isLater = name !== undefined && LATER_TRANSFORMS.includes(name)
  return isLater ? whole(text, problems, reader => call(reader)) : expressionOf(text, problems)
}

function argumentFrom(json: Json, problems: Problem[]): Argument | undefined {
  const [extension] = extended(json, EXTENSIONS.value)
  if (isJson(extension?.valueExpression))
    return argumentOf(string(extension.valueExpression.expression) ?? '', problems)
  if (typeof json.valueId === 'string') return pathOf(...namesIn(json.valueId))
  if (typeof json.valueBoolean === 'boolean') return literalOf('Boolean', String(json.valueBoolean))
  if (isJsonNumber(json.valueInteger)) return numberLiteral(json.valueInteger)
  if (isJsonNumber(json.valueDecimal)) return { ...numberLiteral(json.valueDecimal), type: 'Decimal' }
  const moment = string(json.valueDate) ?? string(json.valueDateTime)
  if (moment !== undefined) return argumentOf(`@${moment}`, problems)
  if (typeof json.valueTime === 'string') return argumentOf(`@T${json.valueTime}`, problems)
  return literalOf('String', typeof json.valueString === 'string' ? json.valueString : '')
}

/** R4 hands over variables by name, R5 values of several types. */
function dependentFrom(json: Json, problems: Problem[]): Dependent {
  const written = extended(json, EXTENSIONS.parameter).map(each => string(each.valueString) ?? '')
  const variables = Array.isArray(json.variable) ? json.variable.filter(each => typeof each === 'string') : []
  const parameters = objects(json.parameter)
  if (parameters.length > 0) {
    const given = parameters.map(each => argumentFrom(each, problems)).filter(each => each !== undefined)
    return { kind: 'dependent', name: nameOf(string(json.name) ?? ''), args: given, around: around(), span: NOWHERE }
  }
  const args =
    written.length > 0
      ? written.map(each => argumentOf(each, problems)).filter(each => each !== undefined)
      : variables.map(each => pathOf(...namesIn(each)))
  return { kind: 'dependent', name: nameOf(string(json.name) ?? ''), args, around: around(), span: NOWHERE }
}
