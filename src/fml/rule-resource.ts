// Rules as they stand in an R4 StructureMap. https://hl7.org/fhir/R4/structuremap-definitions.html#StructureMap.group.rule

import type { Argument, Batch, Dependent, Literal, Path, Rule, Source, Target, Transform } from './ast.ts'
import { argumentText, limit, literalText, pathText, transformText } from './pieces.ts'
import {
  AUTOMATIC,
  automaticName,
  clean,
  documentation,
  EXTENSIONS,
  elementText,
  inOneWord,
  type Json,
  jsonNumber,
} from './resource-parts.ts'
import { LATER_TRANSFORMS } from './target.ts'

/** A rule; or the simple copies that a batch is short for. */
export function ruleResources(rule: Rule | Batch): Json[] {
  return rule.kind === 'rule' ? [ruleResource(rule)] : batchResources(rule)
}

function batchResources({ source, target, elements, name, around }: Batch): Json[] {
  return elements.map(({ text }, index) => {
    const element = elementText([...source.names.slice(1), { kind: 'name', text, span: source.span }])
    const into = elementText([...target.names.slice(1), { kind: 'name', text, span: target.span }])
    return clean({
      name: name ? inOneWord(`${name.text} ${text}`) : automaticName([{ element }]),
      source: [{ context: source.names[0]!.text, element, variable: AUTOMATIC }],
      target: [
        {
          context: target.names[0]!.text,
          contextType: 'variable',
          element: into,
          variable: AUTOMATIC,
          transform: 'create',
        },
      ],
      documentation: index === 0 ? documentation(around.before, around.after) : undefined,
    })
  })
}

function ruleResource(rule: Rule): Json {
  const sources = rule.sources.map(sourceResource)
  const targets = rule.targets.map(targetResource)
  if (isSimpleCopy(rule)) {
    sources[0]!.variable = AUTOMATIC
    Object.assign(targets[0]!, { variable: AUTOMATIC, transform: 'create' })
  }
  const inside = rule.block?.inside
  return clean({
    name: rule.name?.text ?? automaticName(sources),
    source: sources,
    target: targets,
    rule: rule.block?.rules.flatMap(ruleResources),
    dependent: rule.dependents.map(dependentResource),
    documentation: documentation(rule.around.before, inside?.opening ?? [], rule.around.after),
  })
}

/** `a.x -> b.y;`: what becomes of the value depends on its type. */
function isSimpleCopy({ sources, targets, dependents, block }: Rule): boolean {
  const [source] = sources
  const [target] = targets
  if (!source || !target || sources.length !== 1 || targets.length !== 1 || dependents.length > 0 || block) return false
  const isElement = source.path.names.length > 1 && (target.path?.names.length ?? 0) > 1
  return isElement && !source.variable && !target.variable && !target.transform
}

function sourceResource(source: Source): Json {
  const [context, ...element] = source.path.names
  return clean({
    ...fallback(source.default),
    context: context!.text,
    element: element.length > 0 ? elementText(element) : undefined,
    min: source.cardinality?.min,
    max: source.cardinality && limit(source.cardinality.max),
    type: source.type && pathText(source.type),
    listMode: source.listMode,
    variable: source.variable?.text,
    condition: source.where?.text,
    check: source.check?.text,
    logMessage: source.log?.text,
  })
}

/** A constant has a place in R4; any other expression goes where R5 has it. */
function fallback(value: Source['default']): Json {
  if (!value) return {}
  const constant = value.kind === 'literal' ? value : constantOf(value.expression)
  if (constant && isSimple(constant)) {
    const [key, content] = Object.entries(literalValue(constant))[0]!
    return { [key.replace('value', 'defaultValue')]: content }
  }
  const text = value.kind === 'literal' ? literalText(value) : value.text
  return { extension: [{ url: EXTENSIONS.defaultValue, valueString: text }] }
}

function constantOf(expression: { kind: string }): Literal | undefined {
  return expression.kind === 'literal' ? (expression as unknown as Literal) : undefined
}

const SIMPLE = new Set<Literal['type']>(['String', 'Boolean', 'Integer', 'Decimal'])

function isSimple({ type }: Literal): boolean {
  return SIMPLE.has(type)
}

function targetResource(target: Target): Json {
  const { path, transform, variable, listModes } = target
  const modes = listModes.map(each => each.mode)
  const single = modes.includes('single') ? [{ url: EXTENSIONS.listMode, valueCode: 'single' }] : []
  return clean({
    extension: single,
    ...(path ? context(path) : {}),
    variable: variable?.text,
    listMode: modes.filter(mode => mode !== 'single'),
    listRuleId: listModes.find(each => each.share)?.share?.text,
    ...(transform ? made(transform) : {}),
  })
}

function context({ names }: Path): Json {
  const [first, ...element] = names
  return clean({
    context: first!.text,
    contextType: 'variable',
    element: element.length > 0 ? elementText(element) : undefined,
  })
}

function made(transform: Transform): Json {
  if (transform.kind === 'expression') return { transform: 'evaluate', parameter: [{ valueString: transform.text }] }
  if (transform.kind === 'path') return { transform: 'copy', parameter: [parameter(transform)] }
  if (transform.kind === 'literal') {
    if (isSimple(transform)) return { transform: 'copy', parameter: [literalValue(transform)] }
    return { transform: 'evaluate', parameter: [{ valueString: literalText(transform) }] }
  }
  const { name, args } = transform
  if (LATER_TRANSFORMS.includes(name.text))
    return { transform: 'evaluate', parameter: [{ valueString: transformText(transform) }] }
  return clean({ transform: name.text, parameter: args.map((each, index) => inEvaluate(name.text, index, each)) })
}

/** The second parameter of `evaluate` is an expression, and a string in the resource. */
function inEvaluate(transform: string, index: number, argument: Argument): Json {
  return transform === 'evaluate' && index === 1 ? { valueString: argumentText(argument) } : parameter(argument)
}

/** R4 has no parameters that are dates, quantities or expressions: they are strings, marked by what they are. */
function parameter(argument: Argument): Json {
  if (argument.kind === 'path') return { valueId: elementText(argument.names) }
  if (argument.kind === 'literal' && isSimple(argument)) return literalValue(argument)
  const text = argumentText(argument)
  const written = { language: 'text/fhirpath', expression: text }
  return { extension: [{ url: EXTENSIONS.value, valueExpression: written }], valueString: text }
}

function literalValue({ type, text }: Pick<Literal, 'type' | 'text'>): Json {
  if (type === 'Boolean') return { valueBoolean: text === 'true' }
  if (type === 'Integer') return { valueInteger: jsonNumber(text) }
  if (type === 'Decimal') return { valueDecimal: jsonNumber(text) }
  return { valueString: text }
}

/** R4 hands over variables only; where there are other values, all parameters stand in the extension too. */
function dependentResource({ name, args }: Dependent): Json {
  const hasValues = args.some(each => each.kind !== 'path' || each.names.length > 1)
  const extension = args.map(each => ({ url: EXTENSIONS.parameter, valueString: argumentText(each) }))
  return clean({ extension: hasValues ? extension : undefined, name: name.text, variable: args.map(variableText) })
}

function variableText(argument: Argument): string {
  return argument.kind === 'path' ? elementText(argument.names) : argumentText(argument)
}
