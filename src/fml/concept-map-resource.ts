// Concept maps of a map as contained R4 ConceptMap resources, and back. https://hl7.org/fhir/R4/conceptmap.html

import type { Code, ConceptMap, Mapping, MappingOperator, Prefix, Unmapped } from './ast.ts'
import { NOWHERE, type Problem, shown } from './problem.ts'
import {
  around,
  clean,
  documentation,
  EQUIVALENCES,
  equivalenceIn,
  isJson,
  type Json,
  nameOf,
  objects,
  string,
  textOf,
} from './resource-parts.ts'

interface Elements {
  readonly source: string
  target: string | undefined
  unmapped?: Json
  readonly element: { code: string; target: Json[] }[]
  readonly byCode: Map<string, { code: string; target: Json[] }>
}

/** The ConceptMap of a `conceptmap`: a group for each pair of code systems, an element for each code. */
export function conceptMapResource(map: ConceptMap, problems: Problem[]): Json {
  const urls = new Map(map.prefixes.map(({ name, url }) => [name.text, url.text]))
  const groups = new Map<string, Elements>()
  for (const mapping of map.mappings) addMapping(groups, urls, mapping)
  for (const each of map.unmapped) addUnmapped(groups, urls, each, problems)
  const group = [...groups.values()].map(({ source, target, element, unmapped }) =>
    clean({ source, target, element, unmapped }),
  )
  return clean({ resourceType: 'ConceptMap', id: idOfConceptMap(map), status: 'draft', group })
}

/** R4's examples write the name as it is referred to, `#m`; the id of the resource has no hash. */
export function idOfConceptMap({ id }: ConceptMap): string {
  return id.text.replace(/^#/, '')
}

function addMapping(groups: Map<string, Elements>, urls: ReadonlyMap<string, string>, mapping: Mapping): void {
  const { source, target, operator } = mapping
  const group = groupOf(groups, urls.get(source.prefix.text) ?? '', target && (urls.get(target.prefix.text) ?? ''))
  let element = group.byCode.get(source.code.text)
  if (!element) {
    element = { code: source.code.text, target: [] }
    group.byCode.set(source.code.text, element)
    group.element.push(element)
  }
  const comment = documentation(mapping.around.before, mapping.around.after)
  element.target.push(clean({ code: target?.code.text, equivalence: EQUIVALENCES.get(operator), comment }))
}

function groupOf(groups: Map<string, Elements>, source: string, target: string | undefined): Elements {
  const key = `${source} ${target ?? ''}`
  let group = groups.get(key)
  if (!group) {
    group = { source, target, element: [], byCode: new Map() }
    groups.set(key, group)
  }
  return group
}

function addUnmapped(
  groups: Map<string, Elements>,
  urls: ReadonlyMap<string, string>,
  item: Unmapped,
  problems: Problem[],
): void {
  const url = item.prefix && urls.get(item.prefix.text)
  const mode = item.mode.text
  if (mode !== 'provided') {
    problems.push({
      message: `codes without a mapping can only be \`provided\`, not ${shown(mode)}`,
      span: item.mode.span,
    })
  }
  for (const group of groups.values())
    if (url === undefined || group.source === url) group.unmapped = { mode: 'provided' }
}

const OPERATORS = new Map([...EQUIVALENCES].map(([operator, equivalence]) => [equivalence, operator]))

/** The `conceptmap` of a ConceptMap, with prefixes `s`, `t` for its first group and `s2`, `t2` for the next. */
export function conceptMapFrom(resource: Json): ConceptMap {
  const prefixes: Prefix[] = []
  const unmapped: Unmapped[] = []
  const mappings: Mapping[] = []
  const prefix = (url: unknown, letter: string): string => {
    const text = string(url) ?? ''
    const known = prefixes.find(each => each.url.text === text && each.name.text.startsWith(letter))
    if (known) return known.name.text
    const count = prefixes.filter(each => each.name.text.startsWith(letter)).length
    const name = count === 0 ? letter : `${letter}${count + 1}`
    prefixes.push({ kind: 'prefix', name: nameOf(name), url: textOf(text), around: around(), span: NOWHERE })
    return name
  }
  for (const group of objects(resource.group)) {
    const source = prefix(group.source, 's')
    const target = group.target === undefined ? '' : prefix(group.target, 't')
    if (isJson(group.unmapped)) {
      unmapped.push({
        kind: 'unmapped',
        prefix: nameOf(source),
        mode: nameOf('provided'),
        around: around(),
        span: NOWHERE,
      })
    }
    for (const element of objects(group.element)) mappings.push(...mappingsOf(element, source, target))
  }
  const inside = { opening: [], closing: [] }
  const id = textOf(string(resource.id) ?? '')
  return { kind: 'conceptmap', id, prefixes, unmapped, mappings, inside, around: around(), span: NOWHERE }
}

function mappingsOf(element: Json, source: string, target: string): Mapping[] {
  return objects(element.target).map(each => {
    const operator: MappingOperator = OPERATORS.get(equivalenceIn(each) ?? '') ?? '-'
    const to = operator === '--' || each.code === undefined ? undefined : codeOf(target, each.code)
    const from = codeOf(source, element.code)
    return { kind: 'mapping', source: from, operator, target: to, around: around(each.comment), span: NOWHERE }
  })
}

function codeOf(prefix: string, code: unknown): Code {
  return { kind: 'code', prefix: nameOf(prefix), code: textOf(string(code) ?? ''), span: NOWHERE }
}
