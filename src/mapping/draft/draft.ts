// The first draft of a map from one type to another: rules where it is likely what becomes what, comments where it is not.

import type { ElementModel, TypeModel } from '../../definitions/model.ts'
import { format } from '../../fml/format.ts'
import { lastSegment, type Structures } from '../../fml/structures.ts'
import { nameText, quoted } from '../../fml/text.ts'
import { conceptMapLines } from './codes.ts'
import { elementsOf, type Pair, pairsOf } from './pairs.ts'
import type { Way } from './ways.ts'

/** What a draft is made of. */
interface Draft {
  readonly structures: Structures
  /** Concept maps, by their id. */
  readonly tables: Map<string, readonly string[]>
}

/** The text of a map between two types, by the URLs of their structures; `url` is that of the map. */
export function draftMap(url: string, from: string, to: string, structures: Structures): string {
  const [source, target] = [from, to].map(each => structures.byUrl(each)!) as [string, string]
  const draft: Draft = { structures, tables: new Map() }
  const rules = blockLines(draft, source, target, ['src', 'tgt'], 0) ?? []
  const name = lastSegment(url)
    .split(/[^A-Za-z0-9]+/)
    .map(capitalised)
    .join('')
  return format(
    [
      `/// url = ${quoted(url, "'")}`,
      `/// name = ${quoted(name, "'")}`,
      `/// title = ${quoted(`${source} to ${target}`, "'")}`,
      "/// status = 'draft'",
      '',
      ...[...draft.tables.values()].flatMap(each => [...each, '']),
      `uses ${quoted(from, '"')} alias ${nameText(source)} as source`,
      `uses ${quoted(to, '"')} alias ${nameText(target)} as target`,
      '',
      `group ${nameText(name)}(source src : ${nameText(source)}, target tgt : ${nameText(target)}) {`,
      ...rules,
      '}',
      '',
    ].join('\n'),
  )
}

/** Groups of elements within elements deeper than this are left to the author. */
const DEEPEST = 3

/** The rules between two types; undefined if no element of the one is like one of the other. */
function blockLines(
  draft: Draft,
  from: string,
  to: string,
  variables: readonly [string, string],
  depth: number,
): string[] | undefined {
  const { structures } = draft
  const [source, target] = [from, to].map(each => structures.typeModel(each)!) as [TypeModel, TypeModel]
  const pairs = pairsOf(source, target, structures)
  if (depth > 0 && !pairs.some(each => each.way)) return undefined
  const byElement = new Map(pairs.map(pair => [pair.from, pair]))
  const set = new Set<ElementModel>()
  const lines = elementsOf(source).flatMap(element => {
    const pair = byElement.get(element)
    const rule = pair?.way && ruleLines(draft, pair, variables, depth)
    if (rule) set.add(pair!.to)
    return rule ?? [leftOver(element, pair, variables)]
  })
  const open = elementsOf(target).filter(each => !set.has(each) && (depth === 0 || each.min > 0))
  const [required, optional] = [open.filter(each => each.min > 0), open.filter(each => each.min === 0)]
  return [...lines, ...remark('Required, and not yet set', required), ...remark('Not set', optional)]
}

function ruleLines(
  draft: Draft,
  pair: Pair,
  variables: readonly [string, string],
  depth: number,
): string[] | undefined {
  const { from, to, way } = pair
  const { kind, write } = way!
  const [source, target] = [path(variables[0], from), path(variables[1], to)]
  if (from.choice && to.choice && kind === 'copy') return choiceLines(from, to, source, target)
  const type = from.choice ? ` : ${way!.from}` : ''
  const read = `${source}${type}${from.max > 1 && to.max === 1 ? ' first' : ''}`
  if (kind === 'nested') return nestedLines(draft, pair, read, target, depth)
  return [`${read}${written(draft, pair, target, read !== source, write)};`, ...otherTypes(from, way!, source)]
}

/** What stands behind the source of a rule. */
function written(
  draft: Draft,
  { from, to, way }: Pair,
  target: string,
  isNarrow: boolean,
  write: Way['write'],
): string {
  if (way!.kind === 'codes') {
    const output = way!.to === 'CodeableConcept' ? 'CodeableConcept' : 'code'
    return ` as v -> ${target} = translate(v, ${quoted(`#${tableFor(draft, from, to)}`, "'")}, '${output}')`
  }
  if (write) return ` as v -> ${write(target)}`
  return isNarrow ? ` as v -> ${target} = v` : ` -> ${target}`
}

function otherTypes({ choice, types }: ElementModel, { from }: Way, source: string): string[] {
  const others = choice ? types.filter(type => type !== from) : []
  return others.length === 0 ? [] : [`// ${source} may be something else, too: ${others.join(', ')}`]
}

/** Every type that both can have. */
function choiceLines(from: ElementModel, to: ElementModel, source: string, target: string): string[] {
  const common = from.types.filter(type => to.types.includes(type))
  if (common.length === from.types.length) return [`${source} -> ${target};`]
  return common.map(type => `${source} : ${type} as v -> ${target} = v;`)
}

/** The id of the concept map between two elements; equal ones are one. */
function tableFor({ tables, structures }: Draft, from: ElementModel, to: ElementModel): string {
  const name = from.name.replaceAll('_', '-')
  for (let count = 1; ; count++) {
    const id = count === 1 ? name : `${name}-${count}`
    const lines = conceptMapLines(id, from, to, structures)
    if (tables.has(id) && tables.get(id)!.slice(1).join() !== lines.slice(1).join()) continue
    tables.set(id, lines)
    return id
  }
}

function nestedLines(
  draft: Draft,
  { to, way }: Pair,
  source: string,
  target: string,
  depth: number,
): string[] | undefined {
  if (depth >= DEEPEST) return undefined
  const inner: [string, string] = [`s${depth + 1}`, `t${depth + 1}`]
  const lines = blockLines(draft, way!.from, way!.to, inner, depth + 1)
  if (!lines) return undefined
  const made = to.choice ? `${target} = create(${quoted(way!.to, "'")})` : target
  return [`${source} as ${inner[0]} -> ${made} as ${inner[1]} then {`, ...lines, '};']
}

function path(variable: string, { name }: ElementModel): string {
  return `${variable}.${nameText(name)}`
}

function leftOver(element: ElementModel, pair: Pair | undefined, [source, target]: readonly [string, string]): string {
  const meant = pair ? `: perhaps ${typedName(path(target, pair.to), pair.to)}` : ''
  return `// ${typedName(path(source, element), element)}${meant}`
}

function typedName(name: string, { types, choice, short }: ElementModel): string {
  const words = short === undefined ? '' : `, ${short}`
  return `${name}${choice ? '[x]' : ''} (${types.length > 4 ? 'of many types' : types.join(' or ')})${words}`
}

const WIDTH = 110

/** A comment that lists elements, over several lines if need be. */
function remark(title: string, elements: readonly ElementModel[]): string[] {
  if (elements.length === 0) return []
  const lines = [`// ${title}:`]
  for (const [index, { name, choice }] of elements.entries()) {
    const piece = ` ${name}${choice ? '[x]' : ''}${index < elements.length - 1 ? ',' : ''}`
    if (lines.at(-1)!.length + piece.length > WIDTH) lines.push(`//  ${piece}`)
    else lines[lines.length - 1] += piece
  }
  return ['', ...lines]
}

function capitalised(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1)
}
