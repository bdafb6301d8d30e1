// How the parts of rules and declarations are written, each on one line. https://hl7.org/fhir/R4/mapping-language.html

import type { Argument, Code, Dependent, ListMode, Literal, Parameter, Path, Source, Target, Transform } from './ast.ts'
import { nameText, quoted } from './text.ts'

export function pathText(path: Path): string {
  return path.names.map(name => nameText(name.text)).join('.')
}

export function literalText(literal: Literal): string {
  switch (literal.type) {
    case 'String':
      return quoted(literal.text, "'")
    case 'Date':
    case 'DateTime':
      return `@${literal.text}`
    case 'Time':
      return `@T${literal.text}`
    case 'Long':
      return `${literal.text}L`
    case 'Quantity':
      return `${literal.text} ${literal.calendar ? literal.unit : quoted(literal.unit ?? '1', "'")}`
    default:
      return literal.text
  }
}

/** Text over several lines stands between three quotation marks. */
export function settingText(literal: Literal): string {
  const isMarkdown = literal.type === 'String' && literal.text.includes('\n') && !literal.text.includes('"""')
  return isMarkdown ? `"""\n${literal.text}\n"""` : literalText(literal)
}

export function argumentText(argument: Argument): string {
  if (argument.kind === 'expression') return argument.text
  return argument.kind === 'literal' ? literalText(argument) : pathText(argument)
}

function argumentsText(args: readonly Argument[]): string {
  return `(${args.map(argumentText).join(', ')})`
}

export function dependentText(dependent: Dependent): string {
  return nameText(dependent.name.text) + argumentsText(dependent.args)
}

export function parameterText(parameter: Parameter): string {
  const type = parameter.type ? ` : ${pathText(parameter.type)}` : ''
  return `${parameter.mode} ${nameText(parameter.name.text)}${type}`
}

export function sourceText(source: Source): string {
  let text = pathText(source.path)
  if (source.type) text += ` : ${pathText(source.type)}`
  if (source.cardinality) text += ` ${source.cardinality.min}..${limit(source.cardinality.max)}`
  if (source.default?.kind === 'expression') text += ` default (${source.default.text})`
  else if (source.default) text += ` default ${defaultText(source.default)}`
  if (source.listMode) text += ` ${source.listMode}`
  if (source.variable) text += ` as ${nameText(source.variable.text)}`
  if (source.where) text += ` where (${source.where.text})`
  if (source.check) text += ` check (${source.check.text})`
  if (source.log) text += ` log (${source.log.text})`
  return text
}

/** The old form is known to have double quotation marks. */
function defaultText(literal: Literal): string {
  return literal.type === 'String' ? quoted(literal.text, '"') : literalText(literal)
}

/** `*` for Infinity. */
export function limit(max: number): string {
  return Number.isFinite(max) ? String(max) : '*'
}

export function targetText(target: Target): string {
  const made = target.transform ? transformText(target.transform) : ''
  let text = target.path ? pathText(target.path) : made
  if (target.path && made) text += ` = ${made}`
  if (target.variable) text += ` as ${nameText(target.variable.text)}`
  return text + target.listModes.map(modeText).join('')
}

export function transformText(transform: Transform): string {
  if (transform.kind === 'expression') return `(${transform.text})`
  if (transform.kind === 'call') return nameText(transform.name.text) + argumentsText(transform.args)
  return argumentText(transform)
}

function modeText({ mode, share }: ListMode): string {
  return share ? ` ${mode} ${nameText(share.text)}` : ` ${mode}`
}

export function codeText({ prefix, code }: Code): string {
  const isWord = /^[A-Za-z][A-Za-z0-9]*$/.test(code.text)
  return `${nameText(prefix.text)}:${isWord ? code.text : quoted(code.text, '"')}`
}
