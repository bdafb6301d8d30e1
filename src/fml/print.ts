// Writes a map in its canonical layout. https://hl7.org/fhir/R4/mapping-language.html

import type {
  Batch,
  Block,
  ConceptMap,
  FmlMap,
  Group,
  Inside,
  Mapping,
  Prefix,
  Rule,
  Surroundings,
  Unmapped,
} from './ast.ts'
import { comments, gap, glue, hasComments, type Lines, line, lines, nest, seal } from './lines.ts'
import { codeText, dependentText, parameterText, pathText, settingText, sourceText, targetText } from './pieces.ts'
import { nameText, quoted } from './text.ts'

/** A rule that would be longer has a line for each of its targets. */
const WIDTH = 110

type Item = { readonly kind: string; readonly around: Surroundings; readonly span: { readonly offset: number } }

/**
 * The text of a map: comments and single empty lines where they were, declarations in their order, everything else in
 * one way. Reading it gives the same tree, places aside.
 */
export function print(map: FmlMap): string {
  const to = lines()
  const items = [map.declaration ?? [], map.metadata, map.conceptMaps, map.uses, map.imports, map.constants, map.groups]
  let last: string | undefined
  for (const item of inOrder(items.flat())) {
    if (last !== undefined && (last !== item.kind || isBraced(item.kind))) gap(to)
    surrounded(to, item, inner => declared(inner, item))
    last = item.kind
  }
  comments(to, map.closing)
  return to.all.length === 0 ? '' : `${to.all.join('\n')}\n`
}

/** Trees that were not made from text have all their places at the start, and keep their order. */
function inOrder<Kind extends Item>(items: readonly Kind[]): Kind[] {
  return items.toSorted((a, b) => a.span.offset - b.span.offset)
}

function isBraced(kind: string): boolean {
  return kind === 'group' || kind === 'conceptmap'
}

function surrounded(to: Lines, { around }: Item, write: (to: Lines) => void): void {
  comments(to, around.before)
  if (around.gap) gap(to)
  write(to)
  seal(to, around.after)
}

type Declared =
  | FmlMap['metadata' | 'conceptMaps' | 'uses' | 'imports' | 'constants' | 'groups'][number]
  | NonNullable<FmlMap['declaration']>

function declared(to: Lines, item: Declared): void {
  switch (item.kind) {
    case 'declaration':
      return line(to, `map ${quoted(item.url.text, '"')} = ${quoted(item.name.text, '"')}`)
    case 'metadata':
      return line(to, `/// ${pathText(item.path)} =${item.value ? ` ${settingText(item.value)}` : ''}`)
    case 'uses': {
      const alias = item.alias ? ` alias ${nameText(item.alias.text)}` : ''
      return line(to, `uses ${quoted(item.url.text, '"')}${alias} as ${item.mode}`)
    }
    case 'import':
      return line(to, `imports ${quoted(item.url.text, '"')}`)
    case 'constant':
      return line(to, `let ${nameText(item.name.text)} = ${item.value.text};`)
    case 'conceptmap':
      return conceptMap(to, item)
    case 'group':
      return group(to, item)
  }
}

function conceptMap(to: Lines, { id, prefixes, unmapped, mappings, inside }: ConceptMap): void {
  line(to, `conceptmap ${quoted(id.text, '"')} {`)
  const inner = lines()
  let last: string | undefined
  for (const item of inOrder<Prefix | Unmapped | Mapping>([...prefixes, ...unmapped, ...mappings])) {
    if (last !== undefined && last !== item.kind) gap(inner)
    surrounded(inner, item, into => line(into, entry(item)))
    last = item.kind
  }
  braced(to, inner, inside)
}

function entry(item: Prefix | Unmapped | Mapping): string {
  if (item.kind === 'prefix') return `prefix ${nameText(item.name.text)} = ${quoted(item.url.text, '"')}`
  if (item.kind === 'unmapped') {
    return `unmapped ${item.prefix ? `for ${nameText(item.prefix.text)} ` : ''}= ${nameText(item.mode.text)}`
  }
  return `${codeText(item.source)} ${item.operator}${item.target ? ` ${codeText(item.target)}` : ''}`
}

/** What stands between the brace that has been written and the one that closes it. */
function braced(to: Lines, inner: Lines, { opening, closing }: Inside): void {
  seal(to, opening)
  comments(inner, closing)
  if (inner.all[0] === '') inner.all.shift()
  nest(to, inner, '  ')
  line(to, '}')
}

function group(to: Lines, { name, parameters, extends: base, typeMode, block }: Group): void {
  if (parameters.some(each => hasComments(each.around))) {
    line(to, `group ${nameText(name.text)}(`)
    elements(to, parameters, parameterText, '  ')
    line(to, ')')
  } else line(to, `group ${nameText(name.text)}(${parameters.map(parameterText).join(', ')})`)
  if (base) glue(to, ` extends ${nameText(base.text)}`)
  if (typeMode) glue(to, ` <<${typeMode}>>`)
  glue(to, ' {')
  blockLines(to, block)
}

function blockLines(to: Lines, { rules, inside }: Block): void {
  const inner = lines()
  for (const rule of rules)
    surrounded(inner, rule, into => (rule.kind === 'rule' ? ruleLines(into, rule) : line(into, batch(rule))))
  braced(to, inner, inside)
}

function batch({ source, target, elements, name }: Batch): string {
  const names = elements.map(each => nameText(each.text)).join(', ')
  return `${pathText(source)} -> ${pathText(target)}: ${names}${name ? ` ${quoted(name.text, '"')}` : ''};`
}

function ruleLines(to: Lines, rule: Rule): void {
  const { sources, targets, dependents, block, name } = rule
  const flat = flatRule(rule)
  const isBroken = [...sources, ...targets, ...dependents].some(each => hasComments(each.around)) || flat.length > WIDTH
  if (isBroken) brokenRule(to, rule)
  else line(to, flat)
  if (block) {
    glue(to, dependents.length > 0 ? ' {' : ' then {', '  ')
    blockLines(to, block)
  }
  glue(to, `${name ? ` ${quoted(name.text, '"')}` : ''};`, '  ')
}

function flatRule({ sources, targets, dependents }: Rule): string {
  let text = sources.map(sourceText).join(', ')
  if (targets.length > 0) text += ` -> ${targets.map(targetText).join(', ')}`
  if (dependents.length > 0) text += ` then ${dependents.map(dependentText).join(', ')}`
  return text
}

function brokenRule(to: Lines, { sources, targets, dependents }: Rule): void {
  elements(to, sources, sourceText, '', '    ')
  if (targets.length > 0) {
    glue(to, ' ->', '  ')
    elements(to, targets, targetText, '  ')
  }
  if (dependents.length === 0) return
  if (!dependents.some(each => hasComments(each.around)))
    return line(to, `  then ${dependents.map(dependentText).join(', ')}`)
  line(to, '  then')
  elements(to, dependents, dependentText, '    ')
}

/** Elements of a list, each on its line, with its comments. */
function elements<Kind extends Item>(
  to: Lines,
  list: readonly Kind[],
  text: (element: Kind) => string,
  first: string,
  rest = first,
): void {
  list.forEach((element, index) => {
    const indent = index === 0 ? first : rest
    comments(to, element.around.before, indent)
    line(to, `${indent}${text(element)}${index < list.length - 1 ? ',' : ''}`)
    seal(to, element.around.after)
  })
}
